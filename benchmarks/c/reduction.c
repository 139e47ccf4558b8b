/* Kernels that combine many elements into few: sum, dot product, histogram.
 *
 * The histogram reduces a whole array, so that each thread counts into a private copy and no atomic is needed. */
#include <stdint.h>
#include <string.h>

#define BINS 256

void sum(const float *restrict x, float *restrict out, int64_t n)
{
    float total = 0.0f;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
    for (int64_t i = 0; i < n; i++)
        total += x[i];
    out[0] = total;
}

void dot(const float *restrict x, const float *restrict y, float *restrict out, int64_t n)
{
    float total = 0.0f;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
    for (int64_t i = 0; i < n; i++)
        total += x[i] * y[i];
    out[0] = total;
}

void histogram(const int32_t *restrict keys, int32_t *restrict counts, int64_t n)
{
    int32_t bins[BINS];
    memset(bins, 0, sizeof bins);
#pragma omp parallel for reduction(+ : bins[:BINS]) schedule(static)
    for (int64_t i = 0; i < n; i++)
        bins[keys[i]]++;
    memcpy(counts, bins, sizeof bins);
}
