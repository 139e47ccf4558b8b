/* Mathematics of vectors: the functions that loops of `fast_math` call for several numbers at a time, and what the files of
   one instruction set each have in common. */
#ifndef SV_VECTOR_MATH_H
#define SV_VECTOR_MATH_H

#define SV_INLINE static inline __attribute__((always_inline))

/* Takes and gives vectors: images know of which length. */
typedef void (*sv_vector_function)(void);

typedef struct {
    const char *name;
    sv_vector_function function;
} sv_vector_row;

/* The functions for one instruction set, ended by a row without a name. */
extern const sv_vector_row sv_avx2_functions[], sv_avx512_functions[];

#endif
