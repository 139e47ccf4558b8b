/* What the files of the fingerprint subject share: the digest, and the plans that say how a class is walked. */
#ifndef SAMOVAR_FINGERPRINT_H
#define SAMOVAR_FINGERPRINT_H

#include "native.h"

#define SV_DIGEST_SIZE 20

typedef struct {
    uint8_t bytes[SV_DIGEST_SIZE];
} sv_digest;

/* The things that are hashed; the personalisation of each is in fingerprint_digest.c. */
typedef enum {
    SV_DOMAIN_LEAF, SV_DOMAIN_STATE, SV_DOMAIN_ORDERED, SV_DOMAIN_UNORDERED, SV_DOMAIN_PLAIN, SV_DOMAIN_COUNT
} sv_digest_domain;

typedef struct {
    uint64_t chain[8];
    uint64_t length;
    size_t used;
    uint8_t block[128];
} sv_hasher;

void sv_hasher_begin(sv_hasher *hasher, sv_digest_domain domain);
void sv_hasher_update(sv_hasher *hasher, const void *data, size_t size);
void sv_hasher_finish(sv_hasher *hasher, sv_digest *digest);

/* The fingerprint of a code object in hexadecimal digits, a new reference or NULL; see plain.c. */
PyObject *sv_code_fingerprint(PyObject *code, bool locations);

/* Hash what an object shows through the buffer protocol, in C order and without a copy of the whole. -1 on error. */
int sv_hasher_update_memory(sv_hasher *hasher, PyObject *exporter);

/* How a class is walked. The numbers up to SV_WALK_FROZENSET are those of NATIVE_WALKS in containers.py. */
typedef enum {
    SV_WALK_DECONSTRUCTION,
    SV_WALK_NONE, SV_WALK_BOOL, SV_WALK_INT, SV_WALK_FLOAT, SV_WALK_COMPLEX, SV_WALK_STR, SV_WALK_BYTES,
    SV_WALK_TUPLE, SV_WALK_LIST, SV_WALK_DICT, SV_WALK_SET, SV_WALK_FROZENSET,
    SV_WALK_FIELDS,
    SV_WALK_CALL
} sv_walk;

/* Counted by hand and not a Python object: it is looked up for every object that is walked. */
typedef struct {
    Py_ssize_t references;
    sv_walk walk;
    PyObject *rule;          /* what to call; NULL for the walks that need no rule */
    PyObject *names;         /* SV_WALK_FIELDS: tuple of interned names */
    sv_digest state;         /* SV_WALK_FIELDS: digest of the tag and the names */
    sv_digest class_digest;  /* of the class itself, valid in the fold with this serial number */
    uint64_t class_serial;
} sv_plan;

typedef struct {
    PyTypeObject *type;   /* borrowed: an entry counts only while the version or the fold says that it is the same class */
    uint64_t version;     /* 0: not to be used beyond the fold */
    uint64_t serial;
    sv_plan *plan;
} sv_plan_entry;

typedef struct {
    PyObject_HEAD
    PyObject *planner;                  /* class -> number, (names, state, rule), or rule */
    PyTypeObject *deconstruction;
    PyTypeObject *empty;
    PyTypeObject *order_insensitive;
    bool keeps;                         /* whether plans may outlive a fold */
    Py_ssize_t active;                  /* folds under way */
    size_t capacity;                    /* a power of two, or 0 */
    size_t used;
    sv_plan_entry *entries;
} sv_plans;

extern PyTypeObject sv_plans_type;

/* The plan for a class as a new reference, NULL on error. `holders` keeps every class that was planned in this fold. */
sv_plan *sv_plans_find(sv_plans *plans, PyTypeObject *type, uint64_t serial, PyObject *holders);
void sv_plan_release(sv_plan *plan);

/* Forget plans if there are too many of them and no fold relies on them. */
void sv_plans_trim(sv_plans *plans);

#endif
