/* The image loader: a flat image is verified, copied into a private mapping, relocated, and made readable and executable,
   never writable and executable at once (W^X).

   A flat image, all numbers little-endian words of 32 bits:

       magic, format, machine, then the number of bytes of code, of functions, of bytes of names, of slots, of relatives
       functions: name, offset, size                     by offset
       names:     zero-terminated, referred to by their offset here
       slots:     offset of a cell, name of a symbol     by offset
       relatives: offset of a cell                       by offset
       zeros up to a multiple of 64, and the code and constants

   A cell is eight bytes. The loader stores the address of the symbol in that of a slot, and adds the address of the image to
   that of a relative. `samovar.backends.images.image` writes this. */
#include "launch/runtime.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#endif

static const char magic[8] = "samovar";

enum { FORMAT = 1, WORD = 4, CELL = 8, ALIGNMENT = 64 };
enum { HEADER_SIZE = sizeof magic + 7 * WORD, FUNCTION_SIZE = 3 * WORD, SLOT_SIZE = 2 * WORD };

/* The tables of a flat image, in memory of any alignment. */
typedef struct {
    const uint8_t *functions;
    const char *names;
    const uint8_t *slots;
    const uint8_t *relatives;
    const uint8_t *code;
    uint32_t code_size;
    uint32_t function_count;
    uint32_t names_size;
    uint32_t slot_count;
    uint32_t relative_count;
} flat_image;

static uint32_t word(const uint8_t *table, size_t index)
{
    uint32_t value;
    memcpy(&value, table + index * WORD, sizeof value);
    return value;
}

/* --- reading */

static int read_tables(flat_image *flat, const uint8_t *data, size_t length)
{
    if (length < HEADER_SIZE || memcmp(data, magic, sizeof magic) != 0) {
        PyErr_SetString(PyExc_ValueError, "not an image: the header is missing");
        return -1;
    }
    const uint8_t *header = data + sizeof magic;
    if (word(header, 0) != FORMAT) {
        PyErr_Format(PyExc_ImportError, "image format %u is not supported: this samovar reads format %d", word(header, 0), FORMAT);
        return -1;
    }
    if (word(header, 1) != MACHINE) {
        PyErr_Format(PyExc_ImportError, "the image is for machine %u (ELF number), but this is machine %d", word(header, 1),
                     MACHINE);
        return -1;
    }
    flat->code_size = word(header, 2);
    flat->function_count = word(header, 3);
    flat->names_size = word(header, 4);
    flat->slot_count = word(header, 5);
    flat->relative_count = word(header, 6);
    uint64_t names_at = HEADER_SIZE + (uint64_t)flat->function_count * FUNCTION_SIZE;
    uint64_t slots_at = names_at + flat->names_size;
    uint64_t relatives_at = slots_at + (uint64_t)flat->slot_count * SLOT_SIZE;
    uint64_t tables_end = relatives_at + (uint64_t)flat->relative_count * WORD;
    uint64_t code_at = (tables_end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (code_at + flat->code_size != length) {
        PyErr_Format(PyExc_ValueError, "damaged image: its tables describe %llu bytes, but it has %zu",
                     (unsigned long long)(code_at + flat->code_size), length);
        return -1;
    }
    flat->functions = data + HEADER_SIZE;
    flat->names = (const char *)data + names_at;
    flat->slots = data + slots_at;
    flat->relatives = data + relatives_at;
    flat->code = data + code_at;
    for (const uint8_t *padding = data + tables_end; padding < flat->code; padding++)
        if (*padding != 0) {
            PyErr_SetString(PyExc_ValueError, "damaged image: nonzero bytes between its tables and its code");
            return -1;
        }
    return 0;
}

/* --- verifying: each step may rely on those before it */

static int check_names(const flat_image *flat)
{
    if (flat->names_size > 0 && flat->names[flat->names_size - 1] != '\0') {
        PyErr_SetString(PyExc_ValueError, "damaged image: its last name is not terminated");
        return -1;
    }
    for (uint32_t i = 0; i < flat->names_size; i++) {
        unsigned char character = (unsigned char)flat->names[i];
        if (character != '\0' && (character < ' ' || character == 0x7f)) {
            PyErr_SetString(PyExc_ValueError, "damaged image: a control character in a name");
            return -1;
        }
    }
    return 0;
}

/* The name at an offset in the names, or NULL with an exception. */
static const char *name_at(const flat_image *flat, uint32_t place)
{
    if (place >= flat->names_size || flat->names[place] == '\0') {
        PyErr_SetString(PyExc_ValueError, "damaged image: a name is missing");
        return NULL;
    }
    return flat->names + place;
}

static int check_functions(const flat_image *flat, uint32_t *entry)
{
    bool found = false;
    uint32_t last = 0;
    for (size_t i = 0; i < flat->function_count; i++) {
        const uint8_t *function = flat->functions + i * FUNCTION_SIZE;
        uint32_t offset = word(function, 1), size = word(function, 2);
        const char *name = name_at(flat, word(function, 0));
        if (name == NULL)
            return -1;
        if (offset >= flat->code_size || size > flat->code_size - offset) {
            PyErr_Format(PyExc_ValueError, "the function %s lies outside the image", name);
            return -1;
        }
        if (offset < last) {
            PyErr_Format(PyExc_ValueError, "the functions of an image are not sorted: %s", name);
            return -1;
        }
        last = offset;
        if (strcmp(name, "samovar_entry") == 0) {
            if (found) {
                PyErr_SetString(PyExc_ValueError, "an image defines samovar_entry twice");
                return -1;
            }
            *entry = offset;
            found = true;
        }
    }
    if (!found) {
        PyErr_SetString(PyExc_ValueError, "an image must define samovar_entry");
        return -1;
    }
    return 0;
}

/* Cells lie inside, are aligned, and overlap neither each other nor functions. */
static int check_cells(const flat_image *flat)
{
    uint32_t slot = 0, relative = 0, function = 0;
    uint64_t occupied = 0; /* the end so far, of cells and of functions that begin before the end of this cell */
    while (slot < flat->slot_count || relative < flat->relative_count) {
        uint32_t of_slot = slot < flat->slot_count ? word(flat->slots, 2 * (size_t)slot) : UINT32_MAX;
        uint32_t of_relative = relative < flat->relative_count ? word(flat->relatives, relative) : UINT32_MAX;
        uint32_t offset = of_slot < of_relative ? of_slot : of_relative;
        if (relative == flat->relative_count || of_slot < of_relative)
            slot++;
        else
            relative++;
        if (flat->code_size < CELL || offset > flat->code_size - CELL) {
            PyErr_Format(PyExc_ValueError, "the cell at %u lies outside the image", offset);
            return -1;
        }
        if (offset % CELL != 0) {
            PyErr_Format(PyExc_ValueError, "the cell at %u of an image is not aligned", offset);
            return -1;
        }
        for (; function < flat->function_count; function++) {
            uint64_t begin = word(flat->functions, 3 * (size_t)function + 1);
            uint64_t end = begin + word(flat->functions, 3 * (size_t)function + 2);
            if (begin >= (uint64_t)offset + CELL)
                break;
            if (end > occupied)
                occupied = end;
        }
        if (offset < occupied) {
            PyErr_Format(PyExc_ValueError, "the cell at %u of an image overlaps another or a function", offset);
            return -1;
        }
        occupied = (uint64_t)offset + CELL;
    }
    return 0;
}

static int check_targets(const flat_image *flat)
{
    for (size_t i = 0; i < flat->relative_count; i++) {
        uint32_t offset = word(flat->relatives, i);
        uint64_t target;
        memcpy(&target, flat->code + offset, sizeof target);
        if (target > flat->code_size) {
            PyErr_Format(PyExc_ValueError, "the cell at %u refers to an address outside the image", offset);
            return -1;
        }
    }
    return 0;
}

/* --- loading */

static int fill_cells(const flat_image *flat, uint8_t *code)
{
    for (size_t i = 0; i < flat->slot_count; i++) {
        const char *name = name_at(flat, word(flat->slots, 2 * i + 1));
        if (name == NULL)
            return -1;
        void *address = sv_symbol(name);
        if (address == NULL) {
            PyErr_Format(PyExc_ImportError, "an image refers to the symbol %s, which kernels cannot use", name);
            return -1;
        }
        memcpy(code + word(flat->slots, 2 * i), &address, sizeof address);
    }
    for (size_t i = 0; i < flat->relative_count; i++) {
        uint8_t *cell = code + word(flat->relatives, i);
        uint64_t target;
        memcpy(&target, cell, sizeof target);
        target += (uint64_t)(uintptr_t)code;
        memcpy(cell, &target, sizeof target);
    }
    return 0;
}

static void raise_denied(int error)
{
    const char *help = "";
    if (error == EACCES || error == EPERM)
        help = ": a policy denies it (SELinux execmem, systemd MemoryDenyWriteExecute, a seccomp filter or prctl "
               "PR_SET_MDWE); kernels need permission to make memory executable that was written";
    PyObject *text = PyUnicode_FromFormat("the system denies executable memory (%s)%s", strerror(error), help);
    PyObject *arguments = text == NULL ? NULL : Py_BuildValue("(iN)", error, text);
    if (arguments != NULL)
        PyErr_SetObject(PyExc_OSError, arguments);
    Py_XDECREF(arguments);
}

/* Memory for code is mapped in blocks, from which each image takes its pages: that is one system call for most images
   instead of two. An image unmaps its own pages. The GIL is held. */
enum { BLOCK_SIZE = 1 << 18, LARGE_SIZE = BLOCK_SIZE / 4 };

static uint8_t *mapped_memory(size_t size)
{
    uint8_t *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        return memory;
    PyErr_NoMemory();
    return NULL;
}

static uint8_t *pages_for_code(size_t size)
{
    static uint8_t *block;
    static size_t left; /* the free pages of the block, at its end */
    if (size > LARGE_SIZE)
        return mapped_memory(size);
    if (size > left) {
        uint8_t *fresh = mapped_memory(BLOCK_SIZE);
        if (fresh == NULL)
            return NULL;
        if (left > 0)
            munmap(block + BLOCK_SIZE - left, left);
        block = fresh;
        left = BLOCK_SIZE;
    }
    left -= size;
    return block + BLOCK_SIZE - left - size;
}

static int map_code(sv_image *image, const flat_image *flat)
{
    static size_t page;
    if (page == 0)
        page = (size_t)sysconf(_SC_PAGESIZE);
    size_t mapped = (flat->code_size + page - 1) / page * page;
    uint8_t *memory = pages_for_code(mapped);
    if (memory == NULL)
        return -1;
    image->code = memory;
    image->mapped = mapped;
    image->size = flat->code_size;
    memcpy(memory, flat->code, flat->code_size);
    if (fill_cells(flat, memory) < 0)
        return -1;
    if (mprotect(memory, mapped, PROT_READ | PROT_EXEC) < 0) {
        raise_denied(errno);
        return -1;
    }
    __builtin___clear_cache((char *)memory, (char *)memory + mapped);
    return 0;
}

/* Keep the functions and their names, which are adjacent. */
static int keep_functions(sv_image *image, const flat_image *flat)
{
    size_t size = (size_t)flat->function_count * FUNCTION_SIZE + flat->names_size;
    image->functions = malloc(size);
    if (image->functions == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(image->functions, flat->functions, size);
    image->function_count = flat->function_count;
    return 0;
}

const char *sv_image_function(const sv_image *image, size_t index, size_t *offset, size_t *size)
{
    const uint8_t *function = image->functions + index * FUNCTION_SIZE;
    *offset = word(function, 1);
    *size = word(function, 2);
    return (const char *)image->functions + image->function_count * FUNCTION_SIZE + word(function, 0);
}

static void set_entry(sv_image *image, void *address)
{
    memcpy(&image->entry, &address, sizeof address);
}

static sv_image *empty_image(PyObject *type)
{
    return (sv_image *)((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
}

static PyObject *image_from_flat(PyObject *type, PyObject *source)
{
    Py_buffer buffer;
    if (PyObject_GetBuffer(source, &buffer, PyBUF_SIMPLE) < 0)
        return NULL;
    sv_image *self = NULL;
    flat_image flat;
    uint32_t entry = 0;
    if (read_tables(&flat, buffer.buf, (size_t)buffer.len) < 0 || check_names(&flat) < 0 || check_functions(&flat, &entry) < 0 ||
        check_cells(&flat) < 0 || check_targets(&flat) < 0)
        goto done;
    self = empty_image(type);
    if (self == NULL)
        goto done;
    if (keep_functions(self, &flat) < 0 || map_code(self, &flat) < 0)
        goto failed;
    set_entry(self, self->code + entry);
    if (sv_debugger_register(self) < 0)
        goto failed;
    goto done;
failed:
    Py_CLEAR(self);
done:
    PyBuffer_Release(&buffer);
    return (PyObject *)self;
}

static PyObject *image_from_address(PyObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"entry", "keep", NULL};
    PyObject *number, *keep;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O:from_address", names, &PyLong_Type, &number, &keep))
        return NULL;
    void *address = PyLong_AsVoidPtr(number);
    if (address == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "there is no code at address 0");
        return NULL;
    }
    sv_image *self = empty_image(type);
    if (self == NULL)
        return NULL;
    self->keep = Py_NewRef(keep);
    set_entry(self, address);
    return (PyObject *)self;
}

static void image_dealloc(PyObject *object)
{
    sv_image *self = (sv_image *)object;
    sv_debugger_unregister(self);
    if (self->code != NULL && !sv_is_finalizing())
        munmap(self->code, self->mapped);
    free(self->functions);
    Py_XDECREF(self->keep);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *image_get_size(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromSize_t(((sv_image *)self)->size);
}

static PyObject *image_get_functions(PyObject *object, void *Py_UNUSED(closure))
{
    sv_image *self = (sv_image *)object;
    PyObject *functions = PyTuple_New((Py_ssize_t)self->function_count);
    for (size_t i = 0; functions != NULL && i < self->function_count; i++) {
        size_t offset, size;
        const char *name = sv_image_function(self, i, &offset, &size);
        PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
        PyObject *function = text == NULL ? NULL : Py_BuildValue("(Nnn)", text, (Py_ssize_t)offset, (Py_ssize_t)size);
        if (function == NULL)
            Py_CLEAR(functions);
        else
            PyTuple_SET_ITEM(functions, (Py_ssize_t)i, function);
    }
    return functions;
}

static PyObject *image_get_address(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((sv_image *)self)->code);
}

static PyGetSetDef image_getset[] = {
    {"size", image_get_size, NULL, "Bytes of code and constants; 0 if another loader owns them.", NULL},
    {"functions", image_get_functions, NULL, "The functions in it: a tuple of (name, offset, size).", NULL},
    {"address", image_get_address, NULL, "The address of its mapping; 0 if another loader owns it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef image_methods[] = {
    {"from_flat", image_from_flat, METH_O | METH_CLASS,
     "from_flat(data, /)\n--\n\n"
     "Load a flat image. Raises ValueError if it is damaged, ImportError if it is for another version or machine or uses a\n"
     "symbol that kernels cannot use, OSError if the system denies executable memory.\n\n"
     ">>> from samovar._native import Image\n"
     ">>> from samovar.backends.llvm import ImageParts\n"
     ">>> parts = ImageParts(b\"\\x31\\xc0\\xc3\", (), ((\"samovar_entry\", 0, 3),))\n"
     ">>> Image.from_flat(parts.flat()).size\n3"},
    {"from_address", (PyCFunction)(void (*)(void))image_from_address, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "from_address(entry, keep)\n--\n\n"
     "Wrap code that another loader has mapped: the address of its samovar_entry, and the object that keeps it mapped."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject sv_image_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.Image",
    .tp_basicsize = sizeof(sv_image),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = PyDoc_STR("Compiled code, mapped and ready to run; created by `from_flat`. It is unmapped with the image."),
    .tp_dealloc = image_dealloc,
    .tp_getset = image_getset,
    .tp_methods = image_methods,
};

int sv_image_init(PyObject *module)
{
    return PyModule_AddType(module, &sv_image_type);
}
