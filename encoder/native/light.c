/* What values weigh that only pydantic knows how to write: whether one call may do it. No Python code runs here. */
#include <Python.h>

/* What pydantic and orjson do to them takes as long as to write so many characters: see writers/base.py. */
enum { SCALAR = 6, OBJECT = 24, CONTAINER = 48, ITEM = 4 };

/* Objects inside each other that are looked through. */
enum { MOST_DEEP = 32 };

typedef struct {
    Py_ssize_t room; /* the weight that is left; below 0 once it is too much, or cannot be told */
    int depth;
} Load;

static void weigh(PyObject *value, Load *load);

static int visit(PyObject *value, void *load) {
    if (!PyType_Check(value)) { /* instances lead to their classes */
        weigh(value, (Load *)load);
    }
    return ((Load *)load)->room < 0;
}

static void weigh_inside(PyObject *value, Load *load) {
    traverseproc traverse = Py_TYPE(value)->tp_traverse;
    if (load->room < 0 || traverse == NULL || !PyObject_IS_GC(value)) {
        return;
    }
    if (load->depth >= MOST_DEEP) {
        load->room = -1;
        return;
    }
    load->depth++;
    if (PyDict_Check(value)) { /* whose traversal leaves out keys that are texts */
        PyObject *key, *item;
        Py_ssize_t position = 0;
        while (load->room >= 0 && PyDict_Next(value, &position, &key, &item)) {
            weigh(key, load);
            weigh(item, load);
        }
    } else {
        traverse(value, visit, load);
    }
    load->depth--;
}

/* An array of numbers, by its bytes. What Python code would tell the size of is not asked. */
static void weigh_buffer(PyObject *value, Load *load) {
    Py_buffer view;
    if (PyType_HasFeature(Py_TYPE(value), Py_TPFLAGS_HEAPTYPE)) {
        load->room = -1;
        return;
    }
    if (PyObject_GetBuffer(value, &view, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        load->room = -1;
        return;
    }
    const int holds_objects = view.format != NULL && strchr(view.format, 'O') != NULL;
    load->room = holds_objects || view.len > load->room ? -1 : load->room - SCALAR - 2 * view.len;
    PyBuffer_Release(&view);
}

/* Whether a value of a type that nothing is known of may give more items than it holds, such as a range. */
static int may_give_more(PyObject *value) {
    PyTypeObject *type = Py_TYPE(value);
    const int is_sized = (type->tp_as_sequence != NULL && type->tp_as_sequence->sq_length != NULL) ||
                         (type->tp_as_mapping != NULL && type->tp_as_mapping->mp_length != NULL);
    return is_sized || PyIter_Check(value);
}

static void weigh(PyObject *value, Load *load) {
    if (PyUnicode_Check(value)) {
        load->room -= SCALAR + PyUnicode_GET_LENGTH(value);
    } else if (PyLong_Check(value) || PyFloat_Check(value) || value == Py_None) {
        load->room -= SCALAR;
    } else if (PyBytes_Check(value)) {
        load->room -= SCALAR + 2 * PyBytes_GET_SIZE(value);
    } else if (PyList_Check(value) || PyTuple_Check(value)) {
        load->room -= CONTAINER + ITEM * Py_SIZE(value);
        weigh_inside(value, load);
    } else if (PyDict_Check(value)) {
        load->room -= CONTAINER + ITEM * PyDict_GET_SIZE(value);
        weigh_inside(value, load);
    } else if (PyAnySet_Check(value)) {
        load->room -= CONTAINER + ITEM * PySet_GET_SIZE(value);
        weigh_inside(value, load);
    } else if (PyObject_CheckBuffer(value)) {
        weigh_buffer(value, load);
    } else if (may_give_more(value)) {
        load->room = -1;
    } else {
        load->room -= OBJECT;
        weigh_inside(value, load);
    }
}

/* light(items, start, stop, room, most): the index behind the last of some items that weigh no more than `room` together,
   and than `most` each. */
PyObject *light(PyObject *module, PyObject *args) {
    PyObject *list;
    Py_ssize_t start, stop, room, most;
    if (!PyArg_ParseTuple(args, "O!nnnn:light", &PyList_Type, &list, &start, &stop, &room, &most)) {
        return NULL;
    }
    Py_ssize_t index = start;
    for (; index < stop && index < PyList_GET_SIZE(list); index++) {
        const Py_ssize_t limit = room < most ? room : most;
        Load load = {.room = limit - ITEM, .depth = 0};
        if (load.room >= 0) {
            weigh(PyList_GET_ITEM(list, index), &load);
        }
        if (load.room < 0) {
            break;
        }
        room -= limit - load.room;
    }
    return PyLong_FromSsize_t(index);
}
