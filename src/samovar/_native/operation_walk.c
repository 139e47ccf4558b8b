/* Walking the operations of the IR: each pass does so, most of them several times, and for most operations there is nothing
   to do. What is inside of an operation is asked of Python, of the few that are no plain ones. */
#include "native.h"

/* A list of operations, and which one is next. */
typedef struct {
    PyObject *operations;
    Py_ssize_t next;
} level;

typedef struct {
    PyObject_HEAD
    PyTypeObject *plain; /* the class of operations with nothing inside */
    PyObject *regions;   /* of any other operation, gives what is inside */
    PyObject *last;      /* what was given last, if something may be inside */
    level *levels;
    Py_ssize_t depth, room;
} walk_object;

static PyObject *names_operations;

static int walk_traverse(PyObject *object, visitproc visit, void *arg)
{
    walk_object *self = (walk_object *)object;
    Py_VISIT(self->plain);
    Py_VISIT(self->regions);
    Py_VISIT(self->last);
    for (Py_ssize_t i = 0; i < self->depth; i++)
        Py_VISIT(self->levels[i].operations);
    return 0;
}

static int walk_clear(PyObject *object)
{
    walk_object *self = (walk_object *)object;
    Py_CLEAR(self->plain);
    Py_CLEAR(self->regions);
    Py_CLEAR(self->last);
    while (self->depth > 0)
        Py_DECREF(self->levels[--self->depth].operations);
    return 0;
}

static void walk_dealloc(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    walk_clear(object);
    PyMem_Free(((walk_object *)object)->levels);
    Py_TYPE(object)->tp_free(object);
}

/* Enter a region: a new level with its list. */
static int enter(walk_object *self, PyObject *region)
{
    PyObject *operations = PyObject_GetAttr(region, names_operations);
    if (operations == NULL)
        return -1;
    if (!PyList_Check(operations)) {
        PyErr_Format(PyExc_TypeError, "the operations of a region are a list, not a %s", Py_TYPE(operations)->tp_name);
        Py_DECREF(operations);
        return -1;
    }
    if (self->depth == self->room) {
        Py_ssize_t room = self->room == 0 ? 4 : self->room * 2;
        level *levels = PyMem_Realloc(self->levels, (size_t)room * sizeof *levels);
        if (levels == NULL) {
            Py_DECREF(operations);
            PyErr_NoMemory();
            return -1;
        }
        self->levels = levels;
        self->room = room;
    }
    self->levels[self->depth++] = (level){operations, 0};
    return 0;
}

/* Enter what is inside of the operation that was given last, so that its first region comes first. Only now: who was given it
   may have changed what is inside. */
static int enter_last(walk_object *self)
{
    PyObject *last = self->last;
    self->last = NULL;
    PyObject *inside = PyObject_CallOneArg(self->regions, last); /* Python may run here. */
    Py_DECREF(last);
    if (inside == NULL)
        return -1;
    PyObject *regions = PySequence_Tuple(inside);
    Py_DECREF(inside);
    int status = regions == NULL ? -1 : 0;
    for (Py_ssize_t i = regions == NULL ? 0 : PyTuple_GET_SIZE(regions); status == 0 && i-- > 0;)
        status = enter(self, PyTuple_GET_ITEM(regions, i));
    Py_XDECREF(regions);
    return status;
}

static PyObject *walk_next(PyObject *object)
{
    walk_object *self = (walk_object *)object;
    if (self->last != NULL && enter_last(self) < 0)
        return NULL;
    while (self->depth > 0) {
        level *top = &self->levels[self->depth - 1];
        if (top->next < PyList_GET_SIZE(top->operations)) {
            PyObject *operation = Py_NewRef(PyList_GET_ITEM(top->operations, top->next++));
            if (Py_TYPE(operation) != self->plain)
                self->last = Py_NewRef(operation);
            return operation;
        }
        PyObject *done = top->operations;
        self->depth--;
        Py_DECREF(done);
    }
    return NULL;
}

static PyTypeObject walk_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.OperationWalk",
    .tp_basicsize = sizeof(walk_object),
    .tp_dealloc = walk_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = PyDoc_STR("Every operation of a region, see `walk_operations`."),
    .tp_traverse = walk_traverse,
    .tp_clear = walk_clear,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = walk_next,
};

static PyObject *walk_operations(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 3 || !PyType_Check(arguments[1]) || !PyCallable_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "walk_operations takes a region, a class, and a function");
        return NULL;
    }
    walk_object *self = PyObject_GC_New(walk_object, &walk_type);
    if (self == NULL)
        return NULL;
    self->plain = (PyTypeObject *)Py_NewRef(arguments[1]);
    self->regions = Py_NewRef(arguments[2]);
    self->last = NULL;
    self->levels = NULL;
    self->depth = self->room = 0;
    PyObject_GC_Track((PyObject *)self);
    if (enter(self, arguments[0]) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyMethodDef functions[] = {
    {"walk_operations", (PyCFunction)(void (*)(void))walk_operations, METH_FASTCALL,
     PyDoc_STR("walk_operations(region, plain, regions, /)\n--\n\n"
               "Every operation of a region and of those inside, each before what it contains. Of all that are not of the `plain` class,\n"
               "`regions` gives the regions inside, when the walk goes on.")},
    {NULL, NULL, 0, NULL},
};

int sv_operation_walk_init(PyObject *module)
{
    if (names_operations == NULL && (names_operations = PyUnicode_InternFromString("operations")) == NULL)
        return -1;
    return PyType_Ready(&walk_type) < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
