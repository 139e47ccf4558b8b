/* Sparse matrices; see sparse_rows.py. */
#include <stdint.h>

void uneven_rows(const int32_t *restrict starts, const int32_t *restrict columns, const float *restrict values,
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

void by_columns(const int32_t *restrict starts, const int32_t *restrict rows, const double *restrict values,
                const double *restrict x, double *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = 0.0;
    for (int64_t j = 0; j < n; j++)
        for (int32_t k = starts[j]; k < starts[j + 1]; k++)
            y[rows[k]] += values[k] * x[j];
}

void padded_rows(const int32_t *restrict columns, const float *restrict values, const float *restrict x,
                 float *restrict y, int64_t n, int64_t width)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float total = 0.0f;
        for (int64_t k = i * width; k < (i + 1) * width; k++)
            if (columns[k] >= 0)
                total += values[k] * x[columns[k]];
        y[i] = total;
    }
}

/* Rows are shared by threads, so each has a private y. */
void coordinates(const int32_t *restrict rows, const int32_t *restrict columns, const float *restrict values,
                 const float *restrict x, float *restrict y, int64_t n, int64_t count)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = 0.0f;
#pragma omp parallel for reduction(+ : y[:n]) schedule(static)
    for (int64_t k = 0; k < count; k++)
        y[rows[k]] += values[k] * x[columns[k]];
}

void sparse_solve(const int32_t *restrict starts, const int32_t *restrict columns, const double *restrict values,
                  const double *restrict b, double *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double total = b[i];
        for (int32_t k = starts[i]; k < starts[i + 1]; k++)
            total -= values[k] * x[columns[k]];
        x[i] = total;
    }
}

void solve_by_levels(const int32_t *restrict levels, const int32_t *restrict order, const int32_t *restrict starts,
                     const int32_t *restrict columns, const double *restrict values, const double *restrict b,
                     double *restrict x, int64_t count)
{
    for (int64_t level = 0; level < count; level++)
        for (int32_t r = levels[level]; r < levels[level + 1]; r++) {
            const int32_t i = order[r];
            double total = b[i];
            for (int32_t k = starts[i]; k < starts[i + 1]; k++)
                total -= values[k] * x[columns[k]];
            x[i] = total;
        }
}

void sparse_block(const int32_t *restrict starts, const int32_t *restrict columns, const float *restrict values,
                  const float *restrict x, float *restrict y, int64_t n, int64_t width)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float *restrict row = y + i * width;
        for (int64_t c = 0; c < width; c++)
            row[c] = 0.0f;
        for (int32_t k = starts[i]; k < starts[i + 1]; k++)
            for (int64_t c = 0; c < width; c++)
                row[c] += values[k] * x[columns[k] * width + c];
    }
}

void sampled_products(const int32_t *restrict starts, const int32_t *restrict columns, const float *restrict values,
                      const float *restrict a, const float *restrict b, float *restrict out, int64_t n, int64_t width)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int32_t k = starts[i]; k < starts[i + 1]; k++) {
            float total = 0.0f;
            for (int64_t c = 0; c < width; c++)
                total += a[i * width + c] * b[columns[k] * width + c];
            out[k] = values[k] * total;
        }
}

void neighbor_labels(const int32_t *restrict starts, const int32_t *restrict columns, const int32_t *restrict label,
                     int32_t *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int32_t least = label[i];
        for (int32_t k = starts[i]; k < starts[i + 1]; k++)
            least = label[columns[k]] < least ? label[columns[k]] : least;
        out[i] = least;
    }
}
