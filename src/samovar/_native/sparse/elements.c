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

/* --- saving */

/* How many terms of the number of a cell are digits. The last term of an element of a list is its position there. */
static int digits(const sv_layout_cells *cells)
{
    return cells->term_count - (cells->is_list && !cells->is_mask ? 1 : 0);
}

static char *mask_of(const sv_array *array)
{
    return (char *)array->data + array->layout->cells.mask;
}

sv_array *sv_sparse_cells(const sv_array *array)
{
    const sv_layout_cells *cells = &array->layout->cells;
    char *mask = mask_of(array);
    int64_t shape[2] = {0, sv_array_rank(array) + (cells->is_list ? 1 : 0)};
    for (int64_t cell = sv_sparse_next(mask, 0); cell >= 0; cell = sv_sparse_next(mask, cell + 1))
        shape[0]++;
    sv_array *rows = sv_array_new(sv_dtype_of(SV_I64), 2, shape, false);
    if (rows == NULL)
        return NULL;
    memset(rows->data, 0, (size_t)sv_array_nbytes(rows));
    int64_t *row = rows->data, *end = row + shape[0] * shape[1];
    for (int64_t cell = sv_sparse_next(mask, 0); row < end && cell >= 0; cell = sv_sparse_next(mask, cell + 1)) {
        for (int i = 0; i < digits(cells); i++)
            row[cells->terms[i].axis] += cell / cells->terms[i].factor % cells->terms[i].modulus * cells->terms[i].divisor;
        if (cells->is_list)
            row[shape[1] - 1] = sv_sparse_length(mask, cell);
        row += shape[1];
    }
    return rows;
}

int sv_sparse_restore_cells(const sv_array *array, const sv_array *rows)
{
    const sv_layout_cells *cells = &array->layout->cells;
    int rank = sv_array_rank(array), columns = rank + (cells->is_list ? 1 : 0);
    if (rows->ndim != 2 || rows->shape[1] != columns || rows->dtype != sv_dtype_of(SV_I64) || !sv_array_is_contiguous(rows))
        return PyErr_SetString(PyExc_ValueError, "the cells of a sparse field have to be rows of indices"), -1;
    const int64_t *row = rows->data;
    for (int64_t i = 0; i < rows->shape[0]; i++, row += columns) {
        bool is_inside = !cells->is_list || (row[rank] > 0 && row[rank] <= cells->capacity);
        for (int axis = 0; axis < rank; axis++)
            is_inside = is_inside && row[axis] >= 0 && row[axis] < array->shape[axis];
        if (!is_inside)
            return PyErr_SetString(PyExc_ValueError, "a cell is not in the sparse field"), -1;
        int64_t position = 0, number = sv_sparse_cell(array, row, &position);
        if (cells->is_list)
            sv_sparse_reach(mask_of(array), number, row[rank] - 1);
        else
            sv_sparse_activate(mask_of(array), number);
    }
    return 0;
}

typedef struct {
    const sv_array *field;
    char *next; /* the next elements, of which there are `left`; NULL to count only */
    int64_t left;
    int64_t components;
    bool writes;
} moving;

static void move_element(void *state, const int64_t *Py_UNUSED(at), char *element, int64_t Py_UNUSED(number))
{
    moving *move = state;
    int64_t itemsize = move->field->dtype->itemsize;
    move->left--;
    for (int64_t i = 0; move->next != NULL && move->left >= 0 && i < move->components; i++, move->next += itemsize) {
        char *here = element + component(move->field, i);
        memcpy(move->writes ? here : move->next, move->writes ? move->next : here, (size_t)itemsize);
    }
}

static int64_t active_elements(const sv_array *field)
{
    moving count = {field, NULL, 0, 0, false};
    sv_sparse_each(field, move_element, &count);
    return -count.left;
}

sv_array *sv_sparse_elements(const sv_array *field)
{
    int64_t count = active_elements(field), components = component_count(field), size = count * components;
    sv_array *elements = sv_array_new(field->dtype, 1, &size, false);
    moving move = {field, elements == NULL ? NULL : elements->data, count, components, false};
    if (elements != NULL)
        sv_sparse_each(field, move_element, &move);
    return elements;
}

int sv_sparse_restore_elements(const sv_array *field, const sv_array *elements)
{
    int64_t count = active_elements(field), components = component_count(field);
    if (elements->dtype != field->dtype || sv_array_nbytes(elements) != count * components * field->dtype->itemsize ||
        !sv_array_is_contiguous(elements))
        return PyErr_SetString(PyExc_ValueError, "the elements of a sparse field do not match its active cells"), -1;
    moving move = {field, elements->data, count, components, true};
    sv_sparse_each(field, move_element, &move);
    return 0;
}
