/* All uses of CPython internals, 3.10 to 3.13: whatever may differ between versions is in this file. */
#ifndef SAMOVAR_CPYTHON_H
#define SAMOVAR_CPYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

/* --- shutdown

   Whether the interpreter is finalizing. The operating system then releases memory by itself. */
static inline bool sv_is_finalizing(void)
{
#if PY_VERSION_HEX < 0x030D0000
    return _Py_IsFinalizing();
#else
    return Py_IsFinalizing();
#endif
}

/* --- asynchronous exceptions, sent by PyThreadState_SetAsyncExc */

/* Whether this thread has a pending one. May be called without the GIL: a pending exception stays until the thread itself
   takes it or another one replaces it. */
static inline bool sv_has_sent_exception(PyThreadState *thread)
{
    return __atomic_load_n(&thread->async_exc, __ATOMIC_RELAXED) != NULL;
}

/* Raise the pending asynchronous exception of this thread and return -1; 0 if there is none. */
int sv_raise_sent_exception(void);

/* --- unchanged dicts

   Every change gives a dict a new version, and no version is reused. 0 is never one. On 3.13 the dict of an instance may
   share its values with the object: an attribute assignment writes there and leaves the version as it is. Such a dict always
   counts as changed. */
#if PY_VERSION_HEX >= 0x030D0000
extern uint64_t sv_unnumbered;
#endif

static inline uint64_t sv_dict_version(PyObject *dict)
{
#if PY_VERSION_HEX >= 0x030D0000
    if (__builtin_expect(((PyDictObject *)dict)->ma_values != NULL, 0))
        return --sv_unnumbered;
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* deprecated since 3.12 in favor of watcher callbacks */
    return ((PyDictObject *)dict)->ma_version_tag;
#pragma GCC diagnostic pop
}

/* --- unchanged classes

   CPython gives each state of a class a version tag: a class gets a new one after each change of it or of a base, and tags
   are not reused. Up to 3.12 a flag says whether the tag is valid; 3.13 does not set it. 3.10 restarts the tags after
   sys._clear_type_cache() and after 2^32 of them; all classes lose theirs before that, so a class of our own detects it. */

/* One state of one class. Version 0 means none: nothing is known about the class. The type is not a reference. */
typedef struct {
    PyTypeObject *type;
    uint64_t version;
} sv_type_state;

#if PY_VERSION_HEX < 0x030B0000
extern PyTypeObject sv_witness_type;
extern uint64_t sv_numbering; /* the number of restarts, in the upper half */
bool sv_numbers_begin_again(void);

static inline bool sv_numbers_go_on(void)
{
    return sv_witness_type.tp_version_tag == UINT32_MAX && PyType_HasFeature(&sv_witness_type, Py_TPFLAGS_VALID_VERSION_TAG);
}
#endif

/* The version tag of a class, 0 if it has none at the moment. */
static inline uint64_t sv_type_version(PyTypeObject *type)
{
#if PY_VERSION_HEX < 0x030D0000
    if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG))
        return 0;
#endif
#if PY_VERSION_HEX < 0x030B0000
    if (!sv_numbers_go_on() && !sv_numbers_begin_again())
        return 0;
    return type->tp_version_tag == 0 ? 0 : sv_numbering | type->tp_version_tag;
#else
    return type->tp_version_tag;
#endif
}

static inline sv_type_state sv_type_state_of(PyTypeObject *type)
{
    return (sv_type_state){type, sv_type_version(type)};
}

/* Whether it is this class, unchanged. */
static inline bool sv_type_is(const sv_type_state *known, PyTypeObject *type)
{
    return known->type == type && known->version != 0 && known->version == sv_type_version(type);
}

/* Look a name up in a class and its bases: a borrowed reference, or NULL without an exception. Gives the class a version
   tag. Python may run here: a key of a class dict may be a str subclass with its own __eq__. */
static inline PyObject *sv_type_lookup(PyTypeObject *type, PyObject *name)
{
    return _PyType_Lookup(type, name);
}

/* --- attributes */

/* 1 found, a new reference; 0 absent; -1 another exception than AttributeError. Python may run here. */
static inline int sv_optional_attribute(PyObject *object, PyObject *name, PyObject **result)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyObject_GetOptionalAttr(object, name, result);
#else
    return _PyObject_LookupAttr(object, name, result);
#endif
}

/* Whether attributes are read as `object` reads them, before any __getattr__. */
static inline bool sv_reads_as_object(PyTypeObject *type, PyObject *getattribute)
{
    if (type->tp_getattro == PyObject_GenericGetAttr)
        return true;
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
        return false;
    PyObject *defined = sv_type_lookup(type, getattribute);
    return defined != NULL && Py_IS_TYPE(defined, &PyWrapperDescr_Type) &&
           ((PyWrapperDescrObject *)defined)->d_wrapped == (void *)PyObject_GenericGetAttr;
}

/* Whether the interpreter manages the attributes of an instance: inside the object as long as it has no dict. */
static inline bool sv_is_managed(PyObject *object)
{
#if PY_VERSION_HEX >= 0x030B0000
    return PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT);
#else
    (void)object;
    return false;
#endif
}

#if PY_VERSION_HEX >= 0x030B0000
/* The dict of such an instance: a borrowed reference, or NULL if it has none yet. */
static inline PyObject *sv_managed_dict(PyObject *object)
{
    PyObject **before = (PyObject **)object;
#if PY_VERSION_HEX >= 0x030D0000
    return before[-3];
#elif PY_VERSION_HEX >= 0x030C0000
    return (uintptr_t)before[-3] & 1 ? NULL : before[-3];
#else
    return before[-4] != NULL ? NULL : before[-3];
#endif
}
#else
static inline PyObject *sv_managed_dict(PyObject *Py_UNUSED(object))
{
    return NULL;
}
#endif

/* The dict of an instance, a borrowed reference; created if it has none yet. 1, or 0 if it cannot have one or has no
   attributes; -1 with a MemoryError. */
static inline int sv_instance_dict(PyObject *object, PyObject **dict)
{
    PyObject **place = _PyObject_GetDictPtr(object);
    *dict = place == NULL ? NULL : *place;
    if (place == NULL && Py_TYPE(object)->tp_dictoffset != 0) {
        PyErr_NoMemory();
        return -1;
    }
    return *dict != NULL;
}

/* --- functions and weak references */

/* A borrowed reference, or NULL. */
static inline PyObject *sv_function_builtins(PyObject *function)
{
    return ((PyFunctionObject *)function)->func_builtins;
}

/* Whether a weak reference refers to this object. -1 with an exception. */
static inline int sv_is_referent(PyObject *object, PyObject *reference)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *referent;
    int alive = PyWeakref_GetRef(reference, &referent);
    Py_XDECREF(referent);
    return alive < 0 ? -1 : referent == object; /* only its address is compared */
#else
    return object != Py_None && PyWeakref_GET_OBJECT(reference) == object; /* None: the referent is gone */
#endif
}

/* --- integers of any size */

/* The number of bytes of an integer with its sign. -1 with an exception. */
static inline int sv_integer_size(PyObject *integer, size_t *size)
{
    size_t bits = _PyLong_NumBits(integer);
    if (bits == (size_t)-1 && PyErr_Occurred())
        return -1;
    *size = (bits + 8) / 8;
    return 0;
}

/* Write an integer as little-endian two's complement. -1 with an exception. */
static inline int sv_integer_bytes(PyObject *integer, uint8_t *bytes, size_t size)
{
#if PY_VERSION_HEX >= 0x030D0000
    return _PyLong_AsByteArray((PyLongObject *)integer, bytes, size, 1, 1, 1);
#else
    return _PyLong_AsByteArray((PyLongObject *)integer, bytes, size, 1, 1);
#endif
}

int sv_cpython_init(void);

#endif
