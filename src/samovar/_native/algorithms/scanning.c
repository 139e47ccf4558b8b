/* Prefix sums (scans) of array elements on the thread pool. Integers wrap; floats are summed in f64.

   A single pass with decoupled look-back: elements are read from memory once and written once. Threads take chunks in order,
   sum a chunk (which brings it into cache), publish the sum, wait for the prefix of the chunk before it, and then scan. No
   thread waits for a chunk that is not taken, and float sums do not depend on the number of threads. */
#pragma GCC optimize("O3") /* for SIMD; the rest of the extension is optimized for size */
#include "algorithms/algorithms.h"

#include <sched.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* From this many bytes on, results are written with non-temporal stores: they would not stay in cache and need not be read
   first. */
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
    _Atomic int64_t next;   /* the first chunk that is not taken */
    _Atomic int64_t finished; /* the number of chunks whose prefix is known */
    sum *before;            /* by chunk */
} scanning;

static void wait_for(scanning *work, int64_t chunk)
{
    for (int tries = 0; atomic_load_explicit(&work->finished, memory_order_acquire) <= chunk; tries++)
        if (tries > PATIENCE)
            sched_yield(); /* the thread that has the previous chunk may have been preempted */
}

/* Code, element type, accumulator type, its name, and accumulators per vector. Sums of small integers only matter modulo
   their size. */
#define SCANNED(X)                                                                                                                      \
    X(SV_I8, int8_t, uint32_t, narrow, 16) X(SV_I16, int16_t, uint32_t, narrow, 16) X(SV_I32, int32_t, uint32_t, narrow, 16)            \
    X(SV_U1, uint8_t, uint32_t, narrow, 16) X(SV_U8, uint8_t, uint32_t, narrow, 16) X(SV_U16, uint16_t, uint32_t, narrow, 16)           \
    X(SV_U32, uint32_t, uint32_t, narrow, 16) X(SV_I64, int64_t, uint64_t, number, 8) X(SV_U64, uint64_t, uint64_t, number, 8)          \
    X(SV_F32, float, double, floating, 8) X(SV_F64, double, double, floating, 8)

/* Shift a vector up by some lanes, filling with zeros. */
#define FROM(place, by, count) ((place) < (by) ? 0 : (count) + (place) - (by))
#define EIGHT(first, by, count)                                                                                                         \
    FROM(first, by, count), FROM(first + 1, by, count), FROM(first + 2, by, count), FROM(first + 3, by, count),                         \
        FROM(first + 4, by, count), FROM(first + 5, by, count), FROM(first + 6, by, count), FROM(first + 7, by, count)
#define MOVED_8(by) __builtin_shufflevector(none, sums, EIGHT(0, by, 8))
#define MOVED_16(by) __builtin_shufflevector(none, sums, EIGHT(0, by, 16), EIGHT(8, by, 16))

/* Write a block of results that is aligned to 16 bytes, with non-temporal stores. */
static inline __attribute__((always_inline)) void stream(void *to, const void *from, size_t bytes)
{
#ifdef __SSE2__
    for (size_t at = 0; at < bytes; at += sizeof(__m128i))
        _mm_stream_si128((__m128i *)((char *)to + at), _mm_loadu_si128((const __m128i *)((const char *)from + at)));
#else
    memcpy(to, from, bytes);
#endif
}

/* Fence: non-temporal stores become visible before any later store. */
static inline void streamed(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* Prefix sums within a vector in three or four steps (adding lanes 1, 2, 4, 8 below), then add what precedes the vector. */
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
            atomic_store_explicit(&work->finished, chunk + 2, memory_order_release);                                                     \
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
        PyErr_SetString(PyExc_ValueError, "source and destination differ in size or dtype");
        goto done;
    }
    if (sv_refuse_halves(from.dtype) < 0)
        goto done;
    int64_t chunks = sv_chunk_count(size);
    scanning work = {.source = from.data, .destination = to.data, .size = size, .exclusive = exclusive, .finished = 1,
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
     PyDoc_STR("scan_elements(source, destination, exclusive, /)\n--\n\nWrite the inclusive or exclusive prefix sums of all elements.")},
    {NULL, NULL, 0, NULL},
};

int sv_scanning_init(PyObject *module)
{
    return PyModule_AddFunctions(module, scanning_functions);
}
