/* Token counts of a message graph whose parents come before their nodes: the steps of `encoder/tokens.py`, a slice each.

   Tables are arrays of 64-bit integers. A step answers None for what only Python can count: numbers that are none, or so
   large that a sum of a slice might not fit. */
#include "out.h"

#include <stdint.h>

enum { NONE = -1, FED = 0, TOTAL = 1, COMPLETION = 2, COUNTS = 3 };

/* Counts of 24 bits, times leaves of 24, times the 14 of the nodes in a slice, fit into 63 bits. */
#define MOST_TOKENS ((long long)1 << 24)

static PyObject *name_of_node, *name_of_usage, *name_of_parent, *names_of_counts[COUNTS];

int counts_prepare(void) {
    name_of_node = PyUnicode_InternFromString("node");
    name_of_usage = PyUnicode_InternFromString("usage");
    name_of_parent = PyUnicode_InternFromString("parent");
    names_of_counts[FED] = PyUnicode_InternFromString("input_tokens");
    names_of_counts[TOTAL] = PyUnicode_InternFromString("total_tokens");
    names_of_counts[COMPLETION] = PyUnicode_InternFromString("completion_tokens");
    return name_of_node && name_of_usage && name_of_parent && names_of_counts[FED] && names_of_counts[TOTAL] &&
                   names_of_counts[COMPLETION]
               ? 0
               : -1;
}

/* An attribute that is an int, or None where it may be: then `none`. */
static int read_int(PyObject *object, PyObject *name, long long *number, const long long *none) {
    PyObject *value = PyObject_GetAttr(object, name);
    if (value == NULL) {
        return FAILED;
    }
    int written = UNKNOWN;
    if (value == Py_None && none != NULL) {
        *number = *none;
        written = WRITTEN;
    } else if (PyLong_CheckExact(value)) {
        int overflow;
        *number = PyLong_AsLongLongAndOverflow(value, &overflow);
        written = overflow ? UNKNOWN : WRITTEN;
    }
    Py_DECREF(value);
    return written;
}

typedef struct {
    Py_buffer view;
    int64_t *items;
    Py_ssize_t length;
} Table;

static int open_table(PyObject *object, Table *table) {
    if (PyObject_GetBuffer(object, &table->view, PyBUF_WRITABLE) < 0) {
        return -1;
    }
    table->items = table->view.buf;
    table->length = table->view.len / (Py_ssize_t)sizeof(int64_t);
    return 0;
}

static PyObject *answer(int written, PyObject *value) {
    if (written == WRITTEN) {
        return value;
    }
    Py_XDECREF(value);
    if (written == FAILED) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static int read_call(PyObject *call, Py_ssize_t index, Table *used, int64_t *counts) {
    static const long long none = NONE;
    long long node, count = 0;
    PyObject *usage = PyObject_GetAttr(call, name_of_usage);
    if (usage == NULL) {
        return FAILED;
    }
    int written = read_int(call, name_of_node, &node, &none);
    if (written == WRITTEN && node >= 0 && node < used->length) {
        used->items[node] = usage == Py_None ? NONE : index;
    }
    for (int which = 0; usage != Py_None && written == WRITTEN && which < COUNTS; which++) {
        written = read_int(usage, names_of_counts[which], &count, NULL);
        counts[which] = count;
        if (written == WRITTEN && (count >= MOST_TOKENS || count <= -MOST_TOKENS)) {
            written = UNKNOWN;
        }
    }
    Py_DECREF(usage);
    return written;
}

/* read_calls(calls, start, stop, used, counts): the last call of each node, and three counts of each call. */
PyObject *counts_read_calls(PyObject *module, PyObject *args) {
    PyObject *calls, *used_object, *counts_object;
    Py_ssize_t start, stop;
    Table used, counts;
    if (!PyArg_ParseTuple(args, "O!nnOO:read_calls", &PyList_Type, &calls, &start, &stop, &used_object,
                          &counts_object) ||
        open_table(used_object, &used) < 0) {
        return NULL;
    }
    if (open_table(counts_object, &counts) < 0) {
        PyBuffer_Release(&used.view);
        return NULL;
    }
    int written = start >= 0 && stop <= counts.length / COUNTS ? WRITTEN : UNKNOWN;
    for (Py_ssize_t index = start; written == WRITTEN && index < stop; index++) {
        if (index >= PyList_GET_SIZE(calls)) {
            written = UNKNOWN;
            break;
        }
        PyObject *call = Py_NewRef(PyList_GET_ITEM(calls, index));
        written = read_call(call, index, &used, counts.items + COUNTS * index);
        Py_DECREF(call);
    }
    PyBuffer_Release(&counts.view);
    PyBuffer_Release(&used.view);
    return answer(written, Py_NewRef(Py_True));
}

/* read_parents(nodes, start, stop, parents): whether each of these is before its node; NONE where there is none. */
PyObject *counts_read_parents(PyObject *module, PyObject *args) {
    static const long long none = NONE;
    PyObject *nodes, *object;
    Py_ssize_t start, stop;
    Table parents;
    if (!PyArg_ParseTuple(args, "O!nnO:read_parents", &PyList_Type, &nodes, &start, &stop, &object) ||
        open_table(object, &parents) < 0) {
        return NULL;
    }
    int written = start >= 0 && stop <= parents.length ? WRITTEN : UNKNOWN, is_ordered = 1;
    for (Py_ssize_t index = start; written == WRITTEN && index < stop; index++) {
        if (index >= PyList_GET_SIZE(nodes)) {
            written = UNKNOWN;
            break;
        }
        long long parent;
        PyObject *node = Py_NewRef(PyList_GET_ITEM(nodes, index));
        written = read_int(node, name_of_parent, &parent, &none);
        Py_DECREF(node);
        if (written == WRITTEN) {
            parents.items[index] = parent < 0 || parent >= parents.length ? NONE : parent;
            is_ordered = is_ordered && parents.items[index] < index;
        }
    }
    PyBuffer_Release(&parents.view);
    return answer(written, PyBool_FromLong(is_ordered));
}

/* add_leaves(parents, leaves, start, stop): hand the leaves under some nodes, from the last to the first, to parents. */
PyObject *counts_add_leaves(PyObject *module, PyObject *args) {
    PyObject *parents_object, *leaves_object;
    Py_ssize_t start, stop;
    Table parents, leaves;
    if (!PyArg_ParseTuple(args, "OOnn:add_leaves", &parents_object, &leaves_object, &start, &stop) ||
        open_table(parents_object, &parents) < 0) {
        return NULL;
    }
    if (open_table(leaves_object, &leaves) < 0) {
        PyBuffer_Release(&parents.view);
        return NULL;
    }
    int written = start >= 0 && stop <= parents.length && parents.length <= leaves.length ? WRITTEN : UNKNOWN;
    for (Py_ssize_t node = stop - 1; written == WRITTEN && node >= start; node--) {
        leaves.items[node] = leaves.items[node] ? leaves.items[node] : 1;
        if (parents.items[node] >= 0) {
            leaves.items[parents.items[node]] += leaves.items[node];
        }
    }
    PyBuffer_Release(&leaves.view);
    PyBuffer_Release(&parents.view);
    return answer(written, Py_NewRef(Py_True));
}

/* add_counts(parents, used, leaves, counts, start, stop): fed-in and generated tokens of the calls of some nodes. */
PyObject *counts_add_counts(PyObject *module, PyObject *args) {
    enum { PARENTS, USED, LEAVES, VALUES, TABLES };
    PyObject *objects[TABLES];
    Py_ssize_t start, stop;
    Table tables[TABLES];
    if (!PyArg_ParseTuple(args, "OOOOnn:add_counts", &objects[PARENTS], &objects[USED], &objects[LEAVES],
                          &objects[VALUES], &start, &stop)) {
        return NULL;
    }
    int opened = 0;
    while (opened < TABLES && open_table(objects[opened], &tables[opened]) == 0) {
        opened++;
    }
    int written = opened == TABLES ? WRITTEN : FAILED;
    long long num_input = 0, num_output = 0;
    for (Py_ssize_t node = start; written == WRITTEN && node < stop; node++) {
        int64_t *used = tables[USED].items, *counts = tables[VALUES].items;
        int64_t parent = tables[PARENTS].items[node];
        int64_t before = parent == NONE ? NONE : used[parent];
        if (used[node] == NONE) {
            used[node] = before;
            continue;
        }
        const int64_t *mine = counts + COUNTS * used[node];
        int64_t fed = mine[FED] - (before == NONE ? 0 : counts[COUNTS * before + TOTAL]);
        num_input += fed > 0 ? fed : 0;
        num_output += mine[COMPLETION] * tables[LEAVES].items[node];
    }
    while (opened > 0) {
        PyBuffer_Release(&tables[--opened].view);
    }
    return written == WRITTEN ? Py_BuildValue("LL", num_input, num_output) : NULL;
}
