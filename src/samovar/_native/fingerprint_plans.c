/* The table of plans: what Python decided about a class, kept as long as the class is not changed. */
#include "fingerprint.h"

#include <string.h>

/* Beyond this many entries the table is emptied between folds: classes that are gone leave their entries behind. */
enum { TRIM_ABOVE = 2048 };

void sv_plan_release(sv_plan *plan)
{
    if (--plan->references > 0)
        return;
    Py_XDECREF(plan->rule);
    Py_XDECREF(plan->names);
    PyMem_Free(plan);
}

static size_t slot_of(const sv_plan_entry *entries, size_t capacity, PyTypeObject *type)
{
    size_t slot = ((uintptr_t)type >> 4) * (size_t)0x9e3779b97f4a7c15u >> 20 & (capacity - 1);
    while (entries[slot].type != NULL && entries[slot].type != type)
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

static int grow(sv_plans *plans)
{
    size_t capacity = plans->capacity == 0 ? 64 : plans->capacity * 2;
    sv_plan_entry *entries = PyMem_Calloc(capacity, sizeof *entries);
    if (entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < plans->capacity; i++)
        if (plans->entries[i].type != NULL)
            entries[slot_of(entries, capacity, plans->entries[i].type)] = plans->entries[i];
    PyMem_Free(plans->entries);
    plans->entries = entries;
    plans->capacity = capacity;
    return 0;
}

static void empty_table(sv_plans *plans)
{
    sv_plan_entry *entries = plans->entries;
    size_t capacity = plans->capacity;
    plans->entries = NULL;
    plans->capacity = plans->used = 0;
    for (size_t i = 0; i < capacity; i++)
        if (entries[i].type != NULL)
            sv_plan_release(entries[i].plan);
    PyMem_Free(entries);
}

void sv_plans_trim(sv_plans *plans)
{
    if (plans->used > TRIM_ABOVE && plans->active == 0)
        empty_table(plans);
}

static int check_names(PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(names, i)))
            return -1;
    return 0;
}

/* Whether a walk is one that instances of exactly this class can be walked by. */
static bool fits(const sv_plans *plans, long walk, PyTypeObject *type)
{
    switch (walk) {
    case SV_WALK_DECONSTRUCTION: return PyType_IsSubtype(type, plans->deconstruction);
    case SV_WALK_NONE: return type == Py_TYPE(Py_None);
    case SV_WALK_BOOL: return type == &PyBool_Type;
    case SV_WALK_INT: return type == &PyLong_Type;
    case SV_WALK_FLOAT: return type == &PyFloat_Type;
    case SV_WALK_COMPLEX: return type == &PyComplex_Type;
    case SV_WALK_STR: return type == &PyUnicode_Type;
    case SV_WALK_BYTES: return type == &PyBytes_Type;
    case SV_WALK_TUPLE: return type == &PyTuple_Type;
    case SV_WALK_LIST: return type == &PyList_Type;
    case SV_WALK_DICT: return type == &PyDict_Type;
    case SV_WALK_SET: return type == &PySet_Type;
    case SV_WALK_FROZENSET: return type == &PyFrozenSet_Type;
    default: return false;
    }
}

/* Translate the planner's answer. */
static int fill_plan(const sv_plans *plans, PyTypeObject *type, sv_plan *plan, PyObject *answer)
{
    if (PyLong_CheckExact(answer)) {
        int overflow;
        long walk = PyLong_AsLongAndOverflow(answer, &overflow);
        if (overflow != 0 || !fits(plans, walk, type)) {
            PyErr_Format(PyExc_ValueError, "the planner named a walk that does not fit %.100s", type->tp_name);
            return -1;
        }
        plan->walk = (sv_walk)walk;
        return 0;
    }
    if (PyTuple_CheckExact(answer)) {
        PyObject *names, *state;
        if (!PyArg_ParseTuple(answer, "O!S", &PyTuple_Type, &names, &state))
            return -1;
        if (check_names(names) < 0 || PyBytes_GET_SIZE(state) != SV_DIGEST_SIZE) {
            PyErr_SetString(PyExc_TypeError, "the planner described fields by something else than names and a digest");
            return -1;
        }
        plan->walk = SV_WALK_FIELDS;
        plan->names = Py_NewRef(names);
        memcpy(plan->state.bytes, PyBytes_AS_STRING(state), SV_DIGEST_SIZE);
        return 0;
    }
    plan->walk = SV_WALK_CALL;
    plan->rule = Py_NewRef(answer);
    return 0;
}

static sv_plan *make_plan(sv_plans *plans, PyTypeObject *type)
{
    PyObject *answer = PyObject_CallOneArg(plans->planner, (PyObject *)type);
    if (answer == NULL)
        return NULL;
    sv_plan *plan = PyMem_Calloc(1, sizeof *plan);
    if (plan == NULL) {
        Py_DECREF(answer);
        PyErr_NoMemory();
        return NULL;
    }
    plan->references = 1;
    if (fill_plan(plans, type, plan, answer) < 0) {
        sv_plan_release(plan);
        plan = NULL;
    }
    Py_DECREF(answer);
    return plan;
}

static sv_plan *plan_and_store(sv_plans *plans, PyTypeObject *type, uint64_t serial, PyObject *holders)
{
    uint64_t version = plans->keeps ? sv_type_version(type) : 0;
    /* The class stays alive for the fold, so that no other class can appear at its address. */
    if (PyList_Append(holders, (PyObject *)type) < 0)
        return NULL;
    sv_plan *plan = make_plan(plans, type);
    if (plan == NULL)
        return NULL;
    if (sv_type_version(type) != version)
        version = 0;
    if (2 * (plans->used + 1) > plans->capacity && grow(plans) < 0) {
        sv_plan_release(plan);
        return NULL;
    }
    sv_plan_entry *entry = &plans->entries[slot_of(plans->entries, plans->capacity, type)];
    sv_plan *former = entry->plan;
    if (entry->type == NULL)
        plans->used++;
    *entry = (sv_plan_entry){type, version, serial, plan};
    plan->references++;
    if (former != NULL)
        sv_plan_release(former);
    return plan;
}

sv_plan *sv_plans_find(sv_plans *plans, PyTypeObject *type, uint64_t serial, PyObject *holders)
{
    if (plans->capacity != 0) {
        sv_plan_entry *entry = &plans->entries[slot_of(plans->entries, plans->capacity, type)];
        if (entry->type != NULL && (entry->serial == serial || (entry->version != 0 && entry->version == sv_type_version(type)))) {
            entry->plan->references++;
            return entry->plan;
        }
    }
    return plan_and_store(plans, type, serial, holders);
}

static PyObject *plans_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *planner, *deconstruction, *empty, *order_insensitive;
    int keeps;
    static char *names[] = {"planner", "keeps", "deconstruction", "empty", "order_insensitive", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OpO!O!O!:FingerprintPlans", names, &planner, &keeps, &PyType_Type,
                                     &deconstruction, &PyType_Type, &empty, &PyType_Type, &order_insensitive))
        return NULL;
    sv_plans *plans = (sv_plans *)type->tp_alloc(type, 0);
    if (plans == NULL)
        return NULL;
    plans->planner = Py_NewRef(planner);
    plans->deconstruction = (PyTypeObject *)Py_NewRef(deconstruction);
    plans->empty = (PyTypeObject *)Py_NewRef(empty);
    plans->order_insensitive = (PyTypeObject *)Py_NewRef(order_insensitive);
    plans->keeps = keeps != 0;
    return (PyObject *)plans;
}

static int plans_traverse(PyObject *self, visitproc visit, void *arg)
{
    sv_plans *plans = (sv_plans *)self;
    Py_VISIT(plans->planner);
    Py_VISIT(plans->deconstruction);
    Py_VISIT(plans->empty);
    Py_VISIT(plans->order_insensitive);
    for (size_t i = 0; i < plans->capacity; i++)
        if (plans->entries[i].type != NULL) {
            Py_VISIT(plans->entries[i].plan->rule);
            Py_VISIT(plans->entries[i].plan->names);
        }
    return 0;
}

static int plans_clear(PyObject *self)
{
    sv_plans *plans = (sv_plans *)self;
    Py_CLEAR(plans->planner);
    empty_table(plans);
    return 0;
}

static void plans_dealloc(PyObject *self)
{
    sv_plans *plans = (sv_plans *)self;
    PyObject_GC_UnTrack(self);
    Py_CLEAR(plans->planner);
    empty_table(plans);
    Py_CLEAR(plans->deconstruction);
    Py_CLEAR(plans->empty);
    Py_CLEAR(plans->order_insensitive);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject sv_plans_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.FingerprintPlans",
    .tp_doc = PyDoc_STR("The plans of one deconstructor: how the native traversal walks each class."),
    .tp_basicsize = sizeof(sv_plans),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = plans_new,
    .tp_traverse = plans_traverse,
    .tp_clear = plans_clear,
    .tp_dealloc = plans_dealloc,
};
