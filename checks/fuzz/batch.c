/* The batch function against one call a frame.
 *
 * The same timestamps from the same state: with columns and stats, with either, with neither, and cut in
 * two. All must leave the loop where the single calls leave it, with their plans in the columns and their
 * tally in the stats. Every column ends where its memory ends.
 */
#include "fs_batch.h"
#include "input.h"

enum { MOST = 512 };

typedef struct {
    uint64_t *first_tick;
    uint32_t *step_count;
    uint64_t *dropped;
    uint64_t *remainder;
} columns;

static columns make(const uint64_t *anything, size_t count)
{
    const columns made = {
        input_copy(anything, count * sizeof(uint64_t)),
        input_copy(anything, count * sizeof(uint32_t)),
        input_copy(anything, count * sizeof(uint64_t)),
        input_copy(anything, count * sizeof(uint64_t)),
    };
    return made;
}

static void destroy(columns made)
{
    free(made.first_tick);
    free(made.step_count);
    free(made.dropped);
    free(made.remainder);
}

static void check_loop(const fs_loop *a, const fs_loop *b)
{
    CHECK(a->scale == b->scale && a->unit == b->unit && a->budget == b->budget);
    CHECK(a->last == b->last && a->bank == b->bank && a->tick == b->tick);
    CHECK(a->rate_scale == b->rate_scale && a->rate_unit == b->rate_unit);
    CHECK(a->started == b->started);
}

static void check_stats(const fs_stats *a, const fs_stats *b)
{
    CHECK(a->frames == b->frames && a->ticks == b->ticks);
    CHECK(a->steps_dropped == b->steps_dropped && a->schedule_hash == b->schedule_hash);
}

static void check_columns(columns found, const fs_plan *plans, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK(found.first_tick[i] == plans[i].first_tick);
        CHECK(found.step_count[i] == plans[i].step_count);
        CHECK(found.dropped[i] == plans[i].dropped);
        CHECK(found.remainder[i] == plans[i].remainder);
    }
}

static void check(const fs_loop start, const fs_stats tally, const uint64_t *now, size_t count,
                  size_t cut)
{
    static fs_plan plans[MOST];
    fs_loop expected = start;
    fs_stats expected_stats = tally;
    for (size_t i = 0; i < count; i++) {
        plans[i] = fs_loop_begin_frame(&expected, now[i]);
        fs_stats_absorb(&expected_stats, &plans[i]);
    }

    columns found = make(now, count);
    fs_loop loop = start;
    fs_stats stats = tally;
    fs_loop_begin_frames(&loop, now, count, found.first_tick, found.step_count, found.dropped,
                         found.remainder, &stats);
    check_loop(&loop, &expected);
    check_stats(&stats, &expected_stats);
    check_columns(found, plans, count);
    destroy(found);

    found = make(now, count);
    loop = start;
    fs_loop_begin_frames(&loop, now, count, found.first_tick, found.step_count, found.dropped,
                         found.remainder, NULL);
    check_loop(&loop, &expected);
    check_columns(found, plans, count);
    destroy(found);

    loop = start;
    fs_loop_begin_frames(&loop, now, count, NULL, NULL, NULL, NULL, NULL);
    check_loop(&loop, &expected);

    loop = start;
    stats = tally;
    fs_loop_begin_frames(&loop, now, cut, NULL, NULL, NULL, NULL, &stats);
    fs_loop_begin_frames(&loop, now + cut, count - cut, NULL, NULL, NULL, NULL, &stats);
    check_loop(&loop, &expected);
    check_stats(&stats, &expected_stats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size, 0};
    fs_loop loop;
    loop.scale = (input_byte(&in) & 1) != 0 ? 1 : input_number(&in);
    loop.scale += loop.scale == 0;
    loop.unit = input_number(&in);
    loop.unit += loop.unit == 0;
    const uint8_t kind = input_byte(&in);
    loop.rate_scale = loop.scale;
    loop.rate_unit = (kind & 2) != 0 && loop.unit % 3 == 0 ? loop.unit / 3 : loop.unit;
    loop.fast_below = 0;
    loop.started = kind & 1;
    loop.budget = (uint32_t)input_number(&in);
    loop.budget += loop.budget == 0;
    loop.last = input_number(&in);
    loop.bank = input_number(&in) % loop.unit;
    loop.tick = input_number(&in);
    const fs_stats stats = {
        input_number(&in),
        input_number(&in),
        input_number(&in),
        input_number(&in),
    };
    const uint8_t cut = input_byte(&in);
    in.last = loop.last;

    uint64_t now[MOST];
    size_t count = 0;
    while (count < MOST && in.left > 0) {
        now[count++] = input_number(&in);
    }
    uint64_t *exact = input_copy(now, count * sizeof *now);
    check(loop, stats, exact, count, cut % (count + 1));
    free(exact);
    return 0;
}
