/* Copying elements between dtypes and layouts, converted as by a cast in a kernel: integers wrap; float to integer truncates
   and saturates (NaN becomes 0); everything else rounds to nearest. */
#include "array/array.h"

#include <string.h>

/* Elements pass through a chunk in the widest type of their kind, so that one reader and one writer per dtype cover all
   pairs. */
enum { CHUNK = 256 };
typedef union {
    int64_t i[CHUNK];
    uint64_t u[CHUNK];
    double f[CHUNK];
    double _Complex c[CHUNK];
} chunk;

/* Above this many bytes a copy releases the GIL. */
static const int64_t RELEASE_GIL_FROM = 1 << 18;

static void read_chunk(sv_dtype_code code, const char *source, int64_t byte_stride, int count, chunk *into)
{
    switch (code) {
#define READ(code_, type_, field_, value_)                                                                           \
    case code_:                                                                                                      \
        for (int k = 0; k < count; k++) {                                                                            \
            type_ element;                                                                                           \
            memcpy(&element, source + k * byte_stride, sizeof element);                                              \
            into->field_[k] = value_;                                                                                \
        }                                                                                                            \
        break;
    READ(SV_I8, int8_t, i, element)
    READ(SV_I16, int16_t, i, element)
    READ(SV_I32, int32_t, i, element)
    READ(SV_I64, int64_t, i, element)
    READ(SV_U1, uint8_t, u, element != 0)
    READ(SV_U8, uint8_t, u, element)
    READ(SV_U16, uint16_t, u, element)
    READ(SV_U32, uint32_t, u, element)
    READ(SV_U64, uint64_t, u, element)
    READ(SV_F16, uint16_t, f, sv_half_to_double(element))
    READ(SV_BF16, uint16_t, f, sv_bfloat_to_double(element))
    READ(SV_F32, float, f, (double)element)
    READ(SV_F64, double, f, element)
    READ(SV_C64, float _Complex, c, element)
    READ(SV_C128, double _Complex, c, element)
#undef READ
    default: Py_UNREACHABLE();
    }
}

/* `field_` is the member of the chunk that holds the values, `to_bits` converts them to integers of a dtype. */
#define WRITE(code_, type_, value_)                                                                                  \
    case code_: {                                                                                                    \
        type_ *elements = destination;                                                                               \
        for (int k = 0; k < count; k++)                                                                              \
            elements[k] = (type_)(value_);                                                                           \
        break;                                                                                                       \
    }
#define WRITE_ALL(field_, to_bits)                                                                                   \
    switch (to->code) {                                                                                              \
    WRITE(SV_I8, uint8_t, to_bits(from->field_[k]))                                                                  \
    WRITE(SV_I16, uint16_t, to_bits(from->field_[k]))                                                                \
    WRITE(SV_I32, uint32_t, to_bits(from->field_[k]))                                                                \
    WRITE(SV_I64, uint64_t, to_bits(from->field_[k]))                                                                \
    WRITE(SV_U1, uint8_t, from->field_[k] != 0)                                                                      \
    WRITE(SV_U8, uint8_t, to_bits(from->field_[k]))                                                                  \
    WRITE(SV_U16, uint16_t, to_bits(from->field_[k]))                                                                \
    WRITE(SV_U32, uint32_t, to_bits(from->field_[k]))                                                                \
    WRITE(SV_U64, uint64_t, to_bits(from->field_[k]))                                                                \
    WRITE(SV_F16, uint16_t, sv_half_from_double((double)from->field_[k]))                                            \
    WRITE(SV_BF16, uint16_t, sv_bfloat_from_double((double)from->field_[k]))                                         \
    WRITE(SV_F32, float, from->field_[k])                                                                            \
    WRITE(SV_F64, double, from->field_[k])                                                                           \
    WRITE(SV_C64, float _Complex, from->field_[k])                                                                   \
    WRITE(SV_C128, double _Complex, from->field_[k])                                                                 \
    default: Py_UNREACHABLE();                                                                                       \
    }

static void write_chunk(const sv_dtype *to, char kind, const chunk *from, int count, void *destination)
{
#define SATURATED(value_) sv_saturated(to, value_)
    if (kind == 'i')
        WRITE_ALL(i, (uint64_t))
    else if (kind == 'f')
        WRITE_ALL(f, SATURATED)
    else if (kind == 'c')
        WRITE_ALL(c, SATURATED)
    else
        WRITE_ALL(u, )
#undef SATURATED
}

/* Elements of one size from a strided row, bits unchanged. */
static void gather_row(int itemsize, const char *source, int64_t byte_stride, int64_t count, char *destination)
{
    if (byte_stride == itemsize) {
        memmove(destination, source, (size_t)(count * itemsize));
        return;
    }
    switch (itemsize) {
#define GATHER(size_)                                                                                                \
    case size_:                                                                                                      \
        for (int64_t k = 0; k < count; k++)                                                                          \
            memcpy(destination + k * size_, source + k * byte_stride, size_);                                        \
        break;
    GATHER(1) GATHER(2) GATHER(4) GATHER(8) GATHER(16)
#undef GATHER
    default: Py_UNREACHABLE();
    }
}

static void convert_row(const sv_dtype *from, const char *source, int64_t byte_stride, int64_t count,
                        const sv_dtype *to, char *destination)
{
    if (from == to) {
        gather_row(to->itemsize, source, byte_stride, count, destination);
        return;
    }
    chunk elements;
    for (int64_t done = 0; done < count; done += CHUNK) {
        int now = count - done < CHUNK ? (int)(count - done) : CHUNK;
        read_chunk(from->code, source + done * byte_stride, byte_stride, now, &elements);
        write_chunk(to, from->kind, &elements, now, destination + done * to->itemsize);
    }
}

static void convert_all(const sv_tensor_view *source, int64_t size, const sv_dtype *to, char *destination)
{
    const sv_dtype *from = source->dtype;
    if (source->contiguous) {
        convert_row(from, source->data, from->itemsize, size, to, destination);
        return;
    }
    sv_tensor_view pieces;
    if (source->layout != NULL && source->layout->in_blocks) {
        pieces.data = source->data;
        pieces.dtype = source->dtype;
        sv_field_view_pieces(source->layout, &pieces);
        source = &pieces;
    }
    /* A view that is not contiguous has at least one dimension and no extent of 0. */
    int last = source->ndim - 1;
    int64_t row = source->shape[last], index[SV_MAX_NDIM] = {0};
    const char *here = source->data;
    for (int64_t done = 0; done < size; done += row) {
        convert_row(from, here, source->strides[last] * from->itemsize, row, to, destination + done * to->itemsize);
        for (int axis = last - 1; axis >= 0; axis--) {
            here += source->strides[axis] * from->itemsize;
            if (++index[axis] < source->shape[axis])
                break;
            here -= source->strides[axis] * source->shape[axis] * from->itemsize;
            index[axis] = 0;
        }
    }
}

static bool overlaps(const sv_tensor_view *source, const sv_array *destination)
{
    const char *low = source->data, *high = low + source->dtype->itemsize;
    if (source->layout != NULL)
        high = low + source->layout->span * source->dtype->itemsize;
    for (int axis = 0; axis < source->ndim && source->layout == NULL; axis++) {
        int64_t reach = (source->shape[axis] - 1) * source->strides[axis] * source->dtype->itemsize;
        if (reach < 0)
            low += reach;
        else
            high += reach;
    }
    const char *start = destination->data;
    return low < start + sv_array_nbytes(destination) && start < high;
}

int sv_array_assign(sv_array *destination, const sv_tensor_view *source)
{
    int64_t size = destination->size;
    if (source->dtype->kind == 'c' && destination->dtype->kind != 'c') {
        PyErr_Format(PyExc_TypeError, "complex numbers (%s) cannot become %s: copy their real parts, `a.to_numpy().real`",
                     source->dtype->name, destination->dtype->name);
        return -1;
    }
    if (size == 0)
        return 0;
    if (!sv_array_is_contiguous(destination)) {
        sv_array *between = sv_array_new(destination->dtype, destination->ndim, destination->shape, false);
        int result = between == NULL ? -1 : sv_array_assign(between, source);
        if (result == 0)
            sv_field_scatter(destination, between->data);
        Py_XDECREF(between);
        return result;
    }
    bool plain_move = source->contiguous && source->dtype == destination->dtype;
    if (!plain_move && overlaps(source, destination)) {
        sv_array *between = sv_array_from_view(source);
        if (between == NULL)
            return -1;
        convert_row(between->dtype, between->data, between->dtype->itemsize, size, destination->dtype,
                    destination->data);
        Py_DECREF(between);
        return 0;
    }
    PyThreadState *state = sv_array_nbytes(destination) >= RELEASE_GIL_FROM ? PyEval_SaveThread() : NULL;
    convert_all(source, size, destination->dtype, destination->data);
    if (state != NULL)
        PyEval_RestoreThread(state);
    return 0;
}

sv_array *sv_array_from_view(const sv_tensor_view *source)
{
    sv_array *array = sv_array_new(source->dtype, source->ndim, source->shape, false);
    if (array != NULL && sv_array_assign(array, source) < 0)
        Py_CLEAR(array);
    return array;
}
