/* Raising the exceptions of samovar.errors. */
#include "native.h"

PyObject *sv_error_class(const char *name)
{
    PyObject *errors = PyImport_ImportModule("samovar.errors"); /* Python may run here. */
    PyObject *class = errors == NULL ? NULL : PyObject_GetAttrString(errors, name);
    Py_XDECREF(errors);
    return class;
}

void *sv_refuse(const char *name, const char *format, ...)
{
    PyObject *class = sv_error_class(name);
    if (class != NULL) {
        va_list arguments;
        va_start(arguments, format);
        PyErr_FormatV(class, format, arguments);
        va_end(arguments);
        Py_DECREF(class);
    }
    /* The exception is created here, while the caller's frame is on top: its traceback begins there. */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyErr_Restore(type, value, traceback);
    return NULL;
}
