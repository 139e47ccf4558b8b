/* Reductions, argmin/argmax and compaction of array elements on the thread pool. Integers wrap; floats are summed in f64.
   NaN counts as both the minimum and the maximum, as in NumPy. */
#pragma GCC optimize("O3") /* for SIMD; the rest of the extension is optimized for size */
#include "algorithms/algorithms.h"

#include <string.h>

int sv_elements_of(PyObject *object, bool written, sv_tensor_view *view, int64_t *size)
{
    if (written)
        sv_version_increment(object); /* Python may run here. */
    int found = sv_tensor_view_get(object, view);
    if (found <= 0) {
        if (found == 0)
            PyErr_Format(PyExc_TypeError, "expected an array, not %.100s", Py_TYPE(object)->tp_name);
        return -1;
    }
    if (!view->contiguous || (written && view->readonly)) {
        PyErr_SetString(PyExc_ValueError, view->contiguous ? "this array is read-only" : "the elements of this array are not in C order");
        sv_tensor_view_release(view);
        return -1;
    }
    *size = 1;
    for (int axis = 0; axis < view->ndim; axis++)
        *size *= view->shape[axis];
    return 0;
}

/* Every dtype except f16, which Python converts to f32: code, element type, accumulator type. */
#define ELEMENTS(X)                                                                                                            \
    X(SV_I8, int8_t, uint64_t) X(SV_I16, int16_t, uint64_t) X(SV_I32, int32_t, uint64_t) X(SV_I64, int64_t, uint64_t)           \
    X(SV_U1, uint8_t, uint64_t) X(SV_U8, uint8_t, uint64_t) X(SV_U16, uint16_t, uint64_t) X(SV_U32, uint32_t, uint64_t)         \
    X(SV_U64, uint64_t, uint64_t) X(SV_F32, float, double) X(SV_F64, double, double)

typedef union {
    uint64_t number;
    double floating;
} sum;

#define PART_uint64_t number
#define PART_double floating
#define PART(type) PART_##type

/* --- sums */

typedef struct {
    const void *source;
    int64_t size;
    sum *sums; /* of the chunks */
    bool product;
} summing;

/* Several accumulators, because each addition depends on the one before. */
enum { LANES = 16 };
/* The elements of four or eight SIMD vectors. */
#define MANY(element) (256 / (int)sizeof(element))

#define SUM_CHUNKS(code, element, total)                                                                                       \
    SV_WITH_VECTORS static void sum_##code(void *frame, int64_t begin, int64_t end)                                                            \
    {                                                                                                                          \
        const summing *work = frame;                                                                                          \
        const element *source = work->source;                                                                                  \
        for (int64_t chunk = begin; chunk < end; chunk++) {                                                                    \
            int64_t at = chunk * SV_CHUNK, last = sv_end_of_chunk(chunk, work->size);                                             \
            total lanes[LANES] = {0}, result = 0;                                                                              \
            for (; at + LANES <= last; at += LANES)                                                                            \
                for (int lane = 0; lane < LANES; lane++)                                                                       \
                    lanes[lane] += (total)source[at + lane];                                                                   \
            for (; at < last; at++)                                                                                            \
                result += (total)source[at];                                                                                   \
            for (int lane = 0; lane < LANES; lane++)                                                                           \
                result += lanes[lane];                                                                                         \
            work->sums[chunk].PART(total) = result;                                                                            \
        }                                                                                                                      \
    }                                                                                                                          \
    static void multiply_##code(void *frame, int64_t begin, int64_t end)                                                       \
    {                                                                                                                          \
        const summing *work = frame;                                                                                          \
        const element *source = work->source;                                                                                  \
        for (int64_t chunk = begin; chunk < end; chunk++) {                                                                    \
            total result = 1;                                                                                                  \
            for (int64_t at = chunk * SV_CHUNK, last = sv_end_of_chunk(chunk, work->size); at < last; at++)                       \
                result *= (total)source[at];                                                                                   \
            work->sums[chunk].PART(total) = result;                                                                            \
        }                                                                                                                      \
    }
ELEMENTS(SUM_CHUNKS)

#define SUM_ROW(code, element, total) [code] = sum_##code,
#define MULTIPLY_ROW(code, element, total) [code] = multiply_##code,
static const sv_task_function sum_functions[SV_DTYPE_COUNT] = {ELEMENTS(SUM_ROW)};
static const sv_task_function multiply_functions[SV_DTYPE_COUNT] = {ELEMENTS(MULTIPLY_ROW)};

int sv_refuse_halves(const sv_dtype *dtype)
{
    if (!sv_dtype_is_short_float(dtype))
        return 0;
    PyErr_Format(PyExc_TypeError, "%s must be converted to f32 first", dtype->name);
    return -1;
}

static int allocate_sums(summing *work)
{
    work->sums = PyMem_RawCalloc((size_t)sv_chunk_count(work->size) + 1, sizeof *work->sums);
    if (work->sums == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static int sum_of_chunks(summing *work, const sv_dtype *dtype)
{
    if (allocate_sums(work) < 0)
        return -1;
    Py_BEGIN_ALLOW_THREADS
    sv_run_chunks((work->product ? multiply_functions : sum_functions)[dtype->code], work, 0, sv_chunk_count(work->size));
    Py_END_ALLOW_THREADS
    return 0;
}

static PyObject *sum_elements(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *source;
    int product;
    if (!PyArg_ParseTuple(args, "Op:sum_elements", &source, &product))
        return NULL;
    sv_tensor_view view;
    int64_t size;
    if (sv_elements_of(source, false, &view, &size) < 0)
        return NULL;
    summing work = {view.data, size, NULL, product};
    PyObject *result = NULL;
    if (sv_refuse_halves(view.dtype) == 0 && sum_of_chunks(&work, view.dtype) == 0) {
        double floating = product ? 1.0 : 0.0;
        uint64_t number = product ? 1 : 0;
        for (int64_t chunk = 0; chunk < sv_chunk_count(size); chunk++) {
            floating = product ? floating * work.sums[chunk].floating : floating + work.sums[chunk].floating;
            number = product ? number * work.sums[chunk].number : number + work.sums[chunk].number;
        }
        PyMem_RawFree(work.sums);
        result = view.dtype->kind == 'f'   ? PyFloat_FromDouble(floating)
                 : view.dtype->kind == 'i' ? PyLong_FromLongLong((int64_t)number)
                                           : PyLong_FromUnsignedLongLong(number);
    }
    sv_tensor_view_release(&view);
    return result;
}

/* --- minimum and maximum */

typedef struct {
    const void *source;
    int64_t size;
    char *best; /* per chunk: its minimum or maximum, as an element; NaN beats everything */
    bool greatest;
} searching;

#define KEEP_BEST(element, is_better)                                                                                          \
    for (; at + MANY(element) <= end; at += MANY(element))                                                                                     \
        for (int lane = 0; lane < MANY(element); lane++) {                                                                             \
            element here = source[at + lane];                                                                                  \
            lanes[lane] = here is_better lanes[lane] ? here : lanes[lane];                                                     \
            differences[lane] += here - here;                                                                                  \
        }                                                                                                                      \
    for (; at < end; at++)                                                                                                     \
        lanes[0] = source[at] is_better lanes[0] ? source[at] : lanes[0];                                                      \
    for (int lane = 1; lane < MANY(element); lane++)                                                                                   \
        lanes[0] = lanes[lane] is_better lanes[0] ? lanes[lane] : lanes[0];

/* Find the minimum or maximum of each chunk with SIMD. A chunk that contains NaN or infinity (x - x is not 0) is scanned
   again. The position of the result is searched in its own chunk only. */
#define EXTREME_CHUNKS(code, element, total)                                                                                   \
    SV_WITH_VECTORS static element extreme_of_##code(const element *source, int64_t begin, int64_t end, bool greatest)            \
    {                                                                                                                          \
        element lanes[MANY(element)], differences[MANY(element)] = {0}, difference = 0;                                                        \
        int64_t at = begin;                                                                                                    \
        for (int lane = 0; lane < MANY(element); lane++)                                                                               \
            lanes[lane] = source[begin];                                                                                       \
        if (greatest) {                                                                                                        \
            KEEP_BEST(element, >)                                                                                              \
        } else {                                                                                                               \
            KEEP_BEST(element, <)                                                                                              \
        }                                                                                                                      \
        for (int lane = 0; lane < MANY(element); lane++)                                                                               \
            difference += differences[lane];                                                                                   \
        bool looked_at = difference == difference;                                                                             \
        for (at = looked_at ? end - (end - begin) % MANY(element) : begin; at < end; at++)                                             \
            if (source[at] != source[at])                                                                                      \
                return source[at];                                                                                             \
        return lanes[0];                                                                                                       \
    }                                                                                                                          \
    static void extremes_##code(void *frame, int64_t begin, int64_t end)                                                       \
    {                                                                                                                          \
        const searching *work = frame;                                                                                         \
        for (int64_t chunk = begin; chunk < end; chunk++)                                                                      \
            ((element *)work->best)[chunk] =                                                                                   \
                extreme_of_##code(work->source, chunk * SV_CHUNK, sv_end_of_chunk(chunk, work->size), work->greatest);            \
    }                                                                                                                          \
    static int64_t best_##code(const searching *work, int64_t chunks)                                                          \
    {                                                                                                                          \
        const element *source = work->source, *best = (const element *)work->best;                                             \
        int64_t found = 0;                                                                                                     \
        for (int64_t chunk = 1; chunk < chunks && best[found] == best[found]; chunk++)                                         \
            if (best[chunk] != best[chunk] || (work->greatest ? best[chunk] > best[found] : best[chunk] < best[found]))        \
                found = chunk;                                                                                                 \
        int64_t at = found * SV_CHUNK;                                                                                         \
        while (best[found] == best[found] ? source[at] != best[found] : source[at] == source[at])                              \
            at++;                                                                                                              \
        return at;                                                                                                             \
    }
ELEMENTS(EXTREME_CHUNKS)

#define EXTREMES_ROW(code, element, total) [code] = extremes_##code,
#define BEST_ROW(code, element, total) [code] = best_##code,
static const sv_task_function extreme_functions[SV_DTYPE_COUNT] = {ELEMENTS(EXTREMES_ROW)};
static int64_t (*const best_functions[SV_DTYPE_COUNT])(const searching *, int64_t) = {ELEMENTS(BEST_ROW)};

static PyObject *extreme_element(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *source;
    int greatest;
    if (!PyArg_ParseTuple(args, "Op:extreme_element", &source, &greatest))
        return NULL;
    sv_tensor_view view;
    int64_t size, place = -1;
    if (sv_elements_of(source, false, &view, &size) < 0)
        return NULL;
    if (size == 0) {
        PyErr_SetString(PyExc_ValueError, "an empty array has no minimum or maximum");
    } else if (sv_refuse_halves(view.dtype) == 0) {
        int64_t chunks = sv_chunk_count(size);
        searching work = {view.data, size, PyMem_RawMalloc((size_t)view.dtype->itemsize * (size_t)chunks), greatest};
        if (work.best == NULL) {
            PyErr_NoMemory();
        } else {
            Py_BEGIN_ALLOW_THREADS
            sv_run_chunks(extreme_functions[view.dtype->code], &work, 0, chunks);
            place = best_functions[view.dtype->code](&work, chunks);
            Py_END_ALLOW_THREADS
            PyMem_RawFree(work.best);
        }
    }
    PyObject *value = place < 0 ? NULL : sv_dtype_load(view.dtype, (char *)view.data + place * view.dtype->itemsize);
    sv_tensor_view_release(&view);
    return value == NULL ? NULL : Py_BuildValue("LN", (long long)place, value);
}

/* --- compaction */

typedef struct {
    const char *source;
    const uint8_t *mask; /* or NULL: select what differs from the element before it */
    char *destination;
    int64_t size;
    int64_t *counts; /* per chunk; later the prefix sum of them */
    int itemsize;
    sv_dtype_code code;
} selecting;

static bool differs(const selecting *work, int64_t at)
{
    const char *here = work->source + at * work->itemsize, *before = here - work->itemsize;
    switch (work->code) {
#define DIFFERS(code_, type_)                                                                                                  \
    case code_: {                                                                                                              \
        type_ a, b;                                                                                                            \
        memcpy(&a, before, sizeof a);                                                                                          \
        memcpy(&b, here, sizeof b);                                                                                            \
        return a != b && (a == a || b == b);                                                                                   \
    }
    DIFFERS(SV_F32, float)
    DIFFERS(SV_F64, double)
#undef DIFFERS
    case SV_F16: case SV_BF16: {
        uint16_t a, b;
        memcpy(&a, before, sizeof a);
        memcpy(&b, here, sizeof b);
        double (*read)(uint16_t) = work->code == SV_BF16 ? sv_bfloat_to_double : sv_half_to_double;
        double one = read(a), other = read(b);
        return one != other && (one == one || other == other);
    }
    default: return memcmp(here, before, (size_t)work->itemsize) != 0;
    }
}

static bool is_selected(const selecting *work, int64_t at)
{
    return work->mask != NULL ? work->mask[at] != 0 : at == 0 || differs(work, at);
}

static void count_selected(void *frame, int64_t begin, int64_t end)
{
    const selecting *work = frame;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t count = 0, last = sv_end_of_chunk(chunk, work->size);
        for (int64_t at = chunk * SV_CHUNK; at < last; at++)
            count += is_selected(work, at);
        work->counts[chunk] = count;
    }
}

static void copy_selected(void *frame, int64_t begin, int64_t end)
{
    const selecting *work = frame;
    size_t itemsize = (size_t)work->itemsize;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        char *to = work->destination + work->counts[chunk] * work->itemsize;
        int64_t last = sv_end_of_chunk(chunk, work->size);
        for (int64_t at = chunk * SV_CHUNK; at < last; at++)
            if (is_selected(work, at)) {
                memcpy(to, work->source + at * work->itemsize, itemsize);
                to += itemsize;
            }
    }
}

static PyObject *select_elements(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *source, *mask;
    if (!PyArg_ParseTuple(args, "OO:select_elements", &source, &mask))
        return NULL;
    sv_tensor_view view, marks;
    int64_t size, marked;
    if (sv_elements_of(source, false, &view, &size) < 0)
        return NULL;
    bool has_mask = mask != Py_None;
    if (has_mask && sv_elements_of(mask, false, &marks, &marked) < 0) {
        sv_tensor_view_release(&view);
        return NULL;
    }
    sv_array *selected = NULL;
    int64_t chunks = sv_chunk_count(size), total = 0;
    selecting work = {view.data, has_mask ? marks.data : NULL, NULL, size, NULL, view.dtype->itemsize, view.dtype->code};
    if (has_mask && (marked != size || marks.dtype->itemsize != 1)) {
        PyErr_SetString(PyExc_ValueError, "a mask needs one byte per element");
        goto done;
    }
    work.counts = PyMem_RawMalloc(sizeof *work.counts * (size_t)(chunks + 1));
    if (work.counts == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    sv_run_chunks(count_selected, &work, 0, chunks);
    Py_END_ALLOW_THREADS
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        int64_t own = work.counts[chunk];
        work.counts[chunk] = total;
        total += own;
    }
    selected = sv_array_new(view.dtype, 1, &total, false);
    if (selected != NULL) {
        work.destination = selected->data;
        Py_BEGIN_ALLOW_THREADS
        sv_run_chunks(copy_selected, &work, 0, chunks);
        Py_END_ALLOW_THREADS
    }
done:
    PyMem_RawFree(work.counts);
    if (has_mask)
        sv_tensor_view_release(&marks);
    sv_tensor_view_release(&view);
    return (PyObject *)selected;
}

static PyMethodDef algorithm_functions[] = {
    {"sum_elements", sum_elements, METH_VARARGS,
     PyDoc_STR("sum_elements(source, product, /)\n--\n\nReturn the sum or the product of all elements.")},
    {"extreme_element", extreme_element, METH_VARARGS,
     PyDoc_STR("extreme_element(source, greatest, /)\n--\n\nReturn the index and the value of the first minimum or maximum.")},
    {"select_elements", select_elements, METH_VARARGS,
     PyDoc_STR("select_elements(source, mask, /)\n--\n\n"
               "Return the elements that a byte mask selects; with None, those that differ from their predecessor.")},
    {NULL, NULL, 0, NULL},
};

int sv_algorithms_init(PyObject *module)
{
    if (PyModule_AddFunctions(module, algorithm_functions) < 0 || sv_scanning_init(module) < 0)
        return -1;
    return sv_sorting_init(module);
}
