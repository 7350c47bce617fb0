/* Nodes: how the values of one place in a schema are written. */
#ifndef UNSTALL_NODE_H
#define UNSTALL_NODE_H

#include "out.h"

typedef enum { TEXT, SCALAR, LITERAL, COLUMN, ITEMS, MEMBERS, NULLABLE, CHOICE, ANYTHING, MODEL, ATTRIBUTES }
    NodeKind;

typedef struct {
    PyObject *name;     /* in the instance */
    PyObject *key;      /* bytes: a comma, the key in quotes, a colon */
    PyObject *node;     /* of its values; None where only pydantic writes them */
    PyObject *left_out; /* `exclude_if`, or None */
    char nullable;      /* whether None is null before the node is asked */
    char excluded;      /* left out always */
    char is_tag;        /* whether it may be the tag of a union, and so must be one of some texts, not None */
} Field;

typedef struct Node {
    PyObject_HEAD
    NodeKind kind;
    int number;        /* COLUMN: its kind. MODEL, ATTRIBUTES: whether None is left out. */
    PyObject *object;  /* SCALAR: the type. LITERAL: a frozenset. ITEMS, MEMBERS, NULLABLE: a node. CHOICE: nodes by type.
                          MODEL, ATTRIBUTES: the class. */
    PyObject *extras;  /* MODEL: gives what an instance has besides its fields, or None */
    PyObject *taken;   /* MODEL: the keys that such may not have */
    Py_ssize_t num_fields;
    Field *fields;
} Node;

extern PyTypeObject NodeType;

/* What one call of `write_items` knows. */
typedef struct {
    Out out;
    PyObject *lengths;   /* how many items of some lists are written, by their ids */
    PyObject *dumps;     /* orjson.dumps */
    Py_ssize_t cost;     /* what was written so far, in the nanoseconds that it takes */
    Py_ssize_t most;     /* the cost from where on an item is too large for one call */
    PyObject *text_of;   /* gives the text of a column of floats, or None where floats are not for this code */
    int is_four;         /* whether floats of columns are rounded to four decimals */
    int depth;           /* containers around the value, within the item; a model is one */
    int most_depth;      /* as many as orjson would write there */
} Writing;

int write_value(Writing *writing, Node *node, PyObject *value);
int write_model(Writing *writing, Node *node, PyObject *model);
int write_key(Writing *writing, PyObject *key);
int write_anything(Writing *writing, PyObject *value);
int write_scalar(Writing *writing, PyObject *value);
Py_ssize_t column_cost(Writing *writing, PyObject *column, int kind);
int write_whole_column(Writing *writing, PyObject *column, int kind);
int are_floats(PyObject *list, Py_ssize_t length);
int write_floats(Writing *writing, PyObject *list);
int enter(Writing *writing, char bracket);
int leave(Writing *writing, char bracket);

/* Whether no container may stand inside of those around. */
static inline int is_deepest(const Writing *writing) {
    return writing->depth >= writing->most_depth;
}

/* What things cost, measured: a character by itself, and what comes on top of it. Texts of nothing but escapes take three
   times as long. */
enum {
    COST_OF_VALUE = 20,   /* anything by itself, a container too, and the key of a field */
    COST_OF_SKIPPING = 4, /* a field that is looked at, and may be left out */
    COST_OF_CALL = 100,   /* a call of Python, or of orjson */
    COST_OF_FLOAT = 40,   /* one of many that orjson writes */
    COST_OF_INTS = 3,     /* of one value of a column */
    COST_OF_BOOLS = 1,
    COST_OF_FLOATS = 5,
};

/* Characters of a text that is written by one call: a fifth of a millisecond when all of them are escaped. */
enum { MOST_CHARACTERS = 64 * 1024 };
/* Items of a container that is written by one call. */
enum { MOST_ITEMS = 4096 };

static inline int is_text(PyObject *value) {
    if (!PyUnicode_CheckExact(value)) {
        return 0;
    }
#if PY_VERSION_HEX < 0x030C0000
    if (!PyUnicode_IS_READY(value)) {
        return 0; /* made the old way, by an extension */
    }
#endif
    return PyUnicode_GET_LENGTH(value) <= MOST_CHARACTERS;
}

/* What is an answer of Python code that failed: UNKNOWN, as the plain way will meet it again, unless it must go on. */
static inline int failed(void) {
    if (PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
        return UNKNOWN;
    }
    return FAILED;
}

#endif
