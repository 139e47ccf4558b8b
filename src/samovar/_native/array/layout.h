/* The memory layout of a field. */
#ifndef SAMOVAR_LAYOUT_H
#define SAMOVAR_LAYOUT_H

#include "native.h"

/* Each dimension is split into pieces, outermost first: an index is a mixed-radix number whose digits are multiplied by the
   strides of the pieces and added. A dimension that is not split has one piece. Viewed with one dimension per piece, a field
   is an ordinary strided array, and its elements in that order are those of the field in C order. */
/* Where the sparse node above an element keeps track of its cells, see sparse/tree.h. The number of a cell (or list) is the sum
   over `terms` of index / divisor % modulus * factor; the last term of an element of a list is its position there. */
typedef struct {
    bool is_sparse;   /* there is such a node */
    bool is_mask;     /* it is the field of masks or lengths itself */
    bool is_list;     /* it has lengths of lists instead of a mask */
    int term_count;
    int64_t capacity; /* the maximum length of a list */
    int64_t mask;     /* the distance of the mask or lengths from the first element, in bytes */
    struct {
        int64_t axis, divisor, modulus, factor;
    } terms[SV_MAX_NDIM];
} sv_layout_cells;

struct sv_layout {
    PyObject_HEAD
    PyObject *description; /* per dimension its offset, and per dimension the (extent, stride) of its pieces: as the lens answers;
                              of a sparse field also (kind, mask, listed, is_wide, capacity, terms) */
    PyObject *order;       /* the dimensions from outermost to innermost, if the layout is just a permutation; NULL otherwise */
    int ndim;
    int piece_count;
    bool contiguous; /* C order without gaps */
    bool in_blocks;  /* some dimension has several pieces */
    int64_t size;    /* number of elements */
    int64_t span;    /* from the first element to the end of the last one, in elements */
    int64_t shape[SV_MAX_NDIM];
    int64_t offset[SV_MAX_NDIM]; /* the first index of each dimension */
    int64_t first_piece[SV_MAX_NDIM + 1];
    int64_t extent[SV_MAX_NDIM]; /* per piece, */
    int64_t stride[SV_MAX_NDIM]; /* in elements */
    sv_layout_cells cells;
};

extern PyTypeObject sv_layout_type;

/* A new reference, or NULL with an exception if the description is invalid. Equal layouts are the same object. */
sv_layout *sv_layout_from(PyObject *description);
/* The unique tuple for an order of dimensions: a new reference, or NULL with an exception. */
PyObject *sv_order_from(PyObject *axes);

/* The contribution of an index along one dimension (counted from 0) to the offset of an element. */
static inline int64_t sv_layout_step(const sv_layout *layout, int axis, int64_t index)
{
    int64_t distance = 0;
    for (int64_t piece = layout->first_piece[axis + 1]; piece-- > layout->first_piece[axis];) {
        distance += index % layout->extent[piece] * layout->stride[piece];
        index /= layout->extent[piece];
    }
    return distance;
}

#endif
