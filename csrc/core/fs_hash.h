/* FNV-1a-64, absorbed in an order the caller writes out.
 *
 * The reference is StateHash in src/fixedstep/reference.py. Two facts make it faster than the obvious
 * loop, which waits for one multiplication a byte:
 *
 *   1. absorbing k zero bytes multiplies the state by prime**k, and most bytes of a plan are zero;
 *   2. the low byte of the state evolves alone and everything above it is linear, so chunks of a large
 *      buffer can be hashed side by side (fs_hash.c).
 *
 * Refuses to be a choice of hashes: one function, frozen, because its results are compared between
 * machines and years.
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
    UINT64_C(0x000740f200026b8f), UINT64_C(0x00000000000000) /* FILL */,
};

uint64_t fs_hash_bytes(uint64_t state, const void *data, size_t size);

#endif
