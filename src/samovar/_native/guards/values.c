/* Equality of values in guards and traces: the same exact type and the same value, where 0.0 and -0.0 differ and NaN equals
   itself. */
#include "guards/guards.h"

#include <math.h>

static int same_bits(double left, double right)
{
    return memcmp(&left, &right, sizeof left) == 0;
}

static int same_items(PyObject *actual, PyObject *expected)
{
    Py_ssize_t length = PyTuple_GET_SIZE(expected);
    if (PyTuple_GET_SIZE(actual) != length)
        return 0;
    if (Py_EnterRecursiveCall(" while comparing values"))
        return -1;
    int same = 1;
    for (Py_ssize_t i = 0; same == 1 && i < length; i++)
        same = sv_same_value(PyTuple_GET_ITEM(actual, i), PyTuple_GET_ITEM(expected, i));
    Py_LeaveRecursiveCall();
    return same;
}

int sv_same_value(PyObject *actual, PyObject *expected)
{
    if (actual == expected)
        return 1;
    if (Py_TYPE(actual) != Py_TYPE(expected))
        return 0;
    if (PyFloat_Check(expected))
        return same_bits(PyFloat_AS_DOUBLE(actual), PyFloat_AS_DOUBLE(expected));
    /* `==` of a subclass does not count: code is specialized on the number or the text. */
    if (PyLong_Check(expected) || PyUnicode_Check(expected)) {
        PyTypeObject *base = PyLong_Check(expected) ? &PyLong_Type : &PyUnicode_Type;
        PyObject *same = base->tp_richcompare(actual, expected, Py_EQ);
        int truth = same == NULL ? -1 : same == Py_True;
        Py_XDECREF(same);
        return truth;
    }
    if (PyTuple_CheckExact(expected))
        return same_items(actual, expected);
    if (PyComplex_CheckExact(expected)) {
        Py_complex left = PyComplex_AsCComplex(actual), right = PyComplex_AsCComplex(expected);
        return same_bits(left.real, right.real) && same_bits(left.imag, right.imag);
    }
    sv_python_may_run();
    /* Python may run here. */
    /* Floats of other types (numpy.float32): compared as numbers they would lose the sign of zero. */
    const PyNumberMethods *numbers = Py_TYPE(expected)->tp_as_number;
    if (numbers != NULL && numbers->nb_float != NULL && numbers->nb_index == NULL) {
        double left = PyFloat_AsDouble(actual);
        if (left == -1.0 && PyErr_Occurred())
            return -1;
        double right = PyFloat_AsDouble(expected);
        if (right == -1.0 && PyErr_Occurred())
            return -1;
        if (!same_bits(left, right) || isnan(left))
            return same_bits(left, right);
    }
    return PyObject_RichCompareBool(actual, expected, Py_EQ);
}

int sv_same_length(PyObject *object, Py_ssize_t expected)
{
    const PySequenceMethods *sequence = Py_TYPE(object)->tp_as_sequence;
    const PyMappingMethods *mapping = Py_TYPE(object)->tp_as_mapping;
    if ((sequence == NULL || sequence->sq_length == NULL) && (mapping == NULL || mapping->mp_length == NULL))
        return 0;
    if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE))
        sv_python_may_run();
    Py_ssize_t length = PyObject_Size(object); /* Python may run here. */
    return length < 0 ? -1 : length == expected;
}

/* The keys of a dict, in order. */
int sv_same_keys(PyObject *object, PyObject *expected)
{
    if (!PyDict_Check(object) || PyDict_GET_SIZE(object) != PyTuple_GET_SIZE(expected))
        return 0;
    PyObject *keys = PyDict_Keys(object);
    if (keys == NULL)
        return -1;
    /* Python may run here. The list owns the keys and is not shared. */
    int same = PyList_GET_SIZE(keys) == PyTuple_GET_SIZE(expected);
    for (Py_ssize_t i = 0; same == 1 && i < PyTuple_GET_SIZE(expected); i++)
        same = sv_same_value(PyList_GET_ITEM(keys, i), PyTuple_GET_ITEM(expected, i));
    Py_DECREF(keys);
    return same;
}

static PyObject *same_value(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *first, *second;
    if (!PyArg_ParseTuple(args, "OO:same_value", &first, &second))
        return NULL;
    int same = sv_same_value(first, second);
    return same < 0 ? NULL : PyBool_FromLong(same);
}

static PyMethodDef value_functions[] = {
    {"same_value", same_value, METH_VARARGS,
     PyDoc_STR("same_value(first, second, /)\n--\n\n"
               "Whether two objects have the same exact type and value: floats by their bits, tuples element-wise.\n\n"
               ">>> from samovar._native import same_value\n>>> same_value((1, 0.0), (1, -0.0))\nFalse")},
    {NULL, NULL, 0, NULL},
};

int sv_values_init(PyObject *module)
{
    return PyModule_AddFunctions(module, value_functions);
}
