/* The facts of a tensor: what compiled code depends on in an array of any library. Defined once, in the order in which the
   lens answers (`samovar.lens.TensorFacts`), guard programs compare, and files store them; everything else is generated from
   this list. */
#ifndef SAMOVAR_TENSOR_FACTS_H
#define SAMOVAR_TENSOR_FACTS_H

#include "cpython.h" /* first: Python.h decides what the system headers offer */

/* Name, type, and the letter of the operand in a guard program: t a dtype, n a number, f a flag. */
#define SV_TENSOR_FACTS(X)                                                                                                \
    X(dtype, sv_dtype *, t)                                                                                               \
    X(ndim, int, n)                                                                                                       \
    X(contiguous, bool, f)   /* C order */                                                                                \
    X(wide, bool, f)         /* some dimension has 2^31 elements or more */                                               \
    X(needs_grad, bool, f)   /* only for our own arrays */                                                                \
    X(baked, bool, f)        /* a field: code is specialized on its layout, which is a question of its own */             \
    X(of_vectors, bool, f)   /* the last dimension is that of its elements; only for our own arrays */                    \
    X(of_matrices, bool, f)  /* the last two dimensions are */                                                            \
    X(is_view, bool, f)      /* a slice of an array, whose length is never specialized on */                              \
    X(soa, bool, f)          /* SoA vectors or matrices: C order with the dimensions of the elements first */             \
    X(permuted, bool, f)     /* not in C order, which the question about the layout answers; only for our own arrays */

#define SV_FACT_FIELD(name, type, letter) type name;
#define SV_FACT_NUMBER(name, type, letter) SV_FACT_##name,
#define SV_FACT_LETTER(name, type, letter) #letter

/* The position of each fact. */
enum { SV_TENSOR_FACTS(SV_FACT_NUMBER) SV_FACT_COUNT };

/* --- extents */

/* Code may be specialized on small extents; all others are only known not to be small, so that they share code. */
enum { SV_LEAST_KNOWN_EXTENT = 2, SV_GREATEST_KNOWN_EXTENT = 8, SV_UNKNOWN_EXTENT = 0 };

/* Whether an extent matches the answer: this number, or unknown. */
static inline bool sv_is_extent(int64_t actual, int64_t answered)
{
    if (answered != SV_UNKNOWN_EXTENT)
        return actual == answered;
    return actual < SV_LEAST_KNOWN_EXTENT || actual > SV_GREATEST_KNOWN_EXTENT;
}

#endif
