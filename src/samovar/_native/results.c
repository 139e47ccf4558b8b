/* What a kernel returns, as a tree: nothing, a scalar in a slot of the argument block, or a tuple of such things. A graph with
   checkpoints returns a status instead, which launcher.c finds. */
#include "runtime.h"

enum { MAX_DEPTH = 32 };

/* The nodes of a tree in its order, each before what is in it, counted or written. */
typedef struct {
    sv_result *nodes; /* NULL while they are counted */
    Py_ssize_t count;
    Py_ssize_t block_size;
} tree;

static int wrong_form(void)
{
    PyErr_SetString(PyExc_TypeError, "a result is None, (\"scalar\", dtype, offset), (\"tuple\", (result, …)) or (\"status\", offset)");
    return -1;
}

static int take(tree *self, PyObject *form, int depth);

static int take_offset(const tree *self, PyObject *item, Py_ssize_t *offset)
{
    *offset = PyLong_AsSsize_t(item);
    if (*offset == -1 && PyErr_Occurred())
        return -1;
    if (*offset < 0 || *offset > self->block_size - SV_SLOT) {
        PyErr_SetString(PyExc_ValueError, "a result lies outside the argument block");
        return -1;
    }
    return 0;
}

static int take_scalar(const tree *self, PyObject *form, sv_result *node)
{
    Py_ssize_t code = sv_dtype_number(PyTuple_GET_ITEM(form, 1)), offset;
    if (code < 0 || take_offset(self, PyTuple_GET_ITEM(form, 2), &offset) < 0)
        return -1;
    *node = (sv_result){SV_SCALAR_RESULT, 0, sv_dtype_of((sv_dtype_code)code), offset};
    return 0;
}

static int take_parts(tree *self, PyObject *parts, sv_result *node, int depth)
{
    *node = (sv_result){.kind = SV_TUPLE_RESULT, .parts = PyTuple_GET_SIZE(parts)};
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts); i++)
        if (take(self, PyTuple_GET_ITEM(parts, i), depth + 1) < 0)
            return -1;
    return 0;
}

static int take(tree *self, PyObject *form, int depth)
{
    sv_result ignored, *node = self->nodes == NULL ? &ignored : &self->nodes[self->count];
    self->count++;
    if (form == Py_None) {
        *node = (sv_result){.kind = SV_NO_RESULT};
        return 0;
    }
    Py_ssize_t size = PyTuple_CheckExact(form) ? PyTuple_GET_SIZE(form) : 0;
    if (size < 2 || depth > MAX_DEPTH || !PyUnicode_Check(PyTuple_GET_ITEM(form, 0)))
        return wrong_form();
    PyObject *kind = PyTuple_GET_ITEM(form, 0);
    if (size == 3 && PyUnicode_CompareWithASCIIString(kind, "scalar") == 0)
        return take_scalar(self, form, node);
    if (size == 2 && depth == 0 && PyUnicode_CompareWithASCIIString(kind, "status") == 0) {
        *node = (sv_result){.kind = SV_STATUS_RESULT};
        return take_offset(self, PyTuple_GET_ITEM(form, 1), &node->offset);
    }
    if (size == 2 && PyUnicode_CompareWithASCIIString(kind, "tuple") == 0 && PyTuple_CheckExact(PyTuple_GET_ITEM(form, 1)))
        return take_parts(self, PyTuple_GET_ITEM(form, 1), node, depth);
    return wrong_form();
}

sv_result *sv_results_make(PyObject *form, Py_ssize_t block_size)
{
    tree self = {NULL, 0, block_size};
    if (take(&self, form, 0) < 0)
        return NULL;
    self.nodes = PyMem_Calloc((size_t)self.count, sizeof *self.nodes);
    if (self.nodes == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    self.count = 0;
    if (take(&self, form, 0) < 0) {
        PyMem_Free(self.nodes);
        return NULL;
    }
    return self.nodes;
}

/* The object that a node stands for; *next is the node after what is in it. */
static PyObject *build(const sv_result *node, const uint8_t *block, const sv_result **next)
{
    *next = node + 1;
    if (node->kind == SV_NO_RESULT)
        Py_RETURN_NONE;
    if (node->kind == SV_SCALAR_RESULT)
        return sv_dtype_load(node->dtype, block + node->offset);
    PyObject *tuple = PyTuple_New(node->parts);
    for (Py_ssize_t i = 0; tuple != NULL && i < node->parts; i++) {
        PyObject *part = build(*next, block, next);
        if (part == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, part);
    }
    return tuple;
}

PyObject *sv_results_build(const sv_result *results, const uint8_t *block)
{
    const sv_result *end;
    return build(results, block, &end);
}
