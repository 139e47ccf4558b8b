/* Deep values: what plain Python code could see of an object when a kernel was compiled, compared with what it is now.

   A description is a nested tuple that begins with a word, created by `samovar.lens.deep_values`. A comparison runs no user code
   beyond ordinary attribute access.

       ("value", object)                     the same exact type and value
       ("is", object)                        the same object
       ("weak", reference)                   the same object, by weak reference
       ("type", type)                        of exactly this type
       ("values", (object, …))               a list or tuple of the same values, each by exact type and value
       ("items", (description, …))           a list, tuple or set of these elements, in this order
       ("mapping", (description, …), (…))    a dict of these keys, in this order, and these values
       ("attributes", ((name, description), …))
       ("function", reference, code, defaults, keyword defaults, (description of each cell, …), globals,
                    ((name, description), …), ((name, object), …))     of its global names, and of its builtins
       ("method", description of the function, description of the object)
       ("all", (description, …))             all of these */
#include "guards/guards.h"

#include <string.h>

enum { VALUE, IS, WEAK, TYPE, VALUES, ITEMS, MAPPING, ATTRIBUTES, FUNCTION, METHOD, ALL, WORD_COUNT };

/* A word, and the number of parts that follow it. */
static const struct {
    const char *text;
    Py_ssize_t parts;
} shapes[WORD_COUNT] = {
    [VALUE] = {"value", 1}, [IS] = {"is", 1}, [WEAK] = {"weak", 1}, [TYPE] = {"type", 1}, [VALUES] = {"values", 1}, [ITEMS] = {"items", 1},
    [MAPPING] = {"mapping", 2}, [ATTRIBUTES] = {"attributes", 1}, [FUNCTION] = {"function", 8}, [METHOD] = {"method", 2},
    [ALL] = {"all", 1},
};
static PyObject *words[WORD_COUNT];

/* The number of the word that a description begins with, or -1 with an exception. */
static int word_of(PyObject *description)
{
    if (PyTuple_CheckExact(description) && PyTuple_GET_SIZE(description) > 0)
        for (int word = 0; word < WORD_COUNT; word++)
            if (PyTuple_GET_ITEM(description, 0) == words[word] && PyTuple_GET_SIZE(description) == shapes[word].parts + 1)
                return word;
    PyErr_SetString(PyExc_ValueError, "contents: invalid description");
    return -1;
}

/* A part that must be a tuple. */
static PyObject *tuple_in(PyObject *description, Py_ssize_t position)
{
    PyObject *part = PyTuple_GET_ITEM(description, position);
    if (!PyTuple_CheckExact(part)) {
        PyErr_SetString(PyExc_ValueError, "contents: a part is not a tuple");
        return NULL;
    }
    return part;
}

/* An object that another object owns, and may drop meanwhile. */
static int same_held(PyObject *object, PyObject *description)
{
    Py_INCREF(object);
    int same = sv_same_contents(object, description);
    Py_DECREF(object);
    return same;
}

/* The same for an optional object: NULL is described by None. */
static int same_optional(PyObject *object, PyObject *description)
{
    if (object == NULL || description == Py_None)
        return object == NULL && description == Py_None;
    return same_held(object, description);
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

/* A set that did not change iterates in the same order. */
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

/* Names that no global hides, and that refer to these objects. */
static int same_builtins(PyObject *globals, PyObject *builtins, PyObject *pairs)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs); i++) {
        PyObject *expected, *name = named_in(pairs, i, &expected);
        if (name == NULL)
            return -1;
        int hidden = PyDict_Contains(globals, name);
        if (hidden != 0)
            return hidden < 0 ? -1 : 0;
        if (PyDict_GetItemWithError(builtins, name) != expected)
            return PyErr_Occurred() ? -1 : 0;
    }
    return 1;
}

/* Functions with attributes are never described. */
static bool has_attributes(PyObject *function)
{
    PyObject *attributes = ((PyFunctionObject *)function)->func_dict;
    return attributes != NULL && PyDict_GET_SIZE(attributes) > 0;
}

static int same_function(PyObject *object, PyObject *description)
{
    PyObject *cells = tuple_in(description, 5), *globals = PyTuple_GET_ITEM(description, 6), *names = tuple_in(description, 7),
             *builtins = tuple_in(description, 8);
    if (cells == NULL || names == NULL || builtins == NULL)
        return -1;
    if (!PyWeakref_CheckRef(PyTuple_GET_ITEM(description, 1))) {
        PyErr_SetString(PyExc_TypeError, "contents: expected a weak reference");
        return -1;
    }
    if (!PyFunction_Check(object) || !sv_is_referent(object, PyTuple_GET_ITEM(description, 1)) ||
        PyFunction_GET_CODE(object) != PyTuple_GET_ITEM(description, 2) || PyFunction_GET_GLOBALS(object) != globals ||
        has_attributes(object))
        return 0;
    int same = same_optional(PyFunction_GET_DEFAULTS(object), PyTuple_GET_ITEM(description, 3));
    if (same == 1)
        same = same_optional(PyFunction_GET_KW_DEFAULTS(object), PyTuple_GET_ITEM(description, 4));
    if (same == 1)
        same = same_cells(PyFunction_GET_CLOSURE(object), cells);
    if (same == 1)
        same = same_globals(globals, names);
    return same == 1 ? same_builtins(globals, sv_function_builtins(object), builtins) : same;
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
        PyErr_SetString(PyExc_TypeError, "contents: expected a weak reference");
        return -1;
    case TYPE: return (PyObject *)Py_TYPE(object) == part;
    case VALUES: return same_values(object, parts);
    case ITEMS: return same_items(object, parts);
    case MAPPING: {
        PyObject *values = tuple_in(description, 2);
        return values == NULL ? -1 : same_mapping(object, parts, values);
    }
    case ATTRIBUTES: return same_attributes(object, parts);
    case FUNCTION: return same_function(object, description);
    case METHOD: return same_method(object, description);
    default: return same_in_all(object, parts);
    }
}

int sv_same_contents(PyObject *object, PyObject *description)
{
    int word = word_of(description);
    if (word <= TYPE) /* nothing is below it */
        return word < 0 ? -1 : compared(object, description, word);
    if (Py_EnterRecursiveCall(" while comparing contents"))
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

static PyMethodDef deep_values_functions[] = {
    {"same_contents", same_contents, METH_VARARGS,
     PyDoc_STR("same_contents(object, description, /)\n--\n\n"
               "Whether an object matches a description.\n\n"
               ">>> from samovar._native import same_contents\n>>> same_contents([1, 2], (\"values\", (1, 2)))\nTrue")},
    {NULL, NULL, 0, NULL},
};

int sv_deep_values_init(PyObject *module)
{
    for (int word = 0; word < WORD_COUNT; word++)
        if (words[word] == NULL && (words[word] = PyUnicode_InternFromString(shapes[word].text)) == NULL)
            return -1;
    return PyModule_AddFunctions(module, deep_values_functions);
}
