/* The contents of the slots and the dictionary of an instance, in canonical order.
 *
 * Values and names are collected here. `StateRule.shape` in Python decides which of them count, once per list of names.
 */
#include "fingerprint/fingerprint.h"

#include <string.h>

/* Beyond this many lists of names per class they are dropped, and longer ones are not cached: such instances are
   dictionaries in disguise. */
enum { MOST_SHAPES = 256, LONGEST_SHAPE = 100 };

PyObject *sv_state_dictionary(PyObject *instance)
{
    /* The dictionary of a class does not hold attributes of instances. */
    if (Py_TYPE(instance)->tp_dictoffset == 0 || PyType_Check(instance))
        return NULL;
    return PyObject_GenericGetDict(instance, NULL);
}

int sv_state_is_empty(const sv_state_plan *plan, PyObject *instance)
{
    if (PyTuple_GET_SIZE(plan->slots) != 0)
        return 0;
    if (!plan->has_dict)
        return 1;
    PyObject *dictionary = sv_state_dictionary(instance);
    if (dictionary == NULL)
        return -1;
    int is_empty = PyDict_GET_SIZE(dictionary) == 0;
    Py_DECREF(dictionary);
    return is_empty;
}

/* The names and values of one instance while they are collected. The tuples have their maximum length and are truncated at
   the end. */
typedef struct {
    PyObject *names;
    PyObject *values;
    Py_ssize_t filled;
} gathered;

static void append(gathered *into, PyObject *name, PyObject *value)
{
    PyTuple_SET_ITEM(into->names, into->filled, Py_NewRef(name));
    PyTuple_SET_ITEM(into->values, into->filled++, value);
}

static int gather_slots(gathered *into, const sv_state_plan *plan, PyObject *instance)
{
    PyTypeObject *type = Py_TYPE(instance);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(plan->slots); i++) {
        PyObject *name = PyTuple_GET_ITEM(plan->slots, i);
        PyObject *slot = sv_type_lookup(type, name);
        if (slot == NULL || !Py_IS_TYPE(slot, &PyMemberDescr_Type)) {
            PyErr_Format(PyExc_RuntimeError, "%.100s lost its slot %U while it was fingerprinted", type->tp_name, name);
            return -1;
        }
        PyObject *value = Py_TYPE(slot)->tp_descr_get(slot, instance, (PyObject *)type);
        if (value != NULL) {
            append(into, name, value);
        } else {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError))
                return -1;
            PyErr_Clear();
        }
    }
    return 0;
}

/* 0 if a name is not an exact str. */
static int gather_dictionary(gathered *into, PyObject *dictionary)
{
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(dictionary, &position, &name, &value)) {
        if (!PyUnicode_CheckExact(name))
            return 0;
        append(into, name, Py_NewRef(value));
    }
    return 1;
}

static int gather(gathered *into, const sv_state_plan *plan, PyObject *instance)
{
    PyObject *dictionary = NULL;
    if (plan->has_dict && (dictionary = sv_state_dictionary(instance)) == NULL)
        return -1;
    Py_ssize_t attributes = dictionary == NULL ? 0 : PyDict_GET_SIZE(dictionary);
    Py_ssize_t size = PyTuple_GET_SIZE(plan->slots) + attributes;
    int status = -1;
    if ((into->names = PyTuple_New(size)) == NULL || (into->values = PyTuple_New(size)) == NULL || gather_slots(into, plan, instance) < 0)
        goto done;
    /* Allocation can trigger garbage collection, and finalizers can do anything. */
    if (dictionary != NULL && PyDict_GET_SIZE(dictionary) != attributes)
        PyErr_Format(PyExc_RuntimeError, "a %.100s gained or lost attributes while it was fingerprinted", Py_TYPE(instance)->tp_name);
    else
        status = dictionary == NULL ? 1 : gather_dictionary(into, dictionary);
    if (status == 1 && into->filled != size &&
        (_PyTuple_Resize(&into->names, into->filled) < 0 || _PyTuple_Resize(&into->values, into->filled) < 0))
        status = -1;
done:
    Py_XDECREF(dictionary);
    return status;
}

static bool has_names(PyObject *names, PyObject *others)
{
    Py_ssize_t size = PyTuple_GET_SIZE(names);
    if (others == NULL || PyTuple_GET_SIZE(others) != size)
        return false;
    /* Names of attributes are usually interned; the dictionary finds a copy. */
    for (Py_ssize_t i = 0; i < size; i++)
        if (PyTuple_GET_ITEM(names, i) != PyTuple_GET_ITEM(others, i))
            return false;
    return true;
}

static int check_shape(PyObject *shape, Py_ssize_t size)
{
    PyObject *positions, *state;
    if (!PyTuple_Check(shape) || !PyArg_ParseTuple(shape, "O!S", &PyTuple_Type, &positions, &state))
        return -1;
    if (PyBytes_GET_SIZE(state) != SV_DIGEST_SIZE)
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(positions); i++) {
        Py_ssize_t position = PyLong_AsSsize_t(PyTuple_GET_ITEM(positions, i));
        if (position < 0 || position >= size)
            return -1;
    }
    return 0;
}

/* Call Python, and cache the result. A new reference. */
static PyObject *ask_for_shape(sv_state_plan *plan, PyTypeObject *type, PyObject *names)
{
    PyObject *shape = PyObject_CallFunctionObjArgs(plan->find_shape, (PyObject *)type, names, NULL);
    if (shape == NULL)
        return NULL;
    if (check_shape(shape, PyTuple_GET_SIZE(names)) < 0) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "the shape of a %.100s must be positions and a digest", type->tp_name);
        Py_DECREF(shape);
        return NULL;
    }
    if (PyTuple_GET_SIZE(names) > LONGEST_SHAPE)
        return shape;
    if (PyDict_GET_SIZE(plan->shapes) >= MOST_SHAPES)
        PyDict_Clear(plan->shapes);
    if (PyDict_SetItem(plan->shapes, names, shape) < 0)
        Py_CLEAR(shape);
    return shape;
}

/* The shape for a list of names as a new reference. */
static PyObject *shape_for(sv_state_plan *plan, PyTypeObject *type, PyObject *names)
{
    if (has_names(names, plan->last_names))
        return Py_NewRef(plan->last_shape);
    PyObject *shape = PyDict_GetItemWithError(plan->shapes, names);
    if (shape != NULL)
        Py_INCREF(shape);
    else if (PyErr_Occurred() || (shape = ask_for_shape(plan, type, names)) == NULL)
        return NULL;
    Py_XSETREF(plan->last_names, Py_NewRef(names));
    Py_XSETREF(plan->last_shape, Py_NewRef(shape));
    return shape;
}

/* The values that count, in canonical order: a new tuple. */
static PyObject *arrange(PyObject *values, PyObject *positions)
{
    Py_ssize_t count = PyTuple_GET_SIZE(positions);
    PyObject *arranged = PyTuple_New(count);
    if (arranged == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(arranged, i, Py_NewRef(PyTuple_GET_ITEM(values, PyLong_AsSsize_t(PyTuple_GET_ITEM(positions, i)))));
    return arranged;
}

int sv_state_read(sv_state_plan *plan, PyObject *instance, PyObject **values, sv_digest *state)
{
    gathered found = {NULL, NULL, 0};
    PyObject *shape = NULL;
    int status = gather(&found, plan, instance);
    if (status != 1)
        goto done;
    status = -1;
    if ((shape = shape_for(plan, Py_TYPE(instance), found.names)) == NULL)
        goto done;
    if ((*values = arrange(found.values, PyTuple_GET_ITEM(shape, 0))) == NULL)
        goto done;
    memcpy(state->bytes, PyBytes_AS_STRING(PyTuple_GET_ITEM(shape, 1)), SV_DIGEST_SIZE);
    status = 1;
done:
    Py_XDECREF(found.names);
    Py_XDECREF(found.values);
    Py_XDECREF(shape);
    return status;
}

int sv_state_plan_traverse(const sv_state_plan *plan, visitproc visit, void *arg)
{
    Py_VISIT(plan->find_shape);
    Py_VISIT(plan->guard);
    return 0;
}

void sv_state_plan_release(sv_state_plan *plan)
{
    if (plan == NULL)
        return;
    Py_XDECREF(plan->slots);
    Py_XDECREF(plan->find_shape);
    Py_XDECREF(plan->shapes);
    Py_XDECREF(plan->last_names);
    Py_XDECREF(plan->last_shape);
    Py_XDECREF(plan->guard);
    PyMem_Free(plan);
}
