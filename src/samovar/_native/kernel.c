/* The Kernel object: a callable that behaves like the function it was made from, as an attribute, a method, a pickle, a node
   of the garbage collector. What a call does is in launcher.c. */
#include "runtime.h"

#include <string.h>
#include <structmember.h>

/* --- the list of specialisations */

static int index_of(const sv_kernel *self, const sv_specialisation *specialisation)
{
    for (int i = 0; i < self->count; i++)
        if (self->specialisations[i] == specialisation)
            return i;
    return -1;
}

int sv_kernel_insert(sv_kernel *self, sv_specialisation *specialisation)
{
    int place = index_of(self, specialisation);
    if (place < 0) {
        if (self->count == self->capacity) {
            int capacity = self->capacity == 0 ? 4 : self->capacity * 2;
            void *grown = PyMem_Realloc(self->specialisations, sizeof *self->specialisations * (size_t)capacity);
            if (grown == NULL) {
                PyErr_NoMemory();
                return -1;
            }
            self->specialisations = grown;
            self->capacity = capacity;
        }
        place = self->count++;
        Py_INCREF(specialisation);
    }
    memmove(self->specialisations + 1, self->specialisations, sizeof *self->specialisations * (size_t)place);
    self->specialisations[0] = specialisation;
    return 0;
}

static PyObject *kernel_insert(PyObject *object, PyObject *specialisation)
{
    if (!PyObject_TypeCheck(specialisation, &sv_specialisation_type)) {
        PyErr_Format(PyExc_TypeError, "expected a Specialisation, not %s", Py_TYPE(specialisation)->tp_name);
        return NULL;
    }
    if (sv_kernel_insert((sv_kernel *)object, (sv_specialisation *)specialisation) < 0)
        return NULL;
    Py_RETURN_NONE;
}

bool sv_kernel_remove(sv_kernel *self, sv_specialisation *specialisation)
{
    int place = index_of(self, specialisation);
    if (place < 0)
        return false;
    self->count--;
    memmove(self->specialisations + place, self->specialisations + place + 1,
            sizeof *self->specialisations * (size_t)(self->count - place));
    Py_DECREF(specialisation);
    return true;
}

static PyObject *kernel_remove(PyObject *object, PyObject *specialisation)
{
    if (!sv_kernel_remove((sv_kernel *)object, (sv_specialisation *)specialisation)) {
        PyErr_SetString(PyExc_ValueError, "the kernel does not have this specialisation");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Python may run here, so the list is empty before the first reference goes. */
static void drop_specialisations(sv_kernel *self)
{
    sv_specialisation **old = self->specialisations;
    int count = self->count;
    self->specialisations = NULL;
    self->count = self->capacity = 0;
    self->epoch++;
    for (int i = 0; i < count; i++)
        Py_DECREF(old[i]);
    PyMem_Free(old);
}

static PyObject *kernel_clear_specialisations(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    drop_specialisations((sv_kernel *)self);
    Py_RETURN_NONE;
}

static PyObject *kernel_get_specialisations(PyObject *object, void *Py_UNUSED(closure))
{
    sv_kernel *self = (sv_kernel *)object;
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < self->count; i++)
        if (PyList_Append(list, (PyObject *)self->specialisations[i]) < 0)
            Py_CLEAR(list);
    return list;
}

/* --- making one */

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

/* The attributes of the function become the kernel's own, as functools.update_wrapper does it. */
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

/* What the markers `/` and `*` say, where the parameters are those of the function. */
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
    PyObject_GC_UnTrack(self); /* nobody finds it before it is complete */
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

/* A class made in Python loses these flags on 3.10 and 3.11, and with them the fast call. They hold as long as the class
   does not define __call__ or __get__ itself. */
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
    Py_VISIT(self->seen);
    for (Py_ssize_t i = 0; self->defaults != NULL && i < PyTuple_GET_SIZE(self->parameters); i++)
        Py_VISIT(self->defaults[i]);
    for (int i = 0; i < self->count; i++)
        Py_VISIT(self->specialisations[i]);
    return 0;
}

/* A cleared kernel may still be called by a finaliser: it keeps its function and parameters, which lead to no cycle alone. */
static int kernel_clear(PyObject *object)
{
    sv_kernel *self = (sv_kernel *)object;
    drop_specialisations(self);
    Py_CLEAR(self->dict);
    for (Py_ssize_t i = 0; self->defaults != NULL && i < PyTuple_GET_SIZE(self->parameters); i++)
        Py_CLEAR(self->defaults[i]);
    Py_CLEAR(self->resolve);
    Py_CLEAR(self->seen);
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

/* What the kernel has in its dictionary: 1 and a new reference, 0, or -1 with an exception. */
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

/* The same for a string; 0 if it is none. */
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

/* The signature of the function, unless one was assigned. `inspect` is only loaded by who asks. */
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

/* resume_at(label, arguments…): as a call, from a checkpoint on. */
static PyObject *kernel_resume_at(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "resume_at() needs the label of a checkpoint");
        return NULL;
    }
    return sv_kernel_resume((sv_kernel *)self, args + 1, count - 1, keywords, args[0]);
}

static PyMethodDef kernel_methods[] = {
    {"insert", kernel_insert, METH_O, PyDoc_STR("insert($self, specialisation, /)\n--\n\nTry this specialisation first.")},
    {"remove", kernel_remove, METH_O, PyDoc_STR("remove($self, specialisation, /)\n--\n\nForget one specialisation.")},
    {"clear", kernel_clear_specialisations, METH_NOARGS, PyDoc_STR("clear($self, /)\n--\n\nForget all specialisations.")},
    {"resume_at", (PyCFunction)(void (*)(void))kernel_resume_at, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("resume_at($self, label, /, *arguments, **keywords)\n--\n\nLaunch from the checkpoint with this label on.")},
    {"__reduce__", kernel_reduce, METH_NOARGS, NULL},
    {"__copy__", kernel_copy, METH_NOARGS, NULL},
    {"__deepcopy__", kernel_copy, METH_O, NULL},
    {"__init_subclass__", (PyCFunction)(void (*)(void))kernel_init_subclass, METH_CLASS | METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef kernel_members[] = {
    {"parameters", T_OBJECT, offsetof(sv_kernel, parameters), READONLY, "The names of the parameters."},
    {"resolve", T_OBJECT, offsetof(sv_kernel, resolve), READONLY, "What is called when no specialisation matches."},
    {"attempt", T_INT, offsetof(sv_kernel, attempt), READONLY, "How often it was called for this launch: the guards of what it gave did not hold."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef kernel_getset[] = {
    {"specialisations", kernel_get_specialisations, NULL, "The specialisations, most recently used first.", NULL},
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
                        "A callable that runs the first specialisation whose guards hold. Without one, resolve(kernel, arguments)\n"
                        "makes it.\n\n"
                        ">>> from samovar._native import Image, Kernel, Specialisation\n"
                        ">>> from samovar.backends.llvm import ImageParts\n"
                        ">>> parts = ImageParts(b\"\\x31\\xc0\\xc3\", (), ((\"samovar_entry\", 0, 3),))\n"
                        ">>> image = Image.from_flat(parts.flat())\n"
                        ">>> def nothing(): pass\n"
                        ">>> kernel = Kernel(nothing, (), {}, lambda kernel, arguments: Specialisation(image, [], 0, 0))\n"
                        ">>> kernel()\n>>> len(kernel.specialisations)\n1"),
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
    sv_stack_was_used_up();
    Py_RETURN_NONE;
}

static PyMethodDef kernel_functions[] = {
    {"stack_was_used_up", stack_was_used_up, METH_NOARGS,
     PyDoc_STR("stack_was_used_up()\n--\n\n"
               "Until the outermost lookup of this thread has ended, others inside of it are a RecursionError at once.")},
    {NULL, NULL, 0, NULL},
};

int sv_kernel_init(PyObject *module)
{
    if (PyModule_AddType(module, &sv_bound_kernel_type) < 0 || PyModule_AddType(module, &sv_kernel_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, kernel_functions);
}
