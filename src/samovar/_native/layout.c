/* Layouts of fields: made of plain data, compared by guards. */
#include "layout.h"

#include <string.h>

static int bad(const char *what)
{
    PyErr_Format(PyExc_ValueError, "this describes no layout: %s", what);
    return -1;
}

static int take_number(PyObject *item, int64_t *number)
{
    if (!PyLong_Check(item))
        return bad("numbers are expected");
    *number = PyLong_AsLongLong(item);
    return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

/* (extent, stride) */
static int take_piece(sv_layout *layout, PyObject *piece)
{
    int at = layout->piece_count;
    if (at == SV_MAX_NDIM)
        return bad("too many pieces");
    if (!PyTuple_CheckExact(piece) || PyTuple_GET_SIZE(piece) != 2)
        return bad("a piece is an extent and a stride");
    if (take_number(PyTuple_GET_ITEM(piece, 0), &layout->extent[at]) < 0 ||
        take_number(PyTuple_GET_ITEM(piece, 1), &layout->stride[at]) < 0)
        return -1;
    if (layout->extent[at] < 0 || layout->stride[at] < 0)
        return bad("extents and strides are not negative");
    layout->piece_count++;
    return 0;
}

static int take_axis(sv_layout *layout, int axis, PyObject *pieces)
{
    if (!PyTuple_CheckExact(pieces) || PyTuple_GET_SIZE(pieces) == 0)
        return bad("an axis has one piece or more");
    layout->first_piece[axis] = layout->piece_count;
    layout->shape[axis] = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pieces); i++) {
        if (take_piece(layout, PyTuple_GET_ITEM(pieces, i)) < 0)
            return -1;
        if (__builtin_mul_overflow(layout->shape[axis], layout->extent[layout->piece_count - 1], &layout->shape[axis]))
            return bad("an extent does not fit in 64 bits");
    }
    layout->first_piece[axis + 1] = layout->piece_count;
    layout->in_blocks |= PyTuple_GET_SIZE(pieces) > 1;
    return 0;
}

/* Sizes, and whether the elements lie in C order. */
static int measure(sv_layout *layout)
{
    int64_t expected = 1;
    layout->size = layout->span = 1;
    layout->contiguous = true;
    for (int piece = layout->piece_count; piece-- > 0;) {
        int64_t extent = layout->extent[piece], reach;
        layout->contiguous &= extent == 1 || layout->stride[piece] == expected;
        if (__builtin_mul_overflow(layout->size, extent, &layout->size) || __builtin_mul_overflow(expected, extent ? extent : 1, &expected) ||
            __builtin_mul_overflow(extent ? extent - 1 : 0, layout->stride[piece], &reach) ||
            __builtin_add_overflow(layout->span, reach, &layout->span))
            return bad("its size does not fit in 64 bits");
    }
    if (layout->size == 0) {
        layout->span = 0;
        layout->contiguous = true;
    }
    return 0;
}

static int read_description(sv_layout *layout, PyObject *description)
{
    PyObject *offsets = NULL, *axes = NULL;
    if (PyTuple_CheckExact(description) && PyTuple_GET_SIZE(description) == 2) {
        offsets = PyTuple_GET_ITEM(description, 0);
        axes = PyTuple_GET_ITEM(description, 1);
    }
    if (offsets == NULL || !PyTuple_CheckExact(offsets) || !PyTuple_CheckExact(axes) ||
        PyTuple_GET_SIZE(offsets) != PyTuple_GET_SIZE(axes) || PyTuple_GET_SIZE(axes) > SV_MAX_NDIM)
        return bad("an offset and pieces for each axis are expected");
    layout->ndim = (int)PyTuple_GET_SIZE(axes);
    for (int axis = 0; axis < layout->ndim; axis++)
        if (take_number(PyTuple_GET_ITEM(offsets, axis), &layout->offset[axis]) < 0 ||
            take_axis(layout, axis, PyTuple_GET_ITEM(axes, axis)) < 0)
            return -1;
    return measure(layout);
}

sv_layout *sv_layout_from(PyObject *description)
{
    sv_layout *layout = PyObject_New(sv_layout, &sv_layout_type);
    if (layout == NULL)
        return NULL;
    memset((char *)layout + sizeof(PyObject), 0, sizeof *layout - sizeof(PyObject));
    if (read_description(layout, description) < 0) {
        Py_DECREF(layout);
        return NULL;
    }
    layout->description = Py_NewRef(description);
    return layout;
}

bool sv_layouts_equal(const sv_layout *one, const sv_layout *other)
{
    if (one == other)
        return true;
    if (one->ndim != other->ndim || one->piece_count != other->piece_count)
        return false;
    size_t axes = sizeof *one->shape * (size_t)one->ndim, pieces = sizeof *one->extent * (size_t)one->piece_count;
    return memcmp(one->offset, other->offset, axes) == 0 && memcmp(one->first_piece, other->first_piece, axes) == 0 &&
           memcmp(one->extent, other->extent, pieces) == 0 && memcmp(one->stride, other->stride, pieces) == 0;
}

static void layout_dealloc(PyObject *self)
{
    Py_XDECREF(((sv_layout *)self)->description);
    PyObject_Free(self);
}

PyTypeObject sv_layout_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar.Layout",
    .tp_basicsize = sizeof(sv_layout),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = PyDoc_STR("How the elements of a field lie in memory."),
    .tp_dealloc = layout_dealloc,
};

int sv_layout_init(PyObject *Py_UNUSED(module))
{
    return PyType_Ready(&sv_layout_type);
}
