/* The batch loop. One pass; loop and tally live in registers for its length and are stored at the end. */
#include "fs_batch.h"

void fs_loop_begin_frames(fs_loop *loop, const uint64_t *timestamps, size_t count,
                          uint64_t *first_tick, uint32_t *step_count, uint64_t *dropped,
                          uint64_t *remainder, fs_stats *stats)
{
    fs_loop at = *loop;
    fs_stats tally = {0};
    if (stats != NULL) {
        tally = *stats;
    }
    for (size_t i = 0; i < count; i++) {
        const fs_plan plan = fs_loop_begin_frame(&at, timestamps[i]);
        if (first_tick != NULL) {
            first_tick[i] = plan.first_tick;
            step_count[i] = plan.step_count;
            dropped[i] = plan.dropped;
            remainder[i] = plan.remainder;
        }
        if (stats != NULL) {
            fs_stats_absorb(&tally, &plan);
        }
    }
    *loop = at;
    if (stats != NULL) {
        *stats = tally;
    }
}
