/* Encode plain data as bytes and decode it: None, bool, int, float, complex, str, bytes, Ellipsis, tuples and lists of these.

   The format of cache entries. A warm start reads about a hundred of them, so common data is short and needs no new objects:
   words that occur in traces are numbers in a table, and repeated values are references to the first occurrence. Decoded data
   has no cycles and is not tracked by the garbage collector.

   A tag byte comes first; sizes and counts are LEB128: groups of seven bits, lowest first.

   A reference takes two bytes and may refer to something large. To keep a small file from expanding without bound, every value
   has a weight that includes what its references refer to, and the total weight is limited to a multiple of the size in bytes.
   As each item takes a byte, all tuples and lists together have at most as many items as there are bytes. */
#include "cache/bytes.h"

/* Append, never reorder: positions are stored in files. */
static const char *const words[] = {
    "kernel", "parameter", "operator", "options", "overlap", "cell", "global", "builtin", "undefined", "default", "attribute",
    "item", "super", "function", "call", "kind", "tensor", "readonly", "scalar type", "value", "intrinsic", "length", "keys",
    "annotation", "opaque", "whole", "class", "bases", "constant", "bound", "signature", "source", "option", "disjoint", "same",
    "same cell", "namespace", "dtype", "path", "enum", "TENSOR", "SCALAR", "STRING", "ENUM", "DTYPE", "NONE", "INTRINSIC", "FUNC",
    "METHOD", "FUNCTION", "MODULE", "SEQUENCE", "MAPPING", "ANNOTATION", "KERNEL", "OBJECT", "ABSENT", "i8", "i16", "i32", "i64",
    "u1", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "debug", "check_out_of_bound", "fast_math", "default_ip", "default_fp",
    "raise_on_templated_floats", "builtins.range", "trees", "kernels", "code", "names", "is", "weak", "type", "length", "method",
    "stable", "array", "scalar", "inherited", "absent_attribute", "absent_global", "object", "globals", "builtins", "module", "key",
    "samovar", "unbound", "int", "float", "bool", "values", "list", "immutable", "SAMOVAR", "check_races", "contents",
    "same_function", "defaults",
    "extent 1", "extent 2", "extent 3", "image", "block_size", "results", "tasks", "slow_serial", "sites", "program", "registers",
    "fills", "notices", "paths", "sections", "tuple", "extent", "extent 0", "extent 4", "extent 5", "extent 6", "extent 7", "extent 8",
    "extent 9", "extent 10", "extent 11", "extent 12", "extent 13", "extent 14", "extent 15", "exact extent 0", "exact extent 1",
    "exact extent 2", "exact extent 3", "exact extent 4", "exact extent 5", "exact extent 6", "exact extent 7", "exact extent 8",
    "exact extent 9", "exact extent 10", "exact extent 11", "exact extent 12", "exact extent 13", "exact extent 14",
    "exact extent 15",
    "layout", "MATRIX", "opt_level", "random_seed", "STRUCT", "STRUCTS", "flush_denormals", "without",
    "shared_variables", "printed_numbers", "float_bounds", "wide_arguments", "kernel_coverage", "probes",
    "literal_locals", "again", "callee",
    "vector_truth", "nested_structs", "missing_returns", "lost_gradients", "rounded_halves",
    "number type", "COMPLEX", "overwritten_values",
};
enum { WORD_COUNT = sizeof words / sizeof *words, MAX_DEPTH = 200 };

enum { BYTES_PER_WEIGHT = 16 };
static size_t most_weight(size_t bytes)
{
    static const size_t least = 1 << 16, usual = (size_t)1 << 24;
    size_t most = bytes > usual ? usual : 64 * bytes + least;
    most = most > usual ? usual : most;
    return most > 8 * bytes ? most : 8 * bytes;
}

static size_t weight_of_bytes(size_t bytes)
{
    return bytes / BYTES_PER_WEIGHT;
}

/* Strong references, interned, created once. */
static PyObject *word_objects[WORD_COUNT];
static PyObject *word_numbers; /* str → number */

static int prepare_words(void)
{
    if (word_numbers != NULL)
        return 0;
    PyObject *numbers = PyDict_New();
    for (int i = 0; numbers != NULL && i < WORD_COUNT; i++) {
        if (word_objects[i] == NULL)
            word_objects[i] = PyUnicode_InternFromString(words[i]);
        PyObject *number = PyLong_FromLong(i);
        if (word_objects[i] == NULL || number == NULL || PyDict_SetDefault(numbers, word_objects[i], number) == NULL)
            Py_CLEAR(numbers);
        Py_XDECREF(number);
    }
    word_numbers = numbers;
    return numbers == NULL ? -1 : 0;
}

/* --- writing */

typedef struct {
    sv_writer out;
    PyObject *seen; /* id of a str, bytes or tuple → its number */
    PyObject *held; /* keeps the ids valid */
    size_t *weights; /* of values that have a number */
    size_t weight_capacity;
    size_t weight;
    int depth;
} writer;

static int put(writer *self, const void *from, size_t size)
{
    return sv_put(&self->out, from, size);
}

static int put_count(writer *self, char tag, uint64_t count)
{
    return put(self, &tag, 1) < 0 ? -1 : sv_put_count(&self->out, count);
}

static int set_weight(writer *self, size_t number, size_t weight)
{
    if (number >= self->weight_capacity) {
        size_t capacity = 2 * number + 64;
        size_t *weights = PyMem_Realloc(self->weights, capacity * sizeof *weights);
        if (weights == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        self->weights = weights;
        self->weight_capacity = capacity;
    }
    self->weights[number] = weight;
    return 0;
}

/* 1: written as a reference. 0: new, and given the next number. */
static int put_reference(writer *self, PyObject *value, size_t *number_of)
{
    PyObject *id = PyLong_FromVoidPtr(value);
    if (id == NULL)
        return -1;
    int result = 0;
    PyObject *known = PyDict_GetItemWithError(self->seen, id);
    if (known != NULL) {
        result = put_count(self, 'r', PyLong_AsSize_t(known)) < 0 ? -1 : 1;
        self->weight += self->weights[PyLong_AsSize_t(known)];
    } else if (PyErr_Occurred()) {
        result = -1;
    } else {
        *number_of = (size_t)PyDict_GET_SIZE(self->seen);
        PyObject *number = PyLong_FromSize_t(*number_of);
        if (number == NULL || set_weight(self, *number_of, 0) < 0 || PyDict_SetItem(self->seen, id, number) < 0 || PyList_Append(self->held, value) < 0)
            result = -1;
        Py_XDECREF(number);
    }
    Py_DECREF(id);
    return result;
}

static int write_value(writer *self, PyObject *value);

static int write_text(writer *self, PyObject *value)
{
    PyObject *number = PyDict_GetItemWithError(word_numbers, value);
    if (number != NULL)
        return put_count(self, 'w', PyLong_AsSize_t(number));
    size_t place = 0;
    int reference = PyErr_Occurred() ? -1 : put_reference(self, value, &place);
    if (reference != 0)
        return reference < 0 ? -1 : 0;
    PyObject *encoded = PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass");
    if (encoded == NULL)
        return -1;
    self->weights[place] = weight_of_bytes((size_t)PyBytes_GET_SIZE(encoded));
    self->weight += self->weights[place];
    char tag = PyUnicode_CHECK_INTERNED(value) ? 'S' : 's';
    int result = put_count(self, tag, (uint64_t)PyBytes_GET_SIZE(encoded));
    if (result == 0)
        result = put(self, PyBytes_AS_STRING(encoded), (size_t)PyBytes_GET_SIZE(encoded));
    Py_DECREF(encoded);
    return result;
}

static int write_integer(writer *self, PyObject *value)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (number == -1 && PyErr_Occurred())
        return -1;
    if (!overflow)
        return put_count(self, number < 0 ? 'm' : 'i', number < 0 ? ~(uint64_t)number : (uint64_t)number);
    PyObject *digits = PyNumber_ToBase(value, 16);
    if (digits == NULL)
        return -1;
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(digits, &size);
    int result = text == NULL || put_count(self, 'I', (uint64_t)size) < 0 ? -1 : put(self, text, (size_t)size);
    Py_DECREF(digits);
    return result;
}

static int write_items(writer *self, PyObject *value, char tag)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    if (self->depth >= MAX_DEPTH) {
        PyErr_SetString(PyExc_ValueError, "plain data is nested too deeply");
        return -1;
    }
    if (put_count(self, tag, (uint64_t)count) < 0)
        return -1;
    self->depth++;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (i >= PySequence_Fast_GET_SIZE(value)) {
            PyErr_SetString(PyExc_RuntimeError, "a list changed size while it was encoded");
            return -1;
        }
        PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(value, i));
        int result = write_value(self, item); /* Python may run here: memory is allocated, garbage collected. */
        Py_DECREF(item);
        if (result < 0)
            return -1;
    }
    self->depth--;
    return 0;
}

static int write_value(writer *self, PyObject *value)
{
    self->weight++;
    if (value == Py_None || value == Py_True || value == Py_False || value == Py_Ellipsis)
        return put(self, value == Py_None ? "N" : value == Py_True ? "T" : value == Py_False ? "F" : "E", 1);
    if (PyLong_CheckExact(value))
        return write_integer(self, value);
    if (PyUnicode_CheckExact(value))
        return write_text(self, value);
    if (PyFloat_CheckExact(value)) {
        double number = PyFloat_AS_DOUBLE(value);
        return put(self, "f", 1) < 0 ? -1 : put(self, &number, sizeof number);
    }
    if (PyComplex_CheckExact(value)) {
        Py_complex number = PyComplex_AsCComplex(value);
        return put(self, "c", 1) < 0 ? -1 : put(self, &number, sizeof number);
    }
    if (PyList_CheckExact(value))
        return write_items(self, value, 'l');
    if (PyBytes_CheckExact(value)) {
        if (put_count(self, 'b', (uint64_t)PyBytes_GET_SIZE(value)) < 0)
            return -1;
        return put(self, PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value));
    }
    if (PyTuple_CheckExact(value)) {
        size_t place = 0, before = self->weight;
        int reference = put_reference(self, value, &place);
        if (reference != 0)
            return reference < 0 ? -1 : 0;
        int result = write_items(self, value, 't');
        self->weights[place] = self->weight - before;
        return result;
    }
    PyErr_Format(PyExc_ValueError, "plain data cannot contain a %s", Py_TYPE(value)->tp_name);
    return -1;
}

PyObject *sv_encode_plain(PyObject *value)
{
    if (prepare_words() < 0)
        return NULL;
    writer self = {.seen = PyDict_New(), .held = PyList_New(0)};
    PyObject *result = NULL;
    if (self.seen != NULL && self.held != NULL && write_value(&self, value) == 0) {
        if (self.weight <= most_weight(self.out.used))
            result = PyBytes_FromStringAndSize((const char *)self.out.bytes, (Py_ssize_t)self.out.used);
        else
            PyErr_SetString(PyExc_ValueError, "plain data contains too many references to the same value");
    }
    PyMem_Free(self.out.bytes);
    PyMem_Free(self.weights);
    Py_XDECREF(self.seen);
    Py_XDECREF(self.held);
    return result;
}

static PyObject *encode_plain(PyObject *Py_UNUSED(module), PyObject *value)
{
    return sv_encode_plain(value);
}

/* --- reading */

enum { STACK_REFERENCES = 128 };

typedef struct {
    PyObject *object; /* borrowed: the referenced value is part of the result */
    size_t weight;
} reference;

typedef struct {
    sv_reader in;
    reference *references;
    size_t count;
    size_t capacity;
    reference stack_references[STACK_REFERENCES];
    size_t items_left; /* the remaining number of items for all tuples and lists */
    size_t weight_left;
    int depth;
} reader;

static PyObject *damaged(void)
{
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "not plain data");
    return NULL;
}

/* Reserve the next reference number; its value is set later, after what is inside it. */
static bool reserve(reader *self, size_t *number)
{
    if (self->count == self->capacity) {
        size_t capacity = 2 * self->capacity;
        bool on_stack = self->references == self->stack_references;
        reference *references = PyMem_Realloc(on_stack ? NULL : self->references, capacity * sizeof *references);
        if (references == NULL) {
            PyErr_NoMemory();
            return false;
        }
        if (on_stack)
            memcpy(references, self->stack_references, sizeof self->stack_references);
        self->references = references;
        self->capacity = capacity;
    }
    *number = self->count++;
    self->references[*number] = (reference){NULL, 0};
    return true;
}

static bool weigh(reader *self, size_t weight)
{
    bool allowed = weight <= self->weight_left;
    self->weight_left -= allowed ? weight : 0;
    return allowed;
}

/* The number of items that follow. */
static bool take_items(reader *self, Py_ssize_t *count)
{
    if (!sv_take_size(&self->in, count) || (size_t)*count > self->items_left || self->depth >= MAX_DEPTH)
        return false;
    self->items_left -= (size_t)*count;
    return true;
}

static PyObject *read_value(reader *self);

static PyObject *read_text(reader *self, bool interned)
{
    Py_ssize_t size;
    size_t number;
    if (!reserve(self, &number) || !sv_take_size(&self->in, &size) || !weigh(self, weight_of_bytes((size_t)size)))
        return damaged();
    PyObject *text = PyUnicode_DecodeUTF8((const char *)self->in.at, size, "surrogatepass");
    if (text == NULL)
        return NULL;
    self->in.at += size;
    if (interned)
        PyUnicode_InternInPlace(&text);
    self->references[number] = (reference){text, weight_of_bytes((size_t)size)};
    return text;
}

static PyObject *read_tuple(reader *self)
{
    Py_ssize_t size;
    size_t number, before = self->weight_left;
    if (!reserve(self, &number) || !take_items(self, &size))
        return damaged();
    PyObject *tuple = PyTuple_New(size);
    self->depth++;
    for (Py_ssize_t i = 0; tuple != NULL && i < size; i++) {
        PyObject *item = read_value(self);
        if (item == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, item);
    }
    self->depth--;
    if (tuple == NULL)
        return NULL;
    if (PyObject_GC_IsTracked(tuple))
        PyObject_GC_UnTrack(tuple);
    self->references[number] = (reference){tuple, before - self->weight_left};
    return tuple;
}

static PyObject *read_list(reader *self)
{
    Py_ssize_t size;
    if (!take_items(self, &size))
        return damaged();
    PyObject *list = PyList_New(size);
    self->depth++;
    for (Py_ssize_t i = 0; list != NULL && i < size; i++) {
        PyObject *item = read_value(self);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, item);
    }
    self->depth--;
    if (list != NULL)
        PyObject_GC_UnTrack(list);
    return list;
}

static PyObject *read_big_integer(reader *self)
{
    Py_ssize_t size;
    if (!sv_take_size(&self->in, &size))
        return damaged();
    PyObject *digits = PyUnicode_DecodeASCII((const char *)self->in.at, size, NULL);
    if (digits == NULL)
        return NULL;
    self->in.at += size;
    PyObject *number = PyLong_FromUnicodeObject(digits, 16);
    Py_DECREF(digits);
    return number;
}

static PyObject *read_value(reader *self)
{
    if (self->in.at >= self->in.end || !weigh(self, 1))
        return damaged();
    uint64_t count;
    Py_ssize_t size;
    double numbers[2];
    switch (*self->in.at++) {
    case 'N': return Py_NewRef(Py_None);
    case 'T': return Py_NewRef(Py_True);
    case 'F': return Py_NewRef(Py_False);
    case 'E': return Py_NewRef(Py_Ellipsis);
    case 'i':
        return sv_take_count(&self->in, &count) && count <= INT64_MAX ? PyLong_FromLongLong((long long)count) : damaged();
    case 'm':
        return sv_take_count(&self->in, &count) && count <= INT64_MAX ? PyLong_FromLongLong((long long)~count) : damaged();
    case 'I': return read_big_integer(self);
    case 'w':
        return sv_take_count(&self->in, &count) && count < WORD_COUNT ? Py_NewRef(word_objects[count]) : damaged();
    case 's': return read_text(self, false);
    case 'S': return read_text(self, true);
    case 't': return read_tuple(self);
    case 'l': return read_list(self);
    case 'r':
        if (!sv_take_count(&self->in, &count) || count >= self->count || self->references[count].object == NULL ||
            !weigh(self, self->references[count].weight))
            return damaged();
        return Py_NewRef(self->references[count].object);
    case 'b':
        if (!sv_take_size(&self->in, &size))
            return damaged();
        self->in.at += size;
        return PyBytes_FromStringAndSize((const char *)self->in.at - size, size);
    case 'f':
    case 'c':
        size = (Py_ssize_t)sizeof(double) * (self->in.at[-1] == 'f' ? 1 : 2);
        if (self->in.end - self->in.at < size)
            return damaged();
        memcpy(numbers, self->in.at, (size_t)size);
        self->in.at += size;
        return size == sizeof(double) ? PyFloat_FromDouble(numbers[0]) : PyComplex_FromDoubles(numbers[0], numbers[1]);
    default: return damaged();
    }
}

PyObject *sv_decode_plain(const uint8_t *bytes, size_t size)
{
    if (prepare_words() < 0)
        return NULL;
    reader self; /* the references on the stack are not read before they are set */
    self.in.at = bytes;
    self.in.end = bytes + size;
    self.references = self.stack_references;
    self.capacity = STACK_REFERENCES;
    self.count = 0;
    self.depth = 0;
    self.items_left = size;
    self.weight_left = most_weight(size);
    PyObject *result = read_value(&self);
    if (result != NULL && self.in.at != self.in.end)
        Py_CLEAR(result);
    if (self.references != self.stack_references)
        PyMem_Free(self.references);
    return result == NULL ? damaged() : result;
}

static PyObject *decode_plain(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer content;
    Py_ssize_t start = 0;
    if (!PyArg_ParseTuple(args, "y*|n:decode_plain", &content, &start))
        return NULL;
    bool inside = start >= 0 && start <= content.len;
    PyObject *result = inside ? sv_decode_plain((const uint8_t *)content.buf + start, (size_t)(content.len - start)) : damaged();
    PyBuffer_Release(&content);
    return result;
}

/* decode_checked(content, start): decode what follows the checksum at `start`; None if the checksum does not match. */
static PyObject *decode_checked(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer content;
    Py_ssize_t start;
    if (!PyArg_ParseTuple(args, "y*n:decode_checked", &content, &start))
        return NULL;
    uint64_t lanes[2];
    const uint8_t *bytes = content.buf;
    PyObject *result = NULL;
    if (start >= 0 && start <= content.len && (size_t)(content.len - start) >= sizeof lanes) {
        const uint8_t *body = bytes + start + sizeof lanes;
        size_t size = (size_t)(content.len - start) - sizeof lanes;
        sv_checksum(body, size, lanes);
        result = memcmp(lanes, bytes + start, sizeof lanes) != 0 ? Py_NewRef(Py_None) : sv_decode_plain(body, size);
    } else {
        result = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&content);
    return result;
}

static PyObject *codec_words(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *result = prepare_words() < 0 ? NULL : PyTuple_New(WORD_COUNT);
    for (int i = 0; result != NULL && i < WORD_COUNT; i++)
        PyTuple_SET_ITEM(result, i, Py_NewRef(word_objects[i]));
    return result;
}

static PyMethodDef codec_functions[] = {
    {"encode_plain", encode_plain, METH_O,
     PyDoc_STR("encode_plain(value, /)\n--\n\n"
               "Encode plain data (None, numbers, strings, bytes, tuples and lists of these) as bytes.\n\n"
               ">>> from samovar._native import decode_plain, encode_plain\n"
               ">>> decode_plain(encode_plain((1, \"two\", [3.0, None])))\n(1, 'two', [3.0, None])")},
    {"decode_plain", decode_plain, METH_VARARGS,
     PyDoc_STR("decode_plain(content, start=0, /)\n--\n\n"
               "Decode the result of `encode_plain`; raise ValueError if it is anything else.\n\n"
               ">>> from samovar._native import decode_plain\n>>> decode_plain(b\"N\") is None\nTrue")},
    {"decode_checked", decode_checked, METH_VARARGS,
     PyDoc_STR("decode_checked(content, start, /)\n--\n\n"
               "Decode what follows the checksum at `start`; None if the checksum differs, ValueError if it is not plain data.\n\n"
               ">>> from samovar._native import checksum, decode_checked, encode_plain\n"
               ">>> body = encode_plain((1, 2))\n>>> decode_checked(checksum(body, 0) + body, 0)\n(1, 2)\n"
               ">>> decode_checked(bytes(16) + body, 0)")},
    {"codec_words", codec_words, METH_NOARGS,
     PyDoc_STR("codec_words()\n--\n\n"
               "The words that are encoded as numbers, in order.\n\n"
               ">>> from samovar._native import codec_words, encode_plain\n>>> encode_plain(codec_words()[3])\nb'w\\x03'")},
    {NULL, NULL, 0, NULL},
};

int sv_codec_init(PyObject *module)
{
    return PyModule_AddFunctions(module, codec_functions);
}
