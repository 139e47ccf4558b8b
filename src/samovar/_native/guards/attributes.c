/* Inline caches for attribute loads, which run at each launch. The ordinary protocol decides what an attribute is; its last
   result is cached per instruction, for one state of the class: a slot at an offset, or an entry of the instance's
   dictionary at a position. A cached position is a hint that is checked. Everything else takes the ordinary path:
   properties, __getattr__, class attributes, metaclasses. */
#include "guards/guards.h"

#include <structmember.h>

/* How the attribute was found last time. HIDES: in the dictionary of the instance, while the class has something under the
   name that may become a data descriptor if its own class changes. */
enum { ORDINARY, IN_SLOT, IN_DICT, HIDES };

/* After this many moves the position is no longer cached: instances have it in different places. */
enum { MOST_MOVES = 16 };

static PyObject *name_getattribute;

/* Determine how to find the attribute, after a class was seen for the first time or has changed. */
static void learn(sv_attribute_load *load, PyTypeObject *type)
{
    sv_python_may_run();
    /* Python may run here. So the result is valid only if the classes are in the same state after it was found again, and
       nothing is written into the load before. */
    PyObject *defined = Py_XNewRef(sv_type_lookup(type, load->name));
    if (defined != NULL)
        sv_type_lookup(Py_TYPE(defined), load->name); /* gives it a version */
    bool as_object = sv_reads_as_object(type, name_getattribute);
    sv_type_state owner = sv_type_state_of(type), hidden_type = {NULL, 0};
    if (defined != NULL)
        hidden_type = sv_type_state_of(Py_TYPE(defined));
    bool unchanged = sv_type_lookup(type, load->name) == defined && sv_type_is(&owner, type) &&
                   (defined == NULL || sv_type_is(&hidden_type, Py_TYPE(defined)));
    load->owner = unchanged ? owner : (sv_type_state){NULL, 0};
    load->hidden = defined;
    load->hidden_type = hidden_type;
    load->access = ORDINARY;
    load->moves = 0;
    load->place = 0;
    if (unchanged && as_object) {
        if (defined == NULL) {
            load->access = IN_DICT;
        } else if (Py_IS_TYPE(defined, &PyMemberDescr_Type)) {
            const PyMemberDef *member = ((PyMemberDescrObject *)defined)->d_member;
            if (member->type == T_OBJECT_EX && PyType_IsSubtype(type, PyDescr_TYPE(defined))) {
                load->access = IN_SLOT;
                load->place = (uint32_t)member->offset;
            }
        } else if (Py_TYPE(defined)->tp_descr_set == NULL) {
            /* Objects whose class is not a heap type cannot change their class or its behavior. */
            bool is_fixed = !PyType_HasFeature(Py_TYPE(defined), Py_TPFLAGS_HEAPTYPE) && !PyModule_Check(defined);
            load->access = is_fixed ? IN_DICT : HIDES;
        }
    }
    Py_XDECREF(defined);
}

/* The dictionary of an instance, a borrowed reference; 1, 0 if it has none, -1 with an exception. An object with inline
   attributes gets a dictionary only if it is seen twice in a row: creating one for a temporary object would cost more than
   it saves. */
static int find_dict(sv_attribute_load *load, PyObject *object, PyObject **dict)
{
    if (sv_is_managed(object)) {
        *dict = sv_managed_dict(object);
        if (*dict != NULL)
            return 1;
        uint16_t bits = (uint16_t)((uintptr_t)object >> 4);
        bool again = load->last == bits;
        load->last = bits;
        if (!again)
            return 0;
    }
    return sv_instance_dict(object, dict);
}

static int find_in_dict(sv_attribute_load *load, PyObject *dict, PyObject **result)
{
    PyObject *key, *value;
    Py_ssize_t position = load->place;
    if (PyDict_Next(dict, &position, &key, &value) && key == load->name) {
        *result = Py_NewRef(value);
        return 1;
    }
    sv_python_may_run();
    /* Python may run here, and may give the instance another dictionary. */
    Py_INCREF(dict);
    int found = sv_load_name(dict, load->name, result);
    if (found == 1 && load->moves < MOST_MOVES) {
        load->moves++;
        for (position = 0; PyDict_Next(dict, &position, &key, &value);)
            if (key == load->name) {
                load->place = (uint32_t)(position - 1);
                break;
            }
    }
    Py_DECREF(dict);
    return found;
}

int sv_load_attribute(sv_attribute_load *load, PyObject *source, PyObject **result)
{
    PyTypeObject *type = Py_TYPE(source);
    if (!sv_type_is(&load->owner, type) || (load->access == HIDES && !sv_type_is(&load->hidden_type, Py_TYPE(load->hidden)))) {
        learn(load, type);
        if (!sv_type_is(&load->owner, Py_TYPE(source))) /* Python has run: the object may have changed */
            return sv_optional_attribute(source, load->name, result);
    }
    if (load->access == IN_SLOT) {
        *result = Py_XNewRef(*(PyObject **)((char *)source + load->place));
        if (*result != NULL)
            return 1;
    } else if (load->access != ORDINARY) {
        PyObject *dict;
        int found = find_dict(load, source, &dict);
        if (found == 1)
            found = find_in_dict(load, dict, result);
        if (found != 0)
            return found;
    }
    sv_python_may_run();
    return sv_optional_attribute(source, load->name, result); /* Python may run here. */
}

/* If the class customizes attribute access, read it: a method of the object with this func. */
static int reads_as_method(PyObject *source, PyObject *name, PyObject *func)
{
    PyObject *method;
    sv_python_may_run();
    int found = sv_optional_attribute(source, name, &method); /* Python may run here. */
    if (found == 1)
        found = PyMethod_Check(method) && PyMethod_GET_FUNCTION(method) == func && PyMethod_GET_SELF(method) == source;
    Py_XDECREF(method);
    return found;
}

/* Otherwise it must be what the class defines, and the instance must not hide it. */
int sv_binds_func(PyObject *source, PyObject *name, PyObject *func)
{
    /* Python may run here. */
    if (!sv_reads_as_object(Py_TYPE(source), name_getattribute))
        return reads_as_method(source, name, func);
    if (sv_type_lookup(Py_TYPE(source), name) != func)
        return 0;
    PyObject *dict = sv_is_managed(source) ? sv_managed_dict(source) : NULL;
    int found = dict != NULL ? 1 : sv_instance_dict(source, &dict);
    if (found != 1)
        return found < 0 ? -1 : 1;
    /* Python may run here, and may give the instance another dictionary. */
    Py_INCREF(dict);
    int shadowed = PyDict_Contains(dict, name);
    Py_DECREF(dict);
    return shadowed < 0 ? -1 : !shadowed;
}

int sv_attributes_init(PyObject *Py_UNUSED(module))
{
    name_getattribute = PyUnicode_InternFromString("__getattribute__");
    return name_getattribute == NULL ? -1 : 0;
}
