/* When work is shared and when not, with times that are made up. Ends with a message if it is otherwise. */
#include "threads/back_off.h"

#include <stdio.h>
#include <stdlib.h>

enum { MICROSECOND = 1000, MILLISECOND = 1000000 };
static int64_t now;

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "at %.3f ms: %s\n", (double)now / MILLISECOND, what);
    exit(1);
}

/* A run of 150 us on two threads; the launcher waits for the other one at its end. */
static void run(sv_back_off *state, int64_t waited, bool woken)
{
    require(sv_may_share(state, now), "a run is not shared");
    now += 75 * MICROSECOND + waited;
    sv_after_sharing(state, now, 150 * MICROSECOND, waited, woken);
}

static void after_pauses(int64_t waited)
{
    sv_back_off state = {0};
    now = 5000 * (int64_t)MILLISECOND;
    for (int pause = 0; pause < 50; pause++) {
        now += 200 * MILLISECOND;
        /* The worker is woken, and late; the next runs find it awake, and on the same processor. */
        run(&state, waited, true);
        run(&state, waited, false);
        for (int i = 0; i < 200; i++)
            run(&state, 10 * MICROSECOND, false);
    }
}

static void awake_and_late(void)
{
    sv_back_off state = {0};
    now = 5000 * (int64_t)MILLISECOND;
    run(&state, 0, true);
    now += SV_SETTLING;
    run(&state, 100 * MICROSECOND, false);
    require(!sv_may_share(&state, now + 799 * MICROSECOND), "a long wait is not repaid");
    require(sv_may_share(&state, now + 800 * MICROSECOND), "a long wait is repaid for too long");
}

static void short_waits(void)
{
    sv_back_off state = {0};
    now = 5000 * (int64_t)MILLISECOND;
    for (int i = 0; i < 1000; i++)
        run(&state, SV_WAIT_ALLOWED, false);
}

/* Each run that is shared waits for a time slice of another process, and workers fall asleep between them. */
static void busy_machine(int64_t waited)
{
    sv_back_off state = {0};
    now = 5000 * (int64_t)MILLISECOND;
    int64_t begin = now, waits = 0;
    while (now < begin + 60000 * (int64_t)MILLISECOND) {
        if (sv_may_share(&state, now)) {
            run(&state, waited, true);
            waits += waited;
        } else {
            now += 150 * MICROSECOND;
        }
    }
    double share = (double)waits / (double)(now - begin);
    require(share < 1.0 / (SV_WAIT_REPAID + 1) + 1.0 / SV_WAIT_EXCUSED + 0.01, "too much time is spent waiting");
}

int main(void)
{
    after_pauses(60 * MICROSECOND);
    after_pauses(3 * MILLISECOND);
    awake_and_late();
    short_waits();
    busy_machine(100 * MICROSECOND);
    busy_machine(4 * MILLISECOND);
    busy_machine(40 * MILLISECOND);
    return 0;
}
