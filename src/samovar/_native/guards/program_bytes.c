/* Guard programs as tuples, and as bytes, which artifacts in files contain. Bytes are read without creating tuples, because a
   warm start reads thousands of instructions.

   A program is the number of its instructions, then each: the number of its format, then its operands. Numbers are LEB128:
   groups of seven bits, lowest first. An operand that is an object begins with a letter:

       T, F  true and false                             s  text, after its size
       v     plain data, after its size                 p  a part of an object: the numbers of the part and of the object */
#include "guards/program.h"

#include <string.h>

/* Append, never reorder: positions are stored in files. If you must, increment the format in `cache/entry.py`. */
static const sv_format formats[] = {
    {"parameter", "Dn", SV_LOAD_PARAMETER},
    {"cell", "Dc", SV_LOAD_CELL},
    {"global", "DmN", SV_LOAD_GLOBAL},
    {"builtin", "DmmN", SV_LOAD_BUILTIN},
    {"attribute", "DSN", SV_LOAD_ATTRIBUTE},
    {"inherited", "DSHN", SV_LOAD_INHERITED},
    {"item", "DSo", SV_LOAD_ITEM},
    {"constant", "Do", SV_LOAD_CONSTANT},
    {"function", "DS", SV_LOAD_FUNCTION},
    {"is", "So", SV_GUARD_IS},
    {"type", "Sy", SV_GUARD_TYPE},
    {"value", "So", SV_GUARD_VALUE},
    {"method", "SNo", SV_GUARD_METHOD},
    {"absent_attribute", "SN", SV_GUARD_ABSENT_ATTRIBUTE},
    {"absent_global", "mN", SV_GUARD_ABSENT_GLOBAL},
    {"length", "Sn", SV_GUARD_LENGTH},
    {"keys", "ST", SV_GUARD_KEYS},
    {"stable", "nf", SV_STABLE},
    {"tensor", "S" SV_TENSOR_FACTS(SV_FACT_LETTER) "f", SV_GUARD_TENSOR}, /* the last: it is written */
    {"disjoint", "OOf", SV_GUARD_DISJOINT},
    {"array", "Anf", SV_FILL_ARRAY},
    {"scalar", "StnN", SV_FILL_SCALAR},
    {"contents", "So", SV_GUARD_CONTENTS},
    {"same_function", "SoC", SV_GUARD_SAME_FUNCTION},
    {"extent", "Ann", SV_GUARD_EXTENT},
    {"layout", "Ao", SV_GUARD_LAYOUT},
    {"tuple", "DR", SV_LOAD_TUPLE},
    {"call", "DSRTofN", SV_LOAD_CALL},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static void *malformed(const char *what)
{
    PyErr_Format(PyExc_ValueError, "guard program: %s", what);
    return NULL;
}

const sv_format *sv_format_of(PyObject *tuple)
{
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) < 1 || !PyUnicode_Check(PyTuple_GET_ITEM(tuple, 0))) {
        PyErr_SetString(PyExc_TypeError, "guard program: an instruction is a tuple that starts with its name");
        return NULL;
    }
    const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple, 0));
    if (name == NULL)
        return NULL;
    for (const sv_format *format = formats; format < formats + FORMAT_COUNT; format++)
        if (strcmp(format->name, name) == 0) {
            if (PyTuple_GET_SIZE(tuple) == (Py_ssize_t)strlen(format->kinds) + 1)
                return format;
            PyErr_Format(PyExc_ValueError, "guard program: %s: wrong number of operands", name);
            return NULL;
        }
    PyErr_Format(PyExc_ValueError, "guard program: %s: no such instruction", name);
    return NULL;
}

bool sv_is_number(char kind)
{
    return kind == 'D' || kind == 'S' || kind == 'H' || kind == 'A' || kind == 'n' || kind == 't';
}

Py_ssize_t sv_dtype_number(PyObject *dtype)
{
    for (int code = 0; code < SV_DTYPE_COUNT; code++) {
        sv_dtype *each = sv_dtype_of((sv_dtype_code)code);
        if ((PyObject *)each == dtype || (PyUnicode_Check(dtype) && PyUnicode_CompareWithASCIIString(dtype, each->name) == 0))
            return code;
    }
    if (PyUnicode_Check(dtype))
        malformed("no such dtype");
    else
        PyErr_Format(PyExc_TypeError, "guard program: expected a dtype, not %s", Py_TYPE(dtype)->tp_name);
    return -1;
}

bool sv_is_mark(PyObject *item)
{
    return PyTuple_CheckExact(item) && PyTuple_GET_SIZE(item) > 1 && PyTuple_GET_ITEM(item, 0) == Py_Ellipsis;
}

/* --- reading */

const sv_format *sv_next_format(sv_reader *self)
{
    if (self->at == self->end || *self->at >= FORMAT_COUNT)
        return malformed("no such instruction");
    return &formats[*self->at++];
}

int sv_next_number(sv_reader *self, Py_ssize_t *number)
{
    uint64_t count;
    if (!sv_take_count(self, &count) || count > PY_SSIZE_T_MAX) {
        malformed("invalid number");
        return -1;
    }
    *number = (Py_ssize_t)count;
    return 0;
}

int sv_next_item(sv_reader *self, PyObject **item, int *part, Py_ssize_t *number)
{
    *item = NULL;
    char tag = self->at < self->end ? (char)*self->at++ : '\0';
    if (tag == 'p') {
        *part = self->at < self->end ? *self->at++ : UINT8_MAX;
        return sv_next_number(self, number);
    }
    if (tag == 'T' || tag == 'F') {
        *item = Py_NewRef(tag == 'T' ? Py_True : Py_False);
        return 0;
    }
    Py_ssize_t size;
    if ((tag != 's' && tag != 'v') || !sv_take_size(self, &size)) {
        malformed("invalid operand");
        return -1;
    }
    const uint8_t *content = self->at;
    self->at += size;
    *item = tag == 's' ? PyUnicode_DecodeUTF8((const char *)content, size, NULL) : sv_decode_plain(content, (size_t)size);
    return *item == NULL ? -1 : 0;
}

/* --- writing */

static int put_sized(sv_writer *out, char tag, const char *bytes, Py_ssize_t size)
{
    if (sv_put(out, &tag, 1) < 0 || sv_put_count(out, (uint64_t)size) < 0)
        return -1;
    return sv_put(out, bytes, (size_t)size);
}

static int put_item(sv_writer *out, PyObject *item)
{
    if (PyBool_Check(item))
        return sv_put(out, item == Py_True ? "T" : "F", 1);
    int part = sv_is_mark(item) && PyTuple_GET_SIZE(item) == 3 ? sv_part_number(PyTuple_GET_ITEM(item, 1)) : -1;
    if (part >= 0) {
        uint8_t begin[2] = {'p', (uint8_t)part};
        size_t number = PyLong_AsSize_t(PyTuple_GET_ITEM(item, 2));
        if (number == (size_t)-1 && PyErr_Occurred())
            return -1;
        return sv_put(out, begin, sizeof begin) < 0 ? -1 : sv_put_count(out, number);
    }
    if (PyUnicode_CheckExact(item) && PyUnicode_IS_ASCII(item))
        return put_sized(out, 's', PyUnicode_DATA(item), PyUnicode_GET_LENGTH(item));
    PyObject *encoded = sv_encode_plain(item);
    if (encoded == NULL)
        return -1;
    int result = put_sized(out, 'v', PyBytes_AS_STRING(encoded), PyBytes_GET_SIZE(encoded));
    Py_DECREF(encoded);
    return result;
}

static int put_instruction(sv_writer *out, PyObject *tuple)
{
    const sv_format *format = sv_format_of(tuple);
    if (format == NULL)
        return -1;
    uint8_t place = (uint8_t)(format - formats);
    if (sv_put(out, &place, 1) < 0)
        return -1;
    for (Py_ssize_t i = 0; format->kinds[i] != '\0'; i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i + 1);
        if (!sv_is_number(format->kinds[i])) {
            if (put_item(out, item) < 0)
                return -1;
            continue;
        }
        /* Python may run here. */
        Py_ssize_t number = format->kinds[i] == 't' ? sv_dtype_number(item) : PyNumber_AsSsize_t(item, PyExc_ValueError);
        if (number == -1 && PyErr_Occurred())
            return -1;
        if (number < 0) {
            malformed("a number is negative");
            return -1;
        }
        if (sv_put_count(out, (uint64_t)number) < 0)
            return -1;
    }
    return 0;
}

static PyObject *encode_program(PyObject *Py_UNUSED(module), PyObject *instructions)
{
    PyObject *tuples = PySequence_Tuple(instructions), *result = NULL; /* cannot change while Python runs */
    if (tuples == NULL)
        return NULL;
    sv_writer out = {0};
    Py_ssize_t count = PyTuple_GET_SIZE(tuples), done = 0;
    if (sv_put_count(&out, (uint64_t)count) == 0)
        while (done < count && put_instruction(&out, PyTuple_GET_ITEM(tuples, done)) == 0)
            done++;
    if (done == count && !PyErr_Occurred())
        result = PyBytes_FromStringAndSize((const char *)out.bytes, (Py_ssize_t)out.used);
    PyMem_Free(out.bytes);
    Py_DECREF(tuples);
    return result;
}

static PyObject *guard_formats(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *result = PyDict_New();
    for (int i = 0; result != NULL && i < FORMAT_COUNT; i++) {
        PyObject *kinds = PyUnicode_FromString(formats[i].kinds);
        if (kinds == NULL || PyDict_SetItemString(result, formats[i].name, kinds) < 0)
            Py_CLEAR(result);
        Py_XDECREF(kinds);
    }
    return result;
}

static PyObject *guard_parts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return sv_part_names();
}

static PyMethodDef program_functions[] = {
    {"encode_program", encode_program, METH_O,
     PyDoc_STR("encode_program(instructions, /)\n--\n\n"
               "Encode the instructions of a guard program as bytes, which `Specialization` also accepts.\n\n"
               ">>> from samovar._native import encode_program\n>>> encode_program([(\"parameter\", 0, 0)])\nb'\\x01\\x00\\x00\\x00'")},
    {"guard_formats", guard_formats, METH_NOARGS,
     PyDoc_STR("guard_formats()\n--\n\n"
               "The instructions of guard programs: name → one letter per operand.\n\n"
               ">>> from samovar._native import guard_formats\n>>> guard_formats()[\"length\"]\n'Sn'")},
    {"guard_parts", guard_parts, METH_NOARGS,
     PyDoc_STR("guard_parts()\n--\n\n"
               "The parts of an object that native code resolves itself.\n\n"
               ">>> from samovar._native import guard_parts\n>>> \"type\" in guard_parts()\nTrue")},
    {NULL, NULL, 0, NULL},
};

int sv_program_bytes_init(PyObject *module)
{
    return PyModule_AddFunctions(module, program_functions);
}
