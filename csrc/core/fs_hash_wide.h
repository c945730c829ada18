/* What fs_hash.c and the wide form of the hash share. Callers of the core need fs_hash.h only. */
#ifndef FS_HASH_WIDE_H
#define FS_HASH_WIDE_H

#include "fs_hash.h"

/* FS_HASH_PORTABLE may be defined from outside, to test what processors without vectors run. */
#if !defined(FS_HASH_PORTABLE)
#if defined(__SSE2__) || defined(_M_X64) || (defined(_M_IX86_FP) && _M_IX86_FP >= 2)
#define FS_HASH_SSE2
#elif defined(__ARM_NEON) && defined(__aarch64__) && !defined(__AARCH64EB__)
#define FS_HASH_NEON
#endif
#endif

#if defined(FS_HASH_SSE2) || defined(FS_HASH_NEON)
#define FS_HASH_WIDE
#endif

/* Compiled beside SSE2 and chosen at run time. Not with gcc on Windows, which does not align variables
 * of 32 bytes on the stack there (its bug 54412). MSVC needs no option for AVX2; it was not run. */
#if defined(FS_HASH_SSE2) && (!defined(_WIN32) || defined(__clang__) || defined(_MSC_VER))
#define FS_HASH_AVX2
#endif

enum { FS_WIDE_MIN = 512 };

/* Hash as many whole blocks as there are; returns how many bytes that was. */
size_t fs_hash_blocks_8(uint64_t *state, const uint8_t *bytes, size_t size);
size_t fs_hash_blocks_16(uint64_t *state, const uint8_t *bytes, size_t size);

#endif
