/* Numbers, truth values and null, each by itself; lists of floats, and columns with their brackets. */
#include "node.h"
#include "numbers.h"

static int write_int(Out *out, PyObject *value) {
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (out_reserve(out, NUMBER_BYTES) < 0) {
        return FAILED;
    }
    char *end;
    if (!overflow) {
        end = put_signed(out_end(out), number);
    } else {
        unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(value) : 0;
        if (overflow < 0 || PyErr_Occurred()) {
            PyErr_Clear();
            return UNKNOWN; /* no 64 bits hold it */
        }
        end = put_unsigned(out_end(out), large);
    }
    out->size = end - out->start;
    return WRITTEN;
}

/* Write the text that some Python code has given; the reference to it is taken. */
static int write_given(Writing *writing, PyObject *text) {
    if (text == NULL) {
        return failed();
    }
    int written = PyBytes_CheckExact(text) ? WRITTEN : UNKNOWN;
    if (written == WRITTEN) {
        if (out_reserve(&writing->out, PyBytes_GET_SIZE(text)) < 0) {
            written = FAILED;
        } else {
            out_copy(&writing->out, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text));
        }
    }
    Py_DECREF(text);
    return written;
}

/* A decimal of few digits is written here, every other float by orjson, which knows the shortest digits. */
static int write_float(Writing *writing, PyObject *value) {
    double number = PyFloat_AS_DOUBLE(value);
    double multiple = nearest_multiple(number);
    if (fabs(multiple) < MOST_MULTIPLE && multiple / SCALE == number) {
        if (out_reserve(&writing->out, NUMBER_BYTES) < 0) {
            return FAILED;
        }
        char *end = put_multiple(out_end(&writing->out), multiple, signbit(number) != 0);
        writing->out.size = end - writing->out.start;
        return WRITTEN;
    }
    writing->cost += COST_OF_CALL;
    return write_given(writing, PyObject_CallOneArg(writing->dumps, value));
}

/* A value whose type is exactly one of the four. */
int write_scalar(Writing *writing, PyObject *value) {
    writing->cost += COST_OF_VALUE;
    if (PyLong_CheckExact(value)) {
        return write_int(&writing->out, value);
    }
    if (PyFloat_CheckExact(value)) {
        return write_float(writing, value);
    }
    const char *text = value == Py_None ? "null" : value == Py_True ? "true" : value == Py_False ? "false" : NULL;
    if (text == NULL) {
        return UNKNOWN;
    }
    if (out_reserve(&writing->out, 8) < 0) {
        return FAILED;
    }
    out_copy(&writing->out, text, (Py_ssize_t)strlen(text));
    return WRITTEN;
}

/* Whether a list has nothing but floats, and not just one or two of them. */
int are_floats(PyObject *list, Py_ssize_t length) {
    if (length < 3 || length > MOST_ITEMS) {
        return 0;
    }
    for (Py_ssize_t index = 0; index < length; index++) {
        if (!PyFloat_CheckExact(PyList_GET_ITEM(list, index))) {
            return 0;
        }
    }
    return 1;
}

/* A list of floats: one call of orjson for all of them. */
int write_floats(Writing *writing, PyObject *list) {
    writing->cost += COST_OF_FLOAT * PyList_GET_SIZE(list);
    return write_given(writing, PyObject_CallOneArg(writing->dumps, list));
}

/* What it costs to write a column; nothing where it is none. */
Py_ssize_t column_cost(Writing *writing, PyObject *column, int kind) {
    static const int costs[] = {COST_OF_INTS, COST_OF_BOOLS, COST_OF_FLOATS};
    if (!is_column(column, kind)) {
        return 0;
    }
    return (kind == FLOATS && !writing->is_four ? COST_OF_FLOAT : costs[kind]) * column_length(column);
}

int write_whole_column(Writing *writing, PyObject *column, int kind) {
    if (!is_column(column, kind)) {
        return UNKNOWN;
    }
    const int is_other = kind == FLOATS && !writing->is_four;
    if (kind == FLOATS && writing->text_of == Py_None) {
        return UNKNOWN;
    }
    writing->cost += column_cost(writing, column, kind);
    if (writing->cost > writing->most) {
        return UNKNOWN;
    }
    int written = enter(writing, '[');
    if (written == WRITTEN) {
        written = is_other ? UNKNOWN : write_column(&writing->out, column, kind);
        if (written == UNKNOWN) {
            written = write_given(writing, PyObject_CallOneArg(writing->text_of, column));
        }
    }
    return written == WRITTEN ? leave(writing, ']') : written;
}
