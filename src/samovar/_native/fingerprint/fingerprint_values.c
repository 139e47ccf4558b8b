/* Digests of builtin values, and constant ones. A value may be of a subclass: only the memory of the builtin type is
   read. */
#include "fingerprint/fingerprint.h"

#include <string.h>

sv_digest sv_leaf_none, sv_leaf_false, sv_leaf_true, sv_leaf_unset;
sv_digest sv_state_item, sv_state_extended, sv_builtin_states[SV_BUILTIN_WALK_END];

#define TAG_CONSTANT(name, tag) static const char level_tag_##name[] = tag;
SV_LEVEL_TAGS(TAG_CONSTANT)
#define BUILTIN_TAG_CONSTANT(name, tag, type) static const char tag_##name[] = tag;
SV_BUILTIN_WALKS(BUILTIN_TAG_CONSTANT)

#define DIGEST_LEAF(tag, payload, size, digest) sv_digest_tagged(SV_DOMAIN_LEAF, tag, sizeof tag - 1, payload, size, digest)
#define DIGEST_STATE(tag, digest) sv_digest_tagged(SV_DOMAIN_STATE, tag, sizeof tag - 1, "", 0, digest)

void sv_digest_tagged(sv_digest_domain domain, const char *tag, size_t tag_size, const void *payload, size_t size, sv_digest *digest)
{
    sv_hasher hasher;
    uint8_t length = (uint8_t)tag_size;
    sv_hasher_begin(&hasher, domain);
    sv_hasher_update(&hasher, &length, 1);
    sv_hasher_update(&hasher, tag, tag_size);
    sv_hasher_update(&hasher, payload, size);
    sv_hasher_finish(&hasher, digest);
}

void sv_digest_pieces(sv_digest_domain domain, const sv_digest *state_and_pieces, size_t count, sv_digest *digest)
{
    sv_hasher hasher;
    sv_hasher_begin(&hasher, domain);
    sv_hasher_update(&hasher, state_and_pieces, count * sizeof *state_and_pieces);
    sv_hasher_finish(&hasher, digest);
}

static void digest_small_int(long long value, sv_digest *digest)
{
    uint8_t bytes[9];
    unsigned long long magnitude = value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value;
    size_t bits = magnitude == 0 ? 0 : 64 - (size_t)__builtin_clzll(magnitude);
    size_t size = (bits + 8) / 8;
    for (size_t i = 0; i < size; i++)
        bytes[i] = i < 8 ? (uint8_t)((unsigned long long)value >> 8 * i) : value < 0 ? 0xff : 0;
    DIGEST_LEAF(tag_INT, bytes, size, digest);
}

static int digest_int(PyObject *value, sv_digest *digest)
{
    int overflow;
    long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) {
        if (small == -1 && PyErr_Occurred())
            return -1;
        digest_small_int(small, digest);
        return 0;
    }
    size_t size;
    if (sv_integer_size(value, &size) < 0)
        return -1;
    uint8_t *bytes = PyMem_Malloc(size);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int status = sv_integer_bytes(value, bytes, size);
    if (status == 0)
        DIGEST_LEAF(tag_INT, bytes, size, digest);
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

static void digest_float(double value, sv_digest *digest)
{
    uint8_t bytes[8];
    pack_double(value, bytes);
    DIGEST_LEAF(tag_FLOAT, bytes, sizeof bytes, digest);
}

static void digest_complex(Py_complex value, sv_digest *digest)
{
    uint8_t bytes[16];
    pack_double(value.real, bytes);
    pack_double(value.imag, bytes + 8);
    DIGEST_LEAF(tag_COMPLEX, bytes, sizeof bytes, digest);
}

static int digest_str(PyObject *text, sv_digest *digest)
{
    if (PyUnicode_IS_ASCII(text)) {
        DIGEST_LEAF(tag_STR, PyUnicode_DATA(text), (size_t)PyUnicode_GET_LENGTH(text), digest);
        return 0;
    }
    PyObject *encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (encoded == NULL)
        return -1;
    DIGEST_LEAF(tag_STR, PyBytes_AS_STRING(encoded), (size_t)PyBytes_GET_SIZE(encoded), digest);
    Py_DECREF(encoded);
    return 0;
}

int sv_digest_leaf(sv_walk walk, PyObject *value, sv_digest *digest)
{
    switch (walk) {
    case SV_WALK_NONE: *digest = sv_leaf_none; return 0;
    case SV_WALK_BOOL: *digest = value == Py_True ? sv_leaf_true : sv_leaf_false; return 0;
    case SV_WALK_INT: return digest_int(value, digest);
    case SV_WALK_FLOAT: digest_float(PyFloat_AS_DOUBLE(value), digest); return 0;
    case SV_WALK_COMPLEX: digest_complex(((PyComplexObject *)value)->cval, digest); return 0;
    case SV_WALK_STR: return digest_str(value, digest);
    case SV_WALK_BYTES: DIGEST_LEAF(tag_BYTES, PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value), digest); return 0;
    default: PyErr_SetString(PyExc_SystemError, "a container was passed as a value"); return -1;
    }
}

void sv_digests_init(void)
{
    DIGEST_LEAF(tag_NONE, "", 0, &sv_leaf_none);
    DIGEST_LEAF(tag_BOOL, "\0", 1, &sv_leaf_false);
    DIGEST_LEAF(tag_BOOL, "\1", 1, &sv_leaf_true);
    DIGEST_LEAF(level_tag_UNSET, "", 0, &sv_leaf_unset);
    DIGEST_STATE(level_tag_ITEM, &sv_state_item);
    DIGEST_STATE(level_tag_EXTENDED, &sv_state_extended);
#define DIGEST_BUILTIN_STATE(name, tag, type) DIGEST_STATE(tag_##name, &sv_builtin_states[SV_WALK_##name]);
    SV_BUILTIN_WALKS(DIGEST_BUILTIN_STATE)
}
