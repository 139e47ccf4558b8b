/* One thread pool per process. A launcher publishes its work in a slot; idle workers join open slots, start in their own
   contiguous part of the range and steal from the others' parts when it is done. Several launchers share the workers. */
#define _GNU_SOURCE
#include "threads/pool.h"
#include "threads/saved_values.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { SLOTS = 8, CACHE_LINE = 64 };
enum { STACK_BYTES = 8 << 20 };
enum { SPIN_LEAST = 2000, SPIN_MOST = 50000, CALLER_SPIN = 20000 }; /* nanoseconds */
static const int64_t CLOSE_WAIT = 2000000000;
static const int64_t ATTEND_EVERY = 2000000;

/* A slot's gate: open flag, a launcher sleeps on it, how many may join, how many have. */
static const uint32_t OPEN = 1u << 31, WAITED_FOR = 1u << 30, JOINED = (1u << 12) - 1;
enum { ROOM_SHIFT = 12 };
enum { TIMED = 16 }; /* as a multiple of the shortest chunk */

typedef struct {
    _Alignas(CACHE_LINE) _Atomic int64_t next;
    int64_t end;
} part;

typedef struct {
    _Alignas(CACHE_LINE) _Atomic uint32_t gate;
    atomic_bool taken; /* by a launcher */
    atomic_bool pauses; /* its launcher forks: no other thread may begin a chunk */
    bool ends;          /* no work is left; only its launcher uses it */
    /* Set while the gate is closed, read by threads that have passed it. */
    sv_work work;
    int part_count;
    uint32_t float_control;
    _Alignas(CACHE_LINE) _Atomic int64_t busy;
    part parts[SV_MAX_THREADS];
} slot;

static struct {
    slot slots[SLOTS];
    _Alignas(CACHE_LINE) _Atomic uint32_t epoch; /* changes with every publication: what idle workers wait for */
    _Atomic int sleepers;
    _Atomic int spinners;
    _Alignas(CACHE_LINE) _Atomic int active; /* threads inside a run */
    _Atomic int width;                       /* threads a run may use; 0 before it is known */
    _Atomic int processors;                  /* that the process may use */
    _Atomic uint32_t alive;                  /* workers that have not exited */
    _Atomic int started;
    atomic_bool closed;
    _Atomic int64_t shared, refused, chunks, steals, sleeps;
} pool;

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

_Thread_local int sv_pool_thread __attribute__((tls_model("initial-exec")));

/* True on workers, and on a launcher while it shares its work: nested launches run on their own thread. */
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

/* Of a launcher, while it shares its work; and the enclosing one, if runs are nested. */
static _Thread_local slot *own_slot __attribute__((tls_model("initial-exec")));
static _Thread_local slot *outer_slot __attribute__((tls_model("initial-exec")));

int64_t sv_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Rounding mode and flush-to-zero are the launcher's, so that results do not depend on the thread. */
static uint32_t float_control(void)
{
#if defined(__x86_64__)
    return _mm_getcsr();
#else
    return 0;
#endif
}

static void set_float_control(uint32_t control)
{
#if defined(__x86_64__)
    if (_mm_getcsr() != control)
        _mm_setcsr(control);
#else
    (void)control;
#endif
}

/* --- parking */

static void park(_Atomic uint32_t *word, uint32_t expected, int64_t nanoseconds)
{
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nanoseconds > 0 ? &limit : NULL, NULL, 0);
}

static void unpark(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* --- distributing a range */

/* Guided scheduling: chunks shrink as a part runs out: large at first, so that memory streams, small at the end, so that
   threads finish together. */
static bool take_chunk(part *from, int64_t least, int64_t most, int64_t *begin, int64_t *end)
{
    int64_t next = atomic_load_explicit(&from->next, memory_order_relaxed);
    for (;;) {
        int64_t left = from->end - next;
        if (left <= 0)
            return false;
        int64_t size = left / 4 > least ? left / 4 : least;
        size = sv_whole_lines(size < most ? size : most);
        if (size > left)
            size = left;
        if (atomic_compare_exchange_weak_explicit(&from->next, &next, next + size, memory_order_relaxed, memory_order_relaxed)) {
            *begin = next;
            *end = next + size;
            return true;
        }
    }
}

static void attend(const sv_work *work, sv_occasion occasion)
{
    if (work->attend != NULL)
        work->attend(work->owner, occasion);
}

static bool goes_on(slot *from, const sv_work *work, bool is_launcher)
{
    return atomic_load_explicit(work->stop, memory_order_relaxed) == 0 &&
           (is_launcher || !atomic_load_explicit(&from->pauses, memory_order_relaxed));
}

/* Returns the maximum chunk size from here on: smaller, if this chunk took much longer than expected. Short chunks are not
   timed. */
static int64_t run_chunk(const sv_work *work, int64_t begin, int64_t end, int64_t most)
{
    int64_t start = end - begin > TIMED * work->chunk ? sv_now() : 0;
    work->function(work->frame, begin, end);
    int64_t fewer = start == 0 ? end - begin : sv_shorter_chunk(end - begin, sv_now() - start);
    if (fewer < work->least)
        fewer = work->least;
    return fewer < end - begin ? fewer : most;
}

static void take_share(slot *from, int first)
{
    const sv_work work = from->work;
    const bool is_launcher = from == own_slot;
    int64_t start = sv_now(), most = work.most, chunks = 0, steals = 0, begin, end;
    int count = from->part_count;
    for (int i = 0; i < count; i++) {
        part *here = &from->parts[(first + i) % count];
        while (goes_on(from, &work, is_launcher) && take_chunk(here, work.chunk < most ? work.chunk : most, most, &begin, &end)) {
            most = run_chunk(&work, begin, end, most);
            chunks++;
            steals += i > 0;
            if (is_launcher)
                attend(&work, SV_ATTEND);
        }
    }
    atomic_fetch_add_explicit(&from->busy, sv_now() - start, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool.chunks, chunks, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool.steals, steals, memory_order_relaxed);
}

/* --- workers */

/* Returns the number of the thread in the run, from 1; or 0 if the run needs no more. Nobody joins after a worker has left, so
   numbers are unique. */
static int join(slot *to)
{
    uint32_t gate = atomic_load_explicit(&to->gate, memory_order_relaxed);
    while (gate & OPEN && (gate & JOINED) < (gate >> ROOM_SHIFT & JOINED))
        if (atomic_compare_exchange_weak_explicit(&to->gate, &gate, gate + 1, memory_order_acquire, memory_order_relaxed))
            return (int)(gate & JOINED) + 1;
    return 0;
}

/* A worker leaves when there is no work left: the gate closes behind it, or it would rejoin at once. */
static void leave(slot *from)
{
    atomic_fetch_and_explicit(&from->gate, ~OPEN, memory_order_relaxed);
    uint32_t gate = atomic_fetch_sub_explicit(&from->gate, 1, memory_order_release);
    if (gate & WAITED_FOR && (gate & JOINED) == 1)
        unpark(&from->gate, 1);
}

static bool help_someone(void)
{
    bool helped = false;
    for (int i = 0; i < SLOTS; i++) {
        slot *here = &pool.slots[i];
        sv_pool_thread = join(here);
        if (sv_pool_thread == 0)
            continue;
        atomic_fetch_add_explicit(&pool.active, 1, memory_order_relaxed);
        set_float_control(here->float_control);
        take_share(here, sv_pool_thread);
        sv_saved_forget();
        atomic_fetch_sub_explicit(&pool.active, 1, memory_order_relaxed);
        leave(here);
        helped = true;
    }
    return helped;
}

/* Wait for a publication, spinning at first. The spin time adapts to the length of past waits. */
static void wait_for_work(uint32_t seen, int64_t *patience)
{
    int64_t limit = atomic_load(&pool.width) > atomic_load(&pool.processors) ? 0 : *patience;
    int64_t start = sv_now(), now = start;
    atomic_fetch_add_explicit(&pool.spinners, 1, memory_order_relaxed);
    while (atomic_load_explicit(&pool.epoch, memory_order_acquire) == seen && now - start < limit) {
        for (int i = 0; i < 16; i++)
            pause_briefly();
        now = sv_now();
    }
    atomic_fetch_sub_explicit(&pool.spinners, 1, memory_order_relaxed);
    if (atomic_load_explicit(&pool.epoch, memory_order_acquire) == seen) {
        atomic_fetch_add(&pool.sleepers, 1);
        while (atomic_load(&pool.epoch) == seen)
            park(&pool.epoch, seen, 0);
        atomic_fetch_sub(&pool.sleepers, 1);
        atomic_fetch_add_explicit(&pool.sleeps, 1, memory_order_relaxed);
        now = sv_now();
    }
    *patience = now - start < SPIN_MOST ? SPIN_MOST : *patience / 2 > SPIN_LEAST ? *patience / 2 : SPIN_LEAST;
}

static void *worker(void *argument)
{
    int number = (int)(intptr_t)argument;
    char name[16];
    snprintf(name, sizeof name, "samovar-%d", number);
    pthread_setname_np(pthread_self(), name);
    inside = true;
    int64_t patience = SPIN_MOST;
    while (!atomic_load(&pool.closed)) {
        uint32_t seen = atomic_load_explicit(&pool.epoch, memory_order_acquire);
        if (!help_someone() && !atomic_load(&pool.closed))
            wait_for_work(seen, &patience);
    }
    if (atomic_fetch_sub(&pool.alive, 1) == 1)
        unpark(&pool.alive, INT_MAX);
    return NULL;
}

/* --- lifetime of the pool */

/* Open the gate and notify workers. Returns whether one had to be woken. */
static bool open_gate(slot *to, int helpers)
{
    atomic_store_explicit(&to->gate, OPEN | (uint32_t)helpers << ROOM_SHIFT, memory_order_release);
    atomic_fetch_add(&pool.epoch, 1);
    int sleepers = atomic_load(&pool.sleepers);
    if (sleepers > 0)
        unpark(&pool.epoch, helpers < sleepers ? helpers : sleepers);
    return sleepers > 0;
}

/* A launcher forks in the middle of a run (Python code called from `attend` does): work that others have begun would be lost
   to the child, so they finish it first, and begin nothing more. */
static void pause_run(slot *of)
{
    if (of == NULL)
        return;
    attend(&of->work, SV_BEFORE_FORK);
    atomic_store(&of->pauses, true);
    uint32_t gate = atomic_fetch_and(&of->gate, ~OPEN);
    while (gate & JOINED) {
        gate = atomic_fetch_or(&of->gate, WAITED_FOR) | WAITED_FOR;
        if (gate & JOINED)
            park(&of->gate, gate, 0);
        gate = atomic_load_explicit(&of->gate, memory_order_acquire);
    }
}

static void before_fork(void)
{
    pause_run(own_slot);
    pause_run(outer_slot);
}

static void continue_run(slot *of)
{
    if (of == NULL)
        return;
    atomic_store(&of->pauses, false);
    attend(&of->work, SV_AFTER_FORK);
    if (!of->ends)
        open_gate(of, of->part_count - 1);
}

static void after_fork_in_parent(void)
{
    continue_run(own_slot);
    continue_run(outer_slot);
}

/* The child of a fork has only this thread: it starts with an empty pool, and finishes its run alone. */
static void after_fork_in_child(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    starting = fresh;
    for (int i = 0; i < SLOTS; i++) {
        atomic_store(&pool.slots[i].gate, 0);
        atomic_store(&pool.slots[i].pauses, false);
        atomic_store(&pool.slots[i].taken, &pool.slots[i] == own_slot || &pool.slots[i] == outer_slot);
    }
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.spinners, 0);
    atomic_store(&pool.active, inside);
    atomic_store(&pool.alive, 0);
    atomic_store(&pool.started, 0);
    if (own_slot != NULL)
        attend(&own_slot->work, SV_AFTER_FORK);
    if (outer_slot != NULL)
        attend(&outer_slot->work, SV_AFTER_FORK);
}

static void prepare_for_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static bool start_worker(int number)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* Signals belong to Python's threads, except synchronous ones (SIGSEGV …): blocked, they would kill the process without
       a message. A new thread inherits the mask. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    atomic_fetch_add(&pool.alive, 1);
    pthread_t thread;
    int failed = pthread_create(&thread, &attributes, worker, (void *)(intptr_t)number);
    if (failed)
        atomic_fetch_sub(&pool.alive, 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !failed;
}

/* Make sure that `count` workers exist, as far as the system allows. */
static int start_workers(int count)
{
    int started = atomic_load_explicit(&pool.started, memory_order_acquire);
    if (started >= count)
        return started;
    pthread_once(&once, prepare_for_forks);
    pthread_mutex_lock(&starting);
    started = atomic_load(&pool.started);
    while (started < count && !atomic_load(&pool.closed) && start_worker(started + 1))
        atomic_store_explicit(&pool.started, ++started, memory_order_release);
    pthread_mutex_unlock(&starting);
    return started;
}

_Atomic bool sv_ragged_chunks;

void sv_pool_set_threads(int threads)
{
    int processors = sv_processors();
    atomic_store(&pool.processors, processors);
    int width = threads > 0 ? threads : processors;
    atomic_store(&pool.width, width > SV_MAX_THREADS ? SV_MAX_THREADS : width);
}

int sv_pool_threads(void)
{
    if (atomic_load_explicit(&pool.width, memory_order_relaxed) == 0)
        sv_pool_set_threads(0);
    return atomic_load_explicit(&pool.width, memory_order_relaxed);
}

bool sv_pool_awake(void)
{
    return atomic_load_explicit(&pool.spinners, memory_order_relaxed) > 0;
}

void sv_pool_close(void)
{
    atomic_store(&pool.closed, true);
    atomic_fetch_add(&pool.epoch, 1);
    unpark(&pool.epoch, INT_MAX);
    int64_t deadline = sv_now() + CLOSE_WAIT, left;
    uint32_t alive;
    while ((alive = atomic_load(&pool.alive)) > 0 && (left = deadline - sv_now()) > 0)
        park(&pool.alive, alive, left < 10000000 ? left : 10000000);
}

sv_pool_counts sv_pool_statistics(void)
{
    return (sv_pool_counts){atomic_load(&pool.started), atomic_load(&pool.shared), atomic_load(&pool.refused),
                            atomic_load(&pool.chunks), atomic_load(&pool.steals), atomic_load(&pool.sleeps)};
}

/* --- a run */

static slot *take_slot(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (!atomic_load_explicit(&pool.slots[i].taken, memory_order_relaxed) &&
            !atomic_exchange_explicit(&pool.slots[i].taken, true, memory_order_acquire))
            return &pool.slots[i];
    return NULL;
}

static bool publish(slot *to, const sv_work *work, int helpers)
{
    int count = helpers + 1;
    to->work = *work;
    to->ends = false;
    to->part_count = count;
    to->float_control = float_control();
    atomic_store_explicit(&to->busy, 0, memory_order_relaxed);
    int64_t units = work->end - work->begin, begin = work->begin;
    for (int i = 0; i < count; i++) {
        int64_t before = units / count * (i + 1) + (i < units % count ? i + 1 : units % count);
        int64_t end = i + 1 < count ? work->begin + (before < 1024 ? before : sv_whole_lines(before)) : work->end;
        if (end > work->end)
            end = work->end;
        atomic_store_explicit(&to->parts[i].next, begin, memory_order_relaxed);
        to->parts[i].end = end;
        begin = end;
    }
    return open_gate(to, helpers);
}

/* Close the gate and wait for the threads inside; returns for how long. */
static int64_t close_gate(slot *from)
{
    from->ends = true;
    uint32_t gate = atomic_fetch_and_explicit(&from->gate, ~OPEN, memory_order_acquire) & ~OPEN;
    if (!(gate & JOINED))
        return 0;
    int64_t start = sv_now();
    while (gate & JOINED) {
        for (int i = 0; i < 16 && gate & JOINED; i++) {
            pause_briefly();
            gate = atomic_load_explicit(&from->gate, memory_order_acquire);
        }
        if (gate & JOINED && sv_now() - start > CALLER_SPIN) {
            gate = atomic_fetch_or_explicit(&from->gate, WAITED_FOR, memory_order_acquire) | WAITED_FOR;
            while (gate & JOINED) {
                park(&from->gate, gate, ATTEND_EVERY);
                attend(&from->work, SV_ATTEND);
                gate = atomic_load_explicit(&from->gate, memory_order_acquire);
            }
        }
    }
    return sv_now() - start;
}

bool sv_pool_run(const sv_work *work, sv_shared *shared)
{
    if (inside || atomic_load_explicit(&pool.closed, memory_order_relaxed))
        return false;
    int width = sv_pool_threads();
    int active = atomic_fetch_add_explicit(&pool.active, 1, memory_order_relaxed) + 1;
    int helpers = width - active < work->helpers ? width - active : work->helpers;
    if (helpers >= work->end - work->begin)
        helpers = (int)(work->end - work->begin - 1);
    slot *mine = NULL;
    if (helpers > 0) {
        int started = start_workers(helpers);
        helpers = started < helpers ? started : helpers;
    }
    if (helpers > 0)
        mine = take_slot();
    if (mine == NULL) {
        atomic_fetch_sub_explicit(&pool.active, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&pool.refused, 1, memory_order_relaxed);
        return false;
    }
    inside = true;
    own_slot = mine;
    shared->woken = publish(mine, work, helpers);
    take_share(mine, 0);
    shared->waited = close_gate(mine);
    own_slot = NULL;
    inside = false;
    shared->busy = atomic_load_explicit(&mine->busy, memory_order_relaxed);
    atomic_store_explicit(&mine->taken, false, memory_order_release);
    atomic_fetch_sub_explicit(&pool.active, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool.shared, 1, memory_order_relaxed);
    return true;
}

void sv_pool_step_outside(sv_outside *outside)
{
    *outside = (sv_outside){inside, own_slot};
    if (!inside)
        return;
    inside = false;
    outer_slot = own_slot;
    own_slot = NULL;
    atomic_fetch_sub_explicit(&pool.active, 1, memory_order_relaxed);
}

void sv_pool_step_inside(const sv_outside *outside)
{
    if (!outside->was_inside)
        return;
    atomic_fetch_add_explicit(&pool.active, 1, memory_order_relaxed);
    inside = true;
    own_slot = outside->slot;
    outer_slot = NULL;
}
