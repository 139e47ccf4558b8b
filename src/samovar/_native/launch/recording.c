/* Recorded launches: kernel calls with their arguments, replayed in one call. Facts about arguments that cannot change are
   computed once; guards on everything else are checked each time, and a call whose guards fail is looked up again. */
#include "profile/profile.h"

#include <stddef.h>
#include <string.h>

typedef struct {
    sv_kernel *kernel;
    PyObject **arguments; /* one per parameter, strong references */
    sv_prepared prepared; /* empty until it is needed */
    uint64_t epoch;       /* of the kernel, when it was prepared */
} recorded;

typedef struct {
    PyObject_HEAD
    recorded *calls;
    Py_ssize_t count;
    Py_ssize_t capacity;
    bool runs; /* being replayed: must not change */
    PyObject *weakrefs;
} step;

extern PyTypeObject sv_step_type;

PyObject *sv_recording;
static unsigned long recording_thread;

bool sv_is_recording_here(void)
{
    return PyThread_get_thread_ident() == recording_thread;
}

/* --- calls */

static void drop_prepared(recorded *call)
{
    sv_prepared old = call->prepared;
    call->prepared = (sv_prepared){NULL, NULL};
    sv_snapshot_release(old.snapshot);
    Py_XDECREF(old.specialization);
}

static int look_up(recorded *call)
{
    drop_prepared(call);
    sv_prepared found = {NULL, NULL};
    uint64_t epoch = call->kernel->epoch;
    if (sv_kernel_prepare(call->kernel, call->arguments, &found) < 0) /* Python may run here. */
        return -1;
    if (found.specialization->result.kind == SV_NO_RESULT) {
        call->prepared = found;
        call->epoch = epoch;
        return 0;
    }
    sv_snapshot_release(found.snapshot);
    Py_DECREF(found.specialization);
    PyObject *path = sv_kernel_path(call->kernel);
    if (path != NULL)
        sv_refuse("SamovarTypeError", "%U returns a value and cannot be recorded\n  help: write the result into an array", path);
    Py_XDECREF(path);
    return -1;
}

static void drop(recorded *call)
{
    Py_ssize_t count = PyTuple_GET_SIZE(call->kernel->parameters);
    drop_prepared(call);
    for (Py_ssize_t i = 0; i < count; i++)
        Py_XDECREF(call->arguments[i]);
    PyMem_Free(call->arguments);
    Py_DECREF(call->kernel);
}

/* Add a slot for another call, and fill it in without looking it up. */
static bool new_call(step *self, sv_kernel *kernel, PyObject *const *bound, recorded *call)
{
    Py_ssize_t count = PyTuple_GET_SIZE(kernel->parameters);
    if (self->count == self->capacity) {
        Py_ssize_t capacity = self->capacity == 0 ? 8 : 2 * self->capacity;
        recorded *grown = PyMem_Realloc(self->calls, sizeof *grown * (size_t)capacity);
        if (grown == NULL)
            return PyErr_NoMemory() != NULL;
        self->calls = grown;
        self->capacity = capacity;
    }
    *call = (recorded){.arguments = PyMem_Malloc(sizeof(PyObject *) * ((size_t)count + 1))};
    if (call->arguments == NULL)
        return PyErr_NoMemory() != NULL;
    call->kernel = (sv_kernel *)Py_NewRef(kernel);
    for (Py_ssize_t i = 0; i < count; i++)
        call->arguments[i] = Py_NewRef(bound[i]);
    return true;
}

PyObject *sv_record(PyObject *recording, sv_kernel *kernel, PyObject *const *bound)
{
    step *self = (step *)recording;
    recorded call;
    if (!new_call(self, kernel, bound, &call))
        return NULL;
    Py_INCREF(self);
    sv_recording = NULL; /* what is compiled meanwhile is not recorded */
    int found = look_up(&call);
    sv_recording = recording;
    if (found < 0)
        drop(&call);
    else
        self->calls[self->count++] = call;
    Py_DECREF(self);
    if (found < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* --- replaying */

enum { ATTEMPTS = 3 };

/* Announce a launch to profiles. -1 with an exception. */
static __attribute__((noinline, cold)) int expect(recorded *call, sv_context *context)
{
    sv_context_take_gil(context);
    sv_specialization *specialization = call->prepared.specialization;
    return specialization == NULL ? 0 : sv_profile_expect(call->kernel, specialization); /* Python may run here. */
}

/* One call: 0, or -1 with an exception. A failure is stored in the context. */
static int replay(recorded *call, sv_context *context)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int outcome = 0;
        if (sv_has_hook(SV_HOOK_PROFILE) && expect(call, context) < 0)
            return -1;
        if (call->prepared.specialization != NULL && call->epoch == call->kernel->epoch)
            outcome = sv_launch_prepared(&call->prepared, call->arguments, context);
        if (outcome != 0)
            return outcome < 0 ? -1 : 0;
        sv_context_take_gil(context);
        if (look_up(call) < 0)
            return -1;
    }
    sv_refuse("SamovarRuntimeError", "the dependencies of a recorded call change each time it is looked up");
    return -1;
}

/* A tape, or forward mode, takes the calls one by one. */
static PyObject *replay_on_tape(step *self)
{
    PyObject *result = Py_NewRef(Py_None);
    self->runs = true;
    for (Py_ssize_t i = 0; result != NULL && i < self->count; i++) {
        Py_DECREF(result);
        if (!sv_taped_call(self->calls[i].kernel, self->calls[i].arguments, NULL, &result)) /* Python may run here. */
            result = sv_refuse("SamovarRuntimeError", "the tape was closed while a recorded step was replayed in its block");
    }
    self->runs = false;
    if (result == NULL)
        return NULL;
    Py_DECREF(result);
    Py_RETURN_NONE;
}

static PyObject *step_call(PyObject *object, PyObject *args, PyObject *kwargs)
{
    step *self = (step *)object;
    if (PyTuple_GET_SIZE(args) > 0 || (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0))
        return sv_refuse("SamovarTypeError", "a recorded step takes no arguments; use step.replace(array, other)");
    if (self->runs || sv_recording == object)
        return sv_refuse("SamovarRuntimeError", "a step cannot be replayed while it is %s", self->runs ? "replayed" : "recorded");
    if (sv_recording != NULL && sv_is_recording_here())
        return sv_refuse("SamovarRuntimeError", "a step cannot be recorded in another one");
    if (sv_is_taped_here())
        return replay_on_tape(self);
    if (self->count == 0)
        Py_RETURN_NONE;
    sv_context context;
    sv_context_open(&context, NULL);
    self->runs = true;
    int outcome = 0;
    for (Py_ssize_t i = 0; outcome == 0 && i < self->count; i++) {
        outcome = replay(&self->calls[i], &context);
        /* Prints and failures are formatted by the specialization that they come from. */
        bool speaks = atomic_load_explicit(&context.prints, memory_order_relaxed) != NULL || context.races != NULL;
        if (outcome == 0 && (speaks || sv_failed(&context))) {
            sv_context_take_gil(&context);
            outcome = sv_context_close(&context);
            sv_context_open(&context, NULL);
        } else if (i % 64 == 63) {
            sv_context_check_signals(&context);
        }
    }
    sv_context_take_gil(&context);
    self->runs = false;
    if (outcome == 0)
        outcome = sv_context_close(&context);
    else {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        if (sv_context_close(&context) < 0)
            PyErr_Clear();
        PyErr_Restore(type, value, traceback);
    }
    if (outcome < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *step_replace(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    step *self = (step *)object;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "replace(array, other)");
        return NULL;
    }
    if (self->runs)
        return sv_refuse("SamovarRuntimeError", "a step cannot be changed while it is replayed");
    Py_ssize_t replaced = 0;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        recorded *call = &self->calls[i];
        Py_ssize_t parameters = PyTuple_GET_SIZE(call->kernel->parameters);
        for (Py_ssize_t k = 0; k < parameters; k++)
            if (call->arguments[k] == args[0]) {
                PyObject *old = call->arguments[k];
                call->arguments[k] = Py_NewRef(args[1]);
                Py_DECREF(old);
                drop_prepared(call);
                replaced++;
            }
    }
    if (replaced == 0)
        return sv_refuse("SamovarTypeError", "no call of the step was recorded with this argument");
    Py_RETURN_NONE;
}

/* --- as an object */

static PyObject *step_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":Step", names))
        return NULL;
    return type->tp_alloc(type, 0);
}

static int step_traverse(PyObject *object, visitproc visit, void *arg)
{
    step *self = (step *)object;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        recorded *call = &self->calls[i];
        Py_VISIT(call->kernel);
        Py_VISIT(call->prepared.specialization);
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(call->kernel->parameters); k++)
            Py_VISIT(call->arguments[k]);
        if (call->prepared.snapshot != NULL) {
            int stopped = sv_snapshot_traverse(call->prepared.snapshot, visit, arg);
            if (stopped)
                return stopped;
        }
    }
    return 0;
}

static int step_clear(PyObject *object)
{
    step *self = (step *)object;
    recorded *calls = self->calls;
    Py_ssize_t count = self->count;
    self->calls = NULL;
    self->count = self->capacity = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        drop(&calls[i]);
    PyMem_Free(calls);
    return 0;
}

static void step_dealloc(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    if (((step *)object)->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    step_clear(object);
    Py_TYPE(object)->tp_free(object);
}

static Py_ssize_t step_length(PyObject *object)
{
    return ((step *)object)->count;
}

static PyObject *step_repr(PyObject *object)
{
    return PyUnicode_FromFormat("<samovar step of %zd calls>", ((step *)object)->count);
}

/* A pickle of a step has its calls; the other side looks them up when it replays them. */
static PyObject *step_reduce(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    const step *self = (step *)object;
    PyObject *module = PyImport_ImportModule("samovar._native");
    PyObject *rebuild = module == NULL ? NULL : PyObject_GetAttrString(module, "rebuild_step");
    PyObject *calls = rebuild == NULL ? NULL : PyTuple_New(self->count);
    for (Py_ssize_t i = 0; calls != NULL && i < self->count; i++) {
        const recorded *call = &self->calls[i];
        Py_ssize_t count = PyTuple_GET_SIZE(call->kernel->parameters);
        PyObject *arguments = PyTuple_New(count);
        for (Py_ssize_t k = 0; arguments != NULL && k < count; k++)
            PyTuple_SET_ITEM(arguments, k, Py_NewRef(call->arguments[k]));
        PyObject *pair = arguments == NULL ? NULL : Py_BuildValue("(ON)", call->kernel, arguments);
        if (pair == NULL)
            Py_CLEAR(calls);
        else
            PyTuple_SET_ITEM(calls, i, pair);
    }
    Py_XDECREF(module);
    if (calls == NULL) {
        Py_XDECREF(rebuild);
        return NULL;
    }
    return Py_BuildValue("N(N)", rebuild, calls);
}

static PyObject *rebuild_step(PyObject *Py_UNUSED(module), PyObject *calls)
{
    PyObject *made = PyTuple_CheckExact(calls) ? sv_step_type.tp_alloc(&sv_step_type, 0) : NULL;
    for (Py_ssize_t i = 0; made != NULL && i < PyTuple_GET_SIZE(calls); i++) {
        PyObject *pair = PyTuple_GET_ITEM(calls, i);
        PyObject *kernel = PyTuple_CheckExact(pair) && PyTuple_GET_SIZE(pair) == 2 ? PyTuple_GET_ITEM(pair, 0) : NULL;
        PyObject *arguments = kernel == NULL ? NULL : PyTuple_GET_ITEM(pair, 1);
        bool fits = kernel != NULL && PyObject_TypeCheck(kernel, &sv_kernel_type) && PyTuple_CheckExact(arguments) &&
                    PyTuple_GET_SIZE(arguments) == PyTuple_GET_SIZE(((sv_kernel *)kernel)->parameters);
        step *self = (step *)made;
        recorded call;
        if (fits && new_call(self, (sv_kernel *)kernel, ((PyTupleObject *)arguments)->ob_item, &call))
            self->calls[self->count++] = call;
        else
            Py_CLEAR(made);
    }
    if (made == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "a pickled step has a call that does not fit its kernel");
    return made;
}

static PyMethodDef step_methods[] = {
    {"__reduce__", step_reduce, METH_NOARGS, NULL},
    {"replace", (PyCFunction)(void (*)(void))step_replace, METH_FASTCALL,
     PyDoc_STR("replace($self, array, other, /)\n--\n\nReplace an array that calls were recorded with.")},
    {NULL, NULL, 0, NULL},
};

static PySequenceMethods step_sequence = {.sq_length = step_length};

PyTypeObject sv_step_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.Step",
    .tp_basicsize = sizeof(step),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = PyDoc_STR("Step()\n--\n\nA sequence of recorded kernel calls; calling it launches all of them, in order."),
    .tp_new = step_new,
    .tp_dealloc = step_dealloc,
    .tp_traverse = step_traverse,
    .tp_clear = step_clear,
    .tp_call = step_call,
    .tp_repr = step_repr,
    .tp_methods = step_methods,
    .tp_as_sequence = &step_sequence,
    .tp_weaklistoffset = offsetof(step, weakrefs),
};

static PyObject *begin_recording(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (!Py_IS_TYPE(object, &sv_step_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a Step");
        return NULL;
    }
    if (sv_recording != NULL)
        return sv_refuse("SamovarRuntimeError", "a recording is already in progress");
    recording_thread = PyThread_get_thread_ident();
    sv_recording = Py_NewRef(object);
    sv_set_hook(SV_HOOK_RECORDING, true);
    Py_RETURN_NONE;
}

static PyObject *end_recording(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    sv_set_hook(SV_HOOK_RECORDING, false);
    Py_CLEAR(sv_recording);
    Py_RETURN_NONE;
}

static PyMethodDef recording_functions[] = {
    {"begin_recording", begin_recording, METH_O,
     PyDoc_STR("begin_recording(step, /)\n--\n\nRecord kernel calls of this thread in a step instead of launching them.")},
    {"end_recording", end_recording, METH_NOARGS, PyDoc_STR("end_recording()\n--\n\nStop recording kernel calls.")},
    {"rebuild_step", rebuild_step, METH_O, PyDoc_STR("rebuild_step(calls, /)\n--\n\nRebuild a pickled Step.")},
    {NULL, NULL, 0, NULL},
};

int sv_recording_init(PyObject *module)
{
    return PyModule_AddType(module, &sv_step_type) < 0 ? -1 : PyModule_AddFunctions(module, recording_functions);
}
