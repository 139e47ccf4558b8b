/* The pool under a thread sanitizer: launchers of many kinds at once, sharing, stealing, stopping, forking. Built and run by
   `make tsan`; also a quick run in the test suite, without the sanitizer. */
#define _GNU_SOURCE
#include "threads/pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

#define CHECK(condition)                                                                                             \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                          \
            __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);                                                      \
        }                                                                                                            \
    } while (0)

typedef struct {
    int64_t *values;
    _Atomic int32_t *stop;
    int64_t stop_at;
    int nested;
} frame;

static _Atomic int32_t never = 0;

static void count_up(void *pointer, int64_t begin, int64_t end)
{
    frame *work = pointer;
    for (int64_t i = begin; i < end; i++) {
        work->values[i]++; /* a race if two threads got the same unit */
        if (i == work->stop_at)
            atomic_store(work->stop, 1);
    }
    if (work->nested) {
        sv_shared cost;
        frame inner = {work->values, &never, -1, 0};
        sv_work again = {count_up, &inner, 0, 10, 1, INT64_MAX, 8, &never, NULL, NULL};
        CHECK(!sv_pool_run(&again, &cost)); /* a task does not share its own work */
    }
}

/* Runs one job; true if it was shared. Every unit must be done exactly once. */
static bool run(int64_t *values, int64_t begin, int64_t end, int64_t chunk, int helpers)
{
    memset(values, 0, sizeof *values * (size_t)end);
    frame work = {values, &never, -1, chunk % 2 == 0};
    sv_work job = {count_up, &work, begin, end, chunk, INT64_MAX, helpers, &never, NULL, NULL};
    sv_shared cost = {-1, -1};
    bool shared = sv_pool_run(&job, &cost);
    if (!shared) {
        work.nested = 0;
        count_up(&work, begin, end);
    }
    CHECK(!shared || (cost.busy >= 0 && cost.waited >= 0));
    for (int64_t i = 0; i < end; i++)
        CHECK(values[i] == (i >= begin));
    return shared;
}

static void *launcher(void *argument)
{
    int rounds = *(int *)argument;
    int64_t *values = calloc(20000, sizeof *values);
    for (int i = 0; i < rounds; i++) {
        run(values, 0, 2 + i % 50, 1, 7);
        run(values, 3, 1000 + i % 7, 10 + i % 3, 3);
        run(values, 0, 20000, 64, 256);
        if (i % 16 == 0)
            usleep(200); /* let workers fall asleep */
    }
    free(values);
    return NULL;
}

static void many_launchers(int rounds)
{
    pthread_t threads[12]; /* more than there are slots */
    for (int i = 0; i < 12; i++)
        CHECK(pthread_create(&threads[i], NULL, launcher, &rounds) == 0);
    for (int i = 0; i < 12; i++)
        pthread_join(threads[i], NULL);
}

static void a_stop_is_obeyed(void)
{
    int64_t *values = calloc(1 << 20, sizeof *values);
    _Atomic int32_t stop = 0;
    frame work = {values, &stop, 5, 0};
    sv_work job = {count_up, &work, 0, 1 << 20, 1, INT64_MAX, 3, &stop, NULL, NULL};
    sv_shared cost;
    int64_t done = 0;
    CHECK(sv_pool_run(&job, &cost));
    for (int64_t i = 0; i < 1 << 20; i++)
        done += values[i];
    CHECK(done > 0);
    CHECK(done < 1 << 20);
    free(values);
}

static void a_child_has_its_own_pool(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int64_t *values = calloc(1000, sizeof *values);
        CHECK(sv_pool_statistics().workers == 0);
        CHECK(run(values, 0, 1000, 1, 3));
        CHECK(sv_pool_statistics().workers > 0);
        sv_pool_close();
        _exit(failures != 0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A caller that forks while others work on its run: parent and child both get every unit done once. */
typedef struct {
    int64_t *values;
    pid_t child;
    int befores, afters;
} forking;

static void count_slowly(void *pointer, int64_t begin, int64_t end)
{
    forking *work = pointer;
    for (int64_t i = begin; i < end; i++) {
        for (volatile int k = 0; k < 2000; k++) {}
        work->values[i]++;
    }
}

static void attend(void *pointer, sv_occasion occasion)
{
    forking *work = pointer;
    work->befores += occasion == SV_BEFORE_FORK;
    work->afters += occasion == SV_AFTER_FORK;
    if (occasion == SV_ATTEND && work->child == -1)
        work->child = fork();
}

static void a_caller_forks_in_the_middle(void)
{
    enum { UNITS = 20000 };
    int64_t *values = calloc(UNITS, sizeof *values);
    for (int round = 0; round < 20; round++) {
        memset(values, 0, sizeof *values * UNITS);
        forking work = {values, -1, 0, 0};
        sv_work job = {count_slowly, &work, 0, UNITS, 10, INT64_MAX, 3, &never, attend, &work};
        sv_shared cost;
        CHECK(sv_pool_run(&job, &cost));
        for (int64_t i = 0; i < UNITS; i++)
            CHECK(values[i] == 1);
        if (work.child == -1) /* the others have done everything */
            continue;
        CHECK(work.befores == 1 && work.afters == 1);
        if (work.child == 0) {
            CHECK(run(values, 0, 1000, 1, 3));
            sv_pool_close();
            _exit(failures != 0);
        }
        int status = 1;
        CHECK(waitpid(work.child, &status, 0) == work.child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    free(values);
}

static void a_closed_pool_refuses(void)
{
    int64_t values[8] = {0};
    sv_pool_close();
    CHECK(!run(values, 0, 8, 1, 3));
}

int main(int count, char **arguments)
{
    int rounds = count > 1 ? atoi(arguments[1]) : 100;
    bool may_fork = count <= 2 || strcmp(arguments[2], "nofork") != 0; /* a sanitizer does not follow threads into a child */
    sv_pool_set_threads(4);
    CHECK(sv_pool_threads() == 4);
    many_launchers(rounds);
    a_stop_is_obeyed();
    if (may_fork) {
        a_child_has_its_own_pool();
        a_caller_forks_in_the_middle();
    }
    sv_pool_set_threads(1);
    int64_t values[100];
    CHECK(!run(values, 0, 100, 1, 3));
    sv_pool_set_threads(8);
    CHECK(run(values, 0, 100, 1, 7));
    a_closed_pool_refuses();
    sv_pool_counts counts = sv_pool_statistics();
    printf("workers %lld shared %lld refused %lld chunks %lld steals %lld sleeps %lld\n", (long long)counts.workers,
           (long long)counts.shared, (long long)counts.refused, (long long)counts.chunks, (long long)counts.steals,
           (long long)counts.sleeps);
    return failures != 0;
}
