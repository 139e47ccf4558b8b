/* The native traversal of the fingerprint package: the fold of traversal.py with the digest of aggregation.py, for acyclic graphs.
 *
 * An explicit stack of frames walks the objects, a stack of digests holds the results. A frame's digests start with that of its
 * state, so that the input of its own digest is contiguous. Everything that Python code could touch meanwhile is referenced.
 */
#include "fingerprint/fingerprint.h"

#include <string.h>

/* The kinds of frames: any objects, ordered or unordered; alternating keys and values; the class of an instance, its fields
   and its state; what a subclass adds to a builtin type, followed by the content. */
typedef enum { FRAME_ORDERED, FRAME_UNORDERED, FRAME_ITEMS, FRAME_INSTANCE, FRAME_EXTENDED } frame_kind;

typedef struct {
    frame_kind kind;
    bool is_object;      /* whether the level is that of its subject, not a part of it */
    bool awaits_class;   /* FRAME_INSTANCE: the digest on top is that of the class */
    PyObject *subject;   /* owned, or NULL */
    PyObject *pieces;    /* owned tuple, or NULL */
    sv_plan *plan;       /* owned, or NULL */
    Py_ssize_t next;
    size_t start;        /* of its digests */
} frame;

/* A visited object: open while its frame is, then with its digest. Referenced, so that its address is not reused. */
typedef struct {
    PyObject *subject;
    bool is_open;
    sv_digest digest;
} memo_entry;

typedef struct {
    sv_plans *plans;
    PyObject *holders;
    uint64_t serial;
    bool memoizes;      /* whether finished objects are memoized */
    bool found_cycle;
    unsigned int visits;
    frame *frames;
    size_t frame_count, frame_capacity;
    sv_digest *digests;
    size_t digest_count, digest_capacity;
    memo_entry *memo;
    size_t memo_used, memo_capacity;
} fold;

static uint64_t next_serial;
static PyObject *name_tag, *name_payload, *name_pieces;

/* --- digests */

static int compare_digests(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(sv_digest));
}

/* --- stacks */

static int push_digest(fold *walk, const sv_digest *digest)
{
    if (walk->digest_count == walk->digest_capacity) {
        size_t capacity = walk->digest_capacity == 0 ? 256 : walk->digest_capacity * 2;
        sv_digest *digests = PyMem_Realloc(walk->digests, capacity * sizeof *digests);
        if (digests == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        walk->digests = digests;
        walk->digest_capacity = capacity;
    }
    walk->digests[walk->digest_count++] = *digest;
    return 0;
}

static void release_frame(frame *done)
{
    Py_XDECREF(done->subject);
    Py_XDECREF(done->pieces);
    if (done->plan != NULL)
        sv_plan_release(done->plan);
}

/* Drop the references that the frame holds, also on failure. */
static int push_frame(fold *walk, frame opened, const sv_digest *state)
{
    if (walk->frame_count == walk->frame_capacity) {
        size_t capacity = walk->frame_capacity == 0 ? 64 : walk->frame_capacity * 2;
        frame *frames = PyMem_Realloc(walk->frames, capacity * sizeof *frames);
        if (frames == NULL) {
            PyErr_NoMemory();
            release_frame(&opened);
            return -1;
        }
        walk->frames = frames;
        walk->frame_capacity = capacity;
    }
    opened.start = walk->digest_count;
    if (push_digest(walk, state) < 0) {
        release_frame(&opened);
        return -1;
    }
    walk->frames[walk->frame_count++] = opened;
    return 0;
}

/* --- memo */

static size_t first_slot(size_t capacity, PyObject *subject)
{
    return ((uintptr_t)subject >> 4) * (size_t)0x9e3779b97f4a7c15u >> 20 & (capacity - 1);
}

static size_t memo_slot(const memo_entry *memo, size_t capacity, PyObject *subject)
{
    size_t slot = first_slot(capacity, subject);
    while (memo[slot].subject != NULL && memo[slot].subject != subject)
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

static int grow_memo(fold *walk)
{
    size_t capacity = walk->memo_capacity == 0 ? 64 : walk->memo_capacity * 2;
    memo_entry *memo = PyMem_Calloc(capacity, sizeof *memo);
    if (memo == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < walk->memo_capacity; i++)
        if (walk->memo[i].subject != NULL)
            memo[memo_slot(memo, capacity, walk->memo[i].subject)] = walk->memo[i];
    PyMem_Free(walk->memo);
    walk->memo = memo;
    walk->memo_capacity = capacity;
    return 0;
}

static memo_entry *memo_find(fold *walk, PyObject *subject)
{
    if (walk->memo_capacity == 0)
        return NULL;
    memo_entry *entry = &walk->memo[memo_slot(walk->memo, walk->memo_capacity, subject)];
    return entry->subject == NULL ? NULL : entry;
}

/* Enter an object as open, or with a digest if there is one. */
static int memo_enter(fold *walk, PyObject *subject, const sv_digest *digest)
{
    if (2 * (walk->memo_used + 1) > walk->memo_capacity && grow_memo(walk) < 0)
        return -1;
    memo_entry *entry = &walk->memo[memo_slot(walk->memo, walk->memo_capacity, subject)];
    entry->subject = Py_NewRef(subject);
    entry->is_open = digest == NULL;
    if (digest != NULL)
        entry->digest = *digest;
    walk->memo_used++;
    return 0;
}

/* Remove an object. Later entries move up, so that they are still found. */
static void memo_remove(fold *walk, memo_entry *entry)
{
    size_t mask = walk->memo_capacity - 1, hole = (size_t)(entry - walk->memo);
    PyObject *subject = entry->subject;
    for (size_t slot = (hole + 1) & mask; walk->memo[slot].subject != NULL; slot = (slot + 1) & mask) {
        size_t wanted = first_slot(walk->memo_capacity, walk->memo[slot].subject);
        if (((slot - wanted) & mask) >= ((slot - hole) & mask)) {
            walk->memo[hole] = walk->memo[slot];
            hole = slot;
        }
    }
    walk->memo[hole].subject = NULL;
    walk->memo_used--;
    Py_DECREF(subject);
}

/* --- one object */

/* Alternating keys and values. A copy: the dictionary may change while Python code runs. */
static PyObject *flatten(PyObject *dictionary)
{
    Py_ssize_t size = PyDict_GET_SIZE(dictionary), position = 0, filled = 0;
    PyObject *key, *value, *flat = PyTuple_New(2 * size);
    if (flat == NULL)
        return NULL;
    /* Allocation can trigger garbage collection, and finalizers can do anything. */
    if (PyDict_GET_SIZE(dictionary) != size) {
        Py_DECREF(flat);
        PyErr_SetString(PyExc_RuntimeError, "a dictionary changed size while it was fingerprinted");
        return NULL;
    }
    while (PyDict_Next(dictionary, &position, &key, &value)) {
        PyTuple_SET_ITEM(flat, filled++, Py_NewRef(key));
        PyTuple_SET_ITEM(flat, filled++, Py_NewRef(value));
    }
    return flat;
}

/* The elements of a set, bypassing the iterator of a subclass. */
static PyObject *elements_of(PyObject *set)
{
    if (PyAnySet_CheckExact(set))
        return PySequence_Tuple(set);
    PyObject *iterator = PySet_Type.tp_iter(set);
    PyObject *elements = iterator == NULL ? NULL : PySequence_Tuple(iterator);
    Py_XDECREF(iterator);
    return elements;
}

/* Open a frame over a new tuple of pieces, which is stolen; NULL propagates an error. */
static int open_pieces(fold *walk, frame_kind kind, PyObject *subject, bool is_object, PyObject *pieces, const sv_digest *state)
{
    if (pieces == NULL)
        return -1;
    if (is_object && memo_enter(walk, subject, NULL) < 0) {
        Py_DECREF(pieces);
        return -1;
    }
    return push_frame(walk, (frame){.kind = kind, .is_object = is_object, .subject = Py_XNewRef(subject), .pieces = pieces}, state);
}

/* The content of a builtin container or of a subclass: as an object of its own, or as a part of the frame below. */
static int open_container(fold *walk, sv_walk content, PyObject *object, bool is_object)
{
    const sv_digest *state = &sv_builtin_states[content];
    switch (content) {
    case SV_WALK_TUPLE: return open_pieces(walk, FRAME_ORDERED, object, is_object, Py_NewRef(object), state);
    case SV_WALK_LIST: return open_pieces(walk, FRAME_ORDERED, object, is_object, PyList_AsTuple(object), state);
    case SV_WALK_DICT: return open_pieces(walk, FRAME_ITEMS, object, is_object, flatten(object), state);
    default: return open_pieces(walk, FRAME_UNORDERED, object, is_object, elements_of(object), state);
    }
}

/* Steals the values of the state; NULL if the class has only fields. */
static int open_instance(fold *walk, PyObject *subject, bool is_object, sv_plan *plan, PyObject *values, const sv_digest *state)
{
    if (is_object && memo_enter(walk, subject, NULL) < 0) {
        Py_XDECREF(values);
        return -1;
    }
    plan->references++;
    frame opened = {.kind = FRAME_INSTANCE, .is_object = is_object, .subject = Py_NewRef(subject), .pieces = values, .plan = plan};
    return push_frame(walk, opened, state);
}

/* The tag and the payload of a level. */
static int digest_state_of(PyObject *level, sv_digest_domain domain, sv_digest *digest)
{
    PyObject *tag = PyObject_GetAttr(level, name_tag);
    PyObject *payload = tag == NULL ? NULL : PyObject_GetAttr(level, name_payload);
    int status = -1;
    if (payload == NULL)
        goto done;
    Py_ssize_t tag_size;
    const char *tag_bytes = PyUnicode_Check(tag) ? PyUnicode_AsUTF8AndSize(tag, &tag_size) : NULL;
    if (tag_bytes == NULL) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "the tag of a deconstruction must be a str, not %.100s", Py_TYPE(tag)->tp_name);
        goto done;
    }
    if (tag_size > 255) {
        PyErr_Format(PyExc_ValueError, "the tag of a deconstruction must not exceed 255 bytes, this one has %zd", tag_size);
        goto done;
    }
    if (PyBytes_CheckExact(payload)) {
        sv_digest_tagged(domain, tag_bytes, (size_t)tag_size, PyBytes_AS_STRING(payload), (size_t)PyBytes_GET_SIZE(payload), digest);
        status = 0;
        goto done;
    }
    sv_hasher hasher;
    uint8_t length = (uint8_t)tag_size;
    sv_hasher_begin(&hasher, domain);
    sv_hasher_update(&hasher, &length, 1);
    sv_hasher_update(&hasher, tag_bytes, (size_t)tag_size);
    status = sv_hasher_update_memory(&hasher, payload);
    sv_hasher_finish(&hasher, digest);
done:
    Py_XDECREF(tag);
    Py_XDECREF(payload);
    return status;
}

/* A level: a terminal one becomes a digest immediately, others a frame. The subject is the object that the level belongs to,
   or NULL. */
static int visit_level(fold *walk, PyObject *subject, PyObject *level)
{
    sv_digest digest;
    if (PyObject_TypeCheck(level, walk->plans->empty)) {
        if (digest_state_of(level, SV_DOMAIN_LEAF, &digest) < 0)
            return -1;
        if (subject != NULL && walk->memoizes && memo_enter(walk, subject, &digest) < 0)
            return -1;
        return push_digest(walk, &digest);
    }
    if (digest_state_of(level, SV_DOMAIN_STATE, &digest) < 0)
        return -1;
    PyObject *pieces = PyObject_GetAttr(level, name_pieces);
    if (pieces == NULL)
        return -1;
    if (!PyTuple_Check(pieces)) {
        PyErr_Format(PyExc_TypeError, "the pieces of a deconstruction must be a tuple, not %.100s", Py_TYPE(pieces)->tp_name);
        Py_DECREF(pieces);
        return -1;
    }
    frame_kind kind = PyObject_TypeCheck(level, walk->plans->order_insensitive) ? FRAME_UNORDERED : FRAME_ORDERED;
    return open_pieces(walk, kind, subject, subject != NULL, pieces, &digest);
}

static int visit_by_rule(fold *walk, PyObject *object, sv_plan *plan)
{
    PyObject *level = PyObject_CallOneArg(plan->rule, object);
    if (level == NULL)
        return -1;
    int status = -1;
    if (!PyObject_TypeCheck(level, walk->plans->deconstruction))
        PyErr_Format(PyExc_TypeError, "the rule for %.100s returned %.100s, not a Deconstruction", Py_TYPE(object)->tp_name,
                     Py_TYPE(level)->tp_name);
    else
        status = visit_level(walk, object, level);
    Py_DECREF(level);
    return status;
}

/* Whether instances may be read now. Determined once per fold. -1 on error. */
static int may_read_state(fold *walk, PyObject *instance, sv_state_plan *state)
{
    if (state->guard == NULL)
        return 1;
    if (state->guard_serial != walk->serial) {
        PyObject *answer = PyObject_CallOneArg(state->guard, (PyObject *)Py_TYPE(instance));
        int is_true = answer == NULL ? -1 : PyObject_IsTrue(answer);
        Py_XDECREF(answer);
        if (is_true < 0)
            return -1;
        state->guard_answer = is_true != 0;
        state->guard_serial = walk->serial;
    }
    return state->guard_answer;
}

/* An instance whose state counts. */
static int open_state(fold *walk, PyObject *object, sv_plan *plan)
{
    PyObject *values;
    sv_digest state;
    int status = may_read_state(walk, object, plan->state);
    if (status == 1)
        status = sv_state_read(plan->state, object, &values, &state);
    if (status != 1)
        return status < 0 ? -1 : visit_by_rule(walk, object, plan);
    return open_instance(walk, object, true, plan, values, &state);
}

/* Whether only the class of an instance counts. */
static bool is_bare(const sv_plan *plan, PyObject *values)
{
    return values != NULL && PyTuple_GET_SIZE(values) == 0 && PyTuple_GET_SIZE(plan->names) == 0;
}

/* The digest of builtin content and of what a subclass adds to it. */
static void join_extended(const sv_digest *content, const sv_digest *own, sv_digest *digest)
{
    sv_digest pieces[3] = {sv_state_extended, *content, *own};
    sv_digest_pieces(SV_DOMAIN_ORDERED, pieces, 3, digest);
}

/* A value of a subclass that adds only its class, once the digest of that is known. 0: not one of these. */
static int visit_bare_leaf(fold *walk, PyObject *object, sv_plan *plan)
{
    if (!sv_is_leaf_walk(plan->content) || plan->own != SV_WALK_STATE || plan->state->bare_serial != walk->serial)
        return 0;
    int has_nothing = sv_state_is_empty(plan->state, object);
    if (has_nothing != 1)
        return has_nothing;
    sv_digest content, digest;
    if (sv_digest_leaf(plan->content, object, &content) < 0)
        return -1;
    join_extended(&content, &plan->state->bare_digest, &digest);
    return push_digest(walk, &digest) < 0 ? -1 : 1;
}

/* What the class adds is walked first, so that it is read together with the object; `finish` reorders it. */
static int open_extended(fold *walk, PyObject *object, sv_plan *plan)
{
    PyObject *values = NULL;
    sv_digest state;
    if (plan->own == SV_WALK_STATE) {
        int status = sv_state_read(plan->state, object, &values, &state);
        if (status != 1)
            return status < 0 ? -1 : visit_by_rule(walk, object, plan);
    }
    plan->references++;
    frame opened = {.kind = FRAME_EXTENDED, .is_object = true, .subject = Py_NewRef(object), .plan = plan};
    if (memo_enter(walk, object, NULL) < 0) {
        release_frame(&opened);
        Py_XDECREF(values);
        return -1;
    }
    if (push_frame(walk, opened, &sv_state_extended) < 0) {
        Py_XDECREF(values);
        return -1;
    }
    if (plan->own == SV_WALK_FIELDS)
        return open_instance(walk, object, false, plan, NULL, &plan->fields);
    if (is_bare(plan, values) && plan->state->bare_serial == walk->serial) {
        Py_DECREF(values);
        return push_digest(walk, &plan->state->bare_digest);
    }
    return open_instance(walk, object, false, plan, values, &state);
}

static int visit_planned(fold *walk, PyObject *object, sv_plan *plan)
{
    if (sv_is_leaf_walk(plan->walk)) {
        sv_digest digest;
        return sv_digest_leaf(plan->walk, object, &digest) < 0 ? -1 : push_digest(walk, &digest);
    }
    if (plan->walk == SV_WALK_DECONSTRUCTION)
        return visit_level(walk, NULL, object);
    if (plan->walk == SV_WALK_EXTENDED) {
        int status = visit_bare_leaf(walk, object, plan);
        if (status != 0)
            return status < 0 ? -1 : 0;
    }
    memo_entry *entry = memo_find(walk, object);
    if (entry != NULL) {
        if (!entry->is_open)
            return push_digest(walk, &entry->digest);
        walk->found_cycle = true;
        return -1;
    }
    switch (plan->walk) {
    case SV_WALK_FIELDS: return open_instance(walk, object, true, plan, NULL, &plan->fields);
    case SV_WALK_STATE: return open_state(walk, object, plan);
    case SV_WALK_EXTENDED: return open_extended(walk, object, plan);
    case SV_WALK_CALL: return visit_by_rule(walk, object, plan);
    default: return open_container(walk, plan->walk, object, true);
    }
}

/* Add the digest of an object, or open a frame that will. -1 on error and on a cycle. */
static int visit(fold *walk, PyObject *object)
{
    if ((++walk->visits & 0x3fff) == 0 && PyErr_CheckSignals() < 0)
        return -1;
    sv_plan *plan = sv_plans_find(walk->plans, Py_TYPE(object), walk->serial, walk->holders);
    if (plan == NULL)
        return -1;
    int status = visit_planned(walk, object, plan);
    sv_plan_release(plan);
    return status;
}

/* --- the innermost frame */

static int visit_field(fold *walk, PyObject *subject, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(subject, name);
    if (value == NULL) {
        /* A slot or an attribute without a value. A property that raises is different. */
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyObject *descriptor = sv_type_lookup(Py_TYPE(subject), name);
        if (descriptor != NULL && !Py_IS_TYPE(descriptor, &PyMemberDescr_Type))
            return -1;
        PyErr_Clear();
        return push_digest(walk, &sv_leaf_unset);
    }
    int status = visit(walk, value);
    Py_DECREF(value);
    return status;
}

/* The class comes first. It has one digest per fold, cached in its plan. */
static int visit_class(fold *walk, frame *top)
{
    if (top->plan->class_serial == walk->serial)
        return push_digest(walk, &top->plan->class_digest);
    top->awaits_class = true;
    return visit(walk, (PyObject *)Py_TYPE(top->subject));
}

/* The builtin content of a subclass. */
static int visit_content(fold *walk, frame *top)
{
    sv_walk content = top->plan->content;
    if (!sv_is_leaf_walk(content))
        return open_container(walk, content, top->subject, false);
    sv_digest digest;
    return sv_digest_leaf(content, top->subject, &digest) < 0 ? -1 : push_digest(walk, &digest);
}

static Py_ssize_t length_of(const frame *top)
{
    switch (top->kind) {
    case FRAME_INSTANCE: return 1 + PyTuple_GET_SIZE(top->plan->names) + (top->pieces == NULL ? 0 : PyTuple_GET_SIZE(top->pieces));
    case FRAME_EXTENDED: return 1;
    default: return PyTuple_GET_SIZE(top->pieces);
    }
}

static int advance(fold *walk, frame *top)
{
    Py_ssize_t next = top->next++;
    if (top->kind == FRAME_EXTENDED)
        return visit_content(walk, top);
    if (top->kind != FRAME_INSTANCE)
        return visit(walk, PyTuple_GET_ITEM(top->pieces, next));
    if (next == 0)
        return visit_class(walk, top);
    if (top->awaits_class) {
        top->plan->class_digest = walk->digests[walk->digest_count - 1];
        top->plan->class_serial = walk->serial;
        top->awaits_class = false;
    }
    Py_ssize_t fields = PyTuple_GET_SIZE(top->plan->names);
    if (next <= fields)
        return visit_field(walk, top->subject, PyTuple_GET_ITEM(top->plan->names, next - 1));
    return visit(walk, PyTuple_GET_ITEM(top->pieces, next - 1 - fields));
}

/* Combine the two digests on top, of a key and its value. */
static void join_item(fold *walk)
{
    sv_digest item[3] = {sv_state_item, walk->digests[walk->digest_count - 2], walk->digests[walk->digest_count - 1]};
    walk->digest_count -= 2;
    sv_digest_pieces(SV_DOMAIN_ORDERED, item, 3, &walk->digests[walk->digest_count++]);
}

static void finish(fold *walk, frame *top)
{
    frame done = *top;
    sv_digest *from = walk->digests + done.start;
    size_t count = walk->digest_count - done.start;
    sv_digest digest;
    if (done.kind == FRAME_EXTENDED) {
        join_extended(&from[2], &from[1], &digest);
    } else {
        bool is_ordered = done.kind != FRAME_UNORDERED && done.kind != FRAME_ITEMS;
        if (!is_ordered)
            qsort(from + 1, count - 1, sizeof *from, compare_digests);
        sv_digest_pieces(is_ordered ? SV_DOMAIN_ORDERED : SV_DOMAIN_UNORDERED, from, count, &digest);
    }
    *from = digest;
    walk->digest_count = done.start + 1;
    walk->frame_count--;
    if (done.kind == FRAME_INSTANCE && is_bare(done.plan, done.pieces)) {
        done.plan->state->bare_digest = digest;
        done.plan->state->bare_serial = walk->serial;
    }
    if (done.is_object) {
        memo_entry *entry = memo_find(walk, done.subject);
        entry->digest = digest;
        entry->is_open = false;
        if (!walk->memoizes)
            memo_remove(walk, entry);
    }
    release_frame(&done);
}

static int run(fold *walk, PyObject *root)
{
    if (visit(walk, root) < 0)
        return -1;
    while (walk->frame_count > 0) {
        frame *top = &walk->frames[walk->frame_count - 1];
        if (top->kind == FRAME_ITEMS && top->next > 0 && top->next % 2 == 0)
            join_item(walk);
        if (top->next == length_of(top))
            finish(walk, top);
        else if (advance(walk, top) < 0)
            return -1;
    }
    return 0;
}

static void release_fold(fold *walk)
{
    while (walk->frame_count > 0)
        release_frame(&walk->frames[--walk->frame_count]);
    for (size_t i = 0; i < walk->memo_capacity; i++)
        Py_XDECREF(walk->memo[i].subject);
    PyMem_Free(walk->frames);
    PyMem_Free(walk->digests);
    PyMem_Free(walk->memo);
    Py_XDECREF(walk->holders);
}

static PyObject *fingerprint_fold(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count < 2 || count > 3 || !PyObject_TypeCheck(args[1], &sv_plans_type)) {
        PyErr_SetString(PyExc_TypeError, "fingerprint_fold takes an object, FingerprintPlans, and whether to memoize");
        return NULL;
    }
    int memoizes = count == 3 ? PyObject_IsTrue(args[2]) : 1;
    if (memoizes < 0)
        return NULL;
    fold walk = {.plans = (sv_plans *)args[1], .memoizes = memoizes != 0, .serial = ++next_serial, .holders = PyList_New(0)};
    if (walk.holders == NULL)
        return NULL;
    walk.plans->active++;
    PyObject *result = NULL;
    if (run(&walk, args[0]) == 0)
        result = PyBytes_FromStringAndSize((const char *)walk.digests[0].bytes, SV_DIGEST_SIZE);
    else if (walk.found_cycle)
        result = Py_NewRef(Py_None);
    release_fold(&walk);
    walk.plans->active--;
    sv_plans_trim(walk.plans);
    return result;
}

static PyObject *instance_dict(PyObject *module, PyObject *instance)
{
    (void)module;
    PyObject *dictionary = sv_state_dictionary(instance);
    return dictionary != NULL || PyErr_Occurred() ? dictionary : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"instance_dict", instance_dict, METH_O,
     PyDoc_STR("instance_dict(object) -> the dictionary of an instance, whatever its class defines as __dict__, or None "
               "if it has none")},
    {"fingerprint_fold", (PyCFunction)(void (*)(void))fingerprint_fold, METH_FASTCALL,
     PyDoc_STR("fingerprint_fold(object, plans, memoize=True) -> bytes, or None if the object contains itself")},
    {NULL, NULL, 0, NULL},
};

int sv_fingerprint_init(PyObject *module)
{
    sv_digests_init();
    name_tag = PyUnicode_InternFromString("tag");
    name_payload = PyUnicode_InternFromString("payload");
    name_pieces = PyUnicode_InternFromString("pieces");
    if (name_tag == NULL || name_payload == NULL || name_pieces == NULL || PyType_Ready(&sv_plans_type) < 0)
        return -1;
    if (PyModule_AddObjectRef(module, "FingerprintPlans", (PyObject *)&sv_plans_type) < 0 || sv_fingerprint_tables_init(module) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
