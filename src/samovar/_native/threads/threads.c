/* Running tasks: a cost model decides between the calling thread and the pool, and whether to release the GIL. */
#include "profile/profile.h"
#include "threads/back_off.h"
#include "threads/stack.h"

/* All in nanoseconds of single-threaded work. */
static const double RELEASE_GIL = 50e3;   /* shorter work keeps the GIL: releasing it costs more when others wait */
static const float CHECK_AFTER = 1e6f;     /* many short tasks in one launch count as a long one */
static const double SHARE_AWAKE = 6e3;    /* if a worker is spinning, */
static const double SHARE_ASLEEP = 40e3;  /* and if one must be woken first */
static const double HELPER_SHARE = 3e3;   /* the work that justifies one more thread */
static const double CHUNK = 4e3;          /* the work that makes distributing a chunk cheap, */
static const double LONGEST_PORTION = 2e6;  /* and after which signals are checked */

static const double WATCH_STEP = 5e3;      /* the first step of a probed run, */
static const int64_t WATCH = 20000;        /* and the time after which its cost is known */
static const double SURPRISE = 4;          /* this many times longer than expected counts as new information, */
static const double CLOCK = 500;           /* beyond the cost of reading the clock and of a cold start */
static const int64_t STREAM_GAP = 30000;  /* between runs in quick succession */
enum { STREAM_LENGTH = 4 };

enum { FIRST_RUNS = 8, SAMPLE_EVERY = 16 };
static const float OUTLIER = 8.0f;

static double known_cost(const sv_task *task)
{
    return (double)atomic_load_explicit(&task->cost, memory_order_relaxed);
}

/* The first measurement replaces the compiler's estimate; later ones are averaged in. A single measurement far above the
   estimate is more likely a preemption, so it counts only to a limit. A stopped run is ignored: how much of it was done is
   unknown. */
static void learn(sv_context *context, sv_task *task, uint32_t runs, double items, int64_t nanoseconds)
{
    if (sv_failed(context))
        return;
    float measured = (float)((double)nanoseconds / items);
    float known = atomic_load_explicit(&task->cost, memory_order_relaxed);
    if (runs > 0 && !(task->flags & SV_TASK_COST_UNKNOWN)) {
        if (measured > known * OUTLIER)
            measured = known * OUTLIER;
        measured = known + (measured - known) / 4;
    }
    atomic_store_explicit(&task->cost, measured, memory_order_relaxed);
}

static sv_back_off sharing;

/* Work too short to wake a worker for, but in quick succession: once one is awake it keeps spinning, and the next runs are
   shared. */
static bool is_part_of_a_stream(int64_t now, double nanoseconds)
{
    static _Atomic int64_t last_end;
    static _Atomic int length;
    int64_t last = atomic_exchange_explicit(&last_end, now + (int64_t)nanoseconds, memory_order_relaxed);
    int seen = now - last < STREAM_GAP ? atomic_load_explicit(&length, memory_order_relaxed) + 1 : 0;
    atomic_store_explicit(&length, seen, memory_order_relaxed);
    return seen >= STREAM_LENGTH;
}

static bool is_worth_sharing(double nanoseconds)
{
    if (nanoseconds < SHARE_AWAKE || sv_pool_threads() == 1)
        return false;
    int64_t now = sv_now();
    return sv_may_share(&sharing, now) &&
           (nanoseconds > SHARE_ASLEEP || sv_pool_awake() || is_part_of_a_stream(now, nanoseconds));
}

/* Round up so that all SIMD lanes have a unit. A vector takes about as long as a single lane. */
static int64_t lanes_of(const sv_task *task)
{
    return (int64_t)1 << (task->flags >> SV_TASK_LANES);
}

static int64_t whole_vectors(const sv_task *task, int64_t units)
{
    int64_t lanes = lanes_of(task);
    return (units + lanes - 1) / lanes * lanes;
}

/* Run everything from `begin` on, on several threads. False if there were none, and nothing was run. */
static bool share(sv_context *context, sv_task *task, uint32_t runs, sv_task_function function, void *frame, int64_t begin,
                  int64_t end, int64_t items_per_unit)
{
    double unit_cost = known_cost(task) * (double)items_per_unit, units = (double)(end - begin);
    double helpers = unit_cost * units / HELPER_SHARE - 1, chunk = CHUNK / unit_cost;
    int64_t least = units >= (double)(lanes_of(task) * sv_pool_threads()) ? lanes_of(task) : 1;
    /* In a section, this may not be the launching thread, which alone has something to attend to. */
    bool is_launcher = pthread_equal(pthread_self(), context->launcher);
    double most = LONGEST_PORTION / unit_cost;
    sv_work work = {function, frame, begin, end, chunk > (double)least ? (chunk < units ? (int64_t)chunk : end - begin) : least,
                    most > (double)least ? (most < units ? (int64_t)most : end - begin) : least,
                    helpers < SV_MAX_THREADS ? (int)helpers : SV_MAX_THREADS, &context->failed, is_launcher ? sv_context_attend : NULL, context, least};
    sv_shared shared;
    if (!sv_pool_run(&work, &shared))
        return false;
    if (shared.woken || shared.waited > SV_WAIT_ALLOWED)
        sv_after_sharing(&sharing, sv_now(), shared.busy, shared.waited, shared.woken);
    learn(context, task, runs, units * (double)items_per_unit, shared.busy);
    return true;
}

/* If the estimate cannot be trusted: begin on this thread in growing steps, and stop after a while with a better estimate.
   Returns the number of units done. */
static int64_t run_probing(sv_context *context, sv_task *task, uint32_t runs, sv_task_function function, void *frame,
                           int64_t units, int64_t items_per_unit)
{
    /* The compiler's estimate may be far too low, and what was fast before may be slow now: a small part always comes first.
       If it took about as long as expected, the rest follows in one step. */
    double cost = known_cost(task) * (double)items_per_unit, most = (double)units / 32, first = WATCH_STEP / cost;
    double limited = first < most ? first : most;
    int64_t step = whole_vectors(task, limited > 1 ? sv_whole_lines((int64_t)limited) : 1), done = 0;
    int64_t start = sv_now(), elapsed = 0;
    while (done < units && elapsed < WATCH && !sv_failed(context)) {
        if (step > units - done)
            step = units - done;
        function(frame, done, done + step);
        done += step;
        elapsed = sv_now() - start;
        bool expected = runs > 0 && (double)elapsed < SURPRISE * cost * (double)done + CLOCK;
        step = expected ? units - done : step * 2;
    }
    learn(context, task, runs, (double)done * (double)items_per_unit, elapsed);
    return done;
}

/* Run all of it on this thread; long work in steps, between which signals are checked. */
static __attribute__((noinline)) void run_here(sv_context *context, const sv_task *task, sv_task_function function, void *frame,
                                               int64_t begin, int64_t end, int64_t items_per_unit)
{
    double most = LONGEST_PORTION / (known_cost(task) * (double)items_per_unit);
    int64_t step = most < (double)(end - begin) ? (most > 1 ? sv_whole_lines((int64_t)most) : 1) : end - begin;
    int64_t start = sv_now();
    for (int64_t after; begin < end && !sv_failed(context); begin = after) {
        step = whole_vectors(task, step);
        after = end - begin > step ? begin + step : end;
        function(frame, begin, after);
        if (after == end)
            break;
        sv_context_check_signals(context);
        int64_t now = sv_now();
        step = sv_next_step(step, now - start);
        start = now;
    }
}

/* On the launching thread, before the next task of a launch that has run for a while. */
static __attribute__((noinline, cold)) void check_between_tasks(sv_context *context)
{
    if (!pthread_equal(pthread_self(), context->launcher))
        return;
    atomic_store_explicit(&context->unchecked, 0, memory_order_relaxed);
    sv_context_release_gil(context);
    sv_context_check_signals(context);
}

int32_t sv_run(sv_context *context, int32_t index, sv_task_function function, void *frame, int64_t units, int64_t items_per_unit)
{
    if (units <= 0 || items_per_unit <= 0)
        return sv_failed(context);
    if (sv_has_hook(SV_HOOK_PROFILE) && !sv_profile_is_running(function))
        return sv_profile_run(context, index, function, frame, units, items_per_unit);
    sv_task *task = sv_task_of(context->specialization, index);
    uint32_t runs = atomic_load_explicit(&task->runs, memory_order_relaxed);
    atomic_store_explicit(&task->runs, runs + 1, memory_order_relaxed);
    bool unknown = task->flags & SV_TASK_COST_UNKNOWN;
    double items = (double)units * (double)items_per_unit, estimate = items * known_cost(task);
    if (estimate > RELEASE_GIL || task->flags & SV_TASK_SPEAKS || (unknown && runs == 0))
        sv_context_release_gil(context);
    float unchecked = atomic_load_explicit(&context->unchecked, memory_order_relaxed) + (float)estimate;
    atomic_store_explicit(&context->unchecked, unchecked, memory_order_relaxed);
    if (unchecked > CHECK_AFTER)
        check_between_tasks(context);
    if (task->flags & SV_TASK_SERIAL) {
        run_here(context, task, function, frame, 0, units, items_per_unit);
        return sv_failed(context);
    }
    int64_t begin = 0;
    bool shared = units > 1 && is_worth_sharing(estimate);
    if (runs == 0 || (unknown && !shared)) {
        begin = run_probing(context, task, runs, function, frame, units, items_per_unit);
        estimate = (double)(units - begin) * (double)items_per_unit * known_cost(task);
        if (begin == units || sv_failed(context))
            return sv_failed(context);
        if (estimate > RELEASE_GIL)
            sv_context_release_gil(context);
        shared = units - begin > 1 && is_worth_sharing(estimate);
    }
    if (shared && share(context, task, runs, function, frame, begin, units, items_per_unit))
        return sv_failed(context);
    bool is_short = estimate < LONGEST_PORTION;
    if (runs >= FIRST_RUNS && runs % SAMPLE_EVERY != 0 && !unknown && is_short) {
        function(frame, begin, units);
        return sv_failed(context);
    }
    int64_t start = sv_now();
    if (is_short)
        function(frame, begin, units);
    else
        run_here(context, task, function, frame, begin, units, items_per_unit);
    learn(context, task, runs, (double)(units - begin) * (double)items_per_unit, sv_now() - start);
    return sv_failed(context);
}

int64_t sv_threads(sv_context *Py_UNUSED(context))
{
    return sv_pool_threads();
}

int64_t sv_thread(sv_context *Py_UNUSED(context))
{
    return sv_pool_thread;
}

int64_t sv_clock(sv_context *Py_UNUSED(context))
{
    return sv_now();
}

/* --- from Python */

static PyObject *set_threads(PyObject *Py_UNUSED(module), PyObject *number)
{
    long threads = PyLong_AsLong(number);
    if (threads == -1 && PyErr_Occurred())
        return NULL;
    if (threads < 0 || threads > SV_MAX_THREADS) {
        PyErr_Format(PyExc_ValueError, "the number of threads must be between 1 and %d, or 0 for automatic", SV_MAX_THREADS);
        return NULL;
    }
    sv_pool_set_threads((int)threads);
    Py_RETURN_NONE;
}

static PyObject *set_ragged_chunks(PyObject *Py_UNUSED(module), PyObject *ragged)
{
    int is_true = PyObject_IsTrue(ragged);
    if (is_true < 0)
        return NULL;
    atomic_store_explicit(&sv_ragged_chunks, is_true != 0, memory_order_relaxed);
    Py_RETURN_NONE;
}

static PyObject *threads(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromLong(sv_pool_threads());
}

static PyObject *pool_statistics(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    sv_pool_counts counts = sv_pool_statistics();
    return Py_BuildValue("{s:i,s:L,s:L,s:L,s:L,s:L,s:L}", "threads", sv_pool_threads(), "workers", (long long)counts.workers,
                         "shared", (long long)counts.shared, "refused", (long long)counts.refused, "chunks",
                         (long long)counts.chunks, "steals", (long long)counts.steals, "sleeps", (long long)counts.sleeps);
}

/* At exit, before the interpreter is gone: the workers must not run code of images that are unmapped with it. */
static PyObject *close_pool(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Py_BEGIN_ALLOW_THREADS
    sv_pool_close();
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject *stack_left(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromSize_t((size_t)sv_stack_left());
}

static PyMethodDef close_definition = {"close_pool", close_pool, METH_NOARGS, NULL};

static PyMethodDef thread_functions[] = {
    {"set_threads", set_threads, METH_O,
     PyDoc_STR("set_threads(number, /)\n--\n\n"
               "Set the number of threads that a launch may use; 0 uses all available processors.\n\n"
               ">>> from samovar._native import set_threads, threads\n>>> set_threads(3)\n>>> threads()\n3\n>>> set_threads(0)")},
    {"set_ragged_chunks", set_ragged_chunks, METH_O,
     PyDoc_STR("set_ragged_chunks(ragged, /)\n--\n\nFor tests: do not round chunks to whole cache lines.")},
    {"stack_left", stack_left, METH_NOARGS,
     PyDoc_STR("stack_left()\n--\n\nThe remaining bytes of this thread's stack.\n\n"
               ">>> from samovar._native import stack_left\n>>> stack_left() > 0\nTrue")},
    {"threads", threads, METH_NOARGS, PyDoc_STR("threads()\n--\n\nThe number of threads that a launch may use.")},
    {"pool_statistics", pool_statistics, METH_NOARGS,
     PyDoc_STR("pool_statistics()\n--\n\nStatistics of the thread pool: runs shared and not shared, chunks, steals, sleeps.")},
    {NULL, NULL, 0, NULL},
};

int sv_threads_init(PyObject *module)
{
    PyObject *atexit = PyImport_ImportModule("atexit"), *callback = NULL, *registered = NULL;
    if (atexit != NULL && (callback = PyCFunction_New(&close_definition, NULL)) != NULL)
        registered = PyObject_CallMethod(atexit, "register", "O", callback);
    Py_XDECREF(atexit);
    Py_XDECREF(callback);
    if (registered == NULL)
        return -1;
    Py_DECREF(registered);
    return PyModule_AddFunctions(module, thread_functions);
}
