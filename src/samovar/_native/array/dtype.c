/* The dtypes: immutable singletons, and the conversion of single elements to and from Python. */
#include "native.h"

#include <math.h>
#include <string.h>

static sv_dtype table[SV_DTYPE_COUNT] = {
#define ENTRY(code_, kind_, bits_, size_, name_, format_, typestr_)                                                  \
    [code_] = {PyObject_HEAD_INIT(&sv_dtype_type) code_, kind_, bits_, size_, name_, format_, typestr_}
    ENTRY(SV_I8, 'i', 8, 1, "i8", "b", "|i1"),
    ENTRY(SV_I16, 'i', 16, 2, "i16", "h", "<i2"),
    ENTRY(SV_I32, 'i', 32, 4, "i32", "i", "<i4"),
    ENTRY(SV_I64, 'i', 64, 8, "i64", "q", "<i8"),
    ENTRY(SV_U1, 'b', 1, 1, "u1", "?", "|b1"),
    ENTRY(SV_U8, 'u', 8, 1, "u8", "B", "|u1"),
    ENTRY(SV_U16, 'u', 16, 2, "u16", "H", "<u2"),
    ENTRY(SV_U32, 'u', 32, 4, "u32", "I", "<u4"),
    ENTRY(SV_U64, 'u', 64, 8, "u64", "Q", "<u8"),
    ENTRY(SV_F16, 'f', 16, 2, "f16", "e", "<f2"),
    ENTRY(SV_F32, 'f', 32, 4, "f32", "f", "<f4"),
    ENTRY(SV_F64, 'f', 64, 8, "f64", "d", "<f8"),
    ENTRY(SV_C64, 'c', 64, 8, "c64", "Zf", "<c8"),
    ENTRY(SV_C128, 'c', 128, 16, "c128", "Zd", "<c16"),
    /* Neither protocol has a type for it: NumPy stores elements of ml_dtypes.bfloat16 under this type string. */
    ENTRY(SV_BF16, 'f', 16, 2, "bf16", "E", "<V2"),
#undef ENTRY
};

sv_dtype *sv_dtype_of(sv_dtype_code code)
{
    return &table[code];
}

sv_dtype *sv_dtype_of_kind(char kind, Py_ssize_t itemsize)
{
    switch ((unsigned)itemsize | (unsigned)(unsigned char)kind << 8) {
#define KIND(kind_, itemsize_, code_) case (unsigned)(kind_) << 8 | (itemsize_): return &table[code_];
    KIND('i', 1, SV_I8) KIND('i', 2, SV_I16) KIND('i', 4, SV_I32) KIND('i', 8, SV_I64)
    KIND('u', 1, SV_U8) KIND('u', 2, SV_U16) KIND('u', 4, SV_U32) KIND('u', 8, SV_U64)
    KIND('f', 2, SV_F16) KIND('f', 4, SV_F32) KIND('f', 8, SV_F64)
    KIND('b', 1, SV_U1)
    KIND('c', 8, SV_C64) KIND('c', 16, SV_C128)
#undef KIND
    default: return NULL;
    }
}

sv_dtype *sv_dtype_from_format(const char *format, Py_ssize_t itemsize)
{
    if (format == NULL)
        return itemsize == 1 ? &table[SV_U8] : NULL;
    /* Little endian is native here, and a single byte has no order. */
    if (*format == '@' || *format == '=' || *format == '<' || ((*format == '>' || *format == '!') && itemsize == 1))
        format++;
    if (format[0] == 'Z' && (format[1] == 'f' || format[1] == 'd') && format[2] == '\0')
        return sv_dtype_of_kind('c', itemsize);
    if (format[0] == '\0' || format[1] != '\0')
        return NULL;
    switch (*format) {
    case 'b': case 'h': case 'i': case 'l': case 'q': case 'n': return sv_dtype_of_kind('i', itemsize);
    case 'B': case 'H': case 'I': case 'L': case 'Q': case 'N': return sv_dtype_of_kind('u', itemsize);
    case 'e': case 'f': case 'd': return sv_dtype_of_kind('f', itemsize);
    case '?': return sv_dtype_of_kind('b', itemsize);
    default: return NULL;
    }
}

uint16_t sv_half_from_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)((bits >> 48) & 0x8000u);
    int exponent = (int)((bits >> 52) & 0x7ff);
    uint64_t fraction = bits & 0xfffffffffffffull;
    if (exponent == 0x7ff)
        return (uint16_t)(sign | 0x7c00u | (fraction ? 0x200u | (uint16_t)(fraction >> 42) : 0));
    int unbiased = exponent - 1023;
    if (unbiased > 15)
        return (uint16_t)(sign | 0x7c00u);
    if (unbiased < -25)
        return sign;
    uint64_t significand = fraction | (exponent ? 0x10000000000000ull : 0);
    /* Keep 11 bits of a normal number, fewer of a subnormal one; round to nearest, ties to even. */
    int drop = unbiased < -14 ? 42 + (-14 - unbiased) : 42;
    uint64_t kept = significand >> drop;
    uint64_t rest = significand & ((1ull << drop) - 1);
    uint64_t half = 1ull << (drop - 1);
    if (rest > half || (rest == half && (kept & 1)))
        kept++;
    /* A carry out of the significand moves into the exponent by itself; past the largest one that is infinity. */
    uint64_t encoded = unbiased < -14 ? kept : ((uint64_t)(unbiased + 14) << 10) + kept;
    return (uint16_t)(sign | encoded);
}

double sv_half_to_double(uint16_t half)
{
    uint64_t sign = (uint64_t)(half & 0x8000u) << 48;
    uint32_t exponent = (half >> 10) & 0x1fu;
    uint64_t fraction = half & 0x3ffu;
    if (exponent == 0) {
        double value = (double)fraction / 16777216.0; /* 2^24 */
        return sign ? -value : value;
    }
    uint64_t bits = sign | (fraction << 42);
    bits |= exponent == 31 ? 0x7ff0000000000000ull : (uint64_t)(exponent + 1008) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t sv_bfloat_from_double(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40u);
    /* Round to odd first, so that the last bit says whether any digits were lost, and rounding again is exact. */
    if ((double)single != value)
        bits = (bits - (fabs((double)single) > fabs(value))) | 1u;
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

double sv_bfloat_to_double(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float single;
    memcpy(&single, &wide, sizeof single);
    return single;
}

static int out_of_range(const sv_dtype *dtype, PyObject *value)
{
    PyErr_Format(PyExc_OverflowError, "%R does not fit in %s", value, dtype->name);
    return -1;
}

static int store_float(const sv_dtype *dtype, PyObject *value, void *element)
{
    double number = PyFloat_AsDouble(value); /* Python may run here. */
    if (number == -1.0 && PyErr_Occurred())
        return -1;
    if (dtype->code == SV_F64) {
        memcpy(element, &number, sizeof number);
    } else if (dtype->code == SV_F32) {
        float single = (float)number;
        memcpy(element, &single, sizeof single);
    } else {
        uint16_t half = dtype->code == SV_BF16 ? sv_bfloat_from_double(number) : sv_half_from_double(number);
        memcpy(element, &half, sizeof half);
    }
    return 0;
}

/* Numbers that are not complex have the imaginary part 0. */
static int store_complex(const sv_dtype *dtype, PyObject *value, void *element)
{
    Py_complex number = PyComplex_AsCComplex(value); /* Python may run here. */
    if (number.real == -1.0 && PyErr_Occurred())
        return -1;
    if (dtype->code == SV_C128) {
        memcpy(element, &number, sizeof number);
    } else {
        float parts[2] = {(float)number.real, (float)number.imag};
        memcpy(element, parts, sizeof parts);
    }
    return 0;
}

static int store_integer(const sv_dtype *dtype, PyObject *value, void *element)
{
    /* Floats are rejected rather than truncated: only integers have __index__. */
    PyObject *index = PyNumber_Index(value); /* Python may run here. */
    if (index == NULL)
        return -1;
    int result = -1;
    if (dtype->kind == 'i') {
        int overflow;
        long long number = PyLong_AsLongLongAndOverflow(index, &overflow);
        if (number == -1 && PyErr_Occurred())
            goto done;
        long long limit = (long long)(~0ull >> (65 - dtype->bits));
        if (overflow || number > limit || number < -limit - 1) {
            out_of_range(dtype, value);
            goto done;
        }
        memcpy(element, &number, dtype->itemsize); /* little endian */
    } else {
        unsigned long long number = PyLong_AsUnsignedLongLong(index);
        if (number == ~0ull && PyErr_Occurred()) {
            if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
                PyErr_Clear();
                out_of_range(dtype, value);
            }
            goto done;
        }
        if (dtype->bits < 64 && number >> dtype->bits) {
            out_of_range(dtype, value);
            goto done;
        }
        memcpy(element, &number, dtype->itemsize);
    }
    result = 0;
done:
    Py_DECREF(index);
    return result;
}

int sv_dtype_store(const sv_dtype *dtype, PyObject *value, void *element)
{
    if (dtype->kind == 'f')
        return store_float(dtype, value, element);
    if (dtype->kind == 'c')
        return store_complex(dtype, value, element);
    if (dtype->kind == 'b') {
        int truth = PyObject_IsTrue(value); /* Python may run here. */
        if (truth < 0)
            return -1;
        *(uint8_t *)element = (uint8_t)truth;
        return 0;
    }
    return store_integer(dtype, value, element);
}

PyObject *sv_dtype_load(const sv_dtype *dtype, const void *element)
{
    switch (dtype->code) {
#define INTEGER(code_, type_, build_)                                                                                \
    case code_: { type_ number; memcpy(&number, element, sizeof number); return build_(number); }
    INTEGER(SV_I8, int8_t, PyLong_FromLong)
    INTEGER(SV_I16, int16_t, PyLong_FromLong)
    INTEGER(SV_I32, int32_t, PyLong_FromLong)
    INTEGER(SV_I64, int64_t, PyLong_FromLongLong)
    INTEGER(SV_U8, uint8_t, PyLong_FromUnsignedLong)
    INTEGER(SV_U16, uint16_t, PyLong_FromUnsignedLong)
    INTEGER(SV_U32, uint32_t, PyLong_FromUnsignedLong)
    INTEGER(SV_U64, uint64_t, PyLong_FromUnsignedLongLong)
    INTEGER(SV_F32, float, PyFloat_FromDouble)
    INTEGER(SV_F64, double, PyFloat_FromDouble)
#undef INTEGER
    case SV_U1:
        return PyBool_FromLong(*(const uint8_t *)element != 0);
    case SV_F16: case SV_BF16: {
        uint16_t half;
        memcpy(&half, element, sizeof half);
        return PyFloat_FromDouble(dtype->code == SV_BF16 ? sv_bfloat_to_double(half) : sv_half_to_double(half));
    }
    case SV_C64: {
        float parts[2];
        memcpy(parts, element, sizeof parts);
        return PyComplex_FromDoubles(parts[0], parts[1]);
    }
    case SV_C128: {
        double parts[2];
        memcpy(parts, element, sizeof parts);
        return PyComplex_FromDoubles(parts[0], parts[1]);
    }
    default:
        PyErr_SetString(PyExc_SystemError, "unknown dtype code");
        return NULL;
    }
}

uint64_t sv_saturated(const sv_dtype *dtype, double value)
{
    if (value != value)
        return 0;
    int sign = dtype->kind == 'i';
    double limit = ldexp(1.0, dtype->bits - sign); /* the smallest number that is too large */
    if (value >= limit)
        return ~0ull >> (64 - dtype->bits + sign);
    if (sign)
        return (uint64_t)(value < -limit ? INT64_MIN >> (64 - dtype->bits) : (int64_t)value);
    return value > 0 ? (uint64_t)value : 0;
}

/* f32(3) in plain Python: convert as a cast does. Integers wrap and floats saturate. */
static PyObject *dtype_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    sv_dtype *dtype = (sv_dtype *)self;
    PyObject *value;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs)) {
        PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments", dtype->name);
        return NULL;
    }
    if (dtype->kind == 'c') { /* c64(real, imag) too, as complex() */
        uint64_t parts[2];
        PyObject *number = PyObject_Call((PyObject *)&PyComplex_Type, args, NULL); /* Python may run here. */
        if (number == NULL || sv_dtype_store(dtype, number, parts) < 0) {
            Py_XDECREF(number);
            return NULL;
        }
        Py_DECREF(number);
        return sv_dtype_load(dtype, parts);
    }
    if (!PyArg_UnpackTuple(args, dtype->name, 1, 1, &value))
        return NULL;
    uint64_t element = 0;
    if (dtype->kind == 'f' || dtype->kind == 'b') {
        if (sv_dtype_store(dtype, value, &element) < 0)
            return NULL;
        return sv_dtype_load(dtype, &element);
    }
    if (PyUnicode_Check(value) || PyBytes_Check(value) || PyByteArray_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s() takes a number, not %.100s", dtype->name, Py_TYPE(value)->tp_name);
        return NULL;
    }
    if (PyFloat_Check(value)) {
        element = sv_saturated(dtype, PyFloat_AS_DOUBLE(value));
        return sv_dtype_load(dtype, &element);
    }
    PyObject *integer = PyNumber_Long(value); /* Python may run here. */
    if (integer == NULL)
        return NULL;
    element = PyLong_AsUnsignedLongLongMask(integer);
    Py_DECREF(integer);
    if (element == ~0ull && PyErr_Occurred())
        return NULL;
    return sv_dtype_load(dtype, &element);
}

static PyObject *dtype_repr(PyObject *self)
{
    return PyUnicode_FromFormat("samovar.%s", ((sv_dtype *)self)->name);
}

static PyObject *dtype_str(PyObject *self)
{
    return PyUnicode_FromString(((sv_dtype *)self)->name);
}

/* Pickled by name: `samovar.f32`. */
static PyObject *dtype_reduce(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return PyUnicode_FromString(((sv_dtype *)self)->name);
}

static PyObject *dtype_get_kind(PyObject *self, void *Py_UNUSED(closure))
{
    switch (((sv_dtype *)self)->kind) {
    case 'i': return PyUnicode_FromString("int");
    case 'u': return PyUnicode_FromString("uint");
    case 'b': return PyUnicode_FromString("bool");
    case 'c': return PyUnicode_FromString("complex");
    default: return PyUnicode_FromString("float");
    }
}

#define STRING_GETTER(field)                                                                                         \
    static PyObject *dtype_get_##field(PyObject *self, void *Py_UNUSED(closure))                                     \
    {                                                                                                                \
        return PyUnicode_FromString(((sv_dtype *)self)->field);                                                      \
    }
#define INTEGER_GETTER(field)                                                                                        \
    static PyObject *dtype_get_##field(PyObject *self, void *Py_UNUSED(closure))                                     \
    {                                                                                                                \
        return PyLong_FromLong(((sv_dtype *)self)->field);                                                           \
    }
STRING_GETTER(name)
STRING_GETTER(format)
STRING_GETTER(typestr)
INTEGER_GETTER(code)
INTEGER_GETTER(bits)
INTEGER_GETTER(itemsize)

static PyGetSetDef dtype_getset[] = {
    {"name", dtype_get_name, NULL, "The short name, as in `samovar.f32`.", NULL},
    {"kind", dtype_get_kind, NULL, "One of \"int\", \"uint\", \"bool\", \"float\", \"complex\".", NULL},
    {"bits", dtype_get_bits, NULL, "Bits of a value; 1 for u1.", NULL},
    {"itemsize", dtype_get_itemsize, NULL, "Bytes of an element in memory.", NULL},
    {"code", dtype_get_code, NULL, "The code of the dtype in native code.", NULL},
    {"format", dtype_get_format, NULL, "The format of the buffer protocol.", NULL},
    {"typestr", dtype_get_typestr, NULL, "The type string of the array interface.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *dtype_to_string(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return dtype_get_name(self, NULL);
}

static PyMethodDef dtype_methods[] = {
    {"to_string", dtype_to_string, METH_NOARGS, PyDoc_STR("to_string($self, /)\n--\n\nThe short name: \"f32\".")},
    {"__reduce__", dtype_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* `:` or `::1`, which in Numba means contiguous. */
static bool is_whole_axis(PyObject *key)
{
    if (!PySlice_Check(key))
        return false;
    const PySliceObject *slice = (PySliceObject *)key;
    bool steps = slice->step != Py_None && !(PyLong_CheckExact(slice->step) && PyLong_AsLong(slice->step) == 1);
    return slice->start == Py_None && slice->stop == Py_None && !steps;
}

/* `sv.f32[:, :]` is how Numba writes the type of a 2-D array: the same as `sv.Array[sv.f32, 2]`. Python runs here. */
static PyObject *dtype_subscript(PyObject *self, PyObject *key)
{
    const char *name = ((sv_dtype *)self)->name;
    Py_ssize_t axes = PyTuple_Check(key) ? PyTuple_GET_SIZE(key) : 1;
    bool is_array = axes > 0;
    for (Py_ssize_t i = 0; is_array && i < axes; i++)
        is_array = is_whole_axis(PyTuple_Check(key) ? PyTuple_GET_ITEM(key, i) : key);
    if (is_array) {
        PyObject *types = PyImport_ImportModule("samovar.types");
        PyObject *array = types == NULL ? NULL : PyObject_GetAttrString(types, "Array");
        PyObject *parts = array == NULL ? NULL : Py_BuildValue("(On)", self, axes);
        PyObject *annotation = parts == NULL ? NULL : PyObject_GetItem(array, parts);
        Py_XDECREF(parts);
        Py_XDECREF(array);
        Py_XDECREF(types);
        return annotation;
    }
    return sv_refuse("SamovarTypeError",
                     "sv.%s is a scalar type and cannot be indexed\n  help: annotate an array as "
                     "`sv.Array[sv.%s, %zd]`, a vector as `sv.types.vector(3, sv.%s)`", name, name, axes, name);
}

static PyMappingMethods dtype_as_mapping = {
    .mp_subscript = dtype_subscript,
};

PyTypeObject sv_dtype_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar.DType",
    .tp_basicsize = sizeof(sv_dtype),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = PyDoc_STR("A primitive element type. Calling it converts a number as a cast in a kernel does.\n\n"
                        ">>> import samovar as sv\n>>> sv.i8(200)\n-56\n>>> sv.f32.itemsize\n4"),
    .tp_call = dtype_call,
    .tp_as_mapping = &dtype_as_mapping,
    .tp_repr = dtype_repr,
    .tp_str = dtype_str,
    .tp_methods = dtype_methods,
    .tp_getset = dtype_getset,
};

int sv_dtype_init(PyObject *module)
{
    if (PyModule_AddType(module, &sv_dtype_type) < 0)
        return -1;
    for (int code = 0; code < SV_DTYPE_COUNT; code++)
        if (PyModule_AddObjectRef(module, table[code].name, (PyObject *)&table[code]) < 0)
            return -1;
    return 0;
}
