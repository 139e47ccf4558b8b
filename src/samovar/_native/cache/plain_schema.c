/* A schema check for plain data: whether data from a file has the schema that its readers rely on. It runs once, right after
   decoding, so that no reader has to check.

   A schema is a string:

       N  None               B  a bool              F  a float, or an integer
       J  an integer         I  one from 0 on       P  the number of a path: from 0 on, and below the number of paths
       S  a str              Y  bytes               A  an answer: plain data without lists, whose tags are valid
       (…)  a tuple of these                        [...]  a list of these
       *  anything
       {x}  a tuple of any number of x              <x>  a list of any number of x
       ?x  None, or x                               R  a row of a table of paths, as an item of a list
       T  a decision tree: rows of paths, and the first segment or None; see `samovar.lens.decision_tree`
       G  a segment of one

   Integers fit into 64 bits, except those in answers. */
#pragma GCC optimize("O2") /* the rest of the extension is optimized for size */
#include "launch/runtime.h"

typedef struct {
    Py_ssize_t paths;
    Py_ssize_t index; /* of an item in its list */
} checker;

static const char *match(const checker *self, PyObject *value, const char *schema);

/* Interned, created once. */
static PyObject *word_path, *word_kind, *word_dtype, *word_enum, *dtype_names[SV_DTYPE_COUNT];

static bool is_dtype_name(PyObject *name)
{
    for (int code = 0; code < SV_DTYPE_COUNT; code++)
        if (sv_text_is(name, dtype_names[code]))
            return true;
    return false;
}

static bool whole_number(PyObject *value, int64_t *number)
{
    int overflow;
    *number = PyLong_CheckExact(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : 0;
    return PyLong_CheckExact(value) && !overflow;
}

static bool is_between(PyObject *value, int64_t least, int64_t end)
{
    int64_t number;
    return whole_number(value, &number) && number >= least && number < end;
}

static bool is_answer(PyObject *value, Py_ssize_t paths);

/* (..., what, …): a tagged tuple: a kind, a dtype, a path or an enum member. The lens, which reads them, knows the kinds. */
static bool is_known_mark(PyObject *mark, Py_ssize_t paths)
{
    Py_ssize_t size = PyTuple_GET_SIZE(mark);
    PyObject *what = size < 3 ? NULL : PyTuple_GET_ITEM(mark, 1), *of = size < 3 ? NULL : PyTuple_GET_ITEM(mark, 2);
    if (what == NULL || !PyUnicode_CheckExact(what))
        return false;
    if (sv_text_is(what, word_path))
        return size == 3 && is_between(of, 0, paths);
    if (!PyUnicode_CheckExact(of))
        return false;
    if (sv_text_is(what, word_kind))
        return size == 3;
    if (sv_text_is(what, word_dtype))
        return size == 3 && is_dtype_name(of);
    return sv_text_is(what, word_enum) && size == 7 && PyUnicode_CheckExact(PyTuple_GET_ITEM(mark, 3)) &&
           is_answer(PyTuple_GET_ITEM(mark, 4), paths) && PyUnicode_CheckExact(PyTuple_GET_ITEM(mark, 5)) &&
           is_between(PyTuple_GET_ITEM(mark, 6), 0, INT64_MAX);
}

static bool is_answer(PyObject *value, Py_ssize_t paths)
{
    if (!PyTuple_CheckExact(value))
        return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
               PyUnicode_CheckExact(value) || PyBytes_CheckExact(value) || PyComplex_CheckExact(value);
    if (PyTuple_GET_SIZE(value) > 0 && PyTuple_GET_ITEM(value, 0) == Py_Ellipsis)
        return is_known_mark(value, paths);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) /* which the codec has decoded, so its depth is bounded */
        if (!is_answer(PyTuple_GET_ITEM(value, i), paths))
            return false;
    return true;
}

/* Parents come before their children, and so do the paths that a key contains: there are no cycles. */
static bool is_row(PyObject *value, Py_ssize_t index)
{
    return PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 3 && is_between(PyTuple_GET_ITEM(value, 0), -1, index) &&
           PyUnicode_CheckExact(PyTuple_GET_ITEM(value, 1)) && is_answer(PyTuple_GET_ITEM(value, 2), index);
}

static bool is_segment(const checker *self, PyObject *value)
{
    if (!PyList_CheckExact(value) || PyList_GET_SIZE(value) != 2 || match(self, PyList_GET_ITEM(value, 0), "<(PSA)>") == NULL)
        return false;
    PyObject *end = PyList_GET_ITEM(value, 1);
    return match(self, end, PyTuple_CheckExact(end) ? "(S{P}I?Y)" : "[PS<[AG]>]") != NULL;
}

static bool is_tree(PyObject *value)
{
    if (!PyTuple_CheckExact(value) || PyTuple_GET_SIZE(value) != 2 || !PyList_CheckExact(PyTuple_GET_ITEM(value, 0)))
        return false;
    const checker inside = {PyList_GET_SIZE(PyTuple_GET_ITEM(value, 0)), 0};
    return match(&inside, value, "(<R>?G)") != NULL;
}

/* Where a schema ends. */
static const char *end_of(const char *schema)
{
    if (*schema == '?')
        return end_of(schema + 1);
    int depth = 0;
    do {
        depth += *schema == '(' || *schema == '[' || *schema == '{' || *schema == '<';
        depth -= *schema == ')' || *schema == ']' || *schema == '}' || *schema == '>';
        schema++;
    } while (depth > 0);
    return schema;
}

/* A sequence of items, each with its own schema. */
static const char *match_each(const checker *self, PyObject *const *items, Py_ssize_t count, const char *schema, char end)
{
    for (Py_ssize_t i = 0; schema != NULL && i < count; i++)
        schema = *schema == end ? NULL : match(self, items[i], schema);
    return schema != NULL && *schema == end ? schema + 1 : NULL;
}

static const char *match_all(const checker *self, PyObject *const *items, Py_ssize_t count, const char *schema)
{
    checker inside = *self;
    for (inside.index = 0; inside.index < count; inside.index++)
        if (match(&inside, items[inside.index], schema) == NULL)
            return NULL;
    return end_of(schema) + 1;
}

static PyObject *const *items_of(PyObject *value)
{
    return PySequence_Fast_ITEMS(value);
}

/* The rest of the schema after this value, or NULL if the value does not match. */
static const char *match(const checker *self, PyObject *value, const char *schema)
{
    int64_t number;
    bool fits = false;
    switch (*schema) {
    case '*': fits = true; break;
    case 'N': fits = value == Py_None; break;
    case 'B': fits = PyBool_Check(value); break;
    case 'F': fits = PyFloat_CheckExact(value) || whole_number(value, &number); break;
    case 'J': fits = whole_number(value, &number); break;
    case 'I': fits = is_between(value, 0, INT64_MAX); break;
    case 'P': fits = is_between(value, 0, self->paths); break;
    case 'S': fits = PyUnicode_CheckExact(value); break;
    case 'Y': fits = PyBytes_CheckExact(value); break;
    case 'A': fits = is_answer(value, self->paths); break;
    case 'R': fits = is_row(value, self->index); break;
    case 'G': fits = is_segment(self, value); break;
    case 'T': fits = is_tree(value); break;
    case '?': return value == Py_None ? end_of(schema + 1) : match(self, value, schema + 1);
    case '(':
        return PyTuple_CheckExact(value) ? match_each(self, items_of(value), PyTuple_GET_SIZE(value), schema + 1, ')') : NULL;
    case '[':
        return PyList_CheckExact(value) ? match_each(self, items_of(value), PyList_GET_SIZE(value), schema + 1, ']') : NULL;
    case '{': return PyTuple_CheckExact(value) ? match_all(self, items_of(value), PyTuple_GET_SIZE(value), schema + 1) : NULL;
    case '<': return PyList_CheckExact(value) ? match_all(self, items_of(value), PyList_GET_SIZE(value), schema + 1) : NULL;
    default: return NULL;
    }
    return fits ? schema + 1 : NULL;
}

static PyObject *matches_schema(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *value;
    const char *schema;
    checker self = {0, 0};
    if (!PyArg_ParseTuple(args, "Os|n:matches_schema", &value, &schema, &self.paths))
        return NULL;
    const char *rest = match(&self, value, schema);
    return PyBool_FromLong(rest != NULL && *rest == '\0');
}

/* One (name, value) pair. -1 with an exception, 0 if the value does not match the schema of its name. */
static int take_field(PyObject *fields, PyObject *pair, PyObject *schemas)
{
    const checker self = {0, 0};
    if (match(&self, pair, "(S*)") == NULL)
        return 0;
    PyObject *name = PyTuple_GET_ITEM(pair, 0), *value = PyTuple_GET_ITEM(pair, 1);
    PyObject *schema = PyDict_GetItemWithError(schemas, name);
    if (schema == NULL && PyErr_Occurred())
        return -1;
    const char *text = schema == NULL ? "*" : PyUnicode_AsUTF8(schema);
    if (text == NULL)
        return -1;
    const char *rest = match(&self, value, text);
    return rest == NULL || *rest != '\0' ? 0 : PyDict_SetItem(fields, name, value) < 0 ? -1 : 1;
}

static PyObject *named_fields(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *pairs, *schemas;
    if (!PyArg_ParseTuple(args, "OO!:named_fields", &pairs, &PyDict_Type, &schemas))
        return NULL;
    PyObject *fields = PyTuple_CheckExact(pairs) ? PyDict_New() : Py_NewRef(Py_None);
    for (Py_ssize_t i = 0; fields != NULL && fields != Py_None && i < PyTuple_GET_SIZE(pairs); i++) {
        int taken = take_field(fields, PyTuple_GET_ITEM(pairs, i), schemas);
        if (taken < 0)
            Py_CLEAR(fields);
        else if (taken == 0)
            Py_SETREF(fields, Py_NewRef(Py_None));
    }
    return fields;
}

static PyMethodDef form_functions[] = {
    {"named_fields", named_fields, METH_VARARGS,
     PyDoc_STR("named_fields(pairs, schemas, /)\n--\n\n"
               "Convert (name, value) pairs to a dict; None if a value does not match the schema of its name, if that has one.\n\n"
               ">>> from samovar._native import named_fields\n>>> named_fields(((\"n\", 1),), {\"n\": \"I\"})\n{'n': 1}\n"
               ">>> named_fields(((\"n\", -1),), {\"n\": \"I\"})")},
    {"matches_schema", matches_schema, METH_VARARGS,
     PyDoc_STR("matches_schema(value, schema, paths=0, /)\n--\n\n"
               "Whether plain data matches a schema: None, Bool, Float, I or J for integers, Str, bYtes, Path, Answer, (…) and {…} for\n"
               "tuples, […] and <…> for lists, ?… for optional values.\n\n"
               ">>> from samovar._native import matches_schema\n>>> matches_schema((\"a\", (1, 2)), \"(S{I})\"), matches_schema((\"a\", [1]), \"(S{I})\")\n(True, False)")},
    {NULL, NULL, 0, NULL},
};

int sv_plain_schema_init(PyObject *module)
{
    if ((word_path = PyUnicode_InternFromString("path")) == NULL || (word_kind = PyUnicode_InternFromString("kind")) == NULL ||
        (word_dtype = PyUnicode_InternFromString("dtype")) == NULL || (word_enum = PyUnicode_InternFromString("enum")) == NULL)
        return -1;
    for (int code = 0; code < SV_DTYPE_COUNT; code++)
        if ((dtype_names[code] = PyUnicode_InternFromString(sv_dtype_of((sv_dtype_code)code)->name)) == NULL)
            return -1;
    return PyModule_AddFunctions(module, form_functions);
}
