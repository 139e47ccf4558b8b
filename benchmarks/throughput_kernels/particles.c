/* Particles and grids; see particles.py. */
#include <stdint.h>
#include <string.h>

void bounce(float *restrict x, float *restrict v, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float place = x[i] + 0.01f * v[i], speed = v[i];
        x[i] = place < 0.0f ? -place : place > 1.0f ? 2.0f - place : place;
        v[i] = place < 0.0f || place > 1.0f ? -speed : speed;
    }
}

void interpolate(const float *restrict grid, const float *restrict x, const float *restrict y, float *restrict out,
                 int64_t n, int64_t size)
{
    const int32_t pitch = (int32_t)size;
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < n; k++) {
        const int32_t i = (int32_t)x[k], j = (int32_t)y[k];
        const float s = x[k] - (float)i, t = y[k] - (float)j;
        const float low = (1.0f - t) * grid[i * pitch + j] + t * grid[i * pitch + j + 1];
        const float high = (1.0f - t) * grid[(i + 1) * pitch + j] + t * grid[(i + 1) * pitch + j + 1];
        out[k] = (1.0f - s) * low + s * high;
    }
}

void deposit(const float *restrict x, const float *restrict mass, float *restrict grid, int64_t n, int64_t size)
{
    memset(grid, 0, (size_t)size * sizeof *grid);
#pragma omp parallel for reduction(+ : grid[:size]) schedule(static)
    for (int64_t k = 0; k < n; k++) {
        const int32_t i = (int32_t)x[k];
        const float t = x[k] - (float)i;
        grid[i] += (1.0f - t) * mass[k];
        grid[i + 1] += t * mass[k];
    }
}

void permute(const float *restrict x, const int32_t *restrict order, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        out[i] = x[order[i]];
}

void neighbors(const float *restrict x, const float *restrict y, const int32_t *restrict near, float *restrict out,
                int64_t n, int64_t around)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float total = 0.0f;
        const int32_t *restrict mine = near + i * around;
        for (int64_t k = 0; k < around; k++) {
            const float dx = x[mine[k]] - x[i], dy = y[mine[k]] - y[i];
            const float distance = dx * dx + dy * dy;
            total += distance < 0.25f ? 0.25f - distance : 0.0f;
        }
        out[i] = total;
    }
}
