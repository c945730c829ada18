/* How wide the vectors of this processor are, asked once. */
#include "fs_hash_wide.h"

#if !defined(FS_HASH_AVX2)

unsigned fs_hash_lanes(void)
{
#if defined(FS_HASH_WIDE)
    return 8;
#else
    return 0;
#endif
}

#else

#if defined(_MSC_VER) && !defined(__clang__)

#include <intrin.h>

static void fs_cpuid(unsigned leaf, unsigned registers[4])
{
    int asked[4];
    __cpuidex(asked, (int)leaf, 0);
    for (int i = 0; i < 4; i++) {
        registers[i] = (unsigned)asked[i];
    }
}

static unsigned fs_saved_by_the_system(void) { return (unsigned)_xgetbv(0); }

/* Aligned reads and writes of an int are atomic here. */
#define FS_LOAD_RELAXED(from) (*(from))
#define FS_STORE_RELAXED(to, value) (*(to) = (value))

#else

#include <cpuid.h>

static void fs_cpuid(unsigned leaf, unsigned registers[4])
{
    __cpuid_count(leaf, 0, registers[0], registers[1], registers[2], registers[3]);
}

static unsigned fs_saved_by_the_system(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

#define FS_LOAD_RELAXED(from) __atomic_load_n(from, __ATOMIC_RELAXED)
#define FS_STORE_RELAXED(to, value) __atomic_store_n(to, value, __ATOMIC_RELAXED)

#endif

/* AVX2 needs the processor and a system that saves the upper halves of the registers. Asked of the
 * processor itself: __builtin_cpu_supports would need a symbol of the compiler's library. */
static unsigned fs_find_lanes(void)
{
    enum { EAX, EBX, ECX, EDX };
    const unsigned osxsave = 1u << 27, avx = 1u << 28, avx2 = 1u << 5, xmm_and_ymm = 6;
    unsigned registers[4];
    fs_cpuid(0, registers);
    if (registers[EAX] < 7) {
        return 8;
    }
    fs_cpuid(1, registers);
    if ((registers[ECX] & osxsave) == 0 || (registers[ECX] & avx) == 0
        || (fs_saved_by_the_system() & xmm_and_ymm) != xmm_and_ymm) {
        return 8;
    }
    fs_cpuid(7, registers);
    return (registers[EBX] & avx2) != 0 ? 16 : 8;
}

/* The one variable of the core that outlives a call: cpuid takes microseconds in a virtual machine, as
 * long as hashing some KiB. Threads that ask at the same time store the same answer, and no digest
 * depends on it. */
static volatile unsigned fs_lanes_found;

unsigned fs_hash_lanes(void)
{
    unsigned lanes = FS_LOAD_RELAXED(&fs_lanes_found);
    if (lanes == 0) {
        lanes = fs_find_lanes();
        FS_STORE_RELAXED(&fs_lanes_found, lanes);
    }
    return lanes;
}

#endif
