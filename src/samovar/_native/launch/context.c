/* The context of one launch: the first failure, printed output, scratch memory, and random numbers. Generated code calls
   into it from every thread of the launch, with or without the GIL. */
#include "launch/runtime.h"
#include "threads/saved_values.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RECORDS_START = 1 << 10 };
enum { RECORDS_MUCH = 64 << 10 }; /* this many bytes are delivered before the launch ends, */
enum { RECORDS_MOST = 4 << 20 };  /* and other threads wait if there are more */
enum { ALIGNMENT = 64 };
enum { ARENA_LIMIT = 64 << 20 }; /* the memory that a thread may keep between launches */

struct sv_overflow {
    sv_overflow *next;
    size_t bytes;
};

/* Small, and used at every launch: the static TLS block takes one instruction to access. */
static _Thread_local sv_arena thread_arena __attribute__((tls_model("initial-exec")));
static pthread_key_t arena_key;

static void free_arena(void *arena)
{
    free(((sv_arena *)arena)->base);
}

void sv_context_open(sv_context *context, sv_specialization *specialization)
{
    atomic_init(&context->failed, 0);
    context->specialization = specialization;
    context->released = NULL;
    context->launcher = pthread_self();
    context->exception = NULL;
    context->arena = &thread_arena;
    context->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    context->owns_arena = false;
    context->held = context->next_check = 0;
    atomic_init(&context->unchecked, 0);
    context->races = NULL;
    context->overflow = NULL;
    context->many_values = NULL;
    context->saved = sv_saved.used;
    atomic_init(&context->prints, NULL);
}

void sv_context_release_gil(sv_context *context)
{
    if (pthread_equal(pthread_self(), context->launcher) && context->released == NULL)
        context->released = PyEval_SaveThread();
}

void sv_context_take_gil(sv_context *context)
{
    if (context->released != NULL) {
        PyEval_RestoreThread(context->released);
        context->released = NULL;
    }
}

/* --- failures */

/* True for the thread that must describe the failure. */
static bool claim_failure(sv_context *context)
{
    int32_t none = 0;
    return atomic_compare_exchange_strong(&context->failed, &none, 1);
}

void sv_fail(sv_context *context, int32_t site, const uint64_t *values)
{
    if (!claim_failure(context))
        return;
    context->site = site;
    const sv_specialization *specialization = context->specialization;
    size_t count = site >= 0 && site < specialization->site_count ? specialization->site_values[site] : 0;
    if (count > SV_FEW_VALUES) {
        context->many_values = malloc(count * sizeof *values);
        if (context->many_values == NULL)
            context->site = SV_SITE_MEMORY;
        else
            memcpy(context->many_values, values, count * sizeof *values);
    } else if (count > 0) {
        memcpy(context->values, values, count * sizeof *values);
    }
}

void sv_fail_memory(sv_context *context)
{
    sv_fail(context, SV_SITE_MEMORY, NULL);
}

int32_t sv_failed(sv_context *context)
{
    return atomic_load_explicit(&context->failed, memory_order_relaxed);
}

/* The values of a site as a tuple of 8-byte strings. */
static PyObject *raw_values(const uint8_t *values, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    if (tuple == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = PyBytes_FromStringAndSize((const char *)values + i * 8, 8);
        if (value == NULL) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SET_ITEM(tuple, i, value);
    }
    return tuple;
}

/* The data that describes a failure: the values of a site, or the data races found. */
static PyObject *failure_facts(const sv_context *context)
{
    if (context->site == SV_SITE_RACES || context->site == SV_SITE_SECTIONS)
        return sv_races_report(context->races, context->site);
    const uint64_t *values = context->many_values == NULL ? context->values : context->many_values;
    return raw_values((const uint8_t *)values, context->specialization->site_values[context->site]);
}

static void raise_failure(sv_context *context)
{
    const sv_specialization *specialization = context->specialization;
    int32_t site = context->site;
    if (site == SV_SITE_MEMORY) {
        PyErr_SetString(PyExc_MemoryError, "out of memory for the temporary arrays of a kernel");
        return;
    }
    bool known = site == SV_SITE_RACES || site == SV_SITE_SECTIONS || (site >= 0 && site < specialization->site_count);
    if (!known || specialization->fail == Py_None) {
        PyErr_Format(PyExc_RuntimeError, "a kernel failed at site %d, which its description lacks", (int)site);
        return;
    }
    PyObject *facts = failure_facts(context);
    if (facts == NULL)
        return;
    PyObject *exception = PyObject_CallFunction(specialization->fail, "iO", (int)site, facts); /* Python may run here. */
    Py_DECREF(facts);
    if (exception == NULL)
        return;
    if (PyExceptionInstance_Check(exception))
        PyErr_SetObject(PyExceptionInstance_Class(exception), exception);
    else
        PyErr_Format(PyExc_TypeError, "fail() must return an exception, not %s", Py_TYPE(exception)->tp_name);
    Py_DECREF(exception);
}

/* --- prints

   Any thread of a launch records what it prints. Only the launching thread delivers it to Python: the others have no Python
   stack to return to, should the callback fork the process or inspect its callers. */

struct sv_prints {
    pthread_cond_t room; /* there is space again, or `grows` is set */
    bool grows;          /* the launching thread forks, and waits for the others: they must not wait for it */
    atomic_bool much;    /* the launching thread should deliver */
    uint8_t *records;
    size_t used;
    size_t capacity;
};

typedef struct {
    int32_t site;
    uint32_t count;
} record_header;

static PyObject *list_of(const uint8_t *records, size_t size)
{
    PyObject *list = PyList_New(0);
    for (size_t at = 0; list != NULL && at < size;) {
        record_header header;
        memcpy(&header, records + at, sizeof header);
        at += sizeof header;
        PyObject *record = Py_BuildValue("iN", (int)header.site, raw_values(records + at, header.count));
        at += header.count * sizeof(uint64_t);
        if (record == NULL || PyList_Append(list, record) < 0)
            Py_CLEAR(list);
        Py_XDECREF(record);
    }
    return list;
}

/* With the GIL: the pending exception ends the launch. */
static void take_exception(sv_context *context)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    context->exception = value;
    if (claim_failure(context))
        context->site = SV_SITE_EXCEPTION;
}

/* With the GIL: deliver records to Python. An exception of the callback ends the launch. */
static void speak(sv_context *context, const uint8_t *records, size_t size)
{
    PyObject *list = list_of(records, size);
    PyObject *result = list == NULL ? NULL : PyObject_CallOneArg(context->specialization->speak, list); /* Python may run here. */
    Py_XDECREF(list);
    if (result != NULL) {
        Py_DECREF(result);
        return;
    }
    take_exception(context);
}

/* On the launching thread, with or without the GIL, without the lock: the others continue meanwhile. */
static void hand_over(sv_context *context, sv_prints *prints)
{
    pthread_mutex_lock(&context->lock);
    uint8_t *records = prints->records;
    size_t size = prints->used;
    prints->records = NULL;
    prints->used = prints->capacity = 0;
    atomic_store_explicit(&prints->much, false, memory_order_relaxed);
    pthread_cond_broadcast(&prints->room);
    pthread_mutex_unlock(&context->lock);
    /* After an exception, output is dropped. */
    if (size > 0 && context->exception == NULL) {
        bool released = context->released != NULL;
        if (released)
            PyEval_RestoreThread(context->released);
        speak(context, records, size);
        if (released)
            context->released = PyEval_SaveThread();
    }
    free(records);
}

/* With the lock. */
static sv_prints *prints_of(sv_context *context)
{
    sv_prints *prints = atomic_load_explicit(&context->prints, memory_order_relaxed);
    if (prints == NULL && (prints = calloc(1, sizeof *prints)) != NULL) {
        pthread_cond_init(&prints->room, NULL);
        atomic_store_explicit(&context->prints, prints, memory_order_release);
    }
    return prints;
}

static bool reserve(sv_prints *prints, size_t bytes)
{
    if (prints->used + bytes <= prints->capacity)
        return true;
    size_t capacity = prints->capacity == 0 ? RECORDS_START : prints->capacity;
    while (capacity < prints->used + bytes)
        capacity *= 2;
    uint8_t *records = realloc(prints->records, capacity);
    if (records == NULL)
        return false;
    prints->records = records;
    prints->capacity = capacity;
    return true;
}

void sv_print(sv_context *context, int32_t site, const uint64_t *values)
{
    const sv_specialization *specialization = context->specialization;
    if (site < 0 || site >= specialization->site_count)
        return;
    record_header header = {site, specialization->site_values[site]};
    size_t bytes = header.count * sizeof *values;
    bool is_launcher = pthread_equal(pthread_self(), context->launcher);
    pthread_mutex_lock(&context->lock);
    sv_prints *prints = prints_of(context);
    while (prints != NULL && !is_launcher && prints->used > RECORDS_MOST && !prints->grows)
        pthread_cond_wait(&prints->room, &context->lock);
    if (prints != NULL && reserve(prints, sizeof header + bytes)) {
        memcpy(prints->records + prints->used, &header, sizeof header);
        if (bytes > 0)
            memcpy(prints->records + prints->used + sizeof header, values, bytes);
        prints->used += sizeof header + bytes;
        if (prints->used > RECORDS_MUCH)
            atomic_store_explicit(&prints->much, true, memory_order_relaxed);
    } else {
        sv_fail_memory(context);
    }
    pthread_mutex_unlock(&context->lock);
    if (is_launcher)
        sv_context_attend(context, SV_ATTEND);
}

void sv_context_attend(void *owner, sv_occasion occasion)
{
    sv_context *context = owner;
    if (occasion == SV_ATTEND)
        sv_context_check_signals(context);
    sv_prints *prints = atomic_load_explicit(&context->prints, memory_order_acquire);
    if (prints == NULL)
        return;
    if (occasion == SV_ATTEND) {
        if (atomic_load_explicit(&prints->much, memory_order_relaxed))
            hand_over(context, prints);
        return;
    }
    pthread_mutex_lock(&context->lock);
    prints->grows = occasion == SV_BEFORE_FORK;
    pthread_cond_broadcast(&prints->room);
    pthread_mutex_unlock(&context->lock);
}

/* --- other Python threads, and signals

   Short launches keep the GIL. A launch that has held it for a millisecond releases it, regardless of earlier launches; it
   checks where it polls for cancellation. Python handles signals on its main thread, with the GIL: that is where Ctrl-C
   becomes a KeyboardInterrupt. A launch on that thread takes the GIL for it periodically; on others, the main thread is free
   to handle them. */

static const int64_t HOLD_GIL = 1000000;     /* nanoseconds */
static const int64_t CHECK_EVERY = 10000000; /* if taking the GIL waits for other Python threads, */
enum { CHECK_SHARE = 4 };                    /* it is taken less often */

/* Whether there is something to raise: exceptions of signal handlers on the main thread, asynchronous exceptions on
   others. */
static bool has_news(const sv_context *context)
{
    return syscall(SYS_gettid) == getpid() || sv_has_sent_exception(context->released);
}

static void check_signals(sv_context *context, int64_t now)
{
    if (!pthread_equal(pthread_self(), context->launcher) || context->exception != NULL)
        return;
    if (context->held == 0) {
        context->held = now;
        context->next_check = now + CHECK_EVERY;
    }
    if (context->released == NULL && now - context->held >= HOLD_GIL)
        context->released = PyEval_SaveThread();
    if (context->released == NULL)
        return;
    context->held = now;
    if (now < context->next_check || !has_news(context))
        return;
    int64_t asked = sv_now();
    PyEval_RestoreThread(context->released);
    context->released = NULL;
    int64_t waited = sv_now() - asked;
    if (PyErr_CheckSignals() < 0 || sv_raise_sent_exception() < 0) /* Python may run here. */
        take_exception(context);
    sv_context_release_gil(context);
    context->next_check = sv_now() + (CHECK_SHARE * waited > CHECK_EVERY ? CHECK_SHARE * waited : CHECK_EVERY);
}

/* The same clock as sv_now, cheaper, and a few milliseconds behind. */
static int64_t coarse_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void sv_context_check_signals(sv_context *context)
{
    check_signals(context, coarse_now());
}

/* The safepoint poll of generated code in long loops. Returns how much work, in estimated nanoseconds, it may do before the
   next poll, so that it polls every millisecond or two; -1 if it must stop. `state` belongs to the caller: the time of its
   last poll and the budget it got, 0 at first. */
int64_t sv_poll(sv_context *context, int64_t *state)
{
    static const int64_t SOON = 1000000, LATE = 3000000, FIRST = 1000000, MOST = 1LL << 40;
    int64_t now = sv_now();
    check_signals(context, now);
    if (sv_failed(context))
        return -1;
    int64_t elapsed = now - state[0], budget = state[1];
    if (state[0] == 0)
        budget = FIRST;
    else if (elapsed < SOON)
        budget = budget < MOST / 4 ? budget * 4 : MOST;
    else if (elapsed > LATE)
        budget = budget / (elapsed / SOON) + 1;
    state[0] = now;
    state[1] = budget;
    return budget;
}

static void close_prints(sv_context *context, sv_prints *prints)
{
    hand_over(context, prints);
    pthread_cond_destroy(&prints->room);
    free(prints);
}

/* --- scratch memory */

static void *scratch_locked(sv_context *context, size_t bytes)
{
    sv_arena *arena = context->arena;
    if (!context->owns_arena && !atomic_exchange(&arena->taken, true))
        context->owns_arena = true;
    if (context->owns_arena && bytes <= arena->capacity - arena->used) {
        void *memory = arena->base + arena->used;
        arena->used += bytes;
        return memory;
    }
    sv_overflow *block = aligned_alloc(ALIGNMENT, bytes + ALIGNMENT);
    if (block == NULL)
        return NULL;
    block->next = context->overflow;
    block->bytes = bytes;
    context->overflow = block;
    return (uint8_t *)block + ALIGNMENT;
}

void *sv_scratch(sv_context *context, int64_t bytes)
{
    void *memory = NULL;
    if (bytes >= 0 && bytes < INT64_MAX - 2 * ALIGNMENT) {
        pthread_mutex_lock(&context->lock);
        memory = scratch_locked(context, ((size_t)bytes / ALIGNMENT + 1) * ALIGNMENT);
        pthread_mutex_unlock(&context->lock);
    }
    if (memory == NULL)
        sv_fail_memory(context);
    return memory;
}

/* Release everything; grow the arena for the next launch by what did not fit. */
static void release_scratch(sv_context *context)
{
    size_t missing = 0;
    while (context->overflow != NULL) {
        sv_overflow *block = context->overflow;
        context->overflow = block->next;
        missing += block->bytes;
        free(block);
    }
    if (!context->owns_arena)
        return;
    sv_arena *arena = context->arena;
    size_t wanted = arena->used + missing;
    arena->used = 0;
    if (missing > 0 && wanted <= ARENA_LIMIT) {
        free(arena->base);
        arena->base = aligned_alloc(ALIGNMENT, wanted);
        arena->capacity = arena->base == NULL ? 0 : wanted;
        pthread_setspecific(arena_key, arena);
    }
    atomic_store(&arena->taken, false);
}

/* --- the stack on which the forward part of an iteration saves values for its reverse (see threads/saved_values.h) */

void sv_push(sv_context *context, uint64_t value)
{
    if (__builtin_expect(sv_saved.used == sv_saved.capacity, 0) && !sv_saved_grow()) {
        /* The value is lost, and the launch fails. */
        sv_fail_memory(context);
        if (sv_saved.used == 0)
            return;
        sv_saved.used--;
    }
    sv_saved.values[sv_saved.used++] = value;
}

uint64_t sv_pop(sv_context *Py_UNUSED(context))
{
    return sv_saved.used == 0 ? 0 : sv_saved.values[--sv_saved.used];
}

/* --- the end of a launch */

int sv_context_close(sv_context *context)
{
    sv_prints *prints = atomic_load_explicit(&context->prints, memory_order_relaxed);
    if (prints != NULL)
        close_prints(context, prints);
    if (context->owns_arena || context->overflow != NULL)
        release_scratch(context);
    bool failed = atomic_load(&context->failed) != 0;
    if (context->exception != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(context->exception), context->exception);
        Py_CLEAR(context->exception);
    } else if (failed) {
        raise_failure(context);
    }
    if (failed) {
        free(context->many_values);
        sv_saved.used = context->saved;
    }
    if (context->races != NULL)
        sv_races_free(context->races);
    return failed ? -1 : 0;
}

/* --- random numbers: a key for each launch, see `samovar.passes.random_numbers` */

static _Atomic uint64_t random_seed = 0;
static _Atomic uint64_t random_keys = 0; /* issued since the seed was set */

/* On this thread: the place of the last key, how many were drawn, and whether those that follow the last one are drawn
 * again instead of new ones. */
typedef struct {
    uint64_t seed, number, drawn;
    bool again;
} sv_keys;
static _Thread_local sv_keys keys __attribute__((tls_model("initial-exec")));

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

uint64_t sv_random(sv_context *Py_UNUSED(context))
{
    if (!keys.again) {
        keys.number = atomic_fetch_add(&random_keys, 1);
        keys.seed = atomic_load(&random_seed);
    }
    keys.number++;
    keys.drawn++;
    return mix(mix(keys.seed + 0x9e3779b97f4a7c15ull) + keys.number * 0x9e3779b97f4a7c15ull);
}

static PyObject *last_key(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return Py_BuildValue("KK", keys.seed, keys.number);
}

static PyObject *next_key(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return keys.again ? Py_BuildValue("KKK", keys.seed, keys.number + 1, keys.drawn)
                      : Py_BuildValue("KKK", atomic_load(&random_seed), atomic_load(&random_keys) + 1, keys.drawn);
}

static PyObject *call_with_keys(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *function;
    sv_keys before = keys, given = {.drawn = keys.drawn, .again = true};
    if (!PyArg_ParseTuple(arguments, "KKO", &given.seed, &given.number, &function))
        return NULL;
    given.number--;
    keys = given;
    PyObject *result = PyObject_CallNoArgs(function); /* Python may run here. */
    before.drawn = keys.drawn;
    keys = before;
    return result;
}

static PyObject *seed(PyObject *Py_UNUSED(module), PyObject *number)
{
    uint64_t value = PyLong_AsUnsignedLongLongMask(number);
    if (value == ~0ull && PyErr_Occurred())
        return NULL;
    if (keys.again) {
        keys.seed = value;
        keys.number = 0;
    } else {
        atomic_store(&random_seed, value);
        atomic_store(&random_keys, 0);
    }
    Py_RETURN_NONE;
}

static PyMethodDef context_functions[] = {
    {"seed", seed, METH_O,
     PyDoc_STR("seed(number, /)\n--\n\n"
               "Set the seed of the random numbers of kernels; 0 in a new process. They are reproducible on any number of threads if\n"
               "the same kernels are launched in the same order.\n\n"
               ">>> from samovar._native import seed\n>>> seed(7)")},
    {"last_key", last_key, METH_NOARGS,
     PyDoc_STR("last_key()\n--\n\n"
               "The seed and the number of the last key of random numbers that a launch on this thread has drawn.")},
    {"next_key", next_key, METH_NOARGS,
     PyDoc_STR("next_key()\n--\n\n"
               "The seed and the number of the next key, and how many keys launches on this thread have drawn.")},
    {"call_with_keys", call_with_keys, METH_VARARGS,
     PyDoc_STR("call_with_keys(seed, number, function, /)\n--\n\n"
               "Call a function whose launches on this thread draw the keys of a seed from a number on, and no new ones.")},
    {NULL, NULL, 0, NULL},
};

int sv_context_init(PyObject *module)
{
    if (pthread_key_create(&arena_key, free_arena) != 0) {
        PyErr_SetString(PyExc_RuntimeError, "no thread-specific key is available");
        return -1;
    }
    return PyModule_AddFunctions(module, context_functions);
}
