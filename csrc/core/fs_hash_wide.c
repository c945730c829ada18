/* FNV-1a-64 of large buffers on vector registers. fs_hash.c has the definition; this gives the same digest
 * for every length, alignment, content and state. Compiled for 8 lanes here, for 16 by fs_hash_wide16.c.
 *
 * Why it works. Let p be the prime. A byte b turns the state h into (h ^ b) * p, and the xor changes only
 * the low byte of h. So h ^ b = h + d, where d is a number in -255 .. 255 that depends on b and on the low
 * byte of h alone. Once every d of n bytes is known, the hash is a sum whose terms may be added in any
 * order:
 *
 *     hash = h * p**n + d[0] * p**n + d[1] * p**(n-1) + ... + d[n-1] * p          (mod 2**64)
 *
 * Vector units are made for sums of products with known numbers: p**k is cut into four signed limbs of 16
 * bits, and one instruction multiplies all lanes of d by as many limbs.
 *
 * How every d is found. The low byte l evolves alone, l' = (l ^ b) * 0xb3 (mod 256), but byte after byte.
 * So the data is cut into chunks that run side by side, each in a lane of 16 bits. What is missing is the
 * low byte that each chunk starts from. It is found two bits at a time, lowest first:
 *
 *     Let the lowest k bits of every start be known. Run every chunk from these, with zeros above, to
 *     its end e. From u * 2**k more, u in 0 .. 3, it would have ended in e + u * 2**k, or, if bit k is
 *     set in an odd number of its bytes, in e - u * 2**k (mod 2**(k+2)). For an xor that flips bit k
 *     turns 2**k more into 2**k less; so does a multiplication by the prime, which is -1 modulo 4, but
 *     the number of bytes is even.
 *
 * So a walk over the chunks, not over their bytes, gives two more bits of every start. k = 0 needs no run
 * (see fs_find_starts), so there are three runs, for k = 2, 4, 6, and a last one from the full starts that
 * leaves the d behind.
 *
 * How many times as fast as the definition, over 1 MiB, with gcc -O2 for plain x86-64 on a Zen 4, and
 * what else was tried:
 *
 *     6.7  16 lanes (7.5 with -O3)
 *     6.6  32 lanes of AVX-512BW
 *     5.7  16 lanes and blocks of 16 KiB
 *     4.0  8 lanes
 *
 *     3.8  8 lanes, before the next block was fetched early; the rest is compared with this
 *     3.6  blocks of half the size
 *     3.6  the last run and the sum in one loop, which then waits for its own multiplications
 *     2.6  the starts found as here, then eight ordinary chains, bound by one 64-bit product a cycle
 *     1.4  four lanes in a 64-bit integer, for processors without vectors: not worth its lines
 *
 * Below 512 bytes the definition runs alone. Two groups, and then ordinary chains, took 0.8 of its time
 * from 256 bytes on: not worth sixty lines.
 */
#include "fs_lanes.h"

#if defined(FS_HASH_WIDE)

/* ---- Blocks -----------------------------------------------------------------------------------------
 *
 * A block has a row for each lane, and lane m walks through row m. A row is eight chunks of `steps` bytes,
 * and group g is chunk g of every row: one vector. Eight groups run at a time, because a vector
 * multiplication takes three to five cycles and two can begin in each; twelve groups gained nothing.
 *
 * `steps` is 8 or a multiple of 16, since a row is read 16 bytes at a time, and at most 128, so that the
 * sums of d * limb stay below 2**31: two products of at most 255 * 2**15 a step make 2139095040. The
 * largest block has 8 KiB, with 16 lanes too: 16 KiB would need more than the first level of the cache. The
 * smallest has 512 bytes with 8 lanes and 1 KiB with 16. The stack holds 24 KiB. */

enum {
    FS_GROUPS = 8,
    FS_CHUNKS = FS_LANES * FS_GROUPS,
    FS_MIN_STEPS = 8,
    FS_MAX_STEPS = 1024 / FS_LANES,
    FS_MIN_BLOCK = FS_CHUNKS * FS_MIN_STEPS,
    FS_AHEAD_PER_STEP = FS_CHUNKS / 3 /* less than a cache line */
};

/* One byte of every chunk: lane m of group g belongs to chunk g of row m. */
typedef struct {
    fs_lanes group[FS_GROUPS];
} fs_step;

/* Eight pairs of bytes of every row become eight vectors: lane m of vector j is pair j of row m. Rows are
 * `row` bytes apart. */
static inline void fs_transpose(const void *from, size_t row, fs_lanes to[8])
{
    const uint8_t *at = from;
    const size_t half = 8 * row;
    const fs_lanes a0 = fs_load_rows(at, half), a4 = fs_load_rows(at + 4 * row, half);
    const fs_lanes a1 = fs_load_rows(at + row, half), a5 = fs_load_rows(at + 5 * row, half);
    const fs_lanes a2 = fs_load_rows(at + 2 * row, half), a6 = fs_load_rows(at + 6 * row, half);
    const fs_lanes a3 = fs_load_rows(at + 3 * row, half), a7 = fs_load_rows(at + 7 * row, half);
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

/* Write the two bytes of each lane to two consecutive steps. */
static fs_lanes fs_write_pair(fs_step two_steps[2], unsigned group, fs_lanes pair)
{
    two_steps[0].group[group] = fs_and(pair, fs_fill(0xff));
    two_steps[1].group[group] = fs_high_bytes(pair);
    return pair;
}

/* Write eight bytes of each row to eight consecutive steps. Returns the xor of the four pairs. */
static inline fs_lanes fs_write_pairs(fs_step eight_steps[8], unsigned group, const fs_lanes pairs[4])
{
    const fs_lanes first = fs_write_pair(eight_steps, group, pairs[0]);
    const fs_lanes second = fs_write_pair(eight_steps + 2, group, pairs[1]);
    const fs_lanes third = fs_write_pair(eight_steps + 4, group, pairs[2]);
    const fs_lanes fourth = fs_write_pair(eight_steps + 6, group, pairs[3]);
    return fs_xor(fs_xor(first, second), fs_xor(third, fourth));
}

/* Distribute one group to its lanes. Returns the xor of all its pairs of bytes. */
static fs_lanes fs_split_group(const uint8_t *group_start, unsigned group, size_t steps, fs_step *bytes)
{
    fs_lanes all = fs_fill(0);
    for (size_t t = 0; t < steps; t += 2 * FS_MIN_STEPS) {
        fs_lanes pairs[8];
        fs_transpose(group_start + t, FS_GROUPS * steps, pairs);
        all = fs_xor(all, fs_write_pairs(bytes + t, group, pairs));
        all = fs_xor(all, fs_write_pairs(bytes + t + FS_MIN_STEPS, group, pairs + 4));
    }
    return all;
}

/* Distribute a block. `all` becomes the xor of all pairs of bytes of each chunk. */
static void fs_split(const uint8_t *block, size_t steps, fs_step *bytes, fs_lanes all[FS_GROUPS])
{
    if (steps == FS_MIN_STEPS) {
        for (unsigned g = 0; g < FS_GROUPS; g += 2) {
            fs_lanes pairs[8];
            fs_transpose(block + g * steps, FS_GROUPS * steps, pairs);
            all[g] = fs_write_pairs(bytes, g, pairs);
            all[g + 1] = fs_write_pairs(bytes, g + 1, pairs + 4);
        }
        return;
    }
    for (unsigned g = 0; g < FS_GROUPS; g++) {
        all[g] = fs_split_group(block + g * steps, g, steps, bytes);
    }
}

/* ---- The low bytes ------------------------------------------------------------------------------- */

/* Where the chunks end that start from `starts`; only the low bytes of the lanes matter. Meanwhile the data
 * from `ahead` on is fetched, since each block would begin by waiting for memory: without this, 16 MiB took
 * half as long again with 16 lanes. It goes into the first level of the cache with 8 lanes and into the
 * second with 16, as was measured to be the faster for each. */
static void fs_run_chunks(const fs_step *bytes, size_t steps, const fs_lanes starts[FS_GROUPS],
                          fs_lanes ends[FS_GROUPS], const uint8_t *ahead)
{
    const fs_lanes prime = fs_fill(0x1b3);
    fs_lanes h0 = starts[0], h1 = starts[1], h2 = starts[2], h3 = starts[3];
    fs_lanes h4 = starts[4], h5 = starts[5], h6 = starts[6], h7 = starts[7];
    for (size_t t = 0; t < steps; t++) { /* eight names, since an array would live in memory */
        fs_prefetch(ahead + FS_AHEAD_PER_STEP * t);
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
static void fs_solve_two_bits(unsigned k, uint64_t state, const fs_lanes parity[FS_GROUPS],
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
static void fs_find_starts(uint64_t state, const uint8_t *block, const uint8_t *next, size_t steps,
                           fs_step *bytes, fs_lanes starts[FS_GROUPS])
{
    fs_lanes parity[FS_GROUPS];
    fs_lanes ends[FS_GROUPS];
    fs_lanes all[FS_GROUPS];
    fs_split(block, steps, bytes, all);
    for (unsigned g = 0; g < FS_GROUPS; g++) {
        const fs_lanes odd_steps = fs_high_bytes(all[g]);
        parity[g] = fs_xor(all[g], odd_steps);
        /* Ends for k = 0, from zero and without a run. Modulo 4 the prime is 3: a step does
         * bit0 ^= bit 0 of the byte, and then bit1 ^= bit0 ^ bit 1 of the byte. So what a byte adds to
         * bit0 comes into bit1 once in every step from there on, and is still there at the end if
         * these are an odd number: if the byte belongs to an odd step. */
        ends[g] = fs_xor(parity[g], fs_plus(odd_steps, odd_steps));
        starts[g] = fs_fill(0);
    }
    fs_solve_two_bits(0, state, parity, ends, starts);
    for (unsigned k = 2; k < 8; k += 2) {
        fs_run_chunks(bytes, steps, starts, ends, next);
        next += FS_AHEAD_PER_STEP * steps;
        fs_solve_two_bits(k, state, parity, ends, starts);
    }
}

static fs_lanes fs_step_difference(fs_lanes *byte, fs_lanes state, fs_lanes prime)
{
    const fs_lanes mixed = fs_xor(state, *byte);
    *byte = fs_minus(mixed, state); /* exact: above the low byte both are the same */
    return fs_times(mixed, prime);
}

/* The last run, from the full starts: every byte is replaced by the d it makes. */
static void fs_run_differences(fs_step *bytes, size_t steps, const fs_lanes starts[FS_GROUPS])
{
    const fs_lanes prime = fs_fill(0x1b3);
    fs_lanes h0 = starts[0], h1 = starts[1], h2 = starts[2], h3 = starts[3];
    fs_lanes h4 = starts[4], h5 = starts[5], h6 = starts[6], h7 = starts[7];
    for (size_t t = 0; t < steps; t++) {
        h0 = fs_step_difference(&bytes[t].group[0], h0, prime);
        h1 = fs_step_difference(&bytes[t].group[1], h1, prime);
        h2 = fs_step_difference(&bytes[t].group[2], h2, prime);
        h3 = fs_step_difference(&bytes[t].group[3], h3, prime);
        h4 = fs_step_difference(&bytes[t].group[4], h4, prime);
        h5 = fs_step_difference(&bytes[t].group[5], h5, prime);
        h6 = fs_step_difference(&bytes[t].group[6], h6, prime);
        h7 = fs_step_difference(&bytes[t].group[7], h7, prime);
    }
}

/* ---- The sum ------------------------------------------------------------------------------------- */

/* The power of the prime that belongs to each place of a group: limb j of all lanes of step t is
 * limbs[4 * t + j]. And the powers that carry a sum from chunk to chunk, a state from block to block. */
typedef struct {
    union {
        fs_lanes limbs[4 * FS_MAX_STEPS];
        uint64_t whole[FS_LANES * FS_MAX_STEPS]; /* while they are made */
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
 * row: FS_LANES - 1 - m rows more. Made anew for each size of block, which is at most three times a call,
 * since a constant table would be 8 KiB of digits and serve one size only. */
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
            powers->of.whole[(t / 2 * FS_LANES + m) * 2 + t % 2] = (power[m] + half) ^ half;
        }
    }
    /* Two powers are eight limbs, so two steps of all lanes are eight vectors to transpose, in place. */
    for (size_t t = 0; t < steps; t += 2) {
        fs_transpose(powers->of.limbs + 4 * t, 2 * sizeof(uint64_t), powers->of.limbs + 4 * t);
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

static uint64_t fs_hash_block(uint64_t state, const uint8_t *block, const uint8_t *next, size_t steps,
                              const fs_powers *powers)
{
    fs_step bytes[FS_MAX_STEPS];
    fs_lanes starts[FS_GROUPS];
    fs_find_starts(state, block, next, steps, bytes, starts);
    fs_run_differences(bytes, steps, starts);
    uint64_t sum = 0;
    for (unsigned g = 0; g < FS_GROUPS; g++) {
        sum = fs_add_group(sum, bytes, g, steps, powers);
    }
    return state * powers->block + sum;
}

/* ---- The data ------------------------------------------------------------------------------------ */

#if FS_LANES == 16
#define FS_HASH_BLOCKS fs_hash_blocks_16
#else
#define FS_HASH_BLOCKS fs_hash_blocks_8
#endif

/* Blocks for as long as there are any, each as large as it may be. */
size_t FS_HASH_BLOCKS(uint64_t *state, const uint8_t *bytes, size_t size)
{
    fs_powers powers;
    size_t steps = 0;
    size_t done = 0;
    while (size - done >= FS_MIN_BLOCK) {
        size_t fitting = (size - done) / FS_MIN_BLOCK * FS_MIN_STEPS;
        if (fitting > FS_MIN_STEPS) {
            fitting = fitting < FS_MAX_STEPS ? fitting / 16 * 16 : FS_MAX_STEPS;
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

#endif
