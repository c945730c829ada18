/* How the harnesses read numbers from a fuzzer's bytes, and how they object.
 *
 * Uniform 64-bit numbers hit no edge, so a number is a byte that says where it lies and then a distance:
 * a power of two or one beside it, one of the last numbers again with a small step, or eight raw bytes.
 * A flipped bit in the input then moves a little or far, and the fuzzer finds both useful. Bytes that
 * are not there read as zero, so that every input is one.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const uint8_t *at;
    size_t left;
    uint64_t last;
} input;

static inline uint8_t input_byte(input *in)
{
    if (in->left == 0) {
        return 0;
    }
    in->left--;
    return *in->at++;
}

static inline uint64_t input_raw(input *in, unsigned size)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < size; i++) {
        number |= (uint64_t)input_byte(in) << (8 * i);
    }
    return number;
}

static inline uint64_t input_number(input *in)
{
    const uint8_t kind = input_byte(in);
    uint64_t number = 0;
    switch (kind >> 6) {
    case 0: /* a power of two, or up to four before or after it; no power: the ends of the range */
        number = (kind & 32) != 0 ? UINT64_C(1) << (input_byte(in) & 63) : 0;
        number = number + (kind & 7) - 4; /* wraps on purpose */
        break;
    case 1: /* one of the other sizes */
        number = input_raw(in, 1 + (kind & 7));
        break;
    case 2: /* after the last number, by up to six bytes */
        number = in->last + input_raw(in, kind % 7);
        break;
    default: /* before it */
        number = in->last - input_raw(in, kind % 7);
        break;
    }
    in->last = number;
    return number;
}

/* Like assert, which a build may leave out. */
#define CHECK(claim)                                                             \
    do {                                                                         \
        if (!(claim)) {                                                          \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim); \
            abort();                                                             \
        }                                                                        \
    } while (0)

/* A copy that ends where its memory ends, so that one byte too far is one too many. */
static inline void *input_copy(const void *data, size_t size)
{
    void *copy = malloc(size == 0 ? 1 : size);
    CHECK(copy != NULL);
    memcpy(copy, data, size);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
