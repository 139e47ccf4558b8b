/* The argument block: where a kernel finds its arguments and stores its results, in slots of eight bytes.
   `samovar.ir.layout` describes the same for the compiler, and a test compares the two. */
#ifndef SAMOVAR_BLOCK_H
#define SAMOVAR_BLOCK_H

#include <stdbool.h>

/* An array takes a slot for its pointer, one per dimension for its extents, and one per dimension for its strides unless it
   is contiguous. */
enum { SV_SLOT = 8, SV_POINTER_SLOT = 0, SV_FIRST_EXTENT_SLOT = 1 };

static inline int sv_first_stride_slot(int ndim)
{
    return SV_FIRST_EXTENT_SLOT + ndim;
}

static inline int sv_array_slots(int ndim, bool strided)
{
    return sv_first_stride_slot(ndim) + (strided ? ndim : 0);
}

#endif
