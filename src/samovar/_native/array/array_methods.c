/* Methods of arrays beside element access. Most are implemented in Python, in samovar.runtime.array_methods, which is
   imported on first use. This file has the entry points, and what needs access to memory. */
#include "array/array.h"

/* samovar.runtime.array_methods.name(self, ...). Python runs here. */
static PyObject *call_method(const char *name, PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *module = PyImport_ImportModule("samovar.runtime.array_methods");
    PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, name);
    Py_ssize_t given = PyTuple_GET_SIZE(args);
    PyObject *all = function == NULL ? NULL : PyTuple_New(given + 1);
    PyObject *result = NULL;
    if (all != NULL) {
        PyTuple_SET_ITEM(all, 0, Py_NewRef(self));
        for (Py_ssize_t i = 0; i < given; i++)
            PyTuple_SET_ITEM(all, i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
        result = PyObject_Call(function, all, kwargs);
        if (result == NULL)
            sv_trim_traceback();
    }
    Py_XDECREF(all);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return result;
}

#define IN_PYTHON(c_name_, name_)                                                                                    \
    PyObject *c_name_(PyObject *self, PyObject *args, PyObject *kwargs)                                              \
    {                                                                                                                \
        return call_method(name_, self, args, kwargs);                                                               \
    }

IN_PYTHON(sv_array_tolist, "to_list")
IN_PYTHON(sv_array_html, "as_html")
IN_PYTHON(sv_array_sum, "sum_of")
IN_PYTHON(sv_array_min, "least")
IN_PYTHON(sv_array_max, "greatest")
IN_PYTHON(sv_array_mean, "mean")
IN_PYTHON(sv_array_all, "all_true")
IN_PYTHON(sv_array_any, "any_true")
IN_PYTHON(sv_array_astype, "astype")
IN_PYTHON(sv_array_reshape, "reshape")
IN_PYTHON(sv_array_as_numpy, "as_numpy")
IN_PYTHON(sv_field_parent, "field_parent")
IN_PYTHON(sv_field_entry, "field_of_entry")
#undef IN_PYTHON

static PyObject *call_with(const char *name, PyObject *self, PyObject *args)
{
    PyObject *result = args == NULL ? NULL : call_method(name, self, args, NULL);
    Py_XDECREF(args);
    return result;
}

PyObject *sv_array_transposed(PyObject *self, void *Py_UNUSED(closure))
{
    return call_with("transposed", self, PyTuple_New(0));
}

PyObject *sv_field_node(PyObject *self, void *Py_UNUSED(closure))
{
    return call_with("field_node", self, PyTuple_New(0));
}

/* `==` and `!=` are element-wise; arrays have no order. */
PyObject *sv_array_compare(PyObject *self, PyObject *other, int operator)
{
    if (operator != Py_EQ && operator != Py_NE)
        Py_RETURN_NOTIMPLEMENTED;
    return call_with("compare", self, Py_BuildValue("(OO)", other, operator == Py_EQ ? Py_True : Py_False));
}

/* --- memory */

/* The gradient and the tangent are reshaped too. */
static sv_array *with_shape(sv_array *source, int ndim, const int64_t *shape)
{
    sv_array *array =
        sv_array_over(source->dtype, ndim, shape, source->data, sv_array_is_readonly(source), (PyObject *)source);
    if (array != NULL && array->size != source->size) {
        PyErr_SetString(PyExc_ValueError, "the new shape must have the same number of elements");
        Py_CLEAR(array);
    }
    if (array != NULL && source->grad != NULL) {
        sv_array *grad = with_shape((sv_array *)source->grad, ndim, shape);
        if (grad == NULL)
            Py_CLEAR(array);
        else
            sv_array_set_grad(array, grad);
    }
    sv_array *dual = array == NULL ? NULL : sv_array_tangent(source);
    if (dual != NULL && (array->dual = (PyObject *)with_shape(dual, ndim, shape)) == NULL)
        Py_CLEAR(array);
    return array;
}

PyObject *sv_reshaped(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *shape_object;
    int inner = 0;
    if (!PyArg_ParseTuple(args, "O!Oi:reshaped", &sv_tensor_type, &object, &shape_object, &inner))
        return NULL;
    sv_array *source = (sv_array *)object;
    int64_t shape[SV_MAX_NDIM];
    int ndim = sv_array_require_place(source) < 0 ? -1 : sv_shape_parse(shape_object, shape);
    if (ndim < 0)
        return NULL;
    if (!sv_array_is_contiguous(source)) {
        PyErr_SetString(PyExc_ValueError, "this field is not in C order: it cannot be reshaped in place");
        return NULL;
    }
    sv_array *array = with_shape(source, ndim, shape);
    if (array != NULL && sv_array_set_inner(array, inner) < 0)
        Py_CLEAR(array);
    return (PyObject *)array;
}

PyObject *sv_bits_of(PyObject *Py_UNUSED(module), PyObject *object)
{
    sv_array *source = (sv_array *)object;
    if (!sv_array_check(object) || sv_array_require_place(source) < 0 || source->dtype->itemsize != 2 || !sv_array_is_contiguous(source)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "expected an array in C order with elements of 16 bits");
        return NULL;
    }
    return (PyObject *)sv_array_over(sv_dtype_of(SV_U16), source->ndim, source->shape, source->data, sv_array_is_readonly(source),
                                     (PyObject *)source);
}

/* With a step of 0, all elements are compared with one. */
static void compare_all(const sv_array *first, const sv_array *second, int64_t step, bool equal, uint8_t *result)
{
    if (second->dtype != first->dtype) { /* i64 and u64: a negative number equals nothing */
        const int64_t *a = first->data;
        const uint64_t *b = second->data;
        for (int64_t i = 0; i < first->size; i++)
            result[i] = (a[i] >= 0 && (uint64_t)a[i] == b[i * step]) == equal;
        return;
    }
    switch (first->dtype->code) {
#define COMPARE(code_, type_, value_)                                                                                \
    case code_: {                                                                                                    \
        const type_ *a = first->data, *b = second->data;                                                             \
        for (int64_t i = 0; i < first->size; i++)                                                                    \
            result[i] = (value_(a[i]) == value_(b[i * step])) == equal;                                              \
        break;                                                                                                       \
    }
#define TRUTH(value_) ((value_) != 0)
    COMPARE(SV_I8, int8_t, )
    COMPARE(SV_I16, int16_t, )
    COMPARE(SV_I32, int32_t, )
    COMPARE(SV_I64, int64_t, )
    COMPARE(SV_U1, uint8_t, TRUTH)
    COMPARE(SV_U8, uint8_t, )
    COMPARE(SV_U16, uint16_t, )
    COMPARE(SV_U32, uint32_t, )
    COMPARE(SV_U64, uint64_t, )
    COMPARE(SV_F16, uint16_t, sv_half_to_double)
    COMPARE(SV_BF16, uint16_t, sv_bfloat_to_double)
    COMPARE(SV_F32, float, )
    COMPARE(SV_F64, double, )
    COMPARE(SV_C64, float _Complex, )
    COMPARE(SV_C128, double _Complex, )
#undef TRUTH
#undef COMPARE
    default: Py_UNREACHABLE();
    }
}

PyObject *sv_equal_elements(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *left, *right;
    int equal;
    if (!PyArg_ParseTuple(args, "O!O!p:equal_elements", &sv_tensor_type, &left, &sv_tensor_type, &right, &equal))
        return NULL;
    sv_array *first = (sv_array *)left, *second = (sv_array *)right;
    if (sv_array_require_place(first) < 0 || sv_array_require_place(second) < 0)
        return NULL;
    bool is_one = second->ndim == 0;
    bool comparable =
        first->dtype == second->dtype || (first->dtype->code == SV_I64 && second->dtype->code == SV_U64);
    if (!comparable || (!is_one && first->size != second->size) || !sv_array_is_contiguous(first) ||
        !sv_array_is_contiguous(second)) {
        PyErr_SetString(PyExc_ValueError, "expected two C-order arrays of the same size and dtype, or of i64 and u64");
        return NULL;
    }
    sv_array *result = sv_array_new(sv_dtype_of(SV_U1), first->ndim, first->shape, false);
    if (result == NULL || sv_array_set_inner(result, first->inner) < 0) {
        Py_XDECREF(result);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    compare_all(first, second, is_one ? 0 : 1, equal, result->data);
    Py_END_ALLOW_THREADS
    return (PyObject *)result;
}
