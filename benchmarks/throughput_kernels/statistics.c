/* Statistics and layers of networks; see statistics.py. */
#include <math.h>
#include <stdint.h>

void layer_norm(const float *restrict x, const float *restrict gain, const float *restrict bias, float *restrict out,
                int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict row = x + i * columns;
        float mean = 0.0f, variance = 0.0f;
        for (int64_t j = 0; j < columns; j++)
            mean += row[j];
        mean /= (float)columns;
        for (int64_t j = 0; j < columns; j++)
            variance += (row[j] - mean) * (row[j] - mean);
        const float scale = 1.0f / sqrtf(variance / (float)columns + 1e-5f);
        for (int64_t j = 0; j < columns; j++)
            out[i * columns + j] = gain[j] * (row[j] - mean) * scale + bias[j];
    }
}

/* Columns in blocks of a few vectors, row by row. */
void batch_norm(const float *restrict x, float *restrict out, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < columns; first += 64) {
        const int64_t width = first + 64 < columns ? 64 : columns - first;
        float mean[64] = {0}, scale[64] = {0};
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < width; j++) {
                const float value = x[i * columns + first + j];
                mean[j] += value;
                scale[j] += value * value;
            }
        for (int64_t j = 0; j < width; j++) {
            mean[j] /= (float)rows;
            scale[j] = 1.0f / sqrtf(scale[j] / (float)rows - mean[j] * mean[j] + 1e-5f);
        }
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < width; j++)
                out[i * columns + first + j] = (x[i * columns + first + j] - mean[j]) * scale[j];
    }
}

static inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

void gates(const float *restrict z, const float *restrict c, float *restrict after, float *restrict h, int64_t rows,
           int64_t width)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict row = z + 4 * i * width;
        for (int64_t j = 0; j < width; j++) {
            const float write = sigmoid(row[j]), forget = sigmoid(row[j + width]);
            const float value = tanhf(row[j + 2 * width]), read = sigmoid(row[j + 3 * width]);
            const float new = forget * c[i * width + j] + write * value;
            after[i * width + j] = new;
            h[i * width + j] = read * tanhf(new);
        }
    }
}

void cross_entropy(const float *restrict x, const int32_t *restrict target, float *restrict loss, int64_t rows,
                   int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict row = x + i * columns;
        float largest = row[0], total = 0.0f;
        for (int64_t j = 1; j < columns; j++)
            largest = fmaxf(largest, row[j]);
        for (int64_t j = 0; j < columns; j++)
            total += expf(row[j] - largest);
        loss[i] = logf(total) + largest - row[target[i]];
    }
}

void weighted_histogram(const float *restrict x, const float *restrict weight, float *restrict out, int64_t n,
                        int64_t bins)
{
    for (int64_t b = 0; b < bins; b++)
        out[b] = 0.0f;
#pragma omp parallel for reduction(+ : out[:bins]) schedule(static)
    for (int64_t i = 0; i < n; i++)
        if (x[i] >= 0.0f && x[i] < 1.0f)
            out[(int32_t)(x[i] * (float)bins)] += weight[i];
}

void prefix_rows(const double *restrict x, double *restrict out, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        double total = 0.0;
        for (int64_t j = i * columns; j < (i + 1) * columns; j++) {
            total += x[j];
            out[j] = total;
        }
    }
}

void rolling_deviation(const double *restrict x, double *restrict out, int64_t n, int64_t window)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = window - 1; i < n; i++) {
        double mean = 0.0, variance = 0.0;
        for (int64_t k = 0; k < window; k++)
            mean += x[i - k];
        mean /= (double)window;
        for (int64_t k = 0; k < window; k++)
            variance += (x[i - k] - mean) * (x[i - k] - mean);
        out[i] = sqrt(variance / (double)window);
    }
}

void drawdown(const float *restrict x, float *restrict out, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict row = x + i * columns;
        float peak = row[0], worst = 0.0f;
        for (int64_t j = 0; j < columns; j++) {
            peak = fmaxf(peak, row[j]);
            worst = fmaxf(worst, 1.0f - row[j] / peak);
        }
        out[i] = worst;
    }
}

void ranks(const int32_t *restrict x, int32_t *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < n; i++) {
        int32_t count = 0;
        for (int32_t j = 0; j < n; j++)
            count += (x[j] < x[i]) | ((x[j] == x[i]) & (j < i));
        out[i] = count;
    }
}
