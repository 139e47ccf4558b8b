/* Entrance: a function of the package that users call by name, such as a decorator. What it refuses is an error of the line
   that calls it: native code has no frame, and those of the function are taken off. Errors that nobody has foreseen keep theirs,
   but for a plain entrance, such as `sv.zeros`: whatever it raises is about what it was given. What users' code raises that is
   called from there keeps the lines of users' code. The methods of a class can be plain entrances too. */
#include "native.h"

#include <frameobject.h>
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;
    bool plain;
    bool is_method;
} entrance;

static PyTypeObject entrance_type;

/* 1 if what is raised is an error of ours, -1 if that cannot be told. */
static int is_foreseen(PyObject *type)
{
    PyObject *errors = PyImport_ImportModule("samovar.errors");
    PyObject *class = errors == NULL ? NULL : PyObject_GetAttrString(errors, "SamovarError");
    int is = class == NULL ? -1 : PyErr_GivenExceptionMatches(type, class);
    Py_XDECREF(class);
    Py_XDECREF(errors);
    return is;
}

/* 1 if a line of a traceback is one of the package, -1 if that cannot be told. */
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

/* A traceback from the first line on that is not ours: a new reference, None if all are. */
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

static void leave_frames_out(bool plain)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    int foreseen = plain ? 1 : is_foreseen(type);
    if (foreseen < 0)
        PyErr_Clear();
    if (foreseen == 1) {
        PyObject *left = of_users(traceback);
        if (PyException_SetTraceback(value, left) == 0)
            Py_XSETREF(traceback, left == Py_None ? NULL : Py_NewRef(left));
        Py_DECREF(left);
    }
    PyErr_Restore(type, value, traceback);
}

void sv_leave_frames_out(void)
{
    leave_frames_out(true);
}

/* A call that the function was never entered for, as it has no frame, may have a keyword that the function does not know:
   the error then says which ones it has. Python code runs here. */
static void explain_keywords(PyObject *function, PyObject *keywords)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *error = NULL;
    if (traceback == NULL) {
        PyObject *module = PyImport_ImportModule("samovar.unknown_keyword");
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

static PyObject *entrance_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *keywords)
{
    PyObject *function = ((entrance *)self)->function;
    PyObject *result = PyObject_Vectorcall(function, args, nargsf, keywords);
    if (result == NULL) {
        if (keywords != NULL && PyFunction_Check(function) && PyErr_ExceptionMatches(PyExc_TypeError))
            explain_keywords(function, keywords);
        leave_frames_out(((entrance *)self)->plain);
    }
    return result;
}

static PyObject *make(PyObject *function, bool plain, bool is_method)
{
    entrance *made = PyObject_GC_New(entrance, &entrance_type);
    if (made == NULL)
        return NULL;
    made->vectorcall = entrance_vectorcall;
    made->function = Py_NewRef(function);
    made->plain = plain;
    made->is_method = is_method;
    PyObject_GC_Track(made);
    return (PyObject *)made;
}

static PyObject *make_entrance(PyObject *Py_UNUSED(module), PyObject *function)
{
    return make(function, false, false);
}

static PyObject *make_plain_entrance(PyObject *Py_UNUSED(module), PyObject *function)
{
    return make(function, true, false);
}

/* Make entrances of the methods that a class defines. */
static PyObject *make_methods_entrances(PyObject *Py_UNUSED(module), PyObject *class)
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

static void entrance_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_DECREF(((entrance *)self)->function);
    PyObject_GC_Del(self);
}

static int entrance_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((entrance *)self)->function);
    return 0;
}

static PyObject *entrance_repr(PyObject *self)
{
    return PyObject_Repr(((entrance *)self)->function);
}

/* Pickled by its name, as a function is. */
static PyObject *entrance_reduce(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return PyObject_GetAttrString(((entrance *)self)->function, "__qualname__");
}

/* What a type has an answer of its own to: the closure is the name. */
static PyObject *entrance_get_named(PyObject *self, void *name)
{
    return PyObject_GetAttrString(((entrance *)self)->function, name);
}

static PyObject *entrance_getattro(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    PyErr_Clear();
    return PyObject_GetAttr(((entrance *)self)->function, name);
}

/* It binds nothing but the instance of a method. Having this, it is a routine for `help` and its like. */
static PyObject *entrance_get(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(owner))
{
    if (((entrance *)self)->is_method && instance != NULL)
        return PyMethod_New(self, instance);
    return Py_NewRef(self);
}

static PyMethodDef entrance_methods[] = {
    {"__reduce__", entrance_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef entrance_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(entrance, function), READONLY, "The function."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef entrance_getset[] = {
    {"__doc__", entrance_get_named, NULL, "That of the function.", "__doc__"},
    {"__module__", entrance_get_named, NULL, "That of the function.", "__module__"},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject entrance_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.Entrance",
    .tp_basicsize = sizeof(entrance),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_dealloc = entrance_dealloc,
    .tp_traverse = entrance_traverse,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(entrance, vectorcall),
    .tp_getattro = entrance_getattro,
    .tp_descr_get = entrance_get,
    .tp_repr = entrance_repr,
    .tp_methods = entrance_methods,
    .tp_members = entrance_members,
    .tp_getset = entrance_getset,
};

static PyMethodDef functions[] = {
    {"entrance", make_entrance, METH_O,
     PyDoc_STR("entrance(function, /)\n--\n\nThe function, without its frames in the tracebacks of errors of ours.")},
    {"plain_entrance", make_plain_entrance, METH_O,
     PyDoc_STR("plain_entrance(function, /)\n--\n\nThe function, without its frames in the tracebacks of any error.")},
    {"users_frames", users_frames, METH_O,
     PyDoc_STR("users_frames(traceback, /)\n--\n\nA traceback from the first line on that is not one of the package.")},
    {"plain_methods", make_methods_entrances, METH_O,
     PyDoc_STR("plain_methods(type, /)\n--\n\nThe class, with plain entrances in the place of the methods that it defines.")},
    {NULL, NULL, 0, NULL},
};

int sv_entrance_init(PyObject *module)
{
    return PyModule_AddType(module, &entrance_type) < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
