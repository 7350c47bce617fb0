/* Token columns: one-dimensional numpy arrays as JSON without brackets. */
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include "numbers.h"

#include <numpy/arrayobject.h>

/* The texts of flags, a comma after each. */
static const char TRUES[8] = "true,", FALSES[8] = "false,";

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

/* Each element in turn; what is between the two macros has it as `value`, of the type it has in memory. */
#define EACH(type, body)                                                                                               \
    for (npy_intp left = length; left > 0; left--, item += stride) {                                                   \
        type value;                                                                                                    \
        memcpy(&value, item, sizeof value);                                                                            \
        body                                                                                                           \
    }                                                                                                                  \
    break;

#define EACH_INT(type, put)                                                                                            \
    EACH(type, {                                                                                                       \
        at = put(at, value);                                                                                           \
        *at++ = ',';                                                                                                   \
    })

static char *put_ints(char *at, PyArrayObject *array) {
    const char *item = PyArray_BYTES(array);
    npy_intp length = PyArray_DIM(array, 0), stride = PyArray_STRIDE(array, 0);
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

static char *put_bools(char *at, PyArrayObject *array) {
    const char *item = PyArray_BYTES(array);
    npy_intp stride = PyArray_STRIDE(array, 0);
    for (npy_intp left = PyArray_DIM(array, 0); left > 0; left--, item += stride) {
        memcpy(at, *item ? TRUES : FALSES, 8);
        at += *item ? 5 : 6;
    }
    return at;
}

#define EACH_FLOAT(type)                                                                                               \
    EACH(type, {                                                                                                       \
        at = put_rounded(at, (double)value);                                                                             \
        if (at == NULL) {                                                                                              \
            return NULL;                                                                                               \
        }                                                                                                              \
        *at++ = ',';                                                                                                   \
    })

static char *put_floats(char *at, PyArrayObject *array) {
    const char *item = PyArray_BYTES(array);
    npy_intp length = PyArray_DIM(array, 0), stride = PyArray_STRIDE(array, 0);
    switch (element_bytes(array)) {
    case 4: EACH_FLOAT(float)
    default: EACH_FLOAT(double)
    }
    return at;
}

/* The most that one value takes with its comma. */
static npy_intp most_bytes(PyArrayObject *array, int kind) {
    switch (kind) {
    case INTS: return 3 * element_bytes(array) + 2 > 21 ? 21 : 3 * element_bytes(array) + 2;
    case BOOLS: return 6;
    default: return 19; /* a sign, 15 digits, a zero before the point, the point and a comma */
    }
}

/* The column's values, commas between them; UNKNOWN where a float is too large for this code. */
int write_column(Out *out, PyObject *column, int kind) {
    PyArrayObject *array = (PyArrayObject *)column;
    npy_intp length = PyArray_DIM(array, 0);
    if (length == 0) {
        return WRITTEN;
    }
    const npy_intp each = most_bytes(array, kind);
    if (length > (PY_SSIZE_T_MAX - 2 * NUMBER_BYTES) / each - out->size) {
        PyErr_NoMemory();
        return FAILED;
    }
    if (out_reserve(out, each * length + NUMBER_BYTES) < 0) {
        return FAILED;
    }
    char *start = out_end(out), *end;
    switch (kind) {
    case INTS: end = put_ints(start, array); break;
    case BOOLS: end = put_bools(start, array); break;
    default: end = put_floats(start, array); break;
    }
    if (end == NULL) {
        return UNKNOWN;
    }
    out->size += end - start - 1; /* without the last comma */
    return WRITTEN;
}
