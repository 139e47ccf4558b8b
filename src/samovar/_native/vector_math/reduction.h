/* Range reduction of large angles, one by one: x = n pi/2 + r, with r from -pi/4 to pi/4, for any finite x. The product of x
   and 2/pi is only needed modulo 4, so a window of the digits of 2/pi is enough, whose position depends on the exponent of x
   (Payne-Hanek reduction). Infinity and NaN give NaN. */
#include <math.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 sv_wide;
__extension__ typedef unsigned __int128 sv_unsigned_wide;

/* 2/pi after the point, preceded by 64 zeros. */
static const uint64_t two_over_pi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

/* 64 digits of 2/pi, from a given one on. */
static inline uint64_t digits_from(int place)
{
    const uint64_t *word = two_over_pi + (place >> 6);
    int shift = place & 63;
    return shift ? word[0] << shift | word[1] >> (64 - shift) : word[0];
}

static inline double sv_reduce_double(double x, int64_t *quarters)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1075;
    if (exponent == 0x7ff - 1075)
        return x - x;
    uint64_t mantissa = (bits & 0xfffffffffffff) | (uint64_t)1 << 52;
    int place = exponent - 2 + 64;
    sv_unsigned_wide low = (sv_unsigned_wide)mantissa * digits_from(place + 128);
    sv_unsigned_wide middle = (sv_unsigned_wide)mantissa * digits_from(place + 64) + (low >> 64);
    uint64_t high = mantissa * digits_from(place) + (uint64_t)(middle >> 64);
    sv_unsigned_wide fraction = ((sv_unsigned_wide)high << 64 | (uint64_t)middle) << 2;
    int64_t turns = (int64_t)(high >> 62) + (int64_t)(fraction >> 127);
    double r = (double)(sv_wide)fraction * (0x1.921fb54442d18p+0 * 0x1p-128);
    *quarters = x < 0 ? -turns : turns;
    return x < 0 ? -r : r;
}

static inline float sv_reduce_single(float x, int32_t *quarters)
{
    double r;
    if (fabsf(x) < 0x1p45f) {
        double n = (double)x * 0x1.45f306dc9c883p-1 + 0x1.8p52;
        memcpy(quarters, &n, sizeof *quarters);
        n -= 0x1.8p52;
        r = fma(n, -0x1.1a62633145c07p-54, fma(n, -0x1.921fb54442d18p+0, (double)x));
    } else {
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        int exponent = (int)(bits >> 23 & 0xff) - 150;
        if (exponent == 0xff - 150)
            return x - x;
        uint64_t mantissa = (bits & 0x7fffff) | (uint32_t)1 << 23;
        int place = exponent - 2 + 64;
        uint64_t high = mantissa * digits_from(place), fraction = high << 2;
        /* The omitted digits affect 25 bits. If the fraction has few others, they matter. */
        if (fraction + ((uint64_t)1 << 51) < (uint64_t)1 << 52) {
            high += (uint64_t)((sv_unsigned_wide)mantissa * digits_from(place + 64) >> 64);
            fraction = high << 2;
        }
        int32_t turns = (int32_t)(high >> 62) + (int32_t)(fraction >> 63);
        r = (double)(int64_t)fraction * (0x1.921fb54442d18p+0 * 0x1p-64);
        *quarters = x < 0 ? -turns : turns;
        if (x < 0)
            r = -r;
    }
    return (float)r;
}
