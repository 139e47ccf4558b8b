/* How others see our memory: the buffer protocol. */
#include "array.h"

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
