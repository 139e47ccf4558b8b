/* What we use of CPython beyond its documented interface, 3.10 to 3.13: what can differ from one version to the next is here. */
#ifndef SAMOVAR_CPYTHON_H
#define SAMOVAR_CPYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

/* --- the end

   Is the interpreter on its way out? What the system takes back by itself then needs not be given back. */
static inline bool sv_is_finalizing(void)
{
#if PY_VERSION_HEX < 0x030D0000
    return _Py_IsFinalizing();
#else
    return Py_IsFinalizing();
#endif
}

/* --- exceptions that are sent to a thread, by PyThreadState_SetAsyncExc */

/* Is there one for this thread? Also without the GIL: what is there stays until the thread itself takes it, or another is sent. */
static inline bool sv_has_sent_exception(PyThreadState *thread)
{
    return __atomic_load_n(&thread->async_exc, __ATOMIC_RELAXED) != NULL;
}

/* Raise the one that was sent to this thread: -1; or 0 if there is none. */
static inline int sv_raise_sent_exception(void)
{
    PyObject *sent = __atomic_exchange_n(&PyThreadState_Get()->async_exc, NULL, __ATOMIC_RELAXED);
    if (sent == NULL)
        return 0;
    PyErr_SetNone(sent);
    Py_DECREF(sent);
    return -1;
}

/* --- dicts that have not changed

   A dict has another number after each change, and no number is given twice. No dict has the number 0. In 3.13 the dictionary of an
   instance may share its values with the object itself: assigning an attribute writes there, and leaves the number as it is. Such a
   dict is taken for one that has changed, whenever it is looked at. */
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
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* from 3.12 on, in favour of a callback for each change */
    return ((PyDictObject *)dict)->ma_version_tag;
#pragma GCC diagnostic pop
}

/* --- classes that have not changed

   CPython numbers the states of classes: a class has another number after each change of it or of a base, and a number is not
   given twice. Up to 3.12 a flag says whether a class has one at the moment; 3.13 does not set it. 3.10 begins to count again
   after sys._clear_type_cache() and after 2^32 numbers; since all classes lose theirs before that, a class of our own tells. */

/* One state of one class. A version of 0 is none: nothing is known of the class. The type is not a reference. */
typedef struct {
    PyTypeObject *type;
    uint64_t version;
} sv_type_state;

#if PY_VERSION_HEX < 0x030B0000
extern PyTypeObject sv_witness_type;
extern uint64_t sv_numbering; /* how often the numbers began again, in the upper half */
bool sv_numbers_begin_again(void);

static inline bool sv_numbers_go_on(void)
{
    return sv_witness_type.tp_version_tag == UINT32_MAX && PyType_HasFeature(&sv_witness_type, Py_TPFLAGS_VALID_VERSION_TAG);
}
#endif

/* The number of the state that a class is in, 0 if it has none at the moment. */
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

/* Is it this class, and has it not changed? */
static inline bool sv_type_is(const sv_type_state *known, PyTypeObject *type)
{
    return known->type == type && known->version != 0 && known->version == sv_type_version(type);
}

/* What a class or a base has under a name, a borrowed reference, or NULL without an exception. It gives the class a number.
   Python may run here: a name in a class can be of a class derived from str, with an __eq__ of its own. */
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

/* Are attributes read as `object` reads them, before a __getattr__ is asked? */
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

/* Does the interpreter manage the attributes of an instance: in the object itself as long as it has no dictionary? */
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
/* The dictionary of such an instance, a borrowed reference, or NULL if it has none yet. */
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

/* The dictionary of an instance, a borrowed reference, made now if it has none yet. 1, or 0 if it cannot have one or has no
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

/* Whether a weak reference leads to this object. -1 with an exception. */
static inline int sv_is_referent(PyObject *object, PyObject *reference)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *referent;
    int alive = PyWeakref_GetRef(reference, &referent);
    Py_XDECREF(referent);
    return alive < 0 ? -1 : referent == object; /* only its address is compared */
#else
    return object != Py_None && PyWeakref_GET_OBJECT(reference) == object; /* None: it is gone */
#endif
}

/* --- integers of any size */

/* How many bytes hold an integer and its sign. -1 with an exception. */
static inline int sv_integer_size(PyObject *integer, size_t *size)
{
    size_t bits = _PyLong_NumBits(integer);
    if (bits == (size_t)-1 && PyErr_Occurred())
        return -1;
    *size = (bits + 8) / 8;
    return 0;
}

/* An integer as two's complement, the lowest byte first. -1 with an exception. */
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
