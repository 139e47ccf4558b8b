/* Conditions for each element; see conditions.py. */
#include <math.h>
#include <stdint.h>

void points_in_box(const float *restrict p, const float *restrict low, const float *restrict high,
                   int32_t *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int32_t inside = 1;
        for (int c = 0; c < 3; c++)
            inside &= (p[3 * i + c] >= low[c]) & (p[3 * i + c] <= high[c]);
        out[i] = inside;
    }
}

void polygon(const float *restrict x, const float *restrict y, const float *restrict vx, const float *restrict vy,
             int32_t *restrict out, int64_t n, int64_t corners)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int32_t inside = 0;
        for (int64_t v = 0, k = corners - 1; v < corners; k = v++)
            if ((vy[v] > y[i]) != (vy[k] > y[i]) &&
                x[i] < (vx[k] - vx[v]) * (y[i] - vy[v]) / (vy[k] - vy[v]) + vx[v])
                inside = !inside;
        out[i] = inside;
    }
}

void life_if(const uint8_t *restrict cells, uint8_t *restrict following, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            int count = 0;
            for (int64_t p = -1; p <= 1; p++)
                for (int64_t q = -1; q <= 1; q++)
                    if (i + p >= 0 && i + p < n && j + q >= 0 && j + q < n && (p != 0 || q != 0))
                        count += cells[(i + p) * n + j + q];
            following[i * n + j] = count == 3 || (count == 2 && cells[i * n + j] == 1);
        }
}

void neighbor_mean(const float *restrict source, float *restrict target, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const float *here = source + i * n + j;
            float total = 0.0f;
            int count = 0;
            if (i > 0) {
                total += here[-n];
                count++;
            }
            if (i < n - 1) {
                total += here[n];
                count++;
            }
            if (j > 0) {
                total += here[-1];
                count++;
            }
            if (j < n - 1) {
                total += here[1];
                count++;
            }
            target[i * n + j] = total / (float)count;
        }
}

void upwind(const float *restrict q, const float *restrict u, const float *restrict v, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = i * n + 1; j < i * n + n - 1; j++) {
            const float dx = u[j] > 0.0f ? q[j] - q[j - n] : q[j + n] - q[j];
            const float dy = v[j] > 0.0f ? q[j] - q[j - 1] : q[j + 1] - q[j];
            out[j] = q[j] - 0.1f * (u[j] * dx + v[j] * dy);
        }
}

void slopes(const float *restrict q, float *restrict out, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i * columns + 1; j < (i + 1) * columns - 1; j++) {
            const float a = q[j] - q[j - 1], b = q[j + 1] - q[j];
            out[j] = a * b <= 0.0f ? 0.0f : fabsf(a) < fabsf(b) ? a : b;
        }
}

void quantize(const float *restrict x, uint8_t *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float value = 255.0f * x[i] + 0.5f;
        out[i] = value < 0.0f ? 0 : value > 255.0f ? 255 : (uint8_t)value;
    }
}

void dither(const uint8_t *restrict image, int32_t *restrict work, uint8_t *restrict out, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        work[i] = image[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            int32_t *at = work + i * n + j;
            const int32_t value = *at >= 128 ? 255 : 0, error = *at - value;
            out[i * n + j] = (uint8_t)value;
            if (j + 1 < n)
                at[1] += error * 7 >> 4;
            if (i + 1 < n) {
                if (j > 0)
                    at[n - 1] += error * 3 >> 4;
                at[n] += error * 5 >> 4;
                if (j + 1 < n)
                    at[n + 1] += error >> 4;
            }
        }
}
