/* The elements of sparse fields, one after the other: filling, and copying to and from other arrays. Only active elements are
   visited. */
#include "sparse/elements.h"
#include "sparse/tree.h"

#include <string.h>

/* How many consecutive indices of a dimension are in one cell. */
static int64_t inside(const sv_array *array, int axis)
{
    const sv_layout_cells *cells = &array->layout->cells;
    int64_t found = array->shape[axis];
    for (int i = 0; i < cells->term_count; i++)
        if (cells->terms[i].axis == axis && cells->terms[i].divisor < found)
            found = cells->terms[i].divisor;
    return found;
}

/* All elements from `begin` on, `extent` in each dimension. */
static void visit_box(const sv_array *array, const int64_t *begin, const int64_t *extent, sv_visit visit, void *state)
{
    int rank = sv_array_rank(array);
    int64_t at[SV_MAX_NDIM], step[SV_MAX_NDIM] = {0};
    for (int axis = 0; axis < rank; axis++)
        if (extent[axis] <= 0)
            return;
    for (;;) {
        int64_t offset = 0, number = 0;
        for (int axis = 0; axis < rank; axis++) {
            at[axis] = begin[axis] + step[axis];
            offset += sv_layout_step(array->layout, axis, at[axis]);
            number = number * array->shape[axis] + at[axis];
        }
        visit(state, at, (char *)array->data + offset * array->dtype->itemsize, number);
        int axis = rank;
        while (axis-- > 0) {
            if (++step[axis] < extent[axis])
                break;
            step[axis] = 0;
        }
        if (axis < 0)
            return;
    }
}

void sv_sparse_each(const sv_array *array, sv_visit visit, void *state)
{
    const sv_layout_cells *cells = &array->layout->cells;
    char *mask = (char *)array->data + cells->mask;
    int rank = sv_array_rank(array), own = cells->term_count - (cells->is_list ? 1 : 0);
    int64_t extent[SV_MAX_NDIM];
    for (int axis = 0; axis < rank; axis++)
        extent[axis] = inside(array, axis);
    for (int64_t cell = sv_sparse_next(mask, 0); cell >= 0; cell = sv_sparse_next(mask, cell + 1)) {
        int64_t begin[SV_MAX_NDIM] = {0};
        for (int i = 0; i < own; i++)
            begin[cells->terms[i].axis] += cell / cells->terms[i].factor % cells->terms[i].modulus * cells->terms[i].divisor;
        if (cells->is_list) {
            int64_t length;
            int axis = (int)cells->terms[own].axis;
            length = sv_sparse_length(mask, cell);
            extent[axis] = length * cells->terms[own].divisor;
        }
        visit_box(array, begin, extent, visit, state);
    }
}

void sv_sparse_every(const sv_array *array, sv_visit visit, void *state)
{
    int64_t begin[SV_MAX_NDIM] = {0};
    visit_box(array, begin, array->shape, visit, state);
}

void sv_sparse_activate_at(const sv_array *array, const int64_t *at)
{
    const sv_layout_cells *cells = &array->layout->cells;
    int64_t position = 0, number = sv_sparse_cell(array, at, &position);
    if (cells->is_list)
        sv_sparse_reach((char *)array->data + cells->mask, number, position);
    else
        sv_sparse_activate((char *)array->data + cells->mask, number);
}

int64_t sv_sparse_cell(const sv_array *array, const int64_t *at, int64_t *position)
{
    const sv_layout_cells *cells = &array->layout->cells;
    int64_t number = 0;
    for (int i = 0; i < cells->term_count; i++) {
        *position = at[cells->terms[i].axis] / cells->terms[i].divisor % cells->terms[i].modulus;
        number += *position * cells->terms[i].factor; /* 0 for the position */
    }
    return number;
}

/* --- filling */

/* The distance of a component from the first one of its element, in bytes. */
static int64_t component(const sv_array *array, int64_t position)
{
    int64_t distance = 0;
    for (int axis = array->ndim - 1; axis >= sv_array_rank(array); axis--) {
        distance += sv_layout_step(array->layout, axis, position % array->shape[axis]);
        position /= array->shape[axis];
    }
    return distance * array->dtype->itemsize;
}

static int64_t component_count(const sv_array *array)
{
    int64_t count = 1;
    for (int axis = sv_array_rank(array); axis < array->ndim; axis++)
        count *= array->shape[axis];
    return count;
}

typedef struct {
    const sv_array *array;
    const char *numbers;
    int64_t count;      /* of them, 1 or as many as an element has */
    int64_t components; /* of an element */
} filling;

static void fill_element(void *state, const int64_t *Py_UNUSED(at), char *element, int64_t Py_UNUSED(number))
{
    const filling *fill = state;
    int itemsize = fill->array->dtype->itemsize;
    for (int64_t i = 0; i < fill->components; i++)
        memcpy(element + component(fill->array, i), fill->numbers + (fill->count == 1 ? 0 : i) * itemsize, (size_t)itemsize);
}

void sv_sparse_fill(const sv_array *array, const void *numbers, int64_t count)
{
    filling fill = {array, numbers, count, component_count(array)};
    Py_BEGIN_ALLOW_THREADS
    sv_sparse_each(array, fill_element, &fill);
    Py_END_ALLOW_THREADS
}

/* --- copying */

typedef struct {
    const sv_array *array;
    const char *elements; /* in C order */
    int64_t components;
} copying;

static void copy_element(void *state, const int64_t *at, char *Py_UNUSED(element), int64_t number)
{
    const copying *copy = state;
    const sv_array *array = copy->array;
    int itemsize = array->dtype->itemsize;
    int64_t offset = 0;
    if (array->layout != NULL && array->layout->cells.is_sparse)
        sv_sparse_activate_at(array, at);
    for (int axis = 0; axis < sv_array_rank(array); axis++)
        offset += array->layout != NULL ? sv_layout_step(array->layout, axis, at[axis]) * itemsize : at[axis] * array->byte_strides[axis];
    for (int64_t i = 0; i < copy->components; i++) {
        int64_t distance = array->layout != NULL ? component(array, i) : i * itemsize;
        memcpy((char *)array->data + offset + distance, copy->elements + (number * copy->components + i) * itemsize, (size_t)itemsize);
    }
}

int sv_sparse_copy(sv_array *array, const sv_tensor_view *view, const sv_array *source, bool is_ours)
{
    sv_array *dense = sv_array_new(array->dtype, array->ndim, array->shape, false);
    if (dense == NULL || sv_array_assign(dense, view) < 0) {
        Py_XDECREF(dense);
        return -1;
    }
    copying copy = {array, dense->data, component_count(array)};
    if (is_ours && source == NULL)
        sv_sparse_every(array, copy_element, &copy);
    else
        sv_sparse_each(array, copy_element, &copy);
    if (source != NULL)
        sv_sparse_each(source, copy_element, &copy);
    Py_DECREF(dense);
    return 0;
}
