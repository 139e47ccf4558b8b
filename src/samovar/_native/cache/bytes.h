/* A growing byte buffer for writing, and a bounded reader. Counts are LEB128: groups of seven bits, lowest first. */
#ifndef SAMOVAR_BYTES_H
#define SAMOVAR_BYTES_H

#include "native.h"

#include <string.h>

typedef struct {
    uint8_t *bytes; /* PyMem_Free */
    size_t used;
    size_t capacity;
} sv_writer;

/* -1 with a MemoryError. */
static inline int sv_put(sv_writer *self, const void *from, size_t size)
{
    if (size > self->capacity - self->used) {
        size_t capacity = 2 * (self->used + size) + 256;
        uint8_t *bytes = PyMem_Realloc(self->bytes, capacity);
        if (bytes == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        self->bytes = bytes;
        self->capacity = capacity;
    }
    memcpy(self->bytes + self->used, from, size);
    self->used += size;
    return 0;
}

static inline int sv_put_count(sv_writer *self, uint64_t count)
{
    uint8_t bytes[10];
    size_t size = 0;
    do {
        bytes[size++] = (uint8_t)((count & 127) | (count > 127 ? 128 : 0));
        count >>= 7;
    } while (count > 0);
    return sv_put(self, bytes, size);
}

typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} sv_reader;

static inline bool sv_take_count(sv_reader *self, uint64_t *count)
{
    *count = 0;
    for (int shift = 0; shift < 64 && self->at < self->end; shift += 7) {
        uint8_t byte = *self->at++;
        *count |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* The count of items that take at least one byte each. */
static inline bool sv_take_size(sv_reader *self, Py_ssize_t *size)
{
    uint64_t count;
    if (!sv_take_count(self, &count) || count > (uint64_t)(self->end - self->at))
        return false;
    *size = (Py_ssize_t)count;
    return true;
}

#endif
