/* Launches that a tape records (runtime/tape.py). */
#include "profile/profile.h"

/* The function that is called instead of launches, and its thread; NULL if there is none. Changed with the GIL. */
static PyObject *listener;
static unsigned long listening_thread;
/* Greater than 0 while the listener runs: its own launches are ordinary ones. */
static _Thread_local int unwatched __attribute__((tls_model("initial-exec")));
/* How many tapes need launches to count as changes of the arrays that they write, and the number of the current listener. */
static int kept_versions;
static uint32_t listener_number;
/* Greater than 0 during a reverse: its changes of arrays are undone and do not count. */
static _Thread_local int uncounted __attribute__((tls_model("initial-exec")));

void sv_tape_written(sv_array *array)
{
    if (uncounted > 0)
        return;
    array->version++;
    /* On its own thread, the listener makes all launches but those that replay a recording. */
    if (listener != NULL && (unwatched == 0 || PyThread_get_thread_ident() != listening_thread))
        array->elsewhere = listener_number;
}

bool sv_is_taped_here(void)
{
    return listener != NULL && unwatched == 0 && PyThread_get_thread_ident() == listening_thread;
}

bool sv_taped_call(sv_kernel *kernel, PyObject *const *bound, PyObject *label, PyObject **result)
{
    if (!sv_is_taped_here())
        return false;
    *result = NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(kernel->parameters);
    PyObject *arguments = PyTuple_New(count), *called = Py_NewRef(listener);
    for (Py_ssize_t i = 0; arguments != NULL && i < count; i++)
        PyTuple_SET_ITEM(arguments, i, Py_NewRef(bound[i]));
    if (arguments != NULL) {
        unwatched++;
        *result = PyObject_CallFunctionObjArgs(called, (PyObject *)kernel, arguments, label, NULL); /* Python may run here. */
        unwatched--;
    }
    Py_XDECREF(arguments);
    Py_DECREF(called);
    return true;
}

static void set_hook(void)
{
    sv_set_hook(SV_HOOK_TAPE, listener != NULL || kept_versions > 0);
}

static PyObject *keep_versions(PyObject *Py_UNUSED(module), PyObject *on)
{
    kept_versions += on == Py_True ? 1 : -1;
    set_hook();
    Py_RETURN_NONE;
}

static PyObject *call_uncounted(PyObject *Py_UNUSED(module), PyObject *function)
{
    uncounted++;
    PyObject *result = PyObject_CallNoArgs(function); /* Python may run here. */
    uncounted--;
    return result;
}

static PyObject *written_elsewhere(PyObject *Py_UNUSED(module), PyObject *object)
{
    return PyBool_FromLong(listener != NULL && sv_array_check(object) &&
                           sv_array_base((sv_array *)object)->elsewhere == listener_number);
}

static PyObject *watch_launches(PyObject *Py_UNUSED(module), PyObject *function)
{
    if (function != Py_None && listener != NULL)
        Py_RETURN_FALSE;
    PyObject *before = listener;
    listener = function == Py_None ? NULL : Py_NewRef(function);
    listening_thread = PyThread_get_thread_ident();
    listener_number += listener != NULL;
    set_hook();
    Py_XDECREF(before); /* Python may run here. */
    Py_RETURN_TRUE;
}

static PyMethodDef taping_functions[] = {
    {"watch_launches", watch_launches, METH_O,
     PyDoc_STR("watch_launches(function, /)\n--\n\n"
               "Have function(kernel, arguments) called instead of each launch on this thread, until None is passed; with the\n"
               "label of a checkpoint as well if the launch resumes there. Launches that the function makes are ordinary ones. Returns False if another function is being called already.")},
    {"keep_versions", keep_versions, METH_O,
     PyDoc_STR("keep_versions(on, /)\n--\n\n"
               "Have launches count as changes of the arrays that they write, until each call with True has been matched by\n"
               "one with False.")},
    {"call_uncounted", call_uncounted, METH_O,
     PyDoc_STR("call_uncounted(function, /)\n--\n\nCall a function whose launches do not count as changes.")},
    {"written_elsewhere", written_elsewhere, METH_O,
     PyDoc_STR("written_elsewhere(array, /)\n--\n\n"
               "Whether a launch on another thread has written to an array since watch_launches was given a function.")},
    {NULL, NULL, 0, NULL},
};

int sv_taping_init(PyObject *module)
{
    return PyModule_AddFunctions(module, taping_functions);
}
