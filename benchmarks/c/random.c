/* Pi by throwing darts, with the numbers that are functions of a counter (SplitMix64), as kernels have them. */
#include <stdint.h>

static inline uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline float unit(uint64_t bits)
{
    return (float)(bits >> 40) * 0x1p-24f;
}

double monte_carlo(uint64_t key, int64_t n)
{
    int64_t inside = 0;
#pragma omp parallel for simd reduction(+ : inside) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        uint64_t counter = mixed(key + (uint64_t)i);
        float x = unit(mixed(counter + 0x9e3779b97f4a7c15u)), y = unit(mixed(counter + 2 * 0x9e3779b97f4a7c15u));
        inside += x * x + y * y < 1.0f;
    }
    return 4.0 * (double)inside / (double)n;
}
