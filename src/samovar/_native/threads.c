/* Running tasks: the cost model decides between the calling thread and the pool, and whether other Python threads may run. */
#include "runtime.h"

#include <time.h>

static const double RELEASE_NANOSECONDS = 50e3; /* shorter work keeps the GIL: to release it costs more when others wait */
enum { FIRST_RUNS = 8, SAMPLE_EVERY = 16 };
static const float OUTLIER = 8.0f;

int64_t sv_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The first measurement replaces the compiler's guess; later ones are blended in. A single measurement far above what is
   known is more likely an interruption than news, so it counts as a limited step. */
static void learn(sv_task *task, uint32_t runs, double items, int64_t nanoseconds)
{
    float measured = (float)((double)nanoseconds / items);
    float known = atomic_load_explicit(&task->cost, memory_order_relaxed);
    if (runs > 0 && !(task->flags & SV_TASK_COST_UNKNOWN)) {
        if (measured > known * OUTLIER)
            measured = known * OUTLIER;
        measured = known + (measured - known) / 4;
    }
    atomic_store_explicit(&task->cost, measured, memory_order_relaxed);
}

int32_t sv_run(sv_context *context, int32_t index, sv_task_function function, void *frame, int64_t units, int64_t items_per_unit)
{
    if (units <= 0)
        return sv_failed(context);
    sv_task *task = &context->specialisation->tasks[index];
    double items = (double)units * (double)items_per_unit;
    double estimate = items * (double)atomic_load_explicit(&task->cost, memory_order_relaxed);
    uint32_t runs = atomic_load_explicit(&task->runs, memory_order_relaxed);
    atomic_store_explicit(&task->runs, runs + 1, memory_order_relaxed);
    bool unknown = task->flags & SV_TASK_COST_UNKNOWN;
    if (estimate > RELEASE_NANOSECONDS || task->flags & SV_TASK_SPEAKS || (unknown && runs == 0))
        sv_context_release_gil(context);
    if (!unknown && runs >= FIRST_RUNS && runs % SAMPLE_EVERY != 0) {
        function(frame, 0, units);
        return sv_failed(context);
    }
    int64_t start = sv_now();
    function(frame, 0, units);
    learn(task, runs, items, sv_now() - start);
    return sv_failed(context);
}

int64_t sv_threads(sv_context *Py_UNUSED(context))
{
    return 1;
}
