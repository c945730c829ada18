/* What the library is measured against: FNV-1a-64 as everybody writes it, one multiplication a byte.
 *
 * Compiled by yardstick.py with the flags of the extension. The second function plans with the core's
 * own begin_frame, so that the two loops that are compared differ in their digest alone. It is plain on
 * purpose.
 */
#include <stddef.h>
#include <stdint.h>

#include "../csrc/core/fs_schedule.h"

static uint64_t fnv(uint64_t state, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        state = (state ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return state;
}

static unsigned char *put(unsigned char *at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        *at++ = (unsigned char)(value >> 8 * i);
    }
    return at;
}

/* `data`, `repeats` times over. */
uint64_t yardstick_hash(const unsigned char *data, size_t size, size_t repeats)
{
    uint64_t state = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < repeats; i++) {
        state = fnv(state, data, size);
    }
    return state;
}

/* Plan each timestamp in steps of `unit`, and hash the 36 bytes of each plan. */
uint64_t yardstick_digest(const uint64_t *timestamps, size_t count, uint64_t unit, uint32_t budget,
                          uint64_t start)
{
    fs_loop loop = {.scale = 1, .unit = unit, .rate_scale = 1, .rate_unit = unit, .last = start,
                    .budget = budget, .started = 1};
    uint64_t state = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++) {
        const fs_plan plan = fs_loop_begin_frame(&loop, timestamps[i]);
        unsigned char bytes[36];
        unsigned char *at = put(bytes, plan.first_tick, 8);
        at = put(at, plan.step_count, 4);
        at = put(at, plan.dropped, 8);
        at = put(at, plan.remainder, 8);
        at = put(at, plan.unit, 8);
        state = fnv(state, bytes, (size_t)(at - bytes));
    }
    return state;
}
