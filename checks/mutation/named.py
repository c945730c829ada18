"""Mutants with a meaning: the mistakes that somebody could make who knows what the code is for.

A change of one token seldom makes the bug that a rewrite makes: refused steps that are banked, a
digest in another order of bytes, a batch that is taken over in spite of an error. Each row is a
file, a name, a text that stands in the file exactly once, and what stands there instead.
"""

from __future__ import annotations

from pathlib import Path

from .mutants import Mutant, mutant

_SCHEDULE = "csrc/core/fs_schedule.h"
_ALPHA = "csrc/core/fs_schedule.c"
_HASH = "csrc/core/fs_hash.h"
_SATURATING = "csrc/core/fs_saturating.h"
_BATCH = "csrc/core/fs_batch.h"
_BATCHES = "csrc/core/fs_batch.c"
_DEFINITION = "csrc/core/fs_hash.c"
_WIDE = "csrc/core/fs_hash_wide.c"
_LOOP = "csrc/python/frame_loop.c"
_PLAN = "csrc/python/frame_plan.c"
_STEPS = "csrc/python/steps.c"
_STATE = "csrc/python/state_hash.c"
_STATS = "csrc/python/frame_stats.c"
_REFERENCE = "src/fixedstep/reference.py"

NAMED: list[tuple[str, str, str, str]] = [
    # the schedule
    (
        _SCHEDULE,
        "refused steps are banked",
        "banked.bank = bank % loop->unit;",
        "banked.bank = bank - loop->unit * "
        "(banked.due < loop->budget ? banked.due : loop->budget);",
    ),
    (
        _SCHEDULE,
        "the tick counts refused steps",
        "fs_add(loop->tick, step_count)",
        "fs_add(loop->tick, banked.due)",
    ),
    (
        _SCHEDULE,
        "dropped counts all that was due",
        ".dropped = banked.due - step_count,",
        ".dropped = banked.due > step_count ? banked.due : 0,",
    ),
    (
        _SCHEDULE,
        "dropped is the budget that was left",
        ".dropped = banked.due - step_count,",
        ".dropped = loop->budget - step_count,",
    ),
    (
        _SCHEDULE,
        "dropped is cut to 32 bits",
        ".dropped = banked.due - step_count,",
        ".dropped = (uint32_t)(banked.due - step_count),",
    ),
    (
        _SCHEDULE,
        "steps are cut to 32 bits before the budget",
        "banked.due < loop->budget ? (uint32_t)banked.due : loop->budget",
        "(uint32_t)banked.due < loop->budget ? (uint32_t)banked.due : loop->budget",
    ),
    (
        _SCHEDULE,
        "the bank is forgotten where the budget engages",
        "loop->bank = banked.bank;",
        "loop->bank = plan.dropped == 0 ? banked.bank : 0;",
    ),
    (
        _SCHEDULE,
        "a clock that goes back is not counted from",
        "loop->last = now;\n    return plan;",
        "loop->last = now > loop->last ? now : loop->last;\n    return plan;",
    ),
    (
        _SCHEDULE,
        "a clock that goes back banks its distance",
        "fs_since(now, loop->last)",
        "(now > loop->last ? now - loop->last : loop->last - now)",
    ),
    (
        _SCHEDULE,
        "the plan carries the tick after it",
        ".first_tick = loop->tick,",
        ".first_tick = fs_add(loop->tick, step_count),",
    ),
    (
        _SCHEDULE,
        "resync forgets the remainder",
        "    loop->started = 1;\n}\n\n/* Simulated",
        "    loop->started = 1;\n    loop->bank = 0;\n}\n\n/* Simulated",
    ),
    (
        _SCHEDULE,
        "resync never moves back",
        "    loop->last = now;\n    loop->started = 1;\n}\n\n/* Simulated",
        "    loop->last = now > loop->last ? now : loop->last;\n    loop->started = 1;\n"
        "}\n\n/* Simulated",
    ),
    (
        _SCHEDULE,
        "the time of a rate in 64 bits",
        "fs_mul_div(tick, unit, scale)",
        "(fs_mul(tick, unit) / scale)",
    ),
    (
        _SCHEDULE,
        "a digest without first_tick",
        "    state = fs_hash_u64(state, plan->first_tick);\n",
        "",
    ),
    (
        _SCHEDULE,
        "a digest without unit",
        "    state = fs_hash_u64(state, plan->unit);\n",
        "",
    ),
    (
        _SCHEDULE,
        "a digest with first_tick and step_count swapped",
        "    state = fs_hash_u64(state, plan->first_tick);\n"
        "    state = fs_hash_u32(state, plan->step_count);\n",
        "    state = fs_hash_u32(state, plan->step_count);\n"
        "    state = fs_hash_u64(state, plan->first_tick);\n",
    ),
    (
        _SCHEDULE,
        "a digest with dropped and remainder swapped",
        "    state = fs_hash_u64(state, plan->dropped);\n"
        "    state = fs_hash_u64(state, plan->remainder);\n",
        "    state = fs_hash_u64(state, plan->remainder);\n"
        "    state = fs_hash_u64(state, plan->dropped);\n",
    ),
    (
        _SCHEDULE,
        "a digest with remainder and unit swapped",
        "    state = fs_hash_u64(state, plan->remainder);\n"
        "    state = fs_hash_u64(state, plan->unit);\n",
        "    state = fs_hash_u64(state, plan->unit);\n"
        "    state = fs_hash_u64(state, plan->remainder);\n",
    ),
    # alpha
    (
        _ALPHA,
        "alpha divides in float32",
        "(float)((double)plan->remainder / (double)plan->unit)",
        "(float)plan->remainder / (float)plan->unit",
    ),
    (_ALPHA, "alpha stops one float32 early", "0x1.fffffep-1f", "0x1.fffffcp-1f"),
    (_ALPHA, "alpha reaches one", "0x1.fffffep-1f", "0x1.0p+0f"),
    (
        _ALPHA,
        "alpha divides whole numbers",
        "(double)plan->remainder / (double)plan->unit",
        "(double)(plan->remainder / plan->unit)",
    ),
    # arithmetic
    (
        _SATURATING,
        "the product of 128 bits loses the carry of its middle",
        " + (middle >> 32),",
        ",",
    ),
    (
        _SATURATING,
        "the product of 128 bits loses a half",
        "(lh >> 32) + (hl >> 32)",
        "(lh >> 32)",
    ),
    (
        _SATURATING,
        "a quotient of 65 bits wraps",
        "return a.high >= c ? UINT64_MAX : quotient;",
        "return quotient;",
    ),
    # hashing
    (
        _HASH,
        "FNV-1 and not FNV-1a",
        "state = (state ^ (value & 0xff)) * FS_FNV_PRIME;",
        "state = (state * FS_FNV_PRIME) ^ (value & 0xff);",
    ),
    (
        _HASH,
        "a zero byte in the middle ends the number",
        "value > 0xff; value >>= 8",
        "(value & 0xff) != 0 && value > 0xff; value >>= 8",
    ),
    (
        _HASH,
        "an integer without its upper zero bytes",
        "return (state ^ value) * fs_fnv_power[left];",
        "return (state ^ value) * FS_FNV_PRIME;",
    ),
    (
        _DEFINITION,
        "FNV-1 and not FNV-1a, of bytes",
        "state = (state ^ bytes[i]) * FS_FNV_PRIME;",
        "state = (state * FS_FNV_PRIME) ^ bytes[i];",
    ),
    (
        _DEFINITION,
        "bytes are signed",
        "state = (state ^ bytes[i]) * FS_FNV_PRIME;",
        "state = (state ^ (uint64_t)(int8_t)bytes[i]) * FS_FNV_PRIME;",
    ),
    (
        _WIDE,
        "powers of another block size are kept",
        "        if (steps != fitting) {",
        "        if (steps == 0) {",
    ),
    (
        _WIDE,
        "limbs are taken without their carry",
        "(power[m] + half) ^ half",
        "power[m]",
    ),
    # the tally and the batch
    (
        _BATCH,
        "the tally counts steps as frames",
        "stats->frames = fs_add(stats->frames, 1);",
        "stats->frames = fs_add(stats->frames, plan->step_count);",
    ),
    (
        _BATCH,
        "ticks count refused steps",
        "fs_add(stats->ticks, plan->step_count)",
        "fs_add(stats->ticks, plan->step_count + plan->dropped)",
    ),
    (
        _BATCH,
        "an empty frame is not digested",
        "    stats->schedule_hash = fs_hash_plan",
        "    if (plan->step_count != 0) stats->schedule_hash = fs_hash_plan",
    ),
    (_BATCHES, "a batch forgets the earlier tally", "        tally = *stats;\n", ""),
    (
        _BATCHES,
        "a batch leaves out its last frame",
        "i < count; i++",
        "i + 1 < count; i++",
    ),
    # the types
    (
        _LOOP,
        "a copy forgets the bank",
        "copy->loop = loop_snapshot(self);",
        "copy->loop = loop_snapshot(self);\n        copy->loop.bank = 0;",
    ),
    (
        _LOOP,
        "a copy forgets the tick",
        "copy->loop = loop_snapshot(self);",
        "copy->loop = loop_snapshot(self);\n        copy->loop.tick = 0;",
    ),
    (
        _LOOP,
        "a copy forgets the last timestamp",
        "copy->loop = loop_snapshot(self);",
        "copy->loop = loop_snapshot(self);\n        copy->loop.last = 0;",
    ),
    (
        _LOOP,
        "a copy forgets the budget",
        "copy->loop = loop_snapshot(self);",
        "copy->loop = loop_snapshot(self);\n        copy->loop.budget = 5;",
    ),
    (
        _LOOP,
        "a copy forgets the scale",
        "copy->loop = loop_snapshot(self);",
        "copy->loop = loop_snapshot(self);\n        copy->loop.scale = 1;",
    ),
    (
        _LOOP,
        "the saved state of a loop without its tick",
        "last, loop.bank,\n                             loop.tick);",
        "last, loop.bank,\n                             (uint64_t)0);",
    ),
    (
        _LOOP,
        "the saved state of a loop without its bank",
        "last, loop.bank,\n                             loop.tick);",
        "last, (uint64_t)0,\n                             loop.tick);",
    ),
    (
        _LOOP,
        "the saved state of a loop without its last timestamp",
        "last, loop.bank,\n                             loop.tick);",
        "Py_None, loop.bank,\n                             loop.tick);",
    ),
    (
        _LOOP,
        "a batch is taken over in spite of an error",
        "    if (PyErr_Occurred() != NULL) {\n        return false;\n    }\n    return columns",
        "    if (PyErr_Occurred() != NULL) {\n        self->loop = batch->loop_after;\n"
        "        return false;\n    }\n    return columns",
    ),
    (
        _LOOP,
        "the tally is taken over in spite of an error",
        "    if (PyErr_Occurred() != NULL) {\n        return false;\n    }\n    return columns",
        "    if (PyErr_Occurred() != NULL) {\n"
        "        if (stats != NULL) ((fs_stats_object *)stats)->stats = batch->tally_after;\n"
        "        return false;\n    }\n    return columns",
    ),
    (
        _LOOP,
        "a batch that was meddled with is taken over",
        '        fs_raise(self->state, "loop_changed", NULL);',
        "        self->loop = batch->loop_after;\n"
        '        fs_raise(self->state, "loop_changed", NULL);',
    ),
    (
        _LOOP,
        "an equal loop of any type is equal",
        "Py_TYPE(other) != Py_TYPE(self)",
        "0",
    ),
    (
        _PLAN,
        "a state with a remainder of a whole step is taken",
        "remainder >= unit",
        "0",
    ),
    (_PLAN, "a plan of a batch with a scale of zero is taken", "scale == 0 || ", ""),
    (
        _PLAN,
        "the plan's own hash is a constant",
        "return fs_hash_numbers(plan_state(self, NULL));",
        "return 7;",
    ),
    (_STEPS, "an exhausted iterator starts again", "    self->count--;\n", ""),
    (
        _STEPS,
        "a copied iterator starts at the beginning of time",
        "fs_new_steps(self->state, tick, count, self->scale, self->unit)",
        "fs_new_steps(self->state, 0, count, self->scale, self->unit)",
    ),
    (_STEPS, "an iterator from spare memory keeps the old length", "    self->dt = NULL;\n", ""),
    (
        _STEPS,
        "the length of a rate's step is always the first one",
        "fs_sim_time(fs_add(self->tick, 1), self->scale, self->unit);",
        "fs_sim_time(1, self->scale, self->unit) + at;",
    ),
    (
        _STATE,
        "a signed integer loses its sign",
        "fs_hash_u64(*value, (uint64_t)number)",
        "fs_hash_u64(*value, (uint64_t)(number < 0 ? -number : number))",
    ),
    (
        _STATE,
        "a NaN is an infinity",
        "size == infinite ? 0x7f800000u :",
        "size >= infinite ? 0x7f800000u :",
    ),
    (
        _STATE,
        "an infinity is refused",
        " && size < infinite",
        "",
    ),
    (
        _STATE,
        "only the first piece of a view is hashed",
        "start += FS_RELEASE_BYTES) {",
        "start += size) {",
    ),
    (
        _STATE,
        "a plan of any type is absorbed",
        "Py_TYPE(arg) != state->plan_type",
        "0 * (Py_TYPE(arg) != state->plan_type)",
    ),
    (
        _STATS,
        "a plan of any type is counted",
        "Py_TYPE(arg) != self->state->plan_type",
        "0 * (Py_TYPE(arg) != self->state->plan_type)",
    ),
    (
        _STATS,
        "a copied tally starts a new digest",
        "return stats_make(self->state, fs_stats_snapshot(self));",
        "fs_stats s = fs_stats_snapshot(self);\n    s.schedule_hash = FS_FNV_OFFSET;\n"
        "    return stats_make(self->state, s);",
    ),
    # the reference
    (
        _REFERENCE,
        "refused steps are banked",
        "        bank %= unit\n",
        "        bank -= min(due, self._budget) * unit\n",
    ),
    (
        _REFERENCE,
        "the tick counts refused steps",
        "tick = first_tick + step_count",
        "tick = first_tick + due",
    ),
    (
        _REFERENCE,
        "dropped counts all that was due",
        "first_tick, step_count, due - step_count, remainder, self._rate_scale, rate_unit\n",
        "first_tick, step_count, due if due > step_count else 0, remainder, self._rate_scale, "
        "rate_unit\n",
    ),
    (
        _REFERENCE,
        "a clock that goes back is not counted from",
        "self._tick, self._bank, self._last = tick, bank, now",
        "self._tick, self._bank, self._last = tick, bank, max(now, self._last or 0)",
    ),
    (
        _REFERENCE,
        "a clock that goes back banks its distance",
        "elapsed = now - last if last is not None and now > last else 0",
        "elapsed = 0 if last is None else abs(now - last)",
    ),
    (
        _REFERENCE,
        "FNV-1 and not FNV-1a",
        "(state ^ byte) * FNV_PRIME & U64_MAX",
        "(state * FNV_PRIME ^ byte) & U64_MAX",
    ),
    (
        _REFERENCE,
        "a digest without unit",
        '_PLAN = Struct("<QIQQQ")  # first_tick, step_count, dropped, remainder, unit',
        '_PLAN = Struct("<QIQQ8x")',
    ),
    (
        _REFERENCE,
        "a step count of 64 bits in the digest",
        '_PLAN = Struct("<QIQQQ")',
        '_PLAN = Struct("<QQQQQ")',
    ),
    (
        _REFERENCE,
        "alpha is not narrowed",
        "min(_F32.unpack(_F32.pack(ratio))[0], _ALPHA_BELOW_ONE)",
        "min(ratio, _ALPHA_BELOW_ONE)",
    ),
    (
        _REFERENCE,
        "a batch works on the loop itself",
        "loop, loop_before = self.__copy__(), self._state()",
        "loop, loop_before = self, self._state()",
    ),
    (
        _REFERENCE,
        "a batch works on the tally itself",
        "tally = FrameStats() if stats is None else stats.__copy__()",
        "tally = FrameStats() if stats is None else stats",
    ),
    (
        _REFERENCE,
        "a copied loop is the loop",
        "    def __copy__(self) -> FrameLoop:\n        return _loop(*self._state())\n",
        "    def __copy__(self) -> FrameLoop:\n        return self\n",
    ),
    # what lived until somebody changed it by hand
    (
        _ALPHA,
        "alpha is a product with a reciprocal",
        "(double)plan->remainder / (double)plan->unit",
        "(double)plan->remainder * (1.0 / (double)plan->unit)",
    ),
    (
        _LOOP,
        "a large batch keeps the GIL",
        "if (size < FS_RELEASE_BYTES) {",
        "if (size >= 0) {",
    ),
    (
        _STATE,
        "a large hash keeps the GIL",
        "if (size < FS_RELEASE_BYTES) {",
        "if (size >= 0) {",
    ),
    (
        _STATE,
        "what becomes a float goes through a float32",
        "    *value = PyFloat_AsDouble(checked);",
        "    *value = (double)(float)PyFloat_AsDouble(checked);",
    ),
    (
        _STATE,
        "a float with a __float__ of its own is taken by value",
        "if (PyFloat_CheckExact(arg)) {",
        "if (PyFloat_Check(arg)) {",
    ),
    # modules that both cores share
    (
        "src/fixedstep/time.py",
        "from_hz rounds a half down",
        "(_SECOND + whole // 2) // whole",
        "(_SECOND + (whole - 1) // 2) // whole",
    ),
    (
        "src/fixedstep/time.py",
        "due_after rounds down",
        "time = -(-number * self._unit // self._scale)",
        "time = number * self._unit // self._scale",
    ),
    (
        "src/fixedstep/time.py",
        "ticks_in rounds up",
        "number = time * self._scale // self._unit",
        "number = -(-time * self._scale // self._unit)",
    ),
    (
        "src/fixedstep/_plans.py",
        "a pickle of a batch has columns of unequal length",
        "len({len(column) for column in columns}) != 1",
        "not columns",
    ),
    (
        "src/fixedstep/_saved.py",
        "a copy of what changes is itself",
        "        return type(self)(**self._arguments())",
        "        return self",
    ),
    (
        "src/fixedstep/_saved.py",
        "a pickle that lacks an argument loads with the default",
        "if arguments.keys() != (needed := names(made).keys()):",
        "if not arguments.keys() <= (needed := names(made).keys()):",
    ),
    (
        "src/fixedstep/reference.py",
        "a long frame is the longest too late",
        "if frame_time > self._max:",
        "if frame_time > self._max + 1:",
    ),
    (
        "csrc/core/fs_timing.h",
        "the buckets of long frames are twice as wide",
        "frame_time >> (shift + step) >= 1u << FS_TIMING_BITS",
        "frame_time >> (shift + step) >= 1u << (FS_TIMING_BITS - 1)",
    ),
    (
        "csrc/python/frame_timing.c",
        "a copy has the counters and not the histogram",
        "copy->timing = self->timing;",
        "memset(&copy->timing, 0, sizeof copy->timing); memcpy(&copy->timing, &self->timing, 40);",
    ),
]


def named_mutants(root: Path) -> list[Mutant]:
    """The rows above as mutants. A text that is not there exactly once is an error: a row that
    fits nothing any more would be counted as a check and be none."""
    found = []
    for file, name, old, new in NAMED:
        text = (root / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{file}: {name!r}: its text stands there {text.count(old)} times")
        start = text.index(old)
        one = mutant(file, text, "(named)", "named", start, start + len(old), new)
        found.append(one._replace(shown=name))
    return found
