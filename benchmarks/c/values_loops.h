/* The loops of values.c for one layout, which `IN_LAYOUT` names and `AT` addresses. */

void IN_LAYOUT(multiply)(const float *restrict a, const float *restrict b, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float a0 = AT(a, 9, 0, i), a1 = AT(a, 9, 1, i), a2 = AT(a, 9, 2, i);
        const float a3 = AT(a, 9, 3, i), a4 = AT(a, 9, 4, i), a5 = AT(a, 9, 5, i);
        const float a6 = AT(a, 9, 6, i), a7 = AT(a, 9, 7, i), a8 = AT(a, 9, 8, i);
        const float b0 = AT(b, 9, 0, i), b1 = AT(b, 9, 1, i), b2 = AT(b, 9, 2, i);
        const float b3 = AT(b, 9, 3, i), b4 = AT(b, 9, 4, i), b5 = AT(b, 9, 5, i);
        const float b6 = AT(b, 9, 6, i), b7 = AT(b, 9, 7, i), b8 = AT(b, 9, 8, i);
        AT(out, 9, 0, i) = a0 * b0 + a1 * b3 + a2 * b6;
        AT(out, 9, 1, i) = a0 * b1 + a1 * b4 + a2 * b7;
        AT(out, 9, 2, i) = a0 * b2 + a1 * b5 + a2 * b8;
        AT(out, 9, 3, i) = a3 * b0 + a4 * b3 + a5 * b6;
        AT(out, 9, 4, i) = a3 * b1 + a4 * b4 + a5 * b7;
        AT(out, 9, 5, i) = a3 * b2 + a4 * b5 + a5 * b8;
        AT(out, 9, 6, i) = a6 * b0 + a7 * b3 + a8 * b6;
        AT(out, 9, 7, i) = a6 * b1 + a7 * b4 + a8 * b7;
        AT(out, 9, 8, i) = a6 * b2 + a7 * b5 + a8 * b8;
    }
}

void IN_LAYOUT(rotate)(const float *restrict q, const float *restrict p, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float x = AT(q, 4, 0, i), y = AT(q, 4, 1, i), z = AT(q, 4, 2, i), w = AT(q, 4, 3, i);
        const float px = AT(p, 3, 0, i), py = AT(p, 3, 1, i), pz = AT(p, 3, 2, i);
        const float tx = y * pz - z * py + w * px;
        const float ty = z * px - x * pz + w * py;
        const float tz = x * py - y * px + w * pz;
        AT(out, 3, 0, i) = px + 2.0f * (y * tz - z * ty);
        AT(out, 3, 1, i) = py + 2.0f * (z * tx - x * tz);
        AT(out, 3, 2, i) = pz + 2.0f * (x * ty - y * tx);
    }
}

void IN_LAYOUT(invert)(const float *restrict a, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const float a0 = AT(a, 9, 0, i), a1 = AT(a, 9, 1, i), a2 = AT(a, 9, 2, i);
        const float a3 = AT(a, 9, 3, i), a4 = AT(a, 9, 4, i), a5 = AT(a, 9, 5, i);
        const float a6 = AT(a, 9, 6, i), a7 = AT(a, 9, 7, i), a8 = AT(a, 9, 8, i);
        const float m0 = a4 * a8 - a5 * a7, m3 = a5 * a6 - a3 * a8, m6 = a3 * a7 - a4 * a6;
        const float factor = 1.0f / (a0 * m0 + a1 * m3 + a2 * m6);
        AT(out, 9, 0, i) = m0 * factor;
        AT(out, 9, 1, i) = (a2 * a7 - a1 * a8) * factor;
        AT(out, 9, 2, i) = (a1 * a5 - a2 * a4) * factor;
        AT(out, 9, 3, i) = m3 * factor;
        AT(out, 9, 4, i) = (a0 * a8 - a2 * a6) * factor;
        AT(out, 9, 5, i) = (a2 * a3 - a0 * a5) * factor;
        AT(out, 9, 6, i) = m6 * factor;
        AT(out, 9, 7, i) = (a1 * a6 - a0 * a7) * factor;
        AT(out, 9, 8, i) = (a0 * a4 - a1 * a3) * factor;
    }
}

void IN_LAYOUT(decompose)(const float *restrict a, float *restrict u, float *restrict s, float *restrict v, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        vec3 columns[3], others[3];
        for (int k = 0; k < 3; k++)
            columns[k] = (vec3){AT(a, 9, k, i), AT(a, 9, 3 + k, i), AT(a, 9, 6 + k, i)};
        const vec3 values = singular_values(columns, others);
        AT(s, 3, 0, i) = values.x, AT(s, 3, 1, i) = values.y, AT(s, 3, 2, i) = values.z;
        for (int k = 0; k < 3; k++) {
            AT(u, 9, k, i) = columns[k].x, AT(u, 9, 3 + k, i) = columns[k].y, AT(u, 9, 6 + k, i) = columns[k].z;
            AT(v, 9, k, i) = others[k].x, AT(v, 9, 3 + k, i) = others[k].y, AT(v, 9, 6 + k, i) = others[k].z;
        }
    }
}

/* Elimination with pivots. */
void IN_LAYOUT(solve)(const float *restrict a, const float *restrict b, float *restrict out, int64_t n)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float m[6][6], x[6];
        for (int row = 0; row < 6; row++) {
            for (int column = 0; column < 6; column++)
                m[row][column] = AT(a, 36, 6 * row + column, i);
            x[row] = AT(b, 6, row, i);
        }
        for (int k = 0; k < 6; k++) {
            int chosen = k;
            for (int row = k + 1; row < 6; row++)
                if (fabsf(m[row][k]) > fabsf(m[chosen][k]))
                    chosen = row;
            if (chosen != k) {
                for (int column = k; column < 6; column++)
                    exchange_numbers(&m[k][column], &m[chosen][column]);
                exchange_numbers(&x[k], &x[chosen]);
            }
            const float inverse = 1.0f / m[k][k];
            for (int row = k + 1; row < 6; row++) {
                const float multiple = m[row][k] * inverse;
                for (int column = k + 1; column < 6; column++)
                    m[row][column] -= multiple * m[k][column];
                x[row] -= multiple * x[k];
            }
        }
        for (int row = 5; row >= 0; row--) {
            float rest = x[row];
            for (int column = row + 1; column < 6; column++)
                rest -= m[row][column] * x[column];
            x[row] = rest / m[row][row];
        }
        for (int row = 0; row < 6; row++)
            AT(out, 6, row, i) = x[row];
    }
}
