/* Vector mathematics for processors with AVX-512: sixteen floats or eight doubles at a time. */
#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512dq,avx2,fma")
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "vector_math.h"
#include "reduction.h"

typedef __m512 vs;
typedef __mmask16 ms;
typedef int32_t is __attribute__((vector_size(64)));
typedef __m512d vd;
typedef __mmask8 md;
typedef int64_t id __attribute__((vector_size(64)));
typedef uint64_t ud __attribute__((vector_size(64)));

#define s_splat(x) _mm512_set1_ps(x)
#define s_integer(x) ((is)_mm512_set1_epi32(x))
#define s_fma(a, b, c) _mm512_fmadd_ps(a, b, c)
#define s_fnma(a, b, c) _mm512_fnmadd_ps(a, b, c)
#define s_bits(x) ((is)(x))
#define s_real(x) ((vs)(x))
#define s_odd(x) _mm512_test_epi32_mask((__m512i)(x), _mm512_set1_epi32(1))
#define s_converted(x) _mm512_cvtepi32_ps((__m512i)(x))
#define s_floor(x) _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define s_at_most(bound, x) _mm512_min_ps(bound, x) /* NaN is preserved */
#define s_at_least(bound, x) _mm512_max_ps(bound, x)
#define s_less(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define s_less_equal(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)
#define s_not_less_equal(a, b) _mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ)
#define s_equal(a, b) _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)
#define s_both(a, b) ((ms)((a) & (b)))
#define s_not_both(a, b) ((ms)(((a) & (b)) ^ 0xffff))
#define s_pick(m, a, b) _mm512_mask_blend_ps(m, b, a)
#define s_all(m) ((m) == 0xffff)
#define s_any(m) ((m) != 0)
#define s_low_half(x) _mm512_cvtps_pd(_mm512_castps512_ps256(x))
#define s_high_half(x) _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))
#define s_joined(low, high) _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1)

#define d_splat(x) _mm512_set1_pd(x)
#define d_integer(x) ((id)_mm512_set1_epi64(x))
#define d_fma(a, b, c) _mm512_fmadd_pd(a, b, c)
#define d_fms(a, b, c) _mm512_fmsub_pd(a, b, c)
#define d_fnma(a, b, c) _mm512_fnmadd_pd(a, b, c)
#define d_bits(x) ((id)(x))
#define d_real(x) ((vd)(x))
#define d_odd(x) _mm512_test_epi64_mask((__m512i)(x), _mm512_set1_epi64(1))
#define d_shifted_right(x, n) ((id)((ud)(x) >> (n)))
#define d_floor(x) _mm512_roundscale_pd(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define d_at_most(bound, x) _mm512_min_pd(bound, x)
#define d_at_least(bound, x) _mm512_max_pd(bound, x)
#define d_less(a, b) _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)
#define d_less_equal(a, b) _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ)
#define d_not_less_equal(a, b) _mm512_cmp_pd_mask(a, b, _CMP_NLE_UQ)
#define d_equal(a, b) _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)
#define d_both(a, b) ((md)((a) & (b)))
#define d_not_both(a, b) ((md)(((a) & (b)) ^ 0xff))
#define d_pick(m, a, b) _mm512_mask_blend_pd(m, b, a)
#define d_all(m) ((m) == 0xff)
#define d_any(m) ((m) != 0)

/* Table lookup of 32 numbers: register permutations are faster than eight loads. */
SV_INLINE vd d_gather(const double *table, id place)
{
    __m512i places = (__m512i)place;
    vd lower = _mm512_permutex2var_pd(_mm512_loadu_pd(table), places, _mm512_loadu_pd(table + 8));
    vd upper = _mm512_permutex2var_pd(_mm512_loadu_pd(table + 16), places, _mm512_loadu_pd(table + 24));
    return _mm512_mask_blend_pd(_mm512_test_epi64_mask(places, _mm512_set1_epi64(16)), lower, upper);
}

#define s_scaled(power, n) _mm512_scalef_ps(power, n)
#define s_scaled_a_little(power, n) _mm512_scalef_ps(power, n)
#define d_scaled(power, n) _mm512_scalef_pd(power, n)
#define d_scaled_a_little(power, n) _mm512_scalef_pd(power, n)

#include "double.h"
#include "single.h"

#define SV_PREFIX "sv_avx512_"
#define SV_FUNCTIONS sv_avx512_functions
#include "entry_points.h"
#else
#include "vector_math.h"

const sv_vector_row sv_avx512_functions[] = {{0}};
#endif
