/* Stencils; see stencils.py. */
#include <stdint.h>

static inline int64_t at_least(int64_t a, int64_t b) { return a < b ? b : a; }
static inline int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

/* The borders apart, so that the loop between them is one of whole vectors. */
static void around(const float *restrict up, const float *restrict here, const float *restrict down,
                   float *restrict out, int64_t n, int64_t before, int64_t after)
{
    out[0] = 0.25f * (up[0] + down[0] + here[before] + here[1]);
#pragma omp simd
    for (int64_t j = 1; j < n - 1; j++)
        out[j] = 0.25f * (up[j] + down[j] + here[j - 1] + here[j + 1]);
    out[n - 1] = 0.25f * (up[n - 1] + down[n - 1] + here[n - 2] + here[after]);
}

void clamped(const float *restrict source, float *restrict target, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        around(source + at_least(i - 1, 0) * n, source + i * n, source + at_most(i + 1, n - 1) * n, target + i * n, n,
               0, n - 1);
}

void clamped_by_type(const float *restrict source, float *restrict target, int64_t n) { clamped(source, target, n); }

void wrapped(const float *restrict source, float *restrict target, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        around(source + (i + n - 1) % n * n, source + i * n, source + (i + 1) % n * n, target + i * n, n, n - 1, 0);
}

void red_black(float *restrict u, int64_t n)
{
    for (int64_t parity = 0; parity < 2; parity++) {
#pragma omp parallel for schedule(static)
        for (int64_t k = 0; k < n / 2 - 1; k++) {
            float *row = u + (2 * k + 1 + parity) * n;
#pragma omp simd
            for (int64_t j = 1; j < n - 1; j++)
                row[j] = 0.5f * (row[j - n] + row[j + n]);
        }
    }
}

void wave(const double *restrict now, double *restrict before, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; i++) {
        const double *restrict here = now + i * n;
        double *restrict out = before + i * n;
#pragma omp simd
        for (int64_t j = 1; j < n - 1; j++)
            out[j] = 2.0 * here[j] - out[j] +
                     0.1 * (here[j - n] + here[j + n] + here[j - 1] + here[j + 1] - 4.0 * here[j]);
    }
}

/* Columns in blocks of a few vectors, row by row. */
void sweep(float *restrict u, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < n; first += 64) {
        const int64_t last = at_most(first + 64, n);
        for (int64_t i = 1; i < n - 1; i++)
#pragma omp simd
            for (int64_t j = first; j < last; j++)
                u[i * n + j] = 0.25f * u[(i - 1) * n + j] + 0.5f * u[i * n + j] + 0.25f * u[(i + 1) * n + j];
    }
}

void life(const uint8_t *restrict cells, uint8_t *restrict following, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; i++) {
        const uint8_t *restrict u = cells + (i - 1) * n, *restrict m = u + n, *restrict d = m + n;
#pragma omp simd
        for (int64_t j = 1; j < n - 1; j++) {
            const uint8_t count = (uint8_t)(u[j - 1] + u[j] + u[j + 1] + m[j - 1] + m[j + 1] + d[j - 1] + d[j] + d[j + 1]);
            following[i * n + j] = (count == 3) | ((count == 2) & (m[j] == 1));
        }
    }
}
