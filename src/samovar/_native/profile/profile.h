/* Profiling hooks of launches. See profile.c. */
#ifndef SAMOVAR_PROFILE_H
#define SAMOVAR_PROFILE_H

#include "launch/runtime.h"

/* Bits of the active hooks: not 0 while kernel calls leave the fast path. The only thing that a launch checks. Changed with
   the GIL. */
extern _Atomic uint32_t sv_hooks;
enum { SV_HOOK_RECORDING = 1, SV_HOOK_PROFILE = 2, SV_HOOK_CALLS = 4, SV_HOOK_TAPE = 8 };

void sv_set_hook(uint32_t which, bool on);

static inline bool sv_has_hook(uint32_t which)
{
    return __builtin_expect(atomic_load_explicit(&sv_hooks, memory_order_relaxed) & which, 0);
}

/* A profiled launch. With the GIL: before it, so that every profile knows the kernel (-1 with an exception: Python may run),
   and after it. */
int sv_profile_expect(sv_kernel *kernel, sv_specialization *specialization);
void sv_profile_launched(const sv_specialization *specialization, int64_t begin);

/* sv_run, profiled: the thread that runs a chunk records it. */
int32_t sv_profile_run(sv_context *context, int32_t index, sv_task_function function, void *frame, int64_t units, int64_t items_per_unit);
bool sv_profile_is_running(sv_task_function function);

/* Make a call visible to Python profilers (cProfile): true if the call was made, with its result. Python may run here. */
bool sv_profiled_call(sv_kernel *kernel, PyObject *const *bound, PyObject *label, PyObject **result);

/* A launch that a tape records (launch/taping.c): true if it was made, with its outcome. Python may run here. */
/* taping.c: a launch has written to an array. */
void sv_tape_written(sv_array *array);
bool sv_taped_call(sv_kernel *kernel, PyObject *const *bound, PyObject *label, PyObject **result);

#endif
