/* Reading the rows of paths, and cached answers of Python about the classes of objects. */
#include "replay/replay.h"

bool sv_take_row(const sv_replay *self, Py_ssize_t number, sv_row *taken)
{
    if (number < 0 || number >= PyList_GET_SIZE(self->rows))
        return false;
    PyObject *tuple = PyList_GET_ITEM(self->rows, number);
    if (!PyTuple_CheckExact(tuple) || PyTuple_GET_SIZE(tuple) != 3 || !PyLong_CheckExact(PyTuple_GET_ITEM(tuple, 0)))
        return false;
    *taken = (sv_row){Py_NewRef(tuple), PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, 0)), PyTuple_GET_ITEM(tuple, 1), PyTuple_GET_ITEM(tuple, 2)};
    return true;
}

/* --- cached answers of Python about classes

   The answers to `class` and `bases`, and whether an object is compound, depend only on the class of an object, and hold
   until the class changes. Only heap types are cached: instances of others are of many kinds. */

typedef struct {
    sv_type_state class;
    PyObject *question; /* a word */
    PyObject *answer;   /* a strong reference */
} class_answer;
enum { PLACES = 512, NEIGHBORS = 4 };
static class_answer class_answers[PLACES + NEIGHBORS];

/* The slot for an answer: two answers that share a slot and alternate would evict each other. */
static class_answer *place_of(PyTypeObject *type, PyObject *question)
{
    uintptr_t mixed = (((uintptr_t)type >> 4) * 31 + ((uintptr_t)question >> 4)) * 0x9e3779b1u >> 7;
    class_answer *first = &class_answers[mixed % PLACES], *place = first;
    while (place < first + NEIGHBORS && place->question != NULL && (place->question != question || place->class.type != type))
        place++;
    return place < first + NEIGHBORS ? place : first;
}

static bool belongs_to_class(PyObject *object, PyObject *question, PyObject *answer)
{
    if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE))
        return false;
    if (sv_is_word(question, sv_word_class) || sv_is_word(question, sv_word_bases))
        return true;
    PyObject *kind = sv_is_word(question, sv_word_kind) ? sv_marked(answer, sv_word_kind) : NULL;
    return kind != NULL && sv_is_word(kind, sv_word_OBJECT);
}

/* The cached answer, a borrowed reference, or NULL. */
static PyObject *known_answer(PyObject *object, PyObject *question)
{
    const class_answer *known = place_of(Py_TYPE(object), question);
    return known->question == question && sv_type_is(&known->class, Py_TYPE(object)) ? known->answer : NULL;
}

bool sv_was_answered(PyObject *object, PyObject *question, PyObject *answer)
{
    PyObject *known = known_answer(object, question);
    if (known == NULL)
        return false;
    /* Python may run here, and may cache another answer. */
    Py_INCREF(known);
    bool same = sv_same_value(known, answer) == 1;
    Py_DECREF(known);
    return same;
}

void sv_remember_answer(PyObject *object, const sv_type_state *class, PyObject *question, PyObject *answer)
{
    if (!sv_type_is(class, Py_TYPE(object)) || !belongs_to_class(object, question, answer))
        return;
    class_answer *place = place_of(Py_TYPE(object), question);
    PyObject *old = place->answer;
    *place = (class_answer){*class, question, Py_NewRef(answer)};
    Py_XDECREF(old); /* Python may run here. */
}

/* --- reading */

static bool is_func(PyObject *object)
{
    PyObject *kind = sv_base_kind(object);
    bool result = kind != NULL && sv_is_word(kind, sv_word_FUNC);
    Py_XDECREF(kind);
    return result;
}

static PyObject *named(PyObject *function, PyObject *step, PyObject *name)
{
    PyObject *globals = PyFunction_GET_GLOBALS(function), *builtins = sv_function_builtins(function);
    if (!PyDict_CheckExact(globals) || builtins == NULL || !PyDict_CheckExact(builtins))
        return NULL;
    PyObject *found = PyDict_GetItemWithError(globals, name); /* Python may run here. */
    if (found == NULL && !PyErr_Occurred() && !sv_is_word(step, sv_word_global))
        found = PyDict_GetItemWithError(builtins, name);
    else if (found != NULL && sv_is_word(step, sv_word_builtin))
        found = NULL;
    return PyErr_Occurred() ? NULL : Py_NewRef(found == NULL ? sv_lens.absent : found);
}

static PyObject *read_parameter(const sv_replay *self, const sv_row *at)
{
    PyObject *found = PyDict_GetItemWithError(self->arguments, at->key);
    return PyErr_Occurred() ? NULL : Py_NewRef(found == NULL ? sv_lens.absent : found);
}

static PyObject *read_kernel(const sv_replay *self, const sv_row *Py_UNUSED(at))
{
    return Py_NewRef(self->function);
}

static PyObject *read_function(const sv_replay *self, const sv_row *at)
{
    PyObject *func = sv_object_of(self, at->parent);
    if (func != NULL && PyFunction_Check(func))
        return func; /* a plain one */
    PyObject *wrapped = func != NULL && is_func(func) ? PyObject_GetAttr(func, sv_word___wrapped__) : NULL; /* Python may run here. */
    if (wrapped != NULL && !PyFunction_Check(wrapped))
        Py_CLEAR(wrapped);
    Py_XDECREF(func);
    return wrapped;
}

static PyObject *read_name(const sv_replay *self, const sv_row *at)
{
    PyObject *function = sv_object_of(self, at->parent);
    PyObject *found = function != NULL && PyFunction_Check(function) ? named(function, at->step, at->key) : NULL;
    Py_XDECREF(function);
    return found;
}

static PyObject *read_attribute(const sv_replay *self, const sv_row *at)
{
    PyObject *owner = PyUnicode_CheckExact(at->key) ? sv_object_of(self, at->parent) : NULL, *found = NULL;
    if (owner == sv_lens.absent) {
        found = Py_NewRef(sv_lens.absent);
    } else if (owner != NULL && !PyType_Check(owner)) {
        /* Class attributes are looked up along the bases, which is left to Python. */
        found = PyObject_GetAttr(owner, at->key); /* Python may run here. */
        if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Clear();
            found = Py_NewRef(sv_lens.absent);
        }
    }
    Py_XDECREF(owner);
    return found;
}

static PyObject *read_item(const sv_replay *self, const sv_row *at)
{
    PyObject *owner = PyLong_CheckExact(at->key) ? sv_object_of(self, at->parent) : NULL, *found = NULL;
    if (owner == sv_lens.absent) {
        found = Py_NewRef(sv_lens.absent);
    } else if (owner != NULL && (PyTuple_CheckExact(owner) || PyList_CheckExact(owner))) {
        Py_ssize_t index = PyLong_AsSsize_t(at->key);
        if (index >= 0 && index < PySequence_Fast_GET_SIZE(owner))
            found = Py_NewRef(PySequence_Fast_GET_ITEM(owner, index));
    }
    Py_XDECREF(owner);
    return found;
}

sv_step sv_steps[] = {
    {"parameter", read_parameter, NULL},
    {"kernel", read_kernel, NULL},
    {"function", read_function, NULL},
    {"global", read_name, NULL},
    {"builtin", read_name, NULL},
    {"undefined", read_name, NULL},
    {"attribute", read_attribute, NULL},
    {"item", read_item, NULL},
};
const int sv_step_count = sizeof sv_steps / sizeof *sv_steps;

static PyObject *quick_read(const sv_replay *self, const sv_row *at)
{
    for (int i = 0; i < sv_step_count; i++)
        if (sv_is_word(at->step, sv_steps[i].word))
            return sv_steps[i].read(self, at);
    return NULL;
}

PyObject *sv_read_before(const sv_replay *self, Py_ssize_t number)
{
    PyObject *object = number >= 0 && number < PyList_GET_SIZE(self->objects) ? PyList_GET_ITEM(self->objects, number) : sv_lens.unread;
    return object == sv_lens.unread ? NULL : Py_NewRef(object);
}

PyObject *sv_object_of(const sv_replay *self, Py_ssize_t number)
{
    PyObject *known = sv_read_before(self, number), *found = NULL;
    if (known != NULL)
        return known;
    sv_row taken;
    if (number < 0 || number >= PyList_GET_SIZE(self->objects) || !sv_take_row(self, number, &taken)) {
        PyErr_SetString(PyExc_IndexError, "no such path");
        return NULL;
    }
    if (!Py_EnterRecursiveCall(" while reading a path")) {
        found = quick_read(self, &taken);
        Py_LeaveRecursiveCall();
    }
    Py_DECREF(taken.tuple);
    if (found == NULL && !PyErr_Occurred())
        return PyObject_CallFunction(self->read, "n", number);
    if (found != NULL && PyList_SetItem(self->objects, number, Py_NewRef(found)) < 0)
        Py_CLEAR(found);
    return found;
}
