/* The image loader: one flat blob becomes a private mapping whose symbol cells are filled, readable and executable, never
   writable and executable at once. */
#include "runtime.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fill_slots(sv_image *image, uint8_t *code, PyObject *slots)
{
    PyObject *fast = PySequence_Fast(slots, "slots must be a sequence of (offset, symbol)");
    if (fast == NULL)
        return -1;
    int result = -1;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); i++) {
        PyObject *slot = PySequence_Fast_GET_ITEM(fast, i);
        if (!PyTuple_Check(slot)) {
            PyErr_SetString(PyExc_TypeError, "slots must be a sequence of (offset, symbol)");
            goto done;
        }
        Py_ssize_t offset;
        const char *symbol;
        if (!PyArg_ParseTuple(slot, "ns:slot", &offset, &symbol))
            goto done;
        if (offset < 0 || image->size < sizeof(void *) || (size_t)offset > image->size - sizeof(void *)) {
            PyErr_Format(PyExc_ValueError, "the slot of %s lies outside the image", symbol);
            goto done;
        }
        void *address = sv_symbol(symbol);
        if (address == NULL) {
            PyErr_Format(PyExc_ImportError, "an image refers to the symbol %s, which kernels cannot use", symbol);
            goto done;
        }
        memcpy(code + offset, &address, sizeof address);
    }
    result = 0;
done:
    Py_DECREF(fast);
    return result;
}

/* Checks every function and finds the entry. */
static int take_functions(sv_image *image, PyObject *functions, size_t *entry)
{
    image->functions = PySequence_Tuple(functions);
    if (image->functions == NULL)
        return -1;
    bool found = false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(image->functions); i++) {
        PyObject *function = PyTuple_GET_ITEM(image->functions, i);
        const char *name;
        Py_ssize_t offset, size;
        if (!PyTuple_Check(function)) {
            PyErr_SetString(PyExc_TypeError, "functions must be a sequence of (name, offset, size)");
            return -1;
        }
        if (!PyArg_ParseTuple(function, "snn:function", &name, &offset, &size))
            return -1;
        if (offset < 0 || size < 0 || (size_t)offset >= image->size || (size_t)size > image->size - (size_t)offset) {
            PyErr_Format(PyExc_ValueError, "the function %s lies outside the image", name);
            return -1;
        }
        if (strcmp(name, "samovar_entry") == 0) {
            *entry = (size_t)offset;
            found = true;
        }
    }
    if (!found) {
        PyErr_SetString(PyExc_ValueError, "an image must define samovar_entry");
        return -1;
    }
    return 0;
}

static PyObject *image_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"code", "slots", "functions", NULL};
    Py_buffer code;
    PyObject *slots, *functions;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y*OO:Image", names, &code, &slots, &functions))
        return NULL;
    sv_image *self = (sv_image *)type->tp_alloc(type, 0);
    if (self == NULL)
        goto failed;
    self->size = (size_t)code.len;
    size_t entry = 0;
    if (take_functions(self, functions, &entry) < 0)
        goto failed;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t mapped = (self->size + page - 1) / page * page;
    void *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        PyErr_NoMemory();
        goto failed;
    }
    self->code = memory;
    self->mapped = mapped;
    memcpy(memory, code.buf, self->size);
    if (fill_slots(self, memory, slots) < 0)
        goto failed;
    if (mprotect(memory, mapped, PROT_READ | PROT_EXEC) < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        goto failed;
    }
    __builtin___clear_cache((char *)memory, (char *)memory + mapped);
    void *address = self->code + entry;
    memcpy(&self->entry, &address, sizeof address);
    if (sv_debugger_register(self) < 0)
        goto failed;
    PyBuffer_Release(&code);
    return (PyObject *)self;
failed:
    PyBuffer_Release(&code);
    Py_XDECREF(self);
    return NULL;
}

static void image_dealloc(PyObject *object)
{
    sv_image *self = (sv_image *)object;
    sv_debugger_unregister(self);
    if (self->code != NULL)
        munmap(self->code, self->mapped);
    Py_XDECREF(self->functions);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *image_get_size(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromSize_t(((sv_image *)self)->size);
}

static PyObject *image_get_functions(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(((sv_image *)self)->functions);
}

static PyObject *image_get_address(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((sv_image *)self)->code);
}

static PyGetSetDef image_getset[] = {
    {"size", image_get_size, NULL, "Bytes of the blob.", NULL},
    {"functions", image_get_functions, NULL, "The functions in it: a tuple of (name, offset, size).", NULL},
    {"address", image_get_address, NULL, "Where it is mapped.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject sv_image_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.Image",
    .tp_basicsize = sizeof(sv_image),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = PyDoc_STR("Image(code, slots, functions)\n--\n\n"
                        "Compiled code, mapped and ready to run. `code` is a position-independent blob; `slots` says which\n"
                        "8-byte cells of it take the address of which symbol; `functions` must name samovar_entry.\n\n"
                        ">>> from samovar._native import Image\n"
                        ">>> image = Image(b\"\\x31\\xc0\\xc3\", [], [(\"samovar_entry\", 0, 3)])\n>>> image.size\n3"),
    .tp_new = image_new,
    .tp_dealloc = image_dealloc,
    .tp_getset = image_getset,
};

int sv_image_init(PyObject *module)
{
    return PyModule_AddType(module, &sv_image_type);
}
