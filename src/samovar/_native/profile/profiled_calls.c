/* Making kernel calls visible to Python's profilers. They only see functions, and a kernel is not one: while a profiler is
   active, a call goes through a wrapper function with the name, file and line of the kernel's function. Launches do not
   check for profilers: an audit hook is notified when one is set, and from then on calls take the hook, until none is
   set. */
#include "profile/profile.h"

#include <string.h>

/* The code of the wrapper function, and its globals; `launch` among them is the kernel. */
static PyObject *template;
/* The kernel that the wrapper is about to call. */
static _Thread_local sv_kernel *passes __attribute__((tls_model("initial-exec")));

static int hear(const char *event, PyObject *Py_UNUSED(arguments), void *Py_UNUSED(data))
{
    if (event[0] == 's' && (strcmp(event, "sys.setprofile") == 0 || strcmp(event, "sys.monitoring.register_callback") == 0))
        sv_set_hook(SV_HOOK_CALLS, true);
    return 0;
}

/* Whether a profiler is active: on this thread, and on any thread. -1 with an exception. */
static int is_profiled(bool *anywhere)
{
    PyThreadState *here = PyThreadState_Get();
    *anywhere = false;
    for (PyThreadState *each = PyInterpreterState_ThreadHead(PyThreadState_GetInterpreter(here)); each != NULL;
         each = PyThreadState_Next(each))
        *anywhere |= each->c_profilefunc != NULL;
    if (here->c_profilefunc != NULL)
        return 1;
    /* From 3.12 on, cProfile is a tool of sys.monitoring. */
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
    if (monitoring == NULL)
        return 0;
    PyObject *number = PyObject_GetAttrString(monitoring, "PROFILER_ID");
    PyObject *tool = number == NULL ? NULL : PyObject_CallMethod(monitoring, "get_tool", "O", number);
    int is_on = tool == NULL ? -1 : tool != Py_None;
    Py_XDECREF(number);
    Py_XDECREF(tool);
    *anywhere |= is_on == 1;
    return is_on;
}

/* The wrapper function, a borrowed reference of the kernel's. NULL with an exception. */
static PyObject *function_of(sv_kernel *kernel)
{
    if (kernel->profiled != NULL)
        return kernel->profiled;
    PyObject *own = PyObject_GetAttrString(kernel->function, "__code__"), *code = NULL;
    PyObject *replace = own == NULL ? NULL : PyObject_GetAttrString(template, "replace");
    PyObject *changes = replace == NULL ? NULL : PyDict_New(), *none = PyTuple_New(0);
    static const char *const names[] = {"co_name", "co_qualname", "co_filename", "co_firstlineno"};
    bool has_all = changes != NULL && none != NULL;
    for (size_t i = 0; has_all && i < sizeof names / sizeof *names; i++) {
        if (!PyObject_HasAttrString(own, names[i]))
            continue;
        PyObject *value = PyObject_GetAttrString(own, names[i]);
        has_all = value != NULL && PyDict_SetItemString(changes, names[i], value) == 0;
        Py_XDECREF(value);
    }
    if (has_all)
        code = PyObject_Call(replace, none, changes);
    PyObject *globals = code == NULL ? NULL : Py_BuildValue("{s:s,s:O,s:O}", "__name__", "samovar.runtime.cprofile_calls", "launch", kernel,
                                                            "__builtins__", PyEval_GetBuiltins());
    if (globals != NULL && kernel->profiled == NULL)
        kernel->profiled = PyFunction_New(code, globals);
    Py_XDECREF(globals);
    Py_XDECREF(code);
    Py_XDECREF(none);
    Py_XDECREF(changes);
    Py_XDECREF(replace);
    Py_XDECREF(own);
    return kernel->profiled;
}

/* With all arguments bound: keyword-only ones by name. */
static PyObject *call_through(PyObject *function, sv_kernel *kernel, PyObject *const *bound)
{
    Py_ssize_t count = PyTuple_GET_SIZE(kernel->parameters), places = count - kernel->keyword_only;
    PyObject *names = kernel->keyword_only == 0 ? NULL : PyTuple_GetSlice(kernel->parameters, places, count);
    if (names == NULL && kernel->keyword_only > 0)
        return NULL;
    Py_INCREF(function);
    passes = kernel;
    PyObject *result = PyObject_Vectorcall(function, bound, (size_t)places, names); /* Python may run here. */
    passes = NULL;
    Py_DECREF(function);
    Py_XDECREF(names);
    return result;
}

bool sv_profiled_call(sv_kernel *kernel, PyObject *const *bound, PyObject *label, PyObject **result)
{
    if (passes == kernel) {
        passes = NULL;
        return false;
    }
    if (label != NULL || template == NULL)
        return false;
    *result = NULL;
    bool anywhere;
    int is_on = is_profiled(&anywhere);
    if (is_on == 0) {
        if (!anywhere)
            sv_set_hook(SV_HOOK_CALLS, false);
        return false;
    }
    PyObject *function = is_on < 0 ? NULL : function_of(kernel);
    if (function != NULL)
        *result = call_through(function, kernel, bound);
    return true;
}

/* --- from Python */

static PyObject *show_calls(PyObject *Py_UNUSED(module), PyObject *code)
{
    if (!PyCode_Check(code)) {
        PyErr_SetString(PyExc_TypeError, "expected the code of a function that calls `launch`");
        return NULL;
    }
    bool first = template == NULL;
    Py_XSETREF(template, Py_NewRef(code));
    /* An audit hook of the process may reject ours: then there are no notifications, and calls stay invisible. */
    if (first && PySys_AddAuditHook(hear, NULL) < 0)
        PyErr_Clear();
    sv_set_hook(SV_HOOK_CALLS, true); /* one may be active already */
    Py_RETURN_NONE;
}

static PyMethodDef profiled_calls_functions[] = {
    {"show_calls", show_calls, METH_O,
     PyDoc_STR("show_calls(code, /)\n--\n\n"
               "Make kernel calls visible to Python profilers: as calls of functions with this code, which calls `launch`.")},
    {NULL, NULL, 0, NULL},
};

int sv_profiled_calls_init(PyObject *module)
{
    return PyModule_AddFunctions(module, profiled_calls_functions);
}
