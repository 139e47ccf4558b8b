/* The base class of lens paths: a step from a parent, immutable, with a cached hash. Traces and guard programs are built
   with dictionaries keyed by path, so hashing and comparison are native; printing is in Python. */
#include "launch/runtime.h"

#include <structmember.h>

typedef struct {
    PyObject_HEAD
    PyObject *parent; /* a path or None */
    PyObject *step;   /* str */
    PyObject *key;
    Py_hash_t hash;
} path;

static Py_hash_t combined(PyObject *parent, PyObject *step, PyObject *key)
{
    PyObject *parts[] = {parent, step, key};
    Py_uhash_t hash = 0x345678u;
    for (int i = 0; i < 3; i++) {
        Py_hash_t one = PyObject_Hash(parts[i]); /* Python may run here. */
        if (one == -1)
            return -1;
        hash = (hash ^ (Py_uhash_t)one) * 1000003u;
    }
    return hash == (Py_uhash_t)-1 ? -2 : (Py_hash_t)hash;
}

static PyObject *path_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"parent", "step", "key", NULL};
    PyObject *parent, *step, *key = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OU|O:Path", names, &parent, &step, &key))
        return NULL;
    if (parent != Py_None && !PyObject_TypeCheck(parent, &sv_path_type)) {
        PyErr_Format(PyExc_TypeError, "the parent of a path must be a path or None, not %s", Py_TYPE(parent)->tp_name);
        return NULL;
    }
    Py_hash_t hash = combined(parent, step, key);
    if (hash == -1)
        return NULL;
    path *self = (path *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->parent = Py_NewRef(parent);
    self->step = Py_NewRef(step);
    self->key = Py_NewRef(key);
    self->hash = hash;
    return (PyObject *)self;
}

/* Instances of subclasses created in Python visit their class themselves; this class is static. */
static int path_traverse(PyObject *object, visitproc visit, void *arg)
{
    path *self = (path *)object;
    Py_VISIT(self->parent);
    Py_VISIT(self->key);
    return 0;
}

static int path_clear(PyObject *object)
{
    path *self = (path *)object;
    Py_CLEAR(self->parent);
    Py_CLEAR(self->step);
    Py_CLEAR(self->key);
    return 0;
}

static void path_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_TRASHCAN_BEGIN(object, path_dealloc)
    path_clear(object);
    type->tp_free(object);
    Py_TRASHCAN_END
}

static Py_hash_t path_hash(PyObject *self)
{
    return ((path *)self)->hash;
}

/* Keys are compared as answers are: d[1] and d[1.0] are different paths. 1, 0, or -1 with an exception. */
static int same_path(const path *left, const path *right)
{
    while (left != right) {
        if (left->hash != right->hash)
            return 0;
        int same = sv_same_value(left->step, right->step); /* Python may run here. Paths are immutable. */
        if (same == 1)
            same = sv_same_value(left->key, right->key);
        if (same != 1)
            return same;
        if (left->parent == Py_None || right->parent == Py_None)
            return left->parent == right->parent;
        left = (const path *)left->parent;
        right = (const path *)right->parent;
    }
    return 1;
}

static PyObject *path_compare(PyObject *left, PyObject *right, int operation)
{
    if ((operation != Py_EQ && operation != Py_NE) || !PyObject_TypeCheck(right, &sv_path_type))
        Py_RETURN_NOTIMPLEMENTED;
    int same = same_path((path *)left, (path *)right);
    return same < 0 ? NULL : PyBool_FromLong(same == (operation == Py_EQ));
}

static PyObject *path_reduce(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    path *self = (path *)object;
    return Py_BuildValue("O(OOO)", Py_TYPE(object), self->parent, self->step, self->key);
}

static PyMethodDef path_methods[] = {
    {"__reduce__", path_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef path_members[] = {
    {"parent", T_OBJECT, offsetof(path, parent), READONLY, "The parent path, or None."},
    {"step", T_OBJECT, offsetof(path, step), READONLY, "The kind of step."},
    {"key", T_OBJECT, offsetof(path, key), READONLY, "The name or key of the step."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject sv_path_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.Path",
    .tp_basicsize = sizeof(path),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = PyDoc_STR("Path(parent, step, key=None)\n--\n\n"
                        "A root, or a step from a parent.\n\n"
                        ">>> from samovar._native import Path\n>>> Path(None, \"parameter\", \"a\").key\n'a'"),
    .tp_new = path_new,
    .tp_dealloc = path_dealloc,
    .tp_traverse = path_traverse,
    .tp_clear = path_clear,
    .tp_hash = path_hash,
    .tp_richcompare = path_compare,
    .tp_methods = path_methods,
    .tp_members = path_members,
};

int sv_path_init(PyObject *module)
{
    return PyModule_AddType(module, &sv_path_type);
}
