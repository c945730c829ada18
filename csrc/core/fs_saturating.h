/* Unsigned 64-bit arithmetic that stops at its end instead of wrapping.
 *
 * Written with comparisons that every C11 compiler takes. __builtin_add_overflow would save an
 * instruction and MSVC does not have it; __int128 neither. Here is only what the schedule needs.
 */
#ifndef FS_SATURATING_H
#define FS_SATURATING_H

#include <stdint.h>

static inline uint64_t fs_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t fs_since(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

static inline uint64_t fs_mul(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* A number of 128 bits. */
typedef struct {
    uint64_t high;
    uint64_t low;
} fs_wide;

static inline fs_wide fs_wide_mul(uint64_t a, uint64_t b)
{
    const uint64_t low_half = 0xffffffffu;
    const uint64_t ll = (a & low_half) * (b & low_half);
    const uint64_t lh = (a & low_half) * (b >> 32);
    const uint64_t hl = (a >> 32) * (b & low_half);
    const uint64_t middle = (ll >> 32) + (lh & low_half) + (hl & low_half);
    const fs_wide product = {
        .high = (a >> 32) * (b >> 32) + (lh >> 32) + (hl >> 32) + (middle >> 32),
        .low = (middle << 32) | (ll & low_half),
    };
    return product;
}

/* floor(a / c) for c > 0, at most UINT64_MAX, and in `rest` what is left, exactly: long division, bit
 * by bit. */
static inline uint64_t fs_wide_div(fs_wide a, uint64_t c, uint64_t *rest)
{
    if (a.high == 0) {
        *rest = a.low % c;
        return a.low / c;
    }
    uint64_t quotient = 0;
    uint64_t left = a.high % c;
    for (int bit = 63; bit >= 0; bit--) {
        const uint64_t carry = left >> 63;
        left = (left << 1) | ((a.low >> bit) & 1);
        quotient <<= 1;
        if (carry != 0 || left >= c) {
            left -= c; /* wraps where carry is set, to the right value */
            quotient |= 1;
        }
    }
    *rest = left;
    return a.high >= c ? UINT64_MAX : quotient;
}

/* floor(a * b / c), at most UINT64_MAX, for any a, b and c > 0. Only the steps of a Rate come here, and
 * nearly all of those take the first branch. */
static inline uint64_t fs_mul_div(uint64_t a, uint64_t b, uint64_t c)
{
    if (a == 0 || b <= UINT64_MAX / a) {
        return a * b / c;
    }
    uint64_t rest;
    return fs_wide_div(fs_wide_mul(a, b), c, &rest);
}

#endif
