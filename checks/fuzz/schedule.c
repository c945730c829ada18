/* The schedule against arithmetic that cannot saturate by mistake.
 *
 * A sequence of frames, resyncs and changes of scale from any state. Every plan is worked out a second
 * time from the design's formulas in 128 bits, where nothing overflows, and cut to 64 bits once at the
 * end; the loop must then stand where the oracle stands. The core has no 128-bit type, because a compiler
 * that must build it has none: so the two have nothing in common but the formulas.
 */
#include "fs_schedule.h"
#include "input.h"

typedef unsigned __int128 wide;

static uint64_t cut(wide number) { return number > UINT64_MAX ? UINT64_MAX : (uint64_t)number; }

static void check_frame(fs_loop *loop, uint64_t now)
{
    const fs_loop before = *loop;
    const fs_plan plan = fs_loop_begin_frame(loop, now);

    const wide elapsed = before.started && now > before.last ? now - before.last : 0;
    wide bank = before.bank + elapsed * before.scale;
    if (before.scale == 1) {
        bank = cut(bank);
    }
    const uint64_t due = cut(bank / before.unit);
    const uint64_t steps = due > before.budget ? before.budget : due;
    CHECK(plan.first_tick == before.tick);
    CHECK(plan.step_count == steps);
    CHECK((wide)plan.dropped + steps == due);
    CHECK(loop->bank == bank % before.unit);
    CHECK(plan.remainder == loop->bank / (before.unit / before.rate_unit));
    CHECK(plan.remainder < before.rate_unit);
    CHECK(plan.scale == before.rate_scale && plan.unit == before.rate_unit);

    CHECK(loop->tick == cut((wide)before.tick + steps));
    CHECK(loop->last == now && loop->started);
    CHECK(loop->scale == before.scale && loop->unit == before.unit);
    CHECK(loop->rate_scale == before.rate_scale && loop->rate_unit == before.rate_unit);
    CHECK(loop->budget == before.budget);

    /* Sixty-four bits of mantissa hold both numbers, and half a unit of the last of a float's 24 bits
     * is the most that rounding may take; the clamp below 1 takes no more than that either. */
    const float alpha = fs_plan_alpha(&plan);
    const long double exact = (long double)plan.remainder / (long double)plan.unit;
    const long double off = alpha > exact ? alpha - exact : exact - alpha;
    CHECK(alpha >= 0 && alpha < 1);
    CHECK(off <= exact * 0x1.001p-24L);
}

static void check_time(uint64_t tick, uint64_t scale, uint64_t unit)
{
    CHECK(fs_sim_time(tick, scale, unit) == cut((wide)tick * unit / scale));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size, 0};
    fs_loop loop;
    loop.scale = input_number(&in);
    loop.scale += loop.scale == 0;
    loop.unit = input_number(&in);
    loop.unit += loop.unit == 0;
    loop.rate_scale = loop.scale;
    loop.rate_unit = loop.unit;
    loop.fast_below = 0;
    loop.started = input_byte(&in) & 1;
    loop.budget = (uint32_t)input_number(&in);
    loop.budget += loop.budget == 0;
    loop.last = input_number(&in);
    loop.bank = input_number(&in) % loop.unit;
    loop.tick = input_number(&in);
    in.last = loop.last;
    while (in.left > 0) {
        switch (input_byte(&in) & 7) {
        case 0: {
            fs_loop expected = loop;
            expected.last = input_number(&in);
            fs_loop_resync(&loop, expected.last);
            CHECK(loop.last == expected.last && loop.bank == expected.bank && loop.started);
            CHECK(loop.tick == expected.tick && loop.scale == expected.scale);
            CHECK(loop.unit == expected.unit && loop.budget == expected.budget);
            break;
        }
        case 1:
            loop.scale = input_number(&in); /* what a change of speed does; the bank stays */
            loop.scale += loop.scale == 0;
            loop.fast_below = 0;
            break;
        case 3: { /* a rate whose unit is a part of the loop's */
            const uint64_t parts = input_byte(&in) % 12 + 1u;
            loop.rate_unit = loop.unit % parts == 0 ? loop.unit / parts : loop.unit;
            loop.rate_scale = input_number(&in);
            loop.rate_scale += loop.rate_scale == 0;
            loop.fast_below = 0;
            break;
        }
        case 2: {
            const uint64_t tick = input_number(&in), scale = input_number(&in);
            check_time(tick, scale + (scale == 0), loop.unit);
            check_time(loop.tick, loop.scale + (loop.scale == 0), loop.unit);
            break;
        }
        default:
            check_frame(&loop, input_number(&in));
            break;
        }
    }
    return 0;
}
