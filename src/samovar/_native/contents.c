/* Contents: what plain Python code could see of an object when a kernel was made, compared with what it is now.

   A description is a nested tuple that begins with a word; `samovar.lens.contents` makes them. Comparing one runs no code of the
   user's beyond reading attributes in the ordinary way.

       ("value", object)                     the same exact type and value
       ("is", object)                        the same object
       ("weak", reference)                   the same object, which is not kept alive
       ("type", type)                        of exactly this type
       ("values", (object, …))               a list or tuple of the same values, each by exact type and value
       ("length", number)                    a container of so many
       ("items", (description, …))           a list, tuple or set of such elements, in this order
       ("mapping", (description, …), (…))    a dict of such keys, in this order, and such values
       ("array", dtype, shape, strides, bytes or None)   with these elements, if they are given
       ("attributes", ((name, description), …))
       ("class", description)                of its class
       ("function", code, defaults, keyword defaults, (description or None of each cell, …), globals,
                    ((name, description or None), …))     of its global names; None where there is nothing
       ("method", description of the function, description of the object)
       ("all", (description, …))             all of these */
#include "guards.h"

#include <string.h>

enum { VALUE, IS, WEAK, TYPE, LENGTH, VALUES, ITEMS, MAPPING, ARRAY, ATTRIBUTES, CLASS, FUNCTION, METHOD, ALL, WORD_COUNT };

/* A word, and how many parts follow it. */
static const struct {
    const char *text;
    Py_ssize_t parts;
} forms[WORD_COUNT] = {
    [VALUE] = {"value", 1}, [IS] = {"is", 1}, [WEAK] = {"weak", 1}, [TYPE] = {"type", 1}, [LENGTH] = {"length", 1}, [VALUES] = {"values", 1}, [ITEMS] = {"items", 1},
    [MAPPING] = {"mapping", 2}, [ARRAY] = {"array", 4}, [ATTRIBUTES] = {"attributes", 1}, [CLASS] = {"class", 1}, [FUNCTION] = {"function", 6}, [METHOD] = {"method", 2},
    [ALL] = {"all", 1},
};
static PyObject *words[WORD_COUNT];

/* The number of the word that a description begins with, or -1 with an exception. */
static int word_of(PyObject *description)
{
    if (PyTuple_CheckExact(description) && PyTuple_GET_SIZE(description) > 0)
        for (int word = 0; word < WORD_COUNT; word++)
            if (PyTuple_GET_ITEM(description, 0) == words[word] && PyTuple_GET_SIZE(description) == forms[word].parts + 1)
                return word;
    PyErr_SetString(PyExc_ValueError, "contents: this describes nothing");
    return -1;
}

/* A part that has to be a tuple. */
static PyObject *tuple_in(PyObject *description, Py_ssize_t position)
{
    PyObject *part = PyTuple_GET_ITEM(description, position);
    if (!PyTuple_CheckExact(part)) {
        PyErr_SetString(PyExc_ValueError, "contents: a part is no tuple");
        return NULL;
    }
    return part;
}

/* An object that something else holds, and may let go of meanwhile. */
static int same_held(PyObject *object, PyObject *description)
{
    Py_INCREF(object);
    int same = sv_same_contents(object, description);
    Py_DECREF(object);
    return same;
}

/* The same where there may be nothing: NULL is described by None. */
static int same_optional(PyObject *object, PyObject *description)
{
    if (object == NULL || description == Py_None)
        return object == NULL && description == Py_None;
    return same_held(object, description);
}

static int same_length(PyObject *object, PyObject *expected)
{
    Py_ssize_t number = PyLong_AsSsize_t(expected);
    if (number == -1 && PyErr_Occurred())
        return -1;
    if (PyList_Check(object) || PyTuple_Check(object))
        return PySequence_Fast_GET_SIZE(object) == number;
    return PyDict_Check(object) ? PyDict_GET_SIZE(object) == number : PyAnySet_Check(object) && PySet_GET_SIZE(object) == number;
}

static int same_values(PyObject *object, PyObject *values)
{
    if (!PyList_Check(object) && !PyTuple_Check(object))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values); i++) {
        if (PySequence_Fast_GET_SIZE(object) != PyTuple_GET_SIZE(values))
            return 0;
        PyObject *item = PySequence_Fast_GET_ITEM(object, i), *value = PyTuple_GET_ITEM(values, i);
        if (item == value)
            continue;
        Py_INCREF(item);
        int same = sv_same_value(item, value);
        Py_DECREF(item);
        if (same != 1)
            return same;
    }
    return PySequence_Fast_GET_SIZE(object) == PyTuple_GET_SIZE(values);
}

/* A set that did not change gives its elements in the same order again. */
static int same_elements(PyObject *set, PyObject *descriptions)
{
    if (PySet_GET_SIZE(set) != PyTuple_GET_SIZE(descriptions))
        return 0;
    PyObject *elements = PySet_Type.tp_iter(set);
    if (elements == NULL)
        return -1;
    int same = 1;
    for (Py_ssize_t i = 0; same == 1 && i < PyTuple_GET_SIZE(descriptions); i++) {
        PyObject *element = PyIter_Next(elements);
        same = element == NULL ? (PyErr_Occurred() ? -1 : 0) : sv_same_contents(element, PyTuple_GET_ITEM(descriptions, i));
        Py_XDECREF(element);
    }
    Py_DECREF(elements);
    return same;
}

static int same_items(PyObject *object, PyObject *descriptions)
{
    if (PyAnySet_Check(object))
        return same_elements(object, descriptions);
    if (!PyList_Check(object) && !PyTuple_Check(object))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(descriptions); i++) {
        if (PySequence_Fast_GET_SIZE(object) != PyTuple_GET_SIZE(descriptions))
            return 0;
        int same = same_held(PySequence_Fast_GET_ITEM(object, i), PyTuple_GET_ITEM(descriptions, i));
        if (same != 1)
            return same;
    }
    return PySequence_Fast_GET_SIZE(object) == PyTuple_GET_SIZE(descriptions);
}

static int same_mapping(PyObject *object, PyObject *keys, PyObject *values)
{
    if (!PyDict_Check(object) || PyDict_GET_SIZE(object) != PyTuple_GET_SIZE(keys) || PyTuple_GET_SIZE(values) != PyTuple_GET_SIZE(keys))
        return 0;
    Py_ssize_t position = 0, count = 0;
    PyObject *key, *value;
    while (PyDict_Next(object, &position, &key, &value)) {
        if (count == PyTuple_GET_SIZE(keys))
            return 0;
        Py_INCREF(value);
        int same = same_held(key, PyTuple_GET_ITEM(keys, count));
        if (same == 1)
            same = sv_same_contents(value, PyTuple_GET_ITEM(values, count));
        Py_DECREF(value);
        if (same != 1)
            return same;
        count++;
    }
    return count == PyTuple_GET_SIZE(keys);
}

static bool same_axes(const int64_t *axes, int count, PyObject *expected)
{
    if (PyTuple_GET_SIZE(expected) != count)
        return false;
    for (int axis = 0; axis < count; axis++)
        if (PyLong_AsLongLong(PyTuple_GET_ITEM(expected, axis)) != axes[axis])
            return false;
    return true;
}

static int same_view(const sv_tensor_view *view, PyObject *description)
{
    PyObject *shape = tuple_in(description, 2), *strides = tuple_in(description, 3), *bytes = PyTuple_GET_ITEM(description, 4);
    if (shape == NULL || strides == NULL)
        return -1;
    if ((PyObject *)view->dtype != PyTuple_GET_ITEM(description, 1) || !same_axes(view->shape, view->ndim, shape) ||
        !same_axes(view->strides, view->ndim, strides))
        return PyErr_Occurred() ? -1 : 0;
    if (!PyBytes_CheckExact(bytes))
        return 1;
    int64_t size = view->dtype->itemsize;
    for (int axis = 0; axis < view->ndim; axis++)
        size *= view->shape[axis];
    return view->contiguous && PyBytes_GET_SIZE(bytes) == size && memcmp(view->data, PyBytes_AS_STRING(bytes), (size_t)size) == 0;
}

static int same_array(PyObject *object, PyObject *description)
{
    sv_tensor_view view;
    sv_python_may_run();
    int found = sv_tensor_view_get(object, &view); /* Python may run here. */
    if (found < 0) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError))
            return -1;
        PyErr_Clear(); /* an array that no kernel takes */
        return 0;
    }
    if (found == 0)
        return 0;
    int same = same_view(&view, description);
    sv_tensor_view_release(&view);
    return same;
}

/* One of (name, description or None). */
static PyObject *named_in(PyObject *pairs, Py_ssize_t position, PyObject **description)
{
    PyObject *pair = PyTuple_GET_ITEM(pairs, position);
    if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) {
        PyErr_SetString(PyExc_ValueError, "contents: a name has no description");
        return NULL;
    }
    *description = PyTuple_GET_ITEM(pair, 1);
    return PyTuple_GET_ITEM(pair, 0);
}

static int same_attributes(PyObject *object, PyObject *pairs)
{
    sv_python_may_run();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs); i++) {
        PyObject *description, *value, *name = named_in(pairs, i, &description);
        if (name == NULL || sv_optional_attribute(object, name, &value) < 0) /* Python may run here. */
            return -1;
        int same = same_optional(value, description);
        Py_XDECREF(value);
        if (same != 1)
            return same;
    }
    return 1;
}

static int same_cells(PyObject *closure, PyObject *descriptions)
{
    Py_ssize_t count = closure == NULL ? 0 : PyTuple_GET_SIZE(closure);
    if (count != PyTuple_GET_SIZE(descriptions))
        return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int same = same_optional(PyCell_GET(PyTuple_GET_ITEM(closure, i)), PyTuple_GET_ITEM(descriptions, i));
        if (same != 1)
            return same;
    }
    return 1;
}

static int same_globals(PyObject *globals, PyObject *pairs)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs); i++) {
        PyObject *description, *name = named_in(pairs, i, &description);
        if (name == NULL)
            return -1;
        PyObject *value = PyDict_GetItemWithError(globals, name);
        int same = value == NULL && PyErr_Occurred() ? -1 : same_optional(value, description);
        if (same != 1)
            return same;
    }
    return 1;
}

static int same_function(PyObject *object, PyObject *description)
{
    PyObject *cells = tuple_in(description, 4), *globals = PyTuple_GET_ITEM(description, 5), *names = tuple_in(description, 6);
    if (cells == NULL || names == NULL)
        return -1;
    if (!PyFunction_Check(object) || PyFunction_GET_CODE(object) != PyTuple_GET_ITEM(description, 1) || PyFunction_GET_GLOBALS(object) != globals)
        return 0;
    int same = same_optional(PyFunction_GET_DEFAULTS(object), PyTuple_GET_ITEM(description, 2));
    if (same == 1)
        same = same_optional(PyFunction_GET_KW_DEFAULTS(object), PyTuple_GET_ITEM(description, 3));
    if (same == 1)
        same = same_cells(PyFunction_GET_CLOSURE(object), cells);
    return same == 1 ? same_globals(globals, names) : same;
}

static int same_method(PyObject *object, PyObject *description)
{
    if (!PyMethod_Check(object))
        return 0;
    int same = same_held(PyMethod_GET_FUNCTION(object), PyTuple_GET_ITEM(description, 1));
    return same == 1 ? same_held(PyMethod_GET_SELF(object), PyTuple_GET_ITEM(description, 2)) : same;
}

static int same_in_all(PyObject *object, PyObject *descriptions)
{
    int same = 1;
    for (Py_ssize_t i = 0; same == 1 && i < PyTuple_GET_SIZE(descriptions); i++)
        same = sv_same_contents(object, PyTuple_GET_ITEM(descriptions, i));
    return same;
}

static int compared(PyObject *object, PyObject *description, int word)
{
    PyObject *part = PyTuple_GET_ITEM(description, 1), *parts = NULL;
    bool takes_tuple = word == VALUES || word == ITEMS || word == MAPPING || word == ATTRIBUTES || word == ALL;
    if (takes_tuple && (parts = tuple_in(description, 1)) == NULL)
        return -1;
    switch (word) {
    case VALUE: return sv_same_value(object, part);
    case IS: return object == part;
    case WEAK:
        if (PyWeakref_CheckRef(part))
            return sv_is_referent(object, part);
        PyErr_SetString(PyExc_TypeError, "contents: a weak reference is expected");
        return -1;
    case TYPE: return (PyObject *)Py_TYPE(object) == part;
    case LENGTH: return same_length(object, part);
    case VALUES: return same_values(object, parts);
    case ITEMS: return same_items(object, parts);
    case MAPPING: {
        PyObject *values = tuple_in(description, 2);
        return values == NULL ? -1 : same_mapping(object, parts, values);
    }
    case ARRAY: return same_array(object, description);
    case ATTRIBUTES: return same_attributes(object, parts);
    case CLASS: return sv_same_contents((PyObject *)Py_TYPE(object), part);
    case FUNCTION: return same_function(object, description);
    case METHOD: return same_method(object, description);
    default: return same_in_all(object, parts);
    }
}

int sv_same_contents(PyObject *object, PyObject *description)
{
    int word = word_of(description);
    if (word <= LENGTH) /* nothing is below it */
        return word < 0 ? -1 : compared(object, description, word);
    if (Py_EnterRecursiveCall(" while contents are compared"))
        return -1;
    int same = compared(object, description, word);
    Py_LeaveRecursiveCall();
    return same;
}

static PyObject *same_contents(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *description;
    if (!PyArg_ParseTuple(args, "OO:same_contents", &object, &description))
        return NULL;
    int same = sv_same_contents(object, description);
    return same < 0 ? NULL : PyBool_FromLong(same);
}

/* The description of an array, with its elements if they take no more than so many bytes and lie in order. */
static PyObject *describe_array(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object;
    Py_ssize_t most;
    if (!PyArg_ParseTuple(args, "On:describe_array", &object, &most))
        return NULL;
    sv_tensor_view view;
    int found = sv_tensor_view_get(object, &view);
    if (found <= 0)
        return found < 0 ? NULL : Py_NewRef(Py_None);
    PyObject *description = NULL, *shape = PyTuple_New(view.ndim), *strides = PyTuple_New(view.ndim), *bytes = NULL;
    int64_t size = view.dtype->itemsize;
    bool complete = shape != NULL && strides != NULL;
    for (int axis = 0; complete && axis < view.ndim; axis++) {
        PyObject *extent = PyLong_FromLongLong(view.shape[axis]), *stride = PyLong_FromLongLong(view.strides[axis]);
        complete = extent != NULL && stride != NULL;
        PyTuple_SET_ITEM(shape, axis, extent);
        PyTuple_SET_ITEM(strides, axis, stride);
        size = size > most || view.shape[axis] > most ? most + 1 : size * view.shape[axis];
    }
    if (complete)
        bytes = view.contiguous && size <= most ? PyBytes_FromStringAndSize(view.data, size) : Py_NewRef(Py_None);
    if (bytes != NULL)
        description = PyTuple_Pack(5, words[ARRAY], view.dtype, shape, strides, bytes);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    Py_XDECREF(bytes);
    sv_tensor_view_release(&view);
    return description;
}

static PyMethodDef contents_functions[] = {
    {"describe_array", describe_array, METH_VARARGS,
     PyDoc_STR("describe_array(array, most_bytes, /)\n--\n\n"
               "A description of an array, with its elements if they take no more bytes; None for what is no array.\n\n"
               ">>> import samovar as sv\n>>> from samovar._native import describe_array\n"
               ">>> describe_array(sv.ndarray(sv.u8, 2), 8)\n('array', u8, (2,), (1,), b'\\x00\\x00')")},
    {"same_contents", same_contents, METH_VARARGS,
     PyDoc_STR("same_contents(object, description, /)\n--\n\n"
               "Whether an object is as it was described.\n\n"
               ">>> from samovar._native import same_contents\n>>> same_contents([1, 2], (\"values\", (1, 2)))\nTrue")},
    {NULL, NULL, 0, NULL},
};

int sv_contents_init(PyObject *module)
{
    for (int word = 0; word < WORD_COUNT; word++)
        if (words[word] == NULL && (words[word] = PyUnicode_InternFromString(forms[word].text)) == NULL)
            return -1;
    return PyModule_AddFunctions(module, contents_functions);
}
