/* Dynamic programming; see dynamic_programming.py. */
#include <math.h>
#include <stdint.h>

static inline int32_t largest_of(int32_t a, int32_t b) { return a > b ? a : b; }

void common_subsequence(const uint8_t *restrict a, const uint8_t *restrict b, int32_t *restrict t, int64_t n,
                        int64_t size)
{
    const int64_t width = size + 1;
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++)
        for (int64_t i = 1; i <= size; i++) {
            const int32_t *up = t + (m * width + i - 1) * width;
            int32_t *row = t + (m * width + i) * width;
            for (int64_t j = 1; j <= size; j++)
                row[j] = a[m * size + i - 1] == b[m * size + j - 1] ? up[j - 1] + 1 : largest_of(up[j], row[j - 1]);
        }
}

void time_warping(const float *restrict x, const float *restrict y, float *restrict d, int64_t n, int64_t size)
{
    const int64_t width = size + 1;
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++)
        for (int64_t i = 1; i <= size; i++) {
            const float *up = d + (m * width + i - 1) * width;
            float *row = d + (m * width + i) * width;
            for (int64_t j = 1; j <= size; j++)
                row[j] = fabsf(x[m * size + i - 1] - y[m * size + j - 1]) + fminf(fminf(up[j], up[j - 1]), row[j - 1]);
        }
}

void alignment(const uint8_t *restrict a, const uint8_t *restrict b, int32_t *restrict h, int32_t *restrict e,
               int32_t *restrict best, int64_t n, int64_t size)
{
    const int64_t width = size + 1;
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++) {
        int32_t *restrict row = h + m * width, *restrict gaps = e + m * width, most = 0;
        for (int64_t j = 0; j < width; j++)
            row[j] = gaps[j] = 0;
        for (int64_t i = 0; i < size; i++) {
            int32_t diagonal = 0, f = 0;
            for (int64_t j = 1; j < width; j++) {
                gaps[j] = largest_of(gaps[j] - 1, row[j] - 3);
                f = largest_of(f - 1, row[j - 1] - 3);
                const int32_t score = diagonal + (a[m * size + i] == b[m * size + j - 1] ? 2 : -1);
                diagonal = row[j];
                row[j] = largest_of(largest_of(score, 0), largest_of(gaps[j], f));
                most = largest_of(most, row[j]);
            }
        }
        best[m] = most;
    }
}

void folding(const uint8_t *restrict bases, int32_t *restrict t, int64_t n)
{
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = i + 1; j < n; j++) {
            int32_t best = largest_of(t[i * n + j - 1], t[(i + 1) * n + j]);
            if (i < j - 1)
                best = largest_of(best, t[(i + 1) * n + j - 1] + (bases[i] + bases[j] == 3));
            for (int64_t k = i + 1; k < j; k++)
                best = largest_of(best, t[i * n + k] + t[(k + 1) * n + j]);
            t[i * n + j] = best;
        }
}

void knapsack(const int32_t *restrict weight, const int32_t *restrict value, int32_t *restrict best, int64_t items,
              int64_t capacity)
{
    for (int64_t w = 0; w <= capacity; w++)
        best[w] = 0;
    for (int64_t item = 0; item < items; item++)
        for (int64_t w = capacity; w >= weight[item]; w--)
            best[w] = largest_of(best[w], best[w - weight[item]] + value[item]);
}

void shortest_paths(const float *restrict edges, float *restrict d, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        d[i] = edges[i];
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++) {
            const float first = d[i * n + k];
            for (int64_t j = 0; j < n; j++) {
                const float through = first + d[k * n + j];
                d[i * n + j] = through < d[i * n + j] ? through : d[i * n + j];
            }
        }
}
