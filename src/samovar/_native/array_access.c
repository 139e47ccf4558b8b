/* Single elements from Python: indexing with bounds checks, filling, length and truth. */
#include "array.h"

#include <string.h>

static int index_error(const sv_array *array, int axis, PyObject *index)
{
    PyObject *shape = sv_shape_tuple(array->ndim, array->shape);
    if (shape == NULL)
        return -1;
    bool negative = false;
    PyObject *zero = PyLong_FromLong(0);
    if (zero != NULL) {
        negative = PyObject_RichCompareBool(index, zero, Py_LT) == 1;
        Py_DECREF(zero);
    }
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_IndexError, "index %S is out of bounds for axis %d of an array of shape %R%s", index, axis,
                     shape, negative ? " (negative indices do not count from the end)" : "");
    Py_DECREF(shape);
    return -1;
}

/* Adds one index to a running distance in elements. */
static int step_into(const sv_array *array, int axis, PyObject *item, int64_t *offset)
{
    PyObject *index = PyNumber_Index(item); /* Python may run here. */
    if (index == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError,
                         "an array is indexed with one integer per axis, not %.100s; for slices and masks use "
                         "to_numpy(copy=False)",
                         Py_TYPE(item)->tp_name);
        return -1;
    }
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
    const sv_layout *layout = array->layout;
    int result = 0;
    if (layout != NULL && __builtin_sub_overflow(value, layout->offset[axis], &value))
        overflow = 1;
    if (overflow || value < 0 || value >= array->shape[axis])
        result = index_error(array, axis, index);
    else
        *offset = layout != NULL ? *offset + sv_layout_step(layout, axis, value) : *offset * array->shape[axis] + value;
    Py_DECREF(index);
    return result;
}

/* The address of the element that a key names, or NULL with an exception. */
static char *locate(sv_array *array, PyObject *key)
{
    int64_t offset = 0;
    if (sv_array_require_place(array) < 0)
        return NULL;
    Py_ssize_t given = key == Py_None ? 0 : PyTuple_Check(key) ? PyTuple_GET_SIZE(key) : 1;
    if (given != array->ndim) {
        PyErr_Format(PyExc_IndexError, "%zd ind%s for an array of rank %d%s", given, given == 1 ? "ex" : "ices",
                     array->ndim, array->ndim ? "" : ": index it with a[None] or a[()]");
        return NULL;
    }
    if (PyTuple_Check(key)) {
        for (int axis = 0; axis < array->ndim; axis++)
            if (step_into(array, axis, PyTuple_GET_ITEM(key, axis), &offset) < 0)
                return NULL;
    } else if (array->ndim == 1 && step_into(array, 0, key, &offset) < 0) {
        return NULL;
    }
    return (char *)array->data + offset * array->dtype->itemsize;
}

static PyObject *array_subscript(PyObject *self, PyObject *key)
{
    sv_array *array = (sv_array *)self;
    char *element = locate(array, key);
    return element == NULL ? NULL : sv_dtype_load(array->dtype, element);
}

static int array_assign_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    sv_array *array = (sv_array *)self;
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
        return -1;
    }
    char *element = locate(array, key);
    if (element == NULL || sv_array_require_writable(array) < 0)
        return -1;
    return sv_dtype_store(array->dtype, value, element);
}

static Py_ssize_t array_length(PyObject *self)
{
    sv_array *array = (sv_array *)self;
    if (sv_array_require_place(array) < 0)
        return -1;
    if (array->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "an array of rank 0 has no length");
        return -1;
    }
    return (Py_ssize_t)array->shape[0];
}

static int array_truth(PyObject *self)
{
    sv_array *array = (sv_array *)self;
    if (sv_array_require_place(array) < 0)
        return -1;
    if (array->ndim) {
        PyErr_SetString(PyExc_ValueError, "the truth of an array is ambiguous: compare it with None, or read an element");
        return -1;
    }
    PyObject *value = sv_dtype_load(array->dtype, array->data);
    if (value == NULL)
        return -1;
    int truth = PyObject_IsTrue(value);
    Py_DECREF(value);
    return truth;
}

PyObject *sv_array_iter(PyObject *Py_UNUSED(self))
{
    PyErr_SetString(PyExc_TypeError, "an array is not iterable from Python (in a kernel, `for i in a` loops over indices): "
                                     "iterate over a.to_numpy() or range(len(a))");
    return NULL;
}

PyObject *sv_array_fill(PyObject *self, PyObject *value)
{
    sv_array *array = (sv_array *)self;
    uint64_t element = 0;
    if (sv_array_require_place(array) < 0 || sv_array_require_writable(array) < 0 ||
        sv_dtype_store(array->dtype, value, &element) < 0)
        return NULL;
    if (!sv_array_is_contiguous(array)) {
        sv_field_fill(array, &element);
        Py_RETURN_NONE;
    }
    char *data = array->data;
    size_t total = (size_t)sv_array_nbytes(array), filled = array->dtype->itemsize;
    if (total == 0)
        Py_RETURN_NONE;
    Py_BEGIN_ALLOW_THREADS
    if (filled == 1 || element == 0) {
        memset(data, (int)(element & 0xff), total);
    } else {
        /* Double a filled prefix up to a block that stays in cache, then repeat the block. */
        memcpy(data, &element, filled);
        while (filled < total) {
            size_t block = filled < 16384 ? filled : 16384;
            size_t more = block < total - filled ? block : total - filled;
            memcpy(data + filled, data, more);
            filled += more;
        }
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

PyMappingMethods sv_array_as_mapping = {
    .mp_length = array_length,
    .mp_subscript = array_subscript,
    .mp_ass_subscript = array_assign_subscript,
};

PyNumberMethods sv_array_as_number = {
    .nb_bool = array_truth,
};
