/* Values that the forward part of an iteration saves for its reverse, on a stack of its thread (see passes/derivatives). Plain C, as the
   pool is. */
#ifndef SAMOVAR_SAVED_VALUES_H
#define SAMOVAR_SAVED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t used, capacity;
    uint64_t *values;
} sv_saved_values;

extern _Thread_local sv_saved_values sv_saved __attribute__((tls_model("initial-exec")));

/* Allocate memory for more values. False if there is no memory; everything saved stays. */
bool sv_saved_grow(void);
/* Drop what a failed launch has left. */
void sv_saved_forget(void);

#endif
