/* The remaining stack of a thread. A launch takes some ten kilobytes, guards call Python, and Python may launch again: the
   interpreter's own recursion limit counts calls, and assumes that each is small. */
#ifndef SAMOVAR_STACK_H
#define SAMOVAR_STACK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uintptr_t low;     /* where the stack ends: it grows downwards */
    uintptr_t reserve; /* the reserve for handling the error; all of the memory until it is known */
} sv_stack;

extern _Thread_local sv_stack sv_thread_stack __attribute__((tls_model("initial-exec")));

/* Query the stack of this thread. Then: whether it is nearly exhausted. */
bool sv_stack_measure(uintptr_t here);

/* An address outside the thread's stack (of a coroutine with its own stack) is never in the reserve. */
static inline bool sv_stack_is_short(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return here - sv_thread_stack.low < sv_thread_stack.reserve && sv_stack_measure(here);
}

/* The remaining bytes of this thread's stack before the reserve; if unknown, more than anybody needs. */
uintptr_t sv_stack_left(void);

#endif
