/* Filters of images and signals; see filters.py. */
#include <math.h>
#include <stdint.h>

void convolve_2d(const float *restrict image, const float *restrict weights, float *restrict out, int64_t n,
                 int64_t size)
{
    const int64_t width = n - size + 1;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = 0; j < width; j++) {
            float total = 0.0f;
            for (int64_t p = 0; p < size; p++)
                for (int64_t q = 0; q < size; q++)
                    total += weights[p * size + q] * image[(i + p) * n + j + q];
            out[i * width + j] = total;
        }
}

void bilateral(const float *restrict image, float *restrict out, int64_t n, int64_t radius)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = radius; i < n - radius; i++)
        for (int64_t j = radius; j < n - radius; j++) {
            float total = 0.0f, weights = 0.0f;
            for (int64_t p = -radius; p <= radius; p++)
                for (int64_t q = -radius; q <= radius; q++) {
                    const float d = image[(i + p) * n + j + q] - image[i * n + j];
                    const float weight = expf(-0.2f * (float)(p * p + q * q) - 8.0f * d * d);
                    total += weight * image[(i + p) * n + j + q];
                    weights += weight;
                }
            out[i * n + j] = total / weights;
        }
}

void running_mean(const float *restrict x, float *restrict out, int64_t rows, int64_t columns, int64_t radius)
{
    const float width = (float)(2 * radius + 1);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict row = x + i * columns;
        float total = 0.0f;
        for (int64_t j = 0; j < 2 * radius + 1; j++)
            total += row[j];
        out[i * columns + radius] = total / width;
        for (int64_t j = radius + 1; j < columns - radius; j++) {
            total += row[j + radius] - row[j - radius - 1];
            out[i * columns + j] = total / width;
        }
    }
}

void median(const float *restrict image, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++) {
            float window[9];
            int count = 0;
            for (int64_t p = -1; p <= 1; p++)
                for (int64_t q = -1; q <= 1; q++) {
                    const float value = image[(i + p) * n + j + q];
                    int k = count++;
                    for (; k > 0 && window[k - 1] > value; k--)
                        window[k] = window[k - 1];
                    window[k] = value;
                }
            out[i * n + j] = window[4];
        }
}

void max_pool(const float *restrict image, float *restrict out, int64_t n, int64_t window)
{
    const int64_t width = n / window;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = 0; j < width; j++) {
            const float *restrict corner = image + i * window * n + j * window;
            float best = corner[0];
            for (int64_t p = 0; p < window; p++)
                for (int64_t q = 0; q < window; q++)
                    best = fmaxf(best, corner[p * n + q]);
            out[i * width + j] = best;
        }
}

void two_way(const float *restrict x, float *restrict forward, float *restrict out, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict row = x + i * columns;
        float *restrict there = forward + i * columns, *restrict both = out + i * columns;
        float before = 0.0f, older = 0.0f, last = 0.0f;
        for (int64_t j = 0; j < columns; j++) {
            there[j] = 0.2f * row[j] + 0.1f * last + 0.9f * before - 0.25f * older;
            last = row[j];
            older = before;
            before = there[j];
        }
        float after = 0.0f, later = 0.0f, following = 0.0f, second = 0.0f;
        for (int64_t j = columns - 1; j >= 0; j--) {
            const float back = 0.15f * following + 0.05f * second + 0.9f * after - 0.25f * later;
            second = following;
            following = row[j];
            later = after;
            after = back;
            both[j] = there[j] + back;
        }
    }
}

void row_histograms(const uint8_t *restrict image, int32_t *restrict counts, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        int32_t *restrict row = counts + 256 * i;
        for (int64_t b = 0; b < 256; b++)
            row[b] = 0;
        for (int64_t j = 0; j < columns; j++)
            row[image[i * columns + j]]++;
    }
}

void equalize(const uint8_t *restrict image, int32_t *restrict counts, uint8_t *restrict table, uint8_t *restrict out,
              int64_t n)
{
    for (int64_t b = 0; b < 256; b++)
        counts[b] = 0;
    for (int64_t i = 0; i < n; i++)
        counts[image[i]]++;
    int64_t total = 0;
    for (int64_t b = 0; b < 256; b++) {
        total += counts[b];
        table[b] = (uint8_t)(255 * total / n);
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = table[image[i]];
}
