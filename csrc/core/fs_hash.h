/* FNV-1a-64: bytes, numbers, and plans (fs_schedule.h).
 *
 * The reference is StateHash in src/fixedstep/reference.py. The obvious loop waits for one multiplication a
 * byte. Two facts make it faster without changing a digest:
 *
 *   1. a run of k zero bytes is one multiplication, by prime**k, which the byte before it takes along; most
 *      bytes of a plan are zero;
 *   2. the low byte of the state depends on low bytes only, and everything above it is linear, so the
 *      bytes of a large buffer need not wait for each other (fs_hash_wide.c).
 *
 * There is one hash and it never changes: digests are compared between machines and years.
 */
#ifndef FS_HASH_H
#define FS_HASH_H

#include <stddef.h>
#include <stdint.h>

#define FS_FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FS_FNV_PRIME UINT64_C(0x100000001b3)

/* prime**k modulo 2**64, for k in 0 .. 8 */
static const uint64_t fs_fnv_power[9] = {
    UINT64_C(0x0000000000000001), UINT64_C(0x00000100000001b3), UINT64_C(0x000366000002e329),
    UINT64_C(0x08a97b0004e7feab), UINT64_C(0x9ffaac085635bc91), UINT64_C(0x0caee32a7d4f6a63),
    UINT64_C(0xdc966432edf1c639), UINT64_C(0xc5527b8a51d3d2db), UINT64_C(0x1efac7090aef4a21),
};

/* Any bytes, without their length. */
uint64_t fs_hash_bytes(uint64_t state, const void *data, size_t size);

/* How many 16-bit lanes the vectors of this processor have: 16 with AVX2, 8 with SSE2 or NEON, else 0. */
unsigned fs_hash_lanes(void);

/* For tests: the same digest as fs_hash_bytes(), computed with at most so many lanes, 0, 8 or 16. */
uint64_t fs_hash_bytes_lanes(uint64_t state, const void *data, size_t size, unsigned lanes);

/* The low `size` bytes of `value`, little-endian, on any machine. The highest byte that is not zero and
 * all zero bytes above it are one multiplication together. Always inlined with a constant size. */
static inline uint64_t fs_hash_integer(uint64_t state, uint64_t value, unsigned size)
{
    unsigned left = size;
    for (; value > 0xff; value >>= 8, left--) {
        state = (state ^ (value & 0xff)) * FS_FNV_PRIME;
    }
    return (state ^ value) * fs_fnv_power[left];
}

static inline uint64_t fs_hash_u64(uint64_t state, uint64_t value)
{
    return fs_hash_integer(state, value, 8);
}

static inline uint64_t fs_hash_u32(uint64_t state, uint32_t value)
{
    return fs_hash_integer(state, value, 4);
}

#endif
