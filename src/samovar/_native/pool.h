/* The thread pool: plain C without Python, so that it can be tested alone under a thread sanitizer. */
#ifndef SAMOVAR_POOL_H
#define SAMOVAR_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A task over a range of units, as generated code defines it. */
typedef void (*sv_task_function)(void *frame, int64_t begin, int64_t end);

/* Why the caller of a run is called back: others may need something of it, or it is about to fork, or has. */
typedef enum { SV_ATTEND, SV_BEFORE_FORK, SV_AFTER_FORK } sv_occasion;

typedef struct {
    sv_task_function function;
    void *frame;
    int64_t begin;
    int64_t end;
    int64_t portion;             /* the fewest units worth dealing out */
    int64_t most;                /* the most units to deal out at once */
    int64_t least;               /* so many take no longer than one */
    int helpers;                 /* how many threads beside the caller are worth having */
    const _Atomic int32_t *stop; /* once it is not 0, nothing more is dealt out */
    void (*attend)(void *owner, sv_occasion occasion); /* on the caller, between portions and while it waits; or NULL */
    void *owner;
} sv_work;

enum { SV_MAX_THREADS = 256 };

/* For tests: portions of any number of units. */
extern _Atomic bool sv_ragged_portions;

/* A number of units to run at a time, a few more if that makes whole cache lines of elements: who comes after begins at the edge
   of one, as the range does. Vectors as long as a cache line take twice as long across two of them. */
static inline int64_t sv_whole_lines(int64_t units)
{
    if (atomic_load_explicit(&sv_ragged_portions, memory_order_relaxed))
        return units;
    int64_t of = units < 8 ? 1 : units < 256 ? 16 : 64;
    return (units + of - 1) / of * of;
}

/* How many units to run at a time from here on, if so many took so long: what is expected of a task may be wrong by far. */
static inline int64_t sv_shorter_portion(int64_t units, int64_t nanoseconds)
{
    static const int64_t LONG = 8000000;
    return nanoseconds < LONG || units < 2 ? units : units / (nanoseconds / (LONG / 4)) + 1;
}

typedef struct {
    int64_t busy;   /* nanoseconds of work, summed over all threads */
    int64_t waited; /* nanoseconds that the caller had nothing left to do */
    bool woken;     /* a thread was asleep, and woken for this */
} sv_shared;

/* Run the work on the caller and on idle threads of the pool. False, and nothing was run, if no thread can help: the pool is
   busy or closed, or the caller is itself inside a task. Should the caller fork meanwhile, the others finish what they have before
   that: parent and child both go on with the rest. */
bool sv_pool_run(const sv_work *work, sv_shared *shared);

/* A thread inside of a run may begin another one: between these two, it is not inside. Once, and not again within. */
typedef struct {
    bool was_inside;
    void *slot;
} sv_outside;
void sv_pool_step_outside(sv_outside *outside);
void sv_pool_step_inside(const sv_outside *outside);

/* The threads a launch may use, the caller included. 0 chooses: the affinity mask, bounded by the cgroup's quota. */
void sv_pool_set_threads(int threads);
int sv_pool_threads(void);

/* Whether a worker is awake and waiting: then sharing pays for less work, because nobody has to be woken. */
bool sv_pool_awake(void);

/* Stop the workers, waiting a while for them; work runs on its caller from then on. */
void sv_pool_close(void);

typedef struct {
    int64_t workers; /* threads started */
    int64_t shared;  /* runs shared with workers */
    int64_t refused; /* runs left to the caller because nobody was free */
    int64_t portions;
    int64_t steals;  /* portions taken from another thread's part */
    int64_t sleeps;  /* times a worker gave up waiting awake */
} sv_pool_counts;

sv_pool_counts sv_pool_statistics(void);

/* How many processors this process may use. */
int sv_processors(void);

/* Nanoseconds of a clock that only goes forward. */
int64_t sv_now(void);

#endif
