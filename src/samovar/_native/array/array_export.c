/* Exporting our memory: the buffer protocol, the array interface, NumPy and torch arrays, pickles. */
#include "array/array.h"

static const char IN_BLOCKS[] = "this field has a blocked layout, which other libraries cannot describe: use to_numpy() "
                                "or to_torch(), which copy";

static const char NO_FORMAT[] = "NumPy and the buffer protocol have no bf16: use to_numpy(), which copies to f32, or DLPack";

/* --- the buffer protocol */

static bool is_fortran_ordered(const sv_array *array)
{
    int longer_axes = 0;
    for (int axis = 0; axis < array->ndim; axis++)
        longer_axes += array->shape[axis] > 1;
    return longer_axes <= 1 || array->size == 0;
}

static int array_get_buffer(PyObject *self, Py_buffer *buffer, int flags)
{
    sv_array *array = (sv_array *)self;
    buffer->obj = NULL;
    if (sv_array_require_place(array) < 0)
        return -1;
    if (sv_array_is_in_blocks(array)) {
        PyErr_SetString(PyExc_BufferError, IN_BLOCKS);
        return -1;
    }
    if ((flags & PyBUF_FORMAT) && array->dtype->code == SV_BF16) {
        PyErr_SetString(PyExc_BufferError, NO_FORMAT);
        return -1;
    }
    if (!sv_array_is_contiguous(array) &&
        ((flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
         (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS)) {
        PyErr_SetString(PyExc_BufferError, "this array is not in C order: a contiguous buffer was requested");
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) && sv_array_is_readonly(array)) {
        PyErr_SetString(PyExc_BufferError, "this array is read-only: a writable buffer was requested");
        return -1;
    }
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !is_fortran_ordered(array)) {
        PyErr_SetString(PyExc_BufferError, "this array is in C order: a Fortran-ordered buffer was requested");
        return -1;
    }
    bool with_shape = array->ndim > 0 && (flags & PyBUF_ND);
    buffer->buf = array->data;
    buffer->len = sv_array_nbytes(array);
    buffer->itemsize = array->dtype->itemsize;
    buffer->readonly = sv_array_is_readonly(array);
    buffer->ndim = array->ndim;
    buffer->format = (flags & PyBUF_FORMAT) ? (char *)array->dtype->format : NULL;
    buffer->shape = with_shape ? (Py_ssize_t *)array->shape : NULL;
    buffer->strides = with_shape && (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? (Py_ssize_t *)array->byte_strides : NULL;
    buffer->suboffsets = NULL;
    buffer->internal = NULL;
    buffer->obj = Py_NewRef(self);
    if (!buffer->readonly)
        sv_array_exported(array);
    return 0;
}

static void array_release_buffer(PyObject *self, Py_buffer *buffer)
{
    if (!buffer->readonly)
        sv_array_base((sv_array *)self)->exports--;
}

_Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes are exported as Py_ssize_t");

/* Memory never moves and the buffer holds a reference: releasing it only ends the count. */
PyBufferProcs sv_array_as_buffer = {
    .bf_getbuffer = array_get_buffer,
    .bf_releasebuffer = array_release_buffer,
};

/* --- the array interface */

PyObject *sv_array_interface(PyObject *self, void *Py_UNUSED(closure))
{
    sv_array *array = (sv_array *)self;
    if (sv_array_require_place(array) < 0)
        return NULL;
    if (sv_array_is_in_blocks(array)) {
        PyErr_SetString(PyExc_TypeError, IN_BLOCKS);
        return NULL;
    }
    if (array->dtype->code == SV_BF16) { /* NumPy then calls __array__ */
        PyErr_SetString(PyExc_AttributeError, NO_FORMAT);
        return NULL;
    }
    PyObject *shape = sv_shape_tuple(array->ndim, array->shape);
    PyObject *strides = sv_array_is_contiguous(array) ? Py_NewRef(Py_None) : sv_shape_tuple(array->ndim, array->byte_strides);
    if (shape == NULL || strides == NULL) {
        Py_XDECREF(shape);
        Py_XDECREF(strides);
        return NULL;
    }
    if (!sv_array_is_readonly(array))
        sv_array_exported(array);
    return Py_BuildValue("{s:N, s:s, s:(NO), s:N, s:i}", "shape", shape, "typestr", array->dtype->typestr, "data",
                         PyLong_FromVoidPtr(array->data), sv_array_is_readonly(array) ? Py_True : Py_False, "strides",
                         strides, "version", 3);
}

/* --- arrays of other libraries */

/* module.function(self) */
static PyObject *call_library(const char *module_name, const char *function, PyObject *self)
{
    PyObject *module = PyImport_ImportModule(module_name);
    if (module == NULL)
        return NULL;
    PyObject *result = PyObject_CallMethod(module, function, "O", self);
    Py_DECREF(module);
    return result;
}

/* The memory itself if it may be written, or a copy in C order, as requested and possible. A new reference. */
static PyObject *shared_or_copied(sv_array *array, sv_copy_mode mode)
{
    if (sv_array_require_place(array) < 0)
        return NULL;
    if (mode == SV_COPY_NEVER) {
        if (sv_array_is_in_blocks(array)) {
            PyErr_SetString(PyExc_ValueError, IN_BLOCKS);
            return NULL;
        }
        if (sv_array_require_writable(array) < 0)
            return NULL;
    }
    if (mode != SV_COPY_ALWAYS && !sv_array_is_readonly(array) && !sv_array_is_in_blocks(array))
        return Py_NewRef((PyObject *)array);
    sv_tensor_view view;
    if (sv_tensor_view_get((PyObject *)array, &view) < 0)
        return NULL;
    return (PyObject *)sv_array_from_view(&view);
}

/* result.method(argument, **{keyword: False}), replacing the result. */
static PyObject *converted(PyObject *result, const char *method, PyObject *argument, const char *keyword)
{
    PyObject *function = result == NULL ? NULL : PyObject_GetAttrString(result, method);
    PyObject *args = function == NULL ? NULL : PyTuple_Pack(1, argument);
    PyObject *kwargs = args == NULL ? NULL : Py_BuildValue("{s:O}", keyword, Py_False);
    PyObject *made = kwargs == NULL ? NULL : PyObject_Call(function, args, kwargs); /* Python may run here. */
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    Py_XDECREF(function);
    Py_XDECREF(result);
    return made;
}

/* With copy=False, a conversion would need a copy, which is not allowed. */
static PyObject *require_same(PyObject *result, PyObject *before, sv_copy_mode mode, const char *what)
{
    if (result != NULL && mode == SV_COPY_NEVER && result != before) {
        PyErr_Format(PyExc_ValueError, "converting the %s requires a copy: copy=False cannot be combined with %s= here", what, what);
        Py_CLEAR(result);
    }
    Py_DECREF(before);
    return result;
}

/* The first argument is either the copy mode or the dtype. */
static int parse_first(PyObject *args, PyObject *first, sv_copy_mode *mode, PyObject **target)
{
    if (first == NULL)
        return 0;
    bool is_named = PyTuple_GET_SIZE(args) == 0;
    if (!is_named && first != Py_None && !PyBool_Check(first) && *target == Py_None) {
        *target = first;
        return 0;
    }
    return sv_copy_mode_convert(first, mode) ? 0 : -1;
}

/* Vectors as one-column matrices, replacing the result. */
static PyObject *with_columns(sv_array *array, PyObject *result, int keep_dims)
{
    if (result == NULL || !keep_dims || array->inner != 1)
        return result;
    PyObject *shape = PyObject_GetAttrString(result, "shape");
    PyObject *whole = shape == NULL ? NULL : PySequence_Tuple(shape);
    PyObject *one = whole == NULL ? NULL : Py_BuildValue("(i)", 1);
    PyObject *longer = one == NULL ? NULL : PySequence_Concat(whole, one);
    PyObject *made = longer == NULL ? NULL : PyObject_CallMethod(result, "reshape", "(O)", longer);
    Py_XDECREF(longer);
    Py_XDECREF(one);
    Py_XDECREF(whole);
    Py_XDECREF(shape);
    Py_DECREF(result);
    return made;
}

PyObject *sv_array_to_numpy(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"copy", "dtype", "keep_dims", NULL};
    sv_copy_mode mode = SV_COPY_ALWAYS;
    PyObject *first = NULL, *dtype = Py_None;
    int keep_dims = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO$p:to_numpy", names, &first, &dtype, &keep_dims) ||
        parse_first(args, first, &mode, &dtype) < 0)
        return NULL;
    if (mode == SV_COPY_NEVER && ((sv_array *)self)->dtype->code == SV_BF16) {
        PyErr_SetString(PyExc_ValueError, NO_FORMAT);
        return NULL;
    }
    if (dtype == (PyObject *)sv_dtype_of(SV_BF16)) {
        PyErr_SetString(PyExc_TypeError, NO_FORMAT);
        return NULL;
    }
    PyObject *source = shared_or_copied((sv_array *)self, mode);
    PyObject *result = source == NULL ? NULL : call_library("numpy", "asarray", source);
    Py_XDECREF(source);
    result = with_columns((sv_array *)self, result, keep_dims);
    if (result == NULL || dtype == Py_None)
        return result;
    PyObject *name = Py_IS_TYPE(dtype, &sv_dtype_type) ? PyUnicode_FromString(((sv_dtype *)dtype)->typestr) : Py_NewRef(dtype);
    if (name == NULL) {
        Py_DECREF(result);
        return NULL;
    }
    PyObject *before = Py_NewRef(result);
    result = converted(result, "astype", name, "copy");
    Py_DECREF(name);
    return require_same(result, before, mode, "dtype");
}

PyObject *sv_array_to_torch(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"copy", "device", "keep_dims", NULL};
    sv_copy_mode mode = SV_COPY_ALWAYS;
    PyObject *first = NULL, *device = Py_None;
    int keep_dims = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO$p:to_torch", names, &first, &device, &keep_dims) ||
        parse_first(args, first, &mode, &device) < 0)
        return NULL;
    /* torch would warn about read-only memory even if it is only copied: pass it the copy. */
    PyObject *source = shared_or_copied((sv_array *)self, mode);
    PyObject *result = source == NULL ? NULL : call_library("torch", "from_dlpack", source);
    Py_XDECREF(source);
    result = with_columns((sv_array *)self, result, keep_dims);
    if (result == NULL || device == Py_None)
        return result;
    PyObject *before = Py_NewRef(result);
    result = converted(result, "to", device, "non_blocking");
    return require_same(result, before, mode, "device");
}

/* --- pickles */

/* (rebuild_array, (dtype name, shape, elements, grad)); the elements out of band if the protocol supports it. A field has
   its layout instead of the shape, and its elements in C order; so has an SoA array, which is flagged. */
PyObject *sv_array_reduce(PyObject *self, PyObject *protocol)
{
    sv_array *array = (sv_array *)self;
    long version = PyLong_AsLong(protocol);
    if ((version == -1 && PyErr_Occurred()) || sv_array_require_place(array) < 0)
        return NULL;
    if (array->layout != NULL && array->layout->cells.is_mask)
        return PyErr_Format(PyExc_TypeError, "the cells of a sparse node cannot be pickled: pickle the node");
    if (array->layout != NULL && array->layout->cells.is_sparse) {
        PyObject *pickles = PyImport_ImportModule("samovar.runtime.sparse_pickles");
        PyObject *reduced = pickles == NULL ? NULL : PyObject_CallMethod(pickles, "reduced_field", "O", self);
        Py_XDECREF(pickles);
        return reduced;
    }
    bool is_laid_out = sv_array_keeps_layout(array);
    PyObject *module = PyImport_ImportModule("samovar._native");
    if (module == NULL)
        return NULL;
    PyObject *rebuild = PyObject_GetAttrString(module, is_laid_out ? "rebuild_field" : "rebuild_array");
    Py_DECREF(module);
    if (rebuild == NULL)
        return NULL;
    PyObject *source = array->layout == NULL ? Py_NewRef(self) : shared_or_copied(array, SV_COPY_ALWAYS), *elements = NULL;
    if (source != NULL)
        elements = version >= 5 && array->dtype->code != SV_BF16
                                ? PyPickleBuffer_FromObject(source)
                                : PyBytes_FromStringAndSize(((sv_array *)source)->data, sv_array_nbytes(array));
    Py_XDECREF(source);
    PyObject *shape = is_laid_out ? Py_NewRef(array->layout->description) : sv_shape_tuple(array->ndim, array->shape);
    if (shape == NULL || elements == NULL) {
        Py_DECREF(rebuild);
        Py_XDECREF(shape);
        Py_XDECREF(elements);
        return NULL;
    }
    PyObject *grad = array->grad != NULL ? array->grad : Py_None;
    if (!is_laid_out || sv_array_is_field(array))
        return Py_BuildValue("N(sNNOi)", rebuild, array->dtype->name, shape, elements, grad, array->inner);
    return Py_BuildValue("N(sNNOii)", rebuild, array->dtype->name, shape, elements, grad, array->inner, sv_array_is_soa(array) ? 1 : 2);
}
