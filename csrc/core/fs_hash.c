#include "fs_hash.h"

uint64_t fs_hash_bytes(uint64_t state, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        state = (state ^ bytes[i]) * FS_FNV_PRIME;
    }
    return state;
}
