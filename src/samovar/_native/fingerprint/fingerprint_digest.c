/* BLAKE2b (RFC 7693) with 160 bits and one personalization per domain, as described in aggregation.py. */
#include "fingerprint/fingerprint.h"

#include <string.h>

static const uint64_t initial[8] = {
    0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
    0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u,
};

static const uint8_t schedule[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

#define PERSONALIZATION(name, text) [SV_DOMAIN_##name] = text,
static const char personalization[SV_DOMAIN_COUNT][16] = {SV_DIGEST_DOMAINS(PERSONALIZATION)};

static inline uint64_t load_word(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
#if PY_BIG_ENDIAN
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint64_t rotate_right(uint64_t word, unsigned int by)
{
    return word >> by | word << (64 - by);
}

#define MIX(a, b, c, d, x, y)              \
    do {                                   \
        a += b + (x);                      \
        d = rotate_right(d ^ a, 32);       \
        c += d;                            \
        b = rotate_right(b ^ c, 24);       \
        a += b + (y);                      \
        d = rotate_right(d ^ a, 16);       \
        c += d;                            \
        b = rotate_right(b ^ c, 63);       \
    } while (0)

/* The row number is a literal, so that the compiler resolves the schedule. */
#define ROUND(row)                                                                             \
    do {                                                                                       \
        MIX(v0, v4, v8, v12, words[schedule[row][0]], words[schedule[row][1]]);                \
        MIX(v1, v5, v9, v13, words[schedule[row][2]], words[schedule[row][3]]);                \
        MIX(v2, v6, v10, v14, words[schedule[row][4]], words[schedule[row][5]]);               \
        MIX(v3, v7, v11, v15, words[schedule[row][6]], words[schedule[row][7]]);               \
        MIX(v0, v5, v10, v15, words[schedule[row][8]], words[schedule[row][9]]);               \
        MIX(v1, v6, v11, v12, words[schedule[row][10]], words[schedule[row][11]]);             \
        MIX(v2, v7, v8, v13, words[schedule[row][12]], words[schedule[row][13]]);              \
        MIX(v3, v4, v9, v14, words[schedule[row][14]], words[schedule[row][15]]);              \
    } while (0)

static void compress(uint64_t chain[8], const uint8_t block[128], uint64_t length, bool is_last)
{
    uint64_t words[16];
    for (int i = 0; i < 16; i++)
        words[i] = load_word(block + 8 * i);
    uint64_t v0 = chain[0], v1 = chain[1], v2 = chain[2], v3 = chain[3];
    uint64_t v4 = chain[4], v5 = chain[5], v6 = chain[6], v7 = chain[7];
    uint64_t v8 = initial[0], v9 = initial[1], v10 = initial[2], v11 = initial[3];
    uint64_t v12 = initial[4] ^ length, v13 = initial[5];
    uint64_t v14 = is_last ? ~initial[6] : initial[6], v15 = initial[7];
    ROUND(0);
    ROUND(1);
    ROUND(2);
    ROUND(3);
    ROUND(4);
    ROUND(5);
    ROUND(6);
    ROUND(7);
    ROUND(8);
    ROUND(9);
    ROUND(0);
    ROUND(1);
    chain[0] ^= v0 ^ v8;
    chain[1] ^= v1 ^ v9;
    chain[2] ^= v2 ^ v10;
    chain[3] ^= v3 ^ v11;
    chain[4] ^= v4 ^ v12;
    chain[5] ^= v5 ^ v13;
    chain[6] ^= v6 ^ v14;
    chain[7] ^= v7 ^ v15;
}

void sv_hasher_begin(sv_hasher *hasher, sv_digest_domain domain)
{
    memcpy(hasher->chain, initial, sizeof initial);
    /* Parameter block: digest length, no key, fan-out and depth of 1, no `salt`, the personalization in the last two words. */
    hasher->chain[0] ^= 0x01010000u ^ SV_DIGEST_SIZE;
    hasher->chain[6] ^= load_word((const uint8_t *)personalization[domain]);
    hasher->chain[7] ^= load_word((const uint8_t *)personalization[domain] + 8);
    hasher->length = 0;
    hasher->used = 0;
}

void sv_hasher_update(sv_hasher *hasher, const void *data, size_t size)
{
    const uint8_t *from = data;
    if (size == 0)
        return;
    size_t space = sizeof hasher->block - hasher->used;
    /* A full block is kept until it is known not to be the last. */
    if (size > space) {
        memcpy(hasher->block + hasher->used, from, space);
        hasher->length += sizeof hasher->block;
        compress(hasher->chain, hasher->block, hasher->length, false);
        hasher->used = 0;
        from += space;
        size -= space;
        while (size > sizeof hasher->block) {
            hasher->length += sizeof hasher->block;
            compress(hasher->chain, from, hasher->length, false);
            from += sizeof hasher->block;
            size -= sizeof hasher->block;
        }
    }
    memcpy(hasher->block + hasher->used, from, size);
    hasher->used += size;
}

void sv_hasher_finish(sv_hasher *hasher, sv_digest *digest)
{
    memset(hasher->block + hasher->used, 0, sizeof hasher->block - hasher->used);
    compress(hasher->chain, hasher->block, hasher->length + hasher->used, true);
    /* The words in little-endian order, byte-swapped on other machines. */
    for (int i = 0; i < (SV_DIGEST_SIZE + 7) / 8; i++)
        hasher->chain[i] = load_word((const uint8_t *)&hasher->chain[i]);
    memcpy(digest->bytes, hasher->chain, SV_DIGEST_SIZE);
}
