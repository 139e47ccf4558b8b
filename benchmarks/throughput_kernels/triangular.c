/* Triangular loops; see triangular.py. */
#include <math.h>
#include <stdint.h>

void cholesky(const double *restrict a, double *restrict l, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            double total = a[i * n + j];
            for (int64_t k = 0; k < j; k++)
                total -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = total / l[j * n + j];
        }
        double square = a[i * n + i];
        for (int64_t k = 0; k < i; k++)
            square -= l[i * n + k] * l[i * n + k];
        l[i * n + i] = sqrt(square);
    }
}

void lu(const double *restrict a, double *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        b[i] = a[i];
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = k + 1; i < n; i++) {
            b[i * n + k] /= b[k * n + k];
            const double factor = b[i * n + k];
            for (int64_t j = k + 1; j < n; j++)
                b[i * n + j] -= factor * b[k * n + j];
        }
}

void forward_substitution(const double *restrict l, const double *restrict b, double *restrict x, int64_t n,
                          int64_t count)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < count; m++) {
        double *restrict row = x + m * n;
        for (int64_t i = 0; i < n; i++) {
            double total = b[m * n + i];
            for (int64_t k = 0; k < i; k++)
                total -= l[i * n + k] * row[k];
            row[i] = total / l[i * n + i];
        }
    }
}

void back_substitution(const double *restrict u, const double *restrict b, double *restrict x, int64_t n, int64_t count)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < count; m++) {
        double *restrict row = x + m * n;
        for (int64_t i = n - 1; i >= 0; i--) {
            double total = b[m * n + i];
            for (int64_t k = i + 1; k < n; k++)
                total -= u[i * n + k] * row[k];
            row[i] = total / u[i * n + i];
        }
    }
}

void triangular_solve(const double *restrict l, const double *restrict b, double *restrict x, int64_t n,
                      int64_t columns)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < columns; j++)
            x[i * columns + j] = b[i * columns + j];
        for (int64_t k = 0; k < i; k++) {
            const double factor = l[i * n + k];
            for (int64_t j = 0; j < columns; j++)
                x[i * columns + j] -= factor * x[k * columns + j];
        }
        for (int64_t j = 0; j < columns; j++)
            x[i * columns + j] /= l[i * n + i];
    }
}

void rank_update(const double *restrict a, double *restrict c, int64_t n, int64_t depth)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double total = 0.0;
            for (int64_t k = 0; k < depth; k++)
                total += a[i * depth + k] * a[j * depth + k];
            c[i * n + j] = total;
        }
}

void triangular_product(const double *restrict a, const double *restrict b, double *restrict c, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        c[i] = b[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double total = c[i * n + j];
            for (int64_t k = i + 1; k < n; k++)
                total += a[k * n + i] * c[k * n + j];
            c[i * n + j] = total;
        }
}

void gram_schmidt(const double *restrict a, double *restrict q, double *restrict r, int64_t rows, int64_t n)
{
    for (int64_t i = 0; i < rows * n; i++)
        q[i] = a[i];
    for (int64_t k = 0; k < n; k++) {
        double norm = 0.0;
        for (int64_t i = 0; i < rows; i++)
            norm += q[i * n + k] * q[i * n + k];
        norm = sqrt(norm);
        r[k * n + k] = norm;
        for (int64_t i = 0; i < rows; i++)
            q[i * n + k] /= norm;
        for (int64_t j = k + 1; j < n; j++) {
            double total = 0.0;
            for (int64_t i = 0; i < rows; i++)
                total += q[i * n + k] * q[i * n + j];
            r[k * n + j] = total;
            for (int64_t i = 0; i < rows; i++)
                q[i * n + j] -= q[i * n + k] * total;
        }
    }
}

void power_iteration(const double *restrict a, double *restrict x, double *restrict y, int64_t n, int64_t steps)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = 1.0;
    for (int64_t step = 0; step < steps; step++) {
        for (int64_t i = 0; i < n; i++) {
            double total = a[i * n + i] * x[i];
            for (int64_t j = 0; j < i; j++) {
                total += a[i * n + j] * x[j];
                y[j] += a[i * n + j] * x[i];
            }
            y[i] = total;
        }
        double square = 0.0;
        for (int64_t i = 0; i < n; i++)
            square += y[i] * y[i];
        for (int64_t i = 0; i < n; i++)
            x[i] = y[i] / sqrt(square);
    }
}
