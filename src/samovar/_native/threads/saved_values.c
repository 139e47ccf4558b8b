/* The stack of saved values of each thread. It grows, and is freed when the thread ends. */
#include "threads/saved_values.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local sv_saved_values sv_saved __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
    pthread_key_create(&key, free);
}

bool sv_saved_grow(void)
{
    pthread_once(&once, make_key);
    size_t capacity = sv_saved.capacity == 0 ? 1024 : 2 * sv_saved.capacity;
    uint64_t *values = realloc(sv_saved.values, capacity * sizeof *values);
    if (values == NULL)
        return false;
    sv_saved.values = values;
    sv_saved.capacity = capacity;
    pthread_setspecific(key, values);
    return true;
}

void sv_saved_forget(void)
{
    sv_saved.used = 0;
}
