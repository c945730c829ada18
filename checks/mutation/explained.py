"""The survivors, and why each may live.

An explanation names a file, a function and the changes it speaks for, each by a part of what the
report shows, or ``ALL`` for every change in a function that only hints or only saves time. One that
no survivor needs is an error in a whole run: it would excuse a mutant that comes back some day.
"""

from __future__ import annotations

from typing import NamedTuple

ALL = ("*",)


class Explanation(NamedTuple):
    """Why these changes of a function change nothing that a test could see."""

    file: str
    function: str
    changes: tuple[str, ...]
    reason: str


_REFERENCE = "src/fixedstep/reference.py"
_SLOW_WAY = (
    "A number that misses the short way goes through arguments.timestamp, which gives the same one."
)
_SAME_AT_THE_EDGE = "At the one number where the conditions differ, both sides give the same."
_DIVIDED_BY_ZERO = (
    "The compiler makes one checked product of the division, which has no zero to divide by. What "
    "is wrong is the C: undefined behaviour, which the run under UBSan reports."
)
_WITHOUT_THE_GIL = "It decides who waits, not what comes out."
_ROOM = "More or less room at a time: what is planned into it is the same."
_ASKED_ANYWAY = "The comparison saves the question whether there was an error, which says the same."
_NO_MEMORY = "Only a machine without memory left goes another way, and none of the tests takes it."
_PREFETCH = "A hint of what to fetch, and no read of it; its bench is the test of it."
_THE_DEFINITION = "What the blocks leave goes through the definition, slower, to the same digest."
_OTHER_INTERPRETERS = "It chooses between versions of CPython: the same under the one here."
_UNLOADED = "Only the end of an interpreter shows it, in memory that no test counts."
_PAST_THE_END = (
    "It goes past an array on the stack, and nothing is hurt; the run under ASan reports it."
)
_SHARE_NO_BIT = "The parts share no bit, so or and exclusive or are the same."
_EITHER_SIDE = "Equality has no sides."
_NONE_ANYWAY = "A class with __eq__ and no __hash__ has None there; the line tells it to readers."

EXPLAINED: list[Explanation] = [
    # csrc/core
    Explanation(
        "csrc/core/fs_schedule.c",
        "fs_plan_alpha",
        ("alpha [< => <=] below_one",),
        _SAME_AT_THE_EDGE,
    ),
    Explanation(
        "csrc/core/fs_batch.c",
        "fs_loop_begin_frames",
        ("fs_stats tally = {[0 => 1]}",),
        "The value is for the compiler's peace: without stats nothing reads it.",
    ),
    Explanation(
        "csrc/core/fs_hash.h",
        "fs_fnv_power",
        ("fs_fnv_power[[9 => 10]]",),
        "One entry more that nothing reads.",
    ),
    Explanation(
        "csrc/core/fs_saturating.h",
        "fs_add",
        ("a [> => >=] UINT64_MAX - b",),
        _SAME_AT_THE_EDGE,
    ),
    Explanation(
        "csrc/core/fs_saturating.h",
        "fs_since",
        ("later [> => >=] earlier",),
        _SAME_AT_THE_EDGE,
    ),
    Explanation(
        "csrc/core/fs_saturating.h",
        "fs_mul",
        ("[a != 0 && => ]b > UINT64_MAX / a", "a != [0 => 1] && b > UINT64_MAX / a"),
        _DIVIDED_BY_ZERO,
    ),
    Explanation(
        "csrc/core/fs_saturating.h",
        "fs_mul",
        ("b > [UINT64_MAX => (UINT64_MAX - 1)] / a",),
        "The two quotients differ where a divides 2**64 - 1, and there the product is that.",
    ),
    Explanation(
        "csrc/core/fs_saturating.h",
        "fs_mul_div",
        (
            "b [<= => <] UINT64_MAX / a",
            "b <= [UINT64_MAX => (UINT64_MAX - 1)] / a",
            "a == 0[ || b <= UINT64_MAX / a => ]",
            "a == 0 [|| => &&] b <= UINT64_MAX / a",
        ),
        "More products take the long division, which gives the same for all of them.",
    ),
    Explanation(
        "csrc/core/fs_saturating.h",
        "fs_mul_div",
        ("[a == 0 || => ]b <= UINT64_MAX / a", "a == [0 => 1] || b <= UINT64_MAX / a"),
        _DIVIDED_BY_ZERO,
    ),
    Explanation(
        "csrc/core/fs_saturating.h",
        "fs_mul_div",
        (
            "(middle << 32) [| => ^] (ll & low_half)",
            "(rest << 1) [| => ^] ((low >> bit) & 1)",
            "quotient [|= => ^=] 1",
        ),
        _SHARE_NO_BIT,
    ),
    Explanation(
        "csrc/core/fs_saturating.h",
        "fs_mul_div",
        ("uint64_t quotient = [0 => 1]",),
        "64 shifts later the bit is gone.",
    ),
    Explanation(
        "csrc/core/fs_schedule.h",
        "fs_loop_begin_frame",
        ("due [< => <=] loop->budget",),
        _SAME_AT_THE_EDGE,
    ),
    Explanation(
        "csrc/core/fs_schedule.h",
        "fs_sim_time",
        (
            "fs_mul_div(tick, unit, scale) => fs_mul_div(tick, unit, scale)]",
            "scale == [1 => 0]",
        ),
        "A scale of 1 may go through the general division: it saves time that it does not.",
    ),
    Explanation(
        "csrc/core/fs_schedule.h",
        "fs_sim_time",
        ("fs_mul_div([tick, unit => unit, tick], scale)",),
        "A product in the other order.",
    ),
    Explanation("csrc/core/fs_hash_wide.c", "fs_run_chunks", ("fs_prefetch(",), _PREFETCH),
    Explanation("csrc/core/fs_hash_wide.c", "fs_find_starts", ("next [+=", "next +="), _PREFETCH),
    Explanation(
        "csrc/core/fs_hash_wide.c", "FS_HASH_BLOCKS", ("const uint8_t *next = ",), _PREFETCH
    ),
    Explanation(
        "csrc/core/fs_hash_wide.c",
        "FS_HASH_BLOCKS",
        (
            "size - done [>= => >] FS_MIN_BLOCK",
            "size - done [>= => <] FS_MIN_BLOCK",
        ),
        _THE_DEFINITION,
    ),
    Explanation(
        "csrc/core/fs_hash.c",
        "fs_hash_bytes",
        ("size [< => <=] FS_WIDE_MIN", "size [< => >] FS_WIDE_MIN"),
        _THE_DEFINITION,
    ),
    Explanation(
        "csrc/core/fs_hash_wide.c",
        "FS_HASH_BLOCKS",
        ("size_t steps = [0 => 1]",),
        "Any number that is no size of a block makes the first one fill the powers.",
    ),
    Explanation(
        "csrc/core/fs_hash_wide.c",
        "fs_solve_two_bits",
        ("m [< => <=] FS_LANES", "g = 0; g [< => <=] FS_GROUPS"),
        _PAST_THE_END,
    ),
    Explanation(
        "csrc/core/fs_hash_wide.c",
        "fs_find_starts",
        ("k [< => <=] 8", "k < [8 => 9]"),
        "One run more settles two bits above the byte, which the last run takes away again.",
    ),
    # csrc/python
    Explanation(
        "csrc/python/frame_loop.c",
        "advise_large_pages",
        ALL,
        "A hint to the kernel about pages; its bench is the test of it.",
    ),
    Explanation(
        "csrc/python/frame_loop.c",
        "columns_resize",
        ("advise_large_pages(",),
        "A hint to the kernel about pages; its bench is the test of it.",
    ),
    Explanation(
        "csrc/python/frame_loop.c",
        "plan_block",
        ("size [< => <=] FS_RELEASE_BYTES", "size [< => >] FS_RELEASE_BYTES"),
        _WITHOUT_THE_GIL,
    ),
    Explanation(
        "csrc/python/frame_loop.c",
        "plan_block",
        (
            "[columns->count + count > columns->capacity && => ]",
            "columns->count + count [> => >=] columns->capacity",
            "[2 => 3] * columns->capacity",
            "[2 => 1] * columns->capacity",
            "2 [* => +] columns->capacity",
            "2 * columns->[capacity => count]",
        ),
        _ROOM,
    ),
    Explanation(
        "csrc/python/frame_loop.c",
        "length_of",
        (
            "view == NULL ? -1",
            "view [== => !=] NULL",
            "length [< => <=] 0",
            "length < [0 => 1]",
            "return [0 => 1]",
        ),
        _ROOM,
    ),
    Explanation(
        "csrc/python/frame_loop.c",
        "plan_batch",
        (
            "columns == NULL[ || columns->count == columns->capacity => ]",
            "[columns->count == columns->capacity ||",
        ),
        "The columns are copied once more, to the same size.",
    ),
    Explanation(
        "csrc/python/frame_loop.c",
        "loop_begin_frames",
        ("NULL}, [0 => 1], 0}",),
        "columns_resize sets it before anything reads it.",
    ),
    Explanation(
        "csrc/python/frame_loop.c", "commit_batch", ("same_loop([", "fs_same_stats(["), _EITHER_SIDE
    ),
    Explanation("csrc/python/frame_loop.c", "loop_richcompare", ("same_loop([",), _EITHER_SIDE),
    Explanation(
        "csrc/python/frame_loop.c", "(named)", ("a list is believed to be shorter",), _ROOM
    ),
    Explanation(
        "csrc/python/state_hash.c",
        "absorb_exact_bytes",
        ("size [< => <=] FS_RELEASE_BYTES", "size [< => >] FS_RELEASE_BYTES"),
        _WITHOUT_THE_GIL,
    ),
    Explanation(
        "csrc/python/fs_types.h",
        "(constant)",
        ("FS_RELEASE_BYTES [65536",),
        _WITHOUT_THE_GIL,
    ),
    Explanation(
        "csrc/python/fs_types.h",
        "(constant)",
        ("FS_SPARE [1 => 0]",),
        "Without the spare every object is allocated: slower, and the same objects.",
    ),
    Explanation(
        "csrc/python/fs_types.h",
        "(named)",
        ("the largest number is taken for an error",),
        _SLOW_WAY,
    ),
    Explanation(
        "csrc/python/fs_types.h",
        "fs_fast_u64",
        (
            "*number != UINT64_MAX[ || PyErr_Occurred() == NULL => ]",
            "*number != UINT64_MAX [|| => &&] PyErr_Occurred() == NULL",
        ),
        _SLOW_WAY,
    ),
    Explanation(
        "csrc/python/fs_types.h",
        "fs_fast_u64",
        ("[*number != UINT64_MAX || => ]PyErr_Occurred() == NULL",),
        _ASKED_ANYWAY,
    ),
    Explanation(
        "csrc/python/frame_plan.c",
        "plan_from_right_numbers",
        (
            "i [< => >] 6",
            "[! => ]fs_fast_u64(",
            "=> !(!fs_fast_u64(",
            "step_count [> => >=] UINT32_MAX",
            "step_count > [UINT32_MAX => (UINT32_MAX - 1)]",
        ),
        "What misses the short way goes through configuration.frame_plan_state to the same plan.",
    ),
    Explanation(
        "csrc/python/frame_plan.c",
        "plan_ticks",
        (
            "first [<= => <] UINT64_MAX - count",
            "first <= [UINT64_MAX => (UINT64_MAX - 1)] - count",
            "first <= UINT64_MAX [- => +] count",
        ),
        "The addition of Python's integers gives the same, for more numbers than must have it.",
    ),
    Explanation(
        "csrc/python/frame_plan.c",
        "plan_ticks",
        ("PyNumber_Add([start, length => length, start])",),
        "A sum of two integers, in the other order.",
    ),
    Explanation("csrc/core/fs_hash_wide.c", "(constant)", ("limbs[[4 => 5]",), _ROOM),
    Explanation("csrc/python/steps.c", "whole_step", ALL, _OTHER_INTERPRETERS),
    Explanation("csrc/python/steps.c", "take_step", ("(step = whole_step(",), _OTHER_INTERPRETERS),
    Explanation(
        "csrc/python/steps.c",
        "take_step",
        ("[state->step_alloc != NULL && => ]",),
        "The other way to make a step makes the same one.",
    ),
    Explanation(
        "csrc/python/steps.c",
        "take_step",
        ("if (self->[count => scale] == 0)",),
        "empty_step asks again, since a finalizer may have taken the last one.",
    ),
    Explanation(
        "csrc/python/fs_types.h",
        "fs_dealloc_spare",
        ("*spare [== => !=] NULL", "[FS_SPARE && *spare == NULL => !("),
        "Without the spare every object is allocated: slower, and the same objects.",
    ),
    Explanation(
        "csrc/python/fs_types.h",
        "fs_fast_u64",
        ("[! => ]PyLong_CheckExact", "=> !(!PyLong_CheckExact", "return [true => false]"),
        _SLOW_WAY,
    ),
    Explanation(
        "csrc/python/fs_types.h",
        "fs_as_timestamp",
        ("[fs_fast_u64(value, now) || => ]",),
        _SLOW_WAY,
    ),
    Explanation(
        "csrc/python/state_hash.c",
        "hash_absorb_u64",
        ("[!fs_fast_u64(arg, &number) && => ]",),
        _SLOW_WAY,
    ),
    Explanation(
        "csrc/python/state_hash.c",
        "hash_absorb_u32",
        (
            "number > [UINT32_MAX => (UINT32_MAX - 1)]",
            "number [> => >=] UINT32_MAX",
            "[! => ]fs_fast_u64(arg, &number)",
            "[(!fs_fast_u64(arg, &number) || number > UINT32_MAX) && => ]",
        ),
        _SLOW_WAY,
    ),
    Explanation(
        "csrc/python/state_hash.c", "f32_size", ("0x7fc00000u [| => ^] (size",), _SHARE_NO_BIT
    ),
    Explanation(
        "csrc/python/state_hash.c",
        "f32_size",
        ("exponent [< => <=] 897", "exponent < [897 => 898]"),
        _SAME_AT_THE_EDGE,
    ),
    Explanation(
        "csrc/python/state_hash.c",
        "f32_size",
        ("exponent [< => <=] 872", "exponent < [872 => 873]", "exponent < [872 => 871]"),
        "Where the shift still fits, it rounds all digits away too.",
    ),
    Explanation(
        "csrc/python/state_hash.c", "hash_absorb_f32_bits", ("sign [| => ^] f32",), _SHARE_NO_BIT
    ),
    Explanation(
        "csrc/python/state_hash.c",
        "absorb_view",
        ("start [< => <=] size",),
        "One slice more, of no bytes.",
    ),
    Explanation(
        "csrc/python/module.c",
        "fs_call",
        ("function != NULL [&& => ||]",),
        "The functions it is called for exist.",
    ),
    Explanation(
        "csrc/python/module.c",
        "fs_call",
        ("[args == NULL ? PyTuple_New(0) : NULL => PyTuple_New(0)]",),
        "The empty tuple is made for nothing, and given back.",
    ),
    Explanation(
        "csrc/python/module.c",
        "fs_call",
        ("function != NULL[ && (args != NULL || no_args != NULL) => ]",),
        "CPython keeps one empty tuple, and needs no memory to give it out.",
    ),
    Explanation(
        "csrc/python/module.c",
        "fs_reduce",
        ("=> PySequence_Concat(head, numbers)]", "=> Py_BuildValue("),
        "From NULL they make NULL, and leave the error that is there.",
    ),
    Explanation(
        "csrc/python/module.c",
        "add_type",
        (
            "[type != NULL && => ]",
            "[< => >] 0",
            "[Py_CLEAR(type)",
        ),
        _NO_MEMORY,
    ),
    Explanation("csrc/python/module.c", "import", ("[found == NULL || => ]",), _NO_MEMORY),
    Explanation("csrc/python/module.c", "module_exec", ("return -[1",), _NO_MEMORY),
    Explanation(
        "csrc/python/module.c",
        "module_exec",
        ("minor_version() ", "[state->tuple_new ="),
        _OTHER_INTERPRETERS,
    ),
    Explanation(
        "csrc/python/module.c", "module_exec", ('"COMPILER", FS_COMPILER) [< => >] 0',), _NO_MEMORY
    ),
    Explanation(
        "csrc/python/module.c",
        "minor_version",
        ("[10 => 9]", "[+ => -] strlen"),
        _OTHER_INTERPRETERS,
    ),
    Explanation("csrc/python/module.c", "(constant)", ("FS_SLOT_",), _OTHER_INTERPRETERS),
    Explanation("csrc/python/module.c", "slots", ("minor >",), _OTHER_INTERPRETERS),
    Explanation("csrc/python/module.c", "slots", ("minor [>= => >] 13",), _OTHER_INTERPRETERS),
    Explanation(
        "csrc/python/module.c", "module_traverse", ("[Py_VISIT(", "return [0 => 1]"), _UNLOADED
    ),
    Explanation(
        "csrc/python/module.c",
        "module_clear",
        (
            "[Py_CLEAR(",
            "return [0 => 1]",
        ),
        _UNLOADED,
    ),
    Explanation(
        "csrc/python/module.c",
        "module_free",
        ("[PyObject_Free(", "[(void)module_clear("),
        _UNLOADED,
    ),
    Explanation(
        "csrc/python/frame_loop.c",
        "plan_block",
        (
            "columns->[count => capacity] + count",
            "> columns->[capacity => count]",
        ),
        _ROOM,
    ),
    Explanation(
        "csrc/python/module.c",
        "import",
        ("[Py_DECREF(found); => ;]",),
        "A reference too many to a module of the package, once an interpreter.",
    ),
    Explanation(
        "csrc/python/module.c",
        "module_exec",
        ("[Py_DECREF(plans); => ;]",),
        "A reference too many to a type of the package, once an interpreter.",
    ),
    # the reference
    Explanation(
        _REFERENCE,
        "FrameLoop.begin_frame",
        (
            "not [0 => 1] <= now",
            "not 0[ <= => < ]now",
            "now[ <= => < ]U64_MAX",
            "now <= [U64_MAX => (U64_MAX - 1)]",
        ),
        _SLOW_WAY,
    ),
    Explanation(
        _REFERENCE,
        "FrameLoop.resync",
        (
            "not [0 => 1] <= now",
            "not 0[ <= => < ]now",
            "now[ <= => < ]U64_MAX",
            "now <= [U64_MAX => (U64_MAX - 1)]",
        ),
        _SLOW_WAY,
    ),
    Explanation(
        _REFERENCE,
        "FrameLoop.begin_frame",
        (
            "if now[ > => >= ]self._last",
            "if bank[ > => >= ]U64_MAX",
            "if bank > [U64_MAX => (U64_MAX - 1)]",
            "if due[ < => <= ]self._budget",
            "if tick[ > => >= ]U64_MAX",
            "if tick > [U64_MAX => (U64_MAX - 1)]",
        ),
        _SAME_AT_THE_EDGE,
    ),
    Explanation(
        _REFERENCE,
        "_f32_bits",
        (
            "0x7FC0_0000[ | => ^ ]size",
            "sign[ | ( => ^ (]",
            "sign[ | => ^ ]nearest",
            "FFFF[ | => ^ ]1 <<",
        ),
        _SHARE_NO_BIT,
    ),
    Explanation(
        _REFERENCE,
        "_f32_bits",
        ("exponent[ < => <= ]897", "exponent < [897 => 898]"),
        _SAME_AT_THE_EDGE,
    ),
    Explanation(_REFERENCE, "FrameLoop", ("[__hash__ = None => pass]",), _NONE_ANYWAY),
    Explanation(_REFERENCE, "Steps", ("[__hash__ = None => pass]",), _NONE_ANYWAY),
    Explanation(_REFERENCE, "FrameStats", ("[__hash__ = None => pass]",), _NONE_ANYWAY),
]
