/* The array object: memory, lifetime, attributes. Its operations are in the other array_*.c files. */
#include "array/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64 };
/* From this size on memory is mapped: untouched pages cost nothing, and huge pages save faults and TLB misses. */
static const size_t MAPPED_FROM = (size_t)4 << 20;
static const size_t HUGE_PAGE = (size_t)2 << 20;
/* The tracemalloc domain of the elements: the letters "sv". */
enum { TRACE_DOMAIN = 0x7376 };

/* --- shapes */

PyObject *sv_shape_tuple(int ndim, const int64_t *shape)
{
    PyObject *tuple = PyTuple_New(ndim);
    if (tuple == NULL)
        return NULL;
    for (int axis = 0; axis < ndim; axis++) {
        PyObject *extent = PyLong_FromLongLong(shape[axis]);
        if (extent == NULL) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SET_ITEM(tuple, axis, extent);
    }
    return tuple;
}

static int parse_extent(PyObject *item, int64_t *extent)
{
    PyObject *index = PyNumber_Index(item); /* Python may run here. */
    if (index == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "a shape consists of integers, not %.100s%s", Py_TYPE(item)->tp_name,
                         PyFloat_Check(item) ? "; `//` divides integers, and `/` gives a float" : "");
        return -1;
    }
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (value == -1 && PyErr_Occurred())
        return -1;
    if (overflow > 0) {
        PyErr_Format(PyExc_MemoryError, "cannot allocate an array with an extent of %S", item);
        return -1;
    }
    *extent = overflow < 0 ? INT64_MIN : value;
    return 0;
}

int sv_shape_parse(PyObject *object, int64_t shape[SV_MAX_NDIM])
{
    /* A 1-D array of integers also has an __index__. */
    bool is_sequence = PySequence_Check(object) && PySequence_Size(object) >= 0; /* Python may run here. */
    PyErr_Clear();
    if (PyIndex_Check(object) && !is_sequence)
        return parse_extent(object, &shape[0]) < 0 ? -1 : 1;
    PyObject *extents = PySequence_Tuple(object); /* a tuple, which cannot change while Python runs */
    if (extents == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError) && Py_TYPE(object)->tp_iter == NULL && !PySequence_Check(object))
            PyErr_Format(PyExc_TypeError, "a shape is an integer or a tuple of integers, not %.100s%s", Py_TYPE(object)->tp_name,
                         PyFloat_Check(object) ? "; `//` divides integers, and `/` gives a float" : "");
        return -1;
    }
    Py_ssize_t ndim = PyTuple_GET_SIZE(extents);
    if (ndim > SV_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "an array has at most %d dimensions, not %zd", SV_MAX_NDIM, ndim);
        ndim = -1;
    }
    for (Py_ssize_t axis = 0; axis < ndim; axis++)
        if (parse_extent(PyTuple_GET_ITEM(extents, axis), &shape[axis]) < 0)
            ndim = -1;
    Py_DECREF(extents);
    return (int)ndim;
}

/* --- memory */

static sv_array *no_memory(sv_array *array, const char *how_much)
{
    PyObject *shape = sv_shape_tuple(array->ndim, array->shape);
    if (shape != NULL) {
        PyErr_Format(PyExc_MemoryError, "cannot allocate %s for an array of shape %R and dtype %s", how_much, shape,
                     array->dtype->name);
        Py_DECREF(shape);
    }
    Py_DECREF(array);
    return NULL;
}

static void format_bytes(size_t bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = (double)bytes;
    int unit = 0;
    for (; amount >= 1024.0 && unit < 6; unit++)
        amount /= 1024.0;
    snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", amount, units[unit]);
}

/* Zeroed, aligned, and lazily allocated where it matters. False if the system has no memory. */
static bool allocate(sv_array *array, size_t bytes)
{
    if (bytes >= MAPPED_FROM) {
        /* Room to start on a huge page; the rest of the mapping is never touched. */
        size_t length = bytes + HUGE_PAGE;
        void *mapping = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapping == MAP_FAILED)
            return false;
        array->allocation = mapping;
        array->mapped_bytes = length;
        array->data = (void *)(((uintptr_t)mapping + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
#ifdef MADV_HUGEPAGE
        madvise(array->data, bytes, MADV_HUGEPAGE); /* a hint: systems without huge pages use small ones */
#endif
    } else {
        array->allocation = calloc(1, (bytes ? bytes : 1) + ALIGNMENT - 1);
        if (array->allocation == NULL)
            return false;
        array->data = (void *)(((uintptr_t)array->allocation + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
    }
    PyTraceMalloc_Track(TRACE_DOMAIN, (uintptr_t)array->data, bytes);
    return true;
}

static void release_memory(sv_array *array)
{
    if (array->allocation == NULL)
        return;
    PyTraceMalloc_Untrack(TRACE_DOMAIN, (uintptr_t)array->data);
    if (array->mapped_bytes)
        munmap(array->allocation, array->mapped_bytes);
    else
        free(array->allocation);
}

/* --- creation */

sv_array *sv_array_blank(PyTypeObject *type, sv_dtype *dtype)
{
    sv_array *array = PyObject_GC_New(sv_array, type);
    if (array == NULL)
        return NULL;
    array->data = NULL;
    array->dtype = dtype;
    array->ndim = 0;
    array->inner = 0;
    array->signature = SV_UNPLACED;
    array->shape = array->inline_axes;
    array->size = 0;
    array->grad = array->dual = NULL;
    array->version = array->elsewhere = array->exports = 0;
    array->owner = NULL;
    array->weakrefs = NULL;
    array->attributes = NULL;
    array->layout = NULL;
    array->guarded_layout = NULL;
    array->byte_strides = array->shape + SV_INLINE_NDIM;
    array->allocation = NULL;
    array->mapped_bytes = 0;
    return array;
}

int sv_array_set_shape(sv_array *array, int ndim, const int64_t *shape)
{
    if (ndim > SV_INLINE_NDIM) {
        int64_t *axes = PyMem_Malloc(2 * (size_t)ndim * sizeof *axes);
        if (axes == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        array->shape = axes;
    }
    array->ndim = ndim;
    array->byte_strides = array->shape + (ndim > SV_INLINE_NDIM ? ndim : SV_INLINE_NDIM);
    memcpy(array->shape, shape, (size_t)ndim * sizeof *shape);
    return 0;
}

/* Initialize everything except the memory. After this, strides and size are known not to overflow, even with extents of
   0. */
static sv_array *array_frame(sv_dtype *dtype, int ndim, const int64_t *shape)
{
    if (ndim > SV_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "an array has at most %d dimensions, not %d", SV_MAX_NDIM, ndim);
        return NULL;
    }
    for (int axis = 0; axis < ndim; axis++) {
        if (shape[axis] < 0) {
            PyObject *tuple = sv_shape_tuple(ndim, shape);
            if (tuple != NULL)
                PyErr_Format(PyExc_ValueError, "negative extent in the shape %R", tuple);
            Py_XDECREF(tuple);
            return NULL;
        }
    }
    sv_array *array = sv_array_blank(&sv_array_type, dtype);
    if (array == NULL)
        return NULL;
    if (sv_array_set_shape(array, ndim, shape) < 0) {
        Py_DECREF(array);
        return NULL;
    }
    int64_t stride = dtype->itemsize;
    bool empty = false, wide = false;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        array->byte_strides[axis] = stride;
        empty |= shape[axis] == 0;
        wide |= shape[axis] > INT32_MAX;
        if (__builtin_mul_overflow(stride, shape[axis] ? shape[axis] : 1, &stride))
            return no_memory(array, "more than the address space");
    }
    array->size = empty ? 0 : stride / dtype->itemsize;
    sv_tensor_facts facts = {.dtype = dtype, .ndim = ndim, .contiguous = true, .wide = wide};
    array->signature = sv_signature(&facts, false);
    return array;
}

/* Weak references to the arrays that have a grad, with gaps. */
static PyObject *with_grad;
static Py_ssize_t checked_grads = 64;

/* Drop the references to arrays that are gone. */
static void tidy_grads(void)
{
    Py_ssize_t kept = 0, count = PyList_GET_SIZE(with_grad);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *reference = PyList_GET_ITEM(with_grad, i);
        if (PyWeakref_GET_OBJECT(reference) != Py_None) {
            PyList_SET_ITEM(with_grad, i, PyList_GET_ITEM(with_grad, kept));
            PyList_SET_ITEM(with_grad, kept++, reference);
        }
    }
    PyList_SetSlice(with_grad, kept, count, NULL);
    checked_grads = 2 * kept + 64;
}

void sv_array_note_grad(sv_array *array)
{
    if (with_grad == NULL && (with_grad = PyList_New(0)) == NULL) {
        PyErr_Clear();
        return;
    }
    if (PyList_GET_SIZE(with_grad) >= checked_grads)
        tidy_grads();
    PyObject *reference = PyWeakref_NewRef((PyObject *)array, NULL);
    if (reference == NULL || PyList_Append(with_grad, reference) < 0)
        PyErr_Clear();
    Py_XDECREF(reference);
}

/* All arrays that are there and have a gradient, but for fields without a place. */
static PyObject *differentiable(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found != NULL && with_grad != NULL && i < PyList_GET_SIZE(with_grad); i++) {
        PyObject *array = PyWeakref_GET_OBJECT(PyList_GET_ITEM(with_grad, i)); /* borrowed */
        if (array != Py_None && ((sv_array *)array)->signature != SV_UNPLACED && PyList_Append(found, array) < 0)
            Py_CLEAR(found);
    }
    return found;
}

void sv_array_set_grad(sv_array *array, sv_array *grad)
{
    array->grad = (PyObject *)grad;
    sv_array_note_grad(array);
    array->signature |= SV_FACT_BIT(SV_FACT_needs_grad);
}

sv_array *sv_array_tangent(const sv_array *array)
{
    const sv_array *dual = (sv_array *)array->dual; /* programs may assign anything */
    bool is_like = dual != NULL && sv_array_check(array->dual) && dual->signature != SV_UNPLACED && dual->dtype == array->dtype &&
                   dual->ndim == array->ndim;
    for (int axis = 0; is_like && axis < array->ndim; axis++)
        is_like = dual->shape[axis] == array->shape[axis] && dual->byte_strides[axis] == array->byte_strides[axis];
    return is_like ? (sv_array *)array->dual : NULL;
}

sv_array *sv_array_new(sv_dtype *dtype, int ndim, const int64_t *shape, bool needs_grad)
{
    if (needs_grad && dtype->kind != 'f') {
        PyErr_Format(PyExc_TypeError, "only floats have gradients: needs_grad=True with dtype %s", dtype->name);
        return NULL;
    }
    sv_array *array = array_frame(dtype, ndim, shape);
    if (array == NULL)
        return NULL;
    size_t bytes = (size_t)sv_array_nbytes(array);
    if (bytes > (size_t)PY_SSIZE_T_MAX - HUGE_PAGE || !allocate(array, bytes)) {
        char text[32];
        format_bytes(bytes, text);
        return no_memory(array, text);
    }
    if (needs_grad) {
        sv_array *grad = sv_array_new(dtype, ndim, shape, false);
        if (grad == NULL) {
            Py_DECREF(array);
            return NULL;
        }
        sv_array_set_grad(array, grad);
    }
    PyObject_GC_Track(array);
    return array;
}

sv_array *sv_array_over(sv_dtype *dtype, int ndim, const int64_t *shape, void *data, bool readonly, PyObject *owner)
{
    sv_array *array = array_frame(dtype, ndim, shape);
    if (array == NULL)
        return NULL;
    array->data = data;
    array->owner = Py_NewRef(owner);
    array->signature |= readonly ? SV_READONLY_BIT : 0;
    PyObject_GC_Track(array);
    return array;
}

int sv_array_set_inner(sv_array *array, int inner)
{
    if (inner < 0 || inner > 2 || inner > array->ndim) {
        PyErr_Format(PyExc_ValueError, "elements have 0, 1 or 2 dimensions of the array, not %d of %d", inner, array->ndim);
        return -1;
    }
    if (inner > 0 && sv_dtype_parts(array->dtype) > 1) {
        PyErr_SetString(PyExc_TypeError, "vectors and matrices of complex numbers are not supported\n"
                                         "  help: use another dimension: an array of shape (…, 3) instead of vectors of 3");
        return -1;
    }
    array->inner = inner;
    array->signature |= sv_inner_bits(inner);
    if (array->grad != NULL && sv_array_set_inner((sv_array *)array->grad, inner) < 0)
        return -1;
    sv_array *dual = sv_array_tangent(array);
    return dual == NULL ? 0 : sv_array_set_inner(dual, inner);
}

static PyObject *array_construct(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dtype", "shape", "needs_grad", "inner", NULL};
    PyObject *dtype, *shape_object;
    int needs_grad = 0, inner = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O|pi:Ndarray", names, &sv_dtype_type, &dtype, &shape_object,
                                     &needs_grad, &inner))
        return NULL;
    int64_t shape[SV_MAX_NDIM];
    int ndim = sv_shape_parse(shape_object, shape);
    if (ndim < 0)
        return NULL;
    sv_array *array = sv_array_new((sv_dtype *)dtype, ndim, shape, needs_grad);
    if (array != NULL && sv_array_set_inner(array, inner) < 0)
        Py_CLEAR(array);
    return (PyObject *)array;
}

/* `Tensor(array)`: the array itself, which wraps nothing. */
static PyObject *tensor_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *array;
    static char *names[] = {"impl", NULL};
    if (type != &sv_tensor_type)
        return PyErr_Format(PyExc_TypeError, "cannot create '%s' instances", type->tp_name);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!:Tensor", names, &sv_tensor_type, &array))
        return NULL;
    return Py_NewRef(array);
}

static void array_dealloc(PyObject *self)
{
    sv_array *array = (sv_array *)self;
    if (PyObject_GC_IsTracked(self)) /* not if construction failed */
        PyObject_GC_UnTrack(self);
    if (array->weakrefs != NULL)
        PyObject_ClearWeakRefs(self);
    release_memory(array);
    if (array->shape != array->inline_axes)
        PyMem_Free(array->shape);
    Py_XDECREF(array->grad);
    Py_XDECREF(array->dual);
    Py_XDECREF(array->owner);
    Py_XDECREF(array->attributes);
    Py_XDECREF(array->layout);
    PyObject_GC_Del(self);
}

int sv_array_traverse(PyObject *self, visitproc visit, void *arg)
{
    sv_array *array = (sv_array *)self;
    Py_VISIT(array->grad);
    Py_VISIT(array->dual);
    Py_VISIT(array->owner);
    Py_VISIT(array->attributes);
    return 0;
}

/* Attributes set by users may refer back to the array. Nothing else starts a cycle, and the memory must outlive everything
   that can still see it. */
int sv_array_clear(PyObject *self)
{
    Py_CLEAR(((sv_array *)self)->attributes);
    Py_CLEAR(((sv_array *)self)->dual);
    return 0;
}

sv_array *sv_array_base(sv_array *array)
{
    while (array->owner != NULL && sv_array_check(array->owner))
        array = (sv_array *)array->owner;
    return array;
}

void sv_array_exported(sv_array *array)
{
    array = sv_array_base(array);
    array->version++;
    array->exports++;
}

int sv_array_require_writable(sv_array *array)
{
    sv_array_base(array)->version++;
    if (!sv_array_is_readonly(array))
        return 0;
    PyErr_SetString(PyExc_ValueError, "this array is read-only: it shares read-only memory\n  help: write to a copy: copy.copy(array)");
    return -1;
}

/* --- attributes */

static PyObject *get_shape(PyObject *self, void *Py_UNUSED(closure))
{
    if (sv_array_require_place((sv_array *)self) < 0)
        return NULL;
    return sv_shape_tuple(sv_array_rank((sv_array *)self), ((sv_array *)self)->shape);
}

static PyObject *get_element_shape(PyObject *self, void *Py_UNUSED(closure))
{
    const sv_array *array = (sv_array *)self;
    if (sv_array_require_place((sv_array *)self) < 0)
        return NULL;
    return sv_shape_tuple(array->inner, array->shape + sv_array_rank(array));
}

/* Strides of a field decide: the components of one element are adjacent, or they are not. */
static PyObject *get_layout(PyObject *self, void *Py_UNUSED(closure))
{
    const sv_array *array = (sv_array *)self;
    if (sv_array_require_place((sv_array *)self) < 0)
        return NULL;
    bool soa = sv_array_is_soa(array);
    int64_t expected = array->dtype->itemsize;
    for (int axis = array->ndim; axis-- > sv_array_rank(array); expected *= array->shape[axis])
        soa |= array->shape[axis] > 1 && array->byte_strides[axis] != expected;
    return PyUnicode_InternFromString(soa ? "soa" : "aos");
}

static PyObject *get_dtype(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(((sv_array *)self)->dtype);
}

PyObject *sv_array_get_grad(PyObject *self, void *Py_UNUSED(closure))
{
    PyObject *grad = ((sv_array *)self)->grad;
    if (grad == NULL && ((sv_array *)self)->signature == SV_UNPLACED) { /* what may be placed as the gradient */
        PyObject *offered = PyObject_GetAttrString(self, "offered_grad");
        if (offered != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
            return offered;
        PyErr_Clear();
    }
    return Py_NewRef(grad != NULL ? grad : Py_None);
}

static PyObject *get_ndim(PyObject *self, void *Py_UNUSED(closure))
{
    if (sv_array_require_place((sv_array *)self) < 0)
        return NULL;
    return PyLong_FromLong(sv_array_rank((sv_array *)self));
}

static PyObject *get_size(PyObject *self, void *Py_UNUSED(closure))
{
    if (sv_array_require_place((sv_array *)self) < 0)
        return NULL;
    int64_t count = 1; /* of elements of any kind */
    for (int axis = 0; axis < sv_array_rank((sv_array *)self); axis++)
        count *= ((sv_array *)self)->shape[axis];
    return PyLong_FromLongLong(count);
}

static PyObject *get_nbytes(PyObject *self, void *Py_UNUSED(closure))
{
    if (sv_array_require_place((sv_array *)self) < 0)
        return NULL;
    return PyLong_FromSsize_t(sv_array_nbytes((sv_array *)self));
}

PyObject *sv_array_get_needs_grad(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((sv_array *)self)->grad != NULL);
}

/* The rows and columns of matrix elements; a vector is one column. */
static PyObject *get_extent(PyObject *self, void *which)
{
    const sv_array *array = (sv_array *)self;
    bool columns = which != NULL;
    if (array->inner == 0) {
        PyErr_Format(PyExc_AttributeError, "the elements are scalars and have no `%s`", columns ? "m" : "n");
        return NULL;
    }
    PyObject *shape = get_element_shape(self, NULL);
    if (shape == NULL)
        return NULL;
    PyObject *extent = columns && PyTuple_GET_SIZE(shape) < 2 ? PyLong_FromLong(1) : Py_NewRef(PyTuple_GET_ITEM(shape, columns));
    Py_DECREF(shape);
    return extent;
}

static PyObject *get_readonly(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(sv_array_is_readonly((sv_array *)self));
}

static PyObject *array_has_grad(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return sv_array_get_needs_grad(self, NULL);
}

PyObject *sv_array_get_dual(PyObject *self, void *Py_UNUSED(closure))
{
    PyObject *dual = ((sv_array *)self)->dual;
    return Py_NewRef(dual != NULL ? dual : Py_None);
}

int sv_array_set_dual(PyObject *self, PyObject *dual, void *Py_UNUSED(closure))
{
    Py_XSETREF(((sv_array *)self)->dual, Py_XNewRef(dual));
    return 0;
}

static PyObject *array_has_dual(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return PyBool_FromLong(((sv_array *)self)->dual != NULL);
}

/* Quadrants wraps arrays and fields in one tensor class, and programs unwrap it. Nothing is wrapped here. */
static PyObject *array_unwrap(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return Py_NewRef(self);
}

/* Comparison is element-wise; the hash of an array is its identity. */
static Py_hash_t array_hash(PyObject *self)
{
    return PyBaseObject_Type.tp_hash(self);
}

static PyGetSetDef array_getset[] = {
    {"shape", get_shape, NULL, "The shape, a tuple.", NULL},
    {"element_shape", get_element_shape, NULL, "The shape of an element: () for scalars, (3,) for vectors of 3.", NULL},
    {"layout", get_layout, NULL, "How vectors and matrices are stored: sv.Layout.AOS, each contiguous, or "
                                 "sv.Layout.SOA, one array per component.", NULL},
    {"dtype", get_dtype, NULL, "The type of the elements.", NULL},
    {"n", get_extent, NULL, "The number of rows of vector or matrix elements.", NULL},
    {"m", get_extent, NULL, "The number of columns of vector or matrix elements; 1 for vectors.", "m"},
    {"grad", sv_array_get_grad, NULL, "The array of gradients, or None unless created with needs_grad=True.", NULL},
    {"dual", sv_array_get_dual, sv_array_set_dual, "The array of tangents for forward mode, or None.", NULL},
    {"ndim", get_ndim, NULL, "The number of dimensions.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"nbytes", get_nbytes, NULL, "The size of the elements in bytes.", NULL},
    {"needs_grad", sv_array_get_needs_grad, NULL, "Whether the array has a grad.", NULL},
    {"readonly", get_readonly, NULL, "Whether the memory is read-only.", NULL},
    {"T", sv_array_transposed, NULL, "The transpose: a NumPy array that shares the memory; a 1-D array itself.", NULL},
    {"__array_interface__", sv_array_interface, NULL, "Version 3 of NumPy's array interface.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef array_methods[] = {
    {"fill", ONE_ARGUMENT(sv_array_fill_with), PyDoc_STR("fill($self, val)\n--\n\nSet every element to one value.")},
    {"copy_from", ONE_ARGUMENT(sv_array_copy_from_other),
     PyDoc_STR("copy_from($self, other)\n--\n\nCopy the elements of an array of the same shape (ours, NumPy's or torch's), "
               "converted as by a cast.")},
    {"from_numpy", ONE_ARGUMENT(sv_array_copy_from_array),
     PyDoc_STR("from_numpy($self, arr)\n--\n\nCopy the elements of a NumPy array of the same shape into this array.")},
    {"from_torch", ONE_ARGUMENT(sv_array_copy_from_array),
     PyDoc_STR("from_torch($self, arr)\n--\n\nCopy the elements of a torch tensor of the same shape into this array.")},
    {"to_numpy", KEYWORDS(sv_array_to_numpy),
     PyDoc_STR("to_numpy($self, copy=True, dtype=None, *, keep_dims=False)\n--\n\nA NumPy array: a copy, or with copy=False one that shares this memory; "
               "copy=None shares if it can. `dtype` is one of NumPy's or ours and may come first. keep_dims=True makes vectors columns.")},
    {"to_torch", KEYWORDS(sv_array_to_torch),
     PyDoc_STR("to_torch($self, copy=True, device=None, *, keep_dims=False)\n--\n\nA torch tensor: a copy, or with copy=False one that shares this "
               "memory; copy=None shares if it can. It is in CPU memory unless `device` is given.")},
    {"to_dlpack", KEYWORDS(sv_array_dlpack),
     PyDoc_STR("to_dlpack($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nThe same as __dlpack__().")},
    {"tolist", KEYWORDS(sv_array_tolist), PyDoc_STR("tolist($self, /)\n--\n\nThe elements as nested lists of Python numbers.")},
    {"sum", KEYWORDS(sv_array_sum),
     PyDoc_STR("sum($self, axis=None, **options)\n--\n\nThe sum of all elements, or along axes. Floats are summed in f64, integers in 64 bits.")},
    {"min", KEYWORDS(sv_array_min),
     PyDoc_STR("min($self, axis=None, **options)\n--\n\nThe minimum of all elements, or along axes; NaN if there is one.")},
    {"max", KEYWORDS(sv_array_max),
     PyDoc_STR("max($self, axis=None, **options)\n--\n\nThe maximum of all elements, or along axes; NaN if there is one.")},
    {"mean", KEYWORDS(sv_array_mean), PyDoc_STR("mean($self, axis=None, **options)\n--\n\nThe mean of all elements, or along axes.")},
    {"all", KEYWORDS(sv_array_all), PyDoc_STR("all($self, axis=None, **options)\n--\n\nWhether all elements are nonzero, or along axes.")},
    {"any", KEYWORDS(sv_array_any), PyDoc_STR("any($self, axis=None, **options)\n--\n\nWhether any element is nonzero, or along axes.")},
    {"astype", KEYWORDS(sv_array_astype),
     PyDoc_STR("astype($self, dtype, /)\n--\n\nA copy with another dtype, converted as by a cast.")},
    {"reshape", KEYWORDS(sv_array_reshape),
     PyDoc_STR("reshape($self, /, *shape)\n--\n\nAn array of another shape that shares the memory. One extent may be -1. "
               "A field that is not in C order is copied.")},
    {"copy", sv_array_copy, METH_NOARGS, PyDoc_STR("copy($self, /)\n--\n\nA copy in new memory, including the grad.")},
    {"__array__", KEYWORDS(sv_array_as_numpy),
     PyDoc_STR("__array__($self, /, dtype=None, copy=None)\n--\n\nA NumPy array, zero-copy if possible.")},
    {"_repr_html_", KEYWORDS(sv_array_html), PyDoc_STR("_repr_html_($self, /)\n--\n\nThe elements as a table, for notebooks.")},
    {"has_grad", array_has_grad, METH_NOARGS, PyDoc_STR("has_grad($self, /)\n--\n\nWhether the array has a grad.")},
    {"has_dual", array_has_dual, METH_NOARGS,
     PyDoc_STR("has_dual($self, /)\n--\n\nWhether the array has a dual, for forward mode.")},
    {"_unwrap", array_unwrap, METH_NOARGS, PyDoc_STR("_unwrap($self, /)\n--\n\nThe array or field itself.")},
    {"__dlpack__", KEYWORDS(sv_array_dlpack),
     PyDoc_STR("__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
               "A DLPack capsule, versioned if the consumer supports it.")},
    {"__arrow_c_array__", KEYWORDS(sv_array_arrow),
     PyDoc_STR("__arrow_c_array__($self, /, requested_schema=None)\n--\n\nTwo Arrow capsules: the schema and the array.")},
    {"__dlpack_device__", sv_array_dlpack_device, METH_NOARGS, PyDoc_STR("The DLPack device: (1, 0), the CPU.")},
    {"__reduce_ex__", sv_array_reduce, METH_O, NULL},
    {"__copy__", sv_array_copy, METH_NOARGS, NULL},
    {"__deepcopy__", sv_array_deepcopy, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

PyTypeObject sv_tensor_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar.Tensor",
    .tp_basicsize = sizeof(sv_array),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = tensor_construct,
    .tp_doc = PyDoc_STR("An array or a field. As an annotation of a parameter or a member it accepts either; `Tensor(a)` is `a`.\n\n"
                        ">>> import samovar as sv\n"
                        ">>> isinstance(sv.ndarray(sv.f32, 3), sv.Tensor), isinstance(sv.field(sv.f32, 3), sv.Tensor)\n(True, True)"),
    .tp_dealloc = array_dealloc,
    .tp_traverse = sv_array_traverse,
    .tp_clear = sv_array_clear,
    .tp_dictoffset = offsetof(sv_array, attributes),
    .tp_weaklistoffset = offsetof(sv_array, weakrefs),
    .tp_as_mapping = &sv_array_as_mapping,
    .tp_as_number = &sv_array_as_number,
    .tp_as_buffer = &sv_array_as_buffer,
    .tp_repr = sv_array_repr,
    .tp_richcompare = sv_array_compare,
    .tp_hash = array_hash,
    .tp_iter = sv_array_iter,
    .tp_methods = array_methods,
    .tp_getset = array_getset,
};

PyTypeObject sv_array_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar.Ndarray",
    .tp_basicsize = sizeof(sv_array),
    .tp_base = &sv_tensor_type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = PyDoc_STR("An n-dimensional array that kernels, NumPy and torch share without copying. Created by `ndarray`.\n\n"
                        ">>> import samovar as sv\n>>> a = sv.ndarray(sv.f32, (2, 3))\n>>> a[1, 2] = 5\n"
                        ">>> a[1, 2]\n5.0"),
    .tp_new = array_construct,
    .tp_traverse = sv_array_traverse, /* set together with the flag: both are inherited or neither */
    .tp_clear = sv_array_clear,
};

static PyMethodDef module_functions[] = {
    {"differentiable", differentiable, METH_NOARGS, PyDoc_STR("differentiable()\n--\n\nAll arrays that have a gradient.")},
    {"describe_tensor", sv_describe_tensor, METH_O,
     PyDoc_STR("Describe an array of any library as a kernel sees it; None if the object is not an array.")},
    {"is_tensor_type", sv_is_tensor_type, METH_O,
     PyDoc_STR("Whether instances of a class are arrays of some library; some may still be unsupported.")},
    {"as_ndarray", KEYWORDS(sv_as_ndarray),
     PyDoc_STR("as_ndarray(source, copy=None)\n--\n\nAn Ndarray that shares or copies the memory of another array.")},
    {"from_dlpack", KEYWORDS(sv_from_dlpack),
     PyDoc_STR("from_dlpack(source, /, *, copy=None)\n--\n\nAn Ndarray of what an object with __dlpack__, or a capsule, "
               "describes.\n\n"
               ">>> import samovar as sv\n>>> a = sv.ndarray(sv.f32, 2)\n>>> b = sv.from_dlpack(a)\n>>> a[1] = 5\n>>> b[1]\n5.0")},
    {"equal_elements", sv_equal_elements, METH_VARARGS, PyDoc_STR("Where the elements of two C-order arrays of the same "
                                                                  "dtype are equal.")},
    {"bits_of", sv_bits_of, METH_O, PyDoc_STR("The memory of a C-order array of bf16 as u16, for the buffer protocol.")},
    {"reshaped", sv_reshaped, METH_VARARGS, PyDoc_STR("The memory of a C-order array with another shape.")},
    {"rebuild_array", sv_rebuild_array, METH_VARARGS, PyDoc_STR("Rebuild a pickled Ndarray.")},
    {"rebuild_field", sv_rebuild_field, METH_VARARGS, PyDoc_STR("Rebuild a pickled Field.")},
    {NULL, NULL, 0, NULL},
};

int sv_array_init(PyObject *module)
{
    if (sv_array_foreign_init() < 0 || PyModule_AddType(module, &sv_tensor_type) < 0 || PyModule_AddType(module, &sv_array_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, module_functions);
}
