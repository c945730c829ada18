/* The wide form of the hash once more, with the 16 lanes of AVX2.
 *
 * Only this file is compiled for AVX2, and fs_hash_lanes() says at run time whether it may be called.
 * MSVC takes AVX2 instructions without being asked to (not run).
 */
#include "fs_hash_wide.h"

#if defined(FS_HASH_AVX2)

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#define FS_LANES 16
#include "fs_hash_wide.c"

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#endif
