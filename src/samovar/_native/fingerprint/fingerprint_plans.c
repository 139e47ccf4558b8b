/* The table of plans: what Python decided about a class, cached until the class changes. */
#include "fingerprint/fingerprint.h"

#include <string.h>

/* Beyond this many entries the table is cleared between folds: dead classes leave their entries behind. */
enum { TRIM_ABOVE = 2048 };

void sv_plan_release(sv_plan *plan)
{
    if (--plan->references > 0)
        return;
    Py_XDECREF(plan->rule);
    Py_XDECREF(plan->names);
    sv_state_plan_release(plan->state);
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

/* The builtin type of a walk, or NULL. */
static PyTypeObject *builtin_of(long walk)
{
    switch (walk) {
#define BUILTIN_CASE(name, tag, builtin) case SV_WALK_##name: return builtin;
        SV_BUILTIN_WALKS(BUILTIN_CASE)
    default: return NULL;
    }
}

static int misfit(PyTypeObject *type)
{
    PyErr_Format(PyExc_ValueError, "the planner named a walk that does not fit %.100s", type->tp_name);
    return -1;
}

/* A number stands for a walk of instances of exactly this class. */
static int fill_builtin(const sv_plans *plans, PyTypeObject *type, sv_plan *plan, PyObject *number)
{
    int overflow;
    long walk = PyLong_AsLongAndOverflow(number, &overflow);
    bool is_level = walk == SV_WALK_DECONSTRUCTION && PyType_IsSubtype(type, plans->deconstruction);
    if (overflow != 0 || (!is_level && builtin_of(walk) != type))
        return misfit(type);
    plan->walk = (sv_walk)walk;
    return 0;
}

/* (walk, names, digest of the state) */
static int fill_fields(sv_plan *plan, PyObject *answer)
{
    int walk;
    PyObject *names, *state;
    if (!PyArg_ParseTuple(answer, "iO!S", &walk, &PyTuple_Type, &names, &state))
        return -1;
    if (check_names(names) < 0 || PyBytes_GET_SIZE(state) != SV_DIGEST_SIZE) {
        PyErr_SetString(PyExc_TypeError, "the planner must describe fields by names and a digest");
        return -1;
    }
    plan->names = Py_NewRef(names);
    memcpy(plan->fields.bytes, PyBytes_AS_STRING(state), SV_DIGEST_SIZE);
    return 0;
}

/* (walk, names of fields, slots, whether there is a dictionary, shapes, rule, guard or None) */
static int fill_state(PyTypeObject *type, sv_plan *plan, PyObject *answer)
{
    int walk, has_dict;
    PyObject *names, *slots, *find_shape, *rule, *guard;
    if (!PyArg_ParseTuple(answer, "iO!O!pOOO", &walk, &PyTuple_Type, &names, &PyTuple_Type, &slots, &has_dict, &find_shape, &rule, &guard))
        return -1;
    if (check_names(names) < 0 || check_names(slots) < 0 || (has_dict && (type->tp_dictoffset == 0 || PyType_IsSubtype(type, &PyType_Type)))) {
        PyErr_Format(PyExc_TypeError, "the planner named fields, slots or a dictionary that a %.100s does not have", type->tp_name);
        return -1;
    }
    sv_state_plan *state = PyMem_Calloc(1, sizeof *state);
    if (state == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    plan->state = state;
    plan->names = Py_NewRef(names);
    plan->rule = Py_NewRef(rule);
    state->has_dict = has_dict != 0;
    state->slots = Py_NewRef(slots);
    state->find_shape = Py_NewRef(find_shape);
    state->guard = guard == Py_None ? NULL : Py_NewRef(guard);
    state->shapes = PyDict_New();
    return state->shapes == NULL ? -1 : 0;
}

static int fill_planned(PyTypeObject *type, sv_plan *plan, PyObject *answer);

/* (walk, builtin walk of the content, answer for what the class adds, rule) */
static int fill_extended(PyTypeObject *type, sv_plan *plan, PyObject *answer)
{
    int walk, content;
    PyObject *own, *rule;
    if (!PyArg_ParseTuple(answer, "iiO!O", &walk, &content, &PyTuple_Type, &own, &rule))
        return -1;
    PyTypeObject *builtin = builtin_of(content);
    if (builtin == NULL || !PyType_IsSubtype(type, builtin) || fill_planned(type, plan, own) < 0 || plan->walk == SV_WALK_EXTENDED)
        return PyErr_Occurred() ? -1 : misfit(type);
    plan->content = (sv_walk)content;
    plan->own = plan->walk;
    plan->walk = SV_WALK_EXTENDED;
    Py_XSETREF(plan->rule, Py_NewRef(rule));
    return 0;
}

/* A tuple that starts with the number of its walk. */
static int fill_planned(PyTypeObject *type, sv_plan *plan, PyObject *answer)
{
    PyObject *number = PyTuple_GET_SIZE(answer) == 0 ? NULL : PyTuple_GET_ITEM(answer, 0);
    int overflow = 0;
    long walk = number != NULL && PyLong_CheckExact(number) ? PyLong_AsLongAndOverflow(number, &overflow) : SV_WALK_CALL;
    int status = overflow != 0            ? misfit(type)
               : walk == SV_WALK_FIELDS   ? fill_fields(plan, answer)
               : walk == SV_WALK_STATE    ? fill_state(type, plan, answer)
               : walk == SV_WALK_EXTENDED ? fill_extended(type, plan, answer)
                                          : misfit(type);
    if (status == 0)
        plan->walk = (sv_walk)walk;
    return status;
}

/* Translate the planner's answer: a number, a tuple, or a rule to call. */
static int fill_plan(const sv_plans *plans, PyTypeObject *type, sv_plan *plan, PyObject *answer)
{
    if (PyLong_CheckExact(answer))
        return fill_builtin(plans, type, plan, answer);
    if (PyTuple_CheckExact(answer))
        return fill_planned(type, plan, answer);
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
    /* The class stays alive for the fold, so that no other class can reuse its address. */
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
            const sv_state_plan *state = plans->entries[i].plan->state;
            int status = state == NULL ? 0 : sv_state_plan_traverse(state, visit, arg);
            if (status != 0)
                return status;
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
