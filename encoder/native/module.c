/* The compiled part of the encoder: it writes what other modules of the encoder write too, only faster. */
#include "node.h"
#include "numbers.h"

PyObject *node_text(PyObject *module, PyObject *unused);
PyObject *node_anything(PyObject *module, PyObject *unused);
PyObject *node_scalar(PyObject *module, PyObject *args);
PyObject *node_literal(PyObject *module, PyObject *args);
PyObject *node_column(PyObject *module, PyObject *args);
PyObject *node_items(PyObject *module, PyObject *args);
PyObject *node_members(PyObject *module, PyObject *args);
PyObject *node_nullable(PyObject *module, PyObject *args);
PyObject *node_choice(PyObject *module, PyObject *args);
PyObject *node_model(PyObject *module, PyObject *args);
PyObject *node_attributes(PyObject *module, PyObject *args);

/* Where rows and columns begin; they grow. */
enum { ROW_BYTES = 48 * 1024, MOST_ROW_BYTES = 1024 * 1024, COLUMN_BYTES = 16 * 1024 };

/* Rows are mostly as long as the one before. */
static Py_ssize_t usual_bytes = ROW_BYTES;

static int write_entry(Writing *writing, Node *node, PyObject *keys, PyObject *items, Py_ssize_t index) {
    PyObject *item = Py_NewRef(PyList_GET_ITEM(items, index));
    int written = keys == Py_None ? WRITTEN : write_key(writing, PyList_GET_ITEM(keys, index));
    if (written == WRITTEN) {
        written = write_value(writing, node, item);
    }
    Py_DECREF(item);
    return written;
}

/* Items of a list one after the other, commas between them, until they have cost so much or one is not known. Each has
   its key before it, where there is a list of keys. */
static PyObject *write_row(PyObject *module, PyObject *args) {
    Node *node;
    PyObject *list, *keys, *lengths, *dumps, *text_of;
    Py_ssize_t start, stop, row_cost, item_cost;
    int is_four, most_depth;
    if (!PyArg_ParseTuple(args, "O!O!OnnnniO!OOp:write_row", &NodeType, &node, &PyList_Type, &list, &keys, &start, &stop,
                          &row_cost, &item_cost, &most_depth, &PyDict_Type, &lengths, &dumps, &text_of, &is_four)) {
        return NULL;
    }
    if (keys != Py_None && (!PyList_CheckExact(keys) || PyList_GET_SIZE(keys) < stop)) {
        PyErr_SetString(PyExc_TypeError, "as many keys as items are needed, in a list");
        return NULL;
    }
    Writing writing = {.lengths = lengths, .dumps = dumps, .text_of = text_of, .is_four = is_four, .most_depth = most_depth};
    if (out_open(&writing.out, usual_bytes) < 0) {
        return NULL;
    }
    Py_ssize_t index = start, end = 0;
    while (index < stop && index < PyList_GET_SIZE(list) && writing.cost < row_cost) {
        if (end > 0) {
            out_char(&writing.out, ','); /* for which there is room: see below */
        }
        writing.most = writing.cost + item_cost;
        writing.depth = 0;
        int written = write_entry(&writing, node, keys, list, index);
        if (written == FAILED || (written == WRITTEN && out_reserve(&writing.out, 1) < 0)) {
            out_drop(&writing.out);
            return NULL;
        }
        if (written == UNKNOWN) {
            break;
        }
        end = writing.out.size;
        index++;
    }
    writing.out.size = end;
    usual_bytes = end < ROW_BYTES ? ROW_BYTES : end < MOST_ROW_BYTES ? end + ROW_BYTES / 2 : MOST_ROW_BYTES;
    PyObject *text = out_take(&writing.out);
    return text == NULL ? NULL : Py_BuildValue("Nn", text, index);
}

/* A column as JSON without brackets, or None where this code does not know how. */
static PyObject *column_text(PyObject *module, PyObject *args) {
    PyObject *column;
    int kind;
    if (!PyArg_ParseTuple(args, "Oi:column_text", &column, &kind)) {
        return NULL;
    }
    if (!is_column(column, kind)) {
        Py_RETURN_NONE;
    }
    Out out;
    if (out_open(&out, COLUMN_BYTES) < 0) {
        return NULL;
    }
    switch (write_column(&out, column, kind)) {
    case WRITTEN: return out_take(&out);
    case UNKNOWN: out_drop(&out); Py_RETURN_NONE;
    default: out_drop(&out); return NULL;
    }
}

PyObject *light(PyObject *module, PyObject *args);
int counts_prepare(void);
PyObject *counts_read_calls(PyObject *module, PyObject *args);
PyObject *counts_read_parents(PyObject *module, PyObject *args);
PyObject *counts_add_leaves(PyObject *module, PyObject *args);
PyObject *counts_add_counts(PyObject *module, PyObject *args);

/* are_exactly(items, type): whether each item of a list is exactly of a type. */
static PyObject *are_exactly(PyObject *module, PyObject *args) {
    PyObject *list, *type;
    if (!PyArg_ParseTuple(args, "O!O:are_exactly", &PyList_Type, &list, &type)) {
        return NULL;
    }
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(list); index++) {
        if ((PyObject *)Py_TYPE(PyList_GET_ITEM(list, index)) != type) {
            Py_RETURN_FALSE;
        }
    }
    Py_RETURN_TRUE;
}

static PyMethodDef METHODS[] = {
    {"text", node_text, METH_NOARGS, "A node of texts."},
    {"anything", node_anything, METH_NOARGS, "A node of whatever is of JSON's own types."},
    {"scalar", node_scalar, METH_VARARGS, "A node of values of int, float, bool or NoneType."},
    {"literal", node_literal, METH_VARARGS, "A node of some known texts."},
    {"column", node_column, METH_VARARGS, "A node of columns of a kind."},
    {"items", node_items, METH_VARARGS, "A node of lists."},
    {"members", node_members, METH_VARARGS, "A node of dicts with texts for keys."},
    {"nullable", node_nullable, METH_VARARGS, "A node of values that may be None."},
    {"choice", node_choice, METH_VARARGS, "A node of values that are told apart by their types."},
    {"model", node_model, METH_VARARGS, "A node of instances of a model's class."},
    {"attributes", node_attributes, METH_VARARGS, "A node of instances of any other class."},
    {"write_row", write_row, METH_VARARGS, "Items of a list as JSON, and the index behind them."},
    {"light", light, METH_VARARGS, "The index behind the last of some items that are light together."},
    {"are_exactly", are_exactly, METH_VARARGS, "Whether each item of a list is exactly of a type."},
    {"column_text", column_text, METH_VARARGS, "A column as JSON without brackets."},
    {"read_calls", counts_read_calls, METH_VARARGS, "Each node's last call, and the counts of calls."},
    {"read_parents", counts_read_parents, METH_VARARGS, "The parents of nodes, and whether each comes before its node."},
    {"add_leaves", counts_add_leaves, METH_VARARGS, "The number of leaves under nodes."},
    {"add_counts", counts_add_counts, METH_VARARGS, "The tokens of the calls of nodes."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, .m_name = "_native", .m_size = -1, .m_methods = METHODS};

PyMODINIT_FUNC PyInit__native(void) {
    if (columns_prepare() < 0 || counts_prepare() < 0 || PyType_Ready(&NodeType) < 0) {
        return NULL;
    }
    numbers_prepare();
    return PyModule_Create(&MODULE);
}
