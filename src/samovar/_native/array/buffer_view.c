/* BufferView: a slice of an array. A view is an array of our own whose memory begins inside that of its parent, which it
   keeps alive; kernels accept it as they accept an array. Its offset and size never change. */
#include "array/array.h"

#include <stddef.h>

typedef struct {
    sv_array part;  /* first: a view can be used as an array; its owner is the parent array */
    int64_t offset; /* in elements of the parent */
} sv_view;

static sv_array *parent_of(const sv_view *view)
{
    return (sv_array *)view->part.owner;
}

/* Whether an array can be sliced: -1 with TypeError if not. */
static int require_parent(const sv_array *array)
{
    if (sv_array_rank(array) != 1) {
        PyObject *shape = sv_shape_tuple(sv_array_rank(array), array->shape);
        if (shape != NULL)
            PyErr_Format(PyExc_TypeError,
                         "a BufferView is a slice of a 1-D array, but this one has %d dimensions (shape %R); index it, "
                         "or slice to_numpy(copy=False)",
                         sv_array_rank(array), shape);
        Py_XDECREF(shape);
        return -1;
    }
    return 0;
}

/* The layout of a slice: that of the array, with another extent. NULL with an exception. */
static sv_layout *layout_of_part(const sv_layout *whole, int64_t size)
{
    PyObject *axes = PyTuple_GET_ITEM(whole->description, 1), *own = PyTuple_New(whole->ndim);
    for (int axis = 0; own != NULL && axis < whole->ndim; axis++) {
        PyObject *pieces = axis ? Py_NewRef(PyTuple_GET_ITEM(axes, axis))
                                : Py_BuildValue("((LL))", (long long)size, (long long)whole->stride[0]);
        if (pieces == NULL)
            Py_CLEAR(own);
        else
            PyTuple_SET_ITEM(own, axis, pieces);
    }
    PyObject *description = own == NULL ? NULL : Py_BuildValue("(ON)", PyTuple_GET_ITEM(whole->description, 0), own);
    sv_layout *layout = description == NULL ? NULL : sv_layout_from(description);
    Py_XDECREF(description);
    return layout;
}

/* Slice an array, its gradient and its tangent; the bounds are known to be valid. */
static PyObject *view_new(sv_array *parent, int64_t offset, int64_t size)
{
    sv_view *view = (sv_view *)sv_array_blank(&sv_view_type, parent->dtype);
    if (view == NULL)
        return NULL;
    sv_array *part = &view->part;
    int64_t element = 1; /* numbers per element */
    for (int axis = 0; axis < parent->ndim; axis++) { /* at most three of them: they are inline */
        part->shape[axis] = axis == 0 ? size : parent->shape[axis];
        part->byte_strides[axis] = parent->byte_strides[axis];
        element *= axis == 0 ? 1 : parent->shape[axis];
    }
    part->ndim = parent->ndim;
    part->inner = parent->inner;
    part->size = size * element;
    /* All slices of a wide array are wide, so that they share compiled code. */
    part->signature = parent->signature | SV_FACT_BIT(SV_FACT_is_view);
    /* The stride between components is the length of the whole array, not of the slice. */
    part->signature &= ~(SV_FACT_BIT(SV_FACT_soa) | SV_FACT_BIT(SV_FACT_permuted));
    part->data = (char *)parent->data + offset * parent->byte_strides[0];
    part->owner = Py_NewRef((PyObject *)parent);
    view->offset = offset;
    if (parent->layout != NULL && (part->layout = layout_of_part(parent->layout, size)) == NULL) {
        Py_DECREF(view);
        return NULL;
    }
    PyObject_GC_Track(view);
    sv_array *dual = sv_array_tangent(parent);
    if ((parent->grad != NULL && (part->grad = view_new((sv_array *)parent->grad, offset, size)) == NULL) ||
        (dual != NULL && (part->dual = view_new(dual, offset, size)) == NULL)) {
        Py_DECREF(view);
        return NULL;
    }
    if (part->grad != NULL)
        sv_array_note_grad(part);
    return (PyObject *)view;
}

/* --- slices */

static PyObject *sliced(sv_array *parent, int64_t offset, int64_t size, PyObject *slice)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) /* Python may run here. */
        return NULL;
    if (step != 1) {
        PyErr_Format(PyExc_ValueError, "a BufferView is contiguous: slice with step=1, not step=%zd", step);
        return NULL;
    }
    Py_ssize_t length = PySlice_AdjustIndices((Py_ssize_t)size, &start, &stop, step);
    return view_new(parent, offset + start, length);
}

PyObject *sv_array_slice(sv_array *array, PyObject *slice)
{
    if (!Py_IS_TYPE((PyObject *)array, &sv_array_type)) {
        PyErr_SetString(PyExc_TypeError, "fields cannot be sliced: a BufferView is a slice of an sv.ndarray; use "
                                         "to_numpy(copy=False) for a NumPy slice");
        return NULL;
    }
    return require_parent(array) < 0 ? NULL : sliced(array, 0, array->shape[0], slice);
}

static PyObject *view_subscript(PyObject *self, PyObject *key)
{
    sv_view *view = (sv_view *)self;
    if (PySlice_Check(key))
        return sliced(parent_of(view), view->offset, view->part.shape[0], key);
    PyErr_Format(PyExc_TypeError,
                 "a BufferView is indexed with a slice, not with %R: its elements are accessed in kernels; on the host "
                 "use view.array[view.offset + i] (offset=%lld, size=%lld)",
                 key, (long long)view->offset, (long long)view->part.shape[0]);
    return NULL;
}

static int view_assign_subscript(PyObject *self, PyObject *Py_UNUSED(key), PyObject *Py_UNUSED(value))
{
    const sv_view *view = (sv_view *)self;
    PyErr_Format(PyExc_TypeError,
                 "the elements of a BufferView are assigned in kernels; on the host use view.array[view.offset + i] = "
                 "x, view.to_numpy(copy=False)[a:b] = x for a slice, or view.fill(x) (offset=%lld, size=%lld)",
                 (long long)view->offset, (long long)view->part.shape[0]);
    return -1;
}

static Py_ssize_t view_length(PyObject *self)
{
    return (Py_ssize_t)((sv_view *)self)->part.shape[0];
}

/* The method by which an array of structs is sliced. */
static PyObject *names_cut;

/* --- offsets and sizes */

/* An integer of Python or NumPy. Numbers beyond 64 bits are clamped: they are out of range anyway. */
static int as_integer(PyObject *object, const char *name, int64_t *result)
{
    PyObject *index = PyNumber_Index(object); /* Python may run here. */
    if (index == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "the %s of a BufferView must be an integer, not %.100s (%R)", name, Py_TYPE(object)->tp_name,
                         object);
        return -1;
    }
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (value == -1 && PyErr_Occurred())
        return -1;
    *result = overflow > 0 ? INT64_MAX : overflow < 0 ? INT64_MIN : value;
    return 0;
}

static bool is_within(int64_t offset, int64_t size, int64_t length)
{
    return offset >= 0 && size >= 0 && offset <= length && size <= length - offset;
}

static PyObject *view_subview(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"offset", "size", NULL};
    const sv_view *view = (sv_view *)self;
    PyObject *offset_object, *size_object;
    int64_t offset, size, length = view->part.shape[0];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:subview", names, &offset_object, &size_object) ||
        as_integer(offset_object, "offset", &offset) < 0 || as_integer(size_object, "size", &size) < 0)
        return NULL;
    if (!is_within(offset, size, length)) {
        PyErr_Format(PyExc_ValueError, "subview out of range: offset=%lld, size=%lld in a BufferView of size %lld", (long long)offset,
                     (long long)size, (long long)length);
        return NULL;
    }
    return view_new(parent_of(view), view->offset + offset, size);
}

static PyObject *view_construct(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"arr", "offset", "size", NULL};
    PyObject *object, *offset_object, *size_object;
    int64_t offset, size;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:BufferView", names, &object, &offset_object, &size_object))
        return NULL;
    if (Py_IS_TYPE(object, &sv_view_type)) {
        const sv_view *view = (sv_view *)object;
        PyErr_Format(PyExc_TypeError,
                     "BufferView() takes an array, not a view (offset=%lld, size=%lld): use view.subview(offset, size) "
                     "or a slice of the view",
                     (long long)view->offset, (long long)view->part.shape[0]);
        return NULL;
    }
    if (!Py_IS_TYPE(object, &sv_array_type)) {
        PyObject *cut; /* of an array of structs */
        int found = sv_optional_attribute(object, names_cut, &cut); /* Python may run here. */
        if (found != 0) {
            PyObject *made = found < 0 ? NULL : PyObject_CallFunctionObjArgs(cut, offset_object, size_object, NULL);
            Py_XDECREF(cut);
            return made;
        }
        PyErr_Format(PyExc_TypeError, "BufferView() takes a 1-D sv.ndarray, not a %.100s%s", Py_TYPE(object)->tp_name,
                     Py_IS_TYPE(object, &sv_field_type) ? ": fields have no views" : "; use sv.from_numpy to share its memory");
        return NULL;
    }
    sv_array *array = (sv_array *)object;
    if (require_parent(array) < 0 || as_integer(offset_object, "offset", &offset) < 0 || as_integer(size_object, "size", &size) < 0)
        return NULL;
    if (!is_within(offset, size, array->shape[0])) {
        PyErr_Format(PyExc_ValueError, "BufferView out of range: offset=%lld, size=%lld of an array of %lld elements",
                     (long long)offset, (long long)size, (long long)array->shape[0]);
        return NULL;
    }
    return view_new(array, offset, size);
}

/* --- attributes */

static PyObject *get_size(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(((sv_view *)self)->part.shape[0]);
}

static PyObject *get_offset(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(((sv_view *)self)->offset);
}

static PyObject *get_shape(PyObject *self, void *Py_UNUSED(closure))
{
    return sv_shape_tuple(1, ((sv_view *)self)->part.shape);
}

static PyObject *get_element_shape(PyObject *self, void *Py_UNUSED(closure))
{
    const sv_array *part = &((sv_view *)self)->part;
    return sv_shape_tuple(part->inner, part->shape + 1);
}

static PyObject *get_dtype(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(((sv_view *)self)->part.dtype);
}

static PyObject *get_ndim(PyObject *Py_UNUSED(self), void *Py_UNUSED(closure))
{
    return PyLong_FromLong(1);
}

static PyObject *get_nbytes(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromSsize_t(sv_array_nbytes(&((sv_view *)self)->part));
}

static PyObject *get_readonly(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(sv_array_is_readonly(&((sv_view *)self)->part));
}

static PyObject *get_array(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(((sv_view *)self)->part.owner);
}

static PyObject *view_get_ndarray(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return get_array(self, NULL);
}

static PyObject *view_repr(PyObject *self)
{
    const sv_view *view = (sv_view *)self;
    PyObject *shape = sv_shape_tuple(1, parent_of(view)->shape), *inner = get_element_shape(self, NULL), *text = NULL;
    if (shape != NULL && inner != NULL)
        text = view->part.inner
                   ? PyUnicode_FromFormat("BufferView(offset=%lld, size=%lld, dtype=%s, element_shape=%R) of an array of shape %R",
                                          (long long)view->offset, (long long)view->part.shape[0], view->part.dtype->name, inner, shape)
                   : PyUnicode_FromFormat("BufferView(offset=%lld, size=%lld, dtype=%s) of an array of shape %R",
                                          (long long)view->offset, (long long)view->part.shape[0], view->part.dtype->name, shape);
    Py_XDECREF(shape);
    Py_XDECREF(inner);
    return text;
}

/* A copy is a view of the same array; a deep copy or a pickle is a view of a copy of the array. */
static PyObject *view_reduce(PyObject *self, PyObject *Py_UNUSED(protocol))
{
    const sv_view *view = (sv_view *)self;
    return Py_BuildValue("O(OLL)", &sv_view_type, view->part.owner, (long long)view->offset, (long long)view->part.shape[0]);
}

/* As an annotation: samovar.types.buffer_view(dtype, boundary). */
static PyObject *view_class_getitem(PyObject *Py_UNUSED(type), PyObject *parts)
{
    Py_ssize_t count = PyTuple_Check(parts) ? PyTuple_GET_SIZE(parts) : 1;
    if (count < 1 || count > 2) {
        PyErr_Format(PyExc_TypeError, "BufferView[dtype, boundary] takes a dtype and a boundary, not %zd parameters", count);
        return NULL;
    }
    PyObject *module = PyImport_ImportModule("samovar.types");
    PyObject *make = module == NULL ? NULL : PyObject_GetAttrString(module, "buffer_view");
    PyObject *arguments = PyTuple_Check(parts) ? Py_NewRef(parts) : PyTuple_Pack(1, parts);
    PyObject *result = make == NULL || arguments == NULL ? NULL : PyObject_CallObject(make, arguments);
    Py_XDECREF(arguments);
    Py_XDECREF(make);
    Py_XDECREF(module);
    return result;
}

static void view_dealloc(PyObject *self)
{
    sv_array *part = &((sv_view *)self)->part;
    if (PyObject_GC_IsTracked(self)) /* not if construction failed */
        PyObject_GC_UnTrack(self);
    if (part->weakrefs != NULL)
        PyObject_ClearWeakRefs(self);
    Py_XDECREF(part->grad);
    Py_XDECREF(part->dual);
    Py_XDECREF(part->owner);
    Py_XDECREF(part->layout);
    PyObject_GC_Del(self);
}

static PyGetSetDef view_getset[] = {
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"offset", get_offset, NULL, "The index in the array of the first element.", NULL},
    {"shape", get_shape, NULL, "The size, as a tuple.", NULL},
    {"element_shape", get_element_shape, NULL, "The shape of an element: () for scalars, (3,) for vectors of 3.", NULL},
    {"dtype", get_dtype, NULL, "The type of the elements.", NULL},
    {"ndim", get_ndim, NULL, "The number of dimensions: 1.", NULL},
    {"nbytes", get_nbytes, NULL, "The size of the elements in bytes.", NULL},
    {"readonly", get_readonly, NULL, "Whether the memory is read-only.", NULL},
    {"array", get_array, NULL, "The array that this is a slice of.", NULL},
    {"grad", sv_array_get_grad, NULL, "The same slice of the gradient of the array, or None if it has none.", NULL},
    {"needs_grad", sv_array_get_needs_grad, NULL, "Whether the array has a gradient.", NULL},
    {"dual", sv_array_get_dual, sv_array_set_dual, "The same slice of the tangent of the array, or None.", NULL},
    {"__array_interface__", sv_array_interface, NULL, "Version 3 of NumPy's array interface.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef view_methods[] = {
    {"subview", KEYWORDS(view_subview),
     PyDoc_STR("subview($self, offset, size)\n--\n\nA slice of this view: `size` elements, starting at `offset`.")},
    {"get_ndarray", view_get_ndarray, METH_NOARGS, PyDoc_STR("get_ndarray($self, /)\n--\n\nThe array that this is a slice of.")},
    {"fill", ONE_ARGUMENT(sv_array_fill_with), PyDoc_STR("fill($self, val)\n--\n\nSet every element to one value.")},
    {"copy_from", ONE_ARGUMENT(sv_array_copy_from_other),
     PyDoc_STR("copy_from($self, other)\n--\n\nCopy the elements of an array of the same shape (ours, NumPy's or torch's), "
               "converted as by a cast.")},
    {"from_numpy", ONE_ARGUMENT(sv_array_copy_from_array),
     PyDoc_STR("from_numpy($self, arr)\n--\n\nCopy the elements of a NumPy array of the same shape into this view.")},
    {"from_torch", ONE_ARGUMENT(sv_array_copy_from_array),
     PyDoc_STR("from_torch($self, arr)\n--\n\nCopy the elements of a torch tensor of the same shape into this view.")},
    {"to_numpy", KEYWORDS(sv_array_to_numpy),
     PyDoc_STR("to_numpy($self, copy=True, dtype=None, *, keep_dims=False)\n--\n\nThe view as a NumPy array: a copy, or with copy=False one that shares "
               "this memory; copy=None shares if it can. `dtype` is one of NumPy's or ours and may come first. keep_dims=True makes vectors columns.")},
    {"to_torch", KEYWORDS(sv_array_to_torch),
     PyDoc_STR("to_torch($self, copy=True, device=None, *, keep_dims=False)\n--\n\nThe view as a torch tensor: a copy, or with copy=False one that "
               "shares this memory; copy=None shares if it can.")},
    {"__dlpack__", KEYWORDS(sv_array_dlpack),
     PyDoc_STR("__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
               "A DLPack capsule, versioned if the consumer supports it.")},
    {"__dlpack_device__", sv_array_dlpack_device, METH_NOARGS, PyDoc_STR("The DLPack device: (1, 0), the CPU.")},
    {"__reduce_ex__", view_reduce, METH_O, NULL},
    {"__class_getitem__", view_class_getitem, METH_O | METH_CLASS,
     PyDoc_STR("The annotation of a parameter that accepts views: BufferView[dtype], BufferView[dtype, boundary].")},
    {NULL, NULL, 0, NULL},
};

static PyMappingMethods view_as_mapping = {
    .mp_length = view_length,
    .mp_subscript = view_subscript,
    .mp_ass_subscript = view_assign_subscript,
};

static PyNumberMethods view_as_number = {.nb_bool = sv_array_truth};

PyTypeObject sv_view_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar.BufferView",
    .tp_basicsize = sizeof(sv_view),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = PyDoc_STR("BufferView(arr, offset, size)\n--\n\n"
                        "A zero-copy slice of a 1-D array: the result of slicing an `ndarray`.\n\n"
                        "As an annotation, `BufferView`, `BufferView[dtype]` or `BufferView[dtype, boundary]`, it accepts views.\n\n"
                        ">>> import samovar as sv\n>>> data = sv.ndarray(sv.f32, 32)\n>>> view = data[8:24]\n"
                        ">>> view.offset, view.size, view[4:].offset, view.array is data\n(8, 16, 12, True)\n"
                        ">>> @sv.kernel\n... def scale(v: sv.BufferView[sv.f32], factor: sv.f32):\n"
                        "...     for i in range(v.size):\n...         v[i] *= factor\n"
                        ">>> data.fill(1)\n>>> scale(data[:16], 3)\n>>> data[15], data[16]\n(3.0, 1.0)"),
    .tp_new = view_construct,
    .tp_dealloc = view_dealloc,
    .tp_traverse = sv_array_traverse,
    .tp_weaklistoffset = offsetof(sv_view, part.weakrefs),
    .tp_as_mapping = &view_as_mapping,
    .tp_as_number = &view_as_number,
    .tp_as_buffer = &sv_array_as_buffer,
    .tp_repr = view_repr,
    .tp_methods = view_methods,
    .tp_getset = view_getset,
};

int sv_view_init(PyObject *module)
{
    names_cut = PyUnicode_InternFromString("_samovar_part");
    return names_cut == NULL ? -1 : PyModule_AddType(module, &sv_view_type);
}
