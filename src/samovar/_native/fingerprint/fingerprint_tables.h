/* The single definition of what the native and the Python traversal share: `vocabulary.py` reads these tables on import.
 * A change that affects digests must increment the format number in the domains.
 */
#ifndef SAMOVAR_FINGERPRINT_TABLES_H
#define SAMOVAR_FINGERPRINT_TABLES_H

#define SV_DIGEST_SIZE 20

/* What is hashed, and the personalization that separates it from the rest; at most 15 characters. */
#define SV_DIGEST_DOMAINS(ENTRY)         \
    ENTRY(LEAF, "samovar:1:leaf")        \
    ENTRY(STATE, "samovar:1:state")      \
    ENTRY(ORDERED, "samovar:1:order")    \
    ENTRY(UNORDERED, "samovar:1:bag")    \
    ENTRY(PLAIN, "samovar:1:plain")

/* The builtin types that are walked natively, with the tags of their levels. A walk's number is its position. */
#define SV_BUILTIN_WALKS(ENTRY)                   \
    ENTRY(NONE, "None", Py_TYPE(Py_None))         \
    ENTRY(BOOL, "bool", &PyBool_Type)             \
    ENTRY(INT, "int", &PyLong_Type)               \
    ENTRY(FLOAT, "float", &PyFloat_Type)          \
    ENTRY(COMPLEX, "complex", &PyComplex_Type)    \
    ENTRY(STR, "str", &PyUnicode_Type)            \
    ENTRY(BYTES, "bytes", &PyBytes_Type)          \
    ENTRY(TUPLE, "tuple", &PyTuple_Type)          \
    ENTRY(LIST, "list", &PyList_Type)             \
    ENTRY(DICT, "dict", &PyDict_Type)             \
    ENTRY(SET, "set", &PySet_Type)                \
    ENTRY(FROZENSET, "frozenset", &PyFrozenSet_Type)

/* Walks of classes that a plan describes: by declared fields, by the state of the instance with or without fields, by
   builtin content and one of the two. */
#define SV_PLANNED_WALKS(ENTRY) \
    ENTRY(FIELDS)               \
    ENTRY(STATE)                \
    ENTRY(EXTENDED)

/* Tags of levels that both traversals create: a key with its value, a field without a value, builtin content with what a
   subclass adds. */
#define SV_LEVEL_TAGS(ENTRY)  \
    ENTRY(ITEM, "item")       \
    ENTRY(UNSET, "unset")     \
    ENTRY(EXTENDED, "extended")

#endif
