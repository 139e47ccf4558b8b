/* Pairs of particles; see pairs.py. */
#include <math.h>
#include <stdint.h>

void pair_energy(const float *restrict x, const float *restrict y, const float *restrict z, float *restrict energy,
                 float cutoff, int64_t n)
{
    float total = 0.0f;
#pragma omp parallel for reduction(+ : total) schedule(dynamic, 32)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            const float square = dx * dx + dy * dy + dz * dz;
            if (square < cutoff) {
                const float inverse = 1.0f / (square * square * square);
                total += 4.0f * inverse * (inverse - 1.0f);
            }
        }
    energy[0] = total;
}

void pair_forces(const double *restrict p, double *restrict force, int64_t n)
{
    for (int64_t i = 0; i < 3 * n; i++)
        force[i] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double fx = 0.0, fy = 0.0, fz = 0.0;
        for (int64_t j = i + 1; j < n; j++) {
            const double dx = p[3 * j] - p[3 * i], dy = p[3 * j + 1] - p[3 * i + 1], dz = p[3 * j + 2] - p[3 * i + 2];
            const double inverse = 1.0 / (dx * dx + dy * dy + dz * dz), cube = inverse * inverse * inverse;
            const double factor = 24.0 * cube * inverse * (1.0 - 2.0 * cube);
            fx += factor * dx;
            fy += factor * dy;
            fz += factor * dz;
            force[3 * j] -= factor * dx;
            force[3 * j + 1] -= factor * dy;
            force[3 * j + 2] -= factor * dz;
        }
        force[3 * i] += fx;
        force[3 * i + 1] += fy;
        force[3 * i + 2] += fz;
    }
}

void softened(const float *restrict p, const float *restrict mass, float *restrict force, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float sum[3] = {0.0f, 0.0f, 0.0f};
        for (int64_t j = 0; j < n; j++)
            if (i != j) {
                float square = 0.01f;
                for (int c = 0; c < 3; c++)
                    square += (p[3 * j + c] - p[3 * i + c]) * (p[3 * j + c] - p[3 * i + c]);
                const float factor = mass[j] / (square * sqrtf(square));
                for (int c = 0; c < 3; c++)
                    sum[c] += factor * (p[3 * j + c] - p[3 * i + c]);
            }
        for (int c = 0; c < 3; c++)
            force[3 * i + c] = sum[c];
    }
}

void pair_distances(const float *restrict p, int32_t *restrict counts, int64_t n, int64_t bins)
{
    for (int64_t b = 0; b < bins; b++)
        counts[b] = 0;
#pragma omp parallel for reduction(+ : counts[:bins]) schedule(dynamic, 32)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            const float dx = p[3 * j] - p[3 * i], dy = p[3 * j + 1] - p[3 * i + 1], dz = p[3 * j + 2] - p[3 * i + 2];
            const float distance = sqrtf(dx * dx + dy * dy + dz * dz);
            if (distance < 8.0f)
                counts[(int32_t)(8.0f * distance)]++;
        }
}

void gaussian_sums(const float *restrict at, const float *restrict x, const float *restrict weight, float *restrict out,
                   int64_t n, int64_t samples)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float total = 0.0f;
        for (int64_t j = 0; j < samples; j++) {
            const float d = at[i] - x[j];
            total += weight[j] * expf(-50.0f * d * d);
        }
        out[i] = total;
    }
}
