#include "out.h"

int out_open(Out *out, Py_ssize_t capacity) {
    out->bytes = PyBytes_FromStringAndSize(NULL, capacity);
    if (out->bytes == NULL) {
        return -1;
    }
    out->start = PyBytes_AS_STRING(out->bytes);
    out->size = 0;
    out->capacity = capacity;
    return 0;
}

int out_grow(Out *out, Py_ssize_t more) {
    Py_ssize_t capacity = 2 * out->capacity;
    if (capacity < out->size + more) {
        capacity = out->size + more;
    }
    if (_PyBytes_Resize(&out->bytes, capacity) < 0) {
        out->start = NULL;
        out->size = out->capacity = 0;
        return -1;
    }
    out->start = PyBytes_AS_STRING(out->bytes);
    out->capacity = capacity;
    return 0;
}

/* The text, as a new reference; nothing is left. */
PyObject *out_take(Out *out) {
    PyObject *bytes = out->bytes;
    out->bytes = NULL;
    if (_PyBytes_Resize(&bytes, out->size) < 0) {
        return NULL;
    }
    return bytes;
}

void out_drop(Out *out) { Py_CLEAR(out->bytes); }
