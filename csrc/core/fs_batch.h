/* Many frames in one pass, and the tally of a run.
 *
 * The reference is FrameLoop.begin_frames and FrameStats in src/fixedstep/reference.py. A batch is
 * begin_frame on each timestamp and nothing else; what it saves is the calls. Allocates nothing: the
 * caller owns every column.
 */
#ifndef FS_BATCH_H
#define FS_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "fs_schedule.h"

/* The numbers of a tally, in order; csrc/build.py declares them to cffi. */
#define FS_STATS(X) X(frames) X(ticks) X(steps_dropped) X(schedule_hash)

typedef struct {
#define FS_NUMBER(name) uint64_t name;
    FS_STATS(FS_NUMBER)
#undef FS_NUMBER
} fs_stats;

static inline void fs_stats_absorb(fs_stats *stats, const fs_plan *plan)
{
    stats->frames = fs_add(stats->frames, 1);
    stats->ticks = fs_add(stats->ticks, plan->step_count);
    stats->steps_dropped = fs_add(stats->steps_dropped, plan->dropped);
    stats->schedule_hash = fs_hash_plan(stats->schedule_hash, plan);
}

/* Plan `count` frames. The four columns hold `count` items each, or are all NULL: then no plan is
 * kept. `stats` may be NULL. */
void fs_loop_begin_frames(fs_loop *loop, const uint64_t *timestamps, size_t count,
                          uint64_t *first_tick, uint32_t *step_count, uint64_t *dropped,
                          uint64_t *remainder, fs_stats *stats);

#endif
