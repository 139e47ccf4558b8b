/* Declarations shared by the fingerprint files: the digest, and the plans that describe how a class is walked. */
#ifndef SAMOVAR_FINGERPRINT_H
#define SAMOVAR_FINGERPRINT_H

#include "fingerprint/fingerprint_tables.h"
#include "native.h"

typedef struct {
    uint8_t bytes[SV_DIGEST_SIZE];
} sv_digest;

#define SV_DOMAIN_NUMBER(name, personalization) SV_DOMAIN_##name,
typedef enum { SV_DIGEST_DOMAINS(SV_DOMAIN_NUMBER) SV_DOMAIN_COUNT } sv_digest_domain;

typedef struct {
    uint64_t chain[8];
    uint64_t length;
    size_t used;
    uint8_t block[128];
} sv_hasher;

void sv_hasher_begin(sv_hasher *hasher, sv_digest_domain domain);
void sv_hasher_update(sv_hasher *hasher, const void *data, size_t size);
void sv_hasher_finish(sv_hasher *hasher, sv_digest *digest);

/* The hexadecimal digest of plain data, a new reference or NULL; see plain_digest.c. */
PyObject *sv_plain_digest(PyObject *value);
/* The hexadecimal fingerprint of a code object, a new reference or NULL; see plain_digest.c. */
PyObject *sv_code_fingerprint(PyObject *code, bool locations);

/* Hash what an object exports through the buffer protocol, in C order and without copying all of it. -1 on error. */
int sv_hasher_update_memory(sv_hasher *hasher, PyObject *exporter);

/* How a class is walked. */
#define SV_BUILTIN_NUMBER(name, tag, type) SV_WALK_##name,
#define SV_PLANNED_NUMBER(name) SV_WALK_##name,
typedef enum {
    SV_WALK_DECONSTRUCTION,
    SV_BUILTIN_WALKS(SV_BUILTIN_NUMBER)
    SV_PLANNED_WALKS(SV_PLANNED_NUMBER)
    SV_WALK_CALL
} sv_walk;

enum { SV_BUILTIN_WALK_END = SV_WALK_FIELDS };

/* Constant digests: of singletons, and of the states of levels without a payload. */
extern sv_digest sv_leaf_none, sv_leaf_false, sv_leaf_true, sv_leaf_unset;
extern sv_digest sv_state_item, sv_state_extended, sv_builtin_states[SV_BUILTIN_WALK_END];
void sv_digests_init(void);

/* The digest of a tag and a payload, and that of a state followed by pieces. */
void sv_digest_tagged(sv_digest_domain domain, const char *tag, size_t tag_size, const void *payload, size_t size, sv_digest *digest);
void sv_digest_pieces(sv_digest_domain domain, const sv_digest *state_and_pieces, size_t count, sv_digest *digest);

/* Whether a walk is one of values without pieces, and the digest of such a value, which may be of a subclass. -1 on
   error. */
static inline bool sv_is_leaf_walk(sv_walk walk)
{
    return walk >= SV_WALK_NONE && walk <= SV_WALK_BYTES;
}
int sv_digest_leaf(sv_walk walk, PyObject *value, sv_digest *digest);

/* How the state of an instance is read. Python decides once per list of names which of them count and in which order, as a
   shape: the positions of what counts among the names, and the digest of the level's state. */
typedef struct {
    bool has_dict;
    PyObject *slots;      /* tuple of names, each of which maps to its slot */
    PyObject *find_shape; /* (class, names) -> shape */
    PyObject *shapes;     /* dict: names -> shape */
    PyObject *last_names; /* the shape used last: most instances of a class have the same */
    PyObject *last_shape;
    PyObject *guard;      /* class -> whether instances may be read, determined once per fold; NULL if they always may */
    uint64_t guard_serial;
    bool guard_answer;
    sv_digest bare_digest; /* of an instance in which nothing counts, valid in the fold with this serial number */
    uint64_t bare_serial;
} sv_state_plan;

/* Reference-counted by hand and not a Python object: it is looked up for every object walked. */
typedef struct {
    Py_ssize_t references;
    sv_walk walk;
    sv_walk content;         /* SV_WALK_EXTENDED: the builtin walk of the content */
    sv_walk own;             /* SV_WALK_EXTENDED: what the class adds, SV_WALK_FIELDS or SV_WALK_STATE */
    PyObject *rule;          /* the callable; NULL for walks without a rule */
    PyObject *names;         /* fields and state: tuple of interned names of fields, which come before the state */
    sv_digest fields;        /* fields: digest of the tag and the names */
    sv_state_plan *state;    /* state: how it is read */
    sv_digest class_digest;  /* of the class itself, valid in the fold with this serial number */
    uint64_t class_serial;
} sv_plan;

typedef struct {
    PyTypeObject *type;   /* borrowed: an entry is valid only while the version or the fold shows that it is the same class */
    uint64_t version;     /* 0: not valid beyond the fold */
    uint64_t serial;
    sv_plan *plan;
} sv_plan_entry;

typedef struct {
    PyObject_HEAD
    PyObject *planner;                  /* class -> number, tuple or rule; see fill_plan */
    PyTypeObject *deconstruction;
    PyTypeObject *empty;
    PyTypeObject *order_insensitive;
    bool keeps;                         /* whether plans may outlive a fold */
    Py_ssize_t active;                  /* folds in progress */
    size_t capacity;                    /* a power of two, or 0 */
    size_t used;
    sv_plan_entry *entries;
} sv_plans;

extern PyTypeObject sv_plans_type;

/* The plan for a class as a new reference, NULL on error. `holders` keeps every class that was planned in this fold. */
sv_plan *sv_plans_find(sv_plans *plans, PyTypeObject *type, uint64_t serial, PyObject *holders);
void sv_plan_release(sv_plan *plan);

/* Drop plans if there are too many of them and no fold relies on them. */
void sv_plans_trim(sv_plans *plans);

/* What counts of an instance, as a new tuple, and the digest of the level's state. 0: leave the instance to the rule. -1 on
   error. */
int sv_state_read(sv_state_plan *plan, PyObject *instance, PyObject **values, sv_digest *state);
/* Whether the instance is empty; false if that needs a closer look. -1 on error. */
int sv_state_is_empty(const sv_state_plan *plan, PyObject *instance);
/* The dictionary of an instance, whatever its class defines as `__dict__`. A new reference, or NULL: without an exception if
   it has none. */
PyObject *sv_state_dictionary(PyObject *instance);

int sv_state_plan_traverse(const sv_state_plan *plan, visitproc visit, void *arg);
void sv_state_plan_release(sv_state_plan *plan);

int sv_fingerprint_tables_init(PyObject *module);

#endif
