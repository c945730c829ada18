/* The hash against the loop that defines it.
 *
 * Bytes in bulk, in three pieces cut anywhere, at any alignment, and numbers and plans: each must give
 * what the definition gives for the bytes one after the other. The input's bytes are repeated up to some
 * blocks of the fast path with a change each time, since a fuzzer grows an input slowly and the fast path
 * begins at 1 KiB. Data ends where its memory ends, so a byte read ahead is found as well.
 */
#include "fs_schedule.h"
#include "input.h"

enum { LONGEST = 3 * 8192 + 2048 };

static uint64_t definition(uint64_t state, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        state = (state ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return state;
}

/* The definition of a number: its bytes, lowest first. */
static uint64_t number(uint64_t state, uint64_t value, unsigned size)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    return definition(state, bytes, size);
}

static void check_numbers(uint64_t state, input *in)
{
    const uint64_t value = input_number(in);
    CHECK(fs_hash_u64(state, value) == number(state, value, 8));
    CHECK(fs_hash_u32(state, (uint32_t)value) == number(state, (uint32_t)value, 4));

    const fs_plan plan = {
        .first_tick = input_number(in),
        .dropped = input_number(in),
        .remainder = input_number(in),
        .scale = (input_byte(in) & 1) != 0 ? 1 : input_number(in),
        .unit = input_number(in),
        .step_count = (uint32_t)value,
    };
    uint64_t expected = number(state, plan.first_tick, 8);
    expected = number(expected, plan.step_count, 4);
    expected = number(expected, plan.dropped, 8);
    expected = number(expected, plan.remainder, 8);
    expected = number(expected, plan.unit, 8);
    if (plan.scale != 1) {
        expected = number(expected, plan.scale, 8);
    }
    CHECK(fs_hash_plan(state, &plan) == expected);
}

static void check_bytes(uint64_t state, const uint8_t *content, size_t size, size_t offset,
                        const size_t cut[2])
{
    uint8_t *memory = malloc(offset + size == 0 ? 1 : offset + size);
    CHECK(memory != NULL);
    uint8_t *bytes = memory + offset;
    memcpy(bytes, content, size);

    const uint64_t expected = definition(state, bytes, size);
    CHECK(fs_hash_bytes(state, bytes, size) == expected);
    CHECK(fs_hash_bytes_lanes(state, bytes, size, 8) == expected);
    const size_t one = cut[0] < cut[1] ? cut[0] : cut[1];
    const size_t two = cut[0] < cut[1] ? cut[1] : cut[0];
    uint64_t parts = fs_hash_bytes(state, bytes, one);
    parts = fs_hash_bytes(parts, bytes + one, two - one);
    parts = fs_hash_bytes(parts, bytes + two, size - two);
    CHECK(parts == expected);
    if (size <= 64) {
        for (size_t at = 0; at <= size; at++) {
            const uint64_t first = fs_hash_bytes(state, bytes, at);
            CHECK(fs_hash_bytes(first, bytes + at, size - at) == expected);
        }
    }
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t content[LONGEST];
    input in = {data, size, 0};
    const uint64_t state = input_number(&in);
    check_numbers(state, &in);

    const size_t length = input_raw(&in, 2) % (LONGEST + 1);
    const size_t offset = input_byte(&in) % 33;
    const size_t cut[2] = {input_raw(&in, 2) % (length + 1), input_raw(&in, 2) % (length + 1)};
    const uint8_t change = input_byte(&in);
    if (in.left == 0) {
        memset(content, change, length);
    }
    for (size_t i = 0; i < length && in.left > 0; i++) {
        content[i] = (uint8_t)(in.at[i % in.left] + i / in.left * change);
    }
    check_bytes(state, content, length, offset, cut);
    check_bytes(state, in.at, in.left, offset, (const size_t[2]){in.left / 2, in.left / 3});
    return 0;
}
