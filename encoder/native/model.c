/* Write an instance of a class: its fields in their order, then what a model was given besides. */
#include "node.h"

/* Whether a field is left out by its `exclude_if`. */
static int is_left_out(Field *field, PyObject *value) {
    PyObject *said = PyObject_CallOneArg(field->left_out, value);
    if (said == NULL) {
        return failed() == FAILED ? FAILED : 2;
    }
    int truth = said == Py_True ? 1 : said == Py_False ? 0 : 2; /* else pydantic's to judge */
    Py_DECREF(said);
    return truth;
}

/* A key is written before its value, so what is left out is found first. 1: write it, 0: leave it out, 2: UNKNOWN. */
static int is_written(Node *node, Field *field, PyObject *value) {
    if (field->excluded) {
        return 0;
    }
    if (value == Py_None && node->number) {
        return field->is_tag ? 2 : 0;
    }
    if (field->left_out == Py_None) {
        return 1;
    }
    int left_out = is_left_out(field, value);
    return left_out == 1 ? 0 : left_out == 0 ? 1 : left_out;
}

static int write_field(Writing *writing, Node *node, Field *field, PyObject *value) {
    writing->cost += field->left_out == Py_None ? COST_OF_SKIPPING : COST_OF_CALL;
    switch (is_written(node, field, value)) {
    case 0: return WRITTEN;
    case 1: break;
    case FAILED: return FAILED;
    default: return UNKNOWN;
    }
    const Py_ssize_t length = PyBytes_GET_SIZE(field->key);
    if (out_reserve(&writing->out, length + 8) < 0) {
        return FAILED;
    }
    out_copy(&writing->out, PyBytes_AS_STRING(field->key), length);
    writing->cost += COST_OF_VALUE + length;
    if (value == Py_None && field->nullable) {
        out_copy(&writing->out, "null", 4);
        return WRITTEN;
    }
    int written = field->node == Py_None ? UNKNOWN : write_value(writing, (Node *)field->node, value);
    return written == WRITTEN && writing->cost > writing->most ? UNKNOWN : written;
}

/* Whether the columns alone are too much for one call, which is found out before anything is written. */
static int has_long_columns(Writing *writing, Node *node, PyObject *values) {
    PyObject *value;
    Py_ssize_t position = 0, index = 0, cost = writing->cost;
    while (PyDict_Next(values, &position, NULL, &value)) {
        Node *inner = (Node *)node->fields[index++].node;
        if ((PyObject *)inner != Py_None && inner->kind == COLUMN) {
            cost += column_cost(writing, value, inner->number);
        }
    }
    return cost > writing->most;
}

/* An instance has exactly the declared fields, in their order; any other is for the plain way. */
static int write_fields(Writing *writing, Node *node, PyObject *values) {
    PyObject *name, *value;
    Py_ssize_t position = 0, index = 0;
    if (PyDict_GET_SIZE(values) != node->num_fields || has_long_columns(writing, node, values)) {
        return UNKNOWN;
    }
    while (PyDict_Next(values, &position, &name, &value)) {
        Field *field = &node->fields[index++];
        if (name != field->name) {
            return UNKNOWN; /* names are interned, by whoever sets attributes */
        }
        Py_INCREF(value);
        int written = write_field(writing, node, field, value);
        Py_DECREF(value);
        if (written != WRITTEN) {
            return written;
        }
        if (PyDict_GET_SIZE(values) != node->num_fields) {
            return UNKNOWN;
        }
    }
    return WRITTEN;
}

/* What is no model is read as anybody reads it. */
static int write_attributes(Writing *writing, Node *node, PyObject *instance) {
    int written = WRITTEN;
    for (Py_ssize_t index = 0; written == WRITTEN && index < node->num_fields; index++) {
        PyObject *value = PyObject_GetAttr(instance, node->fields[index].name);
        if (value == NULL) {
            return failed();
        }
        written = write_field(writing, node, &node->fields[index], value);
        Py_DECREF(value);
    }
    return written;
}

static int write_extra(Writing *writing, Node *node, PyObject *key, PyObject *value) {
    if (!is_text(key)) {
        return UNKNOWN;
    }
    writing->cost += COST_OF_VALUE + PyUnicode_GET_LENGTH(key);
    int is_taken = PySet_Contains(node->taken, key);
    if (is_taken) {
        return is_taken < 0 ? FAILED : UNKNOWN;
    }
    if (value == Py_None && node->number) {
        return PyUnicode_IS_ASCII(key) ? WRITTEN : UNKNOWN; /* a lone surrogate is refused even so */
    }
    Out *out = &writing->out;
    if (out_reserve(out, 1) < 0) {
        return FAILED;
    }
    out_char(out, ',');
    int written = write_text(out, key);
    if (written == WRITTEN) {
        if (out_reserve(out, 1) < 0) {
            return FAILED;
        }
        out_char(out, ':');
        written = write_anything(writing, value);
    }
    return written == WRITTEN && writing->cost > writing->most ? UNKNOWN : written;
}

static int write_extras(Writing *writing, Node *node, PyObject *model) {
    writing->cost += COST_OF_CALL;
    PyObject *extras = PyObject_CallOneArg(node->extras, model);
    if (extras == NULL) {
        return failed();
    }
    int written = extras == Py_None || PyDict_CheckExact(extras) ? WRITTEN : UNKNOWN;
    if (written == WRITTEN && extras != Py_None) {
        const Py_ssize_t length = PyDict_GET_SIZE(extras);
        PyObject *key, *value;
        Py_ssize_t position = 0;
        written = length <= MOST_ITEMS ? WRITTEN : UNKNOWN;
        while (written == WRITTEN && PyDict_Next(extras, &position, &key, &value)) {
            Py_INCREF(value);
            written = write_extra(writing, node, key, value);
            Py_DECREF(value);
            if (PyDict_GET_SIZE(extras) != length) {
                written = written == FAILED ? FAILED : UNKNOWN;
            }
        }
    }
    Py_DECREF(extras);
    return written;
}

/* What a model's `__dict__` holds, then what it was given besides. */
static int write_values(Writing *writing, Node *node, PyObject *model) {
    PyObject *values = PyObject_GenericGetDict(model, NULL);
    if (values == NULL) {
        return failed();
    }
    int written = PyDict_CheckExact(values) ? write_fields(writing, node, values) : UNKNOWN;
    Py_DECREF(values);
    return written == WRITTEN && node->extras != Py_None ? write_extras(writing, node, model) : written;
}

int write_model(Writing *writing, Node *node, PyObject *model) {
    if ((PyObject *)Py_TYPE(model) != node->object || is_deepest(writing)) {
        return UNKNOWN;
    }
    writing->cost += COST_OF_VALUE;
    /* Each key has a comma before it: the first bracket takes the place of the first one. */
    Out *out = &writing->out;
    const Py_ssize_t start = out->size;
    writing->depth++;
    int written = node->kind == MODEL ? write_values(writing, node, model) : write_attributes(writing, node, model);
    writing->depth--;
    if (written != WRITTEN) {
        return written;
    }
    if (out_reserve(out, 2) < 0) {
        return FAILED;
    }
    if (out->size == start) {
        out_char(out, '{');
    }
    out->start[start] = '{';
    out_char(out, '}');
    return WRITTEN;
}
