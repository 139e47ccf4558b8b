/* Replaying recorded questions, the common ones in native code: what a warm start does instead of compiling. The rows of
   paths and the steps are those of `samovar.lens.decision_tree`; everything else is left to Python, which is the reference and gives
   the same answers. Objects are read once, into a list that both sides share. */
#include "fingerprint/fingerprint.h"
#include "guards/guards.h"
#include "array/layout.h"
#include "replay/replay.h"

#include <string.h>

sv_replay_tables sv_lens;

static bool is_dtype(PyObject *encoded, const sv_dtype *dtype)
{
    PyObject *name = sv_marked(encoded, sv_word_dtype);
    return name != NULL && PyUnicode_CheckExact(name) && PyUnicode_CompareWithASCIIString(name, dtype->name) == 0;
}

static bool is_truth(PyObject *object, bool expected)
{
    return object == (expected ? Py_True : Py_False);
}

/* --- asking */

/* Borrowed; NULL if there is none. */
static PyObject *intrinsic_name(PyObject *object)
{
    /* Only objects whose hash and equality are identity: others would run their own code. */
    PyTypeObject *type = Py_TYPE(object);
    if (type != &PyType_Type && type != &PyCFunction_Type && type != &PyFunction_Type)
        return NULL;
    PyObject *name = PyDict_GetItemWithError(sv_lens.names, object);
    if (name != NULL)
        return name;
    /* The step that led here may have imported its module. */
    PyObject *learned = PyObject_CallNoArgs(sv_lens.learn); /* Python may run here. */
    Py_XDECREF(learned);
    return learned == NULL ? NULL : PyDict_GetItemWithError(sv_lens.names, object);
}

/* The value for an object in a dict keyed by identity, borrowed. */
static PyObject *by_identity(PyObject *table, const void *object)
{
    PyObject *identity = PyLong_FromVoidPtr((void *)object);
    PyObject *found = identity == NULL ? NULL : PyDict_GetItemWithError(table, identity);
    Py_XDECREF(identity);
    return found;
}

PyObject *sv_base_kind(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    /* A metaclass may create enums; a method is what it binds; and intrinsics take precedence over everything. */
    if (!Py_IS_TYPE((PyObject *)type, &PyType_Type) || type->tp_mro == NULL || Py_IS_TYPE(object, &PyMethod_Type) || by_identity(sv_lens.known, object) != NULL)
        return NULL;
    PyObject *kind = NULL;
    for (Py_ssize_t i = 0; kind == NULL && i < PyTuple_GET_SIZE(type->tp_mro); i++)
        kind = by_identity(sv_lens.base_kinds, PyTuple_GET_ITEM(type->tp_mro, i));
    PyObject *name = kind == NULL ? NULL : PyObject_GetAttr(kind, sv_word_name);
    PyErr_Clear();
    return name;
}

/* Whether it is samovar or one of its modules. Their names are covered by the version, which is checked once. */
static bool is_own(PyObject *module)
{
    static const char own[] = "samovar";
    PyObject *name = PyModule_CheckExact(module) ? PyModule_GetNameObject(module) : NULL;
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    PyObject *loaded = text == NULL || strncmp(text, own, sizeof own - 1) != 0 ? NULL : PyImport_GetModule(name);
    bool result = loaded == module && (text[sizeof own - 1] == '\0' || text[sizeof own - 1] == '.');
    Py_XDECREF(loaded);
    Py_XDECREF(name);
    PyErr_Clear(); /* a module without a name is not ours */
    return result;
}

static PyObject *is_own_module(PyObject *Py_UNUSED(module), PyObject *object)
{
    return PyBool_FromLong(is_own(object));
}

/* --- questions about the object at a row */

static int ask_kind(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    PyObject *name = sv_marked(expected, sv_word_kind);
    if (name == NULL)
        return SV_PASSES;
    if (object == sv_lens.absent)
        return sv_is_word(name, sv_word_ABSENT);
    if (is_own(object))
        return sv_is_word(name, sv_word_SAMOVAR);
    /* Types are compared by identity: a metaclass may have made them unhashable. */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sv_lens.exact_kinds); i++) {
        PyObject *pair = PyTuple_GET_ITEM(sv_lens.exact_kinds, i);
        if (PyTuple_GET_ITEM(pair, 0) == (PyObject *)Py_TYPE(object))
            return sv_is_word(name, PyTuple_GET_ITEM(pair, 1));
    }
    if (intrinsic_name(object) != NULL)
        return sv_is_word(name, sv_word_INTRINSIC);
    PyObject *found = sv_base_kind(object);
    int result = found == NULL ? SV_PASSES : sv_is_word(name, found);
    Py_XDECREF(found);
    return result;
}

static bool is_number(PyObject *object, int64_t expected)
{
    int overflow;
    return PyLong_CheckExact(object) && PyLong_AsLongLongAndOverflow(object, &overflow) == expected && !overflow;
}

/* The facts in order. */
static int same_facts(const sv_tensor_view *view, PyObject *expected)
{
    if (!PyTuple_CheckExact(expected) || PyTuple_GET_SIZE(expected) != SV_FACT_COUNT)
        return SV_PASSES;
#define ANSWERED_t is_dtype
#define ANSWERED_n is_number
#define ANSWERED_f is_truth
#define FACT_ANSWERED(name, type, letter) &&ANSWERED_##letter(PyTuple_GET_ITEM(expected, SV_FACT_##name), view->name)
    return true SV_TENSOR_FACTS(FACT_ANSWERED);
}

static int same_extent(const sv_tensor_view *view, int axis, PyObject *expected)
{
    bool exact = axis >= SV_MAX_NDIM;
    axis -= exact ? SV_MAX_NDIM : 0;
    if (axis >= view->ndim || !PyLong_CheckExact(expected))
        return SV_PASSES;
    int64_t extent = view->shape[axis];
    if (exact)
        return is_number(expected, extent);
    return is_number(expected, sv_is_extent(extent, SV_UNKNOWN_EXTENT) ? SV_UNKNOWN_EXTENT : extent);
}

/* Questions about arrays and the lengths of their dimensions: those that code is specialized on, then all exactly. */
enum { LAYOUT = -3, FACTS = -2, WRITING = -1 };

static bool same_form(const sv_array *array, PyObject *expected)
{
    if (array->guarded_layout == NULL)
        return false;
    return sv_same_value(sv_array_is_field(array) ? array->layout->description : array->guarded_layout, expected) == 1;
}

static int ask_array(PyObject *object, PyObject *expected, int what)
{
    if (!sv_array_check(object))
        return SV_PASSES;
    sv_tensor_view view;
    if (sv_tensor_view_get(object, &view) != 1) {
        PyErr_Clear();
        return SV_PASSES;
    }
    int result = what == FACTS     ? same_facts(&view, expected)
                 : what == WRITING ? is_truth(expected, view.readonly)
                 : what == LAYOUT  ? same_form((sv_array *)object, expected)
                                   : same_extent(&view, what, expected);
    sv_tensor_view_release(&view);
    return result;
}

static int ask_tensor(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    return ask_array(object, expected, FACTS);
}

static int ask_layout(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    return ask_array(object, expected, LAYOUT);
}

static int ask_readonly(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    return ask_array(object, expected, WRITING);
}

#define AXES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define ASK_EXTENT(axis)                                                                                                   \
    static int ask_extent_##axis(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object,           \
                                 PyObject *expected)                                                                        \
    {                                                                                                                      \
        return ask_array(object, expected, axis);                                                                          \
    }                                                                                                                      \
    static int ask_exact_extent_##axis(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object,     \
                                       PyObject *expected)                                                                  \
    {                                                                                                                      \
        return ask_array(object, expected, SV_MAX_NDIM + axis);                                                            \
    }
AXES(ASK_EXTENT)
_Static_assert(SV_MAX_NDIM == 16, "every dimension has a question");

static int ask_value(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    if (Py_IS_TYPE(object, &sv_dtype_type))
        return is_dtype(expected, (sv_dtype *)object);
    bool simple = PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object) ||
                  PyUnicode_CheckExact(object) || object == Py_None;
    return simple ? sv_same_value(object, expected) : SV_PASSES;
}

/* Of Python's own numbers; those of NumPy are left to Python. */
static int ask_number_type(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    const char *name = PyLong_CheckExact(object) ? "int" : PyFloat_CheckExact(object) ? "float" : PyBool_Check(object) ? "bool" : NULL;
    if (name == NULL || !PyUnicode_CheckExact(expected))
        return SV_PASSES;
    return PyUnicode_CompareWithASCIIString(expected, name) == 0;
}

static int ask_intrinsic(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    PyObject *name = intrinsic_name(object);
    return name == NULL ? SV_PASSES : sv_same_value(name, expected);
}

static int ask_length(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object))
        return SV_PASSES;
    return is_number(expected, PySequence_Fast_GET_SIZE(object));
}

static int ask_list(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    return PyTuple_CheckExact(object) || PyList_CheckExact(object) ? is_truth(expected, PyList_CheckExact(object)) : SV_PASSES;
}

/* 1, 0, or -1 with an exception. */
static int is_immutable(PyObject *object)
{
    if (!PyTuple_CheckExact(object))
        return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object) || PyUnicode_CheckExact(object) ||
               object == Py_None || PyBytes_CheckExact(object) || Py_IS_TYPE(object, &sv_dtype_type);
    if (Py_EnterRecursiveCall(" in a tuple"))
        return -1;
    int result = 1;
    for (Py_ssize_t i = 0; result == 1 && i < PyTuple_GET_SIZE(object); i++)
        result = is_immutable(PyTuple_GET_ITEM(object, i));
    Py_LeaveRecursiveCall();
    return result;
}

static int ask_immutable(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    int found = PyTuple_CheckExact(object) ? is_immutable(object) : 0;
    return found < 0 ? SV_PASSES : is_truth(expected, found);
}

static int ask_method(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    return is_truth(expected, Py_IS_TYPE(object, &PyMethod_Type));
}

/* Whether it is the value that `encoded` stands for. A dtype is (..., "dtype", name). 1, 0, or -1 with an exception. */
static int is_encoded(PyObject *value, PyObject *encoded)
{
    if (Py_IS_TYPE(value, &sv_dtype_type))
        return is_dtype(encoded, (sv_dtype *)value);
    if (!PyTuple_CheckExact(value))
        return sv_same_value(value, encoded);
    if (!PyTuple_CheckExact(encoded) || PyTuple_GET_SIZE(encoded) != PyTuple_GET_SIZE(value))
        return 0;
    if (Py_EnterRecursiveCall(" in an annotation"))
        return -1;
    int result = 1;
    for (Py_ssize_t i = 0; result == 1 && i < PyTuple_GET_SIZE(value); i++)
        result = is_encoded(PyTuple_GET_ITEM(value, i), PyTuple_GET_ITEM(encoded, i));
    Py_LeaveRecursiveCall();
    return result;
}

/* The key of an annotation that is already resolved. */
static int ask_annotation(const sv_replay *Py_UNUSED(self), const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    PyObject *kind = sv_base_kind(object);
    bool is_annotation = kind != NULL && sv_is_word(kind, sv_word_ANNOTATION);
    Py_XDECREF(kind);
    PyObject *key = is_annotation ? PyObject_CallMethodNoArgs(object, sv_word_key) : NULL; /* Python may run here. */
    int result = key == NULL ? -1 : is_encoded(key, expected);
    Py_XDECREF(key);
    return result < 0 ? SV_PASSES : result;
}

/* (digest,), or (digest, qualified name) if locations count */
static int ask_function(const sv_replay *self, const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    if (!PyFunction_Check(object) || self->locations || !PyTuple_CheckExact(expected) || PyTuple_GET_SIZE(expected) != 1)
        return SV_PASSES;
    PyObject *digest = sv_code_fingerprint(PyFunction_GET_CODE(object), false);
    if (digest == NULL)
        return SV_PASSES;
    int same = sv_same_value(digest, PyTuple_GET_ITEM(expected, 0));
    Py_DECREF(digest);
    return same;
}

/* The digest of a signature without defaults, a new reference or NULL; cached by parameter names. */
static PyObject *signature_digest(PyObject *signature)
{
    PyObject *digests = PyObject_GetAttr(signature, sv_word_digests), *names = digests == NULL ? NULL : PyTuple_New(0);
    bool is_usable = names != NULL && PyDict_CheckExact(digests);
    PyObject *digest = is_usable ? Py_XNewRef(PyDict_GetItemWithError(digests, names)) : NULL;
    if (is_usable && digest == NULL && !PyErr_Occurred()) {
        PyObject *key = PyObject_CallMethodNoArgs(signature, sv_word_key); /* Python may run here. */
        PyObject *whole = key == NULL ? NULL : PyTuple_Pack(2, key, names);
        digest = whole == NULL ? NULL : sv_plain_digest(whole);
        if (digest != NULL && PyDict_SetItem(digests, names, digest) < 0)
            Py_CLEAR(digest);
        Py_XDECREF(whole);
        Py_XDECREF(key);
    }
    Py_XDECREF(names);
    Py_XDECREF(digests);
    return digest;
}

static int ask_signature(const sv_replay *self, const sv_row *at, PyObject *object, PyObject *expected)
{
    const PyFunctionObject *function = (PyFunctionObject *)object;
    if (!PyFunction_Check(object) || !PyUnicode_CheckExact(expected) || function->func_defaults != NULL || function->func_kwdefaults != NULL)
        return SV_PASSES;
    PyObject *owner = at->parent < 0 ? NULL : sv_object_of(self, at->parent), *signature = NULL;
    if (at->parent < 0)
        signature = Py_NewRef(self->signature);
    else if (owner != NULL && PyType_IsSubtype(Py_TYPE(owner), (PyTypeObject *)sv_lens.declaration))
        signature = PyObject_GetAttr(owner, sv_word_signature);
    Py_XDECREF(owner);
    PyObject *digest = signature == NULL ? NULL : signature_digest(signature);
    int result = digest == NULL ? SV_PASSES : sv_same_value(digest, expected);
    Py_XDECREF(digest);
    Py_XDECREF(signature);
    return result;
}

/* (number of lines, digest of the lines, digest of the syntax tree): if the lines differ, Python compares the tree. */
static int ask_source(const sv_replay *self, const sv_row *Py_UNUSED(at), PyObject *object, PyObject *expected)
{
    if (!PyFunction_Check(object) || !PyTuple_CheckExact(expected) || PyTuple_GET_SIZE(expected) != 3 || !PyLong_CheckExact(PyTuple_GET_ITEM(expected, 0)))
        return SV_PASSES;
    PyObject *code = Py_NewRef(PyFunction_GET_CODE(object));
    PyObject *identity = PySet_GET_SIZE(sv_lens.carried) > 0 ? PyLong_FromVoidPtr(code) : NULL;
    bool is_in_file = identity == NULL || PySet_Contains(sv_lens.carried, identity) == 0;
    PyObject *digest = is_in_file ? sv_lines_digest(code, PyLong_AsSsize_t(PyTuple_GET_ITEM(expected, 0)), self->moment) : NULL;
    bool is_same = digest != NULL && sv_same_value(digest, PyTuple_GET_ITEM(expected, 1)) == 1;
    Py_XDECREF(digest);
    Py_XDECREF(identity);
    Py_DECREF(code);
    return is_same ? SV_AGREES : SV_PASSES;
}

/* Questions about the path itself, not (only) about the object that it leads to. */

static int ask_option(const sv_replay *self, Py_ssize_t Py_UNUSED(number), const sv_row *at, PyObject *expected)
{
    PyObject *value = Py_XNewRef(PyDict_GetItemWithError(self->options, at->key));
    if (value == NULL)
        return SV_PASSES;
    /* Python may run here. */
    int result = Py_IS_TYPE(value, &sv_dtype_type) ? is_dtype(expected, (sv_dtype *)value) : sv_same_value(value, expected);
    Py_DECREF(value);
    return result;
}

/* Two tuples of (..., "path", number). */
static int ask_disjoint(const sv_replay *self, Py_ssize_t Py_UNUSED(number), const sv_row *at, PyObject *expected)
{
    PyObject *key = at->key;
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != 2)
        return SV_PASSES;
    PyObject *arrays[2] = {NULL, NULL};
    int result = SV_PASSES;
    Py_ssize_t count = PyList_GET_SIZE(self->rows);
    bool *seen = PyMem_Calloc((size_t)count + 1, sizeof *seen); /* per path: those written are compared as such */
    if (seen == NULL)
        return SV_PASSES;
    for (int part = 0; part < 2; part++) {
        PyObject *paths = PyTuple_GET_ITEM(key, part);
        if (!PyTuple_CheckExact(paths) || (arrays[part] = PyList_New(0)) == NULL)
            goto done;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(paths); i++) {
            PyObject *number = sv_marked(PyTuple_GET_ITEM(paths, i), sv_word_path);
            Py_ssize_t place = number != NULL && PyLong_CheckExact(number) ? PyLong_AsSsize_t(number) : -1;
            if (place < 0 || place >= count)
                goto done;
            if (part == 1 && seen[place])
                continue;
            seen[place] |= part == 0;
            PyObject *array = sv_object_of(self, place);
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

/* Two functions that are the same, or have the same globals: (..., "path", number of the other one). */
static int ask_relation(const sv_replay *self, Py_ssize_t number, PyObject *expected, bool (*related)(PyObject *, PyObject *))
{
    PyObject *other_number = sv_marked(expected, sv_word_path);
    if (other_number == NULL || !PyLong_CheckExact(other_number))
        return SV_PASSES;
    PyObject *one = sv_object_of(self, number);
    PyObject *other = one == NULL ? NULL : sv_object_of(self, PyLong_AsSsize_t(other_number));
    bool known = other != NULL && PyFunction_Check(one) && PyFunction_Check(other);
    int result = known && related(one, other) ? SV_AGREES : SV_PASSES;
    Py_XDECREF(one);
    Py_XDECREF(other);
    return result;
}

static bool are_same(PyObject *one, PyObject *other)
{
    return one == other;
}

static bool share_namespace(PyObject *one, PyObject *other)
{
    return PyFunction_GET_GLOBALS(one) == PyFunction_GET_GLOBALS(other) && sv_function_builtins(one) == sv_function_builtins(other);
}

static int ask_same(const sv_replay *self, Py_ssize_t number, const sv_row *Py_UNUSED(at), PyObject *expected)
{
    return ask_relation(self, number, expected, are_same);
}

static int ask_namespace(const sv_replay *self, Py_ssize_t number, const sv_row *Py_UNUSED(at), PyObject *expected)
{
    return ask_relation(self, number, expected, share_namespace);
}

sv_question sv_questions[] = {
    {"kind", ask_kind, NULL, true, NULL},
    {"tensor", ask_tensor, NULL, false, NULL},
    {"readonly", ask_readonly, NULL, false, NULL},
    {"layout", ask_layout, NULL, false, NULL},
    {"value", ask_value, NULL, false, NULL},
    {"number type", ask_number_type, NULL, false, NULL},
    {"intrinsic", ask_intrinsic, NULL, false, NULL},
    {"function", ask_function, NULL, false, NULL},
    {"signature", ask_signature, NULL, false, NULL},
    {"source", ask_source, NULL, false, NULL},
    {"annotation", ask_annotation, NULL, false, NULL},
    {"length", ask_length, NULL, false, NULL},
    {"list", ask_list, NULL, false, NULL},
    {"immutable", ask_immutable, NULL, false, NULL},
    {"method", ask_method, NULL, false, NULL},
    {"class", NULL, NULL, true, NULL},
    {"bases", NULL, NULL, true, NULL},
    {"option", NULL, ask_option, false, NULL},
    {"disjoint", NULL, ask_disjoint, false, NULL},
    {"same", NULL, ask_same, false, NULL},
    {"namespace", NULL, ask_namespace, false, NULL},
#define EXTENT_QUESTION(axis)                                                                                              \
    {"extent " #axis, ask_extent_##axis, NULL, false, NULL}, {"exact extent " #axis, ask_exact_extent_##axis, NULL, false, NULL},
    AXES(EXTENT_QUESTION)
};
const int sv_question_count = sizeof sv_questions / sizeof *sv_questions;

/* The canonical name of an intrinsic that one of our modules has not loaded yet, a new reference; NULL without one. What
   such a module exports is covered by the version, which every key contains, so the intrinsic need not be loaded. If a
   program has replaced the name, it is in the module. */
static PyObject *unloaded_intrinsic(const sv_replay *self, Py_ssize_t number, const sv_row *at)
{
    if (!sv_is_word(at->step, sv_word_attribute) || !PyUnicode_CheckExact(at->key))
        return NULL;
    PyObject *read = sv_read_before(self, number);
    PyObject *owner = read == NULL ? sv_object_of(self, at->parent) : NULL, *found = NULL;
    if (owner != NULL && is_own(owner) && PyDict_Contains(PyModule_GetDict(owner), at->key) == 0) {
        PyObject *home = PyModule_GetNameObject(owner);
        found = home == NULL ? NULL : PyObject_CallFunctionObjArgs(sv_lens.unloaded, home, at->key, NULL); /* Python may run here. */
        Py_XDECREF(home);
        if (found == Py_None)
            Py_CLEAR(found);
    }
    Py_XDECREF(owner);
    Py_XDECREF(read);
    return found;
}

static bool agrees_unloaded(const sv_replay *self, Py_ssize_t number, const sv_row *at, const sv_question *asked, PyObject *expected)
{
    PyObject *name = asked->ask_object == ask_kind || asked->ask_object == ask_intrinsic ? unloaded_intrinsic(self, number, at) : NULL;
    bool agrees = name != NULL && (asked->ask_object == ask_kind ? sv_marked(expected, sv_word_kind) == sv_word_INTRINSIC : sv_same_value(name, expected) == 1);
    Py_XDECREF(name);
    return agrees;
}

static int ask_here(const sv_replay *self, Py_ssize_t number, const sv_row *at, const sv_question *asked, PyObject *expected)
{
    if (asked->ask_path != NULL)
        return asked->ask_path(self, number, at, expected);
    if (agrees_unloaded(self, number, at, asked, expected))
        return SV_AGREES;
    PyObject *object = PyErr_Occurred() ? NULL : sv_object_of(self, number);
    if (object == NULL)
        return SV_PASSES;
    int result = SV_PASSES;
    if (asked->by_class && sv_was_answered(object, asked->word, expected))
        result = SV_AGREES;
    else if (asked->ask_object != NULL)
        result = asked->ask_object(self, at, object, expected);
    Py_DECREF(object);
    return result;
}

static int ask(const sv_replay *self, Py_ssize_t number, PyObject *word, PyObject *expected)
{
    sv_row taken;
    if (!sv_take_row(self, number, &taken))
        return SV_PASSES;
    int result = SV_PASSES;
    for (int i = 0; i < sv_question_count; i++)
        if (sv_is_word(word, sv_questions[i].word)) {
            result = ask_here(self, number, &taken, &sv_questions[i], expected);
            break;
        }
    Py_DECREF(taken.tuple);
    return result;
}

static int ask_python(const sv_replay *self, Py_ssize_t number, PyObject *question, PyObject *expected)
{
    PyObject *answer = PyObject_CallFunction(self->agrees, "nOO", number, question, expected); /* Python may run here. */
    if (answer == NULL)
        return -1;
    int agrees = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return agrees;
}

/* SV_AGREES, SV_DISAGREES, or -1 with an exception. */
static int run_step(const sv_replay *self, PyObject *path, PyObject *question, PyObject *expected)
{
    Py_ssize_t number = PyNumber_AsSsize_t(path, PyExc_IndexError);
    if (number == -1 && PyErr_Occurred())
        return -1;
    int result = ask(self, number, question, expected);
    if (PyErr_Occurred()) {
        /* User code raised: Python gets the same result, and interprets it. */
        if (!PyErr_ExceptionMatches(PyExc_Exception))
            return -1;
        PyErr_Clear();
        result = SV_PASSES;
    }
    if (result == SV_AGREES)
        return SV_AGREES;
    /* A disagreement is evaluated again in Python, which then has the answer to show. */
    PyObject *object = sv_read_before(self, number);
    sv_type_state class = {NULL, 0};
    if (object != NULL)
        class = sv_type_state_of(Py_TYPE(object));
    result = ask_python(self, number, question, expected);
    if (result == SV_AGREES && object != NULL)
        sv_remember_answer(object, &class, question, expected);
    Py_XDECREF(object);
    return result;
}

/* The number of leading steps that agree, -1 with an exception. */
static Py_ssize_t run(const sv_replay *self, PyObject *steps)
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
        if (result == SV_DISAGREES)
            return i;
    }
    return PyList_GET_SIZE(steps);
}

static PyObject *agreeing_steps(PyObject *Py_UNUSED(module), PyObject *args)
{
    sv_replay self;
    PyObject *steps;
    int locations;
    if (!PyArg_ParseTuple(args, "O!O!O!OOO!O!pOO:agreeing_steps", &PyList_Type, &steps, &PyList_Type, &self.rows, &PyList_Type,
                          &self.objects, &self.function, &self.signature, &PyDict_Type, &self.arguments, &PyDict_Type, &self.options, &locations,
                          &self.read, &self.agrees))
        return NULL;
    if (sv_lens.exact_kinds == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "set_replay_tables() was not called");
        return NULL;
    }
    self.locations = locations;
    static uint64_t moments;
    self.moment = ++moments;
    Py_ssize_t count = run(&self, steps);
    return count < 0 ? NULL : PyLong_FromSsize_t(count);
}

static PyObject *objects_at(PyObject *Py_UNUSED(module), PyObject *args)
{
    sv_replay self = {0};
    PyObject *numbers;
    if (!PyArg_ParseTuple(args, "O!O!O!OO!O:objects_at", &PyTuple_Type, &numbers, &PyList_Type, &self.rows, &PyList_Type, &self.objects,
                          &self.function, &PyDict_Type, &self.arguments, &self.read))
        return NULL;
    if (sv_lens.exact_kinds == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "set_replay_tables() was not called");
        return NULL;
    }
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found != NULL && i < PyTuple_GET_SIZE(numbers); i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(numbers, i));
        PyObject *object = number == -1 && PyErr_Occurred() ? NULL : sv_object_of(&self, number); /* Python may run here. */
        if (object == NULL || PyList_Append(found, object) < 0)
            Py_CLEAR(found);
        Py_XDECREF(object);
    }
    return found;
}

static PyObject *set_replay_tables(PyObject *Py_UNUSED(module), PyObject *args)
{
    sv_replay_tables given;
    if (!PyArg_ParseTuple(args, "O!O!O!O!OOO!O!OO:set_replay_tables", &PyTuple_Type, &given.exact_kinds, &PyDict_Type, &given.base_kinds, &PyDict_Type,
                          &given.known, &PyDict_Type, &given.names, &given.learn, &given.unloaded, &PySet_Type, &given.carried, &PyType_Type, &given.declaration,
                          &given.absent, &given.unread))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given.exact_kinds); i++) {
        PyObject *type, *name;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(given.exact_kinds, i), "O!U:kind", &PyType_Type, &type, &name))
            return NULL;
    }
    PyObject *words = sv_replay_words(); /* which makes them */
    if (words == NULL)
        return NULL;
    Py_DECREF(words);
    PyObject **const places = (PyObject **)&sv_lens, **const from = (PyObject **)&given;
    for (size_t i = 0; i < sizeof sv_lens / sizeof *places; i++)
        Py_XSETREF(places[i], Py_NewRef(from[i]));
    Py_RETURN_NONE;
}

static PyObject *check_replay_words(PyObject *Py_UNUSED(module), PyObject *tables)
{
    if (!PyDict_Check(tables)) {
        PyErr_SetString(PyExc_TypeError, "the tables of the lens must be a dict");
        return NULL;
    }
    if (sv_check_words(tables) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *replay_words(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return sv_replay_words();
}

static PyMethodDef replay_functions[] = {
    {"agreeing_steps", agreeing_steps, METH_VARARGS,
     PyDoc_STR("agreeing_steps(steps, rows, objects, function, signature, arguments, options, locations, read, agrees, /)\n--\n\n"
               "Return how many of the recorded steps, from the first one, have the same answers now.")},
    {"objects_at", objects_at, METH_VARARGS,
     PyDoc_STR("objects_at(numbers, rows, objects, function, arguments, read, /)\n--\n\n"
               "The objects at the paths with these numbers; `objects` has those that were read before, and gets the others.")},
    {"is_own_module", is_own_module, METH_O,
     PyDoc_STR("is_own_module(module, /)\n--\n\n"
               "Whether it is samovar or one of its modules.\n\n"
               ">>> import math, samovar\n>>> from samovar._native import is_own_module\n"
               ">>> is_own_module(samovar), is_own_module(math)\n(True, False)")},
    {"set_replay_tables", set_replay_tables, METH_VARARGS,
     PyDoc_STR("set_replay_tables(exact_kinds, base_kinds, known, names, learn, unloaded, carried, declaration, absent, unread, /)\n--\n\n"
               "Set the tables of the lens: (type, name of its kind) pairs, identity of a base → kind, identity of an intrinsic → it,\n"
               "known function → its name, a function that updates these, one that names an unloaded intrinsic, identities of code\n"
               "that carries its source, the class of funcs, and the objects for absent and for not read yet.")},
    {"check_replay_words", check_replay_words, METH_O,
     PyDoc_STR("check_replay_words(tables, /)\n--\n\n"
               "Raise an exception if a table of the lens (questions, steps, kinds, tags) lacks a word that native code uses.")},
    {"replay_words", replay_words, METH_NOARGS,
     PyDoc_STR("replay_words()\n--\n\n"
               "The (table, word) pairs that native code uses.\n\n"
               ">>> from samovar._native import replay_words\n>>> (\"questions\", \"kind\") in replay_words()\nTrue")},
    {NULL, NULL, 0, NULL},
};

int sv_replay_init(PyObject *module)
{
    return PyModule_AddFunctions(module, replay_functions);
}
