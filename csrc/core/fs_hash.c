/* FNV-1a-64 of any bytes: the definition, and the only place that decides which form runs.
 *
 * fs_hash_definition() is the hash. It waits for one multiplication a byte, four cycles or so. From
 * FS_WIDE_MIN bytes on, fs_hash_wide.c computes the same number on vector registers; it works in whole
 * blocks, and what is left goes through the definition. Where the processor has no vectors that
 * fs_lanes.h knows, the definition does everything. Nothing is allocated.
 */
#include "fs_hash_wide.h"

static uint64_t fs_hash_definition(uint64_t state, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        state = (state ^ bytes[i]) * FS_FNV_PRIME;
    }
    return state;
}

#if defined(FS_HASH_WIDE)

uint64_t fs_hash_bytes_lanes(uint64_t state, const void *data, size_t size, unsigned lanes)
{
    const uint8_t *bytes = data;
    size_t done = 0;
#if defined(FS_HASH_AVX2)
    if (lanes >= 16 && fs_hash_lanes() == 16) {
        done = fs_hash_blocks_16(&state, bytes, size);
    }
#endif
    if (lanes >= 8) {
        done += fs_hash_blocks_8(&state, bytes + done, size - done);
    }
    return fs_hash_definition(state, bytes + done, size - done);
}

uint64_t fs_hash_bytes(uint64_t state, const void *data, size_t size)
{
    if (size < FS_WIDE_MIN) {
        return fs_hash_definition(state, data, size);
    }
    return fs_hash_bytes_lanes(state, data, size, fs_hash_lanes());
}

#else

uint64_t fs_hash_bytes_lanes(uint64_t state, const void *data, size_t size, unsigned lanes)
{
    (void)lanes;
    return fs_hash_definition(state, data, size);
}

uint64_t fs_hash_bytes(uint64_t state, const void *data, size_t size)
{
    return fs_hash_definition(state, data, size);
}

#endif
