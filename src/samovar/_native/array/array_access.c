/* Access to single elements from Python: indexing with bounds checks, filling, length and truth value. */
#include "array/array.h"
#include "sparse/elements.h"
#include "sparse/tree.h"

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
        sv_refuse("SamovarIndexError", "index %S is out of bounds for axis %d of an array of shape %R%s", index, axis,
                  shape, negative ? " (negative indices do not count from the end)" : "");
    Py_DECREF(shape);
    return -1;
}

/* Add one index to a running offset in elements. */
static int step_into(const sv_array *array, int axis, PyObject *item, int64_t *offset, int64_t *at)
{
    PyObject *index = PyNumber_Index(item); /* Python may run here. */
    if (index == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError,
                         "an array is indexed with one integer per dimension, not %.100s; for slices and masks use "
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
    at[axis] = value;
    Py_DECREF(index);
    return result;
}

/* The address of the element at a key (of its first component, if it is a vector or matrix), or NULL with an exception. `at`
   receives the indices, counted from 0. */
static char *locate(sv_array *array, PyObject *key, int64_t *at)
{
    int64_t offset = 0;
    if (sv_array_require_place(array) < 0)
        return NULL;
    Py_ssize_t given = key == Py_None ? 0 : PyTuple_Check(key) ? PyTuple_GET_SIZE(key) : 1;
    int rank = sv_array_rank(array);
    if (given != rank)
        return sv_refuse("SamovarAxesError", "%zd ind%s for an array of rank %d%s", given, given == 1 ? "ex" : "ices", rank,
                         rank ? "" : ": index it with a[None] or a[()]");
    if (PyTuple_Check(key)) {
        for (int axis = 0; axis < rank; axis++)
            if (step_into(array, axis, PyTuple_GET_ITEM(key, axis), &offset, at) < 0)
                return NULL;
    } else if (rank == 1 && step_into(array, 0, key, &offset, at) < 0) {
        return NULL;
    }
    for (int axis = rank; axis < array->ndim && array->layout == NULL; axis++)
        offset *= array->shape[axis];
    return (char *)array->data + offset * array->dtype->itemsize;
}

/* --- elements that are vectors or matrices */

static int64_t entry_count(const sv_array *array)
{
    int64_t count = 1;
    for (int axis = sv_array_rank(array); axis < array->ndim; axis++)
        count *= array->shape[axis];
    return count;
}

/* The offset of a component from the first component of an element, in bytes. */
static int64_t entry_distance(const sv_array *array, int64_t position)
{
    int64_t distance = position;
    if (array->layout != NULL) {
        distance = 0;
        for (int axis = array->ndim - 1; axis >= sv_array_rank(array); axis--) {
            distance += sv_layout_step(array->layout, axis, position % array->shape[axis]);
            position /= array->shape[axis];
        }
    }
    return distance * array->dtype->itemsize;
}

/* samovar.values.elements.name(...): elements as Python objects, and back. Python runs here. */
static PyObject *call_elements(const char *name, PyObject *arguments)
{
    PyObject *module = arguments == NULL ? NULL : PyImport_ImportModule("samovar.values.elements");
    PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, name);
    PyObject *result = function == NULL ? NULL : PyObject_CallObject(function, arguments);
    if (function != NULL && result == NULL)
        sv_trim_traceback();
    Py_XDECREF(function);
    Py_XDECREF(module);
    Py_XDECREF(arguments);
    return result;
}

static PyObject *read_element(sv_array *array, PyObject *key, const char *first)
{
    int64_t count = entry_count(array);
    PyObject *entries = PyList_New(count);
    for (int64_t i = 0; entries != NULL && i < count; i++) {
        PyObject *entry = sv_dtype_load(array->dtype, first + entry_distance(array, i));
        if (entry == NULL)
            Py_CLEAR(entries);
        else
            PyList_SET_ITEM(entries, i, entry);
    }
    PyObject *shape = entries == NULL ? NULL : sv_shape_tuple(array->inner, array->shape + sv_array_rank(array));
    if (shape == NULL) {
        Py_XDECREF(entries);
        return NULL;
    }
    return call_elements("element", Py_BuildValue("(NNOOO)", shape, entries, array->dtype, array, key));
}

int sv_warn_of_wrapping(const sv_dtype *dtype, PyObject *value, PyObject *stored, const char *where)
{
    PyObject *message = PyUnicode_FromFormat("%s%R does not fit in %s and becomes %R", where, value, dtype->name, stored);
    PyObject *about = message == NULL ? NULL : PyUnicode_FromFormat("%swrapped in %s", where, dtype->name);
    PyObject *module = about == NULL ? NULL : PyImport_ImportModule("samovar.errors");
    PyObject *done = module == NULL ? NULL : PyObject_CallMethod(module, "warn_once", "OOO", message, Py_None, about);
    Py_XDECREF(message);
    Py_XDECREF(about);
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* Store a number. An integer that does not fit wraps, as in a kernel, with a warning. */
static int store(const sv_dtype *dtype, PyObject *value, void *element)
{
    if (sv_dtype_store(dtype, value, element) == 0)
        return 0;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError) || (dtype->kind != 'i' && dtype->kind != 'u'))
        return -1;
    PyErr_Clear();
    PyObject *index = PyNumber_Index(value); /* Python may run here. */
    if (index == NULL)
        return -1;
    unsigned long long bits = PyLong_AsUnsignedLongLongMask(index);
    Py_DECREF(index);
    if (bits == ~0ull && PyErr_Occurred())
        return -1;
    PyObject *stored = sv_dtype_load(dtype, &bits);
    int result = stored == NULL ? -1 : sv_warn_of_wrapping(dtype, value, stored, ""); /* Python may run here. */
    Py_XDECREF(stored);
    if (result == 0)
        memcpy(element, &bits, dtype->itemsize); /* little endian */
    return result;
}

/* A list of the components of a value to be stored as an element, all of them numbers. */
static PyObject *entries_of(const sv_array *array, PyObject *value)
{
    PyObject *shape = sv_shape_tuple(array->inner, array->shape + sv_array_rank(array));
    PyObject *list = shape == NULL ? NULL : call_elements("entries_of", Py_BuildValue("(ONO)", value, shape, array->dtype));
    if (list == NULL || (PyList_CheckExact(list) && PyList_GET_SIZE(list) == entry_count(array)))
        return list;
    Py_DECREF(list);
    PyErr_SetString(PyExc_TypeError, "an element has other components");
    return NULL;
}

static int write_element(const sv_array *array, PyObject *entries, char *first)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(entries); i++)
        if (store(array->dtype, PyList_GET_ITEM(entries, i), first + entry_distance(array, i)) < 0)
            return -1;
    return 0;
}

static PyObject *array_subscript(PyObject *self, PyObject *key)
{
    sv_array *array = (sv_array *)self;
    if (PySlice_Check(key))
        return sv_array_slice(array, key);
    int64_t at[SV_MAX_NDIM];
    char *element = locate(array, key, at);
    if (element == NULL)
        return NULL;
    return array->inner ? read_element(array, key, element) : sv_dtype_load(array->dtype, element);
}

/* Activate or deactivate a cell, or empty a list, through the field of masks or lengths. */
static int switch_cell(const sv_array *array, const int64_t *at, PyObject *value)
{
    int truth = PyObject_IsTrue(value); /* Python may run here. */
    int64_t position = 0, number = sv_sparse_cell(array, at, &position);
    if (truth > 0 && array->layout->cells.is_list) {
        PyErr_SetString(PyExc_ValueError, "the length of a list can only be set to 0");
        return -1;
    }
    if (truth > 0)
        sv_sparse_activate(array->data, number);
    else if (truth == 0)
        sv_sparse_deactivate(array->data, number);
    return truth < 0 ? -1 : 0;
}

static int array_assign_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    sv_array *array = (sv_array *)self;
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
        return -1;
    }
    int64_t at[SV_MAX_NDIM];
    char *element = locate(array, key, at);
    if (element == NULL || sv_array_require_writable(array) < 0)
        return -1;
    if (array->layout != NULL && array->layout->cells.is_mask)
        return switch_cell(array, at, value);
    if (sv_array_is_sparse(array))
        sv_sparse_activate_at(array, at);
    if (array->inner == 0)
        return store(array->dtype, value, element);
    PyObject *entries = entries_of(array, value);
    if (entries == NULL)
        return -1;
    int result = write_element(array, entries, element);
    Py_DECREF(entries);
    return result;
}

static Py_ssize_t array_length(PyObject *self)
{
    sv_array *array = (sv_array *)self;
    if (sv_array_require_place(array) < 0)
        return -1;
    if (sv_array_rank(array) == 0) {
        PyErr_SetString(PyExc_TypeError, "an array of rank 0 has no length");
        return -1;
    }
    return (Py_ssize_t)array->shape[0];
}

int sv_array_truth(PyObject *self)
{
    sv_array *array = (sv_array *)self;
    if (sv_array_require_place(array) < 0)
        return -1;
    if (array->ndim) {
        PyErr_SetString(PyExc_ValueError, "the truth value of an array is ambiguous: use a.all() or a.any(), or read an "
                                          "element");
        return -1;
    }
    PyObject *value = sv_dtype_load(array->dtype, array->data);
    if (value == NULL)
        return -1;
    int truth = PyObject_IsTrue(value);
    Py_DECREF(value);
    return truth;
}

/* Iterate over a 1-D array as Python numbers; over more dimensions, as NumPy rows, zero-copy if possible. */
PyObject *sv_array_iter(PyObject *self)
{
    sv_array *array = (sv_array *)self;
    if (sv_array_require_place(array) < 0)
        return NULL;
    if (sv_array_rank(array) == 0) {
        PyErr_SetString(PyExc_TypeError, "cannot iterate over a 0-D array: read its element, a[None]");
        return NULL;
    }
    if (array->inner && sv_array_rank(array) == 1) {
        PyObject *list = PyList_New(array->shape[0]);
        for (int64_t i = 0; list != NULL && i < array->shape[0]; i++) {
            PyObject *key = PyLong_FromLongLong(i), *element = key == NULL ? NULL : array_subscript(self, key);
            Py_XDECREF(key);
            if (element == NULL)
                Py_CLEAR(list);
            else
                PyList_SET_ITEM(list, i, element);
        }
        PyObject *elements = list == NULL ? NULL : PyObject_GetIter(list);
        Py_XDECREF(list);
        return elements;
    }
    PyObject *rows = array->ndim == 1 ? PyList_New(array->size) : PyObject_CallMethod(self, "to_numpy", "O", Py_None);
    for (int64_t i = 0; rows != NULL && array->ndim == 1 && i < array->size; i++) {
        int64_t distance = array->layout != NULL ? sv_layout_step(array->layout, 0, i) : i;
        PyObject *element = sv_dtype_load(array->dtype, (char *)array->data + distance * array->dtype->itemsize);
        if (element == NULL)
            Py_CLEAR(rows);
        else
            PyList_SET_ITEM(rows, i, element);
    }
    PyObject *iterator = rows == NULL ? NULL : PyObject_GetIter(rows);
    Py_XDECREF(rows);
    return iterator;
}

/* Fill an array with one element of `count` numbers, already converted. */
static void fill_with_numbers(const sv_array *array, const void *numbers, int64_t count)
{
    if (sv_array_is_sparse(array)) {
        sv_sparse_fill(array, numbers, count);
        return;
    }
    if (!sv_array_is_contiguous(array)) {
        sv_field_fill(array, numbers, count);
        return;
    }
    char *data = array->data;
    size_t total = (size_t)sv_array_nbytes(array), filled = (size_t)count * array->dtype->itemsize, block = filled;
    if (total == 0)
        return;
    Py_BEGIN_ALLOW_THREADS
    const unsigned char *bytes = numbers;
    if (memcmp(bytes, bytes + 1, filled - 1) == 0) { /* all components are the same */
        memset(data, *bytes, total);
    } else {
        /* Double a filled prefix up to a block that stays in cache, then repeat the block. */
        memcpy(data, numbers, filled);
        while (filled < total) {
            block = filled < 16384 ? filled : block;
            size_t more = block < total - filled ? block : total - filled;
            memcpy(data + filled, data, more);
            filled += more;
        }
    }
    Py_END_ALLOW_THREADS
}

/* Fill with a vector or a matrix, or nested lists of numbers. */
static PyObject *fill_with_element(sv_array *array, PyObject *value)
{
    PyObject *entries = entries_of(array, value); /* Python runs here. */
    if (entries == NULL)
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(entries);
    size_t itemsize = array->dtype->itemsize;
    char *numbers = PyMem_Malloc((size_t)count * itemsize);
    int status = 0;
    if (numbers == NULL) {
        PyErr_NoMemory();
        status = -1;
    }
    for (Py_ssize_t i = 0; status == 0 && i < count; i++)
        status = store(array->dtype, PyList_GET_ITEM(entries, i), numbers + (size_t)i * itemsize); /* Python may run here. */
    Py_DECREF(entries);
    if (status == 0)
        fill_with_numbers(array, numbers, count);
    PyMem_Free(numbers);
    if (status < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyObject *sv_array_fill(PyObject *self, PyObject *value)
{
    sv_array *array = (sv_array *)self;
    uint64_t element[2] = {0}; /* c128 has 16 bytes */
    if (sv_array_require_place(array) < 0 || sv_array_require_writable(array) < 0)
        return NULL;
    if (array->inner && (!PyNumber_Check(value) || PySequence_Check(value))) /* a NumPy array is both */
        return fill_with_element(array, value);
    /* A field of integers truncates, as an assignment in a kernel does; an array does not. */
    bool is_truncated = sv_array_is_field(array) && PyFloat_Check(value) && strchr("iu", array->dtype->kind) != NULL;
    value = is_truncated ? PyNumber_Long(value) : Py_NewRef(value);
    int status = value == NULL ? -1 : store(array->dtype, value, element); /* Python may run here. */
    Py_XDECREF(value);
    if (status < 0)
        return NULL;
    fill_with_numbers(array, element, 1);
    Py_RETURN_NONE;
}

/* --- methods with one argument */

static PyObject *only_argument(PyObject *const *args, Py_ssize_t count, PyObject *names, const char *method, const char *name)
{
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (count + named == 1 && (named == 0 || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), name) == 0))
        return args[0];
    PyErr_Format(PyExc_TypeError, "%s() takes one argument, `%s`", method, name);
    return NULL;
}

PyObject *sv_array_fill_with(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *value = only_argument(args, count, names, "fill", "val");
    return value == NULL ? NULL : sv_array_fill(self, value);
}

PyObject *sv_array_copy_from_other(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *source = only_argument(args, count, names, "copy_from", "other");
    return source == NULL ? NULL : sv_array_copy_from(self, source);
}

PyObject *sv_array_copy_from_array(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *source = only_argument(args, count, names, "from_numpy", "arr");
    return source == NULL ? NULL : sv_array_copy_from(self, source);
}

PyMappingMethods sv_array_as_mapping = {
    .mp_length = array_length,
    .mp_subscript = array_subscript,
    .mp_ass_subscript = array_assign_subscript,
};

PyNumberMethods sv_array_as_number = {
    .nb_bool = sv_array_truth,
};
