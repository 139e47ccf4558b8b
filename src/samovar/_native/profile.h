/* Watching launches: where calls of kernels leave the usual way, and what is told of them. See profile.c. */
#ifndef SAMOVAR_PROFILE_H
#define SAMOVAR_PROFILE_H

#include "runtime.h"

/* Not 0 while calls of kernels go another way than the shortest: the one thing that a launch looks at. Changed with the GIL. */
extern _Atomic uint32_t sv_detours;
enum { SV_DETOUR_RECORDING = 1, SV_DETOUR_PROFILE = 2, SV_DETOUR_CALLS = 4 };

void sv_detour(uint32_t which, bool on);

static inline bool sv_has_detour(uint32_t which)
{
    return __builtin_expect(atomic_load_explicit(&sv_detours, memory_order_relaxed) & which, 0);
}

/* A launch that is watched. With the GIL: before it, so that every profile knows the kernel (-1 with an exception: Python may run),
   and after it. */
int sv_profile_expect(sv_kernel *kernel, sv_specialisation *specialisation);
void sv_profile_launched(const sv_specialisation *specialisation, int64_t begin);

/* sv_run, watched: each portion is told of by the thread that runs it. */
int32_t sv_profile_run(sv_context *context, int32_t index, sv_task_function function, void *frame, int64_t units, int64_t items_per_unit);
bool sv_profile_is_watched(sv_task_function function);

/* A call that another profiler is to see (cProfile): true if it was made, with its outcome. Python may run here. */
bool sv_seen_call(sv_kernel *kernel, PyObject *const *bound, PyObject *label, PyObject **result);

#endif
