/* Specialization: code, its guard program, and the conversion of its results, prints and failures to Python. */
#include "launch/runtime.h"

#include <string.h>
#include <structmember.h>

/* A sequence as a tuple, which cannot change while Python runs; each item must be a tuple of `width` items, if that is not
   0. NULL with an exception. */
static PyObject *as_tuple(PyObject *sequence, Py_ssize_t items, const char *message)
{
    PyObject *tuple = PySequence_Tuple(sequence);
    for (Py_ssize_t i = 0; tuple != NULL && items > 0 && i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != items) {
            PyErr_SetString(PyExc_TypeError, message);
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

static int take_task(sv_specialization *self, Py_ssize_t place, PyObject *item)
{
    PyObject *name;
    float cost;
    unsigned char flags;
    if (!PyArg_ParseTuple(item, "Ufb:task", &name, &cost, &flags)) /* Python may run here. */
        return -1;
    if (!(cost >= 0)) {
        PyErr_SetString(PyExc_ValueError, "the cost of a task must be a number of nanoseconds");
        return -1;
    }
    atomic_init(&self->tasks[place].cost, cost);
    atomic_init(&self->tasks[place].runs, 0);
    self->tasks[place].flags = flags;
    PyTuple_SET_ITEM(self->task_names, place, Py_NewRef(name));
    return 0;
}

static int take_tasks(sv_specialization *self, PyObject *tasks)
{
    PyObject *tuple = tasks == NULL ? PyTuple_New(0) : as_tuple(tasks, 3, "tasks must be a sequence of (name, cost, flags)");
    if (tuple == NULL)
        return -1;
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    int result = 0;
    self->tasks = PyMem_Calloc((size_t)count + 1, sizeof *self->tasks);
    self->task_names = PyTuple_New(count);
    if (self->tasks == NULL || self->task_names == NULL) {
        PyErr_NoMemory();
        result = -1;
    } else {
        self->tasks[count].flags = SV_TASK_SERIAL | SV_TASK_SPEAKS | SV_TASK_COST_UNKNOWN; /* see sv_task_of */
    }
    for (Py_ssize_t i = 0; result == 0 && i < count; i++)
        result = take_task(self, i, PyTuple_GET_ITEM(tuple, i));
    if (result == 0)
        self->task_count = (int)count;
    Py_DECREF(tuple);
    return result;
}

static int take_site(uint16_t *place, PyObject *item)
{
    Py_ssize_t values = PyNumber_AsSsize_t(item, PyExc_ValueError); /* Python may run here. */
    if (values == -1 && PyErr_Occurred())
        return -1;
    if (values < 0 || values > SV_SITE_VALUES) {
        PyErr_Format(PyExc_ValueError, "a print or an assertion has at most %d values, not %zd", SV_SITE_VALUES, values);
        return -1;
    }
    *place = (uint16_t)values;
    return 0;
}

static int take_sites(sv_specialization *self, PyObject *sites)
{
    PyObject *tuple = as_tuple(sites, 0, NULL);
    if (tuple == NULL)
        return -1;
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    int result = 0;
    self->site_values = PyMem_Calloc((size_t)count + 1, sizeof *self->site_values);
    if (self->site_values == NULL) {
        PyErr_NoMemory();
        result = -1;
    }
    for (Py_ssize_t i = 0; result == 0 && i < count; i++)
        result = take_site(&self->site_values[i], PyTuple_GET_ITEM(tuple, i));
    if (result == 0)
        self->site_count = (int)count;
    Py_DECREF(tuple);
    return result;
}

/* (offset of the number of a checkpoint in the block, or -1; their labels; a status for none of them, and one for each). */
static int take_checkpoints(sv_specialization *self, PyObject *checkpoints)
{
    bool returns_status = self->results->kind == SV_STATUS_RESULT;
    self->resume = -1;
    if (checkpoints == Py_None && !returns_status)
        return 0;
    PyObject *labels, *statuses;
    if (!PyTuple_Check(checkpoints) ||
        !PyArg_ParseTuple(checkpoints, "nO!O!:checkpoints", &self->resume, &PyTuple_Type, &labels, &PyTuple_Type, &statuses)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "a kernel that returns a status needs checkpoints=(offset, labels, statuses)");
        return -1;
    }
    bool in_block = self->resume >= 0 && self->resume <= self->block_size - SV_SLOT;
    if (PyTuple_GET_SIZE(statuses) != PyTuple_GET_SIZE(labels) + 1 || (self->resume != -1 && !in_block)) {
        PyErr_SetString(PyExc_ValueError, "checkpoints need one status each and one for none, and an offset in the block");
        return -1;
    }
    self->labels = Py_NewRef(labels);
    self->statuses = Py_NewRef(statuses);
    return 0;
}

static PyObject *specialization_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"image", "program", "registers", "block_size", "results", "tasks", "speak", "fail", "keep",
                            "slow_serial", "sites", "objects", "resolve", "checkpoints", "stack", NULL};
    PyObject *image, *program, *results = Py_None, *tasks = NULL, *speak = Py_None, *fail = Py_None, *keep = Py_None, *sites = NULL,
             *objects = NULL, *resolve = Py_None, *checkpoints = Py_None;
    int registers, slow_serial = 0;
    Py_ssize_t block_size, stack = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!Oin|OOOOOpOO!OOn:Specialization", names, &sv_image_type, &image, &program,
                                     &registers, &block_size, &results, &tasks, &speak, &fail, &keep, &slow_serial,
                                     &sites, &PyList_Type, &objects, &resolve, &checkpoints, &stack))
        return NULL;
    if (block_size < 0 || block_size % SV_SLOT != 0) {
        PyErr_SetString(PyExc_ValueError, "the size of the argument block must be a multiple of 8");
        return NULL;
    }
    sv_specialization *self = (sv_specialization *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    PyObject_GC_UnTrack(self); /* not reachable before it is complete */
    self->image = (sv_image *)Py_NewRef(image);
    self->block_size = block_size;
    self->slow_serial = slow_serial;
    self->stack = stack;
    atomic_init(&self->entry_nanoseconds, -1.0f);
    self->speak = Py_NewRef(speak);
    self->fail = Py_NewRef(fail);
    self->keep = Py_NewRef(keep);
    if (sv_program_compile(&self->program, program, registers, block_size, objects, resolve == Py_None ? NULL : resolve) < 0 ||
        (self->results = sv_results_make(self->result_shape = Py_NewRef(results), block_size)) == NULL || take_tasks(self, tasks) < 0 ||
        (sites != NULL && take_sites(self, sites) < 0) || take_checkpoints(self, checkpoints) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    self->result = *self->results;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

static int specialization_traverse(PyObject *object, visitproc visit, void *arg)
{
    sv_specialization *self = (sv_specialization *)object;
    Py_VISIT(self->image);
    Py_VISIT(self->task_names);
    Py_VISIT(self->labels);
    Py_VISIT(self->statuses);
    Py_VISIT(self->speak);
    Py_VISIT(self->fail);
    Py_VISIT(self->keep);
    return sv_program_traverse(&self->program, visit, arg);
}

static int specialization_clear(PyObject *object)
{
    sv_specialization *self = (sv_specialization *)object;
    sv_program_free(&self->program);
    Py_CLEAR(self->speak);
    Py_CLEAR(self->fail);
    Py_CLEAR(self->keep);
    return 0;
}

static void specialization_dealloc(PyObject *object)
{
    sv_specialization *self = (sv_specialization *)object;
    PyObject_GC_UnTrack(object);
    if (self->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    specialization_clear(object);
    Py_XDECREF(self->task_names);
    Py_XDECREF(self->labels);
    Py_XDECREF(self->statuses);
    Py_XDECREF(self->image);
    PyMem_Free(self->results);
    Py_XDECREF(self->result_shape);
    PyMem_Free(self->tasks);
    PyMem_Free(self->site_values);
    Py_TYPE(object)->tp_free(object);
}

/* The data of the cost model: one (name, nanoseconds per item, runs) per task. */
static PyObject *specialization_get_tasks(PyObject *object, void *Py_UNUSED(closure))
{
    sv_specialization *self = (sv_specialization *)object;
    PyObject *tuple = PyTuple_New(self->task_count);
    for (int i = 0; tuple != NULL && i < self->task_count; i++) {
        sv_task *task = &self->tasks[i];
        PyObject *one = Py_BuildValue("OdI", PyTuple_GET_ITEM(self->task_names, i), (double)atomic_load(&task->cost),
                                      (unsigned)atomic_load(&task->runs));
        if (one == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, one);
    }
    return tuple;
}

static PyMemberDef specialization_members[] = {
    {"image", T_OBJECT_EX, offsetof(sv_specialization, image), READONLY, "The code."},
    {"labels", T_OBJECT, offsetof(sv_specialization, labels), READONLY, "The labels of its checkpoints, or None."},
    {"keep", T_OBJECT, offsetof(sv_specialization, keep), READONLY, "Objects that are kept alive with it."},
    {NULL, 0, 0, 0, NULL},
};

static PyObject *specialization_get_operands(PyObject *object, void *Py_UNUSED(closure))
{
    return sv_program_operands(&((sv_specialization *)object)->program);
}

/* (source text, nanoseconds of the fastest timed call) of each plain call made at launches. */
static PyObject *specialization_get_calls(PyObject *object, void *Py_UNUSED(closure))
{
    const sv_program *program = &((sv_specialization *)object)->program;
    PyObject *calls = PyList_New(0);
    for (Py_ssize_t i = 0; calls != NULL && i < program->count; i++) {
        const sv_instruction *one = &program->instructions[i];
        if (one->operation != SV_LOAD_CALL)
            continue;
        PyObject *call = Py_BuildValue("OL", one->call.text, (long long)one->call.given->fastest);
        if (call == NULL || PyList_Append(calls, call) < 0)
            Py_CLEAR(calls);
        Py_XDECREF(call);
    }
    return calls;
}

static PyGetSetDef specialization_getset[] = {
    {"calls", specialization_get_calls, NULL, "Per plain call made at launches: its text, the nanoseconds of the "
                                              "fastest.", NULL},
    {"tasks", specialization_get_tasks, NULL, "Per task: name, measured nanoseconds per item, number of runs.", NULL},
    {"operands", specialization_get_operands, NULL, "The objects that its guards refer to, in order.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject sv_specialization_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.Specialization",
    .tp_basicsize = sizeof(sv_specialization),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = PyDoc_STR("Specialization(image, program, registers, block_size, results=None, tasks=(), speak=None, fail=None,\n"
                        "               keep=None, slow_serial=False, sites=(), objects=[], resolve=None, checkpoints=None, stack=0)\n--\n\n"
                        "Code with the guards under which it may run. `results` is None, (\"scalar\", dtype, offset in the block)\n"
                        "or (\"tuple\", (…)) of these. `sites` has the number of values of each print or failure. A graph with\n"
                        "checkpoints returns (\"status\", offset), one of those in checkpoints=(offset of the number of the one to\n"
                        "start at, labels, statuses).\n"
                        "An operand (..., what, number) of the program refers to the object of that number, or to its type, code,\n"
                        "globals or builtins; any other (..., what, …) is passed to `resolve`.\n\n"
                        ">>> from samovar._native import Image, Specialization\n"
                        ">>> from samovar.backends.llvm import ImageParts\n"
                        ">>> parts = ImageParts(b\"\\x31\\xc0\\xc3\", (), ((\"samovar_entry\", 0, 3),))\n"
                        ">>> image = Image.from_flat(parts.flat())\n"
                        ">>> Specialization(image, [(\"parameter\", 0, 0), (\"type\", 0, int)], 1, 0).tasks\n()"),
    .tp_new = specialization_new,
    .tp_dealloc = specialization_dealloc,
    .tp_traverse = specialization_traverse,
    .tp_clear = specialization_clear,
    .tp_members = specialization_members,
    .tp_getset = specialization_getset,
    .tp_weaklistoffset = offsetof(sv_specialization, weakrefs),
};

int sv_specialization_init(PyObject *module)
{
    return PyModule_AddType(module, &sv_specialization_type);
}
