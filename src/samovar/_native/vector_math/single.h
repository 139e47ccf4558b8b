/* Functions of vectors of floats. Included by a file that has defined the operations of an instruction set: `vs` is a vector
   of floats, `is` one of integers of the same size, `ms` a mask.

   No path is slow: inputs outside the ordinary range (subnormals, infinities, NaN, large angles) take a few more operations
   on all lanes, and only if some lane needs them. Errors are in docs/accuracy.md. */

/* Estrin's scheme: pairs, then pairs of pairs, so that half of the operations are independent. */
SV_INLINE vs s_polynomial(vs x, const float *coefficients, int degree)
{
    vs sums[16];
    int count = degree + 1;
#pragma GCC unroll 16
    for (int i = 0; i < count; i++)
        sums[i] = s_splat(coefficients[i]);
#pragma GCC unroll 4
    for (; count > 1; count = (count + 1) / 2) {
#pragma GCC unroll 8
        for (int i = 0; i < count / 2; i++)
            sums[i] = s_fma(sums[2 * i + 1], x, sums[2 * i]);
        if (count % 2)
            sums[count / 2] = sums[count - 1];
        x = x * x;
    }
    return sums[0];
}

SV_INLINE vs s_magnitude(vs x)
{
    return s_real(s_bits(x) & s_integer(0x7fffffff));
}

/* Copy the sign of one number to another that is not negative. */
SV_INLINE vs s_signed(vs size, vs sign)
{
    return s_real(s_bits(size) | (s_bits(sign) & s_integer((int)0x80000000)));
}

/* A subnormal in units of 2^-149, from its bits: no arithmetic instruction sees it. */
SV_INLINE vs s_from_units(is units)
{
    return s_real(units | s_integer(0x4b000000)) - s_splat(0x1p23f);
}

/* --- exponential -------------------------------------------------------------------------------------------------- */

#define S_ROUNDING 0x1.8p23f /* added to a number below 2^22, leaves the nearest integer in the lowest bits */

/* e^x = 2^n e^r: e^r, and n. */
SV_INLINE vs s_exp_parts(vs x, vs *exponent)
{
    static const float terms[] = {0x1p-1f, 0x1.5554dcp-3f, 0x1.5554eap-5f, 0x1.120c0ap-7f, 0x1.6d4bfep-10f};
    vs n = s_fma(x, s_splat(0x1.715476p+0f), s_splat(S_ROUNDING)) - s_splat(S_ROUNDING);
    vs r = s_fnma(n, s_splat(0x1.62e43p-1f), x);
    r = s_fma(n, s_splat(0x1.05c61p-29f), r);
    *exponent = n;
    /* Far from 0, so that no power of it is subnormal. */
    return s_splat(1) + s_fma(r * r, s_polynomial(r + s_splat(0x1p-30f), terms, 4), r);
}

SV_INLINE vs s_exp(vs x)
{
    vs n, power = s_exp_parts(s_at_least(s_splat(-104), s_at_most(s_splat(89), x)), &n);
    return s_scaled(power, n);
}

/* --- logarithm ---------------------------------------------------------------------------------------------------- */

SV_INLINE vs s_log(vs x)
{
    static const float terms[] = {0x1.555546p-2f, -0x1.ffffeep-3f, 0x1.99a546p-3f,  -0x1.5562e2p-3f, 0x1.2332bcp-3f,
                                  -0x1.fb4354p-4f, 0x1.e650fap-4f, -0x1.e2e8ecp-4f, 0x1.1b4126p-4f};
    ms special = s_not_both(s_less_equal(s_splat(0x1p-126f), x), s_less(x, s_splat(INFINITY)));
    vs scaled = x, shift = s_splat(0);
    if (s_any(special)) {
        ms small = s_less(x, s_splat(0x1p-126f));
        scaled = s_pick(small, s_from_units(s_bits(x) & s_integer(0x7fffffff)), x);
        shift = s_pick(small, s_splat(149), shift);
    }
    /* 2^e * m, with m from sqrt(1/2) to sqrt(2). */
    is bits = s_bits(scaled) - s_integer(0x3f3504f3);
    vs e = s_converted(bits >> 23) - shift;
    vs f = s_real((bits & s_integer(0x7fffff)) + s_integer(0x3f3504f3)) - s_splat(1);
    vs square = f * f;
    vs rest = s_fma(f * square, s_polynomial(f, terms, 8), s_fma(e, s_splat(-0x1.05c61p-29f), s_splat(-0.5f) * square));
    vs result = s_fma(e, s_splat(0x1.62e43p-1f), f + rest);
    if (s_any(special)) {
        result = s_pick(s_equal(x, s_splat(0)), s_splat(-INFINITY), result);
        result = s_pick(s_less(x, s_splat(INFINITY)), result, x);
        result = s_pick(s_less(x, s_splat(0)), s_splat(NAN), result);
    }
    return result;
}

/* --- sine and cosine ---------------------------------------------------------------------------------------------- */

/* x = n pi/2 + r, with r from -pi/4 to pi/4. */
SV_INLINE vs s_quarter_turns(vs x, is *quarters)
{
    vs rounded = s_fma(x, s_splat(0x1.45f306p-1f), s_splat(S_ROUNDING));
    vs n = rounded - s_splat(S_ROUNDING);
    vs r = s_fnma(n, s_splat(0x1.921fb6p+0f), x);
    r = s_fma(n, s_splat(0x1.777a5cp-25f), r);
    r = s_fma(n, s_splat(0x1.ee59dap-50f), r);
    *quarters = s_bits(rounded);
    ms large = s_not_less_equal(s_magnitude(x), s_splat(0x1p20f));
    if (s_any(large)) {
        union {
            vs vector;
            float numbers[sizeof(vs) / sizeof(float)];
        } angles = {x}, rests = {r};
        union {
            is vector;
            int32_t numbers[sizeof(vs) / sizeof(float)];
        } turns = {*quarters};
        for (size_t i = 0; i < sizeof(vs) / sizeof(float); i++)
            if (!(fabsf(angles.numbers[i]) <= 0x1p20f))
                rests.numbers[i] = sv_reduce_single(angles.numbers[i], &turns.numbers[i]);
        r = rests.vector;
        *quarters = turns.vector;
    }
    return r;
}

SV_INLINE vs s_sine_after(vs r, is quarters)
{
    static const float sine[] = {-0x1.555546p-3f, 0x1.11076p-7f, -0x1.994e5ap-13f};
    static const float cosine[] = {0x1.55554ap-5f, -0x1.6c0c8ap-10f, 0x1.9a0218p-16f};
    vs square = s_at_least(s_splat(0x1p-50f), r * r);
    vs s = s_fma(r * square, s_polynomial(square, sine, 2), r);
    vs c = s_fma(square * square, s_polynomial(square, cosine, 2), s_fma(square, s_splat(-0.5f), s_splat(1)));
    vs result = s_pick(s_odd(quarters), c, s);
    return s_real(s_bits(result) ^ ((quarters & s_integer(2)) << 30));
}

SV_INLINE vs s_sin(vs x)
{
    is quarters;
    vs r = s_quarter_turns(x, &quarters);
    return s_sine_after(r, quarters);
}

SV_INLINE vs s_cos(vs x)
{
    is quarters;
    vs r = s_quarter_turns(x, &quarters);
    return s_sine_after(r, quarters + s_integer(1));
}

/* --- hyperbolic tangent ------------------------------------------------------------------------------------------- */

SV_INLINE vs s_tanh(vs x)
{
    static const float terms[] = {-0x1.555534p-2f, 0x1.110768p-3f, -0x1.b8444ap-5f, 0x1.5256dcp-6f, -0x1.76ac26p-8f};
    vs size = s_magnitude(x), square = s_at_least(s_splat(0x1p-30f), x * x);
    vs near = s_fma(size * square, s_polynomial(square, terms, 4), size);
    vs bounded = s_at_most(s_splat(10), size);
    vs n, power = s_exp_parts(bounded + bounded, &n);
    power = s_scaled_a_little(power, n);
    vs far = s_splat(1) - s_splat(2) / (power + s_splat(1));
    return s_signed(s_pick(s_less(size, s_splat(0.625f)), near, far), x);
}

/* --- power -------------------------------------------------------------------------------------------------------- */

/* x^y for positive finite x, in double: the error of 2^-45 is negligible for a float. */
SV_INLINE vd s_power_of_doubles(vd x, vd y)
{
    static const double logarithm[] = {0x1.71547652b825p+1,   0x1.ec709dc53d9ecp-1, 0x1.2776c291fc814p-1,
                                       0x1.a61a2fb263794p-2, 0x1.479533f5e74e7p-2, 0x1.21b2adc0f38b8p-2};
    static const double exponential[] = {0x1.ffffffffa6dfap-1, 0x1.62e42fef6cbd9p-1, 0x1.ebfbe0aa4bb22p-3, 0x1.c6b08e0722846p-5,
                                         0x1.3b29d8820d761p-7, 0x1.5d87157fa997dp-10, 0x1.446ca600a04d9p-13,
                                         0x1.00f7cfadda2e5p-16};
    vd e, m = d_mantissa(x, &e);
    vd s = (m - d_splat(1)) / (m + d_splat(1));
    vd product = y * d_fma(s, d_polynomial(s * s, logarithm, 5), e);
    product = d_at_least(d_splat(-200), d_at_most(d_splat(200), product));
    vd rounded = product + d_splat(D_ROUNDING);
    vd n = rounded - d_splat(D_ROUNDING);
    vd power = d_polynomial(product - n, exponential, 7);
    return d_real(d_bits(power) + (d_bits(rounded) << 52));
}

SV_INLINE vs s_pow(vs x, vs y)
{
    vs size = s_magnitude(x);
    vd low = s_power_of_doubles(s_low_half(size), s_low_half(y));
    vs result = s_joined(low, s_power_of_doubles(s_high_half(size), s_high_half(y)));
    ms usual = s_both(s_both(s_less(s_splat(0), x), s_less(x, s_splat(INFINITY))), s_less(s_magnitude(y), s_splat(INFINITY)));
    if (!s_all(usual)) {
        vs nothing = s_splat(0), infinity = s_splat(INFINITY), half = y * s_splat(0.5f);
        ms whole = s_equal(s_floor(y), y), even = s_equal(s_floor(half), half), falls = s_less(y, nothing);
        result = s_pick(s_equal(size, nothing), s_pick(falls, infinity, nothing), result);
        result = s_pick(s_equal(size, infinity), s_pick(falls, nothing, infinity), result);
        vs sign = s_pick(whole, s_pick(even, nothing, x), nothing);
        result = s_signed(result, sign);
        ms complex = s_both(s_less(x, nothing), s_less(size, infinity));
        result = s_pick(complex, s_pick(whole, result, s_splat(NAN)), result);
        result = s_pick(s_equal(x, x), s_pick(s_equal(y, y), result, y), x);
        result = s_pick(s_both(s_equal(size, s_splat(1)), s_equal(s_magnitude(y), infinity)), s_splat(1), result);
        result = s_pick(s_equal(x, s_splat(1)), s_splat(1), result);
        result = s_pick(s_equal(y, nothing), s_splat(1), result);
    }
    return result;
}
