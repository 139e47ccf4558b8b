/* What the array files share among themselves. */
#ifndef SAMOVAR_ARRAY_H
#define SAMOVAR_ARRAY_H

#include "native.h" /* first: Python.h decides what the system headers offer */
#include "dlpack.h"

/* array.c */

/* An array over foreign memory in C order; takes its own reference to the owner. */
sv_array *sv_array_over(sv_dtype *dtype, int ndim, const int64_t *shape, void *data, bool readonly, PyObject *owner);
PyObject *sv_shape_tuple(int ndim, const int64_t *shape);
/* Reads an int or an iterable of ints; returns the rank, or -1 with an exception. */
int sv_shape_parse(PyObject *object, int64_t shape[SV_MAX_NDIM]);
static inline Py_ssize_t sv_array_nbytes(const sv_array *array)
{
    return (Py_ssize_t)array->size * array->dtype->itemsize;
}
/* -1 with ValueError if the array must not be written. */
int sv_array_require_writable(const sv_array *array);

/* array_access.c */
extern PyMappingMethods sv_array_as_mapping;
extern PyNumberMethods sv_array_as_number;
PyObject *sv_array_iter(PyObject *self);
PyObject *sv_array_fill(PyObject *self, PyObject *value);

/* array_export.c */
extern PyBufferProcs sv_array_as_buffer;

/* array_foreign.c */
/* The dtype of a DLPack element type, or NULL without an exception. */
sv_dtype *sv_dtype_from_dlpack(sv_dl_datatype type);
int sv_array_foreign_init(void);
PyObject *sv_describe_tensor(PyObject *module, PyObject *object);

#endif
