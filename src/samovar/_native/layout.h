/* How the elements of a field lie in memory. */
#ifndef SAMOVAR_LAYOUT_H
#define SAMOVAR_LAYOUT_H

#include "native.h"

/* Each axis is split into pieces, the outermost first: an index is a number whose digits, in the radix of the pieces, are multiplied
   with their strides and added up. An axis that is not split has one piece. Read as an array with an axis per piece, a field is an
   ordinary strided array, and its elements in that order are those of the field in C order. */
struct sv_layout {
    PyObject_HEAD
    PyObject *description; /* (offset of each axis, ((extent, stride) of each piece) of each axis): plain data, as the lens answers */
    PyObject *order;       /* the axes from the outermost to the innermost, where that is all there is to say; NULL otherwise */
    int ndim;
    int piece_count;
    bool contiguous; /* C order without gaps */
    bool in_blocks;  /* some axis has several pieces */
    int64_t size;    /* number of elements */
    int64_t span;    /* from the first element to the end of the last one, in elements */
    int64_t shape[SV_MAX_NDIM];
    int64_t offset[SV_MAX_NDIM]; /* the first index of each axis */
    int64_t first_piece[SV_MAX_NDIM + 1];
    int64_t extent[SV_MAX_NDIM]; /* per piece, */
    int64_t stride[SV_MAX_NDIM]; /* in elements */
};

extern PyTypeObject sv_layout_type;

/* A new reference, or NULL with an exception if this describes none. Equal layouts are the same object. */
sv_layout *sv_layout_from(PyObject *description);
/* The one tuple for an order of axes: a new reference, or NULL with an exception. */
PyObject *sv_order_from(PyObject *axes);

/* What an index along one axis, counted from 0, adds to the distance of an element from the first one. */
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
