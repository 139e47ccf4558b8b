/* A small system of equations in each iteration; see small_systems.py. */
#include <math.h>
#include <stdint.h>

void cholesky_6(const float *restrict a, float *restrict l, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++) {
        const float *restrict from = a + 36 * m;
        float *restrict to = l + 36 * m;
        for (int i = 0; i < 6; i++)
            for (int j = 0; j <= i; j++) {
                float total = from[6 * i + j];
                for (int k = 0; k < j; k++)
                    total -= to[6 * i + k] * to[6 * j + k];
                to[6 * i + j] = i == j ? sqrtf(total) : total / to[6 * j + j];
            }
    }
}

void cholesky_6_local(const float *restrict a, const float *restrict b, float *restrict x, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++) {
        const float *restrict from = a + 36 * m;
        float *restrict to = x + 6 * m;
        float l[6][6], y[6];
        for (int j = 0; j < 6; j++) {
            float square = from[7 * j];
            for (int k = 0; k < j; k++)
                square -= l[j][k] * l[j][k];
            l[j][j] = sqrtf(square);
            for (int i = j + 1; i < 6; i++) {
                float total = from[6 * i + j];
                for (int k = 0; k < j; k++)
                    total -= l[i][k] * l[j][k];
                l[i][j] = total / l[j][j];
            }
        }
        for (int i = 0; i < 6; i++) {
            float total = b[6 * m + i];
            for (int k = 0; k < i; k++)
                total -= l[i][k] * y[k];
            y[i] = total / l[i][i];
        }
        for (int i = 5; i >= 0; i--) {
            float total = y[i];
            for (int k = i + 1; k < 6; k++)
                total -= l[k][i] * to[k];
            to[i] = total / l[i][i];
        }
    }
}

void ldl_6(const double *restrict a, const double *restrict b, double *restrict x, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++) {
        const double *restrict from = a + 36 * m;
        double *restrict to = x + 6 * m;
        double l[6][6], d[6];
        for (int j = 0; j < 6; j++) {
            double pivot = from[7 * j];
            for (int k = 0; k < j; k++)
                pivot -= l[j][k] * l[j][k] * d[k];
            d[j] = pivot;
            for (int i = j + 1; i < 6; i++) {
                double total = from[6 * i + j];
                for (int k = 0; k < j; k++)
                    total -= l[i][k] * l[j][k] * d[k];
                l[i][j] = total / pivot;
            }
        }
        for (int i = 0; i < 6; i++) {
            double total = b[6 * m + i];
            for (int k = 0; k < i; k++)
                total -= l[i][k] * to[k];
            to[i] = total;
        }
        for (int i = 0; i < 6; i++)
            to[i] /= d[i];
        for (int i = 5; i >= 0; i--)
            for (int k = i + 1; k < 6; k++)
                to[i] -= l[k][i] * to[k];
    }
}

void inverse_4(const float *restrict a, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++) {
        float work[4][8] = {{0}};
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++)
                work[i][j] = a[16 * m + 4 * i + j];
            work[i][i + 4] = 1.0f;
        }
        for (int k = 0; k < 4; k++) {
            const float scale = 1.0f / work[k][k];
            for (int j = 0; j < 8; j++)
                work[k][j] *= scale;
            for (int i = 0; i < 4; i++)
                if (i != k) {
                    const float factor = work[i][k];
                    for (int j = 0; j < 8; j++)
                        work[i][j] -= factor * work[k][j];
                }
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                out[16 * m + 4 * i + j] = work[i][j + 4];
    }
}

void eigenvalues_3(const double *restrict a, double *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < n; m++) {
        double s[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                s[i][j] = a[9 * m + 3 * i + j];
        for (int sweep = 0; sweep < 5; sweep++)
            for (int p = 0; p < 2; p++)
                for (int q = p + 1; q < 3; q++)
                    if (fabs(s[p][q]) > 1e-14) {
                        const double theta = (s[q][q] - s[p][p]) / (2.0 * s[p][q]);
                        double t = 1.0 / (fabs(theta) + sqrt(theta * theta + 1.0));
                        if (theta < 0.0)
                            t = -t;
                        const double cosine = 1.0 / sqrt(t * t + 1.0), sine = t * cosine;
                        for (int k = 0; k < 3; k++) {
                            const double x = s[k][p], y = s[k][q];
                            s[k][p] = cosine * x - sine * y;
                            s[k][q] = sine * x + cosine * y;
                        }
                        for (int k = 0; k < 3; k++) {
                            const double x = s[p][k], y = s[q][k];
                            s[p][k] = cosine * x - sine * y;
                            s[q][k] = sine * x + cosine * y;
                        }
                    }
        const double least = fmin(fmin(s[0][0], s[1][1]), s[2][2]), most = fmax(fmax(s[0][0], s[1][1]), s[2][2]);
        out[3 * m] = least;
        out[3 * m + 1] = s[0][0] + s[1][1] + s[2][2] - least - most;
        out[3 * m + 2] = most;
    }
}

void thomas_rows(const double *restrict a, const double *restrict b, const double *restrict c, const double *restrict d,
                 double *restrict x, double *restrict work, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < rows; m++) {
        const int64_t at = m * columns;
        double before = work[at] = c[at] / b[at], value = x[at] = d[at] / b[at];
        for (int64_t i = at + 1; i < at + columns; i++) {
            const double pivot = b[i] - a[i] * before;
            work[i] = before = c[i] / pivot;
            x[i] = value = (d[i] - a[i] * value) / pivot;
        }
        for (int64_t i = at + columns - 2; i >= at; i--)
            x[i] -= work[i] * x[i + 1];
    }
}

/* Columns in blocks of a few vectors, row by row. */
void thomas_columns(const double *restrict a, const double *restrict b, const double *restrict c,
                    const double *restrict d, double *restrict x, double *restrict work, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < columns; first += 32) {
        const int64_t last = first + 32 < columns ? first + 32 : columns;
        for (int64_t j = first; j < last; j++) {
            work[j] = c[j] / b[j];
            x[j] = d[j] / b[j];
        }
        for (int64_t i = 1; i < rows; i++)
#pragma omp simd
            for (int64_t j = first; j < last; j++) {
                const int64_t at = i * columns + j;
                const double pivot = b[at] - a[at] * work[at - columns];
                work[at] = c[at] / pivot;
                x[at] = (d[at] - a[at] * x[at - columns]) / pivot;
            }
        for (int64_t i = rows - 2; i >= 0; i--)
#pragma omp simd
            for (int64_t j = first; j < last; j++)
                x[i * columns + j] -= work[i * columns + j] * x[(i + 1) * columns + j];
    }
}
