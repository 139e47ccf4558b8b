/* Numbers that go into the argument block at each launch. */
#include "guards.h"

/* An array without axes, as numpy.array(3) is, stands for its number: it has no length, although its type has. */
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

/* Puts the parameter's name in front of an OverflowError, and what to do behind it. What is no number of this kind after all is a miss: who looks for
   another specialisation says what is wrong with it. */
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
    const char *advice = dtype->kind != 'f' && dtype->bits < 64 ? "; annotate it as a type that holds it, for example sv.i64" : "";
    PyErr_Format(PyExc_OverflowError, "argument `%U`: %S%s", name, value == NULL ? Py_None : value, advice);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return -1;
}

int sv_fill_scalar(const sv_scalar_fill *fill, PyObject *object, uint8_t *block)
{
    const sv_dtype *dtype = fill->dtype;
    uint8_t *slot = block + fill->offset;
    if (PyFloat_CheckExact(object) && dtype->kind == 'f' && dtype->code != SV_F16) {
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
    return sv_dtype_store(dtype, object, slot) < 0 ? name_overflow(fill->name, dtype) : 1;
}
