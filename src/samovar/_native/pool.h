/* The thread pool: plain C without Python, so that it can be tested alone under a thread sanitizer. */
#ifndef SAMOVAR_POOL_H
#define SAMOVAR_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* A task over a range of units, as generated code defines it. */
typedef void (*sv_task_function)(void *frame, int64_t begin, int64_t end);

#endif
