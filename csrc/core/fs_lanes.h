/* Vectors of 16-bit lanes: the same operations on SSE2, on NEON and on AVX2.
 *
 * FS_LANES says how many lanes: 8 unless it is defined as 16, which is AVX2. All three are little-endian.
 * An AVX2 register is two halves of 128 bits, and its zips work in each half alone.
 */
#ifndef FS_LANES_H
#define FS_LANES_H

#include "fs_hash_wide.h"

#if !defined(FS_LANES)
#define FS_LANES 8
#endif

#if FS_LANES == 16

#include <immintrin.h>

typedef __m256i fs_lanes;
typedef __m256i fs_sums; /* eight of 32 bits, signed */

static inline fs_lanes fs_fill(unsigned value) { return _mm256_set1_epi16((short)value); }
static inline fs_lanes fs_load(const void *from) { return _mm256_loadu_si256(from); }
static inline void fs_store(void *to, fs_lanes a) { _mm256_storeu_si256(to, a); }
/* Eight lanes of a row, and eight of the row that many bytes later. */
static inline fs_lanes fs_load_rows(const uint8_t *row, size_t later)
{
    const __m128i low = _mm_loadu_si128((const void *)row);
    const __m128i high = _mm_loadu_si128((const void *)(row + later));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
static inline void fs_prefetch(const uint8_t *from) { _mm_prefetch((const char *)from, _MM_HINT_T1); }
static inline fs_lanes fs_and(fs_lanes a, fs_lanes b) { return _mm256_and_si256(a, b); }
static inline fs_lanes fs_or(fs_lanes a, fs_lanes b) { return _mm256_or_si256(a, b); }
static inline fs_lanes fs_xor(fs_lanes a, fs_lanes b) { return _mm256_xor_si256(a, b); }
static inline fs_lanes fs_plus(fs_lanes a, fs_lanes b) { return _mm256_add_epi16(a, b); }
static inline fs_lanes fs_minus(fs_lanes a, fs_lanes b) { return _mm256_sub_epi16(a, b); }
static inline fs_lanes fs_times(fs_lanes a, fs_lanes b) { return _mm256_mullo_epi16(a, b); }
static inline fs_lanes fs_high_bytes(fs_lanes a) { return _mm256_srli_epi16(a, 8); }
static inline fs_lanes fs_zip_low(fs_lanes a, fs_lanes b) { return _mm256_unpacklo_epi16(a, b); }
static inline fs_lanes fs_zip_high(fs_lanes a, fs_lanes b) { return _mm256_unpackhi_epi16(a, b); }

static inline fs_sums fs_no_sums(void) { return _mm256_setzero_si256(); }
static inline fs_sums fs_add_products(fs_sums sums, fs_lanes a, fs_lanes b)
{
    return _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
}
static inline uint64_t fs_total(fs_sums sums)
{
    const __m256i four = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(sums)),
                                          _mm256_cvtepi32_epi64(_mm256_extracti128_si256(sums, 1)));
    uint64_t total[4];
    fs_store(total, four);
    return total[0] + total[1] + total[2] + total[3];
}

#elif defined(FS_HASH_SSE2)

#include <emmintrin.h>

typedef __m128i fs_lanes;
typedef __m128i fs_sums; /* four of 32 bits, signed */

static inline fs_lanes fs_fill(unsigned value) { return _mm_set1_epi16((short)value); }
static inline fs_lanes fs_load(const void *from) { return _mm_loadu_si128(from); }
static inline void fs_store(void *to, fs_lanes a) { _mm_storeu_si128(to, a); }
static inline fs_lanes fs_load_rows(const uint8_t *row, size_t later)
{
    (void)later;
    return fs_load(row);
}
static inline void fs_prefetch(const uint8_t *from) { _mm_prefetch((const char *)from, _MM_HINT_T0); }
static inline fs_lanes fs_and(fs_lanes a, fs_lanes b) { return _mm_and_si128(a, b); }
static inline fs_lanes fs_or(fs_lanes a, fs_lanes b) { return _mm_or_si128(a, b); }
static inline fs_lanes fs_xor(fs_lanes a, fs_lanes b) { return _mm_xor_si128(a, b); }
static inline fs_lanes fs_plus(fs_lanes a, fs_lanes b) { return _mm_add_epi16(a, b); }
static inline fs_lanes fs_minus(fs_lanes a, fs_lanes b) { return _mm_sub_epi16(a, b); }
static inline fs_lanes fs_times(fs_lanes a, fs_lanes b) { return _mm_mullo_epi16(a, b); }
static inline fs_lanes fs_high_bytes(fs_lanes a) { return _mm_srli_epi16(a, 8); }
static inline fs_lanes fs_zip_low(fs_lanes a, fs_lanes b) { return _mm_unpacklo_epi16(a, b); }
static inline fs_lanes fs_zip_high(fs_lanes a, fs_lanes b) { return _mm_unpackhi_epi16(a, b); }

static inline fs_sums fs_no_sums(void) { return _mm_setzero_si128(); }
static inline fs_sums fs_add_products(fs_sums sums, fs_lanes a, fs_lanes b)
{
    return _mm_add_epi32(sums, _mm_madd_epi16(a, b));
}
static inline uint64_t fs_total(fs_sums sums)
{
    int32_t sum[4];
    fs_store(sum, sums);
    return (uint64_t)((int64_t)sum[0] + sum[1] + sum[2] + sum[3]);
}

#elif defined(FS_HASH_NEON)

#include <arm_neon.h>

typedef uint16x8_t fs_lanes;
typedef int32x4_t fs_sums;

static inline fs_lanes fs_fill(unsigned value) { return vdupq_n_u16((uint16_t)value); }
static inline fs_lanes fs_load(const void *from) { return vreinterpretq_u16_u8(vld1q_u8(from)); }
static inline void fs_store(void *to, fs_lanes a) { vst1q_u8(to, vreinterpretq_u8_u16(a)); }
static inline fs_lanes fs_load_rows(const uint8_t *row, size_t later)
{
    (void)later;
    return fs_load(row);
}
static inline void fs_prefetch(const uint8_t *from) { __builtin_prefetch(from); }
static inline fs_lanes fs_and(fs_lanes a, fs_lanes b) { return vandq_u16(a, b); }
static inline fs_lanes fs_or(fs_lanes a, fs_lanes b) { return vorrq_u16(a, b); }
static inline fs_lanes fs_xor(fs_lanes a, fs_lanes b) { return veorq_u16(a, b); }
static inline fs_lanes fs_plus(fs_lanes a, fs_lanes b) { return vaddq_u16(a, b); }
static inline fs_lanes fs_minus(fs_lanes a, fs_lanes b) { return vsubq_u16(a, b); }
static inline fs_lanes fs_times(fs_lanes a, fs_lanes b) { return vmulq_u16(a, b); }
static inline fs_lanes fs_high_bytes(fs_lanes a) { return vshrq_n_u16(a, 8); }
static inline fs_lanes fs_zip_low(fs_lanes a, fs_lanes b) { return vzip1q_u16(a, b); }
static inline fs_lanes fs_zip_high(fs_lanes a, fs_lanes b) { return vzip2q_u16(a, b); }

static inline fs_sums fs_no_sums(void) { return vdupq_n_s32(0); }
static inline fs_sums fs_add_products(fs_sums sums, fs_lanes a, fs_lanes b)
{
    const int16x8_t x = vreinterpretq_s16_u16(a);
    const int16x8_t y = vreinterpretq_s16_u16(b);
    return vmlal_high_s16(vmlal_s16(sums, vget_low_s16(x), vget_low_s16(y)), x, y);
}
static inline uint64_t fs_total(fs_sums sums) { return (uint64_t)vaddlvq_s32(sums); }

#endif
#endif
