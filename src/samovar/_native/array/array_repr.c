/* The repr of an array: nested brackets in NumPy's style, summarized when there are many elements. */
#include "array/array.h"

/* Above this many elements only EDGE of them are shown at each end of each dimension. */
enum { SHOW_ALL_UP_TO = 200, EDGE = 3, LINE_WIDTH = 96, DIGITS = 8 };
/* If there are still more than this (many short dimensions), none are shown. */
enum { SHOW_AT_MOST = 1000 };
enum { INDENT = sizeof "ndarray(" - 1, FIELD_INDENT = sizeof "field(" - 1 };

static bool reads_back(const sv_dtype *dtype, double read, double value)
{
    switch (dtype->code) {
    case SV_F16: return sv_half_from_double(read) == sv_half_from_double(value);
    case SV_BF16: return sv_bfloat_from_double(read) == sv_bfloat_from_double(value);
    case SV_F32: return (float)read == (float)value;
    default: return read == value;
    }
}

/* The fewest digits that round-trip in its own precision, at most DIGITS of them. */
static PyObject *text_of_float(const sv_dtype *dtype, double value)
{
    double rounded = value;
    for (int precision = 1; precision <= DIGITS; precision++) {
        char *text = PyOS_double_to_string(value, 'e', precision - 1, 0, NULL);
        if (text == NULL)
            return PyErr_NoMemory();
        rounded = PyOS_string_to_double(text, NULL, NULL);
        PyMem_Free(text);
        if (rounded == -1.0 && PyErr_Occurred())
            return NULL;
        if (reads_back(dtype, rounded, value))
            break;
    }
    PyObject *number = PyFloat_FromDouble(rounded);
    PyObject *text = number == NULL ? NULL : PyObject_Repr(number);
    Py_XDECREF(number);
    return text;
}

/* As in NumPy, without parentheses: 1.0-2.5j. */
static PyObject *text_of_complex(const sv_dtype *dtype, Py_complex value)
{
    const sv_dtype *part = sv_dtype_of_kind('f', dtype->itemsize / 2);
    PyObject *real = text_of_float(part, value.real), *imaginary = real == NULL ? NULL : text_of_float(part, value.imag);
    PyObject *text = imaginary == NULL ? NULL
                                       : PyUnicode_FromFormat("%U%s%Uj", real, PyUnicode_READ_CHAR(imaginary, 0) == '-' ? "" : "+",
                                                              imaginary);
    Py_XDECREF(real);
    Py_XDECREF(imaginary);
    return text;
}

static PyObject *text_of_element(const sv_array *array, int64_t offset)
{
    PyObject *value = sv_dtype_load(array->dtype, (const char *)array->data + offset * array->dtype->itemsize);
    if (value == NULL)
        return NULL;
    PyObject *text = array->dtype->kind == 'f'   ? text_of_float(array->dtype, PyFloat_AS_DOUBLE(value))
                     : array->dtype->kind == 'c' ? text_of_complex(array->dtype, PyComplex_AsCComplex(value))
                                                 : PyObject_Str(value);
    Py_DECREF(value);
    return text;
}

typedef struct {
    const sv_array *array;
    bool elide;
    Py_ssize_t width; /* every element is padded to this width */
    PyObject *parts;  /* list of str */
} printer;

static int append(printer *to, PyObject *text)
{
    int result = text == NULL ? -1 : PyList_Append(to->parts, text);
    Py_XDECREF(text);
    return result;
}

static int append_repeated(printer *to, const char *text, Py_ssize_t count)
{
    PyObject *one = PyUnicode_FromString(text);
    PyObject *many = one == NULL ? NULL : PySequence_Repeat(one, count);
    Py_XDECREF(one);
    return append(to, many);
}

/* A comma, then the given number of line breaks and spaces. */
static int append_break(printer *to, int lines, int spaces)
{
    if (append_repeated(to, ",", 1) < 0 || append_repeated(to, "\n", lines) < 0)
        return -1;
    return append_repeated(to, " ", spaces);
}

/* The positions shown along a dimension; -1 stands for the ellipsis. */
static int shown(const printer *to, int64_t extent, int step, int64_t *position)
{
    if (!to->elide || extent <= 2 * EDGE) {
        *position = step;
        return step < extent;
    }
    *position = step < EDGE ? step : step == EDGE ? -1 : extent - 2 * EDGE - 1 + step;
    return step <= 2 * EDGE;
}

/* Write the dimensions from `axis` on, of the part that starts at `offset`; or only measure elements if `width` is given. */
static int walk(printer *to, int axis, int64_t offset, Py_ssize_t *width)
{
    const sv_array *array = to->array;
    if (axis == array->ndim) {
        PyObject *text = text_of_element(array, offset);
        if (text == NULL)
            return -1;
        Py_ssize_t length = PyUnicode_GET_LENGTH(text);
        if (width != NULL) {
            *width = length > *width ? length : *width;
            Py_DECREF(text);
            return 0;
        }
        if (append_repeated(to, " ", to->width - length) < 0) {
            Py_DECREF(text);
            return -1;
        }
        return append(to, text);
    }
    bool last = axis == array->ndim - 1;
    int column = (sv_array_is_field(array) ? FIELD_INDENT : INDENT) + axis + 1;
    int64_t position, stride = array->byte_strides[axis] / array->dtype->itemsize;
    bool in_blocks = sv_array_is_in_blocks(array);
    if (width == NULL && append_repeated(to, "[", 1) < 0)
        return -1;
    int used = column;
    for (int step = 0; shown(to, array->shape[axis], step, &position); step++) {
        int failed = 0;
        if (width == NULL && step > 0) {
            bool wrap = last && used + to->width + 2 > LINE_WIDTH;
            if (last && !wrap)
                failed = append_repeated(to, ", ", 1);
            else
                failed = append_break(to, last ? 1 : array->ndim - 1 - axis, column);
            used = wrap ? column : used + 2;
        }
        used += position < 0 ? 3 : (int)to->width;
        if (failed < 0)
            return -1;
        if (position >= 0)
            failed = walk(to, axis + 1, offset + (in_blocks ? sv_layout_step(array->layout, axis, position) : position * stride), width);
        else if (width == NULL)
            failed = append_repeated(to, "...", 1);
        if (failed < 0)
            return -1;
    }
    return width != NULL ? 0 : append_repeated(to, "]", 1);
}

static int64_t count_shown(const printer *to)
{
    int64_t count = 1;
    for (int axis = 0; axis < to->array->ndim && count <= SHOW_AT_MOST; axis++) {
        int64_t extent = to->array->shape[axis];
        count *= to->elide && extent > 2 * EDGE ? 2 * EDGE : extent;
    }
    return count;
}

/* As in `ndarray([1.0, 2.0], dtype=f32, shape=(2,))`. */
PyObject *sv_array_repr(PyObject *self)
{
    sv_array *array = (sv_array *)self;
    if (array->signature == SV_UNPLACED)
        return PyUnicode_FromFormat("<field of %s that is not in use yet>", array->dtype->name);
    PyObject *result = NULL, *nothing = NULL, *shape = sv_shape_tuple(sv_array_rank(array), array->shape);
    printer to = {array, array->size > SHOW_ALL_UP_TO, 0, PyList_New(0)};
    if (shape == NULL || to.parts == NULL || append_repeated(&to, sv_array_is_field(array) ? "field(" : "ndarray(", 1) < 0)
        goto done;
    if (count_shown(&to) > SHOW_AT_MOST) {
        if (append_repeated(&to, "...", 1) < 0)
            goto done;
    } else if (walk(&to, 0, 0, &to.width) < 0 || walk(&to, 0, 0, NULL) < 0) {
        goto done;
    }
    if (append(&to, PyUnicode_FromFormat(", dtype=%s, shape=%R", array->dtype->name, shape)) < 0)
        goto done;
    if (array->inner) {
        PyObject *inner = sv_shape_tuple(array->inner, array->shape + sv_array_rank(array));
        PyObject *text = inner == NULL ? NULL : PyUnicode_FromFormat(", element_shape=%R", inner);
        Py_XDECREF(inner);
        if (text == NULL || append(&to, text) < 0)
            goto done;
    }
    if (append_repeated(&to, array->grad != NULL ? ", needs_grad=True)" : ")", 1) < 0)
        goto done;
    nothing = PyUnicode_FromString("");
    if (nothing != NULL)
        result = PyUnicode_Join(nothing, to.parts);
done:
    Py_XDECREF(nothing);
    Py_XDECREF(shape);
    Py_XDECREF(to.parts);
    return result;
}
