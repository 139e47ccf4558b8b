/* Creating and filling arrays from the memory of others. */
#include "array/array.h"
#include "sparse/elements.h"

#include <string.h>

int sv_copy_mode_convert(PyObject *object, void *mode)
{
    if (object != Py_None && !PyBool_Check(object)) {
        PyErr_Format(PyExc_TypeError, "copy must be True, False or None, not %R", object);
        return 0;
    }
    *(sv_copy_mode *)mode = object == Py_None ? SV_COPY_IF_NEEDED : object == Py_True ? SV_COPY_ALWAYS : SV_COPY_NEVER;
    return 1;
}

bool sv_array_is_grad_of(PyObject *grad, const sv_array *array)
{
    const sv_array *other = (sv_array *)grad;
    return sv_array_check(grad) && other->signature == array->signature && array->dtype->kind == 'f' &&
           (!sv_array_keeps_layout(array) || array->layout == other->layout) &&
           memcmp(other->shape, array->shape, (size_t)array->ndim * sizeof *array->shape) == 0;
}

/* --- copies */

/* Both have a gradient and the same shape, and this thread records launches. */
static bool is_copy_recorded(const sv_array *array, PyObject *source)
{
    const sv_array *other = (sv_array *)source;
    return sv_is_taped_here() && array->grad != NULL && sv_array_check(source) && other->grad != NULL && other->ndim == array->ndim &&
           other->inner == array->inner && memcmp(other->shape, array->shape, (size_t)array->ndim * sizeof *array->shape) == 0;
}

/* A copy as a launch. */
static PyObject *copy_recorded(PyObject *self, PyObject *source)
{
    PyObject *module = PyImport_ImportModule("samovar.algorithms.recorded_copies"); /* Python may run here. */
    PyObject *result = module == NULL ? NULL : PyObject_CallMethod(module, "copy_elements", "OO", self, source);
    Py_XDECREF(module);
    return result;
}

PyObject *sv_array_copy_from(PyObject *self, PyObject *source)
{
    sv_array *array = (sv_array *)self;
    if (sv_array_check(source) && sv_array_require_place((sv_array *)source) < 0)
        return NULL;
    if (is_copy_recorded(array, source))
        return copy_recorded(self, source);
    if (sv_array_require_place(array) < 0 || sv_array_require_writable(array) < 0)
        return NULL;
    sv_tensor_view view;
    int found = sv_tensor_view_get(source, &view);
    if (found < 0)
        return NULL;
    if (found == 0) {
        PyErr_Format(PyExc_TypeError, "expected an array of samovar, NumPy or torch, not %.100s",
                     Py_TYPE(source)->tp_name);
        return NULL;
    }
    int result = -1;
    if (view.ndim != array->ndim || memcmp(view.shape, array->shape, (size_t)view.ndim * sizeof *view.shape) != 0) {
        PyObject *theirs = sv_shape_tuple(view.ndim, view.shape), *ours = sv_shape_tuple(array->ndim, array->shape);
        if (theirs != NULL && ours != NULL)
            PyErr_Format(PyExc_ValueError, "cannot copy an array of shape %R into one of shape %R", theirs, ours);
        Py_XDECREF(theirs);
        Py_XDECREF(ours);
    } else {
        bool is_ours = sv_array_check(source), is_from_sparse = is_ours && sv_array_is_sparse((sv_array *)source);
        if (sv_array_is_sparse(array))
            result = sv_sparse_copy(array, &view, is_from_sparse ? (sv_array *)source : NULL, is_ours);
        else
            result = sv_array_assign(array, &view);
    }
    sv_tensor_view_release(&view);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

static sv_array *copy_elements(sv_array *array)
{
    if (sv_array_require_place(array) < 0)
        return NULL;
    sv_array *copy;
    if (sv_array_keeps_layout(array)) {
        copy = sv_laid_out_copy(array);
    } else {
        sv_tensor_view view;
        sv_tensor_view_get((PyObject *)array, &view); /* owns nothing: the array is ours */
        copy = sv_array_from_view(&view);
    }
    if (copy != NULL)
        sv_array_set_inner(copy, array->inner);
    return copy;
}

/* A writable array in its own memory, including the grad. */
PyObject *sv_array_copy(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    sv_array *copy = copy_elements((sv_array *)self);
    PyObject *grad = ((sv_array *)self)->grad;
    if (copy == NULL || grad == NULL)
        return (PyObject *)copy;
    sv_array *grad_copy = copy_elements((sv_array *)grad);
    if (grad_copy == NULL) {
        Py_CLEAR(copy);
        return NULL;
    }
    sv_array_set_grad(copy, grad_copy);
    PyObject *recorded = is_copy_recorded(copy, self) ? copy_recorded((PyObject *)copy, self) : Py_NewRef(Py_None);
    if (recorded == NULL)
        Py_CLEAR(copy);
    Py_XDECREF(recorded);
    return (PyObject *)copy;
}

/* The same for a deep copy: a grad that was already copied is found in the memo. */
PyObject *sv_array_deepcopy(PyObject *self, PyObject *memo)
{
    sv_array *copy = copy_elements((sv_array *)self);
    PyObject *grad = ((sv_array *)self)->grad;
    if (copy == NULL || grad == NULL)
        return (PyObject *)copy;
    PyObject *module = PyImport_ImportModule("copy"); /* Python may run here. */
    PyObject *grad_copy = module == NULL ? NULL : PyObject_CallMethod(module, "deepcopy", "OO", grad, memo);
    Py_XDECREF(module);
    if (grad_copy != NULL && !sv_array_is_grad_of(grad_copy, copy)) {
        PyErr_SetString(PyExc_ValueError, "the deep-copy memo entry for the grad of an array does not match the array");
        Py_CLEAR(grad_copy);
    }
    if (grad_copy == NULL)
        Py_CLEAR(copy);
    else
        sv_array_set_grad(copy, (sv_array *)grad_copy);
    return (PyObject *)copy;
}

/* --- sharing */

PyObject *sv_array_adopt(const sv_tensor_view *view, PyObject *owner, sv_copy_mode mode, bool readonly_is_fine)
{
    bool shareable = view->contiguous && (readonly_is_fine || !view->readonly);
    int inner = view->of_vectors ? 1 : view->of_matrices ? 2 : 0;
    if (mode == SV_COPY_ALWAYS || (mode == SV_COPY_IF_NEEDED && !shareable)) {
        sv_array *copy = sv_array_from_view(view);
        if (copy != NULL)
            sv_array_set_inner(copy, inner);
        return (PyObject *)copy;
    }
    if (!shareable) {
        PyErr_Format(PyExc_ValueError, "%s: it cannot be shared with copy=False; pass copy=None or copy=True",
                     view->contiguous ? "this array is read-only" : "the elements of this array are not in C order");
        return NULL;
    }
    sv_array *array = sv_array_over(view->dtype, view->ndim, view->shape, view->data, view->readonly, owner);
    if (array != NULL)
        sv_array_set_inner(array, inner);
    return (PyObject *)array;
}

/* Check that the memory held is that of the view: Python has run since the view was taken, and a class may export different
   memory each time. */
static PyObject *require_same(PyObject *holder, const void *data, const sv_tensor_view *view)
{
    if (holder != NULL && data != view->data) {
        PyErr_SetString(PyExc_BufferError, "the array exported different memory than a moment before: it cannot be shared");
        Py_CLEAR(holder);
    }
    return holder;
}

/* What keeps the memory of a view in place for longer than the view: a memoryview if there is a buffer. A reference to a
   torch tensor is not enough, as its storage can be replaced (`t.data = other`): a capsule holds the storage. */
static PyObject *pin(PyObject *source, const sv_tensor_view *view)
{
    if (sv_array_check(source))
        return Py_NewRef(source);
    if (PyObject_CheckBuffer(source)) {
        /* Elements without a buffer are held by a view of their bits, which has one. */
        PyObject *memory = PyMemoryView_FromObject(view->hold != NULL ? view->hold : source); /* Python may run here. */
        return require_same(memory, memory == NULL ? NULL : PyMemoryView_GET_BUFFER(memory)->buf, view);
    }
    if (view->hold != NULL)
        return Py_NewRef(view->hold);
    PyObject *detached = PyObject_CallMethod(source, "detach", NULL); /* Python may run here. */
    if (detached == NULL)
        return NULL;
    const sv_dl_tensor *tensor;
    bool readonly;
    PyObject *capsule = sv_dlpack_take(detached, &tensor, &readonly);
    Py_DECREF(detached);
    return require_same(capsule, capsule == NULL ? NULL : (char *)tensor->data + tensor->byte_offset, view);
}

PyObject *sv_as_ndarray(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"source", "copy", NULL};
    PyObject *source;
    sv_copy_mode mode = SV_COPY_IF_NEEDED;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O&:as_ndarray", names, &source, sv_copy_mode_convert, &mode))
        return NULL;
    sv_tensor_view view;
    int found = sv_tensor_view_get(source, &view);
    if (found <= 0) {
        if (found == 0)
            PyErr_Format(PyExc_TypeError, "expected an array of NumPy or torch, not %.100s",
                         Py_TYPE(source)->tp_name);
        return NULL;
    }
    PyObject *array = NULL;
    PyObject *owner = mode == SV_COPY_ALWAYS ? Py_NewRef(source) : pin(source, &view);
    if (owner != NULL)
        array = sv_array_adopt(&view, owner, mode, false);
    Py_XDECREF(owner);
    sv_tensor_view_release(&view);
    return array;
}

/* --- pickles */

static sv_dtype *dtype_by_name(const char *name)
{
    for (int code = 0; code < SV_DTYPE_COUNT; code++)
        if (strcmp(sv_dtype_of(code)->name, name) == 0)
            return sv_dtype_of(code);
    PyErr_Format(PyExc_ValueError, "a pickled array has the unknown dtype %s", name);
    return NULL;
}

/* Elements that came out of band are shared: read-only ones, as object stores hand them out, become a read-only array.
   Those in a pickle (bytes) and misaligned ones are copied. */
PyObject *sv_rebuild_array(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *name;
    PyObject *shape_object, *elements, *grad;
    int inner = 0;
    if (!PyArg_ParseTuple(args, "sOOO|i:rebuild_array", &name, &shape_object, &elements, &grad, &inner))
        return NULL;
    int64_t shape[SV_MAX_NDIM];
    sv_dtype *dtype = dtype_by_name(name);
    int ndim = dtype == NULL ? -1 : sv_shape_parse(shape_object, shape);
    PyObject *memory = ndim < 0 ? NULL : PyMemoryView_FromObject(elements); /* Python may run here. */
    if (memory == NULL)
        return NULL;
    Py_buffer *buffer = PyMemoryView_GET_BUFFER(memory);
    bool misaligned = (uintptr_t)buffer->buf & (uintptr_t)(dtype->itemsize - 1);
    bool share = !misaligned && !(buffer->readonly && buffer->obj != NULL && PyBytes_CheckExact(buffer->obj));
    sv_array *array = share ? sv_array_over(dtype, ndim, shape, buffer->buf, buffer->readonly, memory)
                            : sv_array_new(dtype, ndim, shape, false);
    if (array != NULL && sv_array_set_inner(array, inner) < 0)
        Py_CLEAR(array);
    if (array != NULL && (buffer->len != sv_array_nbytes(array) || !PyBuffer_IsContiguous(buffer, 'C') ||
                          (grad != Py_None && !sv_array_is_grad_of(grad, array)))) {
        PyErr_SetString(PyExc_ValueError, "the elements or the grad of a pickled array do not match its shape");
        Py_CLEAR(array);
    }
    if (array != NULL && !share)
        memcpy(array->data, buffer->buf, (size_t)buffer->len);
    if (array != NULL && grad != Py_None)
        sv_array_set_grad(array, (sv_array *)Py_NewRef(grad));
    Py_DECREF(memory);
    return (PyObject *)array;
}

/* Arrays with a layout: fields, SoA arrays, arrays with another order of dimensions. */
enum { FIELD, APART, IN_ORDER };

/* The same for these: elements have to be moved to their positions, so they are always copied. */
PyObject *sv_rebuild_field(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *name;
    PyObject *description, *elements, *grad;
    int inner = 0, kind = FIELD;
    if (!PyArg_ParseTuple(args, "sOOO|ii:rebuild_field", &name, &description, &elements, &grad, &inner, &kind))
        return NULL;
    sv_dtype *dtype = dtype_by_name(name);
    sv_layout *layout = dtype == NULL ? NULL : sv_layout_from(description);
    PyObject *memory = layout == NULL ? NULL : PyMemoryView_FromObject(elements); /* Python may run here. */
    sv_array *field = NULL;
    if (memory != NULL && layout->ndim < inner)
        PyErr_SetString(PyExc_ValueError, "a pickled array of vectors or matrices lacks the dimensions of their components");
    else if (memory != NULL)
        field = sv_laid_out_new(kind == FIELD ? &sv_field_type : &sv_array_type, dtype, layout, inner, kind == APART);
    if (field != NULL && sv_array_set_inner(field, inner) < 0)
        Py_CLEAR(field);
    if (field != NULL) {
        Py_buffer *buffer = PyMemoryView_GET_BUFFER(memory);
        if (buffer->len != sv_array_nbytes(field) || !PyBuffer_IsContiguous(buffer, 'C') || (grad != Py_None && !sv_array_is_grad_of(grad, field))) {
            PyErr_SetString(PyExc_ValueError, "the elements or the grad of a pickled field do not match its layout");
            Py_CLEAR(field);
        } else if (layout->contiguous) {
            memcpy(field->data, buffer->buf, (size_t)buffer->len);
        } else {
            sv_field_scatter(field, buffer->buf);
        }
    }
    if (field != NULL && grad != Py_None)
        sv_array_set_grad(field, (sv_array *)Py_NewRef(grad));
    Py_XDECREF(memory);
    Py_XDECREF(layout);
    return (PyObject *)field;
}
