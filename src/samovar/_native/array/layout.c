/* Layouts of fields: created from plain data, compared by guards. Equal layouts are one object. */
#include "array/layout.h"

#include <string.h>

static int bad(const char *what)
{
    PyErr_Format(PyExc_ValueError, "invalid layout: %s", what);
    return -1;
}

static int take_number(PyObject *item, int64_t *number)
{
    if (!PyLong_CheckExact(item))
        return bad("expected numbers");
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
        return bad("each dimension needs at least one piece");
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

/* Compute sizes, and whether the elements are in C order. */
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

/* (kind, mask, listed, is_wide, capacity, ((axis, divisor, modulus, factor), …)) */
static int take_cells(sv_layout *layout, PyObject *facts)
{
    int64_t kind;
    sv_layout_cells *cells = &layout->cells;
    PyObject *terms = PyTuple_CheckExact(facts) && PyTuple_GET_SIZE(facts) == 6 ? PyTuple_GET_ITEM(facts, 5) : NULL;
    if (terms == NULL || !PyTuple_CheckExact(terms) || PyTuple_GET_SIZE(terms) > SV_MAX_NDIM)
        return bad("expected six facts about cells");
    if (take_number(PyTuple_GET_ITEM(facts, 0), &kind) < 0 || take_number(PyTuple_GET_ITEM(facts, 1), &cells->mask) < 0 ||
        take_number(PyTuple_GET_ITEM(facts, 4), &cells->capacity) < 0)
        return -1;
    cells->is_sparse = true;
    cells->is_list = kind != 0;
    cells->is_mask = cells->mask == 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(terms); i++) {
        PyObject *term = PyTuple_GET_ITEM(terms, i);
        int at = cells->term_count++;
        if (!PyTuple_CheckExact(term) || PyTuple_GET_SIZE(term) != 4)
            return bad("a term is an axis, a divisor, a modulus and a factor");
        if (take_number(PyTuple_GET_ITEM(term, 0), &cells->terms[at].axis) < 0 ||
            take_number(PyTuple_GET_ITEM(term, 1), &cells->terms[at].divisor) < 0 ||
            take_number(PyTuple_GET_ITEM(term, 2), &cells->terms[at].modulus) < 0 ||
            take_number(PyTuple_GET_ITEM(term, 3), &cells->terms[at].factor) < 0)
            return -1;
        if (cells->terms[at].axis < 0 || cells->terms[at].axis >= layout->ndim || cells->terms[at].divisor <= 0 ||
            cells->terms[at].modulus <= 0)
            return bad("a term is out of range");
    }
    return 0;
}

static int read_description(sv_layout *layout, PyObject *description)
{
    PyObject *offsets = NULL, *axes = NULL;
    if (PyTuple_CheckExact(description) && (PyTuple_GET_SIZE(description) == 2 || PyTuple_GET_SIZE(description) == 3)) {
        offsets = PyTuple_GET_ITEM(description, 0);
        axes = PyTuple_GET_ITEM(description, 1);
    }
    if (offsets == NULL || !PyTuple_CheckExact(offsets) || !PyTuple_CheckExact(axes) ||
        PyTuple_GET_SIZE(offsets) != PyTuple_GET_SIZE(axes) || PyTuple_GET_SIZE(axes) > SV_MAX_NDIM)
        return bad("expected an offset and pieces for each dimension");
    layout->ndim = (int)PyTuple_GET_SIZE(axes);
    for (int axis = 0; axis < layout->ndim; axis++)
        if (take_number(PyTuple_GET_ITEM(offsets, axis), &layout->offset[axis]) < 0 ||
            take_axis(layout, axis, PyTuple_GET_ITEM(axes, axis)) < 0)
            return -1;
    if (PyTuple_GET_SIZE(description) == 3 && take_cells(layout, PyTuple_GET_ITEM(description, 2)) < 0)
        return -1;
    return measure(layout);
}

/* Description → address of its layout, for all live layouts: equal ones are one object, so guards compare addresses. A
   layout that is freed removes its entry. */
static PyObject *layouts;

static sv_layout *known_layout(PyObject *description)
{
    PyObject *address = PyDict_GetItemWithError(layouts, description); /* tuples and numbers: no Python runs */
    return address == NULL ? NULL : (sv_layout *)PyLong_AsVoidPtr(address);
}

static int remember(sv_layout *layout)
{
    PyObject *address = PyLong_FromVoidPtr(layout);
    int result = address == NULL ? -1 : PyDict_SetItem(layouts, layout->description, address);
    Py_XDECREF(address);
    return result;
}

/* One tuple for each order of dimensions: guards compare addresses. */
static PyObject *orders;

PyObject *sv_order_from(PyObject *axes)
{
    PyObject *known = PyDict_SetDefault(orders, axes, axes); /* numbers: no Python runs */
    return Py_XNewRef(known);
}

/* Whether the elements fill their memory in some permutation of C order. */
static bool is_in_order(const sv_layout *layout, const int order[])
{
    int64_t expected = 1;
    for (int place = layout->ndim; place-- > 0;) {
        int axis = order[place];
        if (layout->extent[axis] != 1 && layout->stride[axis] != expected)
            return false;
        expected *= layout->extent[axis];
    }
    return true;
}

static int find_order(sv_layout *layout)
{
    int order[SV_MAX_NDIM];
    if (layout->contiguous || layout->in_blocks || layout->span != layout->size)
        return 0;
    for (int axis = 0; axis < layout->ndim; axis++) { /* by decreasing stride */
        int place = axis;
        for (; place > 0 && layout->stride[order[place - 1]] < layout->stride[axis]; place--)
            order[place] = order[place - 1];
        order[place] = axis;
    }
    PyObject *axes = is_in_order(layout, order) ? PyTuple_New(layout->ndim) : NULL;
    for (int place = 0; axes != NULL && place < layout->ndim; place++) {
        PyObject *axis = PyLong_FromLong(order[place]);
        if (axis == NULL)
            Py_CLEAR(axes);
        else
            PyTuple_SET_ITEM(axes, place, axis);
    }
    if (axes != NULL)
        layout->order = sv_order_from(axes);
    Py_XDECREF(axes);
    return PyErr_Occurred() ? -1 : 0;
}

/* Tuples of numbers, no deeper than a description: dimensions, the pieces of each, and each piece. */
static bool is_plain(PyObject *item, int levels)
{
    if (!PyTuple_CheckExact(item))
        return PyLong_CheckExact(item);
    bool plain = levels > 0;
    for (Py_ssize_t i = 0; plain && i < PyTuple_GET_SIZE(item); i++)
        plain = is_plain(PyTuple_GET_ITEM(item, i), levels - 1);
    return plain;
}

sv_layout *sv_layout_from(PyObject *description)
{
    if (!is_plain(description, 4)) {
        bad("expected tuples of numbers");
        return NULL;
    }
    sv_layout *layout = known_layout(description);
    if (layout != NULL || PyErr_Occurred())
        return (sv_layout *)Py_XNewRef(layout);
    layout = PyObject_New(sv_layout, &sv_layout_type);
    if (layout == NULL)
        return NULL;
    memset((char *)layout + sizeof(PyObject), 0, sizeof *layout - sizeof(PyObject));
    if (read_description(layout, description) < 0 || find_order(layout) < 0) {
        Py_DECREF(layout);
        return NULL;
    }
    layout->description = Py_NewRef(description);
    if (remember(layout) < 0)
        Py_CLEAR(layout);
    return layout;
}

static void layout_dealloc(PyObject *self)
{
    PyObject *description = ((sv_layout *)self)->description;
    if (description != NULL) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        if (known_layout(description) == (sv_layout *)self && PyDict_DelItem(layouts, description) < 0)
            PyErr_WriteUnraisable(NULL);
        PyErr_Restore(type, value, traceback);
        Py_DECREF(description);
    }
    Py_XDECREF(((sv_layout *)self)->order);
    PyObject_Free(self);
}

PyTypeObject sv_layout_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar.Layout",
    .tp_basicsize = sizeof(sv_layout),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = PyDoc_STR("The memory layout of a field."),
    .tp_dealloc = layout_dealloc,
};

int sv_layout_init(PyObject *Py_UNUSED(module))
{
    layouts = PyDict_New();
    orders = PyDict_New();
    return layouts == NULL || orders == NULL ? -1 : PyType_Ready(&sv_layout_type);
}
