/* Sections of a graph that run side by side. In a file of its own, so that no compiler has a reason to split sv_run. */
#include "runtime.h"

/* Sections side by side are units of a task, but for one thing: what they run may be shared with other threads in turn. */
typedef struct {
    sv_task_function function;
    void *frame;
} section_frame;

static void run_sections(void *frame, int64_t begin, int64_t end)
{
    const section_frame *sections = frame;
    sv_outside outside;
    sv_pool_step_outside(&outside);
    sections->function(sections->frame, begin, end);
    sv_pool_step_inside(&outside);
}

int32_t sv_sections(sv_context *context, int32_t index, sv_task_function function, void *frame, int64_t count)
{
    section_frame sections = {function, frame};
    return sv_run(context, index, run_sections, &sections, count, 1);
}
