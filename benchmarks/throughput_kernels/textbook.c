/* Loops of textbooks, see textbook.py. */
#include <math.h>
#include <stdint.h>

void subset_sum(const int32_t *restrict weight, uint8_t *restrict reached, int64_t items, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        reached[j] = 0;
    reached[0] = 1;
    for (int64_t k = 0; k < items; k++)
        for (int64_t j = n - 1; j >= weight[k]; j--)
            reached[j] |= reached[j - weight[k]];
}

void knapsack_if(const int32_t *restrict weight, const float *restrict value, float *restrict best, int64_t items,
                 int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        best[j] = 0;
    for (int64_t k = 0; k < items; k++) {
        const int64_t size = weight[k];
        const float gain = value[k];
        for (int64_t j = n - 1; j >= size; j--)
            if (best[j - size] + gain > best[j])
                best[j] = best[j - size] + gain;
    }
}

void coin_change(const int32_t *restrict coins, int64_t *restrict ways, int64_t count, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        ways[j] = 0;
    ways[0] = 1;
    for (int64_t k = 0; k < count; k++) {
        const int64_t coin = coins[k];
        for (int64_t j = coin; j < n; j++)
            ways[j] += ways[j - coin];
    }
}

void seam(const double *restrict cost, double *restrict t, int64_t rows, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++)
        t[j] = cost[j];
    for (int64_t i = 1; i < rows; i++) {
        const double *above = t + (i - 1) * columns;
        for (int64_t j = 0; j < columns; j++) {
            double best = above[j];
            if (j > 0)
                best = fmin(best, above[j - 1]);
            if (j < columns - 1)
                best = fmin(best, above[j + 1]);
            t[i * columns + j] = cost[i * columns + j] + best;
        }
    }
}

void inversions(const int32_t *restrict x, int32_t *restrict out, int64_t n)
{
    int32_t count = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            if (x[i] > x[j])
                count++;
    out[0] = count;
}

void smooth_rows(const double *restrict x, double *restrict y, double a, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < rows; r++) {
        double level = x[r * columns];
        for (int64_t i = 0; i < columns; i++) {
            level = a * x[r * columns + i] + (1 - a) * level;
            y[r * columns + i] = level;
        }
    }
}

void window_max(const double *restrict x, double *restrict y, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n - 8; i++) {
        double best = x[i];
        for (int64_t k = 1; k < 8; k++)
            best = fmax(best, x[i + k]);
        y[i] = best;
    }
}

void walsh_hadamard(const float *restrict x, float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i];
    for (int64_t h = 1; h < n; h *= 2)
        for (int64_t i = 0; i < n; i += 2 * h)
            for (int64_t j = i; j < i + h; j++) {
                const float a = y[j], b = y[j + h];
                y[j] = a + b;
                y[j + h] = a - b;
            }
}

void horner(const double *restrict c, const double *restrict x, double *restrict y, int64_t degree, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double total = 0;
        for (int64_t k = degree - 1; k >= 0; k--)
            total = total * x[i] + c[k];
        y[i] = total;
    }
}

void interpolate_scan(const double *restrict xs, const double *restrict ys, const double *restrict x, double *restrict y,
                      int64_t size, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        while (k < size - 2 && xs[k + 1] < x[i])
            k++;
        const double f = (x[i] - xs[k]) / (xs[k + 1] - xs[k]);
        y[i] = ys[k] + f * (ys[k + 1] - ys[k]);
    }
}

void gcd(const int32_t *restrict a, const int32_t *restrict b, int32_t *restrict g, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int32_t x = a[i], y = b[i];
        while (y != 0) {
            const int32_t t = x % y;
            x = y;
            y = t;
        }
        g[i] = x;
    }
}

void rule_110(uint8_t *restrict x, uint8_t *restrict y, int64_t steps, int64_t n)
{
    for (int64_t step = 0; step < steps; step++) {
        for (int64_t i = 1; i < n - 1; i++)
            y[i] = (110 >> (4 * x[i - 1] + 2 * x[i] + x[i + 1])) & 1;
        for (int64_t i = 1; i < n - 1; i++)
            x[i] = y[i];
    }
}

void matmul_kij(const float *restrict a, const float *restrict b, float *restrict c, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        c[i] = 0;
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

void banded_product(const double *restrict a, const double *restrict x, double *restrict y, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = i < 3 ? 3 - i : 0, end = i > n - 4 ? n + 3 - i : 7;
        double total = 0;
        for (int64_t k = begin; k < end; k++)
            total += a[k * n + i] * x[i + k - 3];
        y[i] = total;
    }
}

void gauss_pivot(const double *restrict a, double *restrict w, double *restrict x, int64_t n)
{
    const int64_t m = n + 1;
    for (int64_t i = 0; i < n * m; i++)
        w[i] = a[i];
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(w[i * m + k]) > fabs(w[pivot * m + k]))
                pivot = i;
        if (pivot != k)
            for (int64_t j = k; j < m; j++) {
                const double t = w[k * m + j];
                w[k * m + j] = w[pivot * m + j];
                w[pivot * m + j] = t;
            }
        for (int64_t i = k + 1; i < n; i++) {
            const double f = w[i * m + k] / w[k * m + k];
            for (int64_t j = k; j < m; j++)
                w[i * m + j] -= f * w[k * m + j];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        double total = w[i * m + n];
        for (int64_t j = i + 1; j < n; j++)
            total -= w[i * m + j] * x[j];
        x[i] = total / w[i * m + i];
    }
}

void products_3x3(const double *restrict a, const double *restrict b, double *restrict c, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++) {
        const double *restrict left = a + m * 9, *restrict right = b + m * 9;
        double *restrict product = c + m * 9;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double total = 0;
                for (int k = 0; k < 3; k++)
                    total += left[i * 3 + k] * right[k * 3 + j];
                product[i * 3 + j] = total;
            }
    }
}

void deposit_cic(const double *restrict x, double *restrict rho, int64_t n)
{
    for (int64_t i = 0; i < 257; i++)
        rho[i] = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t k = x[i];
        const double f = x[i] - k;
        rho[k] += 1 - f;
        rho[k + 1] += f;
    }
}
