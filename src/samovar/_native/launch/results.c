/* The result of a kernel, as a tree: nothing, a scalar in a slot of the argument block, a complex number in two, a vector or
   matrix in consecutive slots, a tuple or a struct of these. A graph with checkpoints returns a status instead, which launcher.c handles. */
#include "launch/runtime.h"

enum { MAX_DEPTH = 32, MAX_EXTENT = 1 << 20 };

/* The nodes of a tree in preorder, counted or written. */
typedef struct {
    sv_result *nodes; /* NULL while they are counted */
    Py_ssize_t count;
    Py_ssize_t block_size;
} tree;

static int wrong_form(void)
{
    PyErr_SetString(PyExc_TypeError, "a result is None, (\"scalar\", dtype, offset), (\"matrix\", shape, dtype, "
                                     "offset), (\"complex\", dtype, offset), (\"tuple\", (result, …)), (\"struct\", maker, (result, …)) or "
                                     "(\"status\", offset)");
    return -1;
}

static int take(tree *self, PyObject *description, int depth);

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

static int take_scalar(const tree *self, PyObject *description, sv_result *node)
{
    Py_ssize_t code = sv_dtype_number(PyTuple_GET_ITEM(description, 1)), offset;
    if (code < 0 || take_offset(self, PyTuple_GET_ITEM(description, 2), &offset) < 0)
        return -1;
    *node = (sv_result){SV_SCALAR_RESULT, 0, sv_dtype_of((sv_dtype_code)code), offset, 0, NULL};
    return 0;
}

static int take_matrix(const tree *self, PyObject *description, sv_result *node)
{
    PyObject *shape = PyTuple_GET_ITEM(description, 1);
    Py_ssize_t axes = PyTuple_CheckExact(shape) ? PyTuple_GET_SIZE(shape) : 0;
    if (axes != 1 && axes != 2)
        return wrong_form();
    Py_ssize_t extents[2] = {0, 0};
    for (Py_ssize_t axis = 0; axis < axes; axis++) {
        extents[axis] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, axis));
        if (extents[axis] == -1 && PyErr_Occurred())
            return -1;
        if (extents[axis] < 1 || extents[axis] > MAX_EXTENT)
            return wrong_form();
    }
    Py_ssize_t code = sv_dtype_number(PyTuple_GET_ITEM(description, 2)), offset = PyLong_AsSsize_t(PyTuple_GET_ITEM(description, 3));
    if (code < 0 || (offset == -1 && PyErr_Occurred()))
        return -1;
    Py_ssize_t count = extents[0] * (axes == 2 ? extents[1] : 1);
    if (offset < 0 || count > self->block_size / SV_SLOT || offset > self->block_size - count * SV_SLOT) {
        PyErr_SetString(PyExc_ValueError, "a result lies outside the argument block");
        return -1;
    }
    *node = (sv_result){SV_MATRIX_RESULT, count, sv_dtype_of((sv_dtype_code)code), offset, axes == 2 ? extents[1] : 0, NULL};
    return 0;
}

static int take_complex(const tree *self, PyObject *description, sv_result *node)
{
    Py_ssize_t code = sv_dtype_number(PyTuple_GET_ITEM(description, 1)), offset;
    if (code < 0 || take_offset(self, PyTuple_GET_ITEM(description, 2), &offset) < 0)
        return -1;
    sv_dtype *dtype = sv_dtype_of((sv_dtype_code)code);
    if (sv_dtype_parts(dtype) != 2 || offset > self->block_size - 2 * SV_SLOT)
        return wrong_form();
    *node = (sv_result){SV_COMPLEX_RESULT, 0, sv_dtype_of_kind('f', dtype->itemsize / 2), offset, 0, NULL};
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

static int take(tree *self, PyObject *description, int depth)
{
    sv_result ignored, *node = self->nodes == NULL ? &ignored : &self->nodes[self->count];
    self->count++;
    if (description == Py_None) {
        *node = (sv_result){.kind = SV_NO_RESULT};
        return 0;
    }
    Py_ssize_t size = PyTuple_CheckExact(description) ? PyTuple_GET_SIZE(description) : 0;
    if (size < 2 || depth > MAX_DEPTH || !PyUnicode_Check(PyTuple_GET_ITEM(description, 0)))
        return wrong_form();
    PyObject *kind = PyTuple_GET_ITEM(description, 0);
    if (size == 3 && PyUnicode_CompareWithASCIIString(kind, "scalar") == 0)
        return take_scalar(self, description, node);
    if (size == 3 && PyUnicode_CompareWithASCIIString(kind, "complex") == 0)
        return take_complex(self, description, node);
    if (size == 4 && PyUnicode_CompareWithASCIIString(kind, "matrix") == 0)
        return take_matrix(self, description, node);
    if (size == 2 && depth == 0 && PyUnicode_CompareWithASCIIString(kind, "status") == 0) {
        *node = (sv_result){.kind = SV_STATUS_RESULT};
        return take_offset(self, PyTuple_GET_ITEM(description, 1), &node->offset);
    }
    if (size == 2 && PyUnicode_CompareWithASCIIString(kind, "tuple") == 0 && PyTuple_CheckExact(PyTuple_GET_ITEM(description, 1)))
        return take_parts(self, PyTuple_GET_ITEM(description, 1), node, depth);
    if (size == 3 && PyUnicode_CompareWithASCIIString(kind, "struct") == 0 && PyTuple_CheckExact(PyTuple_GET_ITEM(description, 2)) &&
        PyCallable_Check(PyTuple_GET_ITEM(description, 1))) {
        if (take_parts(self, PyTuple_GET_ITEM(description, 2), node, depth) < 0)
            return -1;
        node->kind = SV_STRUCT_RESULT;
        node->maker = PyTuple_GET_ITEM(description, 1);
        return 0;
    }
    return wrong_form();
}

sv_result *sv_results_make(PyObject *description, Py_ssize_t block_size)
{
    tree self = {NULL, 0, block_size};
    if (take(&self, description, 0) < 0)
        return NULL;
    self.nodes = PyMem_Calloc((size_t)self.count, sizeof *self.nodes);
    if (self.nodes == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    self.count = 0;
    if (take(&self, description, 0) < 0) {
        PyMem_Free(self.nodes);
        return NULL;
    }
    return self.nodes;
}

/* A vector or matrix as a Python object. Python runs here, after the launch. */
static PyObject *build_matrix(const sv_result *node, const uint8_t *block)
{
    PyObject *entries = PyList_New(node->parts);
    for (Py_ssize_t i = 0; entries != NULL && i < node->parts; i++) {
        PyObject *entry = sv_dtype_load(node->dtype, block + node->offset + i * SV_SLOT);
        if (entry == NULL)
            Py_CLEAR(entries);
        else
            PyList_SET_ITEM(entries, i, entry);
    }
    PyObject *module = entries == NULL ? NULL : PyImport_ImportModule("samovar.values.matrices"), *shape = NULL, *made = NULL;
    if (module != NULL)
        shape = node->columns ? Py_BuildValue("(nn)", node->parts / node->columns, node->columns) : Py_BuildValue("(n)", node->parts);
    if (shape != NULL)
        made = PyObject_CallMethod(module, "made", "OOO", shape, entries, (PyObject *)node->dtype);
    Py_XDECREF(shape);
    Py_XDECREF(module);
    Py_XDECREF(entries);
    return made;
}

static PyObject *build_complex(const sv_result *node, const uint8_t *block)
{
    PyObject *real = sv_dtype_load(node->dtype, block + node->offset);
    PyObject *imaginary = real == NULL ? NULL : sv_dtype_load(node->dtype, block + node->offset + SV_SLOT);
    PyObject *made = imaginary == NULL ? NULL : PyComplex_FromDoubles(PyFloat_AS_DOUBLE(real), PyFloat_AS_DOUBLE(imaginary));
    Py_XDECREF(real);
    Py_XDECREF(imaginary);
    return made;
}

/* The object for a node; *next is the node after its subtree. */
static PyObject *build(const sv_result *node, const uint8_t *block, const sv_result **next)
{
    *next = node + 1;
    if (node->kind == SV_NO_RESULT)
        Py_RETURN_NONE;
    if (node->kind == SV_SCALAR_RESULT)
        return sv_dtype_load(node->dtype, block + node->offset);
    if (node->kind == SV_MATRIX_RESULT)
        return build_matrix(node, block);
    if (node->kind == SV_COMPLEX_RESULT)
        return build_complex(node, block);
    PyObject *tuple = PyTuple_New(node->parts);
    for (Py_ssize_t i = 0; tuple != NULL && i < node->parts; i++) {
        PyObject *part = build(*next, block, next);
        if (part == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, part);
    }
    if (tuple != NULL && node->kind == SV_STRUCT_RESULT)
        Py_SETREF(tuple, PyObject_CallOneArg(node->maker, tuple)); /* Python runs here, after the launch. */
    return tuple;
}

PyObject *sv_results_build(const sv_result *results, const uint8_t *block)
{
    const sv_result *end;
    return build(results, block, &end);
}
