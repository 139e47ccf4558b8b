/* The end of a thread's stack, queried from the system once per thread. */
#define _GNU_SOURCE
#include "threads/stack.h"

#include <pthread.h>

enum { RESERVE = 256 << 10 };

_Thread_local sv_stack sv_thread_stack = {0, UINTPTR_MAX};

bool sv_stack_measure(uintptr_t here)
{
    if (sv_thread_stack.reserve == UINTPTR_MAX) {
        sv_stack found = {0, 0};
        pthread_attr_t attributes;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            void *low;
            size_t size, guard;
            if (pthread_attr_getstack(&attributes, &low, &size) == 0 && pthread_attr_getguardsize(&attributes, &guard) == 0) {
                found.low = (uintptr_t)low + guard;
                found.reserve = size / 4 < RESERVE ? size / 4 : RESERVE;
            }
            pthread_attr_destroy(&attributes);
        }
        sv_thread_stack = found;
    }
    return here - sv_thread_stack.low < sv_thread_stack.reserve;
}

uintptr_t sv_stack_left(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool is_short = sv_stack_measure(here);
    if (sv_thread_stack.low == 0 || here < sv_thread_stack.low)
        return UINTPTR_MAX;
    return is_short ? 0 : here - sv_thread_stack.low - sv_thread_stack.reserve;
}
