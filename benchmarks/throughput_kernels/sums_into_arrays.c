/* Sums that are kept in arrays; see sums_into_arrays.py. */
#include <stdint.h>

void product_ijk(const float *restrict a, const float *restrict b, float *restrict c, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            float total = 0.0f;
            for (int64_t k = 0; k < n; k++)
                total += a[i * n + k] * b[k * n + j];
            c[i * n + j] = total;
        }
}

void product_serial(const double *restrict a, const double *restrict b, double *restrict c, double alpha, double beta,
                    int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double total = 0.0;
            for (int64_t k = 0; k < n; k++)
                total += a[i * n + k] * b[k * n + j];
            c[i * n + j] = beta * c[i * n + j] + alpha * total;
        }
}

void two_products(const double *restrict a, const double *restrict r, const double *restrict p, double *restrict s,
                  double *restrict q, int64_t rows, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++)
        s[j] = 0.0;
    for (int64_t i = 0; i < rows; i++) {
        double total = 0.0;
        for (int64_t j = 0; j < columns; j++) {
            s[j] += r[i] * a[i * columns + j];
            total += a[i * columns + j] * p[j];
        }
        q[i] = total;
    }
}

void transposed(const double *restrict a, const double *restrict y, const double *restrict z, double *restrict u,
                double *restrict v, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double total = 0.0;
        for (int64_t j = 0; j < n; j++)
            total += a[i * n + j] * y[j];
        u[i] = total;
    }
    for (int64_t i = 0; i < n; i++)
        v[i] = 0.0;
#pragma omp parallel for reduction(+ : v[:n]) schedule(static)
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            v[i] += a[j * n + i] * z[j];
}

void covariance(const double *restrict x, double *restrict mean, double *restrict c, int64_t samples, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        mean[j] = 0.0;
    for (int64_t s = 0; s < samples; s++)
        for (int64_t j = 0; j < n; j++)
            mean[j] += x[s * n + j];
    for (int64_t j = 0; j < n; j++)
        mean[j] /= (double)samples;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) {
            double total = 0.0;
            for (int64_t s = 0; s < samples; s++)
                total += (x[s * n + i] - mean[i]) * (x[s * n + j] - mean[j]);
            c[i * n + j] = c[j * n + i] = total / (double)(samples - 1);
        }
}

void column_sums(const float *restrict x, float *restrict out, int64_t rows, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++)
        out[j] = 0.0f;
#pragma omp parallel for reduction(+ : out[:columns]) schedule(static)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            out[j] += x[i * columns + j];
}

void normal_equations(const float *restrict x, float *restrict g, int64_t samples, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        g[i] = 0.0f;
#pragma omp parallel for reduction(+ : g[:n * n]) schedule(static)
    for (int64_t s = 0; s < samples; s++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                g[i * n + j] += x[s * n + i] * x[s * n + j];
}

void group_sums(const float *restrict x, const int32_t *restrict label, float *restrict out, int64_t n, int64_t groups)
{
    for (int64_t i = 0; i < 3 * groups; i++)
        out[i] = 0.0f;
#pragma omp parallel for reduction(+ : out[:3 * groups]) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < 3; c++)
            out[3 * label[i] + c] += x[3 * i + c];
}
