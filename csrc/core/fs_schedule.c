/* The rule of a frame is in fs_schedule.h. Here is what few frames need: the arithmetic of long ones, and
 * alpha, the one place of the core with floating point.
 */
#include "fs_schedule.h"

fs_due fs_loop_bank(fs_loop *loop, uint64_t now)
{
    const uint64_t elapsed = loop->started ? fs_since(now, loop->last) : 0;
    const uint64_t scale = loop->scale, unit = loop->unit;
    fs_due banked;
    if (scale == 1) {
        const uint64_t sum = fs_add(loop->bank, elapsed);
        banked.due = sum / unit;
        banked.bank = sum % unit;
    }
    else {
        fs_wide sum = fs_wide_mul(elapsed, scale);
        const uint64_t room = UINT64_MAX - sum.low;
        sum.high += loop->bank > room; /* below 2**128: the product is at most (2**64 - 1)**2 */
        sum.low = loop->bank > room ? loop->bank - room - 1 : sum.low + loop->bank;
        banked.due = fs_wide_div(sum, unit, &banked.bank);
    }
    banked.remainder = banked.bank / (unit / loop->rate_unit);
    loop->started = 1;
    loop->fast_below = unit == loop->rate_unit ? fs_add((UINT64_MAX - (unit - 1)) / scale, 1) : 0;
    return banked;
}

/* How far a frame is between two ticks.
 *
 * Divided in double and narrowed to float, as the reference does it. Without the clamp the result
 * reaches 1.0 (one nanosecond before a step of 34 ms or more) and a renderer draws a whole step
 * ahead. No digest and no schedule reads it.
 */
float fs_plan_alpha(const fs_plan *plan)
{
    const float below_one = 0x1.fffffep-1f; /* 0x3F7FFFFF */
    const float alpha = (float)((double)plan->remainder / (double)plan->unit);
    return alpha < below_one ? alpha : below_one;
}
