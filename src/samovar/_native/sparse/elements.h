/* The elements of sparse fields. */
#ifndef SAMOVAR_SPARSE_ELEMENTS_H
#define SAMOVAR_SPARSE_ELEMENTS_H

#include "array/array.h"

static inline bool sv_array_is_sparse(const sv_array *array)
{
    return array->layout != NULL && array->layout->cells.is_sparse && !array->layout->cells.is_mask;
}

/* Called with the indices of an element from 0 on, its address and its number in C order. */
typedef void (*sv_visit)(void *state, const int64_t *at, char *element, int64_t number);

/* Visit the active elements of a sparse field, or all of them. */
void sv_sparse_each(const sv_array *array, sv_visit visit, void *state);
void sv_sparse_every(const sv_array *array, sv_visit visit, void *state);

/* The number of the cell or list of an element; `position` receives that in the list. */
int64_t sv_sparse_cell(const sv_array *array, const int64_t *at, int64_t *position);
/* Activate the cell of an element, or extend its list to it. */
void sv_sparse_activate_at(const sv_array *array, const int64_t *at);

/* Fill the active elements with one of `count` numbers. */
void sv_sparse_fill(const sv_array *array, const void *numbers, int64_t count);
/* Copy a view into a sparse field: the elements that are active there, and also those that are active in the `source`, if that
   is a sparse field, or all of them from another array of ours. -1 with an exception. */
int sv_sparse_copy(sv_array *array, const sv_tensor_view *view, const sv_array *source, bool is_ours);

/* What `sv.save` and pickles take from a sparse node and its fields, as new arrays, or NULL with an exception. A row of the
   first has the first index of an active cell, followed by the length for lists; the second has the active elements in that
   order, without dimensions. */
sv_array *sv_sparse_cells(const sv_array *array);
sv_array *sv_sparse_elements(const sv_array *field);
/* The reverse: activate these cells, and overwrite the active elements. -1 with an exception. */
int sv_sparse_restore_cells(const sv_array *array, const sv_array *rows);
int sv_sparse_restore_elements(const sv_array *field, const sv_array *elements);

#endif
