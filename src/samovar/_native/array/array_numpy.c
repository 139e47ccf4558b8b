/* NumPy arrays read in place. The buffer protocol also works, and is used for anything unusual, but NumPy builds a format
   string at each request, which costs as much as the rest of a small launch. The fields below are those that NumPy's own
   macros read in every extension compiled against it, so they are stable; their offsets are verified against the buffer of
   the first array seen. NumPy is not imported. */
#include "array/array.h"

#include <string.h>

typedef struct {
    PyObject_HEAD
    char *data;
    int ndim;
    Py_ssize_t *shape;
    Py_ssize_t *strides; /* in bytes */
    PyObject *base;
    PyObject *descriptor;
    unsigned flags;
} numpy_array;

/* The second flag marks memory that warns on write. */
static const unsigned FLAG_WRITEABLE = 0x0400, FLAG_WARN_ON_WRITE = 1u << 31;

/* numpy.ndarray once its layout is verified, and its descriptors for our dtypes: singletons that live as long as NumPy. */
static PyTypeObject *numpy_type;
enum { SLOTS = 64 };
static struct {
    PyObject *descriptor;
    sv_dtype *dtype;
} known_descriptors[SLOTS];

bool sv_is_numpy_array(PyObject *object)
{
    return numpy_type != NULL && Py_IS_TYPE(object, numpy_type);
}

static unsigned slot_of(const PyObject *descriptor)
{
    return ((uintptr_t)descriptor >> 4 ^ (uintptr_t)descriptor >> 10) % SLOTS;
}

static sv_dtype *dtype_of_descriptor(const PyObject *descriptor)
{
    for (unsigned slot = slot_of(descriptor); known_descriptors[slot].descriptor != NULL; slot = (slot + 1) % SLOTS)
        if (known_descriptors[slot].descriptor == descriptor)
            return known_descriptors[slot].dtype;
    return NULL;
}

static bool is_readonly(const numpy_array *array)
{
    return (array->flags & (FLAG_WRITEABLE | FLAG_WARN_ON_WRITE)) != FLAG_WRITEABLE;
}

/* 1 with what can be read off the array, or 0 if it needs the buffer protocol. */
static int read_array(const numpy_array *array, sv_tensor_view *view)
{
    int ndim = array->ndim;
    sv_dtype *dtype = dtype_of_descriptor(array->descriptor);
    if (dtype == NULL || ndim > SV_MAX_NDIM)
        return 0;
    int shift = __builtin_ctz(dtype->itemsize);
    Py_ssize_t remainder = 0;
    for (int axis = 0; axis < ndim; axis++) {
        view->shape[axis] = array->shape[axis];
        view->strides[axis] = array->strides[axis] >> shift;
        remainder |= array->strides[axis];
    }
    view->data = array->data;
    view->dtype = dtype;
    view->ndim = ndim;
    view->readonly = is_readonly(array);
    view->needs_grad = view->baked = view->of_vectors = view->of_matrices = view->is_view = view->soa = view->permuted = false;
    view->layout = NULL;
    view->holds_buffer = false;
    view->hold = NULL;
    return !(remainder & (dtype->itemsize - 1));
}

static bool agrees(const numpy_array *array, const Py_buffer *buffer)
{
    bool same = array->data == buffer->buf && array->ndim == buffer->ndim;
    for (int axis = 0; same && axis < buffer->ndim; axis++) {
        same = array->shape[axis] == buffer->shape[axis];
        /* NumPy normalizes strides where an extent is 1 or 0. */
        same = same && (buffer->len == 0 || buffer->shape[axis] == 1 || array->strides[axis] == buffer->strides[axis]);
    }
    return same && is_readonly(array) == (bool)buffer->readonly;
}

/* Cache the descriptor for a type code; the reference is kept forever. */
static int learn_descriptor(PyObject *numpy, const char *code, sv_dtype *dtype)
{
    PyObject *descriptor = PyObject_CallMethod(numpy, "dtype", "s", code);
    if (descriptor == NULL)
        return -1;
    unsigned slot = slot_of(descriptor);
    while (known_descriptors[slot].descriptor != NULL)
        slot = (slot + 1) % SLOTS;
    known_descriptors[slot].descriptor = descriptor;
    known_descriptors[slot].dtype = dtype;
    return 0;
}

int sv_numpy_learn(PyObject *object, const Py_buffer *buffer)
{
    PyTypeObject *type = Py_TYPE(object);
    static bool tried;
    if (tried || strcmp(type->tp_name, "numpy.ndarray") != 0 || type->tp_basicsize < (Py_ssize_t)sizeof(numpy_array))
        return 0;
    /* Python may run here. */
    PyObject *name = PyUnicode_FromString("numpy");
    PyObject *numpy = name == NULL ? NULL : PyImport_GetModule(name);
    PyObject *ndarray = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, "ndarray");
    if (ndarray == (PyObject *)type) {
        tried = true;
        int failed = agrees((numpy_array *)object, buffer) ? 0 : -1;
        for (int code = 0; code < SV_DTYPE_COUNT && !failed; code++)
            if (code != SV_BF16) /* a dtype of another library */
                failed = learn_descriptor(numpy, sv_dtype_of(code)->typestr, sv_dtype_of(code));
        /* The type string names one of two C types with 64 bits. */
        if (!failed)
            failed = learn_descriptor(numpy, "q", sv_dtype_of(SV_I64));
        if (!failed)
            failed = learn_descriptor(numpy, "Q", sv_dtype_of(SV_U64));
        if (!failed)
            numpy_type = (PyTypeObject *)Py_NewRef(ndarray);
    }
    if (PyErr_Occurred() && sv_is_about_object())
        PyErr_Clear();
    Py_XDECREF(ndarray);
    Py_XDECREF(numpy);
    Py_XDECREF(name);
    return PyErr_Occurred() ? -1 : 0;
}

int sv_numpy_view(PyObject *object, sv_tensor_view *view)
{
    return Py_TYPE(object) == numpy_type ? read_array((numpy_array *)object, view) : 0;
}
