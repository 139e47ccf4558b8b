/* Declarations shared by the array algorithms: elements in C order, on the thread pool. */
#ifndef SAMOVAR_ALGORITHMS_H
#define SAMOVAR_ALGORITHMS_H

#include "array/array.h"
#include "threads/pool.h"

/* Elements per chunk. Independent of the number of threads, so that float sums are too. */
enum { SV_CHUNK = 1 << 15 };

static inline int64_t sv_chunk_count(int64_t size)
{
    return (size + SV_CHUNK - 1) / SV_CHUNK;
}

static inline int64_t sv_end_of_chunk(int64_t chunk, int64_t size)
{
    int64_t end = (chunk + 1) * SV_CHUNK;
    return end < size ? end : size;
}

/* Compile for the SIMD instructions of this processor. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SV_WITH_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SV_WITH_VECTORS
#endif

/* Run a function over all chunks, passed by number, on the thread pool. Without the GIL. */
static inline void sv_run_chunks(sv_task_function function, void *frame, int64_t first, int64_t last)
{
    static const _Atomic int32_t never = 0;
    int threads = sv_pool_threads();
    sv_work work = {
        .function = function, .frame = frame, .begin = first, .end = last, .chunk = 1, .most = last - first, .helpers = threads - 1,
        .stop = &never};
    sv_shared shared;
    if (last - first < 2 || threads < 2 || !sv_pool_run(&work, &shared))
        function(frame, first, last);
}

/* Describe an array in C order, for writing or only for reading. -1 with an exception for any other object. */
int sv_elements_of(PyObject *object, bool written, sv_tensor_view *view, int64_t *size);

/* -1 with an exception for f16, which Python converts to f32. */
int sv_refuse_halves(const sv_dtype *dtype);

/* scanning.c */
int sv_scanning_init(PyObject *module);

/* sorting.c */
int sv_sorting_init(PyObject *module);

#endif
