/* Declarations shared by the array files. */
#ifndef SAMOVAR_ARRAY_H
#define SAMOVAR_ARRAY_H

#include "native.h" /* first: Python.h decides what the system headers offer */
#include "array/dlpack.h"
#include "array/layout.h"

/* array.c */

/* An array or a field without shape and memory, not GC-tracked yet. */
sv_array *sv_array_blank(PyTypeObject *type, sv_dtype *dtype);
/* Called once, on a blank array. */
int sv_array_set_shape(sv_array *array, int ndim, const int64_t *shape);
int sv_array_traverse(PyObject *self, visitproc visit, void *arg);
int sv_array_clear(PyObject *self);
/* An array over foreign memory in C order; takes its own reference to the owner. */
sv_array *sv_array_over(sv_dtype *dtype, int ndim, const int64_t *shape, void *data, bool readonly, PyObject *owner);
PyObject *sv_shape_tuple(int ndim, const int64_t *shape);
/* Read an int or an iterable of ints; returns the rank, or -1 with an exception. */
int sv_shape_parse(PyObject *object, int64_t shape[SV_MAX_NDIM]);
static inline Py_ssize_t sv_array_nbytes(const sv_array *array)
{
    return (Py_ssize_t)array->size * array->dtype->itemsize;
}
/* Mark elements as vectors or matrices, whose dimensions are the last ones. -1 with ValueError. */
int sv_array_set_inner(sv_array *array, int inner);
/* Give an array without a grad its grad; steals the reference. */
void sv_array_set_grad(sv_array *array, sv_array *grad);
/* List an array among those that have a grad. */
void sv_array_note_grad(sv_array *array);
/* The tangent of an array if it has the same elements in the same order, else NULL. Borrowed. */
sv_array *sv_array_tangent(const sv_array *array);
/* Attributes that views have, too. */
PyObject *sv_array_get_grad(PyObject *self, void *closure);
PyObject *sv_array_get_needs_grad(PyObject *self, void *closure);
PyObject *sv_array_get_dual(PyObject *self, void *closure);
int sv_array_set_dual(PyObject *self, PyObject *dual, void *closure);
/* Before Python writes to an array, which counts as a change of it. -1 with ValueError if the array is read-only. */
int sv_array_require_writable(sv_array *array);

/* field.c */

/* Place a field, calling its pending plan. -1 with an exception. */
int sv_field_place(sv_array *field);
/* 0, or -1 with an exception for a field that is not placed. Python may run. */
static inline int sv_array_require_place(sv_array *array)
{
    return array->signature == SV_UNPLACED ? sv_field_place(array) : 0;
}
/* In C order and without gaps: all arrays and most fields. */
static inline bool sv_array_is_contiguous(const sv_array *array)
{
    return array->layout == NULL || array->layout->contiguous;
}
static inline bool sv_array_is_in_blocks(const sv_array *array)
{
    return array->layout != NULL && array->layout->in_blocks;
}
/* Describe a field as the strided array that it is in memory, with a dimension per piece. */
void sv_field_view_pieces(const sv_layout *layout, sv_tensor_view *view);
/* Fill a non-contiguous field, and copy the elements of a C-order array into it. */
void sv_field_fill(const sv_array *field, const void *numbers, int64_t count); /* those of one element */
void sv_field_scatter(const sv_array *field, const void *elements);
/* A zero-filled field or array in its own memory, with the given layout; the last `inner` dimensions are those of elements,
   which may be SoA. */
sv_array *sv_laid_out_new(PyTypeObject *type, sv_dtype *dtype, sv_layout *layout, int inner, bool soa);
/* Whether copies and pickles keep the layout: fields, and arrays that fill their memory in another order. */
static inline bool sv_array_keeps_layout(const sv_array *array)
{
    if (array->layout == NULL || sv_array_is_field(array) || sv_array_is_soa(array))
        return array->layout != NULL;
    return Py_IS_TYPE((PyObject *)array, &sv_array_type) && !array->layout->contiguous && array->layout->span == array->layout->size;
}
/* A copy with the same layout in its own memory, without a grad. */
sv_array *sv_laid_out_copy(const sv_array *field);

/* buffer_view.c */

/* Slice an array: a new view, or NULL with an exception if the array cannot be sliced. */
PyObject *sv_array_slice(sv_array *array, PyObject *slice);

/* array_access.c */
extern PyMappingMethods sv_array_as_mapping;
extern PyNumberMethods sv_array_as_number;
PyObject *sv_array_iter(PyObject *self);
/* For a 0-D array, that of its scalar; otherwise an exception. */
int sv_array_truth(PyObject *self);
PyObject *sv_array_fill(PyObject *self, PyObject *value);
/* Methods with one argument, which may be passed by keyword. */
#define ONE_ARGUMENT(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS
PyObject *sv_array_fill_with(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *sv_array_copy_from_other(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *sv_array_copy_from_array(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* array_arrow.c */
PyObject *sv_array_arrow(PyObject *self, PyObject *args, PyObject *kwargs);

/* array_methods.c */
PyObject *sv_array_tolist(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_html(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_sum(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_min(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_max(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_mean(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_all(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_any(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_astype(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_reshape(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_field_parent(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_field_entry(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_field_node(PyObject *self, void *closure);
PyObject *sv_array_as_numpy(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_transposed(PyObject *self, void *closure);
PyObject *sv_array_compare(PyObject *self, PyObject *other, int operator);
/* For the methods implemented in Python. */
PyObject *sv_equal_elements(PyObject *module, PyObject *args);
PyObject *sv_reshaped(PyObject *module, PyObject *args);
PyObject *sv_bits_of(PyObject *module, PyObject *object);

/* array_repr.c */
PyObject *sv_array_repr(PyObject *self);

/* array_convert.c */
/* Copy the elements of a view of the same shape, converting each as a cast does. -1 with MemoryError. */
int sv_array_assign(sv_array *destination, const sv_tensor_view *source);
/* A new array in its own memory with the elements of a view. */
sv_array *sv_array_from_view(const sv_tensor_view *source);

/* array_export.c */
extern PyBufferProcs sv_array_as_buffer;
PyObject *sv_array_interface(PyObject *self, void *closure);
PyObject *sv_array_to_numpy(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_to_torch(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_reduce(PyObject *self, PyObject *protocol);

/* array_import.c */
/* Whether an object can be the grad of an array: same class, dtype, shape and layout. */
bool sv_array_is_grad_of(PyObject *grad, const sv_array *array);
typedef enum { SV_COPY_NEVER, SV_COPY_ALWAYS, SV_COPY_IF_NEEDED } sv_copy_mode;
/* A converter for PyArg_Parse: False, True or None. */
int sv_copy_mode_convert(PyObject *object, void *mode);
/* Share or copy the memory of a view; `owner` keeps it alive. Writable memory is required unless readonly_is_fine. */
PyObject *sv_array_adopt(const sv_tensor_view *view, PyObject *owner, sv_copy_mode mode, bool readonly_is_fine);
PyObject *sv_array_copy_from(PyObject *self, PyObject *source);
PyObject *sv_array_copy(PyObject *self, PyObject *ignored);
PyObject *sv_array_deepcopy(PyObject *self, PyObject *memo);
PyObject *sv_as_ndarray(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *sv_rebuild_array(PyObject *module, PyObject *args);
PyObject *sv_rebuild_field(PyObject *module, PyObject *args);

/* array_dlpack.c */
/* Take the tensor out of a capsule or of an object with __dlpack__. Returns what keeps it alive, or NULL. */
PyObject *sv_dlpack_take(PyObject *producer, const sv_dl_tensor **tensor, bool *readonly);
PyObject *sv_array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *sv_array_dlpack_device(PyObject *self, PyObject *ignored);
PyObject *sv_from_dlpack(PyObject *module, PyObject *args, PyObject *kwargs);

/* array_numpy.c */
/* Fill data, dtype, rank, shape, strides and readonly from a NumPy array. 0 if the buffer protocol is needed. */
int sv_numpy_view(PyObject *object, sv_tensor_view *view);
/* Called with a buffer of any object; recognizes NumPy by its first array. -1 with an exception that is unrelated to the
   object. */
int sv_numpy_learn(PyObject *object, const Py_buffer *buffer);

/* array_foreign.c */
/* The dtype of a DLPack element type, or NULL without an exception. */
sv_dtype *sv_dtype_from_dlpack(sv_dl_datatype type);
int sv_array_foreign_init(void);
/* 1, or -1 with an exception if a tensor represents the negation or the conjugate of its memory. */
int sv_tensor_refuse_lazy(PyObject *object, bool is_complex);
/* Describe a DLPack tensor as a view that owns nothing; returns what sv_tensor_view_get does. */
int sv_tensor_view_of_dlpack(PyObject *object, const sv_dl_tensor *tensor, sv_tensor_view *view);
PyObject *sv_is_tensor_type(PyObject *module, PyObject *type);
PyObject *sv_describe_tensor(PyObject *module, PyObject *object);

#endif
