/* Reductions; see reductions.py. */
#include <math.h>
#include <stdint.h>

void largest(const float *restrict x, float *restrict out, int64_t n)
{
    float best = -INFINITY;
#pragma omp parallel for simd reduction(max : best) schedule(static)
    for (int64_t i = 0; i < n; i++)
        best = x[i] > best ? x[i] : best;
    out[0] = best;
}

void row_largest(const float *restrict x, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float best = x[i * n];
#pragma omp simd reduction(max : best)
        for (int64_t j = 0; j < n; j++)
            best = x[i * n + j] > best ? x[i * n + j] : best;
        out[i] = best;
    }
}

void bytes_sum(const uint8_t *restrict x, int32_t *restrict out, int64_t n)
{
    int32_t total = 0;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
    for (int64_t i = 0; i < n; i++)
        total += x[i];
    out[0] = total;
}

void count_bytes(const uint8_t *restrict x, int32_t *restrict out, int64_t n)
{
    int32_t total = 0;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
    for (int64_t i = 0; i < n; i++)
        total += x[i] > 100;
    out[0] = total;
}

void moments(const double *restrict x, double *restrict out, int64_t n)
{
    double first = 0.0, second = 0.0;
#pragma omp parallel for simd reduction(+ : first, second) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        first += x[i];
        second += x[i] * x[i];
    }
    out[0] = first;
    out[1] = second;
}

void apart(const float *restrict x, const float *restrict y, float *restrict out, int64_t n)
{
    float best = 0.0f;
#pragma omp parallel for simd reduction(max : best) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float distance = fabsf(x[i] - y[i]);
        best = distance > best ? distance : best;
    }
    out[0] = best;
}

void short_rows(const float *restrict x, float *restrict out, int64_t n, int64_t width)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float total = 0.0f;
#pragma omp simd reduction(+ : total)
        for (int64_t j = 0; j < width; j++)
            total += x[i * width + j] * x[i * width + j];
        out[i] = total;
    }
}

void softmax(const float *restrict x, float *restrict out, int64_t n, int64_t width)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float *restrict row = x + i * width;
        float *restrict result = out + i * width;
        float best = row[0], total = 0.0f;
#pragma omp simd reduction(max : best)
        for (int64_t j = 0; j < width; j++)
            best = row[j] > best ? row[j] : best;
#pragma omp simd reduction(+ : total)
        for (int64_t j = 0; j < width; j++) {
            result[j] = expf(row[j] - best);
            total += result[j];
        }
        const float inverse = 1.0f / total;
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            result[j] *= inverse;
    }
}
