/* Vector mathematics for processors with AVX2 and FMA: eight floats or four doubles at a time. */
#if defined(__x86_64__)
#pragma GCC target("avx2,fma")
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "vector_math.h"
#include "reduction.h"

typedef __m256 vs;
typedef __m256 ms;
typedef int32_t is __attribute__((vector_size(32)));
typedef __m256d vd;
typedef __m256d md;
typedef int64_t id __attribute__((vector_size(32)));
typedef uint64_t ud __attribute__((vector_size(32)));

#define s_splat(x) _mm256_set1_ps(x)
#define s_integer(x) ((is)_mm256_set1_epi32(x))
#define s_fma(a, b, c) _mm256_fmadd_ps(a, b, c)
#define s_fnma(a, b, c) _mm256_fnmadd_ps(a, b, c)
#define s_bits(x) ((is)(x))
#define s_real(x) ((vs)(x))
#define s_odd(x) ((ms)((x) << 31))
#define s_converted(x) _mm256_cvtepi32_ps((__m256i)(x))
#define s_floor(x) _mm256_floor_ps(x)
#define s_at_most(bound, x) _mm256_min_ps(bound, x) /* NaN is preserved */
#define s_at_least(bound, x) _mm256_max_ps(bound, x)
#define s_less(a, b) _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define s_less_equal(a, b) _mm256_cmp_ps(a, b, _CMP_LE_OQ)
#define s_not_less_equal(a, b) _mm256_cmp_ps(a, b, _CMP_NLE_UQ)
#define s_equal(a, b) _mm256_cmp_ps(a, b, _CMP_EQ_OQ)
#define s_both(a, b) _mm256_and_ps(a, b)
#define s_either(a, b) _mm256_or_ps(a, b)
#define s_not_both(a, b) _mm256_xor_ps(_mm256_and_ps(a, b), (ms)s_integer(-1))
#define s_pick(m, a, b) _mm256_blendv_ps(b, a, m)
#define s_all(m) (_mm256_movemask_ps(m) == 0xff)
#define s_any(m) (_mm256_movemask_ps(m) != 0)
#define s_low_half(x) _mm256_cvtps_pd(_mm256_castps256_ps128(x))
#define s_high_half(x) _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))
#define s_joined(low, high) _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low))

#define d_splat(x) _mm256_set1_pd(x)
#define d_integer(x) ((id)_mm256_set1_epi64x(x))
#define d_fma(a, b, c) _mm256_fmadd_pd(a, b, c)
#define d_fms(a, b, c) _mm256_fmsub_pd(a, b, c)
#define d_fnma(a, b, c) _mm256_fnmadd_pd(a, b, c)
#define d_bits(x) ((id)(x))
#define d_real(x) ((vd)(x))
#define d_odd(x) ((md)((x) << 63))
#define d_shifted_right(x, n) ((id)((ud)(x) >> (n)))
#define d_floor(x) _mm256_floor_pd(x)
#define d_gather(table, i) _mm256_set_pd((table)[(i)[3]], (table)[(i)[2]], (table)[(i)[1]], (table)[(i)[0]])
#define d_at_most(bound, x) _mm256_min_pd(bound, x)
#define d_at_least(bound, x) _mm256_max_pd(bound, x)
#define d_less(a, b) _mm256_cmp_pd(a, b, _CMP_LT_OQ)
#define d_less_equal(a, b) _mm256_cmp_pd(a, b, _CMP_LE_OQ)
#define d_not_less_equal(a, b) _mm256_cmp_pd(a, b, _CMP_NLE_UQ)
#define d_equal(a, b) _mm256_cmp_pd(a, b, _CMP_EQ_OQ)
#define d_both(a, b) _mm256_and_pd(a, b)
#define d_either(a, b) _mm256_or_pd(a, b)
#define d_not_both(a, b) _mm256_xor_pd(_mm256_and_pd(a, b), (md)d_integer(-1))
#define d_pick(m, a, b) _mm256_blendv_pd(b, a, m)
#define d_all(m) (_mm256_movemask_pd(m) == 0xf)
#define d_any(m) (_mm256_movemask_pd(m) != 0)

/* power * 2^n, if that is known to be a normal number. */
SV_INLINE vs s_scaled_a_little(vs power, vs n)
{
    return power * s_real(s_bits(n + s_splat(0x1.8p23f + 127)) << 23);
}

SV_INLINE vd d_scaled_a_little(vd power, vd n)
{
    return power * d_real(d_bits(n + d_splat(0x1.8p52 + 1023)) << 52);
}

/* power * 2^n, for a power near 1 and any meaningful n. A subnormal result is rounded as an integer, in units of the
   smallest subnormal: instructions with subnormal results take a hundred cycles on some processors. */
SV_INLINE vs s_scaled(vs power, vs n)
{
    ms small = s_less(n, s_splat(-125)), large = s_less(s_splat(127), n);
    vs result = s_scaled_a_little(power, s_at_least(s_splat(-125), s_at_most(s_splat(127), n)));
    if (s_any(s_either(small, large))) {
        vs units = s_scaled_a_little(power, n + s_splat(149));
        vs integer = s_real(s_bits(units + s_splat(0x1p23f)) - s_bits(s_splat(0x1p23f)));
        ms denormal = s_less(units, s_splat(0x1p23f));
        /* The smallest normal numbers, computed from numbers twice as large. */
        vs twice = s_pick(denormal, s_splat(1), s_scaled_a_little(power, s_at_least(s_splat(-125), n + s_splat(1))));
        vs less = s_pick(denormal, integer, twice * s_splat(0.5f));
        result = s_pick(small, less, s_pick(large, result * s_splat(2), result));
    }
    return result;
}

SV_INLINE vd d_scaled(vd power, vd n)
{
    md small = d_less(n, d_splat(-1021)), large = d_less(d_splat(1023), n);
    vd result = d_scaled_a_little(power, d_at_least(d_splat(-1021), d_at_most(d_splat(1023), n)));
    if (d_any(d_either(small, large))) {
        vd units = d_scaled_a_little(power, n + d_splat(1074));
        vd integer = d_real(d_bits(units + d_splat(0x1p52)) - d_bits(d_splat(0x1p52)));
        md denormal = d_less(units, d_splat(0x1p52));
        /* The smallest normal numbers, computed from numbers twice as large. */
        vd twice = d_pick(denormal, d_splat(1), d_scaled_a_little(power, d_at_least(d_splat(-1021), n + d_splat(1))));
        vd less = d_pick(denormal, integer, twice * d_splat(0.5));
        result = d_pick(small, less, d_pick(large, result * d_splat(2), result));
    }
    return result;
}

#include "double.h"
#include "single.h"

#define SV_PREFIX "sv_avx2_"
#define SV_FUNCTIONS sv_avx2_functions
#include "entry_points.h"
#else
#include "vector_math.h"

const sv_vector_row sv_avx2_functions[] = {{0}};
#endif
