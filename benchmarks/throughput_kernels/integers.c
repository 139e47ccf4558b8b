/* Integers and bits; see integers.py. */
#include <stdint.h>

void xorshift(const uint32_t *restrict seeds, uint32_t *restrict out, int64_t n, int64_t rounds)
{
    if (rounds < 1)
        return;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        uint32_t state = seeds[i];
        int64_t k = 0;
        do {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            k++;
        } while (k < rounds);
        out[i] = state;
    }
}

void mix(const uint32_t *restrict x, uint32_t *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        uint32_t h = x[i];
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        out[i] = h ^ h >> 16;
    }
}

void population(const uint64_t *restrict x, const uint64_t *restrict y, int32_t *restrict out, int64_t n)
{
    int64_t total = 0;
#pragma omp parallel for reduction(+ : total) schedule(static)
    for (int64_t i = 0; i < n; i++)
        total += __builtin_popcountll(x[i] ^ y[i]);
    out[0] = (int32_t)total;
}

static inline uint32_t spread(uint32_t v)
{
    v = (v | v << 8) & 0x00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0fu;
    v = (v | v << 2) & 0x33333333u;
    return (v | v << 1) & 0x55555555u;
}

void morton(const uint32_t *restrict x, const uint32_t *restrict y, uint32_t *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = spread(x[i]) | spread(y[i]) << 1;
}

void collatz(const int32_t *restrict start, int32_t *restrict out, int64_t n)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < n; i++) {
        uint32_t value = (uint32_t)start[i];
        int32_t steps = 0;
        while (value > 1) {
            value = value & 1 ? 3 * value + 1 : value >> 1;
            steps++;
        }
        out[i] = steps;
    }
}
