"""Recordings: values come back exactly, damage is told with its line, and a replay of a correct
game finds no difference, wherever and whenever it was recorded."""

from __future__ import annotations

import io
import json
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import Rate, StateHash, Timestamp
from fixedstep.records import (
    Comparison,
    FaultRecord,
    Recorder,
    Recording,
    RecordingError,
    ReplayMismatch,
    TickRecord,
    compare,
    replay,
)
from fixedstep.records.compare import format_sides
from fixedstep.records.lines import DEEPEST, depth
from fixedstep.records.recording import decode, encode, root_digest
from fixedstep.sim import Mailbox, MailboxFull, Outbox, RecordedTick, Session, TickInput, WorkFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fixedstep.sim import Ticket

NEUTRAL = TickInput.neutral(["jump"])


class World:
    """Counts, in units that are digested one by one."""

    def __init__(self, speed: int = 3) -> None:
        self.speed = speed
        self.hp = [100, 100, 100]
        self.notes: dict[int, int] = {}
        self.results: list[Any] = []

    def step(self, input: Any, tick: Any) -> None:
        """Everything that a tick can be given."""
        tick.enter("Motion")
        self.hp[tick.number % 3] -= self.speed + 10 * input["jump"].pressed
        for message in tick.messages:
            self.hp[0] += len(message)
        tick.enter("Gameplay")
        for completion in tick.completions:
            asked = self.notes.pop(completion.ticket.request)
            error = completion.error
            failed = isinstance(error, TimeoutError), isinstance(error, WorkFailed), str(error)
            self.results.append((asked, repr(completion.result), failed))
        if tick.number % 2 == 0:
            try:
                ticket = tick.reserve(("unit", tick.number), revision=1.5)
            except MailboxFull:
                self.hp[2] += 1
            else:
                self.notes[ticket.request] = tick.number
                tick.outbox.stage("work", data=ticket)
        if tick.outbox.room_for_required() < 5:
            self.hp[1] += 1
        tick.outbox.stage("sound", required=True)

    def digests(self) -> dict[str, Any]:
        """Nested by unit."""
        results = StateHash().absorb_bytes(repr(self.results).encode())
        units = {n: {"hp": StateHash().absorb_i64(hp)} for n, hp in enumerate(self.hp)}
        return {"units": units, "results": results}


def session(speed: int = 3, **options: Any) -> Session[World]:
    return Session(World, speed, **{"buttons": ["jump"], **options})


def recorded(game: Session[World] | None = None, ticks: int = 12, **options: Any) -> str:
    """A run with input, messages, requests that find room and others that do not."""
    game = game or session(mailbox=Mailbox(1), outbox=Outbox(6))
    file, mailbox = io.StringIO(), game.mailbox
    kept: list[Any] = []
    with Recorder(file, game, **options) as recorder:
        for number in range(ticks):
            if number % 3 == 0:
                game.input.press("jump")
                game.post([number, "hop"])
                kept += [request.data for request in game.outbox.deliver() if request.data]
            else:
                game.input.release("jump")
            if number % 4 == 3 and kept:
                mailbox.submit(kept.pop(), [number, {"path": (1, float("nan"))}])
            elif number % 4 == 1 and kept:
                mailbox.submit_error(kept.pop(), TimeoutError("too long"))
            game.run_ticks(1)
    assert (game.fault, recorder.error) == (None, None)
    return file.getvalue()


def read(text: str) -> tuple[list[TickRecord], Recording]:
    recording = Recording(io.StringIO(text))
    return list(recording), recording


# Values.

_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.sampled_from([float("nan"), float("inf"), -0.0, 5e-324])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner)
    ),
    max_leaves=12,
)


def exactly(value: Any) -> Any:
    """The value as something that is equal only for the same types and bits."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [exactly(item) for item in value]
    if isinstance(value, dict):
        return "dict", [(key, exactly(item)) for key, item in value.items()]
    return type(value).__name__, struct.pack(">d", value) if type(value) is float else value


@given(_values)
def test_a_value_comes_back_as_the_same_type_with_the_same_bits(value: Any) -> None:
    assert exactly(decode(json.loads(json.dumps(encode(value), allow_nan=False)))) == exactly(value)


@given(_values)
def test_a_message_comes_back_through_a_file(value: Any) -> None:
    class Deaf(World):
        def step(self, input: Any, tick: Any) -> None: ...

    file, game = io.StringIO(), Session(Deaf)
    with Recorder(file, game):
        game.post(value)
        game.run_ticks(1)
    (record,), _ = read(file.getvalue())
    assert exactly(record.given.messages) == exactly((value,))


def test_types_that_compare_equal_are_told_apart() -> None:
    assert len({repr(exactly(value)) for value in (1, True, 1.0, "1", b"1", [1], (1,))}) == 7


@pytest.mark.parametrize(
    "written",
    [[], ["set", 1], [1, 2], ["bytes"], ["bytes", "7G"], ["bytes", "AA"], ["float", "7ff"], 1e999],
)
def test_what_is_no_value_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match=r"is no value|beyond every float|non-hexadecimal"):
        decode(written)


def test_the_deepest_value_fits_the_deepest_line() -> None:
    deep: Any = b"leaf"
    for _ in range(32):
        deep = (deep,)
    file, game = io.StringIO(), session()

    class Failing(World):
        def step(self, input: Any, tick: Any) -> None:
            raise KeyError

    game.activate(world=Failing())
    with Recorder(file, game, notes={"deep": deep}):
        game.post(deep)
        game.run_ticks(1)
    assert max(map(depth, file.getvalue().splitlines())) < DEEPEST
    _, recording = read(file.getvalue())
    assert recording.fault is not None
    assert recording.fault.given is not None
    assert recording.fault.given.messages == (deep,)
    with pytest.raises(ValueError, match="at most 32 levels"):
        game.post((deep,))


# Replays of a correct game.


def test_a_replay_of_the_same_game_is_equal() -> None:
    text = recorded()
    records, recording = read(text)
    assert (recording.missing, recording.reason) == ("", "closed")
    requests = [number for record in records for number in record.given.requests]
    assert {None, 1} <= set(requests), "some found room and some did not"
    assert any(record.given.completions for record in records)
    assert any(record.given.messages for record in records)
    assert any(record.given.outbox_room is not None for record in records)
    assert replay(Recording(io.StringIO(text)), session()) == Comparison(None, 12, 0, 0)


@pytest.mark.parametrize("options", [{"phases": True}, {"digests_every": 5}, {}])
def test_a_replay_names_the_tick_the_path_and_the_sides(options: dict[str, Any]) -> None:
    text = recorded(**options)
    found = replay(Recording(io.StringIO(text)), session(4)).divergence
    assert found is not None
    assert (found.tick, found.what, found.path) == (0, "digest", "units/0/hp")
    assert found.phase == ("Motion" if "phases" in options else "")
    assert str(found).split(": ", 1)[1].startswith("recording 0x")
    assert ", replay 0x" in str(found)


def test_the_outcome_of_a_recording_in_a_replay_is_recorded_to_the_same_bytes() -> None:
    text = recorded()
    game, file = session(outbox=Outbox(99)), io.StringIO()
    with Recorder(file, game):
        for record in Recording(io.StringIO(text)):
            given = record.given
            completions = tuple(
                done._replace(ticket=done.ticket._replace(world=game.world_id))
                for done in given.completions
            )
            game.replay_tick(given._replace(completions=completions))
            game.outbox.deliver()
    assert file.getvalue() == text


def test_a_recording_that_began_later_replays_equal_though_the_game_notes_its_requests() -> None:
    """Requests used to be numbered against the world's start, so such a game was blamed."""
    game = session(mailbox=Mailbox(9))
    game.mailbox.reserve("asked by the host")
    game.run_ticks(4)
    game.mailbox.reserve("asked by the host")
    saved, hp = game.state_dict(), list(game.world.hp)
    game.world.notes.clear()
    for completion in list(game.mailbox._slots.values()):
        game.mailbox.cancel(completion.ticket)
    text = recorded(game, ticks=9)
    assert read(text)[1].header.request_base == 4
    again = session()
    again.mailbox.reserve("another one of the host")
    again.restore(saved)
    again.world.hp = hp
    found = replay(Recording(io.StringIO(text)), again)
    assert found == Comparison(None, 9, 0, 0)


def test_a_request_of_the_host_between_ticks_is_no_divergence() -> None:
    game, file = session(mailbox=Mailbox(9)), io.StringIO()
    with Recorder(file, game):
        for number in range(6):
            game.run_ticks(1)
            game.mailbox.reserve("asked by the host")
            for request in game.outbox.deliver():
                if request.data and number % 4 == 0:
                    game.mailbox.submit(cast("Ticket", request.data), number)
    assert replay(Recording(io.StringIO(file.getvalue())), session()).divergence is None


def test_larger_capacities_and_more_actions_are_no_mismatch() -> None:
    text = recorded(session(mailbox=Mailbox(2), outbox=Outbox(64)))
    larger = session(
        buttons=["jump", "fire"], axes=["aim"], mailbox=Mailbox(99), outbox=Outbox(128)
    )
    assert replay(Recording(io.StringIO(text)), larger).divergence is None


def test_a_live_error_of_work_is_what_the_replay_gives() -> None:
    """A TimeoutError was one when it was live and a WorkFailed in the replay."""
    game = session()
    game.run_ticks(1)
    (work, _) = game.outbox.deliver()
    with ThreadPoolExecutor() as pool:
        game.mailbox.attach(cast("Ticket", work.data), pool.submit(int, "x"))
    game.run_ticks(1)
    assert game.world.results == [(0, "None", (False, True, "ValueError"))]
    game.run_ticks(1)
    (_, work, _) = game.outbox.deliver()
    game.mailbox.submit_error(cast("Ticket", work.data), cause := TimeoutError("slow"))
    (done,) = game.mailbox.take_batch()
    assert done.error is not None
    assert done.error.__cause__ is cause


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate": Rate(30)}, "the rate of the recording is Rate(60, 1), and this session's is"),
        ({"tick_length": 5}, "the tick length of the recording is 16666666"),
        ({"buttons": ["fire"]}, "the recording has the action 'jump'"),
    ],
)
def test_a_session_that_cannot_come_to_the_same_is_refused(
    options: dict[str, Any], words: str
) -> None:
    game = session(**options)
    with pytest.raises(ReplayMismatch) as caught:
        replay(Recording(io.StringIO(recorded())), game)
    assert words in str(caught.value)
    assert game.tick == 0


def test_a_session_at_another_tick_or_with_a_recorder_is_refused() -> None:
    game = session()
    recorder = Recorder(io.StringIO(), game)
    with pytest.raises(ReplayMismatch, match="is being recorded"):
        replay(Recording(io.StringIO(recorded())), game)
    assert recorder.recording
    recorder.close()
    game.run_ticks(1)
    with pytest.raises(ReplayMismatch, match="the first tick of the recording is 0"):
        replay(Recording(io.StringIO(recorded())), game)


def test_a_change_of_rate_is_replayed() -> None:
    class Timed(World):
        def step(self, input: Any, tick: Any) -> None:
            self.hp[0] += tick.step.dt + tick.step.sim_time

    def timed(*rates: Rate) -> Session[Timed]:
        return Session(Timed, buttons=["jump"], rates=rates)

    file, game = io.StringIO(), timed(Rate(24_000, 1001))
    with Recorder(file, game):
        game.run_ticks(2)
        game.set_rate(Rate(24_000, 1001))
        game.run_ticks(3)
    assert [record.given.rate for record in read(file.getvalue())[0]][2] == Rate(24_000, 1001)
    found = replay(Recording(io.StringIO(file.getvalue())), timed(Rate(24_000, 1001)))
    assert found == Comparison(None, 5, 0, 0)
    with pytest.raises(ReplayMismatch, match="rates="):
        replay(Recording(io.StringIO(file.getvalue())), timed())


def test_a_world_that_asks_for_more_than_it_did_is_named() -> None:
    class Asking(World):
        def step(self, input: Any, tick: Any) -> None:
            tick.enter("Motion")
            tick.enter("Gameplay")
            tick.reserve("more")
            tick.reserve("and more")

    found = replay(Recording(io.StringIO(recorded())), Session(Asking, buttons=["jump"]))
    assert found.divergence is not None
    assert (found.divergence.tick, found.divergence.what) == (0, "requests")


def test_any_frame_rate_gives_the_same_recording() -> None:
    class Plain(World):
        def step(self, input: Any, tick: Any) -> None:
            self.hp[0] -= 1

    texts = []
    for period in (3_000_000, 16_000_000, 50_000_000):
        game, file = Session(Plain), io.StringIO()
        with Recorder(file, game):
            now = 0
            while game.tick < 20:
                game.frame(Timestamp(now))
                now += period
        texts.append(file.getvalue().splitlines()[1:21])
    assert texts[0] == texts[1] == texts[2]


# Comparing.


def run_of(*digests: int, start: int = 0, **given: Any) -> list[TickRecord]:
    return [
        TickRecord(RecordedTick(number, NEUTRAL, **given), root_digest({"x": d}), {"x": d})
        for number, d in enumerate(digests, start)
    ]


@pytest.mark.parametrize(
    ("ticks", "words"),
    [([1, 2, 1, 2], "tick 1 of the second run comes after tick 2"), ([1, 1], "tick 1 .* twice")],
)
def test_ticks_out_of_order_are_an_error_that_names_the_tick(ticks: list[int], words: str) -> None:
    """A real difference was passed over there."""
    disordered = [run_of(5, start=tick)[0] for tick in ticks]
    with pytest.raises(ValueError, match=words):
        compare(run_of(5, 5, 5, 5, start=1), disordered)
    with pytest.raises(ValueError, match=words.replace("second", "first")):
        compare(disordered, run_of(5, 5, 5, 5, start=1))


def test_runs_are_compared_where_both_have_ticks() -> None:
    assert compare(run_of(1, 2, 3), run_of(1, 2)) == Comparison(None, 2, 1, 0)
    assert compare(run_of(1, 2, 3), run_of(2, 3, 4, start=1)) == Comparison(None, 2, 1, 1)
    assert compare(run_of(1), run_of(1, start=7)) == Comparison(None, 0, 1, 1)
    found = compare(run_of(1, 2, 3), run_of(2, 4, start=1)).divergence
    assert found is not None
    assert (found.tick, found.path, found.first, found.second) == (2, "x", 3, 4)


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ({"messages": (1,)}, {"messages": (True,)}, "messages"),
        ({"messages": ((1,),)}, {"messages": ([1],)}, "messages"),
        ({"requests": (1, None)}, {"requests": (1, 2)}, "requests"),
        ({"requests": (None,), "closed": True}, {"requests": (None,)}, "requests"),
        ({"rate": Rate(60)}, {}, "rate"),
    ],
)
def test_what_was_given_is_named_before_what_follows_from_it(
    one: dict[str, Any], other: dict[str, Any], what: str
) -> None:
    found = compare(run_of(1, **one), run_of(2, **other)).divergence
    assert found is not None
    assert found.what == what
    assert found.first != found.second
    nan: dict[str, Any] = {"messages": (float("nan"),)}
    assert compare(run_of(1, **nan), run_of(1, **nan)).divergence is None


def test_the_room_of_the_outbox_is_a_cause_and_no_difference() -> None:
    assert compare(run_of(1, outbox_room=3), run_of(1)).divergence is None
    found = compare(run_of(1, outbox_room=3), run_of(2)).divergence
    assert found is not None
    assert (found.what, found.first, found.second) == ("outbox_room", "3", "all")


class Run(list[TickRecord]):
    """Ticks, and the fault that ended them."""

    def __init__(self, ticks: Iterable[TickRecord], *fault: Any) -> None:
        super().__init__(ticks)
        self.fault = FaultRecord(*fault) if fault else None


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Run(run_of(1), 1, "Motion", "KeyError"), Run(run_of(1), 1, "Motion", "KeyError"), None),
        (Run(run_of(1), 1, "Motion", "KeyError"), Run(run_of(1)), None),
        (Run(run_of(1), 1, "Motion", "KeyError"), Run(run_of(1, 2)), "KeyError in Motion"),
        (Run(run_of(1, 2)), Run(run_of(1), 1, "", "KeyError"), "no fault"),
        (Run(run_of(1), 1, "A", "KeyError"), Run(run_of(1), 1, "A", "OSError"), "KeyError in A"),
    ],
)
def test_a_fault_parts_a_run_from_one_that_got_through(
    one: Run, other: Run, expected: str | None
) -> None:
    found = compare(one, other).divergence
    assert (None if found is None else found.first) == expected


def test_of_a_long_text_what_is_around_the_difference_is_shown() -> None:
    one, other = format_sides("a" * 5000 + "x" + "b" * 5000, "a" * 5000 + "y" + "b" * 5000)
    assert ("x" in one, "y" in other) == (True, True)
    assert max(len(one), len(other)) < 500


def test_a_header_with_70_000_names_does_not_make_each_tick_slow() -> None:
    """220 seconds of processor for a megabyte, when each tick checked and sorted all names."""
    names = [f"a{number:05}" for number in range(70_000)]
    file, game = io.StringIO(), Session(World, buttons=[*names, "jump"])
    with Recorder(file, game):
        game.run_ticks(1)
    head, tick, *_ = file.getvalue().splitlines(keepends=True)
    line = json.loads(tick)
    small = {"tick": 0, "input": {}, "root": f"0x{root_digest({'x': 1}):016x}"}
    ticks = "".join(
        json.dumps(small | {"tick": n, "digests": {"x": f"0x{1:016x}"}}) + "\n" for n in range(8242)
    )
    assert line["input"] == {}
    text = head + ticks
    started = time.process_time()
    found = compare(Recording(io.StringIO(text)), Recording(io.StringIO(text)))
    assert found == Comparison(None, 8242, 0, 0)
    assert time.process_time() - started < 20, (
        "about 0.4 s; a tick that touches all names takes 220"
    )


# Damage.


def test_one_changed_bit_anywhere_is_noticed() -> None:
    """51 of 1,474 passed unseen."""
    text = recorded(ticks=5, notes={"seed": 42})
    noticed = 0
    for place in range(8 * len(text)):
        changed = bytearray(text.encode())
        changed[place // 8] ^= 1 << place % 8
        try:
            recording = Recording(io.BytesIO(bytes(changed)))
            for _ in recording:
                pass
        except RecordingError:
            noticed += 1
        else:
            noticed += bool(recording.missing)
    assert noticed == 8 * len(text) > 8000


def test_a_recording_cut_at_any_byte_is_read_up_to_its_last_whole_tick() -> None:
    text = recorded(ticks=4)
    ends = [0]
    for line in text.splitlines(keepends=True):
        ends.append(ends[-1] + len(line))
    for size in range(len(text)):
        whole = sum(size >= end - 1 for end in ends[1:])
        if not whole:
            with pytest.raises(RecordingError, match="line 1: the file is empty or ends within"):
                read(text[:size])
            continue
        records, recording = read(text[:size])
        assert len(records) == min(whole - 1, 4)
        assert bool(recording.missing) == (whole < 6)


LINES = recorded(ticks=3, notes={"seed": 42}).splitlines()


def edited(number: int, **changes: Any) -> str:
    line = json.loads(LINES[number])
    for name, value in changes.items():
        line.pop(name, None)
        if value is not ...:
            line[name] = value
    return json.dumps(line)


DAMAGE = [
    (0, "hello", "'hello' is not JSON"),
    (0, "[]", "looked for a header with the format 'fixedstep-recording', found []"),
    (0, edited(0, format="fixedstep-trace"), "traces go to `fixedstep verify`"),
    (0, edited(0, version=2), "version must be 1, not 2"),
    (0, edited(0, notes=...), "a header has axes, buttons"),
    (0, edited(0, speed=1), "a header has axes, buttons"),
    (0, edited(0, rate=[60]), "rate must be ticks and seconds"),
    (0, edited(0, rate=[60, 0]), "rate must be a whole number of seconds in 1"),
    (0, edited(0, tick_length=-5), "tick_length must be a whole number of nanoseconds in 0"),
    (0, edited(0, first_tick=True), "first_tick must be a whole number"),
    (0, edited(0, digests_every=0), "digests_every must be a whole number in 1"),
    (0, edited(0, buttons=["b", "a"]), "buttons must be in name order"),
    (0, edited(0, axes=["jump"]), "actions must differ, not 'jump' twice"),
    (0, edited(0, phases=["A", "A"]), "phases must be a list of different names"),
    (0, edited(0, notes={"": 1}), "notes must be an object of names"),
    (0, edited(0, notes={"a": [1]}), "is no value"),
    (1, "7", "7 is no line of a recording"),
    (1, "[" * 65 + "]" * 65, "nested deeper than 64"),
    (1, edited(1, root=...), "a tick has digests, input, root, tick"),
    (1, edited(1, digests=...), "a tick has digests"),
    (1, edited(1, speed=1), "a tick has digests"),
    (1, edited(1, phases={}), "a tick has digests"),
    (1, edited(1, tick=5), "is tick 5, but 0 comes here"),
    (1, edited(1, tick=1.0), "tick must be a whole number"),
    (1, edited(1, input={"fire": [1, 0, 0, 0, 0]}), "'fire' is none of the actions"),
    (1, edited(1, input={"jump": [2, 0, 0, 0, 0]}), "'jump' must have held"),
    (1, edited(1, root="0x0123456789abcdef"), "root is not the digest of digests"),
    (1, edited(1, root="0x12"), "root must be a string of 0x"),
    (1, edited(1, digests={"": "0x0123456789abcdef"}), "digests must be digests by name"),
    (1, edited(1, digests={"x": 5}), "'x' in digests must be a string of 0x"),
    (1, edited(1, messages=7), "messages must be a list, not 7"),
    (1, edited(1, messages=[[7]]), "is no value"),
    (1, edited(1, messages=[2**64]), "a message must be an integer of 64 bits"),
    (1, edited(1, messages=["\ud800"]), "must be text that UTF-8 can hold"),
    (1, edited(1, completions=[[1, 2]]), "a completion has a request"),
    (1, edited(1, completions=[[1, 2, 3, 4, "E"]]), "a completion has a request"),
    (1, edited(1, requests=[0]), "the number of a request must be a whole number in 1"),
    (1, edited(1, closed=False), "closed must be true"),
    (1, edited(1, outbox_room=-1), "outbox_room must be a whole number"),
    (1, edited(1, rate=[0, 1]), "rate must be a whole number of ticks in 1"),
    (4, edited(4, end={"ticks": 3}), "the end has reason, ticks"),
    (4, edited(4, end={"ticks": 4, "reason": ""}), "ended after 4 ticks, but 3 are here"),
    (4, edited(4, end={"ticks": 3, "reason": 1}), "reason must be a text"),
    (4, edited(4, end={"ticks": 3, "reason": "", "given": {}}), "given needs a fault"),
    (4, edited(4, end={"ticks": 3, "reason": "", "fault": [1]}), "a fault has a phase"),
    (4, edited(4, digest=...), "the end has digest, end"),
    (4, edited(4), "must end with a digest"),
    (4, LINES[4].replace("closed", "closer"), "the file was changed; restore it"),
]


@pytest.mark.parametrize(("number", "line", "words"), DAMAGE)
def test_what_is_not_exactly_a_recording_is_refused_with_its_line(
    number: int, line: str, words: str
) -> None:
    lines = [*LINES[:number], line, *LINES[number + 1 :]]
    with pytest.raises(RecordingError) as caught:
        read("\n".join(lines) + "\n")
    assert f"the recording, line {number + 1}: " in str(caught.value)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


def test_what_follows_the_end_is_refused_and_a_recording_is_read_once() -> None:
    text = "\n".join(LINES) + "\n"
    with pytest.raises(RecordingError, match="line 6: comes after the end"):
        read(text + "{}\n")
    _, recording = read(text)
    with pytest.raises(RuntimeError, match="was read already"):
        iter(recording)


def test_bytes_text_and_paths_are_read_alike(tmp_path: Any) -> None:
    text = "\n".join(LINES) + "\n"
    path = tmp_path / "run.rec"
    path.write_text(text)
    with path.open("rb") as binary, Recording(path) as opened:
        runs = [Recording(io.StringIO(text)), Recording(binary), opened]
        assert [compare(run, read(text)[0]).compared for run in runs] == [3, 3, 3]
    path.write_text(text.replace("\n", "\r\n"), newline="")
    assert len(list(Recording(path))) == 3


def test_a_long_recording_is_read_a_line_at_a_time() -> None:
    class Endless:
        """A header, and ticks for ever."""

        number = -1

        def readline(self, size: int) -> str:
            self.number += 1
            if not self.number:
                return LINES[0] + "\n"
            return LINES[1].replace('"tick":0', f'"tick":{self.number - 1}') + "\n"

    recording = Recording(Endless())  # type: ignore[arg-type]
    for record in recording:
        if record.tick == 5000:
            break
    assert recording.ticks == 5001
