"""Input on its way from frames to ticks: nothing lost, nothing seen twice, nothing leaked.

The D cases are faults that people reported in other engines, with their numbers; they run a real
`FrameLoop` over the frames, so that the ticks a frame has are the schedule's and not this file's.
"""

from __future__ import annotations

import copy
import json
import pickle
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameLoop, Rate, StateHash, StepBudget, Timestamp, Timestep
from fixedstep.sim.input_bridge import (
    CANCEL,
    PRESS,
    RELEASE,
    ActionState,
    InputBridge,
    TickInput,
    Transition,
    TransitionOverflow,
    TransitionQueue,
)
from fixedstep.sim.tick_input import REST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fixedstep.sim.input_bridge import Sample

HZ_60 = 16_666_667
U32_MAX = 2**32 - 1
HELD = ActionState(held=True)
HALF: Any = 0.5


def run_frames(
    loop: FrameLoop, bridge: InputBridge, frames: Sequence[tuple[int, Sample]]
) -> list[list[TickInput]]:
    """The inputs of the ticks of each frame."""
    ticks = []
    for now, sample in frames:
        bridge.sample(sample)
        ticks.append([bridge.take() for _ in loop.begin_frame(Timestamp(now)).steps()])
    return ticks


def seen(ticks: list[list[TickInput]], action: str = "jump") -> list[tuple[int, int, bool]]:
    """Pressed, released and held, tick by tick."""
    return [(t[action].pressed, t[action].released, t[action].held) for row in ticks for t in row]


# What a tick sees.


def test_a_press_and_its_release_in_frames_without_a_tick_are_seen_by_the_next_tick() -> None:
    """D01: at 120 frames and 30 ticks a second, three presses in four were never seen."""
    frames: list[tuple[int, Sample]] = [
        (8_333_333 * i, sample)
        for i, sample in enumerate(
            [{"jump": PRESS}, {"jump": HELD}, {"jump": RELEASE}, {"jump": REST}, {"jump": REST}], 1
        )
    ]
    ticks = run_frames(
        FrameLoop(Timestep(33_333_333), start=Timestamp(0)), InputBridge(["jump"]), frames
    )
    assert [len(row) for row in ticks] == [0, 0, 0, 0, 1]
    assert seen(ticks) == [(1, 1, False)]


def test_no_tick_after_it_sees_the_edge_again() -> None:
    """D01, the other half."""
    bridge = InputBridge(["jump"])
    bridge.sample([("jump", PRESS), ("jump", RELEASE)])
    assert [bridge.take()["jump"] for _ in range(3)] == [
        ActionState(pressed=1, released=1),
        REST,
        REST,
    ]


def test_two_ticks_in_a_frame_move_a_menu_by_one_row() -> None:
    """D02: "just pressed" was true in both, and the cursor went two rows down."""
    loop = FrameLoop(Timestep(HZ_60), start=Timestamp(0))
    ticks = run_frames(loop, InputBridge(["jump"]), [(33_333_334, {"jump": PRESS})])
    assert seen(ticks) == [(1, 0, True), (0, 0, True)]
    assert sum(pressed for pressed, _, _ in seen(ticks)) == 1


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([PRESS, RELEASE], (1, 1, False)),
        ([PRESS, RELEASE, PRESS], (2, 1, True)),
        ([RELEASE, PRESS, RELEASE], (1, 2, False)),
    ],
)
def test_a_press_and_release_within_a_frame_do_not_cancel_out(
    events: list[ActionState], expected: tuple[int, int, bool]
) -> None:
    """D03: a quick tap did nothing."""
    sample = [("jump", event) for event in events]
    ticks = run_frames(
        FrameLoop(Timestep(HZ_60), start=Timestamp(0)), InputBridge(["jump"]), [(HZ_60, sample)]
    )
    assert seen(ticks) == [expected]


def test_a_tap_spread_over_frames_without_a_tick_is_one_tap() -> None:
    """D04: the same above 60 frames a second."""
    frames: list[tuple[int, Sample]] = [
        (4_000_000, {"jump": PRESS}),
        (8_000_000, {"jump": RELEASE}),
        (16_666_667, {"jump": REST}),
    ]
    ticks = run_frames(
        FrameLoop(Timestep(HZ_60), start=Timestamp(0)), InputBridge(["jump"]), frames
    )
    assert [len(row) for row in ticks] == [0, 0, 1]
    assert seen(ticks) == [(1, 1, False)]


def test_dropped_steps_consume_nothing_and_repeat_nothing() -> None:
    """D06: eleven steps due, three run; the press belongs to the first of the three."""
    loop, bridge = (
        FrameLoop(Timestep(HZ_60), StepBudget(3), start=Timestamp(0)),
        InputBridge(["jump"]),
    )
    bridge.sample({"jump": PRESS})
    plan = loop.begin_frame(Timestamp(200_000_000))
    assert (plan.step_count, plan.dropped, plan.remainder) == (3, 8, 16_666_663)
    assert [bridge.take()["jump"].pressed for _ in plan.steps()] == [1, 0, 0]


def test_catch_up_ticks_reuse_held_and_axis_values() -> None:
    bridge = InputBridge(["jump", "move"])
    bridge.sample({"jump": PRESS, "move": ActionState(axis=-700)})
    ticks = [bridge.take() for _ in range(4)]
    assert [tick["jump"].held for tick in ticks] == [True] * 4
    assert [tick["move"].axis for tick in ticks] == [-700] * 4
    assert [tick["jump"].pressed for tick in ticks] == [1, 0, 0, 0]


def test_a_held_key_is_given_out_without_being_built_again() -> None:
    """An input is immutable, so ticks that see the same can see the same object."""
    bridge = InputBridge(["jump"])
    bridge.sample({"jump": PRESS})
    first, second, third = bridge.take(), bridge.take(), bridge.take()
    assert second is third
    assert second is not first
    bridge.sample({"jump": HELD})
    assert bridge.take() is third
    bridge.sample({"jump": RELEASE})
    assert bridge.take()["jump"] == ActionState(released=1)


def test_an_action_the_interface_consumed_does_not_reach_the_game() -> None:
    """It is left out of the sample; what the game had of it stays."""
    bridge = InputBridge(["jump", "fire"])
    bridge.sample({"fire": PRESS})
    taken = bridge.take()
    assert (taken["fire"], taken["jump"]) == (PRESS, REST)
    bridge.sample({})
    assert bridge.take()["fire"] == HELD


def test_edge_counts_stop_at_their_end_and_do_not_wrap() -> None:
    bridge = InputBridge(["jump"])
    for _ in range(2):
        bridge.sample({"jump": ActionState(pressed=U32_MAX, released=U32_MAX - 1)})
    assert bridge.take()["jump"] == ActionState(pressed=U32_MAX, released=U32_MAX)


# Cancelling, and the gate.


def test_a_cancel_does_not_invent_a_release() -> None:
    bridge = InputBridge(["jump"])
    bridge.sample({"jump": PRESS})
    assert bridge.take()["jump"].held
    bridge.cancel()
    assert bridge.take()["jump"] == CANCEL
    assert CANCEL.released == 0
    assert bridge.take()["jump"] == REST


def test_a_cancel_clears_a_press_that_no_tick_has_seen() -> None:
    bridge = InputBridge(["jump"])
    bridge.sample({"jump": PRESS})
    bridge.cancel()
    assert bridge.take()["jump"].pressed == 0


def test_a_sample_that_is_cancelled_cancels_and_is_nothing_else() -> None:
    """A device that went away reports so, and whatever else its last report held is void."""
    bridge = InputBridge(["jump", "fire"])
    bridge.sample({"jump": PRESS, "fire": PRESS})
    bridge.sample({"jump": ActionState(held=True, axis=5, pressed=3, cancelled=True)})
    taken = bridge.take()
    assert taken["jump"] == CANCEL
    assert taken["fire"] == PRESS
    assert bridge.shut == {"jump"}


def test_a_key_held_through_a_cancel_is_ignored_until_it_was_let_go() -> None:
    bridge = InputBridge(["jump"])
    bridge.sample({"jump": PRESS})
    bridge.cancel()
    for still_down in (HELD, PRESS, ActionState(axis=1), ActionState(held=True, pressed=1)):
        bridge.sample({"jump": still_down})
    assert bridge.take()["jump"] == CANCEL
    bridge.sample({"jump": RELEASE})
    assert bridge.take()["jump"] == REST, "the sample that opens the gate is not used itself"
    bridge.sample({"jump": PRESS})
    assert bridge.take()["jump"] == PRESS


def test_a_deflected_stick_keeps_its_gate_shut() -> None:
    bridge = InputBridge(["move"])
    bridge.cancel("move")
    for axis, shut in ((700, True), (1, True), (0, False)):
        bridge.sample({"move": ActionState(axis=axis)})
        assert (bridge.shut == {"move"}) is shut
    bridge.sample({"move": ActionState(axis=300)})
    assert bridge.take()["move"] == ActionState(axis=300, cancelled=True)


def test_each_action_has_its_own_gate() -> None:
    bridge = InputBridge(["jump", "fire"])
    bridge.cancel()
    bridge.sample({"jump": REST, "fire": HELD})
    bridge.sample({"jump": PRESS, "fire": HELD})
    taken = bridge.take()
    assert (taken["jump"].held, taken["fire"].held) == (True, False)


def test_a_cancel_of_one_action_leaves_the_others() -> None:
    bridge = InputBridge(["jump", "fire"])
    bridge.sample({"jump": PRESS, "fire": PRESS})
    bridge.cancel("jump")
    assert bridge.take()["jump"] == CANCEL
    assert bridge.shut == {"jump"}
    assert bridge.take()["fire"].held


def test_a_cancel_of_an_unknown_action_cancels_nothing() -> None:
    bridge = InputBridge(["jump"])
    bridge.sample({"jump": PRESS})
    with pytest.raises(ValueError, match="'run' is no action of this bridge, which has jump"):
        bridge.cancel("jump", "run")
    assert bridge.take()["jump"] == PRESS


def test_a_cancelled_edge_waits_for_a_tick_as_others_do() -> None:
    bridge = InputBridge(["jump"])
    bridge.cancel()
    for sample in (REST, PRESS, RELEASE):
        bridge.sample({"jump": sample})
    assert bridge.take()["jump"] == ActionState(pressed=1, released=1, cancelled=True)


# Bad input.


@pytest.mark.parametrize(
    ("sample", "kind", "text"),
    [
        ({"run": PRESS}, ValueError, "'run' is no action of this bridge, which has jump, move"),
        ({3: PRESS}, ValueError, "3 is no action"),
        ({"jump": True}, TypeError, "state of 'jump' must be an ActionState, not bool True"),
        ({"move": ActionState(axis=HALF)}, TypeError, r"thousandths.*float 0\.5; round\(value"),
        ({"move": ActionState(axis=2**31)}, OverflowError, "axis of 'move'.*not 2147483648"),
        ({"jump": ActionState(held=HALF)}, TypeError, "held of 'jump' must be True or False"),
        ({"jump": ActionState(pressed=-1)}, OverflowError, "pressed of 'jump'"),
        ({"jump": ActionState(released=2**32)}, OverflowError, "released of 'jump'"),
        ({"jump": ActionState(cancelled=HALF)}, TypeError, "cancelled of 'jump'"),
        ("jump", TypeError, "a sample must be a mapping from actions to states"),
        (None, TypeError, "not NoneType None"),
        ([("jump", PRESS, 3)], TypeError, "a sample must be"),
    ],
)
def test_a_bad_sample_says_so_and_changes_nothing(
    sample: Any, kind: type[Exception], text: str
) -> None:
    bridge = InputBridge(["jump", "move"])
    bridge.sample({"move": ActionState(axis=3)})
    if isinstance(sample, dict):  # the good half before the bad one must not be taken in either
        sample = [("move", ActionState(axis=9)), *sample.items()]
    with pytest.raises(kind, match=text):
        bridge.sample(sample)
    assert bridge.take() == TickInput({"jump": REST, "move": ActionState(axis=3)})


@pytest.mark.parametrize(
    ("actions", "kind", "text"),
    [
        ("jump", TypeError, "the names of all actions, not str 'jump'"),
        (None, TypeError, "not NoneType"),
        ([3], TypeError, "an action must be a str, not int 3"),
        ([""], ValueError, "must have a name"),
        (["a", "b", "a"], ValueError, "'a' twice"),
        (["\ud800"], ValueError, "UTF-8"),
    ],
)
def test_bad_actions_are_refused(actions: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        InputBridge(actions)
    with pytest.raises(kind, match=text):
        TickInput.neutral(actions)


def test_an_integer_of_another_kind_is_taken() -> None:
    class Whole:
        def __index__(self) -> int:
            return 7

    bridge = InputBridge(["move"])
    bridge.sample({"move": ActionState(axis=Whole())})  # type: ignore[arg-type]
    axis = bridge.take()["move"].axis
    assert (axis, type(axis)) == (7, int)


# The value.

EXAMPLES = [
    TickInput.neutral(["jump", "move"]),
    *(
        TickInput({"jump": state, "move": REST})
        for state in (PRESS, RELEASE, CANCEL, HELD, ActionState(axis=1), ActionState(pressed=2))
    ),
    TickInput({"jump": REST, "move": PRESS}),
    TickInput({"jump": REST, "run": REST}),
    TickInput({"jump": REST}),
    TickInput({"jump": REST, "move": REST}, [Transition("text", 97)]),
    TickInput({"jump": REST, "move": REST}, [Transition("text", 98)]),
    TickInput({"jump": REST, "move": REST}, [Transition("text", 97), Transition("text", 98)]),
    TickInput({"jump": REST, "move": REST}, [Transition("text", 98), Transition("text", 97)]),
]


def digest(value: TickInput) -> int:
    return value.absorb_into(StateHash()).finish()


def test_inputs_are_equal_hashed_and_digested_by_value() -> None:
    for first, second in permutations(EXAMPLES, 2):
        assert first != second
        assert digest(first) != digest(second)
    for value in EXAMPLES:
        twin = TickInput(dict(value), value.transitions)
        assert twin is not value
        assert (twin, hash(twin), digest(twin)) == (value, hash(value), digest(value))
        assert value != dict(value)
    assert len(set(EXAMPLES)) == len(EXAMPLES)


def test_the_order_in_which_a_game_lists_its_actions_is_no_part_of_a_digest() -> None:
    one = TickInput({"jump": PRESS, "move": ActionState(axis=3)})
    other = TickInput({"move": ActionState(axis=3), "jump": PRESS})
    assert list(one) == list(other) == ["jump", "move"]
    assert digest(one) == digest(other)


def test_the_digest_is_what_its_documentation_says() -> None:
    value = TickInput({"né": ActionState(True, -5, 2, 1, True)}, [Transition("t", -9)])
    by_hand = (
        (1).to_bytes(8, "little")
        + (3).to_bytes(8, "little")
        + "né".encode()
        + (1).to_bytes(4, "little")
        + (-5).to_bytes(8, "little", signed=True)
        + b"".join(number.to_bytes(4, "little") for number in (2, 1, 1))
        + (1).to_bytes(8, "little")
        + (1).to_bytes(8, "little")
        + b"t"
        + (-9).to_bytes(8, "little", signed=True)
    )
    assert digest(value) == StateHash().absorb_bytes(by_hand).finish()


@pytest.mark.parametrize("value", EXAMPLES, ids=repr)
def test_an_input_survives_json_pickle_copy_and_its_own_repr(value: TickInput) -> None:
    written = json.loads(json.dumps(value.plain()))
    assert TickInput.from_plain(value, written) == value
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.copy(value) is copy.deepcopy(value) is value
    assert eval(repr(value)) == value


def test_a_neutral_input_is_written_as_nothing() -> None:
    neutral = TickInput.neutral(["jump", "move"])
    assert neutral.is_neutral
    assert neutral.plain() == {}
    assert [value.is_neutral for value in EXAMPLES].count(True) == 3


def test_an_input_cannot_be_changed() -> None:
    value = TickInput({"jump": PRESS})
    with pytest.raises(AttributeError, match="cannot be changed"):
        value._states = {}
    with pytest.raises(AttributeError, match="stays"):
        del value._states
    with pytest.raises(TypeError, match="item assignment"):
        value["jump"] = REST  # type: ignore[index]
    with pytest.raises(KeyError, match="'run' is none of the actions jump"):
        value["run"]
    states = {"jump": PRESS}
    made = TickInput(states)
    states["jump"] = REST
    assert made["jump"] == PRESS


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        {"actions": []},
        {"more": 1},
        {"transitions": {}},
        {"actions": {"run": [0, 0, 0, 0, 0]}},
        {"actions": {"jump": [0, 0, 0, 0]}},
        {"actions": {"jump": [2, 0, 0, 0, 0]}},
        {"actions": {"jump": [0, 0, 0, 0, 2]}},
        {"actions": {"jump": [0, 2**31, 0, 0, 0]}},
        {"actions": {"jump": [0, 0, -1, 0, 0]}},
        {"actions": {"jump": [True, 0, 0, 0, 0]}},
        {"actions": {"jump": "11000"}},
        {"transitions": [["text"]]},
        {"transitions": [["text", None]]},
        {"transitions": [[3, 3]]},
        {"transitions": [["", 3]]},
        {"transitions": [["text", 2**63]]},
    ],
)
def test_a_damaged_plain_form_is_a_value_error(damaged: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        TickInput.from_plain(["jump"], damaged)


# Ordered input.


def push_all(queue: TransitionQueue, text: str) -> None:
    for character in text:
        queue.push(Transition("text", ord(character)))


def text_of(transitions: Sequence[Transition]) -> str:
    return "".join(chr(value) for _, value in transitions)


def test_ordered_input_keeps_each_repetition_and_goes_to_the_oldest_tick() -> None:
    """What the counts of edges give up on purpose: that it was a, a, b and not b, a, a."""
    bridge = InputBridge(["jump"], TransitionQueue(8))
    assert bridge.transitions is not None
    push_all(bridge.transitions, "aab")
    ticks = [bridge.take() for _ in range(3)]
    assert [text_of(tick.transitions) for tick in ticks] == ["aab", "", ""]
    push_all(bridge.transitions, "c")
    assert text_of(bridge.take().transitions) == "c", "also after an input that was given out twice"


@pytest.mark.parametrize(
    ("overflow", "kept"), [("drop_newest", "abc"), ("drop_oldest", "cde"), ("fault", "abc")]
)
def test_a_full_queue_does_what_its_policy_says_and_counts(overflow: Any, kept: str) -> None:
    queue = TransitionQueue(3, overflow)
    push_all(queue, "abc")
    assert (queue.dropped, len(queue)) == (0, 3)
    for character in "de":
        if overflow == "fault":
            with pytest.raises(TransitionOverflow, match="3 are waiting for a tick"):
                push_all(queue, character)
        else:
            push_all(queue, character)
    assert (queue.dropped, queue.capacity, queue.overflow) == (2, 3, overflow)
    assert text_of(queue.take()) == kept
    push_all(queue, "f")
    assert text_of(queue.take()) == "f"


def test_a_cancel_clears_ordered_input_and_counts_it() -> None:
    bridge = InputBridge(["jump"], TransitionQueue(8))
    queue = bridge.transitions
    assert queue is not None
    push_all(queue, "ab")
    bridge.cancel("jump")
    assert len(queue) == 2, "one action was cancelled, not the text"
    bridge.cancel()
    assert (len(queue), queue.cleared, bridge.take().transitions) == (0, 2, ())


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: TransitionQueue(0), ValueError, "capacity must be .* at least 1, not 0"),
        (lambda: TransitionQueue(1.5), TypeError, "not float 1.5"),  # type: ignore[arg-type]
        (lambda: TransitionQueue(3, "wrap"), ValueError, "'drop_oldest', not 'wrap'"),  # type: ignore[arg-type]
        (lambda: InputBridge([], []), TypeError, "must be a TransitionQueue"),  # type: ignore[arg-type]
        (lambda: TransitionQueue().push(("a", 1)), TypeError, "a Transition, not tuple"),  # type: ignore[arg-type]
        (lambda: TransitionQueue().push(Transition("a", 2**63)), OverflowError, "value of 'a'"),
        (lambda: TransitionQueue().push(Transition("a", 0.5)), TypeError, "float 0.5"),  # type: ignore[arg-type]
        (lambda: TransitionQueue().push(Transition("", 1)), ValueError, "must have a name"),
    ],
)
def test_bad_ordered_input_is_refused(
    make: Callable[[], object], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        make()


# Any frames, any splits.

STATES = st.sampled_from([REST, PRESS, RELEASE, HELD, ActionState(axis=9), ActionState(pressed=3)])


@given(st.lists(st.tuples(STATES, st.integers(0, 5)), min_size=1, max_size=40))
def test_every_edge_is_seen_exactly_once_whatever_the_frames(
    frames: list[tuple[ActionState, int]],
) -> None:
    """Conservation: what was sampled is what ticks saw, plus what still waits."""
    bridge = InputBridge(["jump"])
    pressed = released = 0
    for state, ticks in frames:
        bridge.sample({"jump": state})
        rows = [bridge.take()["jump"] for _ in range(ticks)]
        assert all((row.held, row.axis) == (state.held, state.axis) for row in rows)
        assert not any(row.pressed or row.released or row.cancelled for row in rows[1:])
        pressed += sum(row.pressed for row in rows)
        released += sum(row.released for row in rows)
    rest = bridge.take()["jump"]
    assert pressed + rest.pressed == sum(state.pressed for state, _ in frames)
    assert released + rest.released == sum(state.released for state, _ in frames)


def test_the_same_taps_are_seen_at_every_frame_rate() -> None:
    """A tap every 50 ms for two seconds at 60 ticks a second, at frame rates from 20 to 1000."""
    totals = {}
    for fps in (20, 30, 59, 60, 144, 1000):
        loop, bridge = FrameLoop(Rate(60), StepBudget(5), start=Timestamp(0)), InputBridge(["jump"])
        taps = ticks = 0
        for frame in range(1, 2 * fps + 1):
            now = frame * 10**9 // fps
            before = (frame - 1) * 10**9 // fps
            events = [
                ("jump", state)
                for _ in range(now // 50_000_000 - before // 50_000_000)
                for state in (PRESS, RELEASE)
            ]
            bridge.sample(events)
            for _ in loop.begin_frame(Timestamp(now)).steps():
                taps += bridge.take()["jump"].pressed
                ticks += 1
        totals[fps] = taps, ticks
    assert totals == dict.fromkeys(totals, (40, 120))


def test_a_copy_of_a_bridge_is_a_snapshot() -> None:
    """It used to share the edges: what was taken from the copy was missing in the original."""
    bridge = InputBridge(["jump", "run"], TransitionQueue(4))
    bridge.sample([("jump", PRESS)])
    bridge.cancel("run")
    assert bridge.transitions is not None
    bridge.transitions.push(Transition("text", 97))
    copied = copy.copy(bridge)
    assert copied.shut == bridge.shut == {"run"}
    taken = copied.take()
    assert (taken["jump"].pressed, taken["run"].cancelled, len(taken.transitions)) == (1, True, 1)
    copied.sample([("run", REST)])
    assert bridge.shut == {"run"}
    assert not copied.shut
    assert bridge.take() == taken
    assert bridge.take()["jump"].pressed == 0


def test_a_copied_queue_keeps_its_bound_and_its_counts() -> None:
    queue = TransitionQueue(1, overflow="drop_newest")
    for character in "ab":
        queue.push(Transition("text", ord(character)))
    copied = copy.copy(queue)
    copied.push(Transition("text", 99))
    assert (queue.dropped, copied.dropped) == (1, 2)
    assert copied.take() == queue.take() == (Transition("text", 97),)


def test_an_error_of_a_sample_that_is_a_generator_comes_through() -> None:
    def broken() -> Any:
        yield "jump", PRESS
        raise ValueError("the driver said no")

    bridge = InputBridge(["jump"])
    with pytest.raises(ValueError, match="the driver said no"):
        bridge.sample(broken())
    assert bridge.take().is_neutral
    for wrong in ([("jump",)], ["jp"], 5, "jump", [5]):
        with pytest.raises(TypeError, match="a sample must be a mapping"):
            bridge.sample(wrong)  # type: ignore[arg-type]


def test_cancelling_a_list_of_names_is_refused_as_no_action() -> None:
    bridge = InputBridge(["jump"])
    with pytest.raises(ValueError, match="is no action of this bridge"):
        bridge.cancel(["jump"])  # type: ignore[arg-type]


def test_a_queue_faults_at_the_65th_unless_told_otherwise() -> None:
    queue = TransitionQueue()
    for number in range(64):
        queue.push(Transition("key", number))
    with pytest.raises(TransitionOverflow):
        queue.push(Transition("key", 64))
    assert len(queue) == 64
