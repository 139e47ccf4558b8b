/* The digest of a path through a decision tree: the questions and answers up to a leaf, and the paths that the guards of its
   artifact refer to. An artifact stores the digest of its own path, so that a corrupted tree leads nowhere.

   Rows of paths are numbered in order of appearance in the steps, parents and paths in keys first, so that the digest does
   not depend on the rest of the tree. It is computed at each load: like the checksum of a file it detects damage, and is
   fast. */
#pragma GCC optimize("O2") /* the rest of the extension is optimized for size */
#include "cache/bytes.h"

enum { FEW_ROWS = 128, USUAL_SIZE = 4096 };

typedef struct {
    PyObject *rows;
    Py_ssize_t *numbers; /* by the index of a row: its number, or -1 */
    Py_ssize_t *places;  /* by its number: its index */
    Py_ssize_t count;
} numbering;

static int misread(void)
{
    PyErr_SetString(PyExc_ValueError, "this is not a path through a decision tree");
    return -1;
}

/* Interned, created once. */
static PyObject *word_path, *word_source;

static bool is_path(PyObject *value)
{
    return PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 3 && PyTuple_GET_ITEM(value, 0) == Py_Ellipsis &&
           PyUnicode_Check(PyTuple_GET_ITEM(value, 1)) && sv_text_is(PyTuple_GET_ITEM(value, 1), word_path);
}

static bool is_triple(PyObject *value)
{
    return PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 3;
}

/* The index of a row, or -1 with an exception. */
static Py_ssize_t place_of(const numbering *self, PyObject *number)
{
    Py_ssize_t place = PyLong_CheckExact(number) ? PyLong_AsSsize_t(number) : -1;
    if (place < 0 || place >= PyList_GET_SIZE(self->rows)) {
        PyErr_Clear();
        return misread();
    }
    return place;
}

static int number_row(numbering *self, Py_ssize_t place);

/* Assign numbers to the paths in a key or an answer. */
static int number_inside(numbering *self, PyObject *value)
{
    if (!PyTuple_CheckExact(value))
        return 0;
    if (is_path(value)) {
        Py_ssize_t place = place_of(self, PyTuple_GET_ITEM(value, 2));
        return place < 0 ? -1 : number_row(self, place);
    }
    if (Py_EnterRecursiveCall(" in an answer"))
        return -1;
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(value); i++)
        result = number_inside(self, PyTuple_GET_ITEM(value, i));
    Py_LeaveRecursiveCall();
    return result;
}

static int number_row(numbering *self, Py_ssize_t place)
{
    if (self->numbers[place] >= 0)
        return 0;
    PyObject *row = PyList_GET_ITEM(self->rows, place);
    if (!is_triple(row) || !PyLong_CheckExact(PyTuple_GET_ITEM(row, 0)))
        return misread();
    Py_ssize_t parent = PyLong_AsSsize_t(PyTuple_GET_ITEM(row, 0));
    PyErr_Clear();
    if (parent < -1 || parent >= place)
        return misread();
    if (Py_EnterRecursiveCall(" in a path"))
        return -1;
    int result = parent < 0 ? 0 : number_row(self, parent);
    if (result == 0)
        result = number_inside(self, PyTuple_GET_ITEM(row, 2));
    Py_LeaveRecursiveCall();
    if (result == 0 && self->numbers[place] < 0) {
        self->places[self->count] = place;
        self->numbers[place] = self->count++;
    }
    return result;
}

/* The part of an answer that counts: see `essence` in `samovar.lens.answers`. NULL with an exception; borrowed. */
static PyObject *essence(PyObject *question, PyObject *answer)
{
    if (!PyUnicode_Check(question)) {
        misread();
        return NULL;
    }
    if (!sv_text_is(question, word_source))
        return answer;
    if (!is_triple(answer)) {
        misread();
        return NULL;
    }
    return PyTuple_GET_ITEM(answer, 2);
}

static int number_steps(numbering *self, PyObject *steps)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(steps); i++) {
        PyObject *step = PyList_GET_ITEM(steps, i);
        if (!is_triple(step))
            return misread();
        Py_ssize_t place = place_of(self, PyTuple_GET_ITEM(step, 0));
        PyObject *answer = place < 0 ? NULL : essence(PyTuple_GET_ITEM(step, 1), PyTuple_GET_ITEM(step, 2));
        if (answer == NULL || number_row(self, place) < 0 || number_inside(self, answer) < 0)
            return -1;
    }
    return 0;
}

/* --- hashing: each value with its type and its length */

static int put_word(sv_writer *out, char tag, int64_t word)
{
    uint8_t bytes[2] = {(uint8_t)tag, (uint8_t)word};
    if (word >= 0 && word < 128)
        return sv_put(out, bytes, sizeof bytes);
    return sv_put(out, bytes, 1) < 0 ? -1 : sv_put_count(out, (uint64_t)word);
}

static int put_bytes(sv_writer *out, char tag, const void *content, Py_ssize_t size)
{
    return put_word(out, tag, size) < 0 ? -1 : sv_put(out, content, (size_t)size);
}

static int put_text(sv_writer *out, PyObject *text)
{
    if (PyUnicode_IS_ASCII(text))
        return put_bytes(out, 's', PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text));
    PyObject *encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    int result = encoded == NULL ? -1 : put_bytes(out, 'u', PyBytes_AS_STRING(encoded), PyBytes_GET_SIZE(encoded));
    Py_XDECREF(encoded);
    return result;
}

static int put_number(sv_writer *out, PyObject *value)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!overflow)
        return put_word(out, 'i', number);
    PyObject *digits = PyNumber_ToBase(value, 16);
    int result = digits == NULL ? -1 : put_bytes(out, 'I', PyUnicode_DATA(digits), PyUnicode_GET_LENGTH(digits));
    Py_XDECREF(digits);
    return result;
}

/* A key or an answer, with the numbers of its paths here. */
static int put_plain(const numbering *self, sv_writer *out, PyObject *value)
{
    if (PyUnicode_CheckExact(value))
        return put_text(out, value);
    if (PyLong_CheckExact(value))
        return put_number(out, value);
    if (PyFloat_CheckExact(value)) {
        double number = PyFloat_AS_DOUBLE(value);
        return put_bytes(out, 'f', &number, sizeof number);
    }
    if (PyComplex_CheckExact(value)) {
        Py_complex number = PyComplex_AsCComplex(value);
        return put_bytes(out, 'c', &number, sizeof number);
    }
    if (PyBytes_CheckExact(value))
        return put_bytes(out, 'b', PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value));
    if (!PyTuple_CheckExact(value)) {
        bool known = value == Py_None || value == Py_True || value == Py_False || value == Py_Ellipsis;
        return known ? put_word(out, 'o', value == Py_None ? 0 : value == Py_True ? 1 : value == Py_False ? 2 : 3) : misread();
    }
    if (is_path(value))
        return put_word(out, 'p', self->numbers[PyLong_AsSsize_t(PyTuple_GET_ITEM(value, 2))]);
    int result = put_word(out, 't', PyTuple_GET_SIZE(value));
    if (Py_EnterRecursiveCall(" in an answer"))
        return -1;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(value); i++)
        result = put_plain(self, out, PyTuple_GET_ITEM(value, i));
    Py_LeaveRecursiveCall();
    return result;
}

static int put_rows(const numbering *self, sv_writer *out)
{
    for (Py_ssize_t number = 0; number < self->count; number++) {
        PyObject *row = PyList_GET_ITEM(self->rows, self->places[number]);
        Py_ssize_t parent = PyLong_AsSsize_t(PyTuple_GET_ITEM(row, 0));
        if (put_word(out, 'r', parent < 0 ? -1 : self->numbers[parent]) < 0 || put_plain(self, out, PyTuple_GET_ITEM(row, 1)) < 0 ||
            put_plain(self, out, PyTuple_GET_ITEM(row, 2)) < 0)
            return -1;
    }
    return 0;
}

static int put_steps(const numbering *self, sv_writer *out, PyObject *steps)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(steps); i++) {
        PyObject *step = PyList_GET_ITEM(steps, i), *question = PyTuple_GET_ITEM(step, 1);
        if (put_word(out, 'q', self->numbers[PyLong_AsSsize_t(PyTuple_GET_ITEM(step, 0))]) < 0 || put_text(out, question) < 0 ||
            put_plain(self, out, essence(question, PyTuple_GET_ITEM(step, 2))) < 0)
            return -1;
    }
    return 0;
}

static int put_sources(numbering *self, sv_writer *out, PyObject *sources)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sources); i++)
        if (put_word(out, 'g', self->numbers[PyLong_AsSsize_t(PyTuple_GET_ITEM(sources, i))]) < 0)
            return -1;
    return 0;
}

static int number_sources(numbering *self, PyObject *sources)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sources); i++) {
        Py_ssize_t place = place_of(self, PyTuple_GET_ITEM(sources, i));
        if (place < 0 || number_row(self, place) < 0)
            return -1;
    }
    return 0;
}

static PyObject *tree_path_digest(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *tree, *rows, *steps, *sources, *result = NULL;
    if (!PyArg_ParseTuple(args, "UO!O!O!:tree_path_digest", &tree, &PyList_Type, &rows, &PyList_Type, &steps, &PyTuple_Type, &sources))
        return NULL;
    size_t room = (size_t)PyList_GET_SIZE(rows);
    Py_ssize_t few[2 * FEW_ROWS], *memory = room <= FEW_ROWS ? few : PyMem_Malloc(2 * room * sizeof *memory);
    if (memory == NULL)
        return PyErr_NoMemory();
    numbering self = {rows, memory, memory + room, 0};
    for (size_t i = 0; i < room; i++)
        self.numbers[i] = -1;
    sv_writer out = {PyMem_Malloc(USUAL_SIZE), 0, USUAL_SIZE};
    if (out.bytes == NULL)
        out.capacity = 0; /* writing to it raises an exception */
    /* Nothing here runs Python code: what was numbered does not change. */
    if (number_steps(&self, steps) == 0 && number_sources(&self, sources) == 0 && put_text(&out, tree) == 0 &&
        put_rows(&self, &out) == 0 && put_steps(&self, &out, steps) == 0 && put_sources(&self, &out, sources) == 0) {
        uint64_t lanes[2];
        sv_checksum(out.bytes, out.used, lanes);
        result = PyBytes_FromStringAndSize((const char *)lanes, sizeof lanes);
    }
    PyMem_Free(out.bytes);
    if (memory != few)
        PyMem_Free(memory);
    return result;
}

static PyMethodDef tree_path_digest_functions[] = {
    {"tree_path_digest", tree_path_digest, METH_VARARGS,
     PyDoc_STR("tree_path_digest(tree, rows, steps, sources, /)\n--\n\n"
               "A digest of the steps to a leaf of a decision tree and of the paths that its guards refer to, independent of\n"
               "their numbers in the tree.\n\n"
               ">>> from samovar._native import tree_path_digest\n"
               ">>> one, two = (-1, \"parameter\", \"a\"), (-1, \"parameter\", \"b\")\n"
               ">>> tree_path_digest(\"\", [one], [(0, \"value\", 1)], ()) == tree_path_digest(\"\", [two, one], [(1, \"value\", 1)], ())\nTrue")},
    {NULL, NULL, 0, NULL},
};

int sv_tree_path_digest_init(PyObject *module)
{
    if ((word_path = PyUnicode_InternFromString("path")) == NULL || (word_source = PyUnicode_InternFromString("source")) == NULL)
        return -1;
    return PyModule_AddFunctions(module, tree_path_digest_functions);
}
