/* Scalar arguments: numbers that are stored in the argument block at each launch. */
#include "guards/guards.h"

/* A 0-D array, such as numpy.array(3), counts as its scalar: it has no length, although its type has one. */
static bool has_length(PyObject *object)
{
    const PyTypeObject *type = Py_TYPE(object);
    if ((type->tp_as_sequence == NULL || type->tp_as_sequence->sq_length == NULL) &&
        (type->tp_as_mapping == NULL || type->tp_as_mapping->mp_length == NULL))
        return false;
    if (type->tp_as_number == NULL || type->tp_as_number->nb_index == NULL)
        return true;
    sv_python_may_run();
    if (PyObject_Size(object) >= 0) /* Python may run here. */
        return true;
    PyErr_Clear();
    return false;
}

/* A number, and not an array that would convert to one. */
static bool is_number(const sv_dtype *dtype, PyObject *object)
{
    if (PyFloat_Check(object))
        return dtype->kind == 'f' || dtype->kind == 'b';
    if (PyLong_Check(object))
        return true;
    if (has_length(object))
        return false;
    const PyNumberMethods *numbers = Py_TYPE(object)->tp_as_number;
    if (numbers == NULL || PyComplex_Check(object))
        return false;
    bool integer = numbers->nb_index != NULL;
    return dtype->kind == 'i' || dtype->kind == 'u' ? integer : integer || numbers->nb_float != NULL;
}

/* Prefix an OverflowError with the parameter's name, and append advice. A value of another kind is a miss: the lookup of
   another specialization reports it. */
static int name_overflow(PyObject *name, const sv_dtype *dtype)
{
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        return 0;
    }
    if (!PyErr_ExceptionMatches(PyExc_OverflowError))
        return -1;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const char *advice = dtype->kind != 'f' && dtype->bits < 64 ? "; annotate it with a wider type, for example sv.i64" : "";
    PyErr_Format(PyExc_OverflowError, "argument `%U`: %S%s", name, value == NULL ? Py_None : value, advice);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return -1;
}

static bool wide_arguments_wrap = false;

/* A 64-bit integer that does not fit into a narrower slot wraps, with a warning. 1, or -1 with an exception: the one that
   was raised before, if it has more bits or another sign. */
static int wrapped(const sv_scalar_fill *fill, PyObject *object, uint8_t *slot)
{
    const sv_dtype *dtype = fill->dtype;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *index = PyNumber_Index(object); /* Python may run here. */
    unsigned long long bits = 0;
    if (index != NULL)
        bits = dtype->kind == 'i' ? (unsigned long long)PyLong_AsLongLong(index) : PyLong_AsUnsignedLongLong(index);
    Py_XDECREF(index);
    if (PyErr_Occurred()) {
        PyErr_Restore(type, value, traceback);
        return name_overflow(fill->name, dtype);
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    sv_python_may_run();
    const char *name = PyUnicode_AsUTF8(fill->name);
    PyObject *stored = name == NULL ? NULL : sv_dtype_load(dtype, &bits);
    PyObject *where = stored == NULL ? NULL : PyBytes_FromFormat("argument `%s`: ", name);
    int result = where == NULL ? -1 : sv_warn_of_wrapping(dtype, object, stored, PyBytes_AS_STRING(where));
    Py_XDECREF(stored);
    Py_XDECREF(where);
    if (result == 0)
        memcpy(slot, &bits, dtype->itemsize); /* little endian */
    return result == 0 ? 1 : -1;
}

static PyObject *wrap_wide_arguments(PyObject *Py_UNUSED(module), PyObject *wanted)
{
    int truth = PyObject_IsTrue(wanted);
    if (truth < 0)
        return NULL;
    wide_arguments_wrap = truth;
    Py_RETURN_NONE;
}

static PyMethodDef scalar_functions[] = {
    {"wrap_wide_arguments", wrap_wide_arguments, METH_O,
     PyDoc_STR("wrap_wide_arguments(wanted, /)\n--\n\n"
               "Set whether an integer argument that does not fit its parameter's type wraps with a warning. Otherwise it is an error.")},
    {NULL, NULL, 0, NULL},
};

int sv_scalars_init(PyObject *module)
{
    return PyModule_AddFunctions(module, scalar_functions);
}

int sv_fill_scalar(const sv_scalar_fill *fill, PyObject *object, uint8_t *block)
{
    const sv_dtype *dtype = fill->dtype;
    uint8_t *slot = block + fill->offset;
    if (PyFloat_CheckExact(object) && dtype->kind == 'f' && !sv_dtype_is_short_float(dtype)) {
        double number = PyFloat_AS_DOUBLE(object);
        if (dtype->code == SV_F64) {
            memcpy(slot, &number, sizeof number);
        } else {
            float single = (float)number;
            memcpy(slot, &single, sizeof single);
        }
        return 1;
    }
    if (!is_number(dtype, object))
        return 0;
    if (!PyLong_CheckExact(object))
        sv_python_may_run();
    /* Python may run here. */
    if (sv_dtype_store(dtype, object, slot) == 0)
        return 1;
    if (wide_arguments_wrap && (dtype->kind == 'i' || dtype->kind == 'u') && PyErr_ExceptionMatches(PyExc_OverflowError))
        return wrapped(fill, object, slot);
    return name_overflow(fill->name, dtype);
}
