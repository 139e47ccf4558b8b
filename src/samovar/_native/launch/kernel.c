/* The Kernel object: a callable that behaves like the function it wraps: as an attribute, a method, a pickle, and for the
   garbage collector. Calls are implemented in launcher.c. */
#include "launch/runtime.h"

#include <string.h>
#include <structmember.h>

/* --- the list of specializations */

static int index_of(const sv_kernel *self, const sv_specialization *specialization)
{
    for (int i = 0; i < self->count; i++)
        if (self->specializations[i] == specialization)
            return i;
    return -1;
}

int sv_kernel_insert(sv_kernel *self, sv_specialization *specialization)
{
    int place = index_of(self, specialization);
    if (place < 0) {
        if (self->count == self->capacity) {
            int capacity = self->capacity == 0 ? 4 : self->capacity * 2;
            void *grown = PyMem_Realloc(self->specializations, sizeof *self->specializations * (size_t)capacity);
            if (grown == NULL) {
                PyErr_NoMemory();
                return -1;
            }
            self->specializations = grown;
            self->capacity = capacity;
        }
        place = self->count++;
        Py_INCREF(specialization);
    }
    memmove(self->specializations + 1, self->specializations, sizeof *self->specializations * (size_t)place);
    self->specializations[0] = specialization;
    return 0;
}

static PyObject *kernel_insert(PyObject *object, PyObject *specialization)
{
    if (!PyObject_TypeCheck(specialization, &sv_specialization_type)) {
        PyErr_Format(PyExc_TypeError, "expected a Specialization, not %s", Py_TYPE(specialization)->tp_name);
        return NULL;
    }
    if (sv_kernel_insert((sv_kernel *)object, (sv_specialization *)specialization) < 0)
        return NULL;
    Py_RETURN_NONE;
}

bool sv_kernel_remove(sv_kernel *self, sv_specialization *specialization)
{
    int place = index_of(self, specialization);
    if (place < 0)
        return false;
    self->count--;
    memmove(self->specializations + place, self->specializations + place + 1,
            sizeof *self->specializations * (size_t)(self->count - place));
    Py_DECREF(specialization);
    return true;
}

static PyObject *kernel_remove(PyObject *object, PyObject *specialization)
{
    if (!sv_kernel_remove((sv_kernel *)object, (sv_specialization *)specialization)) {
        PyErr_SetString(PyExc_ValueError, "the kernel does not have this specialization");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Python may run here, so the list is emptied before the first reference is dropped. */
static void drop_specializations(sv_kernel *self)
{
    sv_specialization **old = self->specializations;
    int count = self->count;
    self->specializations = NULL;
    self->count = self->capacity = 0;
    self->epoch++;
    for (int i = 0; i < count; i++)
        Py_DECREF(old[i]);
    PyMem_Free(old);
}

static PyObject *kernel_clear_specializations(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    drop_specializations((sv_kernel *)self);
    Py_RETURN_NONE;
}

static PyObject *kernel_get_specializations(PyObject *object, void *Py_UNUSED(closure))
{
    sv_kernel *self = (sv_kernel *)object;
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < self->count; i++)
        if (PyList_Append(list, (PyObject *)self->specializations[i]) < 0)
            Py_CLEAR(list);
    return list;
}

/* --- creation */

static int take_parameters(sv_kernel *self, PyObject *parameters, PyObject *defaults)
{
    Py_ssize_t count = PyTuple_GET_SIZE(parameters);
    self->parameters = PyTuple_New(count);
    if (self->parameters == NULL)
        return -1;
    self->defaults = PyMem_Calloc((size_t)count + 1, sizeof *self->defaults);
    if (self->defaults == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(parameters, i);
        if (!PyUnicode_CheckExact(name)) {
            PyErr_SetString(PyExc_TypeError, "parameters must be names");
            return -1;
        }
        Py_INCREF(name);
        PyUnicode_InternInPlace(&name);
        PyTuple_SET_ITEM(self->parameters, i, name);
        self->defaults[i] = Py_XNewRef(PyDict_GetItemWithError(defaults, name)); /* Python may run here. */
        if (self->defaults[i] == NULL && PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* Copy the attributes of the function, as functools.update_wrapper does. */
static int take_attributes(sv_kernel *self)
{
    static const char *const names[] = {"__module__", "__name__", "__qualname__", "__doc__", "__annotations__"};
    self->dict = PyDict_New();
    if (self->dict == NULL)
        return -1;
    PyObject *attributes = PyObject_GetAttrString(self->function, "__dict__"); /* Python may run here. */
    if (attributes != NULL) {
        int updated = PyDict_Update(self->dict, attributes);
        Py_DECREF(attributes);
        if (updated < 0)
            return -1;
    } else if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
    } else {
        return -1;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PyObject *value = PyObject_GetAttrString(self->function, names[i]); /* Python may run here. */
        if (value == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError))
                return -1;
            PyErr_Clear();
            continue;
        }
        int stored = PyDict_SetItemString(self->dict, names[i], value);
        Py_DECREF(value);
        if (stored < 0)
            return -1;
    }
    return PyDict_SetItemString(self->dict, "__wrapped__", self->function);
}

/* Read the markers `/` and `*`, if the parameters are those of the function. */
static void take_markers(sv_kernel *self)
{
    if (!PyFunction_Check(self->function))
        return;
    const PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(self->function);
    if (code->co_argcount + code->co_kwonlyargcount != PyTuple_GET_SIZE(self->parameters))
        return;
    self->positional_only = code->co_posonlyargcount;
    self->keyword_only = code->co_kwonlyargcount;
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function", "parameters", "defaults", "resolve", NULL};
    PyObject *function, *parameters, *defaults, *resolve;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!O:Kernel", names, &function, &PyTuple_Type, &parameters, &PyDict_Type,
                                     &defaults, &resolve))
        return NULL;
    if (!PyCallable_Check(resolve)) {
        PyErr_SetString(PyExc_TypeError, "resolve must be callable");
        return NULL;
    }
    sv_kernel *self = (sv_kernel *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    PyObject_GC_UnTrack(self); /* not reachable before it is complete */
    self->vectorcall = sv_kernel_vectorcall;
    self->function = Py_NewRef(function);
    self->resolve = Py_NewRef(resolve);
    if (take_parameters(self, parameters, defaults) < 0 || take_attributes(self) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    take_markers(self);
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

/* On 3.10 and 3.11, classes created in Python lose these flags, and with them the fast call. They are valid as long as the
   class does not define __call__ or __get__ itself. */
static PyObject *kernel_init_subclass(PyObject *class, PyObject *args, PyObject *kwargs)
{
    if (PyTuple_GET_SIZE(args) > 0 || (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0)) {
        PyErr_SetString(PyExc_TypeError, "__init_subclass__() takes no arguments");
        return NULL;
    }
    PyTypeObject *type = (PyTypeObject *)class;
    if (type->tp_call == sv_kernel_type.tp_call)
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    if (type->tp_descr_get == sv_kernel_type.tp_descr_get)
        type->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
    PyType_Modified(type);
    Py_RETURN_NONE;
}

/* --- the object protocol */

static int kernel_traverse(PyObject *object, visitproc visit, void *arg)
{
    sv_kernel *self = (sv_kernel *)object;
    Py_VISIT(self->function);
    Py_VISIT(self->parameters);
    Py_VISIT(self->resolve);
    Py_VISIT(self->dict);
    Py_VISIT(self->profiled);
    for (Py_ssize_t i = 0; self->defaults != NULL && i < PyTuple_GET_SIZE(self->parameters); i++)
        Py_VISIT(self->defaults[i]);
    for (int i = 0; i < self->count; i++)
        Py_VISIT(self->specializations[i]);
    return 0;
}

/* A finalizer may still call a cleared kernel: it keeps its function and parameters, which alone form no cycle. */
static int kernel_clear(PyObject *object)
{
    sv_kernel *self = (sv_kernel *)object;
    drop_specializations(self);
    Py_CLEAR(self->dict);
    for (Py_ssize_t i = 0; self->defaults != NULL && i < PyTuple_GET_SIZE(self->parameters); i++)
        Py_CLEAR(self->defaults[i]);
    Py_CLEAR(self->resolve);
    Py_CLEAR(self->profiled);
    Py_CLEAR(self->function);
    return 0;
}

static void kernel_dealloc(PyObject *object)
{
    sv_kernel *self = (sv_kernel *)object;
    PyObject_GC_UnTrack(object);
    if (self->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    kernel_clear(object);
    PyMem_Free(self->defaults);
    Py_CLEAR(self->parameters);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *kernel_descr_get(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(owner))
{
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : sv_bound_kernel_new(self, instance);
}

/* Look a name up in the kernel's dictionary: 1 and a new reference, 0, or -1 with an exception. */
static int own_attribute(sv_kernel *self, const char *name, PyObject **value)
{
    *value = NULL;
    if (self->dict == NULL)
        return 0;
    PyObject *dict = Py_NewRef(self->dict), *key = PyUnicode_InternFromString(name);
    int found = key == NULL ? -1 : sv_load_name(dict, key, value); /* Python may run here. */
    Py_XDECREF(key);
    Py_DECREF(dict);
    return found;
}

/* The same for a string; 0 if it is not one. */
static int own_text(sv_kernel *self, const char *name, PyObject **text)
{
    int found = own_attribute(self, name, text);
    if (found == 1 && !PyUnicode_Check(*text)) {
        Py_CLEAR(*text);
        return 0;
    }
    return found;
}

int sv_kernel_name(sv_kernel *self, PyObject **name)
{
    return own_text(self, "__qualname__", name);
}

PyObject *sv_kernel_path(sv_kernel *self)
{
    PyObject *name, *module, *path = NULL;
    int found = sv_kernel_name(self, &name);
    if (found == 0)
        return PyUnicode_FromString("kernel");
    if (found < 0)
        return NULL;
    found = own_text(self, "__module__", &module);
    if (found >= 0)
        path = found == 0 ? Py_NewRef(name) : PyUnicode_FromFormat("%U.%U", module, name);
    Py_DECREF(name);
    Py_XDECREF(module);
    return path;
}

static PyObject *kernel_repr(PyObject *object)
{
    PyObject *path = sv_kernel_path((sv_kernel *)object);
    if (path == NULL)
        return NULL;
    PyObject *text = PyUnicode_FromFormat("<samovar kernel %U>", path);
    Py_DECREF(path);
    return text;
}

/* Pickled by name, as a function is. */
static PyObject *kernel_reduce(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    PyObject *name;
    if (sv_kernel_name((sv_kernel *)object, &name) == 0)
        PyErr_SetString(PyExc_AttributeError, "the kernel has no __qualname__ to pickle it by");
    return name;
}

static PyObject *kernel_copy(PyObject *self, PyObject *Py_UNUSED(memo))
{
    return Py_NewRef(self);
}

/* The signature of the function, unless one was assigned. `inspect` is only imported on access. */
static PyObject *kernel_get_signature(PyObject *object, void *Py_UNUSED(closure))
{
    sv_kernel *self = (sv_kernel *)object;
    PyObject *assigned;
    if (own_attribute(self, "__signature__", &assigned) != 0)
        return assigned;
    PyObject *inspect = PyImport_ImportModule("inspect");
    if (inspect == NULL)
        return NULL;
    PyObject *signature = PyObject_CallMethod(inspect, "signature", "O", self->function);
    Py_DECREF(inspect);
    return signature;
}

static int kernel_set_signature(PyObject *object, PyObject *value, void *Py_UNUSED(closure))
{
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    if (dict == NULL)
        return -1;
    int result = value == NULL ? PyDict_DelItemString(dict, "__signature__") : PyDict_SetItemString(dict, "__signature__", value);
    Py_DECREF(dict);
    return result;
}

/* resume_at(label, arguments…): like a call, starting at a checkpoint. */
static PyObject *kernel_resume_at(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "resume_at() needs the label of a checkpoint");
        return NULL;
    }
    return sv_kernel_resume((sv_kernel *)self, args + 1, count - 1, keywords, args[0]);
}

/* find(arguments): the specialization that a launch would run, made if there is none. */
static PyObject *kernel_find(PyObject *self, PyObject *arguments)
{
    sv_kernel *kernel = (sv_kernel *)self;
    if (!PyTuple_Check(arguments) || PyTuple_GET_SIZE(arguments) != PyTuple_GET_SIZE(kernel->parameters)) {
        PyErr_SetString(PyExc_TypeError, "find() needs a tuple with an argument for each parameter");
        return NULL;
    }
    sv_prepared found = {0};
    if (sv_kernel_prepare(kernel, &PyTuple_GET_ITEM(arguments, 0), &found) < 0) /* Python may run here. */
        return NULL;
    sv_snapshot_release(found.snapshot);
    return (PyObject *)found.specialization;
}

static PyMethodDef kernel_methods[] = {
    {"find", kernel_find, METH_O,
     PyDoc_STR("find($self, arguments, /)\n--\n\nReturn the specialization that a launch with these arguments runs; compile it if needed.")},
    {"insert", kernel_insert, METH_O, PyDoc_STR("insert($self, specialization, /)\n--\n\nAdd a specialization, to be tried first.")},
    {"remove", kernel_remove, METH_O, PyDoc_STR("remove($self, specialization, /)\n--\n\nRemove one specialization.")},
    {"clear", kernel_clear_specializations, METH_NOARGS, PyDoc_STR("clear($self, /)\n--\n\nRemove all specializations.")},
    {"resume_at", (PyCFunction)(void (*)(void))kernel_resume_at, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("resume_at($self, label, /, *arguments, **keywords)\n--\n\nLaunch, starting at the checkpoint with this label.")},
    {"__reduce__", kernel_reduce, METH_NOARGS, NULL},
    {"__copy__", kernel_copy, METH_NOARGS, NULL},
    {"__deepcopy__", kernel_copy, METH_O, NULL},
    {"__init_subclass__", (PyCFunction)(void (*)(void))kernel_init_subclass, METH_CLASS | METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef kernel_members[] = {
    {"parameters", T_OBJECT, offsetof(sv_kernel, parameters), READONLY, "The names of the parameters."},
    {"resolve", T_OBJECT, offsetof(sv_kernel, resolve), READONLY, "The function called when no specialization matches."},
    {"attempt", T_INT, offsetof(sv_kernel, attempt), READONLY, "How often it was already called for this launch, "
                                                               "because the guards of its result did not hold."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef kernel_getset[] = {
    {"specializations", kernel_get_specializations, NULL, "The specializations, most recently used first.", NULL},
    {"__signature__", kernel_get_signature, kernel_set_signature, "The signature of the function.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject sv_kernel_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.Kernel",
    .tp_basicsize = sizeof(sv_kernel),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_doc = PyDoc_STR("Kernel(function, parameters, defaults, resolve)\n--\n\n"
                        "A callable that runs the first specialization whose guards hold. If there is none, resolve(kernel, arguments)\n"
                        "creates it.\n\n"
                        ">>> from samovar._native import Image, Kernel, Specialization\n"
                        ">>> from samovar.backends.llvm import ImageParts\n"
                        ">>> parts = ImageParts(b\"\\x31\\xc0\\xc3\", (), ((\"samovar_entry\", 0, 3),))\n"
                        ">>> image = Image.from_flat(parts.flat())\n"
                        ">>> def nothing(): pass\n"
                        ">>> kernel = Kernel(nothing, (), {}, lambda kernel, arguments: Specialization(image, [], 0, 0))\n"
                        ">>> kernel()\n>>> len(kernel.specializations)\n1"),
    .tp_new = kernel_new,
    .tp_dealloc = kernel_dealloc,
    .tp_traverse = kernel_traverse,
    .tp_clear = kernel_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(sv_kernel, vectorcall),
    .tp_descr_get = kernel_descr_get,
    .tp_repr = kernel_repr,
    .tp_methods = kernel_methods,
    .tp_members = kernel_members,
    .tp_getset = kernel_getset,
    .tp_dictoffset = offsetof(sv_kernel, dict),
    .tp_weaklistoffset = offsetof(sv_kernel, weakrefs),
};

static PyObject *stack_was_used_up(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    sv_stack_was_exhausted();
    Py_RETURN_NONE;
}

static PyMethodDef kernel_functions[] = {
    {"stack_was_used_up", stack_was_used_up, METH_NOARGS,
     PyDoc_STR("stack_was_used_up()\n--\n\n"
               "Make nested lookups raise RecursionError until the outermost lookup of this thread has ended.")},
    {NULL, NULL, 0, NULL},
};

int sv_kernel_init(PyObject *module)
{
    if (PyModule_AddType(module, &sv_bound_kernel_type) < 0 || PyModule_AddType(module, &sv_kernel_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, kernel_functions);
}
