/* A checksum that detects damage, not tampering: two lanes with invertible steps, so that a change of any one word changes
   the result. It has to be fast, because all of an entry is checked before any of it is used. */
#ifndef SAMOVAR_CHECKSUM_H
#define SAMOVAR_CHECKSUM_H

#include "native.h"

#include <string.h>

static const uint64_t sv_sum_odd[3] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0xd6e8feb86659fd93u};

typedef struct {
    uint64_t lanes[2];
} sv_sum;

static inline uint64_t sv_sum_rotated(uint64_t word, int by)
{
    return word << by | word >> (64 - by);
}

static inline void sv_sum_begin(sv_sum *sum, size_t size)
{
    sum->lanes[0] = sv_sum_odd[2] ^ size;
    sum->lanes[1] = sv_sum_odd[0];
}

static inline void sv_sum_add(sv_sum *sum, uint64_t first, uint64_t second)
{
    uint64_t *lanes = sum->lanes;
    lanes[0] = sv_sum_rotated((lanes[0] ^ first * sv_sum_odd[0]) * sv_sum_odd[1], 29) + lanes[1];
    lanes[1] = sv_sum_rotated((lanes[1] ^ second * sv_sum_odd[1]) * sv_sum_odd[2], 31) + lanes[0];
}

/* The length is part of the sum, because the last words are padded with zeros. */
static inline void sv_sum_bytes(sv_sum *sum, const uint8_t *from, size_t size)
{
    uint64_t words[2];
    for (; size >= sizeof words; from += sizeof words, size -= sizeof words) {
        memcpy(words, from, sizeof words);
        sv_sum_add(sum, words[0], words[1]);
    }
    memset(words, 0, sizeof words);
    memcpy(words, from, size);
    sv_sum_add(sum, words[0], words[1]);
}

static inline void sv_sum_end(sv_sum *sum)
{
    for (int i = 0; i < 3; i++)
        sv_sum_add(sum, sum->lanes[1] >> 32, sum->lanes[0] >> 32);
}

#endif
