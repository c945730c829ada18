/* The accumulator: timestamps in, whole steps out.
 *
 * The reference is FrameLoop.begin_frame in src/fixedstep/reference.py, line for line. One integer
 * machine with three faces: scale 1 and a unit of nanoseconds is a Timestep; scale and unit together
 * are an exact Rate; and a speed is another scale over the same unit, whose plans stay in units of the
 * rate.
 *
 * It cannot fail, allocates nothing and has no clock to read. The functions are in the header so that
 * the batch loop and the types compile them in place.
 */
#ifndef FS_SCHEDULE_H
#define FS_SCHEDULE_H

#include <stdint.h>

#include "fs_hash.h"
#include "fs_saturating.h"

/* scale, unit, rate_scale, rate_unit and budget are at least 1; bank is below unit between frames; unit is
 * a multiple of rate_unit. A new loop has fast_below = 0, and so has one whose scale or unit was changed. */
typedef struct {
    uint64_t scale;
    uint64_t unit;
    uint64_t last;
    uint64_t bank;
    uint64_t tick;
    uint64_t rate_scale; /* what plans and steps count in: scale and unit, but for a speed */
    uint64_t rate_unit;
    uint64_t fast_below; /* a frame that took less than this fits into 64 bits, and needs no speed */
    uint32_t budget;
    uint32_t started; /* 0: the first frame is the origin, and last says nothing */
} fs_loop;

typedef struct {
    uint64_t first_tick;
    uint64_t dropped;
    uint64_t remainder;
    uint64_t scale;
    uint64_t unit;
    uint32_t step_count;
} fs_plan;

/* What the time of a frame came to. */
typedef struct {
    uint64_t due;
    uint64_t bank;
    uint64_t remainder;
} fs_due;

/* Any frame, and what makes the next ones fast: the first of a loop, long ones, and those at a speed. With
 * scale 1 the bank stops at UINT64_MAX; with any other nothing is lost, and `due` alone stops there. */
fs_due fs_loop_bank(fs_loop *loop, uint64_t now);

static inline fs_plan fs_loop_begin_frame(fs_loop *loop, uint64_t now)
{
    const uint64_t elapsed = fs_since(now, loop->last);
    fs_due banked;
    if (elapsed < loop->fast_below) {
        const uint64_t bank = loop->bank + elapsed * loop->scale;
        banked.due = bank / loop->unit;
        banked.bank = bank % loop->unit;
        banked.remainder = banked.bank;
    }
    else {
        banked = fs_loop_bank(loop, now);
    }
    const uint32_t step_count =
        banked.due < loop->budget ? (uint32_t)banked.due : loop->budget;
    const fs_plan plan = {
        .first_tick = loop->tick,
        .dropped = banked.due - step_count,
        .remainder = banked.remainder,
        .scale = loop->rate_scale,
        .unit = loop->rate_unit,
        .step_count = step_count,
    };
    loop->tick = fs_add(loop->tick, step_count);
    loop->bank = banked.bank;
    loop->last = now;
    return plan;
}

static inline void fs_loop_resync(fs_loop *loop, uint64_t now)
{
    loop->last = now;
    loop->started = 1;
}

/* Simulated nanoseconds before `tick`. */
static inline uint64_t fs_sim_time(uint64_t tick, uint64_t scale, uint64_t unit)
{
    return scale == 1 ? fs_mul(tick, unit) : fs_mul_div(tick, unit, scale);
}

/* Remainder over unit in [0, 1): the one place with floating point, never digested. */
float fs_plan_alpha(const fs_plan *plan);

/* A plan in its canonical order; scale only where it is not 1. */
static inline uint64_t fs_hash_plan(uint64_t state, const fs_plan *plan)
{
    state = fs_hash_u64(state, plan->first_tick);
    state = fs_hash_u32(state, plan->step_count);
    state = fs_hash_u64(state, plan->dropped);
    state = fs_hash_u64(state, plan->remainder);
    state = fs_hash_u64(state, plan->unit);
    return plan->scale == 1 ? state : fs_hash_u64(state, plan->scale);
}

#endif
