/* Token columns: one-dimensional numpy arrays as JSON without brackets. */
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include "numbers.h"

#include <numpy/arrayobject.h>

/* The texts of flags, a comma after each. */
static const char TRUES[8] = "true,", FALSES[8] = "false,";

/* Values that get their room together: the most that they may take, which is some times what they mostly do. */
enum { SPAN = 512 };

int columns_prepare(void) { return PyArray_ImportNumPyAPI(); }

static int element_bytes(PyArrayObject *array) { return (int)PyArray_ITEMSIZE(array); }

/* Whether a value is an array whose elements are written exactly here; half floats are not. */
int is_column(PyObject *value, int kind) {
    if (!PyArray_CheckExact(value)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)value;
    if (PyArray_NDIM(array) != 1 || !PyArray_ISNOTSWAPPED(array)) {
        return 0;
    }
    char letter = PyArray_DESCR(array)->kind;
    switch (kind) {
    case INTS: return letter == 'i' || letter == 'u';
    case BOOLS: return letter == 'b';
    default: return letter == 'f' && (element_bytes(array) == 8 || element_bytes(array) == 4);
    }
}

Py_ssize_t column_length(PyObject *column) { return PyArray_DIM((PyArrayObject *)column, 0); }

/* Some neighbours of a column. */
typedef struct {
    const char *item;
    npy_intp stride, length;
} Span;

/* Each element in turn; what is between the two macros has it as `value`, of the type it has in memory. */
#define EACH(type, body)                                                                                               \
    for (; span.length > 0; span.length--, span.item += span.stride) {                                                 \
        type value;                                                                                                    \
        memcpy(&value, span.item, sizeof value);                                                                       \
        body                                                                                                           \
    }                                                                                                                  \
    break;

#define EACH_INT(type, put)                                                                                            \
    EACH(type, {                                                                                                       \
        at = put(at, value);                                                                                           \
        *at++ = ',';                                                                                                   \
    })

static char *put_ints(char *at, PyArrayObject *array, Span span) {
    if (PyArray_DESCR(array)->kind == 'i') {
        switch (element_bytes(array)) {
        case 1: EACH_INT(int8_t, put_signed)
        case 2: EACH_INT(int16_t, put_signed)
        case 4: EACH_INT(int32_t, put_signed)
        default: EACH_INT(int64_t, put_signed)
        }
    } else {
        switch (element_bytes(array)) {
        case 1: EACH_INT(uint8_t, put_unsigned)
        case 2: EACH_INT(uint16_t, put_unsigned)
        case 4: EACH_INT(uint32_t, put_unsigned)
        default: EACH_INT(uint64_t, put_unsigned)
        }
    }
    return at;
}

static char *put_bools(char *at, Span span) {
    for (; span.length > 0; span.length--, span.item += span.stride) {
        memcpy(at, *span.item ? TRUES : FALSES, 8);
        at += *span.item ? 5 : 6;
    }
    return at;
}

#define EACH_FLOAT(type)                                                                                               \
    EACH(type, {                                                                                                       \
        at = put_rounded(at, (double)value);                                                                           \
        if (at == NULL) {                                                                                              \
            return NULL;                                                                                               \
        }                                                                                                              \
        *at++ = ',';                                                                                                   \
    })

static char *put_floats(char *at, PyArrayObject *array, Span span) {
    switch (element_bytes(array)) {
    case 4: EACH_FLOAT(float)
    default: EACH_FLOAT(double)
    }
    return at;
}

/* The values of a span, a comma after each; NULL where a float is too large for this code. */
static char *put_span(char *at, PyArrayObject *array, int kind, Span span) {
    switch (kind) {
    case INTS: return put_ints(at, array, span);
    case BOOLS: return put_bools(at, span);
    default: return put_floats(at, array, span);
    }
}

/* The column's values, commas between them; UNKNOWN where a float is too large for this code. */
int write_column(Out *out, PyObject *column, int kind) {
    PyArrayObject *array = (PyArrayObject *)column;
    const npy_intp length = PyArray_DIM(array, 0), stride = PyArray_STRIDE(array, 0);
    const Py_ssize_t start = out->size;
    if (length > PY_SSIZE_T_MAX / NUMBER_BYTES) {
        PyErr_NoMemory();
        return FAILED;
    }
    for (npy_intp index = 0; index < length; index += SPAN) {
        Span span = {PyArray_BYTES(array) + index * stride, stride, length - index < SPAN ? length - index : SPAN};
        if (out_reserve(out, NUMBER_BYTES * SPAN) < 0) {
            return FAILED;
        }
        char *end = put_span(out_end(out), array, kind, span);
        if (end == NULL) {
            out->size = start;
            return UNKNOWN;
        }
        out->size = end - out->start;
    }
    out->size -= out->size > start; /* without the last comma */
    return WRITTEN;
}
