/* Loads of guard programs other than attributes: names, items, super(). */
#include "guards/guards.h"

int sv_load_name(PyObject *names, PyObject *name, PyObject **result)
{
    /* Python may run here, if a key is of a str subclass. */
    *result = Py_XNewRef(PyDict_GetItemWithError(names, name));
    return *result != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
}

int sv_load_item(PyObject *source, PyObject *key, PyObject **result)
{
    if (PyDict_CheckExact(source))
        return sv_load_name(source, key, result);
    if (!PyList_CheckExact(source) && !PyTuple_CheckExact(source))
        sv_python_may_run();
    if (PyDict_Check(source)) {
        /* Do not trigger __missing__ of a dict subclass. */
        int contained = PyDict_Contains(source, key);
        if (contained != 1)
            return contained;
    }
    /* Python may run here. */
    *result = PyObject_GetItem(source, key);
    if (*result != NULL)
        return 1;
    if (!PyErr_ExceptionMatches(PyExc_KeyError) && !PyErr_ExceptionMatches(PyExc_IndexError))
        return -1;
    PyErr_Clear();
    return 0;
}

/* What `super().name` returns in a method of a class. */
int sv_load_inherited(PyObject *source, PyObject *class, PyObject *name, PyObject **result)
{
    if (!PyType_Check(class) || !PyType_IsSubtype(Py_TYPE(source), (PyTypeObject *)class))
        return 0;
    sv_python_may_run();
    PyObject *bases = PyObject_CallFunctionObjArgs((PyObject *)&PySuper_Type, class, source, NULL);
    if (bases == NULL)
        return -1;
    int found = sv_optional_attribute(bases, name, result); /* Python may run here. */
    Py_DECREF(bases);
    return found;
}
