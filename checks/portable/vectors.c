/* Runs the vectors that run.py writes to standard input over csrc/core, and nothing else: no Python.
 *
 *   T scale unit budget start            a new loop and new statistics
 *   F now first_tick step_count dropped remainder alpha_bits     a frame and its plan
 *   R now                                a resync
 *   E tick remainder frames ticks steps_dropped schedule_hash    what the trace came to
 *   S tick scale unit sim_time           simulated nanoseconds before a tick
 *   H size seed digest                   the hash of so many bytes of a generator
 *
 * Prints how much was compared. Ends with 1 and the number of the line at the first difference.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csrc/core/fs_batch.h"

static unsigned long line;

static void same(const char *what, uint64_t found, uint64_t expected)
{
    if (found != expected) {
        printf("line %lu: %s is %" PRIu64 " and should be %" PRIu64 "\n", line, what, found, expected);
        exit(1);
    }
}

static void read_numbers(uint64_t *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        if (scanf("%" SCNu64, &numbers[i]) != 1) {
            printf("line %lu: %d numbers were expected\n", line, count);
            exit(1);
        }
    }
}

static uint64_t alpha_bits(const fs_plan *plan)
{
    const float alpha = fs_plan_alpha(plan);
    uint32_t bits;
    memcpy(&bits, &alpha, sizeof bits);
    return bits;
}

static uint64_t hash_of(uint64_t size, uint64_t seed)
{
    unsigned char *data = malloc(size == 0 ? 1 : (size_t)size);
    if (data == NULL) {
        exit(1);
    }
    for (uint64_t i = 0; i < size; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        data[i] = (unsigned char)(seed >> 56);
    }
    const uint64_t digest = fs_hash_bytes(FS_FNV_OFFSET, data, (size_t)size);
    free(data);
    return digest;
}

int main(void)
{
    unsigned long traces = 0, frames = 0, hashes = 0;
    char kind;
    uint64_t n[6];
    fs_loop loop = {0};
    fs_stats stats = {0};
    while (scanf(" %c", &kind) == 1) {
        line++;
        if (kind == 'T') {
            read_numbers(n, 4);
            loop = (fs_loop){
                .scale = n[0],
                .unit = n[1],
                .rate_scale = n[0],
                .rate_unit = n[1],
                .budget = (uint32_t)n[2],
                .last = n[3],
                .started = 1,
            };
            stats = (fs_stats){.schedule_hash = FS_FNV_OFFSET};
            traces++;
        }
        else if (kind == 'F') {
            read_numbers(n, 6);
            const fs_plan plan = fs_loop_begin_frame(&loop, n[0]);
            fs_stats_absorb(&stats, &plan);
            same("first_tick", plan.first_tick, n[1]);
            same("step_count", plan.step_count, n[2]);
            same("dropped", plan.dropped, n[3]);
            same("remainder", plan.remainder, n[4]);
            same("alpha", alpha_bits(&plan), n[5]);
            frames++;
        }
        else if (kind == 'R') {
            read_numbers(n, 1);
            fs_loop_resync(&loop, n[0]);
        }
        else if (kind == 'E') {
            read_numbers(n, 6);
            same("tick", loop.tick, n[0]);
            same("remainder", loop.bank, n[1]);
            same("frames", stats.frames, n[2]);
            same("ticks", stats.ticks, n[3]);
            same("steps_dropped", stats.steps_dropped, n[4]);
            same("schedule_hash", stats.schedule_hash, n[5]);
        }
        else if (kind == 'S') {
            read_numbers(n, 4);
            same("sim_time", fs_sim_time(n[0], n[1], n[2]), n[3]);
        }
        else if (kind == 'H') {
            read_numbers(n, 3);
            same("hash", hash_of(n[0], n[1]), n[2]);
            hashes++;
        }
        else {
            printf("line %lu: unknown kind %c\n", line, kind);
            return 1;
        }
    }
    printf("%lu traces, %lu frames, %lu hashes are equal with pointers of %zu bits\n", traces, frames,
           hashes, 8 * sizeof(void *));
    return traces == 0 || frames == 0 || hashes == 0;
}
