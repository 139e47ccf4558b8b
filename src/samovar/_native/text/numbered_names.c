/* Canonical LLVM IR text: names of local values and labels become numbers, so that texts that differ only in such names
   become equal (see backends/llvm/canonical_names.py). A kernel may have megabytes of it, and each text is renamed before it
   is looked up. */
#include "cache/bytes.h"

/* A name of the current function. `generation` distinguishes it from a stale entry of an earlier function. */
typedef struct {
    const char *name;
    size_t size;
    uint32_t hash;
    uint32_t generation;
    uint32_t number;
} known_name;

typedef struct {
    known_name *slots; /* PyMem_Free */
    size_t capacity;   /* a power of two */
    uint32_t count;
    uint32_t generation;
} known_names;

static known_name *slot_of(known_names *self, const char *name, size_t size, uint32_t hash)
{
    for (size_t at = hash;; at++) {
        known_name *slot = &self->slots[at & (self->capacity - 1)];
        bool is_free = slot->generation != self->generation;
        if (is_free || (slot->hash == hash && slot->size == size && memcmp(slot->name, name, size) == 0))
            return slot;
    }
}

/* -1 with a MemoryError. */
static int grow(known_names *self)
{
    known_names larger = *self;
    larger.capacity = self->capacity ? 4 * self->capacity : 1024;
    larger.slots = PyMem_Calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < self->capacity; i++) {
        const known_name *each = &self->slots[i];
        if (each->generation == self->generation)
            *slot_of(&larger, each->name, each->size, each->hash) = *each;
    }
    PyMem_Free(self->slots);
    *self = larger;
    return 0;
}

/* The number of a name, assigned on its first use in the function; -1 with a MemoryError. */
static int64_t number_of(known_names *self, const char *name, size_t size)
{
    if (2 * (size_t)self->count >= self->capacity && grow(self) < 0)
        return -1;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)name[i]) * 16777619u;
    hash ^= hash >> 15;
    known_name *slot = slot_of(self, name, size, hash);
    if (slot->generation != self->generation)
        *slot = (known_name){name, size, hash, self->generation, self->count++};
    return slot->number;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '$' || c == '.' || c == '_';
}

/* The end of the name that begins here, quoted or not; `at` if there is none. */
static const char *end_of_name(const char *at, const char *end)
{
    if (at < end && *at == '"') {
        const char *quote = memchr(at + 1, '"', (size_t)(end - at - 1));
        return quote == NULL ? at : quote + 1;
    }
    while (at < end && is_name_byte(*at))
        at++;
    return at;
}

static int put_number(sv_writer *to, int64_t number)
{
    char digits[20];
    char *first = digits + sizeof digits;
    do
        *--first = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return sv_put(to, first, (size_t)(digits + sizeof digits - first));
}

/* -1 with an exception. */
static int write_numbered(sv_writer *to, known_names *names, const char *at, const char *end)
{
    static const char function[] = "define ";
    const char *copied = at;
    bool at_line = true; /* at the beginning of a line */
    while (at < end) {
        if (at_line && (size_t)(end - at) >= sizeof function - 1 && memcmp(at, function, sizeof function - 1) == 0) {
            names->generation++;
            names->count = 0;
        }
        bool is_used = *at == '%';
        if (is_used || (at_line && (*at == '"' || is_name_byte(*at)))) {
            const char *name = at + is_used, *behind = end_of_name(name, end);
            if (behind > name && (is_used || (behind < end && *behind == ':'))) {
                if (sv_put(to, copied, (size_t)(name - copied)) < 0)
                    return -1;
                int64_t number = number_of(names, name, (size_t)(behind - name));
                if (number < 0 || put_number(to, number) < 0)
                    return -1;
                at = copied = behind;
                at_line = false;
                continue;
            }
        }
        at_line = *at == '\n';
        at++;
    }
    return sv_put(to, copied, (size_t)(end - copied));
}

static PyObject *numbered_names(PyObject *Py_UNUSED(module), PyObject *text)
{
    if (!PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "numbered_names takes a str, not a %s", Py_TYPE(text)->tp_name);
        return NULL;
    }
    Py_ssize_t size;
    const char *from = PyUnicode_AsUTF8AndSize(text, &size);
    if (from == NULL)
        return NULL;
    sv_writer to = {NULL, 0, 0};
    known_names names = {NULL, 0, 0, 1};
    PyObject *result = NULL;
    if (write_numbered(&to, &names, from, from + size) == 0)
        result = PyUnicode_DecodeUTF8((const char *)to.bytes, (Py_ssize_t)to.used, NULL);
    PyMem_Free(names.slots);
    PyMem_Free(to.bytes);
    return result;
}

static PyMethodDef functions[] = {
    {"numbered_names", numbered_names, METH_O,
     PyDoc_STR("numbered_names(text, /)\n--\n\n"
               "LLVM IR text with the locals and labels of each function numbered in order of appearance.\n\n"
               ">>> from samovar._native import numbered_names\n>>> numbered_names('%x = add i32 %y, %x')\n'%0 = add i32 %1, %0'")},
    {NULL, NULL, 0, NULL},
};

int sv_numbered_names_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
