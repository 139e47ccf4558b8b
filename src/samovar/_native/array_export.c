/* How others see our memory: the buffer protocol, the array interface, NumPy and torch arrays, pickles. */
#include "array.h"

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
    if ((flags & PyBUF_WRITABLE) && sv_array_is_readonly(array)) {
        PyErr_SetString(PyExc_BufferError, "this array is read-only: a writable buffer was asked for");
        return -1;
    }
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !is_fortran_ordered(array)) {
        PyErr_SetString(PyExc_BufferError, "this array is in C order: a Fortran-ordered buffer was asked for");
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
    return 0;
}

_Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes are handed out as Py_ssize_t");

/* Memory never moves and the buffer holds a reference: there is nothing to count and nothing to release. */
PyBufferProcs sv_array_as_buffer = {
    .bf_getbuffer = array_get_buffer,
};

/* --- the array interface */

PyObject *sv_array_interface(PyObject *self, void *Py_UNUSED(closure))
{
    sv_array *array = (sv_array *)self;
    PyObject *shape = sv_shape_tuple(array->ndim, array->shape);
    if (shape == NULL)
        return NULL;
    return Py_BuildValue("{s:N, s:s, s:(NO), s:O, s:i}", "shape", shape, "typestr", array->dtype->typestr, "data",
                         PyLong_FromVoidPtr(array->data), sv_array_is_readonly(array) ? Py_True : Py_False, "strides",
                         Py_None, "version", 3);
}

/* --- arrays of other libraries */

/* True if the memory may be handed out for writing, false if it must be copied, -1 with an exception if neither may be. */
static int may_share(sv_array *array, PyObject *args, PyObject *kwargs, const char *format)
{
    static char *names[] = {"copy", NULL};
    sv_copy_mode mode = SV_COPY_ALWAYS;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, names, sv_copy_mode_convert, &mode))
        return -1;
    if (mode == SV_COPY_NEVER && sv_array_require_writable(array) < 0)
        return -1;
    return mode != SV_COPY_ALWAYS && !sv_array_is_readonly(array);
}

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

PyObject *sv_array_to_numpy(PyObject *self, PyObject *args, PyObject *kwargs)
{
    int share = may_share((sv_array *)self, args, kwargs, "|O&:to_numpy");
    return share < 0 ? NULL : call_library("numpy", share ? "asarray" : "array", self);
}

PyObject *sv_array_to_torch(PyObject *self, PyObject *args, PyObject *kwargs)
{
    int share = may_share((sv_array *)self, args, kwargs, "|O&:to_torch");
    if (share < 0)
        return NULL;
    if (share)
        return call_library("torch", "from_dlpack", self);
    /* torch would warn about read-only memory that is only there to be copied: it gets the copy itself. */
    PyObject *copy = sv_array_copy(self, NULL);
    if (copy == NULL)
        return NULL;
    PyObject *tensor = call_library("torch", "from_dlpack", copy);
    Py_DECREF(copy);
    return tensor;
}

/* --- pickles */

/* (rebuild_array, (dtype name, shape, elements, grad)); the elements out of band where the protocol can. */
PyObject *sv_array_reduce(PyObject *self, PyObject *protocol)
{
    sv_array *array = (sv_array *)self;
    long version = PyLong_AsLong(protocol);
    if (version == -1 && PyErr_Occurred())
        return NULL;
    PyObject *module = PyImport_ImportModule("samovar._native");
    if (module == NULL)
        return NULL;
    PyObject *rebuild = PyObject_GetAttrString(module, "rebuild_array");
    Py_DECREF(module);
    if (rebuild == NULL)
        return NULL;
    PyObject *shape = sv_shape_tuple(array->ndim, array->shape);
    PyObject *elements = version >= 5 ? PyPickleBuffer_FromObject(self)
                                      : PyBytes_FromStringAndSize(array->data, sv_array_nbytes(array));
    if (shape == NULL || elements == NULL) {
        Py_DECREF(rebuild);
        Py_XDECREF(shape);
        Py_XDECREF(elements);
        return NULL;
    }
    return Py_BuildValue("N(sNNO)", rebuild, array->dtype->name, shape, elements,
                         array->grad != NULL ? array->grad : Py_None);
}
