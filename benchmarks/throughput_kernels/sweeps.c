/* Sweeps in place; see sweeps.py. */
#include <math.h>
#include <stdint.h>

/* Points of one color do not read each other, so they may be computed in vectors. */
void sor(float *restrict u, const float *restrict right, float omega, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; i++) {
        float *row = u + i * n;
#pragma omp simd
        for (int64_t j = 1 + i % 2; j < n - 1; j += 2) {
            const float around = row[j - n] + row[j + n] + row[j - 1] + row[j + 1];
            row[j] += omega * (0.25f * (around - right[i * n + j]) - row[j]);
        }
    }
}

void red_black_if(float *restrict u, const float *restrict right, int64_t n)
{
    for (int64_t color = 0; color < 2; color++) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 1; i < n - 1; i++) {
            float *row = u + i * n;
#pragma omp simd
            for (int64_t j = 1 + (i + color + 1) % 2; j < n - 1; j += 2)
                row[j] = 0.25f * (row[j - n] + row[j + n] + row[j - 1] + row[j + 1] - right[i * n + j]);
        }
    }
}

void red_black_serial(double *restrict u, const double *restrict right, int64_t n, int64_t sweeps)
{
    for (int64_t sweep = 0; sweep < sweeps; sweep++)
        for (int64_t color = 0; color < 2; color++)
            for (int64_t i = 1; i < n - 1; i++) {
                double *row = u + i * n;
#pragma omp simd
                for (int64_t j = 1 + (i + color) % 2; j < n - 1; j += 2)
                    row[j] = 0.25 * (row[j - n] + row[j + n] + row[j - 1] + row[j + 1] - right[i * n + j]);
            }
}

void gauss_seidel_9(double *restrict u, int64_t n)
{
    for (int64_t i = 1; i < n - 1; i++) {
        double *up = u + (i - 1) * n, *row = u + i * n, *down = u + (i + 1) * n;
        for (int64_t j = 1; j < n - 1; j++)
            row[j] = (up[j - 1] + up[j] + up[j + 1] + row[j - 1] + row[j] + row[j + 1] + down[j - 1] + down[j] +
                      down[j + 1]) / 9.0;
    }
}

/* The second half in blocks of columns, row by row. */
void alternating(double *restrict u, double *restrict v, double *restrict p, double *restrict q, double r, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; i++) {
        const int64_t at = i * n;
        p[at] = 0.0;
        q[at] = u[at];
        for (int64_t j = at + 1; j < at + n - 1; j++) {
            const double pivot = 1.0 + 2.0 * r - r * p[j - 1];
            p[j] = r / pivot;
            q[j] = (r * u[j - n] + (1.0 - 2.0 * r) * u[j] + r * u[j + n] + r * q[j - 1]) / pivot;
        }
        for (int64_t j = at + n - 2; j > at; j--)
            v[j] = p[j] * v[j + 1] + q[j];
    }
#pragma omp parallel for schedule(static)
    for (int64_t first = 1; first < n - 1; first += 32) {
        const int64_t last = first + 32 < n - 1 ? first + 32 : n - 1;
        for (int64_t j = first; j < last; j++) {
            p[j] = 0.0;
            q[j] = v[j];
        }
        for (int64_t i = 1; i < n - 1; i++)
#pragma omp simd
            for (int64_t j = i * n + first; j < i * n + last; j++) {
                const double pivot = 1.0 + 2.0 * r - r * p[j - n];
                p[j] = r / pivot;
                q[j] = (r * v[j - 1] + (1.0 - 2.0 * r) * v[j] + r * v[j + 1] + r * q[j - n]) / pivot;
            }
        for (int64_t i = n - 2; i > 0; i--)
#pragma omp simd
            for (int64_t j = i * n + first; j < i * n + last; j++)
                u[j] = p[j] * u[j + n] + q[j];
    }
}

void eikonal(const float *restrict slowness, float *restrict u, int64_t n)
{
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++) {
            float *here = u + i * n + j;
            const float a = fminf(here[-n], here[n]), b = fminf(here[-1], here[1]), f = slowness[i * n + j];
            const float x = fabsf(a - b) >= f ? fminf(a, b) + f
                                              : 0.5f * (a + b + sqrtf(2.0f * f * f - (a - b) * (a - b)));
            if (x < *here)
                *here = x;
        }
}
