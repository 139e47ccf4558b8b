/* Images and signals; see images.py. */
#include <stdint.h>
#include <stdlib.h>

void gray(const uint8_t *restrict image, uint8_t *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n * n; i++)
        out[i] = (uint8_t)((77 * image[3 * i] + 150 * image[3 * i + 1] + 29 * image[3 * i + 2]) >> 8);
}

void blend(const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = (uint8_t)((uint16_t)(a[i] * 180 + b[i] * 76) >> 8);
}

void blur(const float *restrict source, float *restrict target, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 2; i < n - 2; i++)
#pragma omp simd
        for (int64_t j = 2; j < n - 2; j++) {
            float total = 0.0f;
            for (int di = -2; di < 3; di++)
                for (int dj = -2; dj < 3; dj++)
                    total += source[(i + di) * n + j + dj];
            target[i * n + j] = total * 0.04f;
        }
}

void sobel(const uint8_t *restrict source, uint8_t *restrict target, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; i++) {
        const uint8_t *restrict u = source + (i - 1) * n, *restrict m = u + n, *restrict d = m + n;
#pragma omp simd
        for (int64_t j = 1; j < n - 1; j++) {
            const int16_t x = u[j + 1] + 2 * m[j + 1] + d[j + 1] - u[j - 1] - 2 * m[j - 1] - d[j - 1];
            const int16_t y = d[j - 1] + 2 * d[j] + d[j + 1] - u[j - 1] - 2 * u[j] - u[j + 1];
            const int16_t sum = (int16_t)((x < 0 ? -x : x) + (y < 0 ? -y : y));
            target[i * n + j] = (uint8_t)(sum > 255 ? 255 : sum);
        }
    }
}

void convolution(const float *restrict x, const float *restrict w, float *restrict y, int64_t n, int64_t taps)
{
    if (taps < 1)
        return;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float total = 0.0f;
        int64_t k = 0;
        do {
            total += w[k] * x[i + k];
            k++;
        } while (k < taps);
        y[i] = total;
    }
}

/* Columns in blocks of a few vectors, row by row. */
void filter_columns(const float *restrict x, float *restrict y, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < n; first += 64) {
        const int64_t last = first + 64 < n ? first + 64 : n;
        float state[64] = {0};
        for (int64_t i = 0; i < n; i++)
#pragma omp simd
            for (int64_t j = first; j < last; j++) {
                state[j - first] = 0.2f * x[i * n + j] + 0.8f * state[j - first];
                y[i * n + j] = state[j - first];
            }
    }
}

void filter_rows(const float *restrict x, float *restrict y, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float last = 0.0f;
        for (int64_t j = 0; j < n; j++) {
            last = 0.2f * x[i * n + j] + 0.8f * last;
            y[i * n + j] = last;
        }
    }
}
