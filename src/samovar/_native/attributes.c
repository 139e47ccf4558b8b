/* Reading an attribute of the same name again and again, at each launch. The ordinary protocol decides what an attribute is; what
   it did last time is remembered per instruction, under the version of the type: a slot at an offset, or an entry of the
   instance's dictionary at a position. A remembered position is a hint that is checked. Whatever does not fit goes the ordinary
   way: properties, __getattr__, class attributes, metaclasses. */
#include "runtime.h"

#include <structmember.h>

/* How the attribute was found last time. */
enum { ORDINARY, IN_SLOT, IN_DICT };

/* After so many moves the position is not looked for any more: instances have it in different places. */
enum { MOST_MOVES = 16 };

int sv_optional_attribute(PyObject *object, PyObject *name, PyObject **result)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyObject_GetOptionalAttr(object, name, result);
#else
    return _PyObject_LookupAttr(object, name, result);
#endif
}

#if PY_VERSION_HEX >= 0x030B0000
/* The dictionary of an instance that may not have one yet, its attributes being stored in the object itself: NULL then. Where
   the two are is part of each version of the interpreter. */
static PyObject *made_dict(PyObject *object)
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
#endif

/* The dictionary of an instance, borrowed, or NULL. An object whose attributes are in itself gets a dictionary only if it is seen
   a second time in a row: making one for a temporary object would cost more than it saves. */
static PyObject *instance_dict(sv_instruction *load, PyObject *object)
{
#if PY_VERSION_HEX >= 0x030B0000
    if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT)) {
        PyObject *made = made_dict(object);
        if (made != NULL)
            return made;
        bool again = load->seen == (uintptr_t)object;
        load->seen = (uintptr_t)object;
        if (!again)
            return NULL;
    }
#else
    (void)load;
#endif
    PyObject **place = _PyObject_GetDictPtr(object);
    return place == NULL ? NULL : *place;
}

/* Find out, after a type was seen for the first time or has changed, which way leads to the attribute. */
static void learn(sv_instruction *load, PyTypeObject *type)
{
    load->access = ORDINARY;
    load->moves = 0;
    PyObject *defined = _PyType_Lookup(type, load->name); /* gives the type a version */
    load->version = sv_type_version(type);
    if (type->tp_getattro != PyObject_GenericGetAttr)
        return;
    if (defined == NULL || Py_TYPE(defined)->tp_descr_set == NULL) {
        load->access = IN_DICT;
        load->number = 0;
    } else if (Py_IS_TYPE(defined, &PyMemberDescr_Type)) {
        const PyMemberDef *member = ((PyMemberDescrObject *)defined)->d_member;
        if (member->type == T_OBJECT_EX && PyType_IsSubtype(type, PyDescr_TYPE(defined))) {
            load->access = IN_SLOT;
            load->number = member->offset;
        }
    }
}

static int find_in_dict(sv_instruction *load, PyObject *dict, PyObject **result)
{
    PyObject *key, *value;
    Py_ssize_t position = load->number;
    if (PyDict_Next(dict, &position, &key, &value) && key == load->name) {
        *result = Py_NewRef(value);
        return 1;
    }
    *result = Py_XNewRef(PyDict_GetItemWithError(dict, load->name));
    if (*result == NULL)
        return PyErr_Occurred() ? -1 : 0;
    if (load->moves < MOST_MOVES) {
        load->moves++;
        for (position = 0; PyDict_Next(dict, &position, &key, &value);)
            if (key == load->name) {
                load->number = position - 1;
                break;
            }
    }
    return 1;
}

int sv_load_attribute(sv_instruction *load, PyObject *source, PyObject **result)
{
    PyTypeObject *type = Py_TYPE(source);
    unsigned int version = sv_type_version(type);
    if (version != load->version || version == 0)
        learn(load, type);
    if (load->access == IN_SLOT) {
        *result = Py_XNewRef(*(PyObject **)((char *)source + load->number));
        return *result != NULL;
    }
    if (load->access == IN_DICT) {
        PyObject *dict = instance_dict(load, source);
        int found = dict == NULL ? 0 : find_in_dict(load, dict, result);
        if (found != 0)
            return found;
    }
    return sv_optional_attribute(source, load->name, result);
}
