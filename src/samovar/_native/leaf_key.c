/* The key of what a way through a decision tree leads to, computed from the tree as it was read: who follows a way compares it with
   the key at its end. `samovar.cache.library.artifact_key` computes the same from a trace.

   Rows of paths are numbered as they come in the steps, parents and the paths in keys first, so that the key does not depend on what
   else the tree knows. What the guards speak of, the sources, has a digest of its own. */
#include "fingerprint.h"

typedef struct {
    PyObject *rows;
    Py_ssize_t *numbers; /* by the place of a row: its number, or -1 */
    Py_ssize_t *places;  /* and by its number: its place */
    Py_ssize_t count;
} numbering;

static int misread(void)
{
    PyErr_SetString(PyExc_ValueError, "this is no way through a decision tree");
    return -1;
}

static bool is_path(PyObject *value)
{
    return PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 3 && PyTuple_GET_ITEM(value, 0) == Py_Ellipsis &&
           PyUnicode_Check(PyTuple_GET_ITEM(value, 1)) && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(value, 1), "path") == 0;
}

static bool is_triple(PyObject *value)
{
    return PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 3;
}

/* The place of a row, or -1 with an exception. */
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

/* Give numbers to the paths in a key or an answer. */
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

/* What counts of an answer: see `essence` in `samovar.lens.answers`. NULL with an exception; borrowed. */
static PyObject *essence(PyObject *question, PyObject *answer)
{
    if (!PyUnicode_Check(question)) {
        misread();
        return NULL;
    }
    if (PyUnicode_CompareWithASCIIString(question, "source") != 0)
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

/* --- digests, as `plain_digest` makes them of tuples */

/* A key or an answer, with the numbers that its paths have here. */
static int hash_numbered(const numbering *self, sv_hasher *hasher, PyObject *value)
{
    if (!PyTuple_CheckExact(value))
        return sv_hash_plain(hasher, value);
    Py_ssize_t count = PyTuple_GET_SIZE(value);
    bool names_path = is_path(value);
    sv_hash_tag(hasher, 't', count);
    if (Py_EnterRecursiveCall(" in an answer"))
        return -1;
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < count; i++) {
        if (names_path && i == 2)
            sv_hash_tag(hasher, 'i', self->numbers[PyLong_AsSsize_t(PyTuple_GET_ITEM(value, i))]);
        else
            result = hash_numbered(self, hasher, PyTuple_GET_ITEM(value, i));
    }
    Py_LeaveRecursiveCall();
    return result;
}

static int hash_rows(const numbering *self, sv_hasher *hasher, Py_ssize_t begin, Py_ssize_t end)
{
    sv_hash_tag(hasher, 't', end - begin);
    for (Py_ssize_t number = begin; number < end; number++) {
        PyObject *row = PyList_GET_ITEM(self->rows, self->places[number]);
        Py_ssize_t parent = PyLong_AsSsize_t(PyTuple_GET_ITEM(row, 0));
        sv_hash_tag(hasher, 't', 3);
        sv_hash_tag(hasher, 'i', parent < 0 ? -1 : self->numbers[parent]);
        if (sv_hash_plain(hasher, PyTuple_GET_ITEM(row, 1)) < 0 || hash_numbered(self, hasher, PyTuple_GET_ITEM(row, 2)) < 0)
            return -1;
    }
    return 0;
}

static int hash_steps(const numbering *self, sv_hasher *hasher, PyObject *steps)
{
    sv_hash_tag(hasher, 't', PyList_GET_SIZE(steps));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(steps); i++) {
        PyObject *step = PyList_GET_ITEM(steps, i), *question = PyTuple_GET_ITEM(step, 1);
        sv_hash_tag(hasher, 't', 3);
        sv_hash_tag(hasher, 'i', self->numbers[PyLong_AsSsize_t(PyTuple_GET_ITEM(step, 0))]);
        if (sv_hash_plain(hasher, question) < 0 || hash_numbered(self, hasher, essence(question, PyTuple_GET_ITEM(step, 2))) < 0)
            return -1;
    }
    return 0;
}

static PyObject *key_of(const numbering *self, PyObject *tree, PyObject *steps)
{
    static PyObject *word;
    if (word == NULL && (word = PyUnicode_InternFromString("kernel")) == NULL)
        return NULL;
    sv_hasher hasher;
    sv_hasher_begin(&hasher, SV_DOMAIN_PLAIN);
    sv_hash_tag(&hasher, 't', 4);
    if (sv_hash_plain(&hasher, tree) < 0 || sv_hash_plain(&hasher, word) < 0 || hash_rows(self, &hasher, 0, self->count) < 0 ||
        hash_steps(self, &hasher, steps) < 0)
        return NULL;
    sv_digest digest;
    sv_hasher_finish(&hasher, &digest);
    return sv_hexadecimal(&digest);
}

/* Of the rows that no step has led to, and of the numbers of the sources. */
static PyObject *digest_of_sources(numbering *self, PyObject *sources)
{
    Py_ssize_t begin = self->count;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sources); i++) {
        Py_ssize_t place = place_of(self, PyTuple_GET_ITEM(sources, i));
        if (place < 0 || number_row(self, place) < 0)
            return NULL;
    }
    sv_hasher hasher;
    sv_hasher_begin(&hasher, SV_DOMAIN_PLAIN);
    if (hash_rows(self, &hasher, begin, self->count) < 0)
        return NULL;
    sv_hash_tag(&hasher, 't', PyTuple_GET_SIZE(sources));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sources); i++)
        sv_hash_tag(&hasher, 'i', self->numbers[PyLong_AsSsize_t(PyTuple_GET_ITEM(sources, i))]);
    sv_digest digest;
    sv_hasher_finish(&hasher, &digest);
    return sv_hexadecimal(&digest);
}

static PyObject *leaf_key(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *tree, *rows, *steps, *sources;
    if (!PyArg_ParseTuple(args, "UO!O!O!:leaf_key", &tree, &PyList_Type, &rows, &PyList_Type, &steps, &PyTuple_Type, &sources))
        return NULL;
    size_t room = (size_t)PyList_GET_SIZE(rows) + 1;
    numbering self = {rows, PyMem_Calloc(room, sizeof *self.numbers), PyMem_Calloc(room, sizeof *self.places), 0};
    PyObject *key = NULL, *digest = NULL;
    if (self.numbers == NULL || self.places == NULL) {
        PyErr_NoMemory();
    } else {
        for (size_t i = 0; i < room; i++)
            self.numbers[i] = -1;
        key = number_steps(&self, steps) < 0 ? NULL : key_of(&self, tree, steps); /* nothing here runs code of Python's */
        digest = key == NULL ? NULL : digest_of_sources(&self, sources);
    }
    PyMem_Free(self.numbers);
    PyMem_Free(self.places);
    if (digest == NULL) {
        Py_XDECREF(key);
        return NULL;
    }
    return Py_BuildValue("NN", key, digest);
}

static PyMethodDef leaf_functions[] = {
    {"leaf_key", leaf_key, METH_VARARGS,
     PyDoc_STR("leaf_key(tree, rows, steps, sources, /)\n--\n\n"
               "The key of what some steps of a decision tree lead to, and a digest of the paths that its guards speak of.\n\n"
               ">>> from samovar._native import leaf_key, plain_digest\n"
               ">>> row, step = (-1, \"parameter\", \"a\"), (0, \"value\", 1)\n"
               ">>> leaf_key(\"key\", [row], [step], ())[0] == plain_digest((\"key\", \"kernel\", (row,), (step,)))\nTrue")},
    {NULL, NULL, 0, NULL},
};

int sv_leaf_key_init(PyObject *module)
{
    return PyModule_AddFunctions(module, leaf_functions);
}
