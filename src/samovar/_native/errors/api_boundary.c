/* API boundary: a wrapper around a public function, such as a decorator, that trims tracebacks. An error raised by the
   package appears at the user's line that made the call: native code has no frame, and the frames of the package are
   removed. Unexpected errors keep their frames, unless the boundary is plain, as for `sv.zeros`: whatever it raises is about
   its arguments. Errors raised in callbacks keep the frames of user code. The methods of a class can be plain boundaries
   too. */
#include "native.h"

#include <frameobject.h>
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;
    bool plain;
    bool is_method;
} api_boundary;

static PyTypeObject api_boundary_type;

/* 1 if the exception is a SamovarError, -1 if that cannot be determined. */
static int is_own_error(PyObject *type)
{
    PyObject *class = sv_error_class("SamovarError");
    int is = class == NULL ? -1 : PyErr_GivenExceptionMatches(type, class);
    Py_XDECREF(class);
    return is;
}

/* 1 if a traceback entry belongs to the package, -1 if that cannot be determined. */
static int is_ours(PyTracebackObject *line)
{
    PyObject *globals = PyObject_GetAttrString((PyObject *)line->tb_frame, "f_globals");
    PyObject *name = globals == NULL ? NULL : PyMapping_GetItemString(globals, "__name__");
    Py_XDECREF(globals);
    if (name == NULL || !PyUnicode_Check(name)) {
        Py_XDECREF(name);
        return -1;
    }
    const char *text = PyUnicode_AsUTF8(name);
    int ours = text == NULL ? -1 : strcmp(text, "samovar") == 0 || strncmp(text, "samovar.", 8) == 0;
    Py_DECREF(name);
    return ours;
}

/* The traceback from the first entry on that is not ours: a new reference, None if all are. */
static PyObject *of_users(PyObject *traceback)
{
    while (traceback != NULL && PyTraceBack_Check(traceback)) {
        int ours = is_ours((PyTracebackObject *)traceback);
        if (ours < 0)
            PyErr_Clear();
        if (ours != 1)
            return Py_NewRef(traceback);
        traceback = (PyObject *)((PyTracebackObject *)traceback)->tb_next;
    }
    return Py_NewRef(Py_None);
}

static PyObject *users_frames(PyObject *Py_UNUSED(module), PyObject *traceback)
{
    return of_users(traceback);
}

static void trim_traceback(bool plain)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    int is_own = plain ? 1 : is_own_error(type);
    if (is_own < 0)
        PyErr_Clear();
    if (is_own == 1) {
        PyObject *left = of_users(traceback);
        if (PyException_SetTraceback(value, left) == 0)
            Py_XSETREF(traceback, left == Py_None ? NULL : Py_NewRef(left));
        Py_DECREF(left);
    }
    PyErr_Restore(type, value, traceback);
}

void sv_trim_traceback(void)
{
    trim_traceback(true);
}

/* If the function was never entered (there is no frame), the call may have an unknown keyword: the error then lists the
   valid ones. Python code runs here. */
static void explain_keywords(PyObject *function, PyObject *keywords)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *error = NULL;
    if (traceback == NULL) {
        PyObject *module = PyImport_ImportModule("samovar.language.unknown_keyword");
        error = module == NULL ? NULL : PyObject_CallMethod(module, "unknown_keyword", "OO", function, keywords);
        Py_XDECREF(module);
        if (error == NULL)
            PyErr_Clear();
    }
    if (error == NULL || error == Py_None) {
        PyErr_Restore(type, value, traceback);
    } else {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    }
    Py_XDECREF(error);
}

static PyObject *api_boundary_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *keywords)
{
    PyObject *function = ((api_boundary *)self)->function;
    PyObject *result = PyObject_Vectorcall(function, args, nargsf, keywords);
    if (result == NULL) {
        if (keywords != NULL && PyFunction_Check(function) && PyErr_ExceptionMatches(PyExc_TypeError))
            explain_keywords(function, keywords);
        trim_traceback(((api_boundary *)self)->plain);
    }
    return result;
}

static PyObject *make(PyObject *function, bool plain, bool is_method)
{
    api_boundary *made = PyObject_GC_New(api_boundary, &api_boundary_type);
    if (made == NULL)
        return NULL;
    made->vectorcall = api_boundary_vectorcall;
    made->function = Py_NewRef(function);
    made->plain = plain;
    made->is_method = is_method;
    PyObject_GC_Track(made);
    return (PyObject *)made;
}

static PyObject *make_api_boundary(PyObject *Py_UNUSED(module), PyObject *function)
{
    return make(function, false, false);
}

static PyObject *make_plain_api_boundary(PyObject *Py_UNUSED(module), PyObject *function)
{
    return make(function, true, false);
}

/* Wrap the methods that a class defines. */
static PyObject *make_api_boundary_methods(PyObject *Py_UNUSED(module), PyObject *class)
{
    PyObject *defined = PyObject_GetAttrString(class, "__dict__");
    PyObject *items = defined == NULL ? NULL : PyMapping_Items(defined);
    Py_XDECREF(defined);
    if (items == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); i++) {
        PyObject *name = PyTuple_GET_ITEM(PyList_GET_ITEM(items, i), 0);
        PyObject *value = PyTuple_GET_ITEM(PyList_GET_ITEM(items, i), 1);
        if (!PyFunction_Check(value))
            continue;
        PyObject *made = make(value, true, true);
        if (made == NULL || PyObject_SetAttr(class, name, made) < 0) {
            Py_XDECREF(made);
            Py_DECREF(items);
            return NULL;
        }
        Py_DECREF(made);
    }
    Py_DECREF(items);
    return Py_NewRef(class);
}

static void api_boundary_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_DECREF(((api_boundary *)self)->function);
    PyObject_GC_Del(self);
}

static int api_boundary_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((api_boundary *)self)->function);
    return 0;
}

static PyObject *api_boundary_repr(PyObject *self)
{
    return PyObject_Repr(((api_boundary *)self)->function);
}

/* Pickled by its name, as a function is. */
static PyObject *api_boundary_reduce(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return PyObject_GetAttrString(((api_boundary *)self)->function, "__qualname__");
}

/* Attributes that the type defines itself: the closure is the name. */
static PyObject *api_boundary_get_named(PyObject *self, void *name)
{
    return PyObject_GetAttrString(((api_boundary *)self)->function, name);
}

static PyObject *api_boundary_getattro(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    PyErr_Clear();
    return PyObject_GetAttr(((api_boundary *)self)->function, name);
}

/* Binds only the instance of a method. Because of this slot, `help` treats it as a routine. */
static PyObject *api_boundary_get(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(owner))
{
    if (((api_boundary *)self)->is_method && instance != NULL)
        return PyMethod_New(self, instance);
    return Py_NewRef(self);
}

static PyMethodDef api_boundary_methods[] = {
    {"__reduce__", api_boundary_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef api_boundary_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(api_boundary, function), READONLY, "The function."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef api_boundary_getset[] = {
    {"__doc__", api_boundary_get_named, NULL, "That of the function.", "__doc__"},
    {"__module__", api_boundary_get_named, NULL, "That of the function.", "__module__"},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject api_boundary_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.ApiBoundary",
    .tp_basicsize = sizeof(api_boundary),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_dealloc = api_boundary_dealloc,
    .tp_traverse = api_boundary_traverse,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(api_boundary, vectorcall),
    .tp_getattro = api_boundary_getattro,
    .tp_descr_get = api_boundary_get,
    .tp_repr = api_boundary_repr,
    .tp_methods = api_boundary_methods,
    .tp_members = api_boundary_members,
    .tp_getset = api_boundary_getset,
};

static PyMethodDef functions[] = {
    {"api_boundary", make_api_boundary, METH_O,
     PyDoc_STR("api_boundary(function, /)\n--\n\nWrap a function: remove the frames of the package from the tracebacks of its SamovarErrors.")},
    {"plain_api_boundary", make_plain_api_boundary, METH_O,
     PyDoc_STR("plain_api_boundary(function, /)\n--\n\nWrap a function: remove the frames of the package from the tracebacks of all its errors.")},
    {"users_frames", users_frames, METH_O,
     PyDoc_STR("users_frames(traceback, /)\n--\n\nThe traceback from the first entry on that does not belong to the package.")},
    {"api_boundary_methods", make_api_boundary_methods, METH_O,
     PyDoc_STR("api_boundary_methods(type, /)\n--\n\nWrap the methods that a class defines with plain API boundaries.")},
    {NULL, NULL, 0, NULL},
};

int sv_api_boundary_init(PyObject *module)
{
    return PyModule_AddType(module, &api_boundary_type) < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
