/* The traversal of the fingerprint room: the fold of traversal.py with the digest of aggregation.py, for graphs without cycles.
 *
 * An explicit stack of frames walks the objects, a stack of digests carries the results. A frame's digests start with the one of its state, so that the
 * input of its own digest lies in one piece. Everything that Python code could touch meanwhile is held by a reference.
 */
#include "fingerprint.h"

#include <string.h>

typedef enum { FRAME_ORDERED, FRAME_UNORDERED, FRAME_ITEMS, FRAME_FIELDS } frame_kind;

typedef struct {
    frame_kind kind;
    bool awaits_class;   /* FRAME_FIELDS: the digest on top is the one of the class */
    PyObject *subject;   /* owned; NULL for a level that no object stands for */
    PyObject *pieces;    /* owned tuple: the pieces; keys and values in turn; names of fields */
    sv_plan *plan;       /* owned; FRAME_FIELDS only */
    Py_ssize_t next;
    size_t start;        /* of its digests */
} frame;

/* An object that was met: open while its frame is, then with its digest. Held, so that its address stays its own. */
typedef struct {
    PyObject *subject;
    bool is_open;
    sv_digest digest;
} memo_entry;

typedef struct {
    sv_plans *plans;
    PyObject *holders;
    uint64_t serial;
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

/* Digests that never change: those of constants, and of the states of the builtin containers. */
static sv_digest leaf_none, leaf_false, leaf_true, leaf_unset;
static sv_digest state_tuple, state_list, state_dict, state_set, state_frozenset, state_item;

/* --- digests */

static void digest_tagged(sv_digest_domain domain, const char *tag, size_t tag_size, const void *payload, size_t size, sv_digest *digest)
{
    sv_hasher hasher;
    uint8_t length = (uint8_t)tag_size;
    sv_hasher_begin(&hasher, domain);
    sv_hasher_update(&hasher, &length, 1);
    sv_hasher_update(&hasher, tag, tag_size);
    sv_hasher_update(&hasher, payload, size);
    sv_hasher_finish(&hasher, digest);
}

#define DIGEST_LEAF(tag, payload, size, digest) digest_tagged(SV_DOMAIN_LEAF, tag, sizeof tag - 1, payload, size, digest)
#define DIGEST_STATE(tag, digest) digest_tagged(SV_DOMAIN_STATE, tag, sizeof tag - 1, "", 0, digest)

static void digest_pieces(sv_digest_domain domain, const sv_digest *state_and_pieces, size_t count, sv_digest *digest)
{
    sv_hasher hasher;
    sv_hasher_begin(&hasher, domain);
    sv_hasher_update(&hasher, state_and_pieces, count * sizeof *state_and_pieces);
    sv_hasher_finish(&hasher, digest);
}

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

/* Takes the references to subject, pieces and plan, also on failure. */
static int push_frame(fold *walk, frame_kind kind, PyObject *subject, PyObject *pieces, sv_plan *plan, const sv_digest *state)
{
    if (walk->frame_count == walk->frame_capacity) {
        size_t capacity = walk->frame_capacity == 0 ? 64 : walk->frame_capacity * 2;
        frame *frames = PyMem_Realloc(walk->frames, capacity * sizeof *frames);
        if (frames == NULL) {
            PyErr_NoMemory();
            goto failed;
        }
        walk->frames = frames;
        walk->frame_capacity = capacity;
    }
    if (push_digest(walk, state) < 0)
        goto failed;
    walk->frames[walk->frame_count++] = (frame){
        .kind = kind, .subject = subject, .pieces = pieces, .plan = plan, .start = walk->digest_count - 1,
    };
    return 0;
failed:
    Py_XDECREF(subject);
    Py_DECREF(pieces);
    if (plan != NULL)
        sv_plan_release(plan);
    return -1;
}

/* --- memo */

static size_t memo_slot(const memo_entry *memo, size_t capacity, PyObject *subject)
{
    size_t slot = ((uintptr_t)subject >> 4) * (size_t)0x9e3779b97f4a7c15u >> 20 & (capacity - 1);
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

/* --- one object */

static int visit_small_int(fold *walk, long long value)
{
    uint8_t bytes[9];
    unsigned long long magnitude = value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value;
    size_t bits = magnitude == 0 ? 0 : 64 - (size_t)__builtin_clzll(magnitude);
    size_t size = (bits + 8) / 8;
    for (size_t i = 0; i < size; i++)
        bytes[i] = i < 8 ? (uint8_t)((unsigned long long)value >> 8 * i) : value < 0 ? 0xff : 0;
    sv_digest digest;
    DIGEST_LEAF("int", bytes, size, &digest);
    return push_digest(walk, &digest);
}

static int visit_int(fold *walk, PyObject *value)
{
    int overflow;
    long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0)
        return small == -1 && PyErr_Occurred() ? -1 : visit_small_int(walk, small);
    size_t bits = _PyLong_NumBits(value);
    if (bits == (size_t)-1 && PyErr_Occurred())
        return -1;
    size_t size = (bits + 8) / 8;
    uint8_t *bytes = PyMem_Malloc(size);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
#if PY_VERSION_HEX >= 0x030d0000
    int status = _PyLong_AsByteArray((PyLongObject *)value, bytes, size, 1, 1, 1);
#else
    int status = _PyLong_AsByteArray((PyLongObject *)value, bytes, size, 1, 1);
#endif
    sv_digest digest;
    if (status == 0) {
        DIGEST_LEAF("int", bytes, size, &digest);
        status = push_digest(walk, &digest);
    }
    PyMem_Free(bytes);
    return status;
}

static void pack_double(double value, uint8_t bytes[8])
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(bits >> 8 * i);
}

static int visit_float(fold *walk, double value)
{
    uint8_t bytes[8];
    sv_digest digest;
    pack_double(value, bytes);
    DIGEST_LEAF("float", bytes, sizeof bytes, &digest);
    return push_digest(walk, &digest);
}

static int visit_complex(fold *walk, Py_complex value)
{
    uint8_t bytes[16];
    sv_digest digest;
    pack_double(value.real, bytes);
    pack_double(value.imag, bytes + 8);
    DIGEST_LEAF("complex", bytes, sizeof bytes, &digest);
    return push_digest(walk, &digest);
}

static int visit_str(fold *walk, PyObject *text)
{
    sv_digest digest;
    if (PyUnicode_IS_COMPACT_ASCII(text)) {
        DIGEST_LEAF("str", PyUnicode_DATA(text), (size_t)PyUnicode_GET_LENGTH(text), &digest);
        return push_digest(walk, &digest);
    }
    PyObject *encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (encoded == NULL)
        return -1;
    DIGEST_LEAF("str", PyBytes_AS_STRING(encoded), (size_t)PyBytes_GET_SIZE(encoded), &digest);
    Py_DECREF(encoded);
    return push_digest(walk, &digest);
}

static int visit_bytes(fold *walk, PyObject *bytes)
{
    sv_digest digest;
    DIGEST_LEAF("bytes", PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes), &digest);
    return push_digest(walk, &digest);
}

/* Keys and values in turn. A copy: the dictionary may change while Python code runs. */
static PyObject *flatten(PyObject *dictionary)
{
    Py_ssize_t size = PyDict_GET_SIZE(dictionary), position = 0, filled = 0;
    PyObject *key, *value, *flat = PyTuple_New(2 * size);
    if (flat == NULL)
        return NULL;
    /* Allocating can collect garbage, and finalizers can do anything. */
    if (PyDict_GET_SIZE(dictionary) != size) {
        Py_DECREF(flat);
        PyErr_SetString(PyExc_RuntimeError, "a dictionary changed its size while it was fingerprinted");
        return NULL;
    }
    while (PyDict_Next(dictionary, &position, &key, &value)) {
        PyTuple_SET_ITEM(flat, filled++, Py_NewRef(key));
        PyTuple_SET_ITEM(flat, filled++, Py_NewRef(value));
    }
    return flat;
}

/* Open a frame over a new tuple of pieces, which is taken; NULL passes an error on. */
static int open_container(fold *walk, frame_kind kind, PyObject *subject, PyObject *pieces, const sv_digest *state)
{
    if (pieces == NULL)
        return -1;
    if (memo_enter(walk, subject, NULL) < 0) {
        Py_DECREF(pieces);
        return -1;
    }
    return push_frame(walk, kind, Py_NewRef(subject), pieces, NULL, state);
}

static int open_fields(fold *walk, PyObject *subject, sv_plan *plan)
{
    if (memo_enter(walk, subject, NULL) < 0)
        return -1;
    plan->references++;
    return push_frame(walk, FRAME_FIELDS, Py_NewRef(subject), Py_NewRef(plan->names), plan, &plan->state);
}

/* Tag and payload of a level. */
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
            PyErr_Format(PyExc_TypeError, "the tag of a deconstruction is a str, not %.100s", Py_TYPE(tag)->tp_name);
        goto done;
    }
    if (tag_size > 255) {
        PyErr_Format(PyExc_ValueError, "the tag of a deconstruction is limited to 255 bytes, this one has %zd", tag_size);
        goto done;
    }
    if (PyBytes_CheckExact(payload)) {
        digest_tagged(domain, tag_bytes, (size_t)tag_size, PyBytes_AS_STRING(payload), (size_t)PyBytes_GET_SIZE(payload), digest);
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

/* A level: terminal ones become a digest at once, others a frame. The subject is the object that the level belongs to, or NULL. */
static int visit_level(fold *walk, PyObject *subject, PyObject *level)
{
    sv_digest digest;
    if (PyObject_TypeCheck(level, walk->plans->empty)) {
        if (digest_state_of(level, SV_DOMAIN_LEAF, &digest) < 0)
            return -1;
        if (subject != NULL && memo_enter(walk, subject, &digest) < 0)
            return -1;
        return push_digest(walk, &digest);
    }
    if (digest_state_of(level, SV_DOMAIN_STATE, &digest) < 0)
        return -1;
    PyObject *pieces = PyObject_GetAttr(level, name_pieces);
    if (pieces == NULL)
        return -1;
    if (!PyTuple_Check(pieces)) {
        PyErr_Format(PyExc_TypeError, "the pieces of a deconstruction are a tuple, not %.100s", Py_TYPE(pieces)->tp_name);
        Py_DECREF(pieces);
        return -1;
    }
    frame_kind kind = PyObject_TypeCheck(level, walk->plans->order_insensitive) ? FRAME_UNORDERED : FRAME_ORDERED;
    if (subject != NULL)
        return open_container(walk, kind, subject, pieces, &digest);
    return push_frame(walk, kind, NULL, pieces, NULL, &digest);
}

static int visit_by_rule(fold *walk, PyObject *object, sv_plan *plan)
{
    PyObject *level = PyObject_CallOneArg(plan->rule, object);
    if (level == NULL)
        return -1;
    int status = -1;
    if (!PyObject_TypeCheck(level, walk->plans->deconstruction))
        PyErr_Format(PyExc_TypeError, "the rule for %.100s returned %.100s, and not a Deconstruction", Py_TYPE(object)->tp_name,
                     Py_TYPE(level)->tp_name);
    else
        status = visit_level(walk, object, level);
    Py_DECREF(level);
    return status;
}

static int visit_planned(fold *walk, PyObject *object, sv_plan *plan)
{
    switch (plan->walk) {
    case SV_WALK_NONE: return push_digest(walk, &leaf_none);
    case SV_WALK_BOOL: return push_digest(walk, object == Py_True ? &leaf_true : &leaf_false);
    case SV_WALK_INT: return visit_int(walk, object);
    case SV_WALK_FLOAT: return visit_float(walk, PyFloat_AS_DOUBLE(object));
    case SV_WALK_COMPLEX: return visit_complex(walk, ((PyComplexObject *)object)->cval);
    case SV_WALK_STR: return visit_str(walk, object);
    case SV_WALK_BYTES: return visit_bytes(walk, object);
    case SV_WALK_DECONSTRUCTION: return visit_level(walk, NULL, object);
    default: break;
    }
    memo_entry *entry = memo_find(walk, object);
    if (entry != NULL) {
        if (!entry->is_open)
            return push_digest(walk, &entry->digest);
        walk->found_cycle = true;
        return -1;
    }
    switch (plan->walk) {
    case SV_WALK_TUPLE: return open_container(walk, FRAME_ORDERED, object, Py_NewRef(object), &state_tuple);
    case SV_WALK_LIST: return open_container(walk, FRAME_ORDERED, object, PyList_AsTuple(object), &state_list);
    case SV_WALK_DICT: return open_container(walk, FRAME_ITEMS, object, flatten(object), &state_dict);
    case SV_WALK_SET: return open_container(walk, FRAME_UNORDERED, object, PySequence_Tuple(object), &state_set);
    case SV_WALK_FROZENSET: return open_container(walk, FRAME_UNORDERED, object, PySequence_Tuple(object), &state_frozenset);
    case SV_WALK_FIELDS: return open_fields(walk, object, plan);
    default: return visit_by_rule(walk, object, plan);
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
        /* A slot or an attribute without a value. A property that fails is another matter. */
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyObject *descriptor = _PyType_Lookup(Py_TYPE(subject), name);
        if (descriptor != NULL && !Py_IS_TYPE(descriptor, &PyMemberDescr_Type))
            return -1;
        PyErr_Clear();
        return push_digest(walk, &leaf_unset);
    }
    int status = visit(walk, value);
    Py_DECREF(value);
    return status;
}

/* The class comes first. It has one digest per fold, which its plan remembers. */
static int visit_class(fold *walk, frame *top)
{
    if (top->plan->class_serial == walk->serial)
        return push_digest(walk, &top->plan->class_digest);
    top->awaits_class = true;
    return visit(walk, (PyObject *)Py_TYPE(top->subject));
}

static int advance(fold *walk, frame *top)
{
    Py_ssize_t next = top->next++;
    if (top->kind != FRAME_FIELDS)
        return visit(walk, PyTuple_GET_ITEM(top->pieces, next));
    if (next == 0)
        return visit_class(walk, top);
    if (top->awaits_class) {
        top->plan->class_digest = walk->digests[walk->digest_count - 1];
        top->plan->class_serial = walk->serial;
        top->awaits_class = false;
    }
    return visit_field(walk, top->subject, PyTuple_GET_ITEM(top->pieces, next - 1));
}

/* The two digests on top are a key and its value: make them one. */
static void join_item(fold *walk)
{
    sv_digest item[3] = {state_item, walk->digests[walk->digest_count - 2], walk->digests[walk->digest_count - 1]};
    walk->digest_count -= 2;
    digest_pieces(SV_DOMAIN_ORDERED, item, 3, &walk->digests[walk->digest_count++]);
}

static void release_frame(frame *done)
{
    Py_XDECREF(done->subject);
    Py_DECREF(done->pieces);
    if (done->plan != NULL)
        sv_plan_release(done->plan);
}

static void finish(fold *walk, frame *top)
{
    frame done = *top;
    sv_digest *from = walk->digests + done.start;
    size_t count = walk->digest_count - done.start;
    bool is_ordered = done.kind == FRAME_ORDERED || done.kind == FRAME_FIELDS;
    if (!is_ordered)
        qsort(from + 1, count - 1, sizeof *from, compare_digests);
    sv_digest digest;
    digest_pieces(is_ordered ? SV_DOMAIN_ORDERED : SV_DOMAIN_UNORDERED, from, count, &digest);
    *from = digest;
    walk->digest_count = done.start + 1;
    walk->frame_count--;
    if (done.subject != NULL) {
        memo_entry *entry = memo_find(walk, done.subject);
        entry->digest = digest;
        entry->is_open = false;
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
        Py_ssize_t count = PyTuple_GET_SIZE(top->pieces) + (top->kind == FRAME_FIELDS);
        if (top->next == count)
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
    if (count != 2 || !PyObject_TypeCheck(args[1], &sv_plans_type)) {
        PyErr_SetString(PyExc_TypeError, "fingerprint_fold takes an object and FingerprintPlans");
        return NULL;
    }
    fold walk = {.plans = (sv_plans *)args[1], .serial = ++next_serial, .holders = PyList_New(0)};
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

static PyMethodDef functions[] = {
    {"fingerprint_fold", (PyCFunction)(void (*)(void))fingerprint_fold, METH_FASTCALL,
     PyDoc_STR("fingerprint_fold(object, plans) -> bytes, or None if the object contains itself")},
    {NULL, NULL, 0, NULL},
};

int sv_fingerprint_init(PyObject *module)
{
    DIGEST_LEAF("None", "", 0, &leaf_none);
    DIGEST_LEAF("bool", "\0", 1, &leaf_false);
    DIGEST_LEAF("bool", "\1", 1, &leaf_true);
    DIGEST_LEAF("unset", "", 0, &leaf_unset);
    DIGEST_STATE("tuple", &state_tuple);
    DIGEST_STATE("list", &state_list);
    DIGEST_STATE("dict", &state_dict);
    DIGEST_STATE("set", &state_set);
    DIGEST_STATE("frozenset", &state_frozenset);
    DIGEST_STATE("item", &state_item);
    name_tag = PyUnicode_InternFromString("tag");
    name_payload = PyUnicode_InternFromString("payload");
    name_pieces = PyUnicode_InternFromString("pieces");
    if (name_tag == NULL || name_payload == NULL || name_pieces == NULL || PyType_Ready(&sv_plans_type) < 0)
        return -1;
    if (PyModule_AddObjectRef(module, "FingerprintPlans", (PyObject *)&sv_plans_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
