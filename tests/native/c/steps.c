/* The steps of a long loop on one thread, with times that are made up. Ends with a message if they are not as they should be. */
#include "threads/pool.h"

#include <stdio.h>

_Atomic bool sv_ragged_chunks;

enum { MILLISECOND = 1000000 };

/* The number of steps of a loop whose first `preempted` steps are interrupted for 100 ms each; the longest takes `longest`. */
static int64_t steps_of(int64_t units, int64_t nanoseconds_per_unit, int preempted, int64_t *longest)
{
    int64_t step = 1 + 2 * MILLISECOND / nanoseconds_per_unit, steps = 0;
    *longest = 0;
    for (int64_t begin = 0; begin < units; steps++) {
        int64_t size = units - begin > step ? step : units - begin, needed = size * nanoseconds_per_unit;
        *longest = needed > *longest ? needed : *longest;
        begin += size;
        step = sv_next_step(step, needed + (steps < preempted ? 100 * MILLISECOND : 0));
    }
    return steps;
}

int main(void)
{
    int64_t longest, steps = steps_of(100000000, 1, 6, &longest);
    if (steps > 300 || longest > 2 * MILLISECOND + 1)
        return fprintf(stderr, "after preemptions: %lld steps of at most %lld ns\n", (long long)steps, (long long)longest), 1;
    steps = steps_of(100, 50 * MILLISECOND, 0, &longest);
    if (steps < 99)
        return fprintf(stderr, "long units: %lld steps\n", (long long)steps), 1;
    return 0;
}
