/* The thread pool: plain C without Python, so that it can be tested alone under a thread sanitizer. */
#ifndef SAMOVAR_POOL_H
#define SAMOVAR_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A task over a range of units, as generated code defines it. */
typedef void (*sv_task_function)(void *frame, int64_t begin, int64_t end);

/* Why the caller of a run is called back: others may need it, or it is about to fork, or has. */
typedef enum { SV_ATTEND, SV_BEFORE_FORK, SV_AFTER_FORK } sv_occasion;

typedef struct {
    sv_task_function function;
    void *frame;
    int64_t begin;
    int64_t end;
    int64_t chunk;             /* the minimum chunk size, in units */
    int64_t most;                /* the maximum chunk size, in units */
    int helpers;                 /* the useful number of threads beside the caller */
    const _Atomic int32_t *stop; /* once it is not 0, no more work is distributed */
    void (*attend)(void *owner, sv_occasion occasion); /* on the caller, between chunks and while it waits; or NULL */
    void *owner;
    int64_t least;               /* this many units (SIMD lanes) take no longer than one */
} sv_work;

enum { SV_MAX_THREADS = 256 };

/* For tests: chunks of any size. */
extern _Atomic bool sv_ragged_chunks;

/* Round a chunk size up to whole cache lines of elements, so that the next chunk starts at a line boundary, as the range
   does. Vectors as long as a cache line take twice as long across two of them. */
static inline int64_t sv_whole_lines(int64_t units)
{
    if (atomic_load_explicit(&sv_ragged_chunks, memory_order_relaxed))
        return units;
    int64_t of = units < 8 ? 1 : units < 256 ? 16 : 64;
    return (units + of - 1) / of * of;
}

/* The chunk size from here on, given the time of the last chunk: the estimate for a task may be far off. */
static inline int64_t sv_shorter_chunk(int64_t units, int64_t nanoseconds)
{
    static const int64_t LONG = 8000000;
    return nanoseconds < LONG || units < 2 ? units : units / (nanoseconds / (LONG / 4)) + 1;
}

/* The same for the steps of one thread, which grow again: a step is also long if the thread was preempted meanwhile, and after
   a few of these all steps would be single units. */
static inline int64_t sv_next_step(int64_t units, int64_t nanoseconds)
{
    static const int64_t SHORT = 500000;
    return nanoseconds < SHORT ? units * 2 : sv_shorter_chunk(units, nanoseconds);
}

typedef struct {
    int64_t busy;   /* nanoseconds of work, summed over all threads */
    int64_t waited; /* nanoseconds that the caller was idle */
    bool woken;     /* a sleeping thread was woken for this */
} sv_shared;

/* Run the work on the caller and on idle threads of the pool. False, and nothing was run, if no thread can help: the pool is
   busy or closed, or the caller is itself inside a task. If the caller forks meanwhile, the others finish their chunks
   first: parent and child both continue with the rest. */
bool sv_pool_run(const sv_work *work, sv_shared *shared);

/* A thread inside a run may begin another one: between these two calls, it counts as outside. Not nested. */
typedef struct {
    bool was_inside;
    void *slot;
} sv_outside;
void sv_pool_step_outside(sv_outside *outside);
void sv_pool_step_inside(const sv_outside *outside);

/* The threads that a launch may use, including the caller. 0: automatic, from the affinity mask, bounded by the cgroup's
   quota. */
void sv_pool_set_threads(int threads);
int sv_pool_threads(void);

/* The number of this thread in its run: 0 for the one that launches, and from 1 on for the workers that joined. */
extern _Thread_local int sv_pool_thread;

/* Whether a worker is spinning: sharing then pays for less work, because nobody has to be woken. */
bool sv_pool_awake(void);

/* Stop the workers, with a timeout; from then on work runs on its caller. */
void sv_pool_close(void);

typedef struct {
    int64_t workers; /* threads started */
    int64_t shared;  /* runs shared with workers */
    int64_t refused; /* runs left to the caller because no worker was free */
    int64_t chunks;
    int64_t steals;  /* chunks stolen from another thread's part */
    int64_t sleeps;  /* times a worker stopped spinning */
} sv_pool_counts;

sv_pool_counts sv_pool_statistics(void);

/* The number of processors that this process may use. */
int sv_processors(void);

/* Nanoseconds of a monotonic clock. */
int64_t sv_now(void);

#endif
