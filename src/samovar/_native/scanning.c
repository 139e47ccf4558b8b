/* Prefix sums of the elements of an array, over the pool. Integers wrap; floats are added in f64.

   Elements are read once from memory and written once. Chunks are taken in their order: whoever has taken one adds it up, which brings it
   into the caches, waits for what is before it, which whoever has the chunk before says as soon as it has added that one up, and then
   scans it. So nobody waits for a chunk that nobody has, and sums of floats do not depend on the number of threads. */
#pragma GCC optimize("O3") /* for vectors; the rest of the extension is small rather than fast */
#include "algorithms.h"

#include <sched.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* From this many bytes on, results go past the caches: they would not stay there, and need not be read before they are written. */
static const int64_t PAST_CACHES = (int64_t)24 << 20;
enum { PATIENCE = 200 };

typedef union {
    uint32_t narrow;
    uint64_t number;
    double floating;
} sum;

typedef struct {
    const void *source;
    void *destination;
    int64_t size;
    bool exclusive;
    bool past_caches;
    _Atomic int64_t next;   /* the first chunk that nobody has taken */
    _Atomic int64_t settled; /* so many chunks know what is before them */
    sum *before;            /* by chunk */
} scanning;

static void wait_for(scanning *work, int64_t chunk)
{
    for (int tries = 0; atomic_load_explicit(&work->settled, memory_order_acquire) <= chunk; tries++)
        if (tries > PATIENCE)
            sched_yield(); /* who has the chunk before may have lost its processor */
}

/* Code, type of an element, type of a sum, its name, and how many sums are a vector. Sums of small integers only count modulo their
   size. */
#define SCANNED(X)                                                                                                                      \
    X(SV_I8, int8_t, uint32_t, narrow, 16) X(SV_I16, int16_t, uint32_t, narrow, 16) X(SV_I32, int32_t, uint32_t, narrow, 16)            \
    X(SV_U1, uint8_t, uint32_t, narrow, 16) X(SV_U8, uint8_t, uint32_t, narrow, 16) X(SV_U16, uint16_t, uint32_t, narrow, 16)           \
    X(SV_U32, uint32_t, uint32_t, narrow, 16) X(SV_I64, int64_t, uint64_t, number, 8) X(SV_U64, uint64_t, uint64_t, number, 8)          \
    X(SV_F32, float, double, floating, 8) X(SV_F64, double, double, floating, 8)

/* A vector moved up by some places, with zeros from below. */
#define FROM(place, by, count) ((place) < (by) ? 0 : (count) + (place) - (by))
#define EIGHT(first, by, count)                                                                                                         \
    FROM(first, by, count), FROM(first + 1, by, count), FROM(first + 2, by, count), FROM(first + 3, by, count),                         \
        FROM(first + 4, by, count), FROM(first + 5, by, count), FROM(first + 6, by, count), FROM(first + 7, by, count)
#define MOVED_8(by) __builtin_shufflevector(none, sums, EIGHT(0, by, 8))
#define MOVED_16(by) __builtin_shufflevector(none, sums, EIGHT(0, by, 16), EIGHT(8, by, 16))

/* Write a block of results that begins at a multiple of 16 bytes, past the caches. */
static inline __attribute__((always_inline)) void stream(void *to, const void *from, size_t bytes)
{
#ifdef __SSE2__
    for (size_t at = 0; at < bytes; at += sizeof(__m128i))
        _mm_stream_si128((__m128i *)((char *)to + at), _mm_loadu_si128((const __m128i *)((const char *)from + at)));
#else
    memcpy(to, from, bytes);
#endif
}

/* What was written past the caches is there for everybody before anything that is written from here on. */
static inline void streamed(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* Sums within a vector in three or four steps, each of which adds what is 1, 2, 4, 8 places before; then what is before the vector. */
#define SCAN_CHUNKS(code, element, total, part, count)                                                                                         \
    SV_WITH_VECTORS static total sum_##code(const element *source, int64_t at, int64_t end)                                             \
    {                                                                                                                                   \
        total lanes[count] = {0}, result = 0;                                                                                           \
        for (; at + count <= end; at += count)                                                                                          \
            for (int lane = 0; lane < count; lane++)                                                                                    \
                lanes[lane] += (total)source[at + lane];                                                                                \
        for (; at < end; at++)                                                                                                          \
            result += (total)source[at];                                                                                                \
        for (int lane = 0; lane < count; lane++)                                                                                        \
            result += lanes[lane];                                                                                                      \
        return result;                                                                                                                  \
    }                                                                                                                                   \
    SV_WITH_VECTORS static void scan_##code(const scanning *work, int64_t at, int64_t end, total running)                               \
    {                                                                                                                                   \
        typedef total block __attribute__((vector_size(count * sizeof(total))));                                                        \
        typedef element results __attribute__((vector_size(count * sizeof(element)), aligned(1)));                                      \
        const element *source = work->source;                                                                                           \
        element *destination = work->destination;                                                                                       \
        for (; at + count <= end; at += count) {                                                                                        \
            block sums, none = {0};                                                                                                     \
            results here;                                                                                                               \
            memcpy(&here, source + at, sizeof here);                                                                                    \
            sums = __builtin_convertvector(here, block);                                                                                \
            sums += MOVED_##count(1);                                                                                                   \
            sums += MOVED_##count(2);                                                                                                   \
            sums += MOVED_##count(4);                                                                                                   \
            if (count > 8)                                                                                                              \
                sums += MOVED_##count(8);                                                                                               \
            total all = sums[count - 1];                                                                                                \
            if (work->exclusive)                                                                                                        \
                sums = MOVED_##count(1);                                                                                                \
            here = __builtin_convertvector(sums + running, results);                                                                    \
            running += all;                                                                                                             \
            if (work->past_caches)                                                                                                      \
                stream(destination + at, &here, sizeof here);                                                                           \
            else                                                                                                                        \
                memcpy(destination + at, &here, sizeof here);                                                                           \
        }                                                                                                                               \
        for (; at < end; at++) {                                                                                                        \
            total before = running;                                                                                                     \
            running += (total)source[at];                                                                                               \
            destination[at] = (element)(work->exclusive ? before : running);                                                            \
        }                                                                                                                               \
        if (work->past_caches)                                                                                                          \
            streamed();                                                                                                                 \
    }                                                                                                                                   \
    static void scan_next_##code(void *frame, int64_t begin, int64_t end)                                                               \
    {                                                                                                                                   \
        scanning *work = frame;                                                                                                         \
        for (; begin < end; begin++) {                                                                                                  \
            int64_t chunk = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);                                            \
            int64_t at = chunk * SV_CHUNK, last = sv_end_of_chunk(chunk, work->size);                                                   \
            total own = sum_##code(work->source, at, last);                                                                             \
            wait_for(work, chunk);                                                                                                      \
            total before = work->before[chunk].part;                                                                                    \
            work->before[chunk + 1].part = before + own;                                                                                \
            atomic_store_explicit(&work->settled, chunk + 2, memory_order_release);                                                     \
            scan_##code(work, at, last, before);                                                                                        \
        }                                                                                                                               \
    }
SCANNED(SCAN_CHUNKS)

#define SCAN_ROW(code, element, total, part, count) [code] = scan_next_##code,
static const sv_task_function scan_functions[SV_DTYPE_COUNT] = {SCANNED(SCAN_ROW)};

static PyObject *scan_elements(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *source, *destination, *result = NULL;
    int exclusive;
    if (!PyArg_ParseTuple(args, "OOp:scan_elements", &source, &destination, &exclusive))
        return NULL;
    sv_tensor_view from, to;
    int64_t size, room;
    if (sv_elements_of(source, false, &from, &size) < 0)
        return NULL;
    if (sv_elements_of(destination, true, &to, &room) < 0) {
        sv_tensor_view_release(&from);
        return NULL;
    }
    if (size != room || from.dtype != to.dtype) {
        PyErr_SetString(PyExc_ValueError, "source and destination have another size or dtype");
        goto done;
    }
    if (sv_refuse_halves(from.dtype) < 0)
        goto done;
    int64_t chunks = sv_chunk_count(size);
    scanning work = {.source = from.data, .destination = to.data, .size = size, .exclusive = exclusive, .settled = 1,
                     .past_caches = size * to.dtype->itemsize >= PAST_CACHES && from.data != to.data && (uintptr_t)to.data % 16 == 0};
    work.before = PyMem_RawCalloc((size_t)chunks + 1, sizeof *work.before);
    if (work.before == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    sv_run_chunks(scan_functions[from.dtype->code], &work, 0, chunks);
    Py_END_ALLOW_THREADS
    PyMem_RawFree(work.before);
    result = Py_NewRef(Py_None);
done:
    sv_tensor_view_release(&from);
    sv_tensor_view_release(&to);
    return result;
}

static PyMethodDef scanning_functions[] = {
    {"scan_elements", scan_elements, METH_VARARGS,
     PyDoc_STR("scan_elements(source, destination, exclusive, /)\n--\n\nThe sums of all elements up to each, or before each.")},
    {NULL, NULL, 0, NULL},
};

int sv_scanning_init(PyObject *module)
{
    return PyModule_AddFunctions(module, scanning_functions);
}
