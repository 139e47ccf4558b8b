/* Fields: arrays whose layout is a compile-time constant. A field gets its memory, which it may share with others, when it
   is placed; until then it only has a dtype. A placed field can be used like any other array. */
#include "array/array.h"

#include <string.h>

/* --- placement */

int sv_field_place(sv_array *field)
{
    if (field->owner == NULL) {
        sv_refuse("SamovarFieldError", "this field is not placed: give it a shape, sv.field(dtype, shape), or "
                                           "place it, sv.root.dense(sv.i, n).place(f)");
        return -1;
    }
    PyObject *plan = Py_NewRef(field->owner);
    PyObject *done = PyObject_CallNoArgs(plan); /* Python may run here. */
    Py_DECREF(plan);
    if (done == NULL)
        return -1;
    Py_DECREF(done);
    if (field->signature != SV_UNPLACED)
        return 0;
    PyErr_SetString(PyExc_RuntimeError, "a field was not placed");
    return -1;
}

/* Whether a layout is C order with the dimensions of the elements moved to the front. */
static bool is_soa(const sv_layout *layout, int inner)
{
    int64_t expected = 1;
    int outer = layout->ndim - inner;
    for (int step = 0; step < layout->ndim; step++) {
        int axis = step < outer ? outer - 1 - step : layout->ndim - 1 - (step - outer);
        if (layout->stride[axis] != expected)
            return false;
        expected *= layout->extent[axis] ? layout->extent[axis] : 1;
    }
    return inner > 0 && outer >= 0 && !layout->in_blocks;
}

static void take_place(sv_array *field, sv_layout *layout, void *data, PyObject *memory, bool soa)
{
    bool wide = false;
    for (int axis = 0; axis < layout->ndim; axis++) {
        field->byte_strides[axis] = layout->stride[layout->first_piece[axis]] * field->dtype->itemsize;
        wide |= layout->shape[axis] > INT32_MAX;
    }
    if (!soa && (layout->size == 0 || layout->contiguous)) { /* dimensions of extent 1 or 0, as in any other array */
        int64_t stride = field->dtype->itemsize;
        for (int axis = layout->ndim; axis-- > 0; stride *= layout->shape[axis] ? layout->shape[axis] : 1)
            field->byte_strides[axis] = stride;
    }
    field->size = layout->size;
    field->data = data;
    field->layout = (sv_layout *)Py_NewRef(layout);
    bool baked = sv_array_is_field(field), permuted = !baked && !soa && layout->order != NULL;
    field->guarded_layout = baked ? (PyObject *)layout : permuted ? layout->order : NULL;
    Py_XSETREF(field->owner, Py_NewRef(memory));
    sv_tensor_facts facts = {
        .dtype = field->dtype, .ndim = layout->ndim, .contiguous = layout->contiguous && !soa, .wide = wide,
        .needs_grad = field->grad != NULL, .baked = baked, .soa = soa, .permuted = permuted};
    field->signature = sv_signature(&facts, false) | sv_inner_bits(field->inner);
}

static sv_array *as_unplaced(PyObject *object)
{
    if (Py_IS_TYPE(object, &sv_field_type) && ((sv_array *)object)->signature == SV_UNPLACED)
        return (sv_array *)object;
    PyErr_SetString(PyExc_TypeError, "expected a field that is not placed");
    return NULL;
}

/* Place an array at a byte offset in the memory of another one. -1 with an exception. */
static int place(sv_array *array, PyObject *description, PyObject *memory, Py_ssize_t start, bool soa)
{
    sv_layout *layout = sv_layout_from(description);
    if (layout == NULL)
        return -1;
    int64_t bytes;
    Py_ssize_t room = sv_array_nbytes((sv_array *)memory) - start;
    if (layout->ndim < array->inner)
        PyErr_SetString(PyExc_ValueError, "an array of vectors or matrices needs dimensions for their components");
    else if (soa && !is_soa(layout, array->inner))
        PyErr_SetString(PyExc_ValueError, "this is not an SoA layout of vectors or matrices");
    else if (start < 0 || room < 0 || start % array->dtype->itemsize ||
             __builtin_mul_overflow(layout->span, array->dtype->itemsize, &bytes) || bytes > room)
        PyErr_SetString(PyExc_ValueError, "a field does not fit into the memory given");
    else if (sv_array_set_shape(array, layout->ndim, layout->shape) == 0)
        take_place(array, layout, (char *)((sv_array *)memory)->data + start, memory, soa);
    Py_DECREF(layout);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *place_field(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *description, *memory;
    Py_ssize_t start;
    if (!PyArg_ParseTuple(args, "OOO!n:place_field", &object, &description, &sv_array_type, &memory, &start))
        return NULL;
    sv_array *field = as_unplaced(object);
    return field == NULL || place(field, description, memory, start, false) < 0 ? NULL : Py_NewRef(Py_None);
}

/* An array inside the memory of another one, with arbitrary strides; kernels are not specialized on its shape. */
static PyObject *array_within(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *dtype, *description, *memory, *grad = Py_None;
    Py_ssize_t start;
    int inner, soa = 0;
    if (!PyArg_ParseTuple(args, "O!OO!ni|pO:array_within", &sv_dtype_type, &dtype, &description, &sv_array_type, &memory, &start, &inner,
                          &soa, &grad))
        return NULL;
    if (inner < 0 || inner > 2) {
        PyErr_Format(PyExc_ValueError, "elements have 0, 1 or 2 dimensions, not %d", inner);
        return NULL;
    }
    sv_array *array = sv_array_blank(&sv_array_type, (sv_dtype *)dtype);
    if (array == NULL)
        return NULL;
    array->inner = inner;
    PyObject_GC_Track(array);
    if (place(array, description, memory, start, soa) < 0)
        Py_CLEAR(array);
    if (array != NULL && grad != Py_None) {
        if (sv_array_is_grad_of(grad, array)) {
            sv_array_set_grad(array, (sv_array *)Py_NewRef(grad));
        } else {
            PyErr_SetString(PyExc_TypeError, "the grad of an array must be an array with the same layout");
            Py_CLEAR(array);
        }
    }
    return (PyObject *)array;
}

static PyObject *postpone_field(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *plan, *replaced = NULL;
    if (!PyArg_ParseTuple(args, "OO|O:postpone_field", &object, &plan, &replaced))
        return NULL;
    sv_array *field = Py_IS_TYPE(object, &sv_field_type) ? (sv_array *)object : NULL;
    if (field == NULL || (field->owner != NULL && (field->owner != replaced || field->signature != SV_UNPLACED))) {
        PyErr_SetString(PyExc_ValueError, "a field can be placed only once: this one was given a shape or placed before");
        return NULL;
    }
    Py_XSETREF(field->owner, Py_NewRef(plan));
    Py_RETURN_NONE;
}

static PyObject *is_placed(PyObject *Py_UNUSED(module), PyObject *object)
{
    return PyBool_FromLong(sv_array_check(object) && ((sv_array *)object)->signature != SV_UNPLACED);
}

/* The answer of the lens about the layout: (offsets, dimensions) of a field, the order of dimensions of an array. */
static PyObject *memory_form(PyObject *Py_UNUSED(module), PyObject *object)
{
    sv_array *array = sv_array_check(object) ? (sv_array *)object : NULL;
    if (array == NULL)
        Py_RETURN_NONE;
    if (sv_array_require_place(array) < 0)
        return NULL;
    return Py_NewRef(array->guarded_layout == NULL ? Py_None : sv_array_is_field(array) ? array->layout->description : array->guarded_layout);
}

/* (offsets, dimensions) of a field, None for any other object. */
static PyObject *field_layout(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (!Py_IS_TYPE(object, &sv_field_type))
        Py_RETURN_NONE;
    if (sv_array_require_place((sv_array *)object) < 0)
        return NULL;
    return Py_NewRef(((sv_array *)object)->layout->description);
}

/* --- elements that are not in C order */

void sv_field_view_pieces(const sv_layout *layout, sv_tensor_view *view)
{
    view->ndim = layout->piece_count;
    view->layout = NULL;
    memcpy(view->shape, layout->extent, sizeof *view->shape * (size_t)layout->piece_count);
    memcpy(view->strides, layout->stride, sizeof *view->strides * (size_t)layout->piece_count);
}

/* Iterate over the elements in C order: `elements` has one entry per element. */
void sv_field_scatter(const sv_array *field, const void *elements)
{
    const sv_layout *layout = field->layout;
    int itemsize = field->dtype->itemsize, last = layout->piece_count - 1;
    int64_t row = layout->extent[last], stride = layout->stride[last] * itemsize, index[SV_MAX_NDIM] = {0};
    char *here = field->data;
    for (int64_t done = 0; done < layout->size; done += row) {
        for (int64_t k = 0; k < row; k++)
            memcpy(here + k * stride, (const char *)elements + (done + k) * itemsize, (size_t)itemsize);
        for (int piece = last - 1; piece >= 0; piece--) {
            here += layout->stride[piece] * itemsize;
            if (++index[piece] < layout->extent[piece])
                break;
            here -= layout->stride[piece] * layout->extent[piece] * itemsize;
            index[piece] = 0;
        }
    }
}

/* One number at a constant stride. */
static void fill_row(char *to, const void *number, int itemsize, int64_t count, int64_t step)
{
#define FILL(type)                                                                                                        \
    {                                                                                                                     \
        type value;                                                                                                       \
        memcpy(&value, number, sizeof value);                                                                             \
        for (int64_t i = 0; i < count; i++)                                                                               \
            memcpy(to + i * step, &value, sizeof value);                                                                  \
        break;                                                                                                            \
    }
    switch (itemsize) {
    case 1: FILL(uint8_t)
    case 2: FILL(uint16_t)
    case 4: FILL(uint32_t)
    case 8: FILL(uint64_t)
    default: Py_UNREACHABLE();
    }
#undef FILL
}

/* Fill with one element of `count` numbers: number by number, each in memory order. */
void sv_field_fill(const sv_array *field, const void *numbers, int64_t count)
{
    const sv_layout *layout = field->layout;
    int itemsize = field->dtype->itemsize, outer = layout->piece_count;
    for (int64_t inner = 1; inner < count; inner *= layout->extent[outer])
        outer--; /* the last pieces are those of the elements */
    int64_t extent[SV_MAX_NDIM], stride[SV_MAX_NDIM];
    for (int piece = 0; piece < outer; piece++) { /* the smallest stride last */
        int place = piece;
        for (; place > 0 && stride[place - 1] < layout->stride[piece]; place--) {
            extent[place] = extent[place - 1];
            stride[place] = stride[place - 1];
        }
        extent[place] = layout->extent[piece];
        stride[place] = layout->stride[piece];
    }
    int last = outer - 1;
    int64_t row = outer ? extent[last] : 1, step = outer ? stride[last] * itemsize : 0, rows = layout->size / count / (row ? row : 1);
    Py_BEGIN_ALLOW_THREADS
    for (int64_t number = 0; layout->size > 0 && number < count; number++) {
        int64_t index[SV_MAX_NDIM] = {0}, place = number;
        char *here = field->data;
        for (int piece = layout->piece_count - 1; piece >= outer; piece--) {
            here += place % layout->extent[piece] * layout->stride[piece] * itemsize;
            place /= layout->extent[piece];
        }
        for (int64_t done = 0; done < rows; done++) {
            fill_row(here, (const char *)numbers + number * itemsize, itemsize, row, step);
            for (int piece = last - 1; piece >= 0; piece--) {
                here += stride[piece] * itemsize;
                if (++index[piece] < extent[piece])
                    break;
                here -= stride[piece] * extent[piece] * itemsize;
                index[piece] = 0;
            }
        }
    }
    Py_END_ALLOW_THREADS
}

/* --- creation */

sv_array *sv_laid_out_new(PyTypeObject *type, sv_dtype *dtype, sv_layout *layout, int inner, bool soa)
{
    if (soa && !is_soa(layout, inner)) {
        PyErr_SetString(PyExc_ValueError, "this is not an SoA layout of vectors or matrices");
        return NULL;
    }
    int64_t bytes;
    if (layout->cells.is_sparse) {
        PyErr_SetString(PyExc_TypeError, "sparse fields cannot be copied: use copy_from, or to_numpy() and from_numpy()");
        return NULL;
    }
    if (__builtin_mul_overflow(layout->span, dtype->itemsize, &bytes)) {
        PyErr_NoMemory();
        return NULL;
    }
    sv_array *memory = sv_array_new(sv_dtype_of(SV_U8), 1, &bytes, false);
    sv_array *field = memory == NULL ? NULL : sv_array_blank(type, dtype);
    if (field != NULL && sv_array_set_shape(field, layout->ndim, layout->shape) < 0)
        Py_CLEAR(field);
    if (field != NULL) {
        field->inner = inner;
        take_place(field, layout, memory->data, (PyObject *)memory, soa);
        PyObject_GC_Track(field);
    }
    Py_XDECREF(memory);
    return field;
}

sv_array *sv_laid_out_copy(const sv_array *field)
{
    sv_array *copy = sv_laid_out_new(Py_TYPE(field), field->dtype, field->layout, field->inner, sv_array_is_soa(field));
    sv_tensor_view view;
    if (copy != NULL && (sv_tensor_view_get((PyObject *)field, &view) < 0 || sv_array_assign(copy, &view) < 0))
        Py_CLEAR(copy);
    return copy;
}

static PyObject *new_field(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *dtype, *grad = Py_None;
    int inner = 0;
    if (!PyArg_ParseTuple(args, "O!|Oi:new_field", &sv_dtype_type, &dtype, &grad, &inner))
        return NULL;
    if (inner < 0 || inner > 2) {
        PyErr_Format(PyExc_ValueError, "elements have 0, 1 or 2 dimensions, not %d", inner);
        return NULL;
    }
    if (grad != Py_None && (as_unplaced(grad) == NULL || ((sv_array *)grad)->dtype != (sv_dtype *)dtype)) {
        PyErr_SetString(PyExc_TypeError, "the grad of a field must be a field of the same dtype that is not placed yet");
        return NULL;
    }
    sv_array *field = sv_array_blank(&sv_field_type, (sv_dtype *)dtype);
    if (field == NULL)
        return NULL;
    field->inner = inner;
    if (grad != Py_None) {
        field->grad = Py_NewRef(grad);
        sv_array_note_grad(field);
    }
    PyObject_GC_Track(field);
    return (PyObject *)field;
}

static PyObject *give_gradient(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *grad;
    if (!PyArg_ParseTuple(args, "OO:give_gradient", &object, &grad))
        return NULL;
    sv_array *field = as_unplaced(object);
    if (field == NULL || field->grad != NULL || as_unplaced(grad) == NULL || ((sv_array *)grad)->dtype != field->dtype) {
        PyErr_SetString(PyExc_TypeError, "a field without a grad, and a field of the same dtype, both not in use yet, are expected");
        return NULL;
    }
    field->grad = Py_NewRef(grad);
    sv_array_note_grad(field);
    Py_RETURN_NONE;
}

static PyObject *get_offset(PyObject *self, void *Py_UNUSED(closure))
{
    if (sv_array_require_place((sv_array *)self) < 0)
        return NULL;
    return Py_NewRef(PyTuple_GET_ITEM(((sv_array *)self)->layout->description, 0));
}

/* The elements as NumPy prints them; without NumPy, the repr. */
static PyObject *field_str(PyObject *self)
{
    PyObject *elements = PyObject_CallMethod(self, "to_numpy", NULL); /* Python may run here. */
    if (elements == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_ImportError))
            return NULL;
        PyErr_Clear();
        return PyObject_Repr(self);
    }
    PyObject *text = PyObject_Str(elements);
    Py_DECREF(elements);
    return text;
}

static PyGetSetDef field_getset[] = {
    {"offset", get_offset, NULL, "The first index of each dimension, a tuple.", NULL},
    {"snode", sv_field_node, NULL, "The node that it is placed in, with `shape` and `parent()`.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef field_methods[] = {
    {"parent", KEYWORDS(sv_field_parent),
     PyDoc_STR("parent($self, n=1)\n--\n\nThe tree node that the field is placed in, or its n-th ancestor.")},
    {"get_scalar_field", KEYWORDS(sv_field_entry),
     PyDoc_STR("get_scalar_field($self, *indices)\n--\n\n"
               "One component of each vector or matrix, as a field in the same memory.")},
    {NULL, NULL, 0, NULL},
};

/* The bytes that contain a field, and its offset in them. */
static PyObject *field_memory(PyObject *Py_UNUSED(module), PyObject *object)
{
    sv_array *field = (sv_array *)object;
    if (!Py_IS_TYPE(object, &sv_field_type) || sv_array_require_place(field) < 0 || field->owner == NULL ||
        !Py_IS_TYPE(field->owner, &sv_array_type)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "expected a field with its own memory");
        return NULL;
    }
    return Py_BuildValue("(On)", field->owner, (Py_ssize_t)((char *)field->data - (char *)((sv_array *)field->owner)->data));
}

PyTypeObject sv_field_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar.Field",
    .tp_basicsize = sizeof(sv_array),
    .tp_base = &sv_tensor_type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = PyDoc_STR("An array whose shape and layout are compile-time constants. Created by `field`.\n\n"
                        ">>> import samovar as sv\n>>> f = sv.field(sv.f32, (2, 3))\n>>> f[1, 2] = 5\n>>> f[1, 2]\n5.0"),
    .tp_str = field_str,
    .tp_traverse = sv_array_traverse,
    .tp_clear = sv_array_clear,
    .tp_getset = field_getset,
    .tp_methods = field_methods,
};

static PyMethodDef field_functions[] = {
    {"new_field", new_field, METH_VARARGS, PyDoc_STR("new_field(dtype, grad=None, inner=0, /)\n--\n\nA field that is not placed yet.")},
    {"give_gradient", give_gradient, METH_VARARGS,
     PyDoc_STR("give_gradient(field, grad, /)\n--\n\nMake a field the grad of another one, which is not in use yet.")},
    {"postpone_field", postpone_field, METH_VARARGS,
     PyDoc_STR("postpone_field(field, plan, replaced=None, /)\n--\n\n"
               "Call `plan()` on first use of a field, to place it. It may replace one plan.")},
    {"place_field", place_field, METH_VARARGS,
     PyDoc_STR("place_field(field, layout, memory, start, /)\n--\n\n"
               "Place a field at a byte offset in an array of bytes, with the given layout.")},
    {"array_within", array_within, METH_VARARGS,
     PyDoc_STR("array_within(dtype, layout, memory, start, inner, soa=False, grad=None, /)\n--\n\n"
               "An array at a byte offset in the memory of another one, with the given layout: the last `inner` dimensions are\n"
               "those of its elements. With `soa` (SoA) kernels are specialized on the layout, which has these first.")},
    {"is_placed", is_placed, METH_O, PyDoc_STR("is_placed(array, /)\n--\n\nWhether an array or a field is placed.")},
    {"field_memory", field_memory, METH_O,
     PyDoc_STR("field_memory(field, /)\n--\n\nThe array of bytes that contains a field, and its offset.")},
    {"memory_form", memory_form, METH_O,
     PyDoc_STR("memory_form(object, /)\n--\n\n"
               "The layout of a field, as `field_layout` returns it; the order of dimensions of an array that is not in C order, outermost\n"
               "first; None for everything else.")},
    {"field_layout", field_layout, METH_O,
     PyDoc_STR("field_layout(object, /)\n--\n\n"
               "The memory layout of a field: the first index of each dimension, and for each dimension the extent and the stride\n"
               "(in elements) of the pieces that it is split into. None for any other object.\n\n"
               ">>> import samovar as sv\n>>> from samovar._native import field_layout\n"
               ">>> field_layout(sv.field(sv.f32, (2, 3)))\n((0, 0), (((2, 3),), ((3, 1),)))")},
    {NULL, NULL, 0, NULL},
};

int sv_field_init(PyObject *module)
{
    if (PyModule_AddType(module, &sv_field_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, field_functions);
}
