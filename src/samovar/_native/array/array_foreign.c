/* Arrays of other libraries as a kernel sees them: one description for all of them. No library is imported. */
#include "array/array.h"

#include <string.h>

static struct {
    PyObject *is_neg, *is_conj, *exchange, *dlpack, *data_ptr, *stride, *module, *array, *to_numpy, *dtype;
} names;

/* Raise a TypeError about an array, with a formatted reason. Return -1. */
static int refuse(PyObject *object, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyObject *why = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    if (why != NULL)
        PyErr_Format(PyExc_TypeError, "a kernel cannot use this %.100s: %U", Py_TYPE(object)->tp_name, why);
    Py_XDECREF(why);
    return -1;
}

/* Convert an exception of the producer: keep the first line of its message (torch appends a C++ stack). */
static int refuse_as_raised(PyObject *object)
{
    if (PyErr_Occurred() && !sv_is_about_object())
        return -1;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *message = value != NULL ? PyObject_Str(value) : NULL; /* Python may run here. */
    PyObject *lines = message != NULL ? PyUnicode_Splitlines(message, 0) : NULL;
    if (PyErr_Occurred() && sv_is_about_object())
        PyErr_Clear();
    if (PyErr_Occurred())
        ; /* an exception raised by its message takes precedence */
    else if (lines != NULL && PyList_GET_SIZE(lines) > 0)
        refuse(object, "%U", PyList_GET_ITEM(lines, 0));
    else
        refuse(object, "it does not export its memory");
    Py_XDECREF(lines);
    Py_XDECREF(message);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return -1;
}

/* Finish a view whose dtype, ndim, shape, strides and data are set: compute wide and contiguous, and check data. */
static int finish(PyObject *object, sv_tensor_view *view)
{
    uint64_t expected = 1; /* of strides; wraps where dimensions with a stride of 0 exceed the address space */
    bool contiguous = true, wide = false, empty = false;
    for (int axis = view->ndim - 1; axis >= 0; axis--) {
        int64_t extent = view->shape[axis];
        /* The stride of a dimension with fewer than two elements is never used and may be anything. */
        if (extent > 1) {
            contiguous &= view->strides[axis] == (int64_t)expected;
            wide |= extent > INT32_MAX;
        } else {
            empty |= extent == 0;
            view->strides[axis] = (int64_t)expected;
        }
        expected *= extent ? (uint64_t)extent : 1;
    }
    if (!empty) {
        if (view->data == NULL)
            return refuse(object, "it has no memory");
        if ((uintptr_t)view->data & (uintptr_t)(view->dtype->itemsize / sv_dtype_parts(view->dtype) - 1))
            return refuse(object, "its memory is not aligned to its element size; pass a copy of it");
    } else if (!contiguous) {
        expected = 1;
        for (int axis = view->ndim - 1; axis >= 0; axis--) {
            view->strides[axis] = (int64_t)expected;
            expected *= view->shape[axis] ? (uint64_t)view->shape[axis] : 1;
        }
        contiguous = true;
    }
    view->contiguous = contiguous;
    view->wide = wide;
    return 1;
}

/* --- our own arrays */

static int view_ours(sv_array *array, sv_tensor_view *view)
{
    if (sv_array_require_place(array) < 0)
        return -1;
    view->data = array->data;
    view->dtype = array->dtype;
    view->ndim = array->ndim;
    view->readonly = sv_array_is_readonly(array);
    view->contiguous = array->signature & SV_FACT_BIT(SV_FACT_contiguous);
    view->wide = array->signature & SV_FACT_BIT(SV_FACT_wide);
    view->needs_grad = array->grad != NULL;
    view->layout = array->layout;
    view->baked = sv_array_is_field(array);
    view->of_vectors = array->inner == 1;
    view->of_matrices = array->inner == 2;
    view->is_view = array->signature & SV_FACT_BIT(SV_FACT_is_view);
    view->soa = sv_array_is_soa(array);
    view->permuted = array->signature & SV_FACT_BIT(SV_FACT_permuted);
    view->holds_buffer = false;
    view->hold = NULL;
    int shift = __builtin_ctz(array->dtype->itemsize);
    for (int axis = 0; axis < array->ndim; axis++) {
        view->shape[axis] = array->shape[axis];
        view->strides[axis] = array->byte_strides[axis] >> shift;
    }
    return 1;
}

/* --- buffers */

/* Report an unsupported dtype by the name that its library uses. Python runs here. */
static int refuse_elements(PyObject *object, const char *format)
{
    bool is_torch = strcmp(Py_TYPE(object)->tp_name, "Tensor") == 0;
    PyObject *dtype = PyObject_GetAttrString(object, "dtype"), *shown = dtype == NULL ? NULL : PyObject_Str(dtype);
    Py_XDECREF(dtype);
    if (shown == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_Exception))
            return -1;
        PyErr_Clear();
        return format == NULL ? refuse(object, "its dtype is not supported")
                              : refuse(object, "its dtype (buffer format %.50s) is not supported", format);
    }
    const char *name = shown == NULL ? NULL : PyUnicode_AsUTF8(shown);
    if (name != NULL) {
        const char *advice = is_torch ? "convert it, as in a.float()" : "convert it, as in a.astype(np.float32)";
        refuse(object, "its dtype %.100s is not supported; %s", name, advice);
    }
    Py_XDECREF(shown);
    return -1;
}

/* Report an unsupported format; byte order is the one that a user can fix. */
static int refuse_format(PyObject *object, const char *format)
{
    if (format != NULL && (*format == '>' || *format == '!') && format[1] != '\0')
        return refuse(object, "its elements are in big-endian byte order; convert it, "
                              "as in a.astype(a.dtype.newbyteorder('='))");
    return refuse_elements(object, format);
}

/* numpy.ma.MaskedArray, a Python class. */
static bool is_masked(PyTypeObject *type)
{
    for (; type != NULL && PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE); type = type->tp_base) {
        if (strcmp(type->tp_name, "MaskedArray") != 0)
            continue;
        PyObject *module = sv_type_lookup(type, names.module);
        if (module != NULL && PyUnicode_CheckExact(module) && PyUnicode_IS_ASCII(module) &&
            strncmp((const char *)PyUnicode_1BYTE_DATA(module), "numpy.ma", strlen("numpy.ma")) == 0)
            return true;
    }
    return false;
}

/* A NumPy array of ml_dtypes.bfloat16, which has no buffer, by a view of its bits. 0 if it is none; Python runs here. */
static int view_bfloats(PyObject *object, sv_tensor_view *view)
{
    if (strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") != 0)
        return 0;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *dtype = PyObject_GetAttr(object, names.dtype), *name = dtype == NULL ? NULL : PyObject_Str(dtype), *bits = NULL;
    int found = name == NULL ? -1 : 0;
    if (name != NULL && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0) {
        bits = PyObject_CallMethod(object, "view", "s", "uint16");
        found = bits == NULL ? -1 : sv_tensor_view_get(bits, view);
    }
    if (found > 0) {
        view->dtype = sv_dtype_of(SV_BF16);
        Py_XSETREF(view->hold, Py_NewRef(bits));
    }
    Py_XDECREF(bits);
    Py_XDECREF(name);
    Py_XDECREF(dtype);
    if (found != 0) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    } else {
        PyErr_Restore(type, value, traceback);
    }
    return found;
}

static int view_buffer(PyObject *object, sv_tensor_view *view)
{
    Py_buffer *buffer = &view->buffer;
    if (is_masked(Py_TYPE(object)))
        return refuse(object, "kernels ignore masks; pass a.filled(value), or a.data without the mask");
    if (PyObject_GetBuffer(object, buffer, PyBUF_RECORDS_RO) < 0) { /* Python may run here. */
        int found = view_bfloats(object, view);
        return found != 0 ? found : refuse_as_raised(object);
    }
    int result = -1;
    if (sv_numpy_learn(object, buffer) < 0)
        goto fail;
    int ndim = buffer->ndim;
    sv_dtype *dtype = sv_dtype_from_format(buffer->format, buffer->itemsize);
    if (dtype == NULL) {
        refuse_format(object, buffer->format);
        goto fail;
    }
    if (ndim > 0 && buffer->shape == NULL) {
        refuse(object, "its buffer has no shape");
        goto fail;
    }
    if (ndim > SV_MAX_NDIM) {
        refuse(object, "it has %d dimensions, the maximum is %d", ndim, SV_MAX_NDIM);
        goto fail;
    }
    view->data = buffer->buf;
    view->dtype = dtype;
    view->ndim = ndim;
    view->readonly = buffer->readonly;
    view->needs_grad = view->baked = view->of_vectors = view->of_matrices = view->is_view = view->soa = view->permuted = false;
    view->layout = NULL;
    view->holds_buffer = true;
    view->hold = NULL;
    int shift = __builtin_ctz(dtype->itemsize);
    Py_ssize_t remainder_mask = dtype->itemsize - 1;
    size_t implied = dtype->itemsize;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        /* Strides were requested, but ctypes omits them. */
        Py_ssize_t stride = buffer->strides != NULL ? buffer->strides[axis] : (Py_ssize_t)implied;
        implied *= (size_t)buffer->shape[axis];
        view->shape[axis] = buffer->shape[axis];
        if ((stride & remainder_mask) && buffer->shape[axis] > 1) {
            refuse(object, "its strides are not a multiple of its element size; pass a copy of it");
            goto fail;
        }
        view->strides[axis] = stride >> shift;
    }
    result = finish(object, view);
fail:
    if (result < 0)
        PyBuffer_Release(buffer);
    return result;
}

/* --- descriptions by others, which cannot be trusted */

/* Check that no later arithmetic on extents and strides overflows. */
static int check_axes(PyObject *object, const sv_tensor_view *view)
{
    int64_t elements = 1, reach = 0;
    bool empty = false, overflows = false;
    for (int axis = 0; axis < view->ndim; axis++) {
        int64_t extent = view->shape[axis], stride = view->strides[axis], along;
        if (extent < 0)
            return refuse(object, "its dimension %d has %lld elements", axis, (long long)extent);
        empty |= extent == 0;
        overflows |= __builtin_mul_overflow(elements, extent > 0 ? extent : 1, &elements);
        if (extent > 1)
            overflows |= __builtin_mul_overflow(stride, extent - 1, &along) || along == INT64_MIN ||
                         __builtin_add_overflow(reach, along < 0 ? -along : along, &reach);
    }
    overflows |= __builtin_mul_overflow(elements, view->dtype->itemsize, &elements) ||
                 __builtin_mul_overflow(reach, view->dtype->itemsize, &reach);
    return overflows && !empty ? refuse(object, "its shape and strides exceed the address space") : 0;
}

/* --- tensors that support DLPack's C exchange API (torch) */

sv_dtype *sv_dtype_from_dlpack(sv_dl_datatype type)
{
    static const char kinds[] = {[SV_DL_INT] = 'i', [SV_DL_UINT] = 'u', [SV_DL_FLOAT] = 'f', [SV_DL_BOOL] = 'b',
                                 [SV_DL_COMPLEX] = 'c'};
    if (type.lanes == 1 && type.code == SV_DL_BFLOAT)
        return type.bits == 16 ? sv_dtype_of(SV_BF16) : NULL;
    if (type.lanes != 1 || type.code >= sizeof kinds || type.bits % 8)
        return NULL;
    return sv_dtype_of_kind(kinds[type.code], type.bits / 8);
}

int sv_tensor_view_of_dlpack(PyObject *object, const sv_dl_tensor *tensor, sv_tensor_view *view)
{
    int32_t device = tensor->device.device_type;
    if (device != SV_DL_CPU && device != SV_DL_CUDA_HOST && device != SV_DL_ROCM_HOST)
        return refuse(object, "it is not in CPU memory; pass a.cpu()");
    if (tensor->ndim < 0 || tensor->ndim > SV_MAX_NDIM)
        return refuse(object, "it has %d dimensions, 0 to %d are supported", (int)tensor->ndim, SV_MAX_NDIM);
    if (tensor->ndim > 0 && tensor->shape == NULL)
        return refuse(object, "its tensor has no shape");
    view->dtype = sv_dtype_from_dlpack(tensor->dtype);
    if (view->dtype == NULL)
        return refuse_elements(object, NULL);
    uintptr_t address;
    if (__builtin_add_overflow((uintptr_t)tensor->data, tensor->byte_offset, &address))
        return refuse(object, "its memory is outside the address space");
    view->data = tensor->data == NULL ? NULL : (void *)address;
    view->ndim = tensor->ndim;
    view->readonly = false;
    view->needs_grad = view->baked = view->of_vectors = view->of_matrices = view->is_view = view->soa = view->permuted = false;
    view->layout = NULL;
    view->holds_buffer = false;
    view->hold = NULL;
    uint64_t implied = 1;
    for (int axis = tensor->ndim - 1; axis >= 0; axis--) {
        view->shape[axis] = tensor->shape[axis];
        view->strides[axis] = tensor->strides != NULL ? tensor->strides[axis] : (int64_t)implied;
        implied *= (uint64_t)tensor->shape[axis];
    }
    return check_axes(object, view) < 0 ? -1 : finish(object, view);
}

/* 0 if a method returns False, or if a tensor library has no such method; 1 if it returns True; -1 with an exception. */
static int is_lazily(PyObject *object, PyObject *name)
{
    PyObject *answer = PyObject_CallMethodNoArgs(object, name); /* Python may run here. */
    if (answer == NULL) {
        if (!sv_is_about_object())
            return -1;
        PyErr_Clear();
        return 0;
    }
    Py_DECREF(answer);
    return answer == Py_True;
}

int sv_tensor_refuse_lazy(PyObject *object, bool is_complex)
{
    int conjugated = is_complex ? is_lazily(object, names.is_conj) : 0;
    if (conjugated > 0)
        return refuse(object, "its memory holds the conjugates; pass a.resolve_conj()");
    int negated = conjugated < 0 ? -1 : is_lazily(object, names.is_neg);
    if (negated > 0)
        return refuse(object, "its memory holds the negated values; pass a.resolve_neg()");
    return negated < 0 ? -1 : 1;
}

static int view_exchanged(PyObject *object, const sv_dl_exchange *table, sv_tensor_view *view)
{
    sv_dl_tensor tensor;
    if (table->tensor_from_object(object, &tensor) != 0)
        return refuse_as_raised(object);
    int found = sv_tensor_view_of_dlpack(object, &tensor, view);
    /* torch negates the imaginary part of a conjugate lazily. Such a view of complex numbers has even strides, so a tensor
       with an odd one (in particular a contiguous one) needs no check. */
    if (found < 0 || (view->dtype->kind != 'f' && view->dtype->kind != 'c'))
        return found;
    if (view->dtype->kind == 'c') /* conjugates themselves are lazy too */
        return sv_tensor_refuse_lazy(object, view->dtype->kind == 'c');
    if (tensor.strides == NULL && tensor.ndim > 0)
        return found;
    int64_t strides = 0;
    for (int axis = 0; axis < tensor.ndim; axis++)
        strides |= tensor.strides[axis];
    return strides & 1 ? 1 : sv_tensor_refuse_lazy(object, view->dtype->kind == 'c');
}

/* --- tensors of a torch without that API, read attribute by attribute */

static sv_dtype *dtype_from_long_name(const char *name)
{
    static const struct {
        const char *name;
        sv_dtype_code code;
    } names[] = {
        {"float32", SV_F32}, {"float64", SV_F64}, {"float16", SV_F16}, {"int32", SV_I32}, {"int64", SV_I64},
        {"int16", SV_I16},   {"int8", SV_I8},     {"bool", SV_U1},     {"uint8", SV_U8},  {"uint16", SV_U16},
        {"uint32", SV_U32},  {"uint64", SV_U64},  {"complex64", SV_C64},  {"complex128", SV_C128},
        {"bfloat16", SV_BF16},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, name) == 0)
            return sv_dtype_of(names[i].code);
    return NULL;
}

/* -1 with an exception, or the number of integers read from a tuple that is consumed. */
static int read_axes(PyObject *tuple, int64_t axes[SV_MAX_NDIM])
{
    if (tuple == NULL)
        return -1;
    int ndim = -1;
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > SV_MAX_NDIM) {
        PyErr_SetString(PyExc_TypeError, "it has too many dimensions");
        goto done;
    }
    for (ndim = 0; ndim < (int)PyTuple_GET_SIZE(tuple); ndim++) {
        axes[ndim] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, ndim));
        if (axes[ndim] == -1 && PyErr_Occurred()) {
            ndim = -1;
            break;
        }
    }
done:
    Py_DECREF(tuple);
    return ndim;
}

static int view_attributes(PyObject *object, sv_tensor_view *view)
{
    /* Python may run here, at each attribute and each call. */
    int result = -1;
    PyObject *dtype = NULL, *dtype_text = NULL, *address = NULL, *device_type = NULL;
    PyObject *device = PyObject_GetAttrString(object, "device");
    if (device == NULL || (device_type = PyObject_GetAttrString(device, "type")) == NULL)
        goto raised;
    if (!PyUnicode_Check(device_type) || PyUnicode_CompareWithASCIIString(device_type, "cpu") != 0) {
        refuse(object, "it is not in CPU memory; pass a.cpu()");
        goto done;
    }
    dtype = PyObject_GetAttrString(object, "dtype");
    if (dtype == NULL || (dtype_text = PyObject_Str(dtype)) == NULL)
        goto raised;
    const char *name = PyUnicode_AsUTF8(dtype_text);
    if (name == NULL)
        goto raised;
    const char *dot = strrchr(name, '.');
    view->dtype = dtype_from_long_name(dot != NULL ? dot + 1 : name);
    if (view->dtype == NULL) {
        refuse(object, "its dtype %s is not supported", name);
        goto done;
    }
    view->ndim = read_axes(PyObject_GetAttrString(object, "shape"), view->shape);
    if (view->ndim < 0 || read_axes(PyObject_CallMethod(object, "stride", NULL), view->strides) != view->ndim)
        goto raised;
    address = PyObject_CallMethod(object, "data_ptr", NULL);
    if (address == NULL)
        goto raised;
    view->data = PyLong_AsVoidPtr(address);
    if (view->data == NULL && PyErr_Occurred())
        goto raised;
    view->readonly = false;
    view->needs_grad = view->baked = view->of_vectors = view->of_matrices = view->is_view = view->soa = view->permuted = false;
    view->layout = NULL;
    view->holds_buffer = false;
    view->hold = NULL;
    result = check_axes(object, view) < 0 ? -1 : finish(object, view);
    if (result > 0 && (view->dtype->kind == 'f' || view->dtype->kind == 'c'))
        result = sv_tensor_refuse_lazy(object, view->dtype->kind == 'c');
    goto done;
raised:
    refuse_as_raised(object);
done:
    Py_XDECREF(device);
    Py_XDECREF(device_type);
    Py_XDECREF(dtype);
    Py_XDECREF(dtype_text);
    Py_XDECREF(address);
    return result;
}

/* --- other producers of DLPack capsules */

static int view_capsule(PyObject *object, sv_tensor_view *view)
{
    const sv_dl_tensor *tensor;
    bool readonly;
    PyObject *hold = sv_dlpack_take(object, &tensor, &readonly); /* Python may run here. */
    if (hold == NULL)
        return refuse_as_raised(object);
    int found = sv_tensor_view_of_dlpack(object, tensor, view);
    if (found < 0) {
        Py_DECREF(hold);
        return -1;
    }
    view->readonly = readonly;
    view->hold = hold;
    return found;
}

/* --- columns of tables (pandas, polars), which give NumPy arrays */

static int view_given(PyObject *object, sv_tensor_view *view)
{
    PyObject *array = PyObject_CallMethodNoArgs(object, names.array); /* Python may run here. */
    if (array == NULL)
        return refuse_as_raised(object);
    int found = sv_array_check(array) || PyObject_CheckBuffer(array) ? sv_tensor_view_get(array, view) : 0;
    if (found <= 0) {
        Py_DECREF(array);
        return found < 0 ? refuse_as_raised(object) : refuse(object, "its __array__ did not return an array");
    }
    Py_XSETREF(view->hold, array);
    if (view->readonly)
        return 1;
    /* If two requests give the same address, it is the memory itself. A copy must not be written: the write would be
       lost. */
    PyObject *again = PyObject_CallMethodNoArgs(object, names.array);
    sv_tensor_view second;
    found = again == NULL ? -1 : sv_tensor_view_get(again, &second);
    if (found > 0) {
        view->readonly = second.data != view->data;
        sv_tensor_view_release(&second);
    }
    Py_XDECREF(again);
    if (found > 0)
        return 1;
    sv_tensor_view_release(view);
    return refuse_as_raised(object);
}

/* --- the route for each type */

typedef enum { NOT_AN_ARRAY, HAS_BUFFER, EXCHANGES, HAS_ATTRIBUTES, MAKES_CAPSULES, GIVES_ARRAYS } route;

/* Cached per state of a class. */
typedef struct {
    sv_type_state class;
    route route;
    const sv_dl_exchange *table; /* where the route is EXCHANGES */
} known_type;
static known_type known_types[64];

/* Attributes are looked up on the class only, as special methods are. */
static bool has_attribute(PyTypeObject *type, PyObject *name)
{
    PyObject *attribute = sv_type_lookup(type, name);
    return attribute != NULL && attribute != Py_None;
}

/* The exchange API of a type, or NULL without an exception if we support none of its versions. */
static const sv_dl_exchange *find_exchange(PyTypeObject *type)
{
    PyObject *capsule = sv_type_lookup(type, names.exchange);
    if (capsule == NULL || !PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
        return NULL;
    const sv_dl_exchange *table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    while (table != NULL && table->version.major != SV_DLPACK_MAJOR)
        table = table->previous;
    return table != NULL && table->tensor_from_object != NULL ? table : NULL;
}

static known_type learn(PyTypeObject *type)
{
    sv_type_lookup(type, names.dlpack); /* gives the class a version */
    known_type learned = {sv_type_state_of(type), NOT_AN_ARRAY, find_exchange(type)};
    if (learned.table != NULL)
        learned.route = EXCHANGES;
    else if (has_attribute(type, names.dlpack))
        learned.route = has_attribute(type, names.data_ptr) && has_attribute(type, names.stride) ? HAS_ATTRIBUTES : MAKES_CAPSULES;
    else if (has_attribute(type, names.array) && has_attribute(type, names.to_numpy) && has_attribute(type, names.dtype))
        learned.route = GIVES_ARRAYS;
    return learned;
}

static known_type know(PyTypeObject *type)
{
    known_type *known = &known_types[((uintptr_t)type >> 4) % (sizeof known_types / sizeof *known_types)];
    if (sv_type_is(&known->class, type))
        return *known;
    /* Python may run here. A result found while the class changes is not cached. */
    known_type learned = learn(type);
    if (sv_type_is(&learned.class, type))
        *known = learned;
    return learned;
}

/* The table is set where the route is EXCHANGES. */
static route route_of(PyTypeObject *type, const sv_dl_exchange **table)
{
    if (type->tp_as_buffer != NULL && type->tp_as_buffer->bf_getbuffer != NULL) {
        /* Objects with a buffer but no item assignment are values, not arrays: bytes, NumPy scalars, ctypes integers. */
        bool assigns_items = type->tp_as_mapping != NULL && type->tp_as_mapping->mp_ass_subscript != NULL;
        return assigns_items ? HAS_BUFFER : NOT_AN_ARRAY;
    }
    known_type known = know(type);
    *table = known.table;
    return known.route;
}

/* --- arrays of any library */

int sv_tensor_view_get(PyObject *object, sv_tensor_view *view)
{
    PyTypeObject *type = Py_TYPE(object);
    if (sv_array_check(object))
        return view_ours((sv_array *)object, view);
    if (sv_numpy_view(object, view))
        return finish(object, view);
    const sv_dl_exchange *table;
    switch (route_of(type, &table)) {
    case HAS_BUFFER: return view_buffer(object, view);
    case EXCHANGES: return view_exchanged(object, table, view);
    case HAS_ATTRIBUTES: return view_attributes(object, view);
    case MAKES_CAPSULES: return view_capsule(object, view);
    case GIVES_ARRAYS: return view_given(object, view);
    default: return 0;
    }
}

void sv_tensor_view_release(sv_tensor_view *view)
{
    bool holds_buffer = view->holds_buffer;
    view->holds_buffer = false;
    if (holds_buffer)
        PyBuffer_Release(&view->buffer); /* Python may run here. */
    Py_CLEAR(view->hold);
}

/* The same for Python: used by the lens and by tests. */
PyObject *sv_describe_tensor(PyObject *Py_UNUSED(module), PyObject *object)
{
    sv_tensor_view view;
    int found = sv_tensor_view_get(object, &view);
    if (found <= 0)
        return found < 0 ? NULL : Py_NewRef(Py_None);
    PyObject *description = NULL;
    PyObject *shape = sv_shape_tuple(view.ndim, view.shape);
    PyObject *strides = sv_shape_tuple(view.ndim, view.strides);
    if (shape != NULL && strides != NULL)
        description = Py_BuildValue(
            "{s:O, s:O, s:O, s:N, s:O, s:O, s:O, s:O}", "dtype", view.dtype, "shape", shape, "strides", strides,
            "address", PyLong_FromVoidPtr(view.data), "readonly", view.readonly ? Py_True : Py_False, "contiguous",
            view.contiguous ? Py_True : Py_False, "wide", view.wide ? Py_True : Py_False, "needs_grad",
            view.needs_grad ? Py_True : Py_False);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    sv_tensor_view_release(&view);
    return description;
}

/* Whether instances of a class are arrays, supported or not: what sv_tensor_view_get decides before it looks at the
   object. */
PyObject *sv_is_tensor_type(PyObject *Py_UNUSED(module), PyObject *type)
{
    if (!PyType_Check(type)) {
        PyErr_Format(PyExc_TypeError, "expected a type, not %.100s", Py_TYPE(type)->tp_name);
        return NULL;
    }
    const sv_dl_exchange *table;
    return PyBool_FromLong(route_of((PyTypeObject *)type, &table) != NOT_AN_ARRAY);
}

int sv_array_foreign_init(void)
{
    names.is_neg = PyUnicode_InternFromString("is_neg");
    names.is_conj = PyUnicode_InternFromString("is_conj");
    names.exchange = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
    names.dlpack = PyUnicode_InternFromString("__dlpack__");
    names.data_ptr = PyUnicode_InternFromString("data_ptr");
    names.stride = PyUnicode_InternFromString("stride");
    names.module = PyUnicode_InternFromString("__module__");
    names.array = PyUnicode_InternFromString("__array__");
    names.to_numpy = PyUnicode_InternFromString("to_numpy");
    names.dtype = PyUnicode_InternFromString("dtype");
    return names.is_neg && names.is_conj && names.exchange && names.dlpack && names.data_ptr && names.stride && names.module && names.array &&
                   names.to_numpy && names.dtype
               ? 0
               : -1;
}
