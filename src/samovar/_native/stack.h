/* How much is left of a thread's stack. A launch takes some ten kilobytes of it, guards call Python, and Python may launch again:
   the interpreter's own limit counts calls, and takes each for a small one. */
#ifndef SAMOVAR_STACK_H
#define SAMOVAR_STACK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uintptr_t low;     /* where the stack ends: it grows downwards */
    uintptr_t reserve; /* so much of it is left to who handles the error; all of the memory before it is known */
} sv_stack;

extern _Thread_local sv_stack sv_thread_stack __attribute__((tls_model("initial-exec")));

/* Find out where the stack of this thread is. Then: is it short? */
bool sv_stack_measure(uintptr_t here);

/* An address outside of the thread's stack (of a coroutine with a stack of its own) is never in the reserve. */
static inline bool sv_stack_is_short(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return here - sv_thread_stack.low < sv_thread_stack.reserve && sv_stack_measure(here);
}

/* The bytes that are left of this thread's stack before the reserve; where that is not known, more than anybody needs. */
uintptr_t sv_stack_left(void);

#endif
