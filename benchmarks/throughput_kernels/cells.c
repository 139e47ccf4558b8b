/* Particles and cells; see cells.py. */
#include <math.h>
#include <stdint.h>

static inline int64_t above(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t below(int64_t a, int64_t b) { return a < b ? a : b; }

void verlet(const float *restrict p, const int32_t *restrict count, const int32_t *restrict neighbors,
            float *restrict force, int64_t n, int64_t width)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float fx = 0.0f, fy = 0.0f, fz = 0.0f;
        for (int32_t k = 0; k < count[i]; k++) {
            const int64_t j = neighbors[i * width + k];
            const float dx = p[3 * j] - p[3 * i], dy = p[3 * j + 1] - p[3 * i + 1], dz = p[3 * j + 2] - p[3 * i + 2];
            const float square = dx * dx + dy * dy + dz * dz;
            if (square < 4.0f) {
                const float factor = 1.0f / square - 0.25f;
                fx += factor * dx;
                fy += factor * dy;
                fz += factor * dz;
            }
        }
        force[3 * i] = fx;
        force[3 * i + 1] = fy;
        force[3 * i + 2] = fz;
    }
}

void cell_density(const float *restrict x, const float *restrict y, const int32_t *restrict starts,
                  float *restrict density, int64_t n, int64_t size)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const int64_t cx = (int64_t)x[i], cy = (int64_t)y[i];
        float total = 0.0f;
        for (int64_t v = above(cy - 1, 0); v < below(cy + 2, size); v++)
            for (int64_t u = above(cx - 1, 0); u < below(cx + 2, size); u++) {
                const int64_t cell = v * size + u;
                for (int32_t j = starts[cell]; j < starts[cell + 1]; j++) {
                    const float dx = x[j] - x[i], dy = y[j] - y[i], square = dx * dx + dy * dy;
                    if (square < 1.0f)
                        total += (1.0f - square) * (1.0f - square) * (1.0f - square);
                }
            }
        density[i] = total;
    }
}

void linked_cells(const float *restrict x, const float *restrict y, const int32_t *restrict head,
                  const int32_t *restrict following, float *restrict fx, float *restrict fy, int64_t n, int64_t size)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const int64_t cx = (int64_t)x[i], cy = (int64_t)y[i];
        float sum_x = 0.0f, sum_y = 0.0f;
        for (int64_t v = above(cy - 1, 0); v < below(cy + 2, size); v++)
            for (int64_t u = above(cx - 1, 0); u < below(cx + 2, size); u++)
                for (int32_t j = head[v * size + u]; j >= 0; j = following[j]) {
                    const float dx = x[j] - x[i], dy = y[j] - y[i], square = dx * dx + dy * dy;
                    if (square < 1.0f && j != i) {
                        const float push = 1.0f / sqrtf(square + 1e-6f) - 1.0f;
                        sum_x -= push * dx;
                        sum_y -= push * dy;
                    }
                }
        fx[i] = sum_x;
        fy[i] = sum_y;
    }
}

void deposit_2d(const float *restrict x, const float *restrict y, const float *restrict mass, float *restrict grid,
                int64_t n, int64_t size)
{
    for (int64_t i = 0; i < size * size; i++)
        grid[i] = 0.0f;
#pragma omp parallel for reduction(+ : grid[:size * size]) schedule(static)
    for (int64_t k = 0; k < n; k++) {
        const int32_t i = (int32_t)x[k], j = (int32_t)y[k];
        const float s = x[k] - (float)i, t = y[k] - (float)j;
        float *at = grid + i * size + j;
        at[0] += (1.0f - s) * (1.0f - t) * mass[k];
        at[1] += (1.0f - s) * t * mass[k];
        at[size] += s * (1.0f - t) * mass[k];
        at[size + 1] += s * t * mass[k];
    }
}

void advection(const float *restrict q, const float *restrict u, const float *restrict v, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const float x = (float)i - u[i * n + j], y = (float)j - v[i * n + j];
            float result = 0.0f;
            if (x >= 0.0f && x < (float)(n - 1) && y >= 0.0f && y < (float)(n - 1)) {
                const int32_t a = (int32_t)x, b = (int32_t)y;
                const float s = x - (float)a, t = y - (float)b, *at = q + a * n + b;
                result = (1.0f - s) * ((1.0f - t) * at[0] + t * at[1]) + s * ((1.0f - t) * at[n] + t * at[n + 1]);
            }
            out[i * n + j] = result;
        }
}

void table_lookup(const float *restrict table, const float *restrict x, float *restrict out, int64_t n, int64_t size)
{
    const float last = (float)(size - 1);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float place = x[i] * last;
        if (place <= 0.0f)
            out[i] = table[0];
        else if (place >= last)
            out[i] = table[size - 1];
        else {
            const int32_t k = (int32_t)floorf(place);
            out[i] = table[k] + (place - (float)k) * (table[k + 1] - table[k]);
        }
    }
}
