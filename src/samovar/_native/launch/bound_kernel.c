/* BoundKernel: what `obj.step` evaluates to if `step` is a kernel of the class. As fast to call as a method, with the
   attributes of the kernel, for this object. A call `obj.step(…)` does not create one. */
#include "launch/runtime.h"

#include <string.h>
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *kernel;
    PyObject *self;
    PyObject *weakrefs;
} bound_kernel;

enum { STACK_ARGUMENTS = 32 };

/* Call a function with the object prepended to the arguments. */
static PyObject *call_with_self(PyObject *callable, PyObject *self, PyObject *const *args, Py_ssize_t positional, PyObject *keywords)
{
    Py_ssize_t total = positional + (keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords));
    PyObject *stack[STACK_ARGUMENTS], **all = stack;
    if (total + 1 > STACK_ARGUMENTS && (all = PyMem_Malloc(sizeof *all * ((size_t)total + 1))) == NULL)
        return PyErr_NoMemory();
    all[0] = self;
    if (total > 0)
        memcpy(all + 1, args, sizeof *all * (size_t)total);
    PyObject *result = PyObject_Vectorcall(callable, all, (size_t)positional + 1, keywords);
    if (all != stack)
        PyMem_Free(all);
    return result;
}

/* A caller may leave a free slot before the arguments, as it does for methods. */
static PyObject *bound_vectorcall(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *keywords)
{
    bound_kernel *bound = (bound_kernel *)object;
    Py_ssize_t positional = PyVectorcall_NARGS(nargsf);
    if (!(nargsf & PY_VECTORCALL_ARGUMENTS_OFFSET))
        return call_with_self(bound->kernel, bound->self, args, positional, keywords);
    PyObject **lent = (PyObject **)args - 1, *before = lent[0];
    lent[0] = bound->self;
    PyObject *result = ((sv_kernel *)bound->kernel)->vectorcall(bound->kernel, lent, (size_t)positional + 1, keywords);
    lent[0] = before;
    return result;
}

PyObject *sv_bound_kernel_new(PyObject *kernel, PyObject *self)
{
    bound_kernel *made = PyObject_GC_New(bound_kernel, &sv_bound_kernel_type);
    if (made == NULL)
        return NULL;
    made->vectorcall = bound_vectorcall;
    made->kernel = Py_NewRef(kernel);
    made->self = Py_NewRef(self);
    made->weakrefs = NULL;
    PyObject_GC_Track(made);
    return (PyObject *)made;
}

static void bound_dealloc(PyObject *object)
{
    bound_kernel *bound = (bound_kernel *)object;
    PyObject_GC_UnTrack(object);
    if (bound->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    Py_DECREF(bound->kernel);
    Py_DECREF(bound->self);
    PyObject_GC_Del(object);
}

static int bound_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(((bound_kernel *)object)->kernel);
    Py_VISIT(((bound_kernel *)object)->self);
    return 0;
}

/* --- methods of kernels */

static PyObject *call_method(PyObject *object, const char *name, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    bound_kernel *bound = (bound_kernel *)object;
    PyObject *method = PyObject_GetAttrString(bound->kernel, name);
    if (method == NULL)
        return NULL;
    PyObject *result = call_with_self(method, bound->self, args, count, keywords);
    Py_DECREF(method);
    return result;
}

static PyObject *bound_precompile(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    return call_method(object, "precompile", args, count, keywords);
}

static PyObject *bound_resume(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    return call_method(object, "resume", args, count, keywords);
}

/* inspect(stage, …): for this object and the other arguments; without arguments, for the last launch if the kernel needs
   some. */
static PyObject *bound_inspect(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    bound_kernel *bound = (bound_kernel *)object;
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "inspect() needs a stage");
        return NULL;
    }
    PyObject *inspect = PyObject_GetAttrString(bound->kernel, "inspect");
    if (inspect == NULL)
        return NULL;
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords), total = count + named;
    bool needs_more = PyTuple_GET_SIZE(((sv_kernel *)bound->kernel)->parameters) > 1;
    PyObject *result = NULL;
    if (count == 1 && named == 0 && needs_more) {
        result = PyObject_CallOneArg(inspect, args[0]);
    } else {
        PyObject **all = PyMem_Malloc(sizeof *all * ((size_t)total + 1));
        if (all == NULL) {
            PyErr_NoMemory();
        } else {
            all[0] = args[0];
            all[1] = bound->self;
            memcpy(all + 2, args + 1, sizeof *all * (size_t)(total - 1));
            result = PyObject_Vectorcall(inspect, all, (size_t)count + 1, keywords);
            PyMem_Free(all);
        }
    }
    Py_DECREF(inspect);
    return result;
}

/* The signature without the parameter for the object. */
static PyObject *bound_get_signature(PyObject *object, void *Py_UNUSED(closure))
{
    PyObject *signature = PyObject_GetAttrString(((bound_kernel *)object)->kernel, "__signature__");
    PyObject *parameters = signature == NULL ? NULL : PyObject_GetAttrString(signature, "parameters");
    PyObject *values = parameters == NULL ? NULL : PyMapping_Values(parameters), *result = NULL;
    if (values != NULL && PyList_SetSlice(values, 0, 1, NULL) == 0) {
        PyObject *replace = PyObject_GetAttrString(signature, "replace");
        PyObject *names = Py_BuildValue("{s:O}", "parameters", values), *nothing = PyTuple_New(0);
        if (replace != NULL && names != NULL && nothing != NULL)
            result = PyObject_Call(replace, nothing, names);
        Py_XDECREF(replace);
        Py_XDECREF(names);
        Py_XDECREF(nothing);
    }
    Py_XDECREF(values);
    Py_XDECREF(parameters);
    Py_XDECREF(signature);
    return result;
}

static PyObject *bound_get_doc(PyObject *object, void *Py_UNUSED(closure))
{
    return PyObject_GetAttrString(((bound_kernel *)object)->kernel, "__doc__");
}

/* All other attributes are the kernel's: its name, `explain`, `cache_observations`. Its reverse is for the same object. */
static PyObject *bound_getattro(PyObject *object, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(object, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    PyErr_Clear();
    found = PyObject_GetAttr(((bound_kernel *)object)->kernel, name);
    if (found == NULL || PyUnicode_CompareWithASCIIString(name, "grad") != 0)
        return found;
    PyObject *bound = sv_bound_kernel_new(found, ((bound_kernel *)object)->self);
    Py_DECREF(found);
    return bound;
}

/* --- as an object */

static PyObject *bound_repr(PyObject *object)
{
    bound_kernel *bound = (bound_kernel *)object;
    PyObject *path = sv_kernel_path((sv_kernel *)bound->kernel);
    PyObject *text = path == NULL ? NULL : PyUnicode_FromFormat("<samovar kernel %U of %R>", path, bound->self);
    Py_XDECREF(path);
    return text;
}

static PyObject *bound_compare(PyObject *object, PyObject *other, int operation)
{
    if ((operation != Py_EQ && operation != Py_NE) || !Py_IS_TYPE(other, &sv_bound_kernel_type))
        Py_RETURN_NOTIMPLEMENTED;
    bound_kernel *a = (bound_kernel *)object, *b = (bound_kernel *)other;
    bool same = a->self == b->self && a->kernel == b->kernel;
    return PyBool_FromLong(same == (operation == Py_EQ));
}

static Py_hash_t bound_hash(PyObject *object)
{
    bound_kernel *bound = (bound_kernel *)object;
    Py_hash_t hash = (Py_hash_t)(((uintptr_t)bound->self >> 4) * 31 + ((uintptr_t)bound->kernel >> 4));
    return hash == -1 ? -2 : hash;
}

/* Pickled as an attribute of its object, like a method. */
static PyObject *bound_reduce(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    bound_kernel *bound = (bound_kernel *)object;
    PyObject *builtins = PyImport_ImportModule("builtins");
    PyObject *get = builtins == NULL ? NULL : PyObject_GetAttrString(builtins, "getattr");
    PyObject *name = get == NULL ? NULL : PyObject_GetAttrString(bound->kernel, "__name__");
    PyObject *result = name == NULL ? NULL : Py_BuildValue("O(OO)", get, bound->self, name);
    Py_XDECREF(name);
    Py_XDECREF(get);
    Py_XDECREF(builtins);
    return result;
}

static PyMethodDef bound_methods[] = {
    {"precompile", (PyCFunction)(void (*)(void))bound_precompile, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("precompile($self, /, *arguments, **keywords)\n--\n\nCompile for this object and these arguments.")},
    {"resume", (PyCFunction)(void (*)(void))bound_resume, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("resume($self, /, *arguments, from_checkpoint, **keywords)\n--\n\nLaunch for this object, starting at a checkpoint.")},
    {"inspect", (PyCFunction)(void (*)(void))bound_inspect, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("inspect($self, stage, /, *arguments, **keywords)\n--\n\nA stage of the kernel as text.")},
    {"__reduce__", bound_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef bound_members[] = {
    {"__func__", T_OBJECT, offsetof(bound_kernel, kernel), READONLY, "The kernel."},
    {"__self__", T_OBJECT, offsetof(bound_kernel, self), READONLY, "The object."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef bound_getset[] = {
    {"__signature__", bound_get_signature, NULL, "The signature without the object.", NULL},
    {"__doc__", bound_get_doc, NULL, "That of the kernel.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* Already bound. Because of this slot, `help` treats it as a routine. */
static PyObject *bound_get(PyObject *self, PyObject *Py_UNUSED(instance), PyObject *Py_UNUSED(owner))
{
    return Py_NewRef(self);
}

PyTypeObject sv_bound_kernel_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.BoundKernel",
    .tp_basicsize = sizeof(bound_kernel),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_dealloc = bound_dealloc,
    .tp_traverse = bound_traverse,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(bound_kernel, vectorcall),
    .tp_getattro = bound_getattro,
    .tp_descr_get = bound_get,
    .tp_repr = bound_repr,
    .tp_richcompare = bound_compare,
    .tp_hash = bound_hash,
    .tp_methods = bound_methods,
    .tp_members = bound_members,
    .tp_getset = bound_getset,
    .tp_weaklistoffset = offsetof(bound_kernel, weakrefs),
};
