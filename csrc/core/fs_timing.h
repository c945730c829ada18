/* Frame times in a log-linear histogram: 64 buckets to each power of two, in constant memory.
 *
 * The reference is FrameTiming in src/fixedstep/reference.py, and src/fixedstep/timing.py has the buckets.
 * Allocates nothing and reads no clock. Percentiles are computed in Python, once for both cores.
 */
#ifndef FS_TIMING_H
#define FS_TIMING_H

#include <stdint.h>

#include "fs_saturating.h"

#define FS_TIMING_BITS 6
#define FS_TIMING_BUCKETS ((64 - FS_TIMING_BITS + 1) << FS_TIMING_BITS)

/* A new one is all zero. */
typedef struct {
    uint64_t min;
    uint64_t max;
    uint64_t sum;
    uint64_t drawn;
    uint64_t skipped;
    uint64_t counts[FS_TIMING_BUCKETS];
} fs_timing;

/* Spans below 128 ns have a bucket each; above, the leading 7 bits choose. */
static inline uint32_t fs_timing_bucket(uint64_t frame_time)
{
    uint32_t shift = 0; /* the largest that leaves 64 or more */
    for (uint32_t step = 32; step > 0; step /= 2) {
        if (frame_time >> (shift + step) >= 1u << FS_TIMING_BITS) {
            shift += step;
        }
    }
    return (shift << FS_TIMING_BITS) + (uint32_t)(frame_time >> shift);
}

static inline void fs_timing_record(fs_timing *timing, uint64_t frame_time, uint32_t drawn)
{
    if (frame_time < timing->min || (timing->drawn | timing->skipped) == 0) {
        timing->min = frame_time;
    }
    if (frame_time > timing->max) {
        timing->max = frame_time;
    }
    timing->sum = fs_add(timing->sum, frame_time);
    uint64_t *const bucket = &timing->counts[fs_timing_bucket(frame_time)];
    *bucket = fs_add(*bucket, 1);
    timing->drawn = fs_add(timing->drawn, drawn != 0);
    timing->skipped = fs_add(timing->skipped, drawn == 0);
}

#endif
