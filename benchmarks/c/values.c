/* Small vectors and matrices with hand-written scalars: products, quaternions, inverses, singular values, systems.
   Element k of item i lies at a[k + width * i] in arrays of structures, and at a[k * n + i] in structures of arrays. */
#include <math.h>
#include <stdint.h>

typedef struct {
    float x, y, z;
} vec3;

static inline vec3 scaled(vec3 a, float factor)
{
    return (vec3){a.x * factor, a.y * factor, a.z * factor};
}

static inline float dot3(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec3 combined(vec3 a, float p, vec3 b, float q)
{
    return (vec3){a.x * p + b.x * q, a.y * p + b.y * q, a.z * p + b.z * q};
}

static inline vec3 cross3(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* One rotation of the method of Jacobi: two columns become orthogonal, and two others turn with them. */
static inline void orthogonal(vec3 *a, vec3 *b, vec3 *u, vec3 *v)
{
    const float first = dot3(*a, *a), both = dot3(*a, *b), second = dot3(*b, *b);
    const float difference = second - first;
    const float denominator = difference + copysignf(sqrtf(difference * difference + 4.0f * both * both), difference);
    const float tangent = 2.0f * both / (denominator == 0.0f ? 1.0f : denominator);
    const float cosine = 1.0f / sqrtf(1.0f + tangent * tangent), sine = cosine * tangent;
    const vec3 p = combined(*a, cosine, *b, -sine), q = combined(*a, sine, *b, cosine);
    const vec3 r = combined(*u, cosine, *v, -sine), s = combined(*u, sine, *v, cosine);
    *a = p, *b = q, *u = r, *v = s;
}

static inline void exchange(vec3 *a, vec3 *b)
{
    const vec3 kept = *a;
    *a = *b, *b = kept;
}

static inline void exchange_numbers(float *a, float *b)
{
    const float kept = *a;
    *a = *b, *b = kept;
}

static inline vec3 direction(vec3 a, vec3 otherwise)
{
    const float size = fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fabsf(a.z));
    const float divisor = size == 0.0f ? 1.0f : size;
    const vec3 unit = {a.x / divisor, a.y / divisor, a.z / divisor};
    const float length = size == 0.0f ? 1.0f : sqrtf(dot3(unit, unit));
    return size == 0.0f ? otherwise : (vec3){unit.x / length, unit.y / length, unit.z / length};
}

static inline vec3 perpendicular(vec3 p)
{
    const vec3 flat = {-p.y, p.x, 0.0f}, steep = {0.0f, -p.z, p.y};
    const vec3 chosen = fabsf(p.x) > fabsf(p.z) ? flat : steep;
    return scaled(chosen, 1.0f / sqrtf(dot3(chosen, chosen)));
}

/* The columns of a become those of U, their lengths the singular values, and w holds the columns of V. */
static inline vec3 singular_values(vec3 a[3], vec3 w[3])
{
    float size = 0.0f;
    for (int k = 0; k < 3; k++)
        size = fmaxf(size, fmaxf(fmaxf(fabsf(a[k].x), fabsf(a[k].y)), fabsf(a[k].z)));
    size = size == 0.0f ? 1.0f : size;
    for (int k = 0; k < 3; k++)
        a[k] = scaled(a[k], 1.0f / size);
    w[0] = (vec3){1.0f, 0.0f, 0.0f}, w[1] = (vec3){0.0f, 1.0f, 0.0f}, w[2] = (vec3){0.0f, 0.0f, 1.0f};
    for (int sweep = 0; sweep < 4; sweep++) {
        orthogonal(&a[0], &a[1], &w[0], &w[1]);
        orthogonal(&a[1], &a[2], &w[1], &w[2]);
        orthogonal(&a[2], &a[0], &w[2], &w[0]);
    }
    if (dot3(a[1], a[1]) > dot3(a[0], a[0]))
        exchange(&a[0], &a[1]), exchange(&w[0], &w[1]);
    if (dot3(a[2], a[2]) > dot3(a[1], a[1]))
        exchange(&a[1], &a[2]), exchange(&w[1], &w[2]);
    if (dot3(a[1], a[1]) > dot3(a[0], a[0]))
        exchange(&a[0], &a[1]), exchange(&w[0], &w[1]);
    vec3 p = direction(a[0], (vec3){1.0f, 0.0f, 0.0f});
    vec3 q = direction(combined(a[1], 1.0f, p, -dot3(p, a[1])), perpendicular(p));
    vec3 r = cross3(p, q);
    float first = dot3(p, a[0]), second = dot3(q, a[1]), third = dot3(r, a[2]);
    r = scaled(r, copysignf(1.0f, third));
    third = fabsf(third);
    if (third > second)
        exchange_numbers(&second, &third), exchange(&q, &r), exchange(&w[1], &w[2]);
    if (second > first)
        exchange_numbers(&first, &second), exchange(&p, &q), exchange(&w[0], &w[1]);
    if (third > second)
        exchange_numbers(&second, &third), exchange(&q, &r), exchange(&w[1], &w[2]);
    a[0] = p, a[1] = q, a[2] = r;
    return (vec3){first * size, second * size, third * size};
}

#define IN_LAYOUT(name) name##_aos
#define AT(a, width, k, i) a[(k) + (width) * (i)]
#include "values_loops.h"
#undef IN_LAYOUT
#undef AT

#define IN_LAYOUT(name) name##_soa
#define AT(a, width, k, i) a[(k) * n + (i)]
#include "values_loops.h"
