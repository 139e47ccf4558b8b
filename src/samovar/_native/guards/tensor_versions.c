/* Tensor versions: torch counts in-place changes of a tensor, so that a backward pass detects that a saved tensor was
   modified. A kernel that writes a tensor counts as such a change. torch is never imported here: if there is a tensor, torch
   is loaded. */
#include "guards/guards.h"
#include "profile/profile.h"

static struct {
    PyTypeObject *tensor; /* torch.Tensor, never released */
    PyObject *increment;  /* increments the version of a tuple of tensors, or of one tensor; NULL if this torch has neither */
    bool takes_tuple;
    bool is_known;
} torch;

/* Find the function that increments versions, once. False with an exception. Python may run here: modules can have computed
   attributes. */
static bool learn(PyObject *module)
{
    PyObject *tensor = PyObject_GetAttrString(module, "Tensor");
    if (tensor == NULL)
        return false;
    PyObject *native = PyObject_GetAttrString(module, "_C"), *increment = NULL, *autograd = NULL, *graph = NULL;
    PyErr_Clear();
    PyObject *public = NULL;
    if (native != NULL)
        increment = PyObject_GetAttrString(native, "_increment_version");
    PyErr_Clear();
    autograd = PyObject_GetAttrString(module, "autograd");
    graph = autograd == NULL ? NULL : PyObject_GetAttrString(autograd, "graph");
    public = graph == NULL ? NULL : PyObject_GetAttrString(graph, "increment_version");
    PyErr_Clear();
    if (increment != NULL) { /* that of an older torch takes one tensor */
        PyObject *nothing = PyTuple_New(0), *done = nothing == NULL ? NULL : PyObject_CallOneArg(increment, nothing);
        torch.takes_tuple = done != NULL;
        Py_XDECREF(nothing);
        Py_XDECREF(done);
        PyErr_Clear();
    }
    if (!torch.takes_tuple)
        Py_XSETREF(increment, Py_XNewRef(public));
    Py_XDECREF(native);
    Py_XDECREF(autograd);
    Py_XDECREF(graph);
    Py_XDECREF(public);
    if (PyType_Check(tensor) && !torch.is_known) {
        torch.tensor = (PyTypeObject *)tensor;
        torch.increment = increment;
        torch.is_known = true;
    } else {
        Py_DECREF(tensor);
        Py_XDECREF(increment);
    }
    return true;
}

static bool has_version(PyObject *object)
{
    if (__builtin_expect(!torch.is_known, 0)) {
        PyObject *modules = PyImport_GetModuleDict(), *module = PyDict_GetItemString(modules, "torch");
        if (module == NULL)
            return false;
        Py_INCREF(module);
        bool learned = learn(module);
        Py_DECREF(module);
        if (!learned || !torch.is_known) {
            PyErr_Clear(); /* torch is being imported, or something else has its name */
            return false;
        }
    }
    return torch.increment != NULL && PyType_IsSubtype(Py_TYPE(object), torch.tensor);
}

/* An error from torch (a tensor created in inference mode has no version) is not an error of the launch. Nor is a lack of
   memory: the kernel has run. */
static void increment(PyObject *object)
{
    PyObject *one = torch.takes_tuple ? PyTuple_Pack(1, object) : Py_NewRef(object);
    PyObject *done = one == NULL ? NULL : PyObject_CallOneArg(torch.increment, one); /* Python may run here. */
    Py_XDECREF(one);
    Py_XDECREF(done);
    if (done == NULL)
        PyErr_Clear();
}

void sv_version_increment(PyObject *object)
{
    if (sv_array_check(object)) {
        if (sv_has_hook(SV_HOOK_TAPE))
            sv_tape_written(sv_array_base((sv_array *)object));
        return;
    }
    if (sv_is_numpy_array(object))
        return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (has_version(object))
        increment(object);
    PyErr_Restore(type, value, traceback);
}

void sv_versions_increment(const sv_program *program, const sv_registers *state)
{
    for (Py_ssize_t i = 0; i < program->count; i++) {
        const sv_instruction *one = &program->instructions[i];
        if (one->operation != SV_GUARD_TENSOR || one->tensor.mask != ~0u)
            continue;
        if (state->registers[one->source] != NULL)
            sv_version_increment(state->registers[one->source]);
    }
}
