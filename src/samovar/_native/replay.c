/* Asking recorded questions again, the common ones in native code: what a warm start does instead of a compile. The rows of
   paths and the steps are those of `samovar.lens.tree`; what is not handled here is left to the Python side, which is the
   reference and gives the same answers. Objects are read once, into a list that both sides share. */
#include "fingerprint.h"
#include "runtime.h"

#include <string.h>

/* Set once by the lens: pairs of a type and the name of its kind, known function → its canonical name, what a func is an
   instance of, and the two marks. */
static PyObject *kinds, *intrinsics, *declaration, *absent, *unread;

/* One replay. All references are borrowed from the caller. */
typedef struct {
    PyObject *rows;
    PyObject *objects;
    PyObject *function;
    PyObject *signature; /* of the kernel */
    PyObject *arguments;
    PyObject *options;
    bool locations;
    PyObject *read;   /* number → object, for what is not read here */
    PyObject *agrees; /* (number, question, expected) → bool, for what is not asked here */
} replay;

enum { DISAGREES, AGREES, PASSES }; /* PASSES: ask the Python side */

#define QUESTIONS(X)                                                                                                      \
    X(kind) X(tensor) X(readonly) X(value) X(intrinsic) X(option) X(disjoint) X(function) X(signature) X(class) X(bases) X(same) X(namespace)
#define STEPS(X) X(parameter) X(kernel) X(attribute) X(item) X(global) X(builtin) X(undefined)

#define DECLARE(word) static PyObject *word_##word;
QUESTIONS(DECLARE)
STEPS(DECLARE)
static PyObject *word_dtype, *word_path, *word_digests, *word_wrapped;
static PyObject *words_extent[SV_MAX_NDIM]; /* "extent 0", … */

static int intern_words(void)
{
#define INTERN(word)                                                                                                      \
    if (word_##word == NULL && (word_##word = PyUnicode_InternFromString(#word)) == NULL)                                  \
        return -1;
    QUESTIONS(INTERN)
    STEPS(INTERN)
    INTERN(dtype)
    INTERN(path)
    INTERN(digests)
    if (word_wrapped == NULL && (word_wrapped = PyUnicode_InternFromString("__wrapped__")) == NULL)
        return -1;
    for (int axis = 0; axis < SV_MAX_NDIM; axis++) {
        if (words_extent[axis] == NULL && (words_extent[axis] = PyUnicode_FromFormat("extent %d", axis)) == NULL)
            return -1;
        PyUnicode_InternInPlace(&words_extent[axis]);
    }
    return 0;
}

/* Words come from files, where they were interned; should one not be, it is the Python side that reads it. */
static bool is_word(PyObject *text, PyObject *word)
{
    return text == word;
}

/* --- the data of a tree: (parent, step, key) and (number, question, answer) */

typedef struct {
    PyObject *tuple; /* a reference, that the others are borrowed from */
    Py_ssize_t parent;
    PyObject *step;
    PyObject *key;
} row;

/* To be released if it is true. */
static bool take_row(const replay *self, Py_ssize_t number, row *taken)
{
    if (number < 0 || number >= PyList_GET_SIZE(self->rows))
        return false;
    PyObject *tuple = PyList_GET_ITEM(self->rows, number);
    if (!PyTuple_CheckExact(tuple) || PyTuple_GET_SIZE(tuple) != 3 || !PyLong_CheckExact(PyTuple_GET_ITEM(tuple, 0)))
        return false;
    *taken = (row){Py_NewRef(tuple), PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, 0)), PyTuple_GET_ITEM(tuple, 1), PyTuple_GET_ITEM(tuple, 2)};
    return true;
}

/* The content of (..., what, content), or NULL. */
static PyObject *marked(PyObject *encoded, PyObject *what)
{
    if (!PyTuple_CheckExact(encoded) || PyTuple_GET_SIZE(encoded) != 3 || PyTuple_GET_ITEM(encoded, 0) != Py_Ellipsis)
        return NULL;
    return is_word(PyTuple_GET_ITEM(encoded, 1), what) ? PyTuple_GET_ITEM(encoded, 2) : NULL;
}

static bool is_text(PyObject *object, const char *text)
{
    return PyUnicode_CheckExact(object) && PyUnicode_CompareWithASCIIString(object, text) == 0;
}

static bool is_dtype(PyObject *encoded, const sv_dtype *dtype)
{
    PyObject *name = marked(encoded, word_dtype);
    return name != NULL && is_text(name, dtype->name);
}

static bool is_truth(PyObject *object, bool expected)
{
    return object == (expected ? Py_True : Py_False);
}

/* --- what the Python side has answered about classes

   The answers to `class` and `bases`, and whether an object is a compound or a func, belong to the class of an object, and hold
   as long as the class does not change. Only classes made in Python are remembered: objects of others are of many kinds. */

typedef struct {
    sv_type_state class;
    PyObject *question; /* a word */
    PyObject *answer;   /* a strong reference */
} class_answer;
static class_answer class_answers[256];

static class_answer *place_of(PyTypeObject *type, PyObject *question)
{
    uintptr_t mixed = ((uintptr_t)type >> 4) * 31 + ((uintptr_t)question >> 4);
    return &class_answers[mixed % (sizeof class_answers / sizeof *class_answers)];
}

static bool belongs_to_class(PyObject *object, PyObject *question, PyObject *answer)
{
    if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE))
        return false;
    if (is_word(question, word_class) || is_word(question, word_bases))
        return true;
    PyObject *kind = is_word(question, word_kind) ? marked(answer, word_kind) : NULL;
    return kind != NULL && (is_text(kind, "OBJECT") || is_text(kind, "FUNC"));
}

/* What is remembered, a borrowed reference, or NULL. */
static PyObject *known_answer(PyObject *object, PyObject *question)
{
    const class_answer *known = place_of(Py_TYPE(object), question);
    return known->question == question && sv_type_is(&known->class, Py_TYPE(object)) ? known->answer : NULL;
}

static bool was_answered(PyObject *object, PyObject *question, PyObject *answer)
{
    PyObject *known = known_answer(object, question);
    if (known == NULL)
        return false;
    /* Python may run here, and may remember another answer. */
    Py_INCREF(known);
    bool same = sv_same_value(known, answer) == 1;
    Py_DECREF(known);
    return same;
}

/* `class` is what the class was before the question was asked: if it has changed meanwhile, the answer may be about either. */
static void remember(PyObject *object, const sv_type_state *class, PyObject *question, PyObject *answer)
{
    if (!sv_type_is(class, Py_TYPE(object)) || !belongs_to_class(object, question, answer))
        return;
    class_answer *place = place_of(Py_TYPE(object), question);
    PyObject *old = place->answer;
    *place = (class_answer){*class, question, Py_NewRef(answer)};
    Py_XDECREF(old); /* Python may run here. */
}

/* --- reading */

static PyObject *object_of(const replay *self, Py_ssize_t number);

/* Whether the Python side has said of an object of this class that it is a func. */
static bool is_func(PyObject *object)
{
    PyObject *known = known_answer(object, word_kind);
    return known != NULL && is_text(marked(known, word_kind), "FUNC");
}

static PyObject *named(PyObject *function, PyObject *step, PyObject *name)
{
    PyObject *globals = PyFunction_GET_GLOBALS(function), *builtins = sv_function_builtins(function);
    if (!PyDict_CheckExact(globals) || builtins == NULL || !PyDict_CheckExact(builtins))
        return NULL;
    PyObject *found = PyDict_GetItemWithError(globals, name); /* Python may run here. */
    if (found == NULL && !PyErr_Occurred() && !is_word(step, word_global))
        found = PyDict_GetItemWithError(builtins, name);
    else if (found != NULL && is_word(step, word_builtin))
        found = NULL;
    return PyErr_Occurred() ? NULL : Py_NewRef(found == NULL ? absent : found);
}

/* What is read here: a new reference, or NULL without an exception if the Python side is to read it. */
static PyObject *quick_read(const replay *self, Py_ssize_t parent, PyObject *step, PyObject *key)
{
    if (is_word(step, word_function)) {
        PyObject *func = object_of(self, parent);
        PyObject *wrapped = func != NULL && is_func(func) ? PyObject_GetAttr(func, word_wrapped) : NULL;
        if (wrapped != NULL && !PyFunction_Check(wrapped))
            Py_CLEAR(wrapped);
        Py_XDECREF(func);
        return wrapped;
    }
    if (is_word(step, word_parameter)) {
        PyObject *found = PyDict_GetItemWithError(self->arguments, key);
        return PyErr_Occurred() ? NULL : Py_NewRef(found == NULL ? absent : found);
    }
    if (is_word(step, word_kernel))
        return Py_NewRef(self->function);
    bool by_name = is_word(step, word_global) || is_word(step, word_builtin) || is_word(step, word_undefined);
    bool is_member = is_word(step, word_attribute) && PyUnicode_CheckExact(key);
    bool is_item = is_word(step, word_item) && (PyUnicode_CheckExact(key) || PyLong_CheckExact(key));
    if (!by_name && !is_member && !is_item)
        return NULL;
    PyObject *owner = object_of(self, parent), *found = NULL;
    if (owner == NULL)
        return NULL;
    if (by_name) {
        if (PyFunction_Check(owner))
            found = named(owner, step, key);
    } else if (owner == absent) {
        found = Py_NewRef(absent);
    } else if (is_member) {
        /* Classes are looked at along their bases, which is the business of the Python side. */
        if (!PyType_Check(owner)) {
            found = PyObject_GetAttr(owner, key); /* Python may run here. */
            if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
                PyErr_Clear();
                found = Py_NewRef(absent);
            }
        }
    } else if (PyTuple_CheckExact(owner) || PyList_CheckExact(owner)) {
        Py_ssize_t index = PyLong_CheckExact(key) ? PyLong_AsSsize_t(key) : -1;
        if (index >= 0 && index < PySequence_Fast_GET_SIZE(owner))
            found = Py_NewRef(PySequence_Fast_GET_ITEM(owner, index));
    }
    Py_DECREF(owner);
    return found;
}

/* The object at a path that was read already, a new reference; NULL without an exception if it was not. */
static PyObject *read_before(const replay *self, Py_ssize_t number)
{
    PyObject *object = number >= 0 && number < PyList_GET_SIZE(self->objects) ? PyList_GET_ITEM(self->objects, number) : unread;
    return object == unread ? NULL : Py_NewRef(object);
}

/* A new reference; NULL with an exception. Python may run here. */
static PyObject *object_of(const replay *self, Py_ssize_t number)
{
    PyObject *known = read_before(self, number), *found = NULL;
    if (known != NULL)
        return known;
    row taken;
    if (number < 0 || number >= PyList_GET_SIZE(self->objects) || !take_row(self, number, &taken)) {
        PyErr_SetString(PyExc_IndexError, "no such path");
        return NULL;
    }
    if (!Py_EnterRecursiveCall(" while a path is read")) {
        found = quick_read(self, taken.parent, taken.step, taken.key);
        Py_LeaveRecursiveCall();
    }
    Py_DECREF(taken.tuple);
    if (found == NULL && !PyErr_Occurred())
        return PyObject_CallFunction(self->read, "n", number);
    if (found != NULL && PyList_SetItem(self->objects, number, Py_NewRef(found)) < 0)
        Py_CLEAR(found);
    return found;
}

/* --- asking */

static PyObject *intrinsic_name(PyObject *object)
{
    /* Only objects whose hash and equality are identity: others would run their own code. */
    PyTypeObject *type = Py_TYPE(object);
    if (type != &PyType_Type && type != &PyCFunction_Type && type != &PyFunction_Type)
        return NULL;
    return PyDict_GetItemWithError(intrinsics, object);
}

/* Is it samovar itself, or a module of it? Their names belong to the version, which is asked once. */
static bool is_own(PyObject *module)
{
    static const char own[] = "samovar";
    PyObject *name = PyModule_CheckExact(module) ? PyModule_GetNameObject(module) : NULL;
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    PyObject *loaded = text == NULL || strncmp(text, own, sizeof own - 1) != 0 ? NULL : PyImport_GetModule(name);
    bool result = loaded == module && (text[sizeof own - 1] == '\0' || text[sizeof own - 1] == '.');
    Py_XDECREF(loaded);
    Py_XDECREF(name);
    PyErr_Clear(); /* a module without a name is none of ours */
    return result;
}

static PyObject *is_own_module(PyObject *Py_UNUSED(module), PyObject *object)
{
    return PyBool_FromLong(is_own(object));
}

static int ask_kind(PyObject *object, PyObject *expected)
{
    PyObject *name = marked(expected, word_kind);
    if (name == NULL)
        return PASSES;
    if (object == absent)
        return is_text(name, "ABSENT");
    if (is_own(object))
        return is_text(name, "SAMOVAR");
    /* Types are compared by identity: a metaclass may have made them unhashable. */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kinds); i++) {
        PyObject *pair = PyTuple_GET_ITEM(kinds, i);
        if (PyTuple_GET_ITEM(pair, 0) == (PyObject *)Py_TYPE(object))
            return PyUnicode_Compare(PyTuple_GET_ITEM(pair, 1), name) == 0;
    }
    if (intrinsic_name(object) != NULL)
        return is_text(name, "INTRINSIC");
    return PASSES;
}

static bool is_number(PyObject *object, int64_t expected)
{
    int overflow;
    return PyLong_CheckExact(object) && PyLong_AsLongLongAndOverflow(object, &overflow) == expected && !overflow;
}

/* The facts in their order. */
static int same_facts(const sv_tensor_view *view, PyObject *expected)
{
    if (!PyTuple_CheckExact(expected) || PyTuple_GET_SIZE(expected) != SV_FACT_COUNT)
        return PASSES;
#define ANSWERED_t is_dtype
#define ANSWERED_n is_number
#define ANSWERED_f is_truth
#define FACT_ANSWERED(name, type, letter) &&ANSWERED_##letter(PyTuple_GET_ITEM(expected, SV_FACT_##name), view->name)
    return true SV_TENSOR_FACTS(FACT_ANSWERED);
}

/* Which axis a question is about the length of, or -1. */
static int axis_in_question(PyObject *question)
{
    for (int axis = 0; axis < SV_MAX_NDIM; axis++)
        if (is_word(question, words_extent[axis]))
            return axis;
    return -1;
}

static int same_extent(const sv_tensor_view *view, int axis, PyObject *expected)
{
    if (axis < 0 || axis >= view->ndim || !PyLong_CheckExact(expected))
        return PASSES;
    int64_t extent = view->shape[axis];
    return is_number(expected, sv_is_extent(extent, SV_UNKNOWN_EXTENT) ? SV_UNKNOWN_EXTENT : extent);
}

static int ask_tensor(PyObject *object, PyObject *question, PyObject *expected)
{
    if (!sv_array_check(object))
        return PASSES;
    sv_tensor_view view;
    if (sv_tensor_view_get(object, &view) != 1) {
        PyErr_Clear();
        return PASSES;
    }
    int result = is_word(question, word_tensor)     ? same_facts(&view, expected)
                 : is_word(question, word_readonly) ? is_truth(expected, view.readonly)
                                                    : same_extent(&view, axis_in_question(question), expected);
    sv_tensor_view_release(&view);
    return result;
}

static int ask_value(PyObject *object, PyObject *expected)
{
    bool simple = PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object) ||
                  PyUnicode_CheckExact(object) || object == Py_None;
    return simple ? sv_same_value(object, expected) : PASSES;
}

static int ask_option(const replay *self, PyObject *name, PyObject *expected)
{
    PyObject *value = Py_XNewRef(PyDict_GetItemWithError(self->options, name));
    if (value == NULL)
        return PASSES;
    /* Python may run here. */
    int result = Py_IS_TYPE(value, &sv_dtype_type) ? is_dtype(expected, (sv_dtype *)value) : sv_same_value(value, expected);
    Py_DECREF(value);
    return result;
}

/* Two tuples of (..., "path", number). */
static int ask_disjoint(const replay *self, PyObject *key, PyObject *expected)
{
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != 2)
        return PASSES;
    PyObject *arrays[2] = {NULL, NULL};
    int result = PASSES;
    Py_ssize_t count = PyList_GET_SIZE(self->rows);
    bool *seen = PyMem_Calloc((size_t)count + 1, sizeof *seen); /* per path: those written are compared as such */
    if (seen == NULL)
        return PASSES;
    for (int part = 0; part < 2; part++) {
        PyObject *paths = PyTuple_GET_ITEM(key, part);
        if (!PyTuple_CheckExact(paths) || (arrays[part] = PyList_New(0)) == NULL)
            goto done;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(paths); i++) {
            PyObject *number = marked(PyTuple_GET_ITEM(paths, i), word_path);
            Py_ssize_t place = number != NULL && PyLong_CheckExact(number) ? PyLong_AsSsize_t(number) : -1;
            if (place < 0 || place >= count)
                goto done;
            if (part == 1 && seen[place])
                continue;
            seen[place] |= part == 0;
            PyObject *array = object_of(self, place);
            if (array == NULL || !sv_array_check(array) || PyList_Append(arrays[part], array) < 0) {
                Py_XDECREF(array);
                goto done;
            }
            Py_DECREF(array);
        }
    }
    int disjoint = sv_are_disjoint(arrays[0], arrays[1]);
    if (disjoint >= 0)
        result = is_truth(expected, disjoint);
done:
    PyMem_Free(seen);
    Py_XDECREF(arrays[0]);
    Py_XDECREF(arrays[1]);
    return result;
}

/* (digest,), or (digest, qualified name) where locations count */
static int ask_function(const replay *self, PyObject *object, PyObject *expected)
{
    if (!PyFunction_Check(object) || self->locations || !PyTuple_CheckExact(expected) || PyTuple_GET_SIZE(expected) != 1)
        return PASSES;
    PyObject *digest = sv_code_fingerprint(PyFunction_GET_CODE(object), false);
    if (digest == NULL)
        return PASSES;
    int same = sv_same_value(digest, PyTuple_GET_ITEM(expected, 0));
    Py_DECREF(digest);
    return same;
}

/* Two functions that are the same, or see the same names: (..., "path", number of the other one). */
static int ask_relation(const replay *self, Py_ssize_t number, PyObject *question, PyObject *expected)
{
    PyObject *other_number = marked(expected, word_path);
    if (other_number == NULL || !PyLong_CheckExact(other_number))
        return PASSES;
    PyObject *one = object_of(self, number);
    PyObject *other = one == NULL ? NULL : object_of(self, PyLong_AsSsize_t(other_number));
    int result = PASSES;
    if (other != NULL && PyFunction_Check(one) && PyFunction_Check(other)) {
        if (is_word(question, word_same))
            result = one == other ? AGREES : PASSES;
        else if (PyFunction_GET_GLOBALS(one) == PyFunction_GET_GLOBALS(other) &&
                 sv_function_builtins(one) == sv_function_builtins(other))
            result = AGREES;
    }
    Py_XDECREF(one);
    Py_XDECREF(other);
    return result;
}

/* The digest of a signature, by the names of the parameters that have defaults: a signature remembers those that were asked. */
static int ask_signature(const replay *self, Py_ssize_t parent, PyObject *object, PyObject *expected)
{
    const PyFunctionObject *function = (PyFunctionObject *)object;
    if (!PyFunction_Check(object) || !PyUnicode_CheckExact(expected) || function->func_defaults != NULL || function->func_kwdefaults != NULL)
        return PASSES;
    PyObject *owner = parent < 0 ? NULL : object_of(self, parent), *signature = NULL;
    if (parent < 0)
        signature = Py_NewRef(self->signature);
    else if (owner != NULL && PyType_IsSubtype(Py_TYPE(owner), (PyTypeObject *)declaration))
        signature = PyObject_GetAttr(owner, word_signature);
    Py_XDECREF(owner);
    PyObject *digests = signature == NULL ? NULL : PyObject_GetAttr(signature, word_digests);
    PyObject *names = digests != NULL && PyDict_CheckExact(digests) ? PyTuple_New(0) : NULL;
    PyObject *digest = names == NULL ? NULL : PyDict_GetItemWithError(digests, names);
    int result = digest == NULL || !PyUnicode_CheckExact(digest) ? PASSES : PyUnicode_Compare(digest, expected) == 0 ? AGREES : DISAGREES;
    Py_XDECREF(names);
    Py_XDECREF(digests);
    Py_XDECREF(signature);
    return result;
}

/* What is asked of the object at a path. */
static int ask_object(const replay *self, Py_ssize_t number, Py_ssize_t parent, PyObject *question, PyObject *expected)
{
    bool about_class = is_word(question, word_class) || is_word(question, word_bases);
    bool known = about_class || is_word(question, word_kind) || is_word(question, word_tensor) || is_word(question, word_readonly) ||
                 is_word(question, word_value) || is_word(question, word_intrinsic) || is_word(question, word_function) ||
                 is_word(question, word_signature) || axis_in_question(question) >= 0;
    PyObject *object = known ? object_of(self, number) : NULL;
    if (object == NULL)
        return PASSES;
    int result = PASSES;
    if ((about_class || is_word(question, word_kind)) && was_answered(object, question, expected)) {
        result = AGREES;
    } else if (about_class) {
        result = PASSES;
    } else if (is_word(question, word_kind)) {
        result = ask_kind(object, expected);
    } else if (is_word(question, word_value)) {
        result = ask_value(object, expected);
    } else if (is_word(question, word_intrinsic)) {
        PyObject *name = intrinsic_name(object);
        result = name == NULL ? PASSES : sv_same_value(name, expected);
    } else if (is_word(question, word_function)) {
        result = ask_function(self, object, expected);
    } else if (is_word(question, word_signature)) {
        result = ask_signature(self, parent, object, expected);
    } else {
        result = ask_tensor(object, question, expected);
    }
    Py_DECREF(object);
    return result;
}

static int ask(const replay *self, Py_ssize_t number, PyObject *question, PyObject *expected)
{
    row taken;
    if (!take_row(self, number, &taken))
        return PASSES;
    int result;
    if (is_word(question, word_option))
        result = ask_option(self, taken.key, expected);
    else if (is_word(question, word_disjoint))
        result = ask_disjoint(self, taken.key, expected);
    else if (is_word(question, word_same) || is_word(question, word_namespace))
        result = ask_relation(self, number, question, expected);
    else
        result = ask_object(self, number, taken.parent, question, expected);
    Py_DECREF(taken.tuple);
    return result;
}

static int ask_python(const replay *self, Py_ssize_t number, PyObject *question, PyObject *expected)
{
    PyObject *answer = PyObject_CallFunction(self->agrees, "nOO", number, question, expected); /* Python may run here. */
    if (answer == NULL)
        return -1;
    int agrees = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return agrees;
}

/* AGREES, DISAGREES, or -1 with an exception. */
static int run_step(const replay *self, PyObject *path, PyObject *question, PyObject *expected)
{
    Py_ssize_t number = PyNumber_AsSsize_t(path, PyExc_IndexError);
    if (number == -1 && PyErr_Occurred())
        return -1;
    int result = ask(self, number, question, expected);
    if (PyErr_Occurred()) {
        /* Code of the user's raised: the Python side comes to the same, and knows what it means. */
        if (!PyErr_ExceptionMatches(PyExc_Exception))
            return -1;
        PyErr_Clear();
        result = PASSES;
    }
    if (result == AGREES)
        return AGREES;
    /* A disagreement is found out again, so that the Python side has the answer to show. */
    PyObject *object = read_before(self, number);
    sv_type_state class = {NULL, 0};
    if (object != NULL)
        class = sv_type_state_of(Py_TYPE(object));
    result = ask_python(self, number, question, expected);
    if (result == AGREES && object != NULL)
        remember(object, &class, question, expected);
    Py_XDECREF(object);
    return result;
}

/* The number of steps that agree before the first that does not, -1 with an exception. */
static Py_ssize_t run(const replay *self, PyObject *steps)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(steps); i++) {
        PyObject *item = PyList_GET_ITEM(steps, i);
        if (!PyTuple_CheckExact(item) || PyTuple_GET_SIZE(item) != 3)
            return i;
        Py_INCREF(item);
        int result = run_step(self, PyTuple_GET_ITEM(item, 0), PyTuple_GET_ITEM(item, 1), PyTuple_GET_ITEM(item, 2));
        Py_DECREF(item);
        if (result < 0)
            return -1;
        if (result == DISAGREES)
            return i;
    }
    return PyList_GET_SIZE(steps);
}

static PyObject *agreeing_steps(PyObject *Py_UNUSED(module), PyObject *args)
{
    replay self;
    PyObject *steps;
    int locations;
    if (!PyArg_ParseTuple(args, "O!O!O!OOO!O!pOO:agreeing_steps", &PyList_Type, &steps, &PyList_Type, &self.rows, &PyList_Type,
                          &self.objects, &self.function, &self.signature, &PyDict_Type, &self.arguments, &PyDict_Type, &self.options, &locations,
                          &self.read, &self.agrees))
        return NULL;
    if (kinds == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "set_replay_tables() was not called");
        return NULL;
    }
    self.locations = locations;
    Py_ssize_t count = run(&self, steps);
    return count < 0 ? NULL : PyLong_FromSsize_t(count);
}

static PyObject *set_replay_tables(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given[5];
    if (!PyArg_ParseTuple(args, "O!O!O!OO:set_replay_tables", &PyTuple_Type, &given[0], &PyDict_Type, &given[1], &PyType_Type, &given[2],
                          &given[3], &given[4]))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given[0]); i++) {
        PyObject *type, *name;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(given[0], i), "O!U:kind", &PyType_Type, &type, &name))
            return NULL;
    }
    if (intern_words() < 0)
        return NULL;
    Py_XSETREF(kinds, Py_NewRef(given[0]));
    Py_XSETREF(intrinsics, Py_NewRef(given[1]));
    Py_XSETREF(declaration, Py_NewRef(given[2]));
    Py_XSETREF(absent, Py_NewRef(given[3]));
    Py_XSETREF(unread, Py_NewRef(given[4]));
    Py_RETURN_NONE;
}

static PyMethodDef replay_functions[] = {
    {"agreeing_steps", agreeing_steps, METH_VARARGS,
     PyDoc_STR("agreeing_steps(steps, rows, objects, function, signature, arguments, options, locations, read, agrees, /)\n--\n\n"
               "How many recorded steps, from the beginning, are answered as they were.")},
    {"is_own_module", is_own_module, METH_O,
     PyDoc_STR("is_own_module(module, /)\n--\n\n"
               "Whether it is samovar itself, or a module of it.\n\n"
               ">>> import math, samovar\n>>> from samovar._native import is_own_module\n"
               ">>> is_own_module(samovar), is_own_module(math)\n(True, False)")},
    {"set_replay_tables", set_replay_tables, METH_VARARGS,
     PyDoc_STR("set_replay_tables(kinds, intrinsics, declaration, absent, unread, /)\n--\n\n"
               "Pairs of a type and the name of its kind, known function → its name, the class of funcs, and the marks for nothing\n"
               "and for not read yet.")},
    {NULL, NULL, 0, NULL},
};

int sv_replay_init(PyObject *module)
{
    return PyModule_AddFunctions(module, replay_functions);
}
