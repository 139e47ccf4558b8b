/* Vector math: the functions that `fast_math` loops call for several numbers at a time, and declarations shared by the files
   for each instruction set. */
#ifndef SV_VECTOR_MATH_H
#define SV_VECTOR_MATH_H

#define SV_INLINE static inline __attribute__((always_inline))

/* Takes and returns vectors: images know their length. */
typedef void (*sv_vector_function)(void);

typedef struct {
    const char *name;
    sv_vector_function function;
} sv_vector_row;

/* The functions for one instruction set, terminated by a row without a name. */
extern const sv_vector_row sv_avx2_functions[], sv_avx512_functions[];

#endif
