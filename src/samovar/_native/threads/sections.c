/* Concurrent sections of a graph. In its own file, so that compilers have no reason to split sv_run. */
#include "launch/runtime.h"

/* Concurrent sections are units of a task, with one difference: their own tasks may be shared with other threads. */
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
