/* Loops that choose, see choices.py. */
#include <math.h>
#include <stdint.h>

void extremes_if(const double *restrict x, double *restrict out, int64_t n)
{
    double low = x[0], high = x[0];
    for (int64_t i = 0; i < n; i++) {
        if (x[i] < low)
            low = x[i];
        if (x[i] > high)
            high = x[i];
    }
    out[0] = low;
    out[1] = high;
}

void sorting_network(const float *restrict x, float *restrict y, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r++) {
        float *row = y + r * 8;
        for (int i = 0; i < 8; i++)
            row[i] = x[r * 8 + i];
        for (int a = 0; a < 8; a++)
            for (int j = a % 2; j < 7; j += 2) {
                const float p = row[j], q = row[j + 1];
                row[j] = fminf(p, q);
                row[j + 1] = fmaxf(p, q);
            }
    }
}

void matrix_chain(const int64_t *restrict sizes, int64_t *restrict cost, int64_t n)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        cost[i * n + i] = 0;
        for (int64_t j = i + 1; j < n; j++) {
            int64_t best = cost[(i + 1) * n + j] + sizes[i] * sizes[i + 1] * sizes[j + 1];
            for (int64_t k = i + 1; k < j; k++) {
                const int64_t split = cost[i * n + k] + cost[(k + 1) * n + j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
                if (split < best)
                    best = split;
            }
            cost[i * n + j] = best;
        }
    }
}

void mismatches(const uint8_t *restrict a, const uint8_t *restrict b, int32_t *restrict out, int32_t limit, int64_t n,
                int64_t size)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int32_t count = 0;
        for (int64_t j = 0; j < size; j++)
            if (a[i * size + j] != b[j]) {
                count++;
                if (count > limit)
                    break;
            }
        out[i] = count;
    }
}
