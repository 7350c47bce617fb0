/* Growing output: JSON text in one `bytes` object, which is cut to size when it is taken. */
#ifndef UNSTALL_OUT_H
#define UNSTALL_OUT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

typedef struct {
    PyObject *bytes;
    char *start;
    Py_ssize_t size;
    Py_ssize_t capacity;
} Out;

int out_open(Out *out, Py_ssize_t capacity);
int out_grow(Out *out, Py_ssize_t more);
PyObject *out_take(Out *out);
void out_drop(Out *out);

/* Room for so many more bytes; -1 with an exception where there is none. */
static inline int out_reserve(Out *out, Py_ssize_t more) {
    return out->capacity - out->size >= more ? 0 : out_grow(out, more);
}

static inline char *out_end(Out *out) { return out->start + out->size; }

/* The writers below need room that was reserved before. */
static inline void out_char(Out *out, char character) { out->start[out->size++] = character; }

static inline void out_copy(Out *out, const char *text, Py_ssize_t length) {
    memcpy(out_end(out), text, (size_t)length);
    out->size += length;
}

/* What writes a value says: it is written, it is not for this code, or an exception is set. */
enum { FAILED = -1, UNKNOWN = 0, WRITTEN = 1 };

/* text.c: a str in quotes, or UNKNOWN for one with a lone surrogate. */
int write_text(Out *out, PyObject *text);

/* columns.c: an array without brackets. */
enum { INTS = 0, BOOLS = 1, FLOATS = 2 };
int columns_prepare(void);
int is_column(PyObject *value, int kind);
Py_ssize_t column_length(PyObject *column);
int write_column(Out *out, PyObject *column, int kind);

#endif
