/* Kernels that read and write each element about once: axpy and the two stencils.
 *
 * Rows are the outer, parallel loop; the last dimension is a plain inner loop over restrict pointers, which gcc vectorizes. */
#include <stdint.h>

void axpy(float a, const float *restrict x, float *restrict y, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

/* out = center * in + side * (sum of the four neighbors); the border is left alone. */
void stencil_2d(float center, float side, const float *restrict in, float *restrict out, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < rows - 1; i++) {
        const float *restrict here = in + i * columns;
        const float *restrict above = here - columns;
        const float *restrict below = here + columns;
        float *restrict result = out + i * columns;
        for (int64_t j = 1; j < columns - 1; j++)
            result[j] = center * here[j] + side * (above[j] + below[j] + here[j - 1] + here[j + 1]);
    }
}

/* The same with six neighbors. Planes and rows are collapsed, so that both threads have work at any shape. */
void stencil_3d(float center, float side, const float *restrict in, float *restrict out, int64_t planes, int64_t rows,
                int64_t columns)
{
    const int64_t plane = rows * columns;
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t i = 1; i < planes - 1; i++) {
        for (int64_t j = 1; j < rows - 1; j++) {
            const float *restrict here = in + i * plane + j * columns;
            float *restrict result = out + i * plane + j * columns;
            for (int64_t k = 1; k < columns - 1; k++)
                result[k] = center * here[k] + side * (here[k - plane] + here[k + plane] + here[k - columns] +
                                                       here[k + columns] + here[k - 1] + here[k + 1]);
        }
    }
}
