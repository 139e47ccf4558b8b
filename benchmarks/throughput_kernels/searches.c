/* Searches; see searches.py. */
#include <math.h>
#include <stdint.h>

void binary_search(const float *restrict table, const float *restrict keys, int32_t *restrict out, int64_t n,
                   int64_t size)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int32_t low = 0, high = (int32_t)size;
        while (low < high) {
            const int32_t middle = (low + high) / 2;
            if (table[middle] < keys[i])
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
}

void bisection(const double *restrict a, const double *restrict b, double *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double low = -4.0, high = 4.0;
        while (high - low > 1e-9) {
            const double middle = 0.5 * (low + high);
            if (middle * middle * middle + a[i] * middle < b[i])
                low = middle;
            else
                high = middle;
        }
        out[i] = 0.5 * (low + high);
    }
}

void newton_exp(const float *restrict x, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float w = x[i] / (1.0f + x[i]), step = 1.0f;
        for (int count = 0; fabsf(step) > 1e-4f && count < 50; count++) {
            const float e = expf(w);
            step = (w * e - x[i]) / (e * (w + 1.0f));
            w -= step;
        }
        out[i] = w;
    }
}

void nearest(const float *restrict x, const float *restrict y, const float *restrict px, const float *restrict py,
             int32_t *restrict out, int64_t n, int64_t points)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float best = 1e30f;
        int32_t where = -1;
        for (int32_t j = 0; j < points; j++) {
            const float dx = px[j] - x[i], dy = py[j] - y[i], distance = dx * dx + dy * dy;
            if (distance < best) {
                best = distance;
                where = j;
            }
        }
        out[i] = where;
    }
}

void assign_clusters(const float *restrict x, const float *restrict centers, int32_t *restrict out, int64_t n,
                     int64_t clusters, int64_t axes)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float best = 1e30f;
        int32_t where = 0;
        for (int32_t k = 0; k < clusters; k++) {
            float distance = 0.0f;
            for (int64_t c = 0; c < axes; c++) {
                const float d = x[i * axes + c] - centers[k * axes + c];
                distance += d * d;
            }
            if (distance < best) {
                best = distance;
                where = k;
            }
        }
        out[i] = where;
    }
}

void largest_of_rows(const double *restrict x, int32_t *restrict out, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const double *restrict row = x + i * columns;
        double best = row[0];
        int32_t where = 0;
        for (int32_t j = 1; j < columns; j++)
            if (row[j] > best) {
                best = row[j];
                where = j;
            }
        out[i] = where;
    }
}

void longest_run(const uint8_t *restrict x, int32_t *restrict out, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *restrict row = x + i * columns;
        int32_t best = 1, run = 1;
        for (int64_t j = 1; j < columns; j++) {
            run = row[j] == row[j - 1] ? run + 1 : 1;
            best = run > best ? run : best;
        }
        out[i] = best;
    }
}

void sort_rows(const int32_t *restrict x, int32_t *restrict out, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        int32_t *restrict row = out + i * columns;
        for (int64_t j = 0; j < columns; j++) {
            const int32_t value = x[i * columns + j];
            int64_t k = j;
            for (; k > 0 && row[k - 1] > value; k--)
                row[k] = row[k - 1];
            row[k] = value;
        }
    }
}

void find_pattern(const uint8_t *restrict text, const uint8_t *restrict pattern, int32_t *restrict count, int64_t n,
                  int64_t size)
{
    int32_t total = 0;
#pragma omp parallel for reduction(+ : total) schedule(static)
    for (int64_t i = 0; i <= n - size; i++) {
        int64_t k = 0;
        while (k < size && text[i + k] == pattern[k])
            k++;
        total += k == size;
    }
    count[0] = total;
}
