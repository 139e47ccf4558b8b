/* Sparse trees for Python: creation, and the queries of nodes. */
#include "array/array.h"
#include "sparse/elements.h"
#include "sparse/tree.h"

#include <stdlib.h>

static const char capsule_name[] = "samovar.sparse_tree";

static void free_capsule(PyObject *capsule)
{
    sv_sparse_tree *tree = PyCapsule_GetPointer(capsule, capsule_name);
    if (tree != NULL)
        sv_sparse_tree_free(tree);
}

static bool is_tuple(PyObject *object, Py_ssize_t size)
{
    return PyTuple_CheckExact(object) && (size < 0 || PyTuple_GET_SIZE(object) == size);
}

static int bad(const char *what)
{
    PyErr_Format(PyExc_ValueError, "invalid sparse node: %s", what);
    return -1;
}

/* (above, is_list, cells, cells_per_above, start, item_bytes, capacity, ((divisor, extent, stride), …), ((offset, bytes), …)) */
static int take_shape(PyObject *row, int number, sv_sparse_shape *shape)
{
    PyObject *levels, *ranges;
    int is_list;
    if (!is_tuple(row, 9))
        return bad("expected nine facts");
    if (!PyArg_ParseTuple(row, "ipLLLLLO!O!", &shape->above, &is_list, &shape->cells, &shape->cells_per_above, &shape->start,
                          &shape->item_bytes, &shape->capacity, &PyTuple_Type, &levels, &PyTuple_Type, &ranges))
        return -1;
    shape->is_list = is_list;
    if (shape->above >= number || shape->cells <= 0 || shape->cells_per_above <= 0 || shape->start < 0 || shape->item_bytes < 0)
        return bad("numbers out of range");
    if (PyTuple_GET_SIZE(levels) > SV_SPARSE_LEVELS)
        return bad("it is in too many other nodes");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(levels); i++) {
        sv_sparse_level *level = &shape->levels[shape->level_count++];
        if (!is_tuple(PyTuple_GET_ITEM(levels, i), 3) ||
            !PyArg_ParseTuple(PyTuple_GET_ITEM(levels, i), "LLL", &level->divisor, &level->extent, &level->stride))
            return PyErr_Occurred() ? -1 : bad("a level is a divisor, an extent and a stride");
        if (level->divisor <= 0 || level->extent <= 0 || level->stride < 0)
            return bad("numbers out of range");
    }
    shape->ranges = calloc((size_t)PyTuple_GET_SIZE(ranges) + 1, sizeof *shape->ranges);
    if (shape->ranges == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(ranges); i++) {
        sv_sparse_range *range = &shape->ranges[shape->range_count++];
        if (!is_tuple(PyTuple_GET_ITEM(ranges, i), 2) ||
            !PyArg_ParseTuple(PyTuple_GET_ITEM(ranges, i), "LL", &range->offset, &range->bytes))
            return PyErr_Occurred() ? -1 : bad("a range is an offset and a size");
        if (range->offset < 0 || range->bytes < 0)
            return bad("numbers out of range");
    }
    return 0;
}

static PyObject *memory_of(sv_sparse_tree *tree)
{
    PyObject *capsule = PyCapsule_New(tree, capsule_name, free_capsule);
    if (capsule == NULL) {
        sv_sparse_tree_free(tree);
        return NULL;
    }
    int64_t bytes = (int64_t)sv_sparse_reserved(tree);
    sv_array *memory = sv_array_over(sv_dtype_of(SV_U8), 1, &bytes, sv_sparse_data(tree), false, capsule);
    Py_DECREF(capsule);
    return (PyObject *)memory;
}

static PyObject *places_of(sv_sparse_tree *tree, int count)
{
    PyObject *places = PyTuple_New(count);
    for (int i = 0; places != NULL && i < count; i++) {
        PyObject *place = Py_BuildValue("(LL)", (long long)sv_sparse_mask(tree, i), (long long)sv_sparse_listed(tree, i));
        if (place == NULL)
            Py_CLEAR(places);
        else
            PyTuple_SET_ITEM(places, i, place);
    }
    return places;
}

static PyObject *sparse_tree(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_ssize_t bytes;
    int is_mixed;
    PyObject *rows;
    if (!PyArg_ParseTuple(args, "npO!:sparse_tree", &bytes, &is_mixed, &PyTuple_Type, &rows))
        return NULL;
    int count = (int)PyTuple_GET_SIZE(rows);
    sv_sparse_shape *shapes = calloc((size_t)count + 1, sizeof *shapes);
    if (shapes == NULL)
        return PyErr_NoMemory();
    int taken = 0;
    while (taken < count && take_shape(PyTuple_GET_ITEM(rows, taken), taken, &shapes[taken]) == 0)
        taken++;
    if (taken < count || bytes < 0) {
        for (int i = 0; i < count; i++)
            free(shapes[i].ranges);
        free(shapes);
        return PyErr_Occurred() ? NULL : (bad("negative size"), NULL);
    }
    sv_sparse_tree *tree = sv_sparse_tree_new((size_t)bytes, is_mixed, count, shapes);
    free(shapes);
    if (tree == NULL)
        return PyErr_Format(PyExc_MemoryError, "cannot reserve address space for a sparse tree with %zd bytes of cells", bytes);
    PyObject *memory = memory_of(tree), *places = memory == NULL ? NULL : places_of(tree, count);
    PyObject *result = places == NULL ? NULL : PyTuple_Pack(2, memory, places);
    Py_XDECREF(memory);
    Py_XDECREF(places);
    return result;
}

/* The mask of a node: the memory of a field of masks or lengths. */
static void *mask_of(PyObject *object)
{
    sv_array *field = (sv_array *)object;
    if (sv_array_check(object) && sv_array_is_field(field) && sv_array_require_place(field) == 0 && field->layout->cells.is_mask)
        return field->data;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "expected the cells of a sparse node");
    return NULL;
}

static PyObject *deactivate_all(PyObject *Py_UNUSED(module), PyObject *object)
{
    void *mask = mask_of(object);
    if (mask == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    sv_sparse_deactivate_all(mask);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject *active_cells(PyObject *Py_UNUSED(module), PyObject *object)
{
    void *mask = mask_of(object);
    return mask == NULL ? NULL : PyLong_FromLongLong(sv_sparse_active(mask));
}

/* --- saving */

/* A sparse field, or the masks or lengths of a node. */
static sv_array *sparse_of(PyObject *object, bool is_mask)
{
    sv_array *field = (sv_array *)object;
    if (sv_array_check(object) && sv_array_is_field(field) && sv_array_require_place(field) == 0 && field->layout->cells.is_sparse &&
        field->layout->cells.is_mask == is_mask)
        return field;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, is_mask ? "expected the cells of a sparse node" : "expected a sparse field");
    return NULL;
}

static PyObject *sparse_cells(PyObject *Py_UNUSED(module), PyObject *object)
{
    sv_array *cells = sparse_of(object, true);
    return cells == NULL ? NULL : (PyObject *)sv_sparse_cells(cells);
}

static PyObject *sparse_elements(PyObject *Py_UNUSED(module), PyObject *object)
{
    sv_array *field = sparse_of(object, false);
    return field == NULL ? NULL : (PyObject *)sv_sparse_elements(field);
}

static PyObject *restore(PyObject *args, bool is_mask, int (*from)(const sv_array *, const sv_array *))
{
    PyObject *object, *given;
    if (!PyArg_ParseTuple(args, "OO!:restore_sparse", &object, &sv_array_type, &given))
        return NULL;
    sv_array *field = sparse_of(object, is_mask);
    return field == NULL || from(field, (sv_array *)given) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *restore_sparse_cells(PyObject *Py_UNUSED(module), PyObject *args)
{
    return restore(args, true, sv_sparse_restore_cells);
}

static PyObject *restore_sparse_elements(PyObject *Py_UNUSED(module), PyObject *args)
{
    return restore(args, false, sv_sparse_restore_elements);
}

static PyMethodDef functions[] = {
    {"sparse_tree", sparse_tree, METH_VARARGS,
     PyDoc_STR("sparse_tree(bytes, is_mixed, nodes, /)\n--\n\n"
               "Reserved memory for the cells of a sparse tree, and for each node the offsets of its mask and of its list of\n"
               "active cells. A node is (above, is_list, cells, cells_per_above, start, item_bytes, capacity, levels, ranges), see\n"
               "`sparse/tree.h`.")},
    {"deactivate_all", deactivate_all, METH_O, PyDoc_STR("deactivate_all(cells, /)\n--\n\nDeactivate all cells of a sparse node.")},
    {"active_cells", active_cells, METH_O,
     PyDoc_STR("active_cells(cells, /)\n--\n\nThe number of active cells of a sparse node, or of elements in lists.")},
    {"sparse_cells", sparse_cells, METH_O,
     PyDoc_STR("sparse_cells(cells, /)\n--\n\nThe indices of the active cells of a sparse node, a row for each; in the last column the\n"
               "lengths of lists.")},
    {"sparse_elements", sparse_elements, METH_O,
     PyDoc_STR("sparse_elements(field, /)\n--\n\nThe active elements of a sparse field in the order of its cells, as a 1-D array.")},
    {"restore_sparse_cells", restore_sparse_cells, METH_VARARGS,
     PyDoc_STR("restore_sparse_cells(cells, rows, /)\n--\n\nActivate what `sparse_cells` has returned.")},
    {"restore_sparse_elements", restore_sparse_elements, METH_VARARGS,
     PyDoc_STR("restore_sparse_elements(field, elements, /)\n--\n\nOverwrite the active elements.")},
    {NULL, NULL, 0, NULL},
};

int sv_sparse_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
