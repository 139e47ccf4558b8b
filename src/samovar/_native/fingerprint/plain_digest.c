/* Digests of plain data and of code, for keys. Everything is hashed with its type and length, so that different values give
   different bytes; and the bytes depend only on the value: not on reference counts (as with `marshal`), not on the
   interpreter's adaptive specialization, not on the order of a set. */
#include "fingerprint/fingerprint.h"

#include <opcode.h>
#include <stdlib.h>
#include <string.h>

static int hash_value(sv_hasher *hasher, PyObject *value, bool locations);

static void hash_tag(sv_hasher *hasher, char tag, Py_ssize_t size)
{
    int64_t wide = size;
    sv_hasher_update(hasher, &tag, 1);
    sv_hasher_update(hasher, &wide, sizeof wide);
}

static void hash_bits(sv_hasher *hasher, char tag, double number)
{
    sv_hasher_update(hasher, &tag, 1);
    sv_hasher_update(hasher, &number, sizeof number);
}

static int hash_text(sv_hasher *hasher, PyObject *value)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text != NULL) {
        hash_tag(hasher, 's', size);
        sv_hasher_update(hasher, text, (size_t)size);
        return 0;
    }
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        return -1;
    PyErr_Clear(); /* constants may contain lone surrogates */
    PyObject *encoded = PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass");
    if (encoded == NULL)
        return -1;
    hash_tag(hasher, 's', PyBytes_GET_SIZE(encoded));
    sv_hasher_update(hasher, PyBytes_AS_STRING(encoded), (size_t)PyBytes_GET_SIZE(encoded));
    Py_DECREF(encoded);
    return 0;
}

static int hash_integer(sv_hasher *hasher, PyObject *value)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (number == -1 && PyErr_Occurred())
        return -1;
    if (!overflow) {
        hash_tag(hasher, 'i', (Py_ssize_t)number);
        return 0;
    }
    PyObject *digits = PyNumber_ToBase(value, 16);
    if (digits == NULL)
        return -1;
    sv_hasher_update(hasher, "I", 1);
    int result = hash_text(hasher, digits);
    Py_DECREF(digits);
    return result;
}

static int hash_items(sv_hasher *hasher, PyObject *value, bool locations)
{
    Py_ssize_t count = PyTuple_GET_SIZE(value);
    hash_tag(hasher, 't', count);
    if (Py_EnterRecursiveCall(" in a digest of plain data"))
        return -1;
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < count; i++)
        result = hash_value(hasher, PyTuple_GET_ITEM(value, i), locations);
    Py_LeaveRecursiveCall();
    return result;
}

static int digest_of(PyObject *value, bool locations, sv_digest *digest)
{
    sv_hasher hasher;
    sv_hasher_begin(&hasher, SV_DOMAIN_PLAIN);
    if (hash_value(&hasher, value, locations) < 0)
        return -1;
    sv_hasher_finish(&hasher, digest);
    return 0;
}

static int by_bytes(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(sv_digest));
}

static int hash_unordered(sv_hasher *hasher, PyObject *items, bool locations)
{
    size_t count = (size_t)PyTuple_GET_SIZE(items);
    sv_digest *digests = PyMem_Calloc(count + 1, sizeof *digests);
    int result = digests == NULL ? (PyErr_NoMemory(), -1) : 0;
    for (size_t i = 0; result == 0 && i < count; i++)
        result = digest_of(PyTuple_GET_ITEM(items, (Py_ssize_t)i), locations, &digests[i]);
    if (result == 0) {
        qsort(digests, count, sizeof *digests, by_bytes);
        hash_tag(hasher, 'z', (Py_ssize_t)count);
        sv_hasher_update(hasher, digests, count * sizeof *digests);
    }
    PyMem_Free(digests);
    return result;
}

static int hash_set(sv_hasher *hasher, PyObject *value, bool locations)
{
    if (Py_EnterRecursiveCall(" in a digest of plain data"))
        return -1;
    PyObject *items = PySequence_Tuple(value);
    int result = items == NULL ? -1 : hash_unordered(hasher, items, locations);
    Py_XDECREF(items);
    Py_LeaveRecursiveCall();
    return result;
}

/* --- code */

/* Flags that do not affect the meaning: CO_NESTED, CO_HAS_DOCSTRING. */
enum { IDLE_FLAGS = 0x10 | 0x4000000 };

static bool loads_constant(uint8_t operation)
{
    switch (operation) {
    case LOAD_CONST:
#ifdef RETURN_CONST
    case RETURN_CONST:
#endif
#ifdef KW_NAMES
    case KW_NAMES:
#endif
        return true;
    default:
        return false;
    }
}

/* Whether the first constant is a docstring that the code itself never loads. The compiler stores equal constants once: in a
   function that also prints its docstring, it is part of the meaning. Lambdas and comprehensions have none. */
static bool has_idle_docstring(PyCodeObject *code, PyObject *constants, PyObject *instructions)
{
    if (PyTuple_GET_SIZE(constants) == 0 || !PyUnicode_Check(PyTuple_GET_ITEM(constants, 0)))
        return false;
    if (!(code->co_flags & CO_OPTIMIZED) || (PyUnicode_GET_LENGTH(code->co_name) > 0 && PyUnicode_ReadChar(code->co_name, 0) == '<'))
        return false;
    const uint8_t *bytes = (const uint8_t *)PyBytes_AS_STRING(instructions);
    for (Py_ssize_t i = 0; i + 1 < PyBytes_GET_SIZE(instructions); i += 2)
        if (loads_constant(bytes[i]) && bytes[i + 1] == 0)
            return false;
    return true;
}

static int hash_constants(sv_hasher *hasher, PyCodeObject *code, PyObject *instructions, bool locations)
{
    PyObject *constants = code->co_consts;
    Py_ssize_t count = PyTuple_GET_SIZE(constants);
    bool skips_first = has_idle_docstring(code, constants, instructions);
    hash_tag(hasher, 't', count);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *constant = i == 0 && skips_first ? Py_None : PyTuple_GET_ITEM(constants, i);
        if (hash_value(hasher, constant, locations) < 0)
            return -1;
    }
    return 0;
}

/* Attributes that are computed on access, or that not every version has. */
static int hash_attribute(sv_hasher *hasher, PyObject *code, const char *name)
{
    PyObject *value = PyObject_GetAttrString(code, name);
    if (value == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        value = Py_NewRef(Py_None);
    }
    int result = hash_value(hasher, value, false);
    Py_DECREF(value);
    return result;
}

static int digest_of_code(PyObject *object, bool locations, sv_digest *digest)
{
    PyCodeObject *code = (PyCodeObject *)object;
    sv_hasher hasher;
    sv_hasher_begin(&hasher, SV_DOMAIN_PLAIN);
    int64_t counts[] = {code->co_argcount, code->co_posonlyargcount, code->co_kwonlyargcount, code->co_flags & ~IDLE_FLAGS};
    sv_hasher_update(&hasher, counts, sizeof counts);
    static const char *const names[] = {"co_names", "co_varnames", "co_freevars", "co_cellvars", "co_exceptiontable"};
    static const char *const places[] = {"co_filename", "co_firstlineno", "co_linetable"};
    if (hash_value(&hasher, code->co_name, false) < 0)
        return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (hash_attribute(&hasher, object, names[i]) < 0)
            return -1;
    /* A fresh copy without adaptive specialization. */
    PyObject *instructions = PyObject_GetAttrString(object, "co_code");
    if (instructions == NULL)
        return -1;
    int result = hash_value(&hasher, instructions, false);
    if (result == 0)
        result = hash_constants(&hasher, code, instructions, locations);
    Py_DECREF(instructions);
    for (size_t i = 0; locations && result == 0 && i < sizeof places / sizeof *places; i++)
        result = hash_attribute(&hasher, object, places[i]);
    if (result == 0)
        sv_hasher_finish(&hasher, digest);
    return result;
}

static int hash_value(sv_hasher *hasher, PyObject *value, bool locations)
{
    if (PyUnicode_CheckExact(value))
        return hash_text(hasher, value);
    if (PyLong_CheckExact(value))
        return hash_integer(hasher, value);
    if (PyTuple_CheckExact(value))
        return hash_items(hasher, value, locations);
    if (value == Py_None || value == Py_True || value == Py_False || value == Py_Ellipsis) {
        const char *tag = value == Py_None ? "N" : value == Py_True ? "T" : value == Py_False ? "F" : "E";
        sv_hasher_update(hasher, tag, 1);
        return 0;
    }
    if (PyBytes_CheckExact(value)) {
        hash_tag(hasher, 'b', PyBytes_GET_SIZE(value));
        sv_hasher_update(hasher, PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value));
        return 0;
    }
    if (PyFloat_CheckExact(value)) {
        hash_bits(hasher, 'f', PyFloat_AS_DOUBLE(value));
        return 0;
    }
    if (PyComplex_CheckExact(value)) {
        Py_complex number = PyComplex_AsCComplex(value);
        hash_bits(hasher, 'c', number.real);
        hash_bits(hasher, 'c', number.imag);
        return 0;
    }
    if (Py_IS_TYPE(value, &sv_dtype_type)) {
        const char *name = ((sv_dtype *)value)->name;
        hash_tag(hasher, 'd', (Py_ssize_t)strlen(name));
        sv_hasher_update(hasher, name, strlen(name));
        return 0;
    }
    if (PyFrozenSet_CheckExact(value))
        return hash_set(hasher, value, locations);
    if (PyCode_Check(value)) {
        sv_digest digest;
        if (digest_of_code(value, locations, &digest) < 0)
            return -1;
        sv_hasher_update(hasher, "C", 1);
        sv_hasher_update(hasher, &digest, sizeof digest);
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "plain data cannot contain a %s", Py_TYPE(value)->tp_name);
    return -1;
}

/* --- for Python */

static PyObject *hexadecimal(const sv_digest *digest)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * SV_DIGEST_SIZE];
    for (int i = 0; i < SV_DIGEST_SIZE; i++) {
        text[2 * i] = digits[digest->bytes[i] >> 4];
        text[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
    return PyUnicode_FromStringAndSize(text, sizeof text);
}

PyObject *sv_plain_digest(PyObject *value)
{
    sv_digest digest;
    return digest_of(value, false, &digest) < 0 ? NULL : hexadecimal(&digest);
}

static PyObject *plain_digest(PyObject *Py_UNUSED(module), PyObject *value)
{
    return sv_plain_digest(value);
}

/* Code is immutable, and a program's funcs are looked up for each kernel that calls them. Strong references: an address is
   not reused. */
typedef struct {
    PyObject *code;
    PyObject *digest;
} known_code;
static known_code known_codes[4096];

PyObject *sv_code_fingerprint(PyObject *code, bool locations)
{
    uintptr_t mixed = ((uintptr_t)code >> 4) * 0x9e3779b1u >> 7; /* code objects loaded together lie at regular distances */
    known_code *known = &known_codes[mixed % (sizeof known_codes / sizeof *known_codes)];
    if (!locations && known->code == code)
        return Py_NewRef(known->digest);
    /* Python may run here (a finalizer), and may assign other code to a function. */
    Py_INCREF(code);
    sv_digest digest;
    PyObject *result = digest_of_code(code, locations, &digest) < 0 ? NULL : hexadecimal(&digest);
    if (!locations && result != NULL) {
        known_code before = *known;
        known->code = Py_NewRef(code);
        known->digest = Py_NewRef(result);
        Py_XDECREF(before.code);
        Py_XDECREF(before.digest);
    }
    Py_DECREF(code);
    return result;
}

static PyObject *code_fingerprint(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *code;
    int locations = 0;
    if (!PyArg_ParseTuple(args, "O!|p:code_fingerprint", &PyCode_Type, &code, &locations))
        return NULL;
    return sv_code_fingerprint(code, locations);
}

static PyMethodDef plain_functions[] = {
    {"plain_digest", plain_digest, METH_O,
     PyDoc_STR("plain_digest(value, /)\n--\n\n"
               "The hexadecimal digest of plain data (numbers, strings, bytes, dtypes, None, tuples of these).\n\n"
               ">>> from samovar._native import plain_digest\n>>> plain_digest((1, 2)) == plain_digest((1, 2.0))\nFalse")},
    {"code_fingerprint", code_fingerprint, METH_VARARGS,
     PyDoc_STR("code_fingerprint(code, locations=False, /)\n--\n\n"
               "A digest of what code does, independent of its location unless `locations` is true.\n\n"
               ">>> from samovar._native import code_fingerprint\n>>> def f(): return 1\n>>> len(code_fingerprint(f.__code__))\n40")},
    {NULL, NULL, 0, NULL},
};

int sv_plain_digest_init(PyObject *module)
{
    return PyModule_AddFunctions(module, plain_functions);
}
