/* When to stop sharing work for a while, because other processes use the processors. Pure: time is an argument. */
#ifndef SAMOVAR_BACK_OFF_H
#define SAMOVAR_BACK_OFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds. */
static const int64_t SV_WAIT_ALLOWED = 50000;       /* for the last chunks of others */
static const int64_t SV_SETTLING = 20000000;        /* a woken thread may share a processor with its launcher so long */
static const int64_t SV_EXCUSES_LAST = 1000000000;  /* the time whose excuses may be used at once */
enum { SV_WAIT_REPAID = 8, SV_WAIT_EXCUSED = 32 };

/* Threads may update it at the same time; a lost update only makes a decision less precise. */
typedef struct {
    _Atomic int64_t unshared_until;
    _Atomic int64_t woken;   /* when a sleeping worker was last woken */
    _Atomic int64_t excused; /* the time by which all excused waits are a small share of what has passed */
} sv_back_off;

static inline bool sv_may_share(const sv_back_off *state, int64_t now)
{
    return now >= atomic_load_explicit(&state->unshared_until, memory_order_relaxed);
}

/* A worker that was asleep is late on an idle machine too, and it may start on the processor of its launcher, until the system
   moves one of them. Waits meanwhile are excused, but not more than a small share of the time: on a busy machine, workers that
   do not get work fall asleep as well. */
static inline bool sv_is_excused(sv_back_off *state, int64_t now, int64_t waited)
{
    if (now - waited - atomic_load_explicit(&state->woken, memory_order_relaxed) > SV_SETTLING)
        return false;
    int64_t excused = atomic_load_explicit(&state->excused, memory_order_relaxed);
    if (excused < now - SV_EXCUSES_LAST)
        excused = now - SV_EXCUSES_LAST;
    excused += SV_WAIT_EXCUSED * waited;
    if (excused > now)
        return false;
    atomic_store_explicit(&state->excused, excused, memory_order_relaxed);
    return true;
}

/* After a run that ended `now`: `waited` is how long its launcher was idle, `busy` the work of all threads, and `woken` whether
   a worker was woken for it. Another process may preempt a worker in the middle of a chunk, and the launcher waits. After a
   wait that cost more than sharing gained, work is not shared for a multiple of its length. */
static inline void sv_after_sharing(sv_back_off *state, int64_t now, int64_t busy, int64_t waited, bool woken)
{
    if (woken)
        atomic_store_explicit(&state->woken, now - waited, memory_order_relaxed);
    if (waited > SV_WAIT_ALLOWED && waited > busy / 4 && !sv_is_excused(state, now, waited))
        atomic_store_explicit(&state->unshared_until, now + SV_WAIT_REPAID * waited, memory_order_relaxed);
}

#endif
