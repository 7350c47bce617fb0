/* Write a value by its node: straight from the objects to JSON, where each is exactly what its type declares. */
#include "node.h"

/* One level further in, with the first bracket. */
int enter(Writing *writing, char bracket) {
    if (is_deepest(writing) || out_reserve(&writing->out, 2) < 0) {
        return PyErr_Occurred() ? FAILED : UNKNOWN;
    }
    writing->cost += COST_OF_VALUE;
    writing->depth++;
    out_char(&writing->out, bracket);
    return WRITTEN;
}

/* One level out: the last bracket takes the place of the last comma, if there is one. */
int leave(Writing *writing, char bracket) {
    Out *out = &writing->out;
    writing->depth--;
    if (out->start[out->size - 1] == ',') {
        out->start[out->size - 1] = bracket;
        return WRITTEN;
    }
    if (out_reserve(out, 1) < 0) {
        return FAILED;
    }
    out_char(out, bracket);
    return WRITTEN;
}

/* After an item: a comma, and whether it is time to stop. */
static int separate(Writing *writing) {
    if (writing->cost > writing->most) {
        return UNKNOWN;
    }
    if (out_reserve(&writing->out, 1) < 0) {
        return FAILED;
    }
    out_char(&writing->out, ',');
    return WRITTEN;
}

/* As many items of a list as there were when its model was reached: see `Run.lengths`. -1 with an exception. */
static Py_ssize_t length_of(Writing *writing, PyObject *list) {
    Py_ssize_t length = PyList_GET_SIZE(list);
    if (length == 0 || PyDict_GET_SIZE(writing->lengths) == 0) {
        return length;
    }
    PyObject *id = PyLong_FromVoidPtr(list);
    if (id == NULL) {
        return -1;
    }
    PyObject *known = PyDict_GetItemWithError(writing->lengths, id);
    Py_DECREF(id);
    if (known == NULL) {
        return PyErr_Occurred() ? -1 : length;
    }
    Py_ssize_t fixed = PyLong_AsSsize_t(known);
    return fixed < length ? fixed : length;
}

static int write_costly_text(Writing *writing, PyObject *text) {
    if (!is_text(text)) {
        return UNKNOWN;
    }
    writing->cost += COST_OF_VALUE + PyUnicode_GET_LENGTH(text);
    return write_text(&writing->out, text);
}

static int write_inner(Writing *writing, Node *node, PyObject *value) {
    Py_INCREF(value); /* Python code that runs meanwhile may let it go */
    int written = node == NULL ? write_anything(writing, value) : write_value(writing, node, value);
    Py_DECREF(value);
    return written;
}

static int write_items(Writing *writing, Node *node, PyObject *list) {
    Py_ssize_t length = length_of(writing, list);
    if (length < 0) {
        return FAILED;
    }
    if ((node == NULL || node->kind == SCALAR) && length == PyList_GET_SIZE(list) && are_floats(list, length)) {
        const int may_be = node == NULL || node->object == (PyObject *)&PyFloat_Type;
        return may_be && !is_deepest(writing) ? write_floats(writing, list) : UNKNOWN;
    }
    int written = length <= MOST_ITEMS ? enter(writing, '[') : UNKNOWN;
    for (Py_ssize_t index = 0; written == WRITTEN && index < length; index++) {
        if (index >= PyList_GET_SIZE(list)) {
            return UNKNOWN; /* somebody has taken some away */
        }
        written = write_inner(writing, node, PyList_GET_ITEM(list, index));
        if (written == WRITTEN) {
            written = separate(writing);
        }
    }
    return written == WRITTEN ? leave(writing, ']') : written;
}

int write_key(Writing *writing, PyObject *key) {
    int written = PyUnicode_CheckExact(key) ? write_costly_text(writing, key) : UNKNOWN;
    if (written == WRITTEN) {
        written = out_reserve(&writing->out, 1) < 0 ? FAILED : WRITTEN;
    }
    if (written == WRITTEN) {
        out_char(&writing->out, ':');
    }
    return written;
}

static int write_members(Writing *writing, Node *node, PyObject *dict) {
    const Py_ssize_t length = PyDict_GET_SIZE(dict);
    int written = length <= MOST_ITEMS ? enter(writing, '{') : UNKNOWN;
    Py_ssize_t position = 0, left = length;
    PyObject *key, *value;
    while (written == WRITTEN && PyDict_Next(dict, &position, &key, &value)) {
        if (left-- == 0) {
            return UNKNOWN; /* somebody has moved one to the end */
        }
        Py_INCREF(value);
        written = write_key(writing, key);
        if (written == WRITTEN) {
            written = write_inner(writing, node, value);
        }
        Py_DECREF(value);
        if (written == WRITTEN) {
            written = PyDict_GET_SIZE(dict) == length ? separate(writing) : UNKNOWN;
        }
    }
    return written == WRITTEN ? leave(writing, '}') : written;
}

int write_anything(Writing *writing, PyObject *value) {
    if (PyUnicode_CheckExact(value)) {
        return write_costly_text(writing, value);
    }
    if (PyDict_CheckExact(value)) {
        return write_members(writing, NULL, value);
    }
    return PyList_CheckExact(value) ? write_items(writing, NULL, value) : write_scalar(writing, value);
}

int write_value(Writing *writing, Node *node, PyObject *value) {
    PyObject *found;
    switch (node->kind) {
    case TEXT: return PyUnicode_CheckExact(value) ? write_costly_text(writing, value) : UNKNOWN;
    case SCALAR: return (PyObject *)Py_TYPE(value) == node->object ? write_scalar(writing, value) : UNKNOWN;
    case LITERAL:
        if (!is_text(value)) {
            return UNKNOWN;
        }
        switch (PySet_Contains(node->object, value)) {
        case 1: return write_costly_text(writing, value);
        case 0: return UNKNOWN;
        default: return FAILED;
        }
    case COLUMN: return write_whole_column(writing, value, node->number);
    case ITEMS: return PyList_CheckExact(value) ? write_items(writing, (Node *)node->object, value) : UNKNOWN;
    case MEMBERS: return PyDict_CheckExact(value) ? write_members(writing, (Node *)node->object, value) : UNKNOWN;
    case NULLABLE:
        return value == Py_None ? write_scalar(writing, value) : write_value(writing, (Node *)node->object, value);
    case CHOICE:
        found = PyDict_GetItemWithError(node->object, (PyObject *)Py_TYPE(value));
        return found != NULL ? write_value(writing, (Node *)found, value) : PyErr_Occurred() ? FAILED : UNKNOWN;
    case ANYTHING: return write_anything(writing, value);
    default: return write_model(writing, node, value);
    }
}
