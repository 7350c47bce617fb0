/* The type of nodes, and what makes each kind of them. */
#include "node.h"

#include <structmember.h>

static void clear_fields(Node *node) {
    for (Py_ssize_t index = 0; index < node->num_fields; index++) {
        Field *field = &node->fields[index];
        Py_CLEAR(field->name);
        Py_CLEAR(field->key);
        Py_CLEAR(field->node);
        Py_CLEAR(field->left_out);
    }
    node->num_fields = 0;
    PyMem_Free(node->fields);
    node->fields = NULL;
}

static int node_traverse(PyObject *self, visitproc visit, void *arg) {
    Node *node = (Node *)self;
    Py_VISIT(node->object);
    Py_VISIT(node->extras);
    Py_VISIT(node->taken);
    for (Py_ssize_t index = 0; index < node->num_fields; index++) {
        Py_VISIT(node->fields[index].node);
        Py_VISIT(node->fields[index].left_out);
    }
    return 0;
}

static int node_clear(PyObject *self) {
    Node *node = (Node *)self;
    Py_CLEAR(node->object);
    Py_CLEAR(node->extras);
    Py_CLEAR(node->taken);
    clear_fields(node);
    return 0;
}

static void node_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    node_clear(self);
    PyObject_GC_Del(self);
}

PyTypeObject NodeType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "encoder._native.Node",
    .tp_doc = "How the values of one place in a schema are written.",
    .tp_basicsize = sizeof(Node),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_traverse = node_traverse,
    .tp_clear = node_clear,
    .tp_dealloc = node_dealloc,
};

static PyObject *new_node(NodeKind kind, PyObject *object, int number) {
    Node *node = PyObject_GC_New(Node, &NodeType);
    if (node == NULL) {
        return NULL;
    }
    node->kind = kind;
    node->number = number;
    node->object = Py_XNewRef(object);
    node->extras = node->taken = NULL;
    node->num_fields = 0;
    node->fields = NULL;
    PyObject_GC_Track(node);
    return (PyObject *)node;
}

PyObject *node_text(PyObject *module, PyObject *unused) { return new_node(TEXT, NULL, 0); }

PyObject *node_anything(PyObject *module, PyObject *unused) { return new_node(ANYTHING, NULL, 0); }

PyObject *node_scalar(PyObject *module, PyObject *args) {
    PyObject *type;
    return PyArg_ParseTuple(args, "O!:scalar", &PyType_Type, &type) ? new_node(SCALAR, type, 0) : NULL;
}

PyObject *node_literal(PyObject *module, PyObject *args) {
    PyObject *texts;
    return PyArg_ParseTuple(args, "O!:literal", &PyFrozenSet_Type, &texts) ? new_node(LITERAL, texts, 0) : NULL;
}

PyObject *node_column(PyObject *module, PyObject *args) {
    int kind;
    return PyArg_ParseTuple(args, "i:column", &kind) ? new_node(COLUMN, NULL, kind) : NULL;
}

PyObject *node_items(PyObject *module, PyObject *args) {
    PyObject *inner;
    return PyArg_ParseTuple(args, "O!:items", &NodeType, &inner) ? new_node(ITEMS, inner, 0) : NULL;
}

PyObject *node_members(PyObject *module, PyObject *args) {
    PyObject *inner;
    return PyArg_ParseTuple(args, "O!:members", &NodeType, &inner) ? new_node(MEMBERS, inner, 0) : NULL;
}

PyObject *node_nullable(PyObject *module, PyObject *args) {
    PyObject *inner;
    return PyArg_ParseTuple(args, "O!:nullable", &NodeType, &inner) ? new_node(NULLABLE, inner, 0) : NULL;
}

PyObject *node_choice(PyObject *module, PyObject *args) {
    PyObject *members, *node;
    Py_ssize_t position = 0;
    if (!PyArg_ParseTuple(args, "O!:choice", &PyDict_Type, &members)) {
        return NULL;
    }
    while (PyDict_Next(members, &position, NULL, &node)) {
        if (!Py_IS_TYPE(node, &NodeType)) {
            PyErr_SetString(PyExc_TypeError, "choice needs a dict of nodes");
            return NULL;
        }
    }
    PyObject *copy = PyDict_Copy(members);
    PyObject *made = copy == NULL ? NULL : new_node(CHOICE, copy, 0);
    Py_XDECREF(copy);
    return made;
}

/* A tuple (name, key, node or None, nullable, excluded, exclude_if or None). */
static int take_field(Field *field, PyObject *row) {
    PyObject *name, *key, *node, *left_out;
    int nullable, excluded;
    if (!PyArg_ParseTuple(row, "USOppO:model", &name, &key, &node, &nullable, &excluded, &left_out)) {
        return -1;
    }
    if (node != Py_None && !Py_IS_TYPE(node, &NodeType)) {
        PyErr_SetString(PyExc_TypeError, "a field needs a node or None");
        return -1;
    }
    field->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&field->name);
    field->key = Py_NewRef(key);
    field->node = Py_NewRef(node);
    field->left_out = Py_NewRef(left_out);
    field->nullable = (char)nullable;
    field->excluded = (char)excluded;
    field->is_tag = node != Py_None && ((Node *)node)->kind == LITERAL && !nullable;
    return 0;
}

/* A node of a class, with a row for each of its fields. */
static PyObject *new_node_of_fields(NodeKind kind, PyObject *cls, PyObject *rows, int skips_none) {
    Node *node = (Node *)new_node(kind, cls, skips_none);
    if (node == NULL) {
        return NULL;
    }
    const Py_ssize_t length = PyTuple_GET_SIZE(rows);
    node->fields = PyMem_Calloc((size_t)length + 1, sizeof(Field));
    if (node->fields == NULL) {
        Py_DECREF(node);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t index = 0; index < length; index++) {
        if (!PyTuple_Check(PyTuple_GET_ITEM(rows, index)) ||
            take_field(&node->fields[index], PyTuple_GET_ITEM(rows, index)) < 0) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_TypeError, "a field needs a tuple");
            }
            Py_DECREF(node);
            return NULL;
        }
        node->num_fields++;
    }
    return (PyObject *)node;
}

PyObject *node_model(PyObject *module, PyObject *args) {
    PyObject *cls, *rows, *extras, *taken;
    int skips_none;
    if (!PyArg_ParseTuple(args, "O!O!pOO!:model", &PyType_Type, &cls, &PyTuple_Type, &rows, &skips_none, &extras,
                          &PyFrozenSet_Type, &taken)) {
        return NULL;
    }
    Node *node = (Node *)new_node_of_fields(MODEL, cls, rows, skips_none);
    if (node != NULL) {
        node->extras = Py_NewRef(extras);
        node->taken = Py_NewRef(taken);
    }
    return (PyObject *)node;
}

PyObject *node_attributes(PyObject *module, PyObject *args) {
    PyObject *cls, *rows;
    int skips_none;
    if (!PyArg_ParseTuple(args, "O!O!p:attributes", &PyType_Type, &cls, &PyTuple_Type, &rows, &skips_none)) {
        return NULL;
    }
    return new_node_of_fields(ATTRIBUTES, cls, rows, skips_none);
}
