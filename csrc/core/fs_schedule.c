/* The one place of the core with floating point: how far a frame stands between two ticks.
 *
 * Divided in double and narrowed to float, as the reference does it. Without the clamp the result
 * reaches 1.0 (one nanosecond before a step of 34 ms or more) and a renderer draws a whole step
 * ahead. Refuses to be an input to anything: no digest and no schedule sees it.
 */
#include "fs_schedule.h"

float fs_plan_alpha(const fs_plan *plan)
{
    const float below_one = 0x1.fffffep-1f; /* 0x3F7FFFFF */
    const float alpha = (float)((double)plan->remainder / (double)plan->unit);
    return alpha < below_one ? alpha : below_one;
}
