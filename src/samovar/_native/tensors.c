/* Arrays of other libraries in guard programs: the facts that a guard compares, and what goes into the argument block. */
#include "guards.h"

void sv_fill_foreign(uint8_t *slots, const sv_tensor_view *view, bool strided)
{
    int64_t *slot = (int64_t *)slots;
    *slot++ = (int64_t)(intptr_t)view->data;
    for (int axis = 0; axis < view->ndim; axis++)
        *slot++ = view->shape[axis];
    if (strided)
        for (int axis = 0; axis < view->ndim; axis++)
            *slot++ = view->strides[axis];
}

int sv_guard_foreign(const sv_program *program, const sv_tensor_guard *guard, PyObject *object, sv_registers *state)
{
    if (state->views == NULL) {
        state->views = PyMem_Malloc(sizeof(sv_tensor_view) * (size_t)program->view_count);
        if (state->views == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    sv_tensor_view *view = &state->views[guard->view];
    int found = sv_tensor_view_get(object, view); /* Python may run here. */
    /* An array that no kernel takes is a miss: who resolves it knows its name and says more. */
    if (found < 0) {
        if (!sv_is_about_object())
            return -1;
        PyErr_Clear();
        return 0;
    }
    if (found == 0)
        return 0;
    if (view->holds_buffer || view->hold != NULL) {
        state->viewed[guard->view] = SV_HOLDING_VIEW;
        sv_python_may_run();
    } else {
        state->viewed[guard->view] = SV_BORROWED_VIEW;
        state->has_borrowed_views = true;
    }
    uint32_t signature = sv_signature(view->dtype, view->ndim, view->wide, view->needs_grad, view->readonly);
    if ((signature & guard->mask) != guard->signature || view->contiguous != guard->contiguous)
        return 0;
    if (guard->fill != SV_NO_FILL)
        sv_fill_foreign(state->block + guard->offset, view, guard->fill == SV_FILL_STRIDES);
    return 1;
}

static bool same_view(const sv_tensor_view *one, const sv_tensor_view *other)
{
    size_t axes = sizeof *one->shape * (size_t)one->ndim;
    return one->data == other->data && one->dtype == other->dtype && one->ndim == other->ndim && one->readonly == other->readonly &&
           memcmp(one->shape, other->shape, axes) == 0 && memcmp(one->strides, other->strides, axes) == 0;
}

int sv_views_still_hold(const sv_program *program, const sv_registers *state)
{
    for (Py_ssize_t i = 0; i < program->count; i++) {
        const sv_instruction *one = &program->instructions[i];
        if (one->operation != SV_GUARD_TENSOR || state->viewed[one->tensor.view] != SV_BORROWED_VIEW)
            continue;
        sv_tensor_view view;
        int found = sv_tensor_view_get(state->registers[one->source], &view);
        if (found < 0 && !sv_is_about_object())
            return -1;
        bool same = found == 1 && same_view(&state->views[one->tensor.view], &view);
        PyErr_Clear();
        if (found == 1)
            sv_tensor_view_release(&view);
        if (!same)
            return 0;
    }
    return 1;
}
