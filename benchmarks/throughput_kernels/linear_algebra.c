/* Linear algebra; see linear_algebra.py. */
#include <stdint.h>

#define BLOCK 16

void row_products(const float *restrict a, const float *restrict x, float *restrict y, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float total = 0.0f;
#pragma omp simd reduction(+ : total)
        for (int64_t j = 0; j < n; j++)
            total += a[i * n + j] * x[j];
        y[i] = total;
    }
}

/* Columns in blocks that stay in the first cache, row by row. */
void column_products(const float *restrict a, const float *restrict x, float *restrict y, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < n; first += 256) {
        const int64_t last = first + 256 < n ? first + 256 : n;
        for (int64_t j = first; j < last; j++)
            y[j] = 0.0f;
        for (int64_t i = 0; i < n; i++) {
            const float factor = x[i];
#pragma omp simd
            for (int64_t j = first; j < last; j++)
                y[j] += factor * a[i * n + j];
        }
    }
}

void sparse(const int32_t *restrict starts, const int32_t *restrict columns, const float *restrict values,
            const float *restrict x, float *restrict y, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float total = 0.0f;
        for (int32_t k = starts[i]; k < starts[i + 1]; k++)
            total += values[k] * x[columns[k]];
        y[i] = total;
    }
}

void small_products(const float *restrict a, const float *restrict b, float *restrict c, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++) {
        const float *restrict left = a + 16 * m, *restrict right = b + 16 * m;
        float *restrict result = c + 16 * m;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                float total = 0.0f;
                for (int k = 0; k < 4; k++)
                    total += left[4 * i + k] * right[4 * k + j];
                result[4 * i + j] = total;
            }
    }
}

void points(const float *restrict p, const float *restrict m, float *restrict q, int64_t n)
{
    const float m0 = m[0], m1 = m[1], m2 = m[2], m3 = m[3], m4 = m[4], m5 = m[5], m6 = m[6], m7 = m[7], m8 = m[8];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2];
        q[3 * i] = m0 * x + m1 * y + m2 * z;
        q[3 * i + 1] = m3 * x + m4 * y + m5 * z;
        q[3 * i + 2] = m6 * x + m7 * y + m8 * z;
    }
}

void matmul_f64(const double *restrict a, const double *restrict b, double *restrict c, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double *restrict row = c + i * n;
        for (int64_t j = 0; j < n; j++)
            row[j] = 0.0;
        for (int64_t k = 0; k < n; k++) {
            const double factor = a[i * n + k];
            const double *restrict other = b + k * n;
            for (int64_t j = 0; j < n; j++)
                row[j] += factor * other[j];
        }
    }
}

void transpose(const float *restrict a, float *restrict b, int64_t n)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t p = 0; p < n; p += BLOCK)
        for (int64_t q = 0; q < n; q += BLOCK)
            for (int64_t i = 0; i < BLOCK; i++)
                for (int64_t j = 0; j < BLOCK; j++)
                    b[(p + i) * n + q + j] = a[(q + j) * n + p + i];
}

void plain_transpose(const float *restrict a, float *restrict b, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            b[i * n + j] = a[j * n + i];
}
