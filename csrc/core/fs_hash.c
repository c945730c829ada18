/* FNV-1a-64 of many bytes, past the one multiplication a byte that the obvious loop waits for.
 *
 * It exists because a digest of megabytes should not cost four cycles a byte. It refuses to be a second
 * definition of the hash: fs_hash_plainly() is the definition, and the rest of the file returns what it
 * would have returned, for every length, alignment, content and state. Nothing is allocated, nothing
 * outlives a call. A machine with neither SSE2 nor NEON gets the definition.
 *
 * Why it can be done at all. Let p be the prime. A byte b takes the state h to (h ^ b) * p, and the xor
 * reaches no further than the low byte of h. So h ^ b = h + d, where d is a number in -255 .. 255 that
 * depends on b and on the low byte of h alone. Once every d of n bytes is known, the hash is a sum whose
 * terms may be added in any order:
 *
 *     hash = h * p**n + d[0] * p**n + d[1] * p**(n-1) + ... + d[n-1] * p          (mod 2**64)
 *
 * Sums of products with known numbers are what vector units are made for: p**k is cut into four signed
 * limbs of 16 bits, and one instruction multiplies eight d by eight limbs.
 *
 * How every d gets known. The low byte l evolves alone, l' = (l ^ b) * 0xb3 (mod 256), but byte after
 * byte. So the data is cut into chunks that run side by side, each in a lane of 16 bits, and what is
 * missing is the low byte each chunk starts from. It is found two bits at a time, lowest first:
 *
 *     Let the lowest k bits of every start be known. Run every chunk from these, with zeros above, to
 *     its end e. From u * 2**k more, u in 0 .. 3, it would have ended in e + u * 2**k, or, if bit k is
 *     set in an odd number of its bytes, in e - u * 2**k (mod 2**(k+2)). For an xor that flips bit k
 *     turns 2**k more into 2**k less; so does a multiplication by the prime, which is -1 modulo 4, but
 *     the number of bytes is even.
 *
 * So a walk over the chunks, not over their bytes, gives two more bits of every start. k = 0 needs no run
 * (see fs_find_starts), so there are three, for k = 2, 4, 6, and a last one from the full starts that
 * leaves the d behind.
 *
 * What it gains, and what else was tried: how many times faster than the obvious loop, over 1 MiB, with
 * gcc -O2 for plain x86-64, all in one run.
 *
 *     3.8  as it stands
 *     3.6  blocks of half the size
 *     3.6  the last run and the sum in one loop, which then waits for its own multiplications
 *     2.6  the starts found as here, then eight ordinary chains, bound by one 64-bit product a cycle
 *     1.4  the same with four lanes in a 64-bit integer, for machines without vectors (clang: 1.2): not
 *          worth its seventy lines, so these get the definition
 */
#include "fs_hash.h"

#if !defined(FS_HASH_PORTABLE) /* may be defined from outside, to test what other machines run */
#if defined(__SSE2__) || defined(_M_X64) || (defined(_M_IX86_FP) && _M_IX86_FP >= 2)
#define FS_HASH_SSE2
#elif defined(__ARM_NEON) && defined(__aarch64__) && !defined(__AARCH64EB__)
#define FS_HASH_NEON
#else
#define FS_HASH_PORTABLE
#endif
#endif

/* The definition, and the fastest way for short data. */
static uint64_t fs_hash_plainly(uint64_t state, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        state = (state ^ bytes[i]) * FS_FNV_PRIME;
    }
    return state;
}

#if defined(FS_HASH_PORTABLE)

uint64_t fs_hash_bytes(uint64_t state, const void *data, size_t size)
{
    return fs_hash_plainly(state, data, size);
}

#else

/* ---- Lanes: eight of 16 bits in a word, on two kinds of machine, both little-endian -------------- */

#if defined(FS_HASH_SSE2)

#include <emmintrin.h>

typedef __m128i fs_lanes;
typedef __m128i fs_sums; /* four of 32 bits, signed */

static fs_lanes fs_fill(unsigned value) { return _mm_set1_epi16((short)value); }
static fs_lanes fs_load(const void *from) { return _mm_loadu_si128((const __m128i *)from); }
static void fs_store(void *to, fs_lanes a) { _mm_storeu_si128((__m128i *)to, a); }
static void fs_prefetch(const uint8_t *from) { _mm_prefetch((const char *)from, _MM_HINT_T0); }
static fs_lanes fs_and(fs_lanes a, fs_lanes b) { return _mm_and_si128(a, b); }
static fs_lanes fs_or(fs_lanes a, fs_lanes b) { return _mm_or_si128(a, b); }
static fs_lanes fs_xor(fs_lanes a, fs_lanes b) { return _mm_xor_si128(a, b); }
static fs_lanes fs_plus(fs_lanes a, fs_lanes b) { return _mm_add_epi16(a, b); }
static fs_lanes fs_minus(fs_lanes a, fs_lanes b) { return _mm_sub_epi16(a, b); }
static fs_lanes fs_times(fs_lanes a, fs_lanes b) { return _mm_mullo_epi16(a, b); }
static fs_lanes fs_high_bytes(fs_lanes a) { return _mm_srli_epi16(a, 8); }
static fs_lanes fs_zip_low(fs_lanes a, fs_lanes b) { return _mm_unpacklo_epi16(a, b); }
static fs_lanes fs_zip_high(fs_lanes a, fs_lanes b) { return _mm_unpackhi_epi16(a, b); }

static fs_sums fs_no_sums(void) { return _mm_setzero_si128(); }
static fs_sums fs_add_products(fs_sums sums, fs_lanes a, fs_lanes b)
{
    return _mm_add_epi32(sums, _mm_madd_epi16(a, b));
}
static uint64_t fs_total(fs_sums sums)
{
    int32_t sum[4];
    fs_store(sum, sums);
    return (uint64_t)((int64_t)sum[0] + sum[1] + sum[2] + sum[3]);
}

#else

#include <arm_neon.h>

typedef uint16x8_t fs_lanes;
typedef int32x4_t fs_sums;

static fs_lanes fs_fill(unsigned value) { return vdupq_n_u16((uint16_t)value); }
static fs_lanes fs_load(const void *from) { return vreinterpretq_u16_u8(vld1q_u8(from)); }
static void fs_store(void *to, fs_lanes a) { vst1q_u8(to, vreinterpretq_u8_u16(a)); }
static void fs_prefetch(const uint8_t *from) { __builtin_prefetch(from); }
static fs_lanes fs_and(fs_lanes a, fs_lanes b) { return vandq_u16(a, b); }
static fs_lanes fs_or(fs_lanes a, fs_lanes b) { return vorrq_u16(a, b); }
static fs_lanes fs_xor(fs_lanes a, fs_lanes b) { return veorq_u16(a, b); }
static fs_lanes fs_plus(fs_lanes a, fs_lanes b) { return vaddq_u16(a, b); }
static fs_lanes fs_minus(fs_lanes a, fs_lanes b) { return vsubq_u16(a, b); }
static fs_lanes fs_times(fs_lanes a, fs_lanes b) { return vmulq_u16(a, b); }
static fs_lanes fs_high_bytes(fs_lanes a) { return vshrq_n_u16(a, 8); }
static fs_lanes fs_zip_low(fs_lanes a, fs_lanes b) { return vzip1q_u16(a, b); }
static fs_lanes fs_zip_high(fs_lanes a, fs_lanes b) { return vzip2q_u16(a, b); }

static fs_sums fs_no_sums(void) { return vdupq_n_s32(0); }
static fs_sums fs_add_products(fs_sums sums, fs_lanes a, fs_lanes b)
{
    const int16x8_t x = vreinterpretq_s16_u16(a);
    const int16x8_t y = vreinterpretq_s16_u16(b);
    return vmlal_high_s16(vmlal_s16(sums, vget_low_s16(x), vget_low_s16(y)), x, y);
}
static uint64_t fs_total(fs_sums sums) { return (uint64_t)vaddlvq_s32(sums); }

#endif

/* ---- Blocks -----------------------------------------------------------------------------------------
 *
 * A block is eight rows, and lane m walks through row m. A row is eight chunks of `steps` bytes, and
 * group g is chunk g of every row: a word. Eight groups run at a time, because a vector multiplication
 * takes about five cycles and two can begin in each; twelve groups gained nothing with gcc.
 *
 * `steps` is at most 128, so that the sums of d * limb stay below 2**31: two products of at most
 * 255 * 2**15 a step make 2139095040. It is a multiple of 16, the bytes of a row that are read at a time.
 * So the smallest block has 1 KiB. It takes 0.42 to 0.47 of the time of the obvious loop, powers
 * included, so it is the threshold: what is shorter, or left over, goes through the loop. The stack
 * holds 16 KiB of bytes and 8 KiB of powers. */

enum {
    FS_LANES = 8,
    FS_GROUPS = 8,
    FS_CHUNKS = FS_LANES * FS_GROUPS,
    FS_STEPS_AT_ONCE = 16,
    FS_STEPS_MOST = 128,
    FS_BLOCK_LEAST = FS_CHUNKS * FS_STEPS_AT_ONCE
};

/* A byte of every chunk: lane m of group g is for chunk g of row m. */
typedef struct {
    fs_lanes group[FS_GROUPS];
} fs_step;

/* Eight rows of eight lanes become eight words: lane j of row i is lane i of word j. */
static inline void fs_transpose(const void *from, size_t row, fs_lanes to[8])
{
    const uint8_t *at = from;
    const fs_lanes a0 = fs_load(at), a4 = fs_load(at + 4 * row);
    const fs_lanes a1 = fs_load(at + row), a5 = fs_load(at + 5 * row);
    const fs_lanes a2 = fs_load(at + 2 * row), a6 = fs_load(at + 6 * row);
    const fs_lanes a3 = fs_load(at + 3 * row), a7 = fs_load(at + 7 * row);
    const fs_lanes b0 = fs_zip_low(a0, a4), b1 = fs_zip_high(a0, a4);
    const fs_lanes b2 = fs_zip_low(a1, a5), b3 = fs_zip_high(a1, a5);
    const fs_lanes b4 = fs_zip_low(a2, a6), b5 = fs_zip_high(a2, a6);
    const fs_lanes b6 = fs_zip_low(a3, a7), b7 = fs_zip_high(a3, a7);
    const fs_lanes c0 = fs_zip_low(b0, b4), c1 = fs_zip_high(b0, b4);
    const fs_lanes c2 = fs_zip_low(b1, b5), c3 = fs_zip_high(b1, b5);
    const fs_lanes c4 = fs_zip_low(b2, b6), c5 = fs_zip_high(b2, b6);
    const fs_lanes c6 = fs_zip_low(b3, b7), c7 = fs_zip_high(b3, b7);
    to[0] = fs_zip_low(c0, c4);
    to[1] = fs_zip_high(c0, c4);
    to[2] = fs_zip_low(c1, c5);
    to[3] = fs_zip_high(c1, c5);
    to[4] = fs_zip_low(c2, c6);
    to[5] = fs_zip_high(c2, c6);
    to[6] = fs_zip_low(c3, c7);
    to[7] = fs_zip_high(c3, c7);
}

/* In every lane two bytes that follow each other: to their two steps. */
static fs_lanes fs_put_pair(fs_step two_steps[2], unsigned group, fs_lanes pair)
{
    two_steps[0].group[group] = fs_and(pair, fs_fill(0xff));
    two_steps[1].group[group] = fs_high_bytes(pair);
    return pair;
}

/* One group of a block to its lanes. Returns the xor of all its pairs of bytes. */
static fs_lanes fs_split(const uint8_t *group_start, unsigned group, size_t steps, fs_step *bytes)
{
    fs_lanes all = fs_fill(0);
    for (size_t t = 0; t < steps; t += FS_STEPS_AT_ONCE) {
        fs_lanes pairs[8];
        fs_transpose(group_start + t, FS_GROUPS * steps, pairs);
        all = fs_xor(all, fs_put_pair(bytes + t, group, pairs[0])); /* a loop would stay one at -O2 */
        all = fs_xor(all, fs_put_pair(bytes + t + 2, group, pairs[1]));
        all = fs_xor(all, fs_put_pair(bytes + t + 4, group, pairs[2]));
        all = fs_xor(all, fs_put_pair(bytes + t + 6, group, pairs[3]));
        all = fs_xor(all, fs_put_pair(bytes + t + 8, group, pairs[4]));
        all = fs_xor(all, fs_put_pair(bytes + t + 10, group, pairs[5]));
        all = fs_xor(all, fs_put_pair(bytes + t + 12, group, pairs[6]));
        all = fs_xor(all, fs_put_pair(bytes + t + 14, group, pairs[7]));
    }
    return all;
}

/* ---- The low bytes ------------------------------------------------------------------------------- */

/* Where the chunks end that start from `starts`. Only the low bytes of the lanes mean anything. */
static void fs_run(const fs_step *bytes, size_t steps, const fs_lanes starts[FS_GROUPS],
                   fs_lanes ends[FS_GROUPS])
{
    const fs_lanes prime = fs_fill(0x1b3);
    fs_lanes h0 = starts[0], h1 = starts[1], h2 = starts[2], h3 = starts[3];
    fs_lanes h4 = starts[4], h5 = starts[5], h6 = starts[6], h7 = starts[7];
    for (size_t t = 0; t < steps; t++) { /* eight names, since an array would live in memory */
        h0 = fs_times(fs_xor(h0, bytes[t].group[0]), prime);
        h1 = fs_times(fs_xor(h1, bytes[t].group[1]), prime);
        h2 = fs_times(fs_xor(h2, bytes[t].group[2]), prime);
        h3 = fs_times(fs_xor(h3, bytes[t].group[3]), prime);
        h4 = fs_times(fs_xor(h4, bytes[t].group[4]), prime);
        h5 = fs_times(fs_xor(h5, bytes[t].group[5]), prime);
        h6 = fs_times(fs_xor(h6, bytes[t].group[6]), prime);
        h7 = fs_times(fs_xor(h7, bytes[t].group[7]), prime);
    }
    ends[0] = h0;
    ends[1] = h1;
    ends[2] = h2;
    ends[3] = h3;
    ends[4] = h4;
    ends[5] = h5;
    ends[6] = h6;
    ends[7] = h7;
}

/* Bits k and k + 1 of every start, from the ends that belong to zeros there: a chunk takes u to end + u,
 * or to end - u where bit k of its parity is set. Minus u is (u ^ sign) - sign with bit k set in sign, as
 * far as two bits go, and end - sign is worked out beforehand. Nonsense above bit k + 1 stays above. */
static void fs_settle(unsigned k, uint64_t state, const fs_lanes parity[FS_GROUPS],
                      const fs_lanes ends[FS_GROUPS], fs_lanes starts[FS_GROUPS])
{
    const fs_lanes bit_k = fs_fill(1u << k);
    const fs_lanes from_k = fs_fill(0xffffu << k);
    const fs_lanes both_bits = fs_fill(3u << k);
    fs_lanes sign[FS_GROUPS];
    fs_lanes add[FS_GROUPS];

    /* Whole rows, from zero: where each ends, and with which sign. */
    fs_lanes end = fs_fill(0);
    fs_lanes end_sign = fs_fill(0);
    for (unsigned g = 0; g < FS_GROUPS; g++) {
        sign[g] = fs_and(parity[g], bit_k);
        add[g] = fs_minus(fs_and(ends[g], from_k), sign[g]);
        end = fs_plus(add[g], fs_xor(end, sign[g]));
        end_sign = fs_xor(end_sign, sign[g]);
    }

    /* From row to row, one after the other. */
    uint16_t row_end[FS_LANES];
    uint16_t row_sign[FS_LANES];
    uint16_t row_start[FS_LANES];
    fs_store(row_end, end);
    fs_store(row_sign, end_sign);
    unsigned u = (unsigned)state & (3u << k);
    for (unsigned m = 0; m < FS_LANES; m++) {
        row_start[m] = (uint16_t)u;
        u = row_end[m] + (u ^ row_sign[m]) - row_sign[m];
    }

    /* From chunk to chunk, in all rows at once. */
    fs_lanes at = fs_load(row_start);
    for (unsigned g = 0; g < FS_GROUPS; g++) {
        starts[g] = fs_or(starts[g], fs_and(at, both_bits));
        at = fs_plus(add[g], fs_xor(at, sign[g]));
    }
}

/* The low byte of the state before every chunk of a block; the block itself goes to `bytes`. */
static void fs_find_starts(uint64_t state, const uint8_t *block, size_t steps, fs_step *bytes,
                           fs_lanes starts[FS_GROUPS])
{
    fs_lanes parity[FS_GROUPS];
    fs_lanes ends[FS_GROUPS];
    for (unsigned g = 0; g < FS_GROUPS; g++) {
        const fs_lanes pairs = fs_split(block + g * steps, g, steps, bytes);
        const fs_lanes odd_steps = fs_high_bytes(pairs);
        parity[g] = fs_xor(pairs, odd_steps);
        /* Ends for k = 0, from zero and without a run. Modulo 4 the prime is 3: a step does
         * bit0 ^= bit 0 of the byte, and then bit1 ^= bit0 ^ bit 1 of the byte. So what a byte adds to
         * bit0 comes into bit1 once in every step from there on, and is still there at the end if
         * these are an odd number: if the byte belongs to an odd step. */
        ends[g] = fs_xor(parity[g], fs_plus(odd_steps, odd_steps));
        starts[g] = fs_fill(0);
    }
    fs_settle(0, state, parity, ends, starts);
    for (unsigned k = 2; k < 8; k += 2) {
        fs_run(bytes, steps, starts, ends);
        fs_settle(k, state, parity, ends, starts);
    }
}

static fs_lanes fs_differ_one(fs_lanes *byte, fs_lanes state, fs_lanes prime)
{
    const fs_lanes mixed = fs_xor(state, *byte);
    *byte = fs_minus(mixed, state); /* exact: above the low byte both are the same */
    return fs_times(mixed, prime);
}

/* The last run, from the full starts: every byte is replaced by the d it makes. */
static void fs_differ(fs_step *bytes, size_t steps, const fs_lanes starts[FS_GROUPS])
{
    const fs_lanes prime = fs_fill(0x1b3);
    fs_lanes h0 = starts[0], h1 = starts[1], h2 = starts[2], h3 = starts[3];
    fs_lanes h4 = starts[4], h5 = starts[5], h6 = starts[6], h7 = starts[7];
    for (size_t t = 0; t < steps; t++) {
        h0 = fs_differ_one(&bytes[t].group[0], h0, prime);
        h1 = fs_differ_one(&bytes[t].group[1], h1, prime);
        h2 = fs_differ_one(&bytes[t].group[2], h2, prime);
        h3 = fs_differ_one(&bytes[t].group[3], h3, prime);
        h4 = fs_differ_one(&bytes[t].group[4], h4, prime);
        h5 = fs_differ_one(&bytes[t].group[5], h5, prime);
        h6 = fs_differ_one(&bytes[t].group[6], h6, prime);
        h7 = fs_differ_one(&bytes[t].group[7], h7, prime);
    }
}

/* ---- The sum ------------------------------------------------------------------------------------- */

/* The power of the prime that belongs to each place of a group: limb j of the eight lanes of step t is
 * limbs[4 * t + j]. And the powers that carry a sum from chunk to chunk, a state from block to block. */
typedef struct {
    union {
        fs_lanes limbs[4 * FS_STEPS_MOST];
        uint64_t whole[FS_LANES * FS_STEPS_MOST]; /* while they are made */
    } of;
    uint64_t chunk;
    uint64_t block;
} fs_powers;

static uint64_t fs_prime_to_the(size_t exponent)
{
    uint64_t power = 1;
    uint64_t square = FS_FNV_PRIME;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) {
            power *= square;
        }
        square *= square;
    }
    return power;
}

/* A byte of lane m counts from its step to the end of its chunk, and then as far as chunk g of the last
 * row: 7 - m rows more. Made anew for each size of block, which is at most twice a call, since a table in
 * this file would be 8 KiB of digits and serve one size only. */
static void fs_fill_powers(fs_powers *powers, size_t steps)
{
    /* Signed limbs: adding 2**15 to each with carry, then taking it off each without. */
    const uint64_t half = UINT64_C(0x8000800080008000);
    const uint64_t row = fs_prime_to_the(FS_GROUPS * steps);
    uint64_t power[FS_LANES];
    powers->block = 1;
    for (size_t m = FS_LANES; m-- > 0;) {
        power[m] = powers->block;
        powers->block *= row;
    }
    for (size_t t = steps; t-- > 0;) {
        for (size_t m = 0; m < FS_LANES; m++) {
            power[m] *= FS_FNV_PRIME;
            powers->of.whole[t / 2 * 16 + m * 2 + t % 2] = (power[m] + half) ^ half;
        }
    }
    /* Two powers are eight limbs, so two steps of eight lanes are eight words to transpose, in place. */
    for (size_t t = 0; t < steps; t += 2) {
        fs_transpose(powers->of.limbs + 4 * t, sizeof(fs_lanes), powers->of.limbs + 4 * t);
    }
    powers->chunk = fs_prime_to_the(steps);
}

/* The sum with one more group in it. Two steps in a turn of the loop: with one, gcc moves every sum
 * through a second register and takes a sixth longer. */
static uint64_t fs_add_group(uint64_t sum, const fs_step *differences, unsigned group, size_t steps,
                             const fs_powers *powers)
{
    fs_sums sum0 = fs_no_sums(), sum1 = fs_no_sums(), sum2 = fs_no_sums(), sum3 = fs_no_sums();
    const fs_lanes *limb = powers->of.limbs;
    for (size_t t = 0; t < steps; t += 2, limb += 8) {
        const fs_lanes first = differences[t].group[group];
        const fs_lanes second = differences[t + 1].group[group];
        sum0 = fs_add_products(sum0, first, limb[0]);
        sum1 = fs_add_products(sum1, first, limb[1]);
        sum2 = fs_add_products(sum2, first, limb[2]);
        sum3 = fs_add_products(sum3, first, limb[3]);
        sum0 = fs_add_products(sum0, second, limb[4]);
        sum1 = fs_add_products(sum1, second, limb[5]);
        sum2 = fs_add_products(sum2, second, limb[6]);
        sum3 = fs_add_products(sum3, second, limb[7]);
    }
    return sum * powers->chunk + fs_total(sum0) + (fs_total(sum1) << 16) + (fs_total(sum2) << 32)
           + (fs_total(sum3) << 48);
}

/* `next` is the data that will be wanted next: it is fetched while the sum keeps the multipliers busy.
 * Without this every block begins by waiting for memory; at 16 MiB it was 3.2 times the obvious loop
 * instead of 3.7. */
static uint64_t fs_hash_block(uint64_t state, const uint8_t *block, const uint8_t *next, size_t steps,
                              const fs_powers *powers)
{
    const size_t line = 64;
    fs_step bytes[FS_STEPS_MOST];
    fs_lanes starts[FS_GROUPS];
    fs_find_starts(state, block, steps, bytes, starts);
    fs_differ(bytes, steps, starts);
    uint64_t sum = 0;
    for (unsigned g = 0; g < FS_GROUPS; g++) {
        for (size_t at = g * FS_LANES * steps; at < (g + 1) * FS_LANES * steps; at += line) {
            fs_prefetch(next + at);
        }
        sum = fs_add_group(sum, bytes, g, steps, powers);
    }
    return state * powers->block + sum;
}

/* ---- The data ------------------------------------------------------------------------------------ */

#if defined(_MSC_VER)
#define FS_APART __declspec(noinline)
#elif defined(__GNUC__)
#define FS_APART __attribute__((noinline))
#else
#define FS_APART
#endif

/* Blocks for as long as there are any, as large as they may be; returns how many bytes that took. Kept
 * apart, so that short data does not pay for the stack of it. */
FS_APART static size_t fs_hash_blocks(uint64_t *state, const uint8_t *bytes, size_t size)
{
    fs_powers powers;
    size_t steps = 0;
    size_t done = 0;
    while (size - done >= FS_BLOCK_LEAST) {
        size_t fitting = (size - done) / FS_BLOCK_LEAST * FS_STEPS_AT_ONCE;
        if (fitting > FS_STEPS_MOST) {
            fitting = FS_STEPS_MOST;
        }
        if (steps != fitting) {
            steps = fitting;
            fs_fill_powers(&powers, steps);
        }
        const uint8_t *block = bytes + done;
        done += FS_CHUNKS * steps;
        const uint8_t *next = size - done >= FS_CHUNKS * steps ? bytes + done : block;
        *state = fs_hash_block(*state, block, next, steps, &powers);
    }
    return done;
}

uint64_t fs_hash_bytes(uint64_t state, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    if (size >= FS_BLOCK_LEAST) {
        const size_t done = fs_hash_blocks(&state, bytes, size);
        bytes += done;
        size -= done;
    }
    return fs_hash_plainly(state, bytes, size);
}

#endif
