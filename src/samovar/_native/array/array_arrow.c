/* 1-D arrays as columns for polars, pyarrow and others, through Arrow's C data interface. Columns are immutable and arrays
   are not, so a column gets a copy. The two structs are those of the interface; no library is needed. */
#include "array/array.h"

#include <stdlib.h>
#include <string.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

/* What keeps an exported array alive. */
typedef struct {
    const void *buffers[2]; /* the validity bitmap (all valid) and the elements */
    PyObject *owner;
    uint8_t *bits;
} export;

static const char *const formats[SV_DTYPE_COUNT] = {
    [SV_I8] = "c", [SV_I16] = "s", [SV_I32] = "i", [SV_I64] = "l", [SV_U1] = "b",  [SV_U8] = "C",
    [SV_U16] = "S", [SV_U32] = "I", [SV_U64] = "L", [SV_F16] = "e", [SV_F32] = "f", [SV_F64] = "g",
};

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL; /* its strings are constants */
}

/* Called by the consumer, on any thread. */
static void release_array(struct ArrowArray *array)
{
    export *kept = array->private_data;
    array->release = NULL;
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(kept->owner);
        PyGILState_Release(state);
    }
    free(kept->bits);
    free(kept);
}

static void destroy_schema_capsule(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release != NULL)
        schema->release(schema);
    free(schema);
}

static void destroy_array_capsule(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release != NULL)
        array->release(array);
    free(array);
}

static PyObject *schema_capsule(const sv_dtype *dtype)
{
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    if (schema == NULL)
        return PyErr_NoMemory();
    schema->format = formats[dtype->code];
    schema->name = "";
    schema->release = release_schema;
    PyObject *capsule = PyCapsule_New(schema, "arrow_schema", destroy_schema_capsule);
    if (capsule == NULL)
        free(schema);
    return capsule;
}

static uint8_t *packed(const uint8_t *truths, int64_t count)
{
    uint8_t *bits = calloc((size_t)count / 8 + 1, 1);
    for (int64_t i = 0; bits != NULL && i < count; i++)
        bits[i / 8] |= (uint8_t)((truths[i] != 0) << i % 8);
    return bits;
}

/* Of a private copy. */
static PyObject *array_capsule(sv_array *source)
{
    struct ArrowArray *array = calloc(1, sizeof *array);
    export *kept = calloc(1, sizeof *kept);
    bool is_packed = source->dtype->code == SV_U1;
    uint8_t *bits = is_packed ? packed(source->data, source->size) : NULL;
    PyObject *capsule = NULL;
    if (array == NULL || kept == NULL || (is_packed && bits == NULL)) {
        PyErr_NoMemory();
    } else {
        kept->buffers[1] = is_packed ? (void *)bits : source->data;
        kept->bits = bits;
        kept->owner = (PyObject *)source;
        *array = (struct ArrowArray){.length = source->size,
                                     .n_buffers = 2,
                                     .buffers = kept->buffers,
                                     .release = release_array,
                                     .private_data = kept};
        capsule = PyCapsule_New(array, "arrow_array", destroy_array_capsule);
    }
    if (capsule == NULL) {
        free(bits);
        free(kept);
        free(array);
        return NULL;
    }
    Py_INCREF(source);
    return capsule;
}

PyObject *sv_array_arrow(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"requested_schema", NULL};
    PyObject *ignored = Py_None; /* a hint: the consumer converts the array */
    sv_array *array = (sv_array *)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_array__", names, &ignored) || sv_array_require_place(array) < 0)
        return NULL;
    if (formats[array->dtype->code] == NULL) {
        PyErr_Format(PyExc_TypeError, "Arrow has no type for %s", array->dtype->name);
        return NULL;
    }
    if (array->ndim != 1) {
        PyErr_Format(PyExc_TypeError, "a column is 1-D, but this array has %d dimensions: use rows of a.to_numpy()", array->ndim);
        return NULL;
    }
    sv_tensor_view view;
    sv_array *source = sv_tensor_view_get(self, &view) < 0 ? NULL : sv_array_from_view(&view); /* the view owns nothing: the array is ours */
    PyObject *schema = source == NULL ? NULL : schema_capsule(source->dtype);
    PyObject *elements = schema == NULL ? NULL : array_capsule(source);
    Py_XDECREF(source);
    if (elements == NULL) {
        Py_XDECREF(schema);
        return NULL;
    }
    return Py_BuildValue("(NN)", schema, elements);
}
