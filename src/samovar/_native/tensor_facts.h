/* The facts of a tensor: what code depends on in an array of any library. They stand here once, in the order in which the lens
   answers (`samovar.lens.TensorFacts`), guard programs compare, and files keep them; everything else is made from this list. */
#ifndef SAMOVAR_TENSOR_FACTS_H
#define SAMOVAR_TENSOR_FACTS_H

#include "cpython.h" /* first: Python.h decides what the system headers offer */

/* Name, type, and the letter of the operand in a guard program: t a dtype, n a number, f a flag. */
#define SV_TENSOR_FACTS(X)                                                                                                \
    X(dtype, sv_dtype *, t)                                                                                               \
    X(ndim, int, n)                                                                                                       \
    X(contiguous, bool, f) /* C order */                                                                                  \
    X(wide, bool, f)       /* some axis has 2^31 elements or more */                                                      \
    X(needs_grad, bool, f) /* only ever of our own arrays */                                                              \
    X(baked, bool, f)      /* a field: code is made for its layout, which is a question of its own */                     \
    X(of_vectors, bool, f) /* the last axis is that of its elements; only ever of our own arrays */                       \
    X(of_matrices, bool, f) /* the last two axes are */                                                                    \
    X(is_view, bool, f)    /* a part of an array, whose length is nobody's business but the launch's */                  \
    X(apart, bool, f)      /* of vectors or matrices, entry by entry: C order with the axes of the elements first */    \
    X(turned, bool, f)     /* its axes lie in another order, which is the same question as the layout of a field; only ever ours */

#define SV_FACT_FIELD(name, type, letter) type name;
#define SV_FACT_NUMBER(name, type, letter) SV_FACT_##name,
#define SV_FACT_LETTER(name, type, letter) #letter

/* The place of each fact in the order. */
enum { SV_TENSOR_FACTS(SV_FACT_NUMBER) SV_FACT_COUNT };

/* --- extents */

/* An extent of a few elements may be asked for, and code is made for it; of all others is only known that they are none of
   these, so that one code serves them. */
enum { SV_LEAST_KNOWN_EXTENT = 2, SV_GREATEST_KNOWN_EXTENT = 8, SV_UNKNOWN_EXTENT = 0 };

/* Is an extent what was answered: this number, or none that is known? */
static inline bool sv_is_extent(int64_t actual, int64_t answered)
{
    if (answered != SV_UNKNOWN_EXTENT)
        return actual == answered;
    return actual < SV_LEAST_KNOWN_EXTENT || actual > SV_GREATEST_KNOWN_EXTENT;
}

#endif
