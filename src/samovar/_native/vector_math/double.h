/* Functions of vectors of doubles; see `single.h`. `vd` is a vector of doubles, `id` one of integers of the same size, `md` a
   mask. */

#define D_ROUNDING 0x1.8p52 /* added to a number below 2^51, leaves the nearest integer in the lowest bits */

/* Estrin's scheme: pairs, then pairs of pairs, so that half of the operations are independent. */
SV_INLINE vd d_polynomial(vd x, const double *coefficients, int degree)
{
    vd sums[16];
    int count = degree + 1;
#pragma GCC unroll 16
    for (int i = 0; i < count; i++)
        sums[i] = d_splat(coefficients[i]);
#pragma GCC unroll 4
    for (; count > 1; count = (count + 1) / 2) {
#pragma GCC unroll 8
        for (int i = 0; i < count / 2; i++)
            sums[i] = d_fma(sums[2 * i + 1], x, sums[2 * i]);
        if (count % 2)
            sums[count / 2] = sums[count - 1];
        x = x * x;
    }
    return sums[0];
}

SV_INLINE vd d_magnitude(vd x)
{
    return d_real(d_bits(x) & d_integer(0x7fffffffffffffff));
}

SV_INLINE vd d_signed(vd size, vd sign)
{
    return d_real(d_bits(size) | (d_bits(sign) & d_integer((int64_t)0x8000000000000000)));
}

SV_INLINE vd d_from_units(id units)
{
    return d_real(units | d_integer(0x4330000000000000)) - d_splat(0x1p52);
}

/* The rounding error of the sum of a large number and a small one. */
SV_INLINE vd d_lost(vd large, vd small, vd sum)
{
    return (large - sum) + small;
}

/* A normal number as 2^e * m, with m from sqrt(1/2) to sqrt(2). */
SV_INLINE vd d_mantissa(vd x, vd *e)
{
    id bits = d_bits(x) - d_integer(0x3fe6a09e667f3bcd);
    id biased = d_shifted_right(bits + d_integer((int64_t)1024 << 52), 52);
    *e = d_real(biased | d_integer(0x4330000000000000)) - d_splat(0x1p52 + 1024);
    return d_real((bits & d_integer(0xfffffffffffff)) + d_integer(0x3fe6a09e667f3bcd));
}

/* --- exponential -------------------------------------------------------------------------------------------------- */

/* e^(x + rest) = 2^n e^r: e^r, and n. If a rest is given, the rounding error of r is included. */
SV_INLINE vd d_exp_parts(vd x, const vd *rest, vd *exponent)
{
    static const double terms[] = {0x1.0000000000001p-1, 0x1.5555555555558p-3,  0x1.5555555553cd6p-5,  0x1.111111110f8d9p-7,
                                   0x1.6c16c178acd51p-10, 0x1.a01a01afb87cdp-13, 0x1.a019b8b19b673p-16, 0x1.71ddf782f2e0bp-19,
                                   0x1.2891da18ce098p-22, 0x1.af61c99011aeep-26};
    vd n = d_fma(x, d_splat(0x1.71547652b82fep+0), d_splat(D_ROUNDING)) - d_splat(D_ROUNDING);
    vd most = d_fnma(n, d_splat(0x1.62e42fefa39efp-1), x), r, lost = d_splat(0);
    if (rest != NULL) {
        vd little = d_fnma(n, d_splat(0x1.abc9e3b39803fp-56), *rest);
        r = most + little;
        lost = d_lost(most, little, r);
    } else {
        r = d_fnma(n, d_splat(0x1.abc9e3b39803fp-56), most);
    }
    *exponent = n;
    /* Far from 0, so that no power of it is subnormal. */
    vd sum = r * r * d_polynomial(r + d_splat(0x1p-60), terms, 9);
    if (rest != NULL)
        sum = sum + lost;
    return d_splat(1) + (r + sum);
}

SV_INLINE vd d_exp_of_sum(vd x, const vd *rest)
{
    vd n, power = d_exp_parts(d_at_least(d_splat(-746), d_at_most(d_splat(710), x)), rest, &n);
    return d_scaled(power, n);
}

SV_INLINE vd d_exp(vd x)
{
    return d_exp_of_sum(x, NULL);
}

/* --- logarithm ---------------------------------------------------------------------------------------------------- */

SV_INLINE vd d_log(vd x)
{
    static const double terms[] = {0x1.5555555555592p-1, 0x1.999999997fdbcp-2, 0x1.24924941f0fb3p-2, 0x1.c71c520974956p-3,
                                   0x1.74663ee58004cp-3, 0x1.39a1bad676fep-3,  0x1.2f0563e28e748p-3};
    md special = d_not_both(d_less_equal(d_splat(0x1p-1022), x), d_less(x, d_splat(INFINITY)));
    vd scaled = x, shift = d_splat(0);
    if (d_any(special)) {
        md small = d_less(x, d_splat(0x1p-1022));
        scaled = d_pick(small, d_from_units(d_bits(x) & d_integer(0xfffffffffffff)), x);
        shift = d_pick(small, d_splat(1074), shift);
    }
    vd e, f = d_mantissa(scaled, &e) - d_splat(1);
    e = e - shift;
    vd s = f / (d_splat(2) + f), z = s * s, half = d_splat(0.5) * f * f;
    /* log(1 + f) = f - (f^2/2 - s (f^2/2 + z R(z))), where f is exact and the rest small. */
    vd rest = s * d_fma(z, d_polynomial(z, terms, 6), half);
    rest = d_fma(e, d_splat(0x1.abc9e3b39803fp-56), rest) - half;
    vd result = d_fma(e, d_splat(0x1.62e42fefa39efp-1), f + rest);
    if (d_any(special)) {
        result = d_pick(d_equal(x, d_splat(0)), d_splat(-INFINITY), result);
        result = d_pick(d_less(x, d_splat(INFINITY)), result, x);
        result = d_pick(d_less(x, d_splat(0)), d_splat(NAN), result);
    }
    return result;
}

/* --- sine and cosine ---------------------------------------------------------------------------------------------- */

SV_INLINE vd d_quarter_turns(vd x, id *quarters)
{
    vd rounded = d_fma(x, d_splat(0x1.45f306dc9c883p-1), d_splat(D_ROUNDING));
    vd n = rounded - d_splat(D_ROUNDING);
    vd r = d_fnma(n, d_splat(0x1.921fb54442d18p+0), x);
    r = d_fnma(n, d_splat(0x1.1a62633145c07p-54), r);
    r = d_fma(n, d_splat(0x1.f1976b7ed8fbcp-110), r);
    *quarters = d_bits(rounded);
    md large = d_not_less_equal(d_magnitude(x), d_splat(0x1p40));
    if (d_any(large)) {
        union {
            vd vector;
            double numbers[sizeof(vd) / sizeof(double)];
        } angles = {x}, rests = {r};
        union {
            id vector;
            int64_t numbers[sizeof(vd) / sizeof(double)];
        } turns = {*quarters};
        for (size_t i = 0; i < sizeof(vd) / sizeof(double); i++)
            if (!(fabs(angles.numbers[i]) <= 0x1p40))
                rests.numbers[i] = sv_reduce_double(angles.numbers[i], &turns.numbers[i]);
        r = rests.vector;
        *quarters = turns.vector;
    }
    return r;
}

SV_INLINE vd d_sine_after(vd r, id quarters)
{
    static const double sine[] = {-0x1.5555555555549p-3, 0x1.111111110f87ap-7,   -0x1.a01a019c1199p-13,
                                  0x1.71de3577b4e8ap-19, -0x1.ae5e6638965ebp-26, 0x1.5d93004970b69p-33};
    static const double cosine[] = {0x1.555555555554cp-5,   -0x1.6c16c16c1517ep-10, 0x1.a01a019cb1bf4p-16,
                                    -0x1.27e4f809f172fp-22, 0x1.1ee9ebe983a11p-29,  -0x1.8fae9c87de47p-37};
    vd square = d_at_least(d_splat(0x1p-100), r * r), half = d_splat(0.5) * square, one = d_splat(1);
    vd s = d_fma(r * square, d_polynomial(square, sine, 5), r);
    /* 1 - half is inexact, but its rounding error is known. */
    vd begin = one - half;
    vd c = begin + d_fma(square * square, d_polynomial(square, cosine, 5), (one - begin) - half);
    vd result = d_pick(d_odd(quarters), c, s);
    return d_real(d_bits(result) ^ ((quarters & d_integer(2)) << 62));
}

SV_INLINE vd d_sin(vd x)
{
    id quarters;
    vd r = d_quarter_turns(x, &quarters);
    return d_sine_after(r, quarters);
}

SV_INLINE vd d_cos(vd x)
{
    id quarters;
    vd r = d_quarter_turns(x, &quarters);
    return d_sine_after(r, quarters + d_integer(1));
}

/* --- hyperbolic tangent ------------------------------------------------------------------------------------------- */

SV_INLINE vd d_tanh(vd x)
{
    static const double terms[] = {-0x1.5555555555503p-2, 0x1.111111110b0c6p-3,   -0x1.ba1ba1b53100fp-5, 0x1.664f4781f6d5bp-6,
                                   -0x1.226e16da08b91p-7, 0x1.d6cf3ca62974fp-9,   -0x1.7d696a7a8c6fep-10, 0x1.336ae63a985c6p-11,
                                   -0x1.df7a8bf997a2bp-13, 0x1.43e17c8404c98p-14, -0x1.0e3d6e428d3e2p-16};
    vd size = d_magnitude(x), square = d_at_least(d_splat(0x1p-60), x * x);
    vd near = d_fma(size * square, d_polynomial(square, terms, 10), size);
    vd bounded = d_at_most(d_splat(20), size);
    vd n, power = d_exp_parts(bounded + bounded, NULL, &n);
    power = d_scaled_a_little(power, n);
    vd far = d_splat(1) - d_splat(2) / (power + d_splat(1));
    return d_signed(d_pick(d_less(size, d_splat(0.625)), near, far), x);
}

/* --- power -------------------------------------------------------------------------------------------------------- */

/* For 32 intervals of the mantissa: a reciprocal of nine bits, 1 for the interval around 1, and minus its logarithm, the
   high part in multiples of 2^-42. */
static const double reciprocals[] = {
    0x1.64p+0, 0x1.5c8p+0, 0x1.558p+0, 0x1.4e8p+0, 0x1.478p+0, 0x1.418p+0, 0x1.3bp+0, 0x1.35p+0, 0x1.2f8p+0, 0x1.2ap+0,
    0x1.248p+0, 0x1.1f8p+0, 0x1.1a8p+0, 0x1.158p+0, 0x1.11p+0, 0x1.0c8p+0, 0x1.088p+0, 0x1.04p+0, 0x1p+0, 0x1.fp-1,
    0x1.e2p-1, 0x1.d4p-1, 0x1.c7p-1, 0x1.bbp-1, 0x1.afp-1, 0x1.a4p-1, 0x1.9ap-1, 0x1.9p-1, 0x1.86p-1, 0x1.7dp-1, 0x1.74p-1,
    0x1.6cp-1,
};
static const double logarithms[] = {
    -0x1.51aad872ep-2, -0x1.3bdd24eb15p-2, -0x1.27161913f8p-2, -0x1.11e0e2dadap-2, -0x1.f871b28956p-3, -0x1.d293581b6cp-3,
    -0x1.a8becfc882p-3, -0x1.815c0a1436p-3, -0x1.5c94007598p-3, -0x1.371fc201e8p-3, -0x1.10f8e42254p-3, -0x1.db5270187cp-4,
    -0x1.9375e55594p-4, -0x1.4a50d3aa1cp-4, -0x1.075983599p-4, -0x1.868a83084p-5, -0x1.0b94f7c198p-5, -0x1.fc0a8b0fcp-7,
    0x0p+0, 0x1.0415d89e78p-5, 0x1.eea31c0068p-5, 0x1.700d30aeacp-4, 0x1.e3707ee304p-4, 0x1.28753bc11ap-3,
    0x1.60b3100b0ap-3, 0x1.95a5adcf7p-3, 0x1.c6ffbc6fp-3, 0x1.f991c6cb3cp-3, 0x1.16b5ccbadp-2, 0x1.2e9e2bce12p-2,
    0x1.4718dc271cp-2, 0x1.5d5bddf596p-2,
};
static const double logarithms_rest[] = {
    0x1.f4bd8db0a7cc1p-44, 0x1.257b4970e6ed9p-44, -0x1.4f4f1f61564b4p-44, 0x1.a47f88fcce5bap-45, 0x1.f75fd6a526efep-44,
    0x1.83270128aaa5fp-44, -0x1.e3185cf21b9cfp-44, 0x1.02a52f9201ce8p-44, 0x1.a8d948cd23322p-44, -0x1.ee8779b2d8abcp-44,
    0x1.93b3843396307p-45, -0x1.9277856ae181fp-44, -0x1.eddc37380c364p-44, 0x1.f7fe1308973e2p-45, 0x1.b8ecfe4b59987p-44,
    0x1.2623a134ac693p-46, 0x1.e89896f022783p-45, -0x1.f1e7cf6d3a69cp-50, 0x0p+0, -0x1.dddc7f461c516p-44,
    0x1.c3dd83606d891p-44, 0x1.c1e8da99ded32p-49, 0x1.0f684e6766abdp-45, 0x1.7494e359302e6p-44, -0x1.71456c988f814p-44,
    0x1.7f22858a0ff6fp-47, 0x1.ee138d3a69d43p-44, -0x1.90d04cd7cc834p-44, -0x1.23299042d74bfp-44, 0x1.4300c128d1dc2p-45,
    0x1.06c18fb4c14c5p-44, -0x1.a0b2a08a465dcp-47,
};

/* The logarithm of a positive normal number times 2^shift, to 64 bits, as a sum of two. */
SV_INLINE vd d_log_parts(vd x, vd shift, vd *rest)
{
    static const double terms[] = {0x1.5555555555555p-2, -0x1.0000000001eddp-2, 0x1.99999999a4fcbp-3, -0x1.55555426a301p-3,
                                   0x1.2492473a50159p-3, -0x1.001bea1aee13dp-3, 0x1.c75cc51bfa972p-4};
    id bits = d_bits(x) - d_integer(0x3fe6c00000000000);
    id biased = d_shifted_right(bits + d_integer((int64_t)1024 << 52), 52);
    vd e = d_real(biased | d_integer(0x4330000000000000)) - (d_splat(0x1p52 + 1024) - shift);
    id fraction = bits & d_integer(0xfffffffffffff), part = fraction >> 47;
    vd m = d_real(fraction + d_integer(0x3fe6c00000000000));
    vd reciprocal = d_gather(reciprocals, part);
    /* r = m / c - 1, exactly: the products of both halves of m are exact. */
    vd upper = d_real(d_bits(m) & d_integer((int64_t)0xfffffffff8000000));
    vd above = d_fma(upper, reciprocal, d_splat(-1)), below = (m - upper) * reciprocal;
    vd r = above + below, lost = d_lost(above, below, r);
    /* e log 2 + log c + r - r^2/2 + r^3 (...), each step with its rounding error. */
    vd whole = d_fma(e, d_splat(0x1.62e42fefa38p-1), d_gather(logarithms, part));
    vd small = d_fma(e, d_splat(0x1.ef35793c7673p-45), d_gather(logarithms_rest, part)) + d_fnma(lost, r, lost);
    vd first = whole + r, negative = d_splat(-0.5) * r, square = negative * r, second = first + square;
    small = (small + d_lost(whole, r, first)) + ( d_fms(negative, r, square) + d_lost(first, square, second));
    small = d_fma(r * r * r, d_polynomial(r, terms, 6), small);
    vd sum = second + small;
    *rest = d_lost(second, small, sum);
    return sum;
}

SV_INLINE vd d_pow(vd x, vd y)
{
    vd size = d_magnitude(x), shift = d_splat(0), base = size, exponent = y;
    md usual = d_both(d_both(d_less_equal(d_splat(0x1p-1022), x), d_less(x, d_splat(INFINITY))),
                      d_less(d_magnitude(y), d_splat(0x1p64)));
    int special = !d_all(usual);
    if (special) {
        md tiny = d_less(size, d_splat(0x1p-1022));
        base = d_pick(tiny, d_from_units(d_bits(size)), size);
        shift = d_pick(tiny, d_splat(-1074), shift);
        /* Beyond this, a power is 0, 1 or infinite. */
        vd limit = d_signed(d_splat(0x1p64), y);
        exponent = d_pick(d_less(d_magnitude(y), d_splat(0x1p64)), y, limit);
    }
    vd rest, logarithm = d_log_parts(base, shift, &rest);
    vd product = exponent * logarithm, error = d_fms(exponent, logarithm, product);
    error = d_fma(exponent, rest, error);
    md within = d_less(d_magnitude(product), d_splat(800));
    product = d_pick(within, product, d_signed(d_splat(800), product));
    error = d_pick(within, error, d_splat(0));
    vd result = d_exp_of_sum(product, &error);
    if (special) {
        vd nothing = d_splat(0), infinity = d_splat(INFINITY), half = y * d_splat(0.5), one = d_splat(1);
        md whole = d_equal(d_floor(y), y), even = d_equal(d_floor(half), half), falls = d_less(y, nothing);
        result = d_pick(d_equal(size, one), one, result);
        result = d_pick(d_equal(size, nothing), d_pick(falls, infinity, nothing), result);
        result = d_pick(d_equal(size, infinity), d_pick(falls, nothing, infinity), result);
        result = d_signed(result, d_pick(whole, d_pick(even, nothing, x), nothing));
        md complex = d_both(d_less(x, nothing), d_less(size, infinity));
        result = d_pick(complex, d_pick(whole, result, d_splat(NAN)), result);
        result = d_pick(d_equal(x, x), d_pick(d_equal(y, y), result, y), x);
        result = d_pick(d_equal(x, one), one, result);
        result = d_pick(d_equal(y, nothing), one, result);
    }
    return result;
}
