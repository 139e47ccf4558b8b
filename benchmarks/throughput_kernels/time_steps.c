/* Steps in time within each iteration; see time_steps.py. */
#include <math.h>
#include <stdint.h>

void mandelbrot_smooth(float *restrict out, int64_t rows, int64_t columns, int64_t limit)
{
    const float two = logf(2.0f);
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const float cx = -2.0f + 3.0f * (float)j / (float)columns, cy = -1.0f + 2.0f * (float)i / (float)rows;
            float x = 0.0f, y = 0.0f;
            int64_t k = 0;
            for (; k < limit && x * x + y * y < 256.0f; k++) {
                const float following = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = following;
            }
            out[i * columns + j] =
                k < limit ? (float)k + 1.0f - logf(0.5f * logf(x * x + y * y) / two) / two : 0.0f;
        }
}

void pendulum(const float *restrict angle, const float *restrict speed, float *restrict out, int64_t n, int64_t steps)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float a = angle[i], s = speed[i];
        for (int64_t step = 0; step < steps; step++) {
            const float k1 = s, l1 = -sinf(a) - 0.1f * s;
            const float k2 = s + 0.025f * l1, l2 = -sinf(a + 0.025f * k1) - 0.1f * (s + 0.025f * l1);
            const float k3 = s + 0.025f * l2, l3 = -sinf(a + 0.025f * k2) - 0.1f * (s + 0.025f * l2);
            const float k4 = s + 0.05f * l3, l4 = -sinf(a + 0.05f * k3) - 0.1f * (s + 0.05f * l3);
            a += 0.05f / 6.0f * (k1 + 2.0f * k2 + 2.0f * k3 + k4);
            s += 0.05f / 6.0f * (l1 + 2.0f * l2 + 2.0f * l3 + l4);
        }
        out[i] = a;
    }
}

void neurons(const float *restrict current, int32_t *restrict spikes, int64_t n, int64_t steps)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float v = -65.0f;
        int32_t count = 0;
        for (int64_t step = 0; step < steps; step++) {
            v += 0.05f * (-(v + 65.0f) + 2.0f * expf((v + 50.0f) / 2.0f) + current[i]);
            if (v > -30.0f) {
                v = -65.0f;
                count++;
            }
        }
        spikes[i] = count;
    }
}

void cooling(const double *restrict start, const double *restrict exponent, double *restrict out, int64_t n,
             int64_t steps)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double t = start[i];
        for (int64_t step = 0; step < steps; step++)
            t -= 0.05 * pow(t - 290.0, exponent[i]);
        out[i] = t;
    }
}

void random_paths(const uint32_t *restrict seeds, float *restrict out, int64_t n, int64_t steps)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        uint32_t state = seeds[i];
        float value = 1.0f;
        for (int64_t step = 0; step < steps; step++) {
            state = state * 1664525u + 1013904223u;
            const float first = ((float)(state >> 9) + 0.5f) / 8388608.0f;
            state = state * 1664525u + 1013904223u;
            const float second = ((float)(state >> 9) + 0.5f) / 8388608.0f;
            value *= expf(-0.001f + 0.05f * sqrtf(-2.0f * logf(first)) * cosf(6.2831853f * second));
        }
        out[i] = fmaxf(value - 1.0f, 0.0f);
    }
}

void rays(float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const float x = 2.0f * (float)j / (float)n - 1.0f, y = 2.0f * (float)i / (float)n - 1.0f;
            const float length = sqrtf(x * x + y * y + 1.0f);
            float t = 0.0f;
            for (int k = 0; k < 64; k++) {
                const float px = t * x / length, py = t * y / length, pz = t / length - 3.0f;
                const float d = sqrtf(px * px + py * py + pz * pz) - 1.0f + 0.1f * sinf(5.0f * px) * sinf(5.0f * py);
                if (d < 1e-3f || t > 10.0f)
                    break;
                t += 0.7f * d;
            }
            out[i * n + j] = t;
        }
}

void kalman(const float *restrict measured, float *restrict out, int64_t n, int64_t steps)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float x = 0.0f, v = 0.0f, a = 1.0f, b = 0.0f, c = 1.0f;
        for (int64_t k = 0; k < steps; k++) {
            x += 0.1f * v;
            a += 0.2f * b + 0.01f * c + 0.001f;
            b += 0.1f * c;
            c += 0.01f;
            const float gain = a / (a + 0.5f), rate = b / (a + 0.5f), error = measured[i * steps + k] - x;
            x += gain * error;
            v += rate * error;
            c -= rate * b;
            a *= 1.0f - gain;
            b *= 1.0f - gain;
        }
        out[i] = x;
    }
}

void burgers(const float *restrict start, float *restrict u, float *restrict flux, int64_t n, int64_t steps)
{
    for (int64_t i = 0; i < n; i++)
        u[i] = start[i];
    for (int64_t step = 0; step < steps; step++) {
        for (int64_t i = 0; i < n - 1; i++)
            flux[i] = u[i] + u[i + 1] > 0.0f ? 0.5f * u[i] * u[i] : 0.5f * u[i + 1] * u[i + 1];
        for (int64_t i = 1; i < n - 1; i++)
            u[i] -= 0.2f * (flux[i] - flux[i - 1]);
    }
}
