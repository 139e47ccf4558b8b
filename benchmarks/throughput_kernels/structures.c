/* Structures; see structures.py. */
#include <math.h>
#include <stdint.h>

void yuv(const uint8_t *restrict rgb, uint8_t *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        out[3 * i] = (uint8_t)((66 * r + 129 * g + 25 * b + 4224) >> 8);
        out[3 * i + 1] = (uint8_t)((-38 * r - 74 * g + 112 * b + 32896) >> 8);
        out[3 * i + 2] = (uint8_t)((112 * r - 94 * g - 18 * b + 32896) >> 8);
    }
}

void over(const uint8_t *restrict front, const uint8_t *restrict back, uint8_t *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const int alpha = front[4 * i + 3];
        for (int c = 0; c < 3; c++) {
            const int t = front[4 * i + c] * alpha + back[4 * i + c] * (255 - alpha) + 128;
            out[4 * i + c] = (uint8_t)((t + (t >> 8)) >> 8);
        }
        out[4 * i + 3] = 255;
    }
}

void quaternions(const float *restrict p, const float *restrict q, float *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float a = p[4 * i], b = p[4 * i + 1], c = p[4 * i + 2], d = p[4 * i + 3];
        const float w = q[4 * i], x = q[4 * i + 1], y = q[4 * i + 2], z = q[4 * i + 3];
        out[4 * i] = a * w - b * x - c * y - d * z;
        out[4 * i + 1] = a * x + b * w + c * z - d * y;
        out[4 * i + 2] = a * y - b * z + c * w + d * x;
        out[4 * i + 3] = a * z + b * y - c * x + d * w;
    }
}

void unit(const float *restrict p, float *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2], s = 1.0f / sqrtf(x * x + y * y + z * z);
        out[3 * i] = s * x;
        out[3 * i + 1] = s * y;
        out[3 * i + 2] = s * z;
    }
}

void skin(const float *restrict p, const float *restrict weights, const float *restrict bones, float *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2];
        float a = 0.0f, b = 0.0f, c = 0.0f;
        for (int k = 0; k < 4; k++) {
            const float weight = weights[4 * i + k];
            const float *m = bones + 12 * k;
            a += weight * (m[0] * x + m[1] * y + m[2] * z + m[3]);
            b += weight * (m[4] * x + m[5] * y + m[6] * z + m[7]);
            c += weight * (m[8] * x + m[9] * y + m[10] * z + m[11]);
        }
        out[3 * i] = a;
        out[3 * i + 1] = b;
        out[3 * i + 2] = c;
    }
}

void edits(const int32_t *restrict a, const int32_t *restrict b, int32_t *restrict d, int64_t n, int64_t size)
{
    const int64_t width = size + 1;
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++) {
        int32_t *restrict table = d + m * width * width;
        for (int64_t i = 1; i < width; i++)
            for (int64_t j = 1; j < width; j++) {
                const int32_t other = table[(i - 1) * width + j - 1] + (a[m * size + i - 1] != b[j - 1]);
                const int32_t above = table[(i - 1) * width + j] + 1, left = table[i * width + j - 1] + 1;
                const int32_t least = other < above ? other : above;
                table[i * width + j] = least < left ? least : left;
            }
    }
}
