/* Boxes of arrays: tapes save a part of any array that a kernel takes before it is overwritten, and restore it; they compare
   arrays that others may write to with what these were. */
#include "array/array.h"

#include <string.h>

typedef enum { TAKE, PUT, COMPARE } box_action;

typedef struct {
    const sv_tensor_view *view;
    const int64_t *low, *high;
    int64_t row;     /* bytes that are copied at once */
    int axes;        /* the axes before those */
    char *buffer;
    box_action action;
} box_copy;

/* False if a comparison finds a difference, at which it ends. */
static bool copy_rows(box_copy *copy, int axis, char *data)
{
    const sv_tensor_view *view = copy->view;
    if (axis == copy->axes) {
        bool same = true;
        if (copy->action == PUT)
            memcpy(data, copy->buffer, (size_t)copy->row);
        else if (copy->action == TAKE)
            memcpy(copy->buffer, data, (size_t)copy->row);
        else
            same = memcmp(copy->buffer, data, (size_t)copy->row) == 0;
        copy->buffer += copy->row;
        return same;
    }
    bool in_blocks = view->layout != NULL && view->layout->in_blocks;
    for (int64_t i = copy->low[axis]; i < copy->high[axis]; i++) {
        int64_t distance = in_blocks ? sv_layout_step(view->layout, axis, i) : i * view->strides[axis];
        if (!copy_rows(copy, axis + 1, data + distance * view->dtype->itemsize))
            return false;
    }
    return true;
}

/* Copies a box of a view from or to a buffer, in C order, or compares it with that. */
static bool copy_box(const sv_tensor_view *view, const int64_t *low, const int64_t *high, char *buffer, box_action action)
{
    int axes = view->ndim;
    int64_t row = view->dtype->itemsize, step = 1;
    int64_t first = 0;
    bool in_blocks = view->layout != NULL && view->layout->in_blocks;
    /* Axes at the end that lie without gaps and are taken whole, and a part of the one before them, are one row. */
    while (!in_blocks && axes > 0 && (view->shape[axes - 1] == 1 || view->strides[axes - 1] == step)) {
        axes--;
        bool whole = low[axes] == 0 && high[axes] == view->shape[axes];
        row *= high[axes] - low[axes];
        first += low[axes] * step * view->dtype->itemsize;
        step *= view->shape[axes];
        if (!whole)
            break;
    }
    box_copy copy = {view, low, high, row, axes, buffer, action};
    return copy_rows(&copy, 0, (char *)view->data + first);
}

static int parse_box(PyObject *bounds, const sv_tensor_view *view, int64_t *low, int64_t *high, int64_t *bytes)
{
    if (!PyTuple_Check(bounds) || PyTuple_GET_SIZE(bounds) != view->ndim) {
        PyErr_SetString(PyExc_ValueError, "a box has a begin and an end for each dimension");
        return -1;
    }
    *bytes = view->dtype->itemsize;
    for (int axis = 0; axis < view->ndim; axis++) {
        long long begin, end;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(bounds, axis), "LL", &begin, &end))
            return -1;
        if (begin < 0 || end < begin || end > view->shape[axis]) {
            PyErr_SetString(PyExc_ValueError, "a box is inside its array");
            return -1;
        }
        low[axis] = begin;
        high[axis] = end;
        *bytes *= end - begin;
    }
    return 0;
}

static int open_view(PyObject *object, sv_tensor_view *view)
{
    int found = sv_tensor_view_get(object, view); /* Python may run here. */
    if (found == 0)
        PyErr_Format(PyExc_TypeError, "a %s is not an array", Py_TYPE(object)->tp_name);
    if (found == 1 && view->contiguous) { /* the strides are those that the shape implies */
        int64_t stride = 1;
        for (int axis = view->ndim; axis-- > 0; stride *= view->shape[axis])
            view->strides[axis] = stride;
    }
    return found == 1 ? 0 : -1;
}

static PyObject *take_box(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *bounds, *taken = NULL;
    if (!PyArg_ParseTuple(args, "OO:take_box", &object, &bounds))
        return NULL;
    sv_tensor_view view;
    if (open_view(object, &view) < 0)
        return NULL;
    int64_t low[SV_MAX_NDIM], high[SV_MAX_NDIM], bytes;
    if (parse_box(bounds, &view, low, high, &bytes) == 0 && (taken = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes)) != NULL &&
        bytes > 0)
        copy_box(&view, low, high, PyBytes_AS_STRING(taken), TAKE);
    sv_tensor_view_release(&view);
    return taken;
}

static PyObject *put_box(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *bounds, *content;
    if (!PyArg_ParseTuple(args, "OOS:put_box", &object, &bounds, &content))
        return NULL;
    sv_tensor_view view;
    if (open_view(object, &view) < 0)
        return NULL;
    int64_t low[SV_MAX_NDIM], high[SV_MAX_NDIM], bytes;
    int parsed = parse_box(bounds, &view, low, high, &bytes);
    if (parsed == 0 && (bytes != PyBytes_GET_SIZE(content) || view.readonly)) {
        PyErr_SetString(PyExc_ValueError, "the content does not fit the box, or the array is read-only");
        parsed = -1;
    }
    if (parsed == 0 && bytes > 0)
        copy_box(&view, low, high, PyBytes_AS_STRING(content), PUT);
    sv_tensor_view_release(&view);
    if (parsed < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *holds_box(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *bounds, *content;
    if (!PyArg_ParseTuple(args, "OOS:holds_box", &object, &bounds, &content))
        return NULL;
    sv_tensor_view view;
    if (open_view(object, &view) < 0)
        return NULL;
    int64_t low[SV_MAX_NDIM], high[SV_MAX_NDIM], bytes;
    int parsed = parse_box(bounds, &view, low, high, &bytes);
    bool same = parsed == 0 && bytes == PyBytes_GET_SIZE(content) &&
                (bytes == 0 || copy_box(&view, low, high, PyBytes_AS_STRING(content), COMPARE));
    sv_tensor_view_release(&view);
    return parsed < 0 ? NULL : PyBool_FromLong(same);
}

/* The strides in bytes; None for a layout in blocks, which strides do not describe. */
static PyObject *byte_strides(const sv_tensor_view *view)
{
    if (view->layout != NULL && view->layout->in_blocks)
        return Py_NewRef(Py_None);
    int64_t strides[SV_MAX_NDIM];
    for (int axis = 0; axis < view->ndim; axis++)
        strides[axis] = view->strides[axis] * view->dtype->itemsize;
    return sv_shape_tuple(view->ndim, strides);
}

/* Where the memory of an array begins and ends, its shape and its strides. */
static PyObject *memory_extent(PyObject *Py_UNUSED(module), PyObject *object)
{
    sv_tensor_view view;
    if (open_view(object, &view) < 0)
        return NULL;
    int64_t least = 0, greatest = 0;
    bool empty = false;
    if (view.layout != NULL && view.layout->in_blocks) {
        greatest = view.layout->span - 1;
    } else {
        for (int axis = 0; axis < view.ndim; axis++) {
            empty |= view.shape[axis] == 0;
            int64_t reach = (view.shape[axis] - 1) * view.strides[axis];
            *(reach < 0 ? &least : &greatest) += reach;
        }
    }
    int64_t itemsize = view.dtype->itemsize, address = (int64_t)(intptr_t)view.data;
    PyObject *shape = sv_shape_tuple(view.ndim, view.shape), *strides = byte_strides(&view);
    sv_tensor_view_release(&view);
    return Py_BuildValue("LLNN", (long long)(address + least * itemsize),
                         (long long)(address + (empty ? least : greatest + 1) * itemsize), shape, strides);
}

/* How often an array was changed, if its library counts that; otherwise None. */
static PyObject *version_of(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (sv_array_check(object))
        return PyLong_FromUnsignedLong(sv_array_base((sv_array *)object)->version);
    PyObject *found = PyObject_GetAttrString(object, "_version"); /* torch; Python may run here. */
    if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    return found;
}

static PyObject *base_of(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (sv_array_check(object))
        return Py_NewRef(sv_array_base((sv_array *)object));
    PyObject *base = PyObject_GetAttrString(object, "_base"); /* a view of torch; Python may run here. */
    if (base == NULL && !PyErr_ExceptionMatches(PyExc_AttributeError))
        return NULL;
    PyErr_Clear();
    if (base != NULL && base != Py_None)
        return base;
    Py_XDECREF(base);
    return Py_NewRef(object);
}

/* Whether memory may change without a count. */
static PyObject *is_shared(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (sv_array_check(object)) {
        if (sv_array_require_place((sv_array *)object) < 0)
            return NULL;
        sv_array *base = sv_array_base((sv_array *)object);
        return PyBool_FromLong(base->exports > 0 || base->owner != NULL);
    }
    PyObject *version = version_of(NULL, object);
    if (version == NULL)
        return NULL;
    Py_DECREF(version);
    return PyBool_FromLong(version == Py_None);
}

static PyMethodDef box_functions[] = {
    {"is_shared", is_shared, METH_O,
     PyDoc_STR("is_shared(array, /)\n--\n\nWhether others may write to the memory of an array without counting that: it was\n"
               "imported, is exported, or belongs to a library that does not count.")},
    {"base_of", base_of, METH_O,
     PyDoc_STR("base_of(array, /)\n--\n\nThe array whose memory a view or a reshaped array shares; any other array itself.")},
    {"version_of", version_of, METH_O,
     PyDoc_STR("version_of(array, /)\n--\n\nA number that grows when Python writes to an array, and when kernels do while\n"
               "versions are kept; None if the library of the array does not count.")},
    {"take_box", take_box, METH_VARARGS,
     PyDoc_STR("take_box(array, bounds, /)\n--\n\nThe elements in a box, ((begin, end), …), as bytes.")},
    {"put_box", put_box, METH_VARARGS,
     PyDoc_STR("put_box(array, bounds, content, /)\n--\n\nRestore what take_box returned.")},
    {"holds_box", holds_box, METH_VARARGS,
     PyDoc_STR("holds_box(array, bounds, content, /)\n--\n\nWhether take_box would return this content.")},
    {"memory_extent", memory_extent, METH_O,
     PyDoc_STR("memory_extent(array, /)\n--\n\nThe addresses where the memory of an array begins and ends, its shape, and its\n"
               "strides in bytes (None for a layout in blocks).")},
    {NULL, NULL, 0, NULL},
};

int sv_array_boxes_init(PyObject *module)
{
    return PyModule_AddFunctions(module, box_functions);
}
