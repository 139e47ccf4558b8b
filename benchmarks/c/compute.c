/* Kernels that calculate much per element: matrix product, n-body, Mandelbrot, Black-Scholes, LCG. */
#include <math.h>
#include <stdint.h>

/* The ikj order: the inner loop runs along rows of both b and c, and a[i, k] is a scalar in it. */
void matmul(const float *restrict a, const float *restrict b, float *restrict c, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float *restrict row = c + i * n;
        for (int64_t j = 0; j < n; j++)
            row[j] = 0.0f;
        for (int64_t k = 0; k < n; k++) {
            const float factor = a[i * n + k];
            const float *restrict other = b + k * n;
            for (int64_t j = 0; j < n; j++)
                row[j] += factor * other[j];
        }
    }
}

/* Accelerations of n bodies; coordinates in separate arrays, so that the inner loop loads whole vectors. */
void nbody(const float *restrict x, const float *restrict y, const float *restrict z, const float *restrict mass,
           float *restrict ax, float *restrict ay, float *restrict az, float softening, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float xi = x[i], yi = y[i], zi = z[i];
        float sx = 0.0f, sy = 0.0f, sz = 0.0f;
        for (int64_t j = 0; j < n; j++) {
            const float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
            const float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
            const float weight = mass[j] * inverse * inverse * inverse;
            sx += weight * dx;
            sy += weight * dy;
            sz += weight * dz;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}

/* Rows differ much in cost, so they are handed out one at a time. */
void mandelbrot(int32_t *restrict iterations, int64_t rows, int64_t columns, int32_t limit)
{
    const float step_x = 3.0f / (float)columns, step_y = 2.0f / (float)rows;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            const float cx = -2.0f + (float)j * step_x, cy = -1.0f + (float)i * step_y;
            float zx = 0.0f, zy = 0.0f;
            int32_t k = 0;
            while (k < limit && zx * zx + zy * zy < 4.0f) {
                const float next = zx * zx - zy * zy + cx;
                zy = 2.0f * zx * zy + cy;
                zx = next;
                k++;
            }
            iterations[i * columns + j] = k;
        }
    }
}

/* The normal distribution by the polynomial 26.2.17 of Abramowitz and Stegun. */
static inline float cumulative_normal(float d)
{
    const float size = fabsf(d);
    const float k = 1.0f / (1.0f + 0.2316419f * size);
    const float polynomial =
        k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228f * expf(-0.5f * size * size) * polynomial;
    return d > 0.0f ? 1.0f - tail : tail;
}

void black_scholes(const float *restrict price, const float *restrict strike, const float *restrict years,
                   float *restrict call, float *restrict put, float rate, float volatility, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float root = volatility * sqrtf(years[i]);
        const float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root;
        const float d2 = d1 - root;
        const float n1 = cumulative_normal(d1), n2 = cumulative_normal(d2);
        const float discounted = strike[i] * expf(-rate * years[i]);
        call[i] = price[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - price[i] * (1.0f - n1);
    }
}

/* `rounds` steps of a linear congruential generator per element; each element is a chain, neighbors are independent.
 * Known to run at least once, the chain is a loop that gcc leaves inside while it vectorizes the loop around it. */
void lcg(const uint32_t *restrict seeds, uint32_t *restrict out, int64_t n, int64_t rounds)
{
    if (rounds < 1) {
        for (int64_t i = 0; i < n; i++)
            out[i] = seeds[i];
        return;
    }
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        uint32_t state = seeds[i];
        int64_t k = 0;
        do {
            state = state * 1664525u + 1013904223u;
            k++;
        } while (k < rounds);
        out[i] = state;
    }
}
