/* Nests of loops that run in order; see serial_nests.py. */
#include <stdint.h>

void smoothing(double *restrict a, double *restrict b, int64_t n, int64_t steps)
{
    for (int64_t step = 0; step < steps; step++) {
        for (int64_t i = 1; i < n - 1; i++)
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0;
        for (int64_t i = 1; i < n - 1; i++)
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0;
    }
}

static void heat_step(const float *restrict a, float *restrict b, int64_t n)
{
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = i * n + 1; j < i * n + n - 1; j++)
            b[j] = a[j] + 0.2f * (a[j - n] + a[j + n] + a[j - 1] + a[j + 1] - 4.0f * a[j]);
}

void heat(float *restrict a, float *restrict b, int64_t n, int64_t steps)
{
    for (int64_t step = 0; step < steps; step++) {
        heat_step(a, b, n);
        heat_step(b, a, n);
    }
}

void waves(double *restrict ex, double *restrict ey, double *restrict hz, int64_t n, int64_t steps)
{
    for (int64_t step = 0; step < steps; step++) {
        for (int64_t i = 1; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                ey[i * n + j] -= 0.5 * (hz[i * n + j] - hz[(i - 1) * n + j]);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 1; j < n; j++)
                ex[i * n + j] -= 0.5 * (hz[i * n + j] - hz[i * n + j - 1]);
        for (int64_t i = 0; i < n - 1; i++)
            for (int64_t j = 0; j < n - 1; j++)
                hz[i * n + j] -= 0.7 * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
    }
}

void conjugate_gradient(const double *restrict b, double *restrict x, double *restrict r, double *restrict p,
                        double *restrict q, int64_t n, int64_t steps)
{
    double old = 0.0;
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = i * n + 1; j < i * n + n - 1; j++) {
            x[j] = 0.0;
            r[j] = p[j] = b[j];
            old += b[j] * b[j];
        }
    for (int64_t step = 0; step < steps; step++) {
        double curvature = 0.0, new = 0.0;
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = i * n + 1; j < i * n + n - 1; j++) {
                q[j] = 4.0 * p[j] - p[j - n] - p[j + n] - p[j - 1] - p[j + 1];
                curvature += p[j] * q[j];
            }
        const double alpha = old / curvature;
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = i * n + 1; j < i * n + n - 1; j++) {
                x[j] += alpha * p[j];
                r[j] -= alpha * q[j];
                new += r[j] * r[j];
            }
        const double beta = new / old;
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = i * n + 1; j < i * n + n - 1; j++)
                p[j] = r[j] + beta * p[j];
        old = new;
    }
}

void fourier(const float *restrict re, const float *restrict im, const int32_t *restrict order,
             const float *restrict cosine, const float *restrict sine, float *restrict x, float *restrict y,
             int64_t rows, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < rows; m++) {
        float *restrict a = x + m * n, *restrict b = y + m * n;
        for (int64_t i = 0; i < n; i++) {
            a[i] = re[m * n + order[i]];
            b[i] = im[m * n + order[i]];
        }
        for (int64_t half = 1; half < n; half *= 2) {
            const int64_t step = n / (2 * half);
            for (int64_t start = 0; start < n; start += 2 * half)
                for (int64_t k = 0; k < half; k++) {
                    const float c = cosine[k * step], s = sine[k * step];
                    const int64_t i = start + k, j = start + k + half;
                    const float u = c * a[j] - s * b[j], v = c * b[j] + s * a[j];
                    a[j] = a[i] - u;
                    b[j] = b[i] - v;
                    a[i] += u;
                    b[i] += v;
                }
        }
    }
}

void sieve(uint8_t *restrict composite, int32_t *restrict count, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        composite[i] = 0;
    for (int64_t p = 2; p * p < n; p++)
        if (!composite[p])
            for (int64_t q = p * p; q < n; q += p)
                composite[q] = 1;
    int32_t found = 0;
    for (int64_t i = 2; i < n; i++)
        found += !composite[i];
    count[0] = found;
}

void levinson(const double *restrict r, double *restrict y, double *restrict z, int64_t n)
{
    double alpha = -r[0], beta = 1.0;
    y[0] = -r[0];
    for (int64_t k = 1; k < n; k++) {
        beta *= 1.0 - alpha * alpha;
        double total = r[k];
        for (int64_t i = 0; i < k; i++)
            total += r[k - i - 1] * y[i];
        alpha = -total / beta;
        for (int64_t i = 0; i < k; i++)
            z[i] = y[i] + alpha * y[k - i - 1];
        for (int64_t i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = alpha;
    }
}
