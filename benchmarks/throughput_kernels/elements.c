/* Elements that are problems of their own; see elements.py. A loop inside that is known to run at least once (do-while) lets
 * gcc vectorize the loop around it. */
#include <math.h>
#include <stdint.h>

void oscillator(float *restrict x, float *restrict v, int64_t n, int64_t steps)
{
    if (steps < 1)
        return;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float place = x[i], speed = v[i];
        int64_t k = 0;
        do {
            speed -= 0.01f * (place + 0.1f * place * place * place);
            place += 0.01f * speed;
            k++;
        } while (k < steps);
        x[i] = place;
        v[i] = speed;
    }
}

void cube_root(const double *restrict x, double *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double root = x[i];
        for (int k = 0; k < 20; k++)
            root -= (root * root * root - x[i]) / (3.0 * root * root);
        out[i] = root;
    }
}

void polynomial(const float *restrict x, const float *restrict c, float *restrict out, int64_t n, int64_t terms)
{
    if (terms < 1)
        return;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float total = 0.0f;
        const float value = x[i];
        int64_t k = 0;
        do {
            total = total * value + c[k];
            k++;
        } while (k < terms);
        out[i] = total;
    }
}

void julia(const double *restrict x, const double *restrict y, int32_t *restrict out, int64_t n, int32_t limit)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < n; i++) {
        double zx = x[i], zy = y[i];
        int32_t k = 0;
        while (k < limit && zx * zx + zy * zy < 4.0) {
            const double next = zx * zx - zy * zy - 0.7;
            zy = 2.0 * zx * zy + 0.27015;
            zx = next;
            k++;
        }
        out[i] = k;
    }
}

void kepler(const float *restrict mean, float *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float e = mean[i];
        for (int k = 0; k < 6; k++)
            e -= (e - 0.4f * sinf(e) - mean[i]) / (1.0f - 0.4f * cosf(e));
        out[i] = e;
    }
}

void activation(const float *restrict x, float *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i] / (1.0f + expf(-1.5957691216f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

void pieces(const float *restrict x, float *restrict out, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float value = x[i], inside = value * (1.5f - 0.5f * value * value);
        out[i] = value < -1.0f ? -1.0f : value > 1.0f ? 1.0f : inside;
    }
}
