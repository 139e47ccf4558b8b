/* Algorithms over the elements of arrays in C order, on the threads of the pool: what their files share. */
#ifndef SAMOVAR_ALGORITHMS_H
#define SAMOVAR_ALGORITHMS_H

#include "array.h"
#include "pool.h"

/* The elements of a chunk. It does not depend on the number of threads, so that sums of floats do not either. */
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

/* For the vectors of the processor at hand. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SV_WITH_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SV_WITH_VECTORS
#endif

/* Run a function over chunks, which it is given by number, on as many threads as there are. Without the GIL. */
static inline void sv_run_chunks(sv_task_function function, void *frame, int64_t first, int64_t last)
{
    static const _Atomic int32_t never = 0;
    int threads = sv_pool_threads();
    sv_work work = {
        .function = function, .frame = frame, .begin = first, .end = last, .portion = 1, .most = last - first, .helpers = threads - 1,
        .stop = &never};
    sv_shared shared;
    if (last - first < 2 || threads < 2 || !sv_pool_run(&work, &shared))
        function(frame, first, last);
}

/* Describes an array whose elements are in C order, to be written or only read. -1 with an exception for every other object. */
int sv_elements_of(PyObject *object, bool written, sv_tensor_view *view, int64_t *size);

/* -1 with an exception for f16, which Python hands over as f32. */
int sv_refuse_halves(const sv_dtype *dtype);

/* scanning.c */
int sv_scanning_init(PyObject *module);

/* sorting.c */
int sv_sorting_init(PyObject *module);

#endif
