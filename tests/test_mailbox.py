"""Results of background work: who gets in, what is applied, and where the rest went.

The first part is about single calls, in one thread. The second has real threads, with a switch
interval so short that they interleave within calls; what it checks is the books and an owner's
diary, never the time.
"""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import random
import sys
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep.sim import mailbox as module
from fixedstep.sim.mailbox import (
    Completion,
    Mailbox,
    MailboxClosed,
    MailboxCounters,
    MailboxFull,
    Stale,
    Ticket,
)

from .interrupts import interrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def assert_books_balance(mailbox: Mailbox) -> MailboxCounters:
    """Every slot and every result is somewhere, and in one place."""
    seen = mailbox.counters
    assert min(seen) >= 0
    assert seen.reserved == seen.reclaimed + seen.outstanding
    assert seen.submitted == seen.reclaimed - seen.unanswered + seen.waiting + seen.refused
    assert seen.waiting <= seen.outstanding <= mailbox.capacity
    return seen


@pytest.mark.parametrize("field", ["reserved", "applied", "submitted", "late", "unanswered"])
def test_books_that_are_off_by_one_do_not_balance(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control for everything below."""
    mailbox = Mailbox()
    mailbox.submit(mailbox.reserve("guard"), "path")
    mailbox.take_batch()
    seen = assert_books_balance(mailbox)
    assert seen.applied == 1
    wrong = seen._replace(**{field: getattr(seen, field) + 1})
    monkeypatch.setattr(Mailbox, "counters", wrong)
    with pytest.raises(AssertionError):
        assert_books_balance(mailbox)


# the numbers of the reference game


def test_requests_are_numbered_from_one() -> None:
    mailbox = Mailbox(world="level 1")
    tickets = [mailbox.reserve(target, revision) for target, revision in (("a", 4), ("b", None))]
    assert tickets == [Ticket(1, "level 1", "a", 4), Ticket(2, "level 1", "b", None)]


def test_16_requests_fill_it_and_the_17th_is_refused() -> None:
    mailbox = Mailbox()
    tickets = [mailbox.reserve(n) for n in range(16)]
    for _ in range(2):
        with pytest.raises(MailboxFull, match="request for 'one more' found no room: all 16"):
            mailbox.reserve("one more")
    seen = assert_books_balance(mailbox)
    assert (seen.reserved, seen.full, seen.outstanding) == (16, 2, 16)
    mailbox.submit(tickets[0], "path")
    with pytest.raises(MailboxFull):
        mailbox.reserve("one more")  # a slot is held until a batch has taken its result
    assert len(mailbox.take_batch()) == 1
    assert mailbox.reserve("one more").request == 17, "a refused one took no number"


def test_superseded_requests_hold_their_slots_too() -> None:
    mailbox = Mailbox()
    for _ in range(16):
        mailbox.reserve("guard")
    with pytest.raises(MailboxFull):
        mailbox.reserve("guard")


def test_a_refused_request_supersedes_nothing() -> None:
    mailbox = Mailbox(capacity=1)
    ticket = mailbox.reserve("guard")
    with pytest.raises(MailboxFull):
        mailbox.reserve("guard")
    assert mailbox.submit(ticket, "path")
    assert [done.result for done in mailbox.take_batch()] == ["path"]


def test_three_stale_results_of_four_are_counted_as_three() -> None:
    """Three requests for one entity, a result for a foreign world, two superseded ones."""
    mailbox = Mailbox(world=1)
    first, second, third = (mailbox.reserve("guard") for _ in range(3))
    assert not mailbox.submit(third._replace(world=2), "foreign")
    assert not mailbox.submit(first, "old")
    assert not mailbox.submit(second, "old too")
    assert mailbox.submit(third, "new")
    assert not mailbox.submit(third, "again")
    assert [done.result for done in mailbox.take_batch()] == ["new"]
    seen = assert_books_balance(mailbox)
    assert seen.stale == 3
    assert (seen.foreign, seen.superseded, seen.duplicate, seen.applied) == (1, 2, 1, 1)


def test_after_cancelling_16_and_one_tick_it_works_again() -> None:
    mailbox = Mailbox()
    tickets = [mailbox.reserve(n) for n in range(16)]
    assert all(mailbox.cancel(ticket) for ticket in tickets)
    with pytest.raises(MailboxFull):
        mailbox.reserve("before the tick")
    assert mailbox.take_batch() == ()
    seen = assert_books_balance(mailbox)
    assert (seen.cancelled, seen.unanswered, seen.outstanding) == (16, 16, 0)
    again = [mailbox.reserve(n) for n in range(16)]
    assert [mailbox.submit(ticket, ticket.target) for ticket in again] == [True] * 16
    assert [done.result for done in mailbox.take_batch()] == list(range(16))
    assert not mailbox.submit(tickets[0], "the work went on"), "and its result is reported"
    assert assert_books_balance(mailbox).late == 1


# batches


def test_a_batch_is_in_the_order_of_requests_and_not_of_arrival() -> None:
    mailbox = Mailbox()
    tickets = [mailbox.reserve(n) for n in range(10)]
    for ticket in random.Random(7).sample(tickets, 10):
        mailbox.submit(ticket, ticket.request)
    assert [done.ticket.request for done in mailbox.take_batch()] == list(range(1, 11))
    assert mailbox.take_batch() == ()


def test_what_arrives_after_the_batch_waits_for_the_next() -> None:
    mailbox = Mailbox()
    early, late = mailbox.reserve("early"), mailbox.reserve("late")
    mailbox.submit(early, 1)

    def is_current(ticket: Ticket) -> bool:
        return mailbox.submit(late, 2) or True  # it arrives while the batch is being taken

    assert [done.ticket for done in mailbox.take_batch(is_current)] == [early]
    assert [done.ticket for done in mailbox.take_batch()] == [late]


def test_an_error_is_handed_out_like_a_result() -> None:
    mailbox = Mailbox()
    error = ValueError("no way through")
    assert mailbox.submit_error(mailbox.reserve("guard"), error)
    (done,) = mailbox.take_batch()
    assert (done.ok, done.result, repr(done.error)) == (False, None, "WorkFailed('ValueError')")
    assert done.error is not None
    assert done.error.__cause__ is error
    assert mailbox.counters.applied == 1


def test_a_result_of_none_is_a_result() -> None:
    mailbox = Mailbox()
    mailbox.submit(mailbox.reserve("guard"), None)
    (done,) = mailbox.take_batch()
    assert (done.ok, done.result) == (True, None)


# what is not applied


def test_a_result_for_a_destroyed_entity_is_not_applied() -> None:
    mailbox = Mailbox()
    alive = {1, 2}
    tickets = [mailbox.reserve(entity) for entity in (1, 2)]
    for ticket in tickets:
        mailbox.submit(ticket, "path")
    alive.remove(1)
    assert [done.ticket.target for done in mailbox.take_batch(lambda t: t.target in alive)] == [2]
    assert assert_books_balance(mailbox).target == 1


def test_a_result_for_an_earlier_destination_is_not_applied() -> None:
    """The destination changed and nobody asked anew: only the game can know."""
    mailbox = Mailbox()
    revisions = {1: 4, 2: 4}
    for entity in (1, 2):
        mailbox.submit(mailbox.reserve(entity, revisions[entity]), "path")
    revisions[2] += 1

    def is_current(ticket: Ticket) -> bool | Stale:
        return True if revisions[ticket.target] == ticket.revision else Stale.REVISION  # type: ignore[index]

    assert [done.ticket.target for done in mailbox.take_batch(is_current)] == [1]
    seen = assert_books_balance(mailbox)
    assert (seen.revision, seen.target, seen.stale) == (1, 0, 1)


@pytest.mark.parametrize(
    ("answer", "counter"),
    [(True, "applied"), (1, "applied"), (False, "target"), (None, "target"),
     (Stale.TARGET, "target"), (Stale.REVISION, "revision")],
)  # fmt: skip
def test_the_answer_of_is_current_is_counted_under_its_reason(answer: Any, counter: str) -> None:
    """A member of an enum is true to Python: it must not be taken for a yes."""
    mailbox = Mailbox()
    mailbox.submit(mailbox.reserve("guard"), "path")
    batch = mailbox.take_batch(lambda ticket: answer)
    assert len(batch) == (counter == "applied")
    seen = assert_books_balance(mailbox)
    counted = {name: getattr(seen, name) for name in ("applied", "target", "revision")}
    assert counted == {"applied": 0, "target": 0, "revision": 0, counter: 1}


def test_is_current_is_not_asked_about_what_is_void_anyway() -> None:
    """A dead world's targets are numbers that may name others in the new one."""
    mailbox = Mailbox(world=1)
    old, cancelled, first, second = (mailbox.reserve(n) for n in (1, 2, 3, 3))
    for ticket in (old, cancelled, first, second):
        mailbox.submit(ticket, "path")
    mailbox.cancel(cancelled)
    asked: list[Ticket] = []

    def is_current(ticket: Ticket) -> bool:
        asked.append(ticket)
        return True

    assert len(mailbox.take_batch(is_current)) == 2
    assert asked == [old, second]
    mailbox.submit(mailbox.reserve(5), "path")
    mailbox.replace_world(2)
    assert mailbox.take_batch(is_current) == ()
    assert asked == [old, second]


def test_an_exception_from_is_current_leaves_the_results_waiting() -> None:
    mailbox = Mailbox()
    for n in range(3):
        mailbox.submit(mailbox.reserve(n), n)

    def broken(ticket: Ticket) -> bool:
        if ticket.target == 1:
            raise KeyError("no such entity")
        return True

    with pytest.raises(KeyError):
        mailbox.take_batch(broken)
    seen = assert_books_balance(mailbox)
    assert (seen.waiting, seen.reclaimed) == (3, 0)
    assert [done.result for done in mailbox.take_batch()] == [0, 1, 2]


def test_a_later_request_supersedes_even_if_it_is_cancelled() -> None:
    """The guard was told to stop, not to go where it was sent before."""
    mailbox = Mailbox()
    old = mailbox.reserve("guard")
    new = mailbox.reserve("guard")
    mailbox.cancel(new)
    assert mailbox.take_batch() == (), "the newer slot is free again"
    assert not mailbox.submit(old, "path")
    assert mailbox.take_batch() == ()
    seen = assert_books_balance(mailbox)
    assert (seen.cancelled, seen.superseded, seen.outstanding) == (1, 1, 0)


def test_an_older_result_does_not_replace_a_newer_one_that_was_applied() -> None:
    mailbox = Mailbox()
    old, new = mailbox.reserve("guard"), mailbox.reserve("guard")
    mailbox.submit(new, "new path")
    assert [done.result for done in mailbox.take_batch()] == ["new path"]
    assert not mailbox.submit(old, "old path")
    assert mailbox.take_batch() == ()
    assert assert_books_balance(mailbox).superseded == 1


def test_a_result_that_arrived_is_superseded_too_while_it_waits() -> None:
    mailbox = Mailbox()
    assert mailbox.submit(mailbox.reserve("guard"), "old path")
    mailbox.submit(mailbox.reserve("guard"), "new path")
    assert [done.result for done in mailbox.take_batch()] == ["new path"]


def test_requests_for_nothing_in_particular_stand_side_by_side() -> None:
    mailbox = Mailbox()
    for n in range(3):
        mailbox.submit(mailbox.reserve(None), n)
    assert [done.result for done in mailbox.take_batch()] == [0, 1, 2]


def test_a_cancelled_result_is_not_applied_although_the_work_goes_on() -> None:
    mailbox = Mailbox()
    before, after = mailbox.reserve("a"), mailbox.reserve("b")
    assert mailbox.submit(before, "path")
    assert mailbox.cancel(before) is True
    assert mailbox.cancel(before) is False
    assert mailbox.cancel(after) is True
    assert not mailbox.submit(after, "path")
    assert mailbox.take_batch() == ()
    seen = assert_books_balance(mailbox)
    assert (seen.cancelled, seen.unanswered, seen.submitted) == (2, 0, 2)


def test_cancelling_within_is_current_still_counts() -> None:
    """A target that is found dead may take its other requests with it."""
    mailbox = Mailbox()
    tickets = [mailbox.reserve(n) for n in range(3)]
    for ticket in tickets:
        mailbox.submit(ticket, ticket.target)
    batch = mailbox.take_batch(lambda ticket: ticket.target != 1 or not mailbox.cancel(tickets[2]))
    assert [done.result for done in batch] == [0]
    seen = assert_books_balance(mailbox)
    assert (seen.target, seen.cancelled) == (1, 1)


def test_a_result_that_is_applied_can_no_longer_be_cancelled() -> None:
    mailbox = Mailbox()
    ticket = mailbox.reserve("guard")
    mailbox.submit(ticket, "path")
    assert len(mailbox.take_batch()) == 1
    assert mailbox.cancel(ticket) is False
    assert assert_books_balance(mailbox).cancelled == 0


@pytest.mark.parametrize("how", ["another batch", "shutdown"])
def test_what_was_reclaimed_while_a_batch_is_taken_is_not_in_it(how: str) -> None:
    mailbox = Mailbox()
    for n in range(3):
        mailbox.submit(mailbox.reserve(n), n)
    inner: list[Completion] = []

    def is_current(ticket: Ticket) -> bool:
        if how == "another batch":
            inner.extend(mailbox.take_batch())
        else:
            mailbox.shutdown()
        return True

    assert mailbox.take_batch(is_current) == ()
    assert [done.result for done in inner] == ([0, 1, 2] if how == "another batch" else [])
    seen = assert_books_balance(mailbox)
    assert (seen.reclaimed, seen.outstanding) == (3, 0)


# worlds


def test_results_of_a_replaced_level_are_not_applied() -> None:
    mailbox = Mailbox(world="level 1")
    arrived, running = mailbox.reserve(1), mailbox.reserve(2)
    assert mailbox.submit(arrived, "path")
    mailbox.replace_world("level 2")
    assert mailbox.world == "level 2"
    new = mailbox.reserve(2)
    assert new == Ticket(3, "level 2", 2, None)
    assert not mailbox.submit(running, "path")
    assert mailbox.submit(new, "new path")
    assert [done.ticket for done in mailbox.take_batch()] == [new]
    seen = assert_books_balance(mailbox)
    assert (seen.world, seen.applied, seen.superseded, seen.outstanding) == (2, 1, 0, 0)


def test_the_slots_of_an_old_world_are_held_until_its_results_come() -> None:
    """The work goes on, and the capacity bounds the work."""
    mailbox = Mailbox(capacity=2, world=1)
    tickets = [mailbox.reserve(n) for n in range(2)]
    mailbox.replace_world(2)
    assert mailbox.take_batch() == ()
    with pytest.raises(MailboxFull):
        mailbox.reserve("new")
    mailbox.submit(tickets[0], "path")
    mailbox.cancel(tickets[1])
    assert mailbox.take_batch() == ()
    seen = assert_books_balance(mailbox)
    assert (seen.world, seen.cancelled, seen.outstanding) == (1, 1, 0)


def test_a_world_that_comes_back_does_not_bring_its_results_back() -> None:
    mailbox = Mailbox(world="menu")
    ticket = mailbox.reserve("cursor")
    mailbox.replace_world("level")
    mailbox.replace_world("menu")
    assert not mailbox.submit(ticket, "path")
    assert mailbox.take_batch() == ()
    assert assert_books_balance(mailbox).world == 1


def test_a_new_world_under_the_old_name_is_refused() -> None:
    mailbox = Mailbox(world="level")
    ticket = mailbox.reserve(1)
    with pytest.raises(ValueError, match="world must be another than the one so far, 'level'"):
        mailbox.replace_world("level")
    assert mailbox.submit(ticket, "path")
    assert len(mailbox.take_batch()) == 1


# reports that are refused


def test_a_result_without_a_slot_is_refused_and_counted() -> None:
    mailbox = Mailbox(world=1)
    ticket = mailbox.reserve("guard", 3)
    for wrong, reason in (
        (ticket._replace(request=2), "unknown"),
        (ticket._replace(request=0), "unknown"),
        (ticket._replace(target="door"), "unknown"),
        (ticket._replace(revision=4), "unknown"),
        (ticket._replace(world=2), "foreign"),
        (ticket._replace(request=2, world=2), "foreign"),
    ):
        before = mailbox.counters
        assert mailbox.submit(wrong, "path") is False
        after = assert_books_balance(mailbox)
        assert getattr(after, reason) == getattr(before, reason) + 1
        assert after.refused == before.refused + 1
    assert mailbox.cancel(ticket._replace(target="door")) is False
    assert mailbox.submit(ticket, "path")
    assert mailbox.take_batch() == (Completion(ticket, "path", None),)


def test_a_second_result_does_not_replace_the_first() -> None:
    mailbox = Mailbox()
    ticket = mailbox.reserve("guard")
    assert mailbox.submit(ticket, "first")
    assert not mailbox.submit(ticket, "second")
    assert not mailbox.submit_error(ticket, ValueError("third"))
    assert [done.result for done in mailbox.take_batch()] == ["first"]
    assert not mailbox.submit(ticket, "fourth")
    seen = assert_books_balance(mailbox)
    assert (seen.duplicate, seen.late) == (2, 1)


@pytest.mark.parametrize("wrong", [None, 1, (1, 0, "guard", None), "guard"])
def test_only_a_ticket_is_a_ticket(wrong: Any) -> None:
    mailbox = Mailbox()
    calls: list[Callable[[], Any]] = [
        lambda: mailbox.submit(wrong, 1),
        lambda: mailbox.submit_error(wrong, ValueError()),
        lambda: mailbox.cancel(wrong),
        lambda: mailbox.attach(wrong, Future()),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="ticket must be a Ticket"):
            call()
    assert mailbox.counters == MailboxCounters()


def test_an_error_is_an_exception() -> None:
    mailbox = Mailbox()
    ticket = mailbox.reserve("guard")
    wrong: Any = "no way through"
    with pytest.raises(TypeError, match="error must be an exception"):
        mailbox.submit_error(ticket, wrong)
    assert mailbox.counters.submitted == 0


@pytest.mark.parametrize("name", ["target", "revision"])
def test_a_target_is_a_value(name: str) -> None:
    mailbox = Mailbox()
    with pytest.raises(TypeError, match=f"{name} must be a value that cannot change"):
        mailbox.reserve(**{"target": 1, name: [1]})
    assert mailbox.reserve(1).request == 1


@pytest.mark.parametrize("capacity", [0, -1, 2**64, 1.5, None])
def test_a_capacity_that_is_none_is_refused(capacity: Any) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError), match="capacity must be"):
        Mailbox(capacity)


# shutdown


def test_shutdown_reclaims_every_slot_and_admits_nothing() -> None:
    mailbox = Mailbox(world=1)
    running, arrived, cancelled = (mailbox.reserve(n) for n in range(3))
    attached = mailbox.reserve("attached")
    future: Future[str] = Future()
    mailbox.attach(attached, future)
    mailbox.submit(arrived, "path")
    mailbox.cancel(cancelled)
    assert mailbox.shutdown() == 4
    assert mailbox.closed
    seen = assert_books_balance(mailbox)
    assert (seen.outstanding, seen.reclaimed, seen.shutdown, seen.cancelled) == (0, 4, 3, 1)
    assert seen.unanswered == 3
    with pytest.raises(MailboxClosed, match="came after shutdown"):
        mailbox.reserve("guard")
    assert mailbox.counters.closed == 1
    assert not mailbox.submit(running, "path")
    future.set_result("path")
    assert mailbox.take_batch() == ()
    assert mailbox.shutdown() == 0
    assert assert_books_balance(mailbox).late == 2


# futures


def test_a_future_reports_what_became_of_it() -> None:
    mailbox = Mailbox()
    futures: list[Future[str]] = [Future() for _ in range(3)]
    for n, future in enumerate(futures):
        mailbox.attach(mailbox.reserve(n), future)
    futures[2].set_result("path")
    futures[0].set_exception(ValueError("no way through"))
    assert futures[1].cancel()
    done = mailbox.take_batch()
    assert [(d.ticket.target, d.result, str(d.error)) for d in done] == [
        (0, None, "ValueError"),
        (2, "path", "None"),
    ]
    seen = assert_books_balance(mailbox)
    assert (seen.applied, seen.cancelled, seen.submitted, seen.outstanding) == (2, 1, 3, 0)


def test_a_future_that_is_done_already_reports_at_once() -> None:
    mailbox = Mailbox()
    future: Future[str] = Future()
    future.set_result("path")
    mailbox.attach(mailbox.reserve("guard"), future)
    assert [done.result for done in mailbox.take_batch()] == ["path"]


def test_cancelled_work_keeps_its_slot_until_its_worker_has_reported() -> None:
    """Else requests that are cancelled and made anew would pile up on the workers, unbounded."""
    mailbox = Mailbox(capacity=1)
    ticket = mailbox.reserve("guard")
    future: Future[str] = Future()
    assert future.set_running_or_notify_cancel()
    mailbox.attach(ticket, future)
    assert mailbox.cancel(ticket)
    for _ in range(3):
        assert mailbox.take_batch() == ()
        with pytest.raises(MailboxFull):
            mailbox.reserve("guard")
    future.set_result("path")
    assert mailbox.take_batch() == ()
    assert mailbox.reserve("guard").request == 2
    seen = assert_books_balance(mailbox)
    assert (seen.cancelled, seen.unanswered) == (1, 0)


def test_the_future_of_an_altered_ticket_holds_no_slot() -> None:
    mailbox = Mailbox(capacity=1)
    ticket = mailbox.reserve("guard")
    mailbox.attach(ticket._replace(target="door"), Future())
    mailbox.cancel(ticket)
    mailbox.take_batch()
    assert mailbox.reserve("guard").request == 2


def test_a_future_of_asyncio_will_do() -> None:
    async def search() -> str:
        await asyncio.sleep(0)
        return "path"

    async def main() -> tuple[Completion, ...]:
        mailbox = Mailbox()
        task = asyncio.ensure_future(search())
        mailbox.attach(mailbox.reserve("guard"), task)
        await task
        await asyncio.sleep(0)
        return mailbox.take_batch()

    assert [done.result for done in asyncio.run(main())] == ["path"]


def test_a_ticket_survives_the_way_to_another_process_and_back() -> None:
    mailbox = Mailbox(world=("level", 2))
    ticket = pickle.loads(pickle.dumps(mailbox.reserve(("guard", 5), 3)))
    assert mailbox.submit(ticket, "path")
    assert [done.ticket for done in mailbox.take_batch()] == [ticket]


# any sequence of calls

actions = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), st.integers(0, 2)),
        st.tuples(st.just("attach"), st.integers(0, 2)),
        st.tuples(st.sampled_from(["submit", "cancel"]), st.integers(0, 30)),
        st.tuples(st.sampled_from(["take", "take", "world", "shutdown"]), st.just(0)),
    ),
    max_size=50,
)


@given(capacity=st.integers(1, 6), calls=actions)
def test_the_books_balance_after_every_call(capacity: int, calls: list[tuple[str, int]]) -> None:
    mailbox = Mailbox(capacity)
    tickets: list[Ticket] = []
    futures: dict[int, Future[int]] = {}
    applied: set[int] = set()
    for world, (call, n) in enumerate(calls, 1):
        if call in ("reserve", "attach"):
            try:
                ticket = mailbox.reserve(n)
            except (MailboxFull, MailboxClosed):
                continue
            tickets.append(ticket)
            if call == "attach":
                futures[ticket.request] = Future()
                mailbox.attach(ticket, futures[ticket.request])
        elif call == "submit" and n < len(tickets):
            future = futures.pop(n + 1, None)
            if future is None:
                mailbox.submit(tickets[n], n)
            else:
                future.set_result(n)
        elif call == "cancel" and n < len(tickets):
            mailbox.cancel(tickets[n])
        elif call == "take":
            batch = [done.ticket.request for done in mailbox.take_batch()]
            assert batch == sorted(batch)
            assert not applied & set(batch)
            applied |= set(batch)
        elif call == "world":
            mailbox.replace_world(world)
        elif call == "shutdown":
            mailbox.shutdown()
        assert_books_balance(mailbox)
    for ticket in tickets:  # everybody reports in the end
        future = futures.pop(ticket.request, None)
        if future is None:
            mailbox.submit(ticket, None)
        else:
            future.set_result(0)
    applied |= {done.ticket.request for done in mailbox.take_batch()}
    seen = assert_books_balance(mailbox)
    assert (seen.outstanding, len(mailbox)) == (0, 0)
    assert seen.reclaimed == seen.reserved == len(tickets)
    assert seen.applied == len(applied)
    assert not mailbox._newest, "no target is remembered longer than its requests"


# real threads


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads that are switched within calls, a thousand times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


class Workers:
    """Threads that take tickets from a queue and report: most once, some twice, some an error."""

    def __init__(self, mailbox: Mailbox, count: int) -> None:
        self.mailbox = mailbox
        self.queue: SimpleQueue[tuple[Ticket, int] | None] = SimpleQueue()
        self.reports = [0] * count
        self.failures: list[BaseException] = []
        self.threads = [threading.Thread(target=self.work, args=(n,)) for n in range(count)]
        for thread in self.threads:
            thread.start()

    def work(self, number: int) -> None:
        try:
            while (job := self.queue.get()) is not None:
                ticket, chance = job
                if chance % 7 == 0:
                    self.mailbox.submit_error(ticket, ValueError(ticket.request))
                else:
                    self.mailbox.submit(ticket, ticket.request)
                self.reports[number] += 1
                if chance % 11 == 0:
                    self.mailbox.submit(ticket, "again")
                    self.reports[number] += 1
        except BaseException as failure:
            self.failures.append(failure)

    def join(self) -> None:
        for _ in self.threads:
            self.queue.put(None)
        for thread in self.threads:
            thread.join()
        assert self.failures == []


class Owner:
    """The thread of the world, and its diary: what it asked for and what it then made void."""

    def __init__(self, mailbox: Mailbox, seed: int) -> None:
        self.mailbox = mailbox
        self.chance = random.Random(seed)
        self.world = 0
        self.revisions = dict.fromkeys(range(24), 0)
        self.open: dict[int, Ticket] = {}  # not known to be applied
        self.void: dict[int, str] = {}  # why it must not be
        self.newest: dict[int, int] = {}
        self.applied: set[int] = set()

    def reserve(self) -> Ticket:
        target = self.chance.randrange(24)
        ticket = self.mailbox.reserve(target, self.revisions.get(target, -1))
        before = self.newest.get(target)
        if before in self.open and before not in self.void:
            self.void[before] = "superseded"
        self.newest[target] = ticket.request
        self.open[ticket.request] = ticket
        return ticket

    def cancel(self) -> None:
        request = self.chance.choice(list(self.open)[-40:])
        if self.mailbox.cancel(self.open[request]):
            self.void[request] = "cancelled"

    def replace_world(self) -> None:
        self.world += 1
        self.mailbox.replace_world(self.world)
        for request in self.open:
            self.void.setdefault(request, "world")
        self.newest.clear()

    def is_current(self, ticket: Ticket) -> bool | Stale:
        revision = self.revisions.get(ticket.target)  # type: ignore[call-overload]
        if revision == ticket.revision:
            return True
        self.void[ticket.request] = "target" if revision is None else "revision"
        return False if revision is None else Stale.REVISION

    def tick(self) -> int:
        target = self.chance.randrange(24)
        if target in self.revisions and self.chance.random() < 0.5:
            del self.revisions[target]  # destroyed
        else:
            self.revisions[target] = self.chance.randrange(1 << 30)
        batch = self.mailbox.take_batch(self.is_current)
        requests = [done.ticket.request for done in batch]
        assert requests == sorted(requests)
        for done in batch:
            request = done.ticket.request
            assert request not in self.applied, f"{request} was applied twice"
            assert request not in self.void, f"{request} was applied, and is {self.void[request]}"
            assert done.ticket == self.open.pop(request)
            if done.ok:
                assert done.result == request
            else:
                assert done.error is not None
                assert done.error.__cause__ is not None
                assert done.error.__cause__.args == (request,)
            self.applied.add(request)
        return len(batch)


def under_load(mailbox: Mailbox, seed: int, requests: int, threads: int = 8) -> Owner:
    """``requests`` requests through ``threads`` threads, while the owner voids what it can."""
    owner, workers = Owner(mailbox, seed), Workers(mailbox, threads)
    try:
        made = 0
        while made < requests:
            try:
                for _ in range(min(owner.chance.randrange(1, 40), requests - made)):
                    ticket = owner.reserve()
                    made += 1
                    workers.queue.put((ticket, owner.chance.randrange(1 << 30)))
                    if owner.chance.random() < 0.1:
                        owner.cancel()
            except MailboxFull:
                time.sleep(0)  # let the workers come to it
            if owner.chance.random() < 0.01:
                owner.replace_world()
            owner.tick()
    finally:
        workers.join()
    owner.tick()
    assert mailbox.counters.submitted == sum(workers.reports)
    assert min(workers.reports) > 0, "every thread had a part in it"
    return owner


@pytest.mark.usefixtures("hasty_threads")
def test_eight_threads_and_a_hundred_thousand_requests_lose_nothing() -> None:
    """With cancellations, destroyed targets, superseded revisions and new worlds at random."""
    mailbox = Mailbox(capacity=64)
    owner = under_load(mailbox, seed=20, requests=100_000)
    seen = assert_books_balance(mailbox)
    assert seen.reserved == seen.reclaimed == 100_000
    assert seen.applied == len(owner.applied)
    assert len(owner.applied) + len(owner.void) == 100_000, "nothing was lost unreported"
    reasons = ("cancelled", "superseded", "world", "target", "revision")
    assert {name: getattr(seen, name) for name in reasons} == Counter(owner.void.values())
    for name in (*reasons, "duplicate", "late", "unanswered"):
        assert getattr(seen, name) > 0, f"no {name}: the test has tested too little"
    assert seen.applied > 10_000


@pytest.mark.usefixtures("hasty_threads")
def test_a_mailbox_that_applies_twice_or_loses_is_found() -> None:
    """The control: the same load on mailboxes with a fault."""

    class Twice(Mailbox):
        __slots__ = ()

        def take_batch(self, is_current: Any = None) -> tuple[Completion, ...]:
            batch = super().take_batch(is_current)
            return (*batch, batch[-1]) if batch else batch

    class Losing(Mailbox):
        __slots__ = ()

        def take_batch(self, is_current: Any = None) -> tuple[Completion, ...]:
            batch = super().take_batch(is_current)
            return batch[1:]

    with pytest.raises(AssertionError, match="was applied twice"):
        under_load(Twice(capacity=64), seed=20, requests=5_000)
    owner = under_load(Losing(capacity=64), seed=20, requests=5_000)
    assert len(owner.applied) + len(owner.void) < 5_000


@pytest.mark.usefixtures("hasty_threads")
@pytest.mark.parametrize("seed", range(5))
def test_shutdown_under_load_reclaims_everything(seed: int) -> None:
    mailbox = Mailbox(capacity=16)
    owner, workers = Owner(mailbox, seed), Workers(mailbox, 8)
    made = 0
    try:
        while made < 400 + seed:
            try:
                workers.queue.put((owner.reserve(), owner.chance.randrange(1 << 30)))
                made += 1
            except MailboxFull:
                owner.tick()
        while len(mailbox) < 16:  # shut it down full
            workers.queue.put((owner.reserve(), 1))
            made += 1
        assert mailbox.shutdown() == 16
        with pytest.raises(MailboxClosed):
            mailbox.reserve("guard")
        assert owner.tick() == 0
    finally:
        workers.join()
    seen = assert_books_balance(mailbox)
    assert seen.reserved == seen.reclaimed == made
    assert seen.outstanding == seen.waiting == 0
    assert seen.submitted == sum(workers.reports)
    assert seen.applied == len(owner.applied) > 0
    assert seen.shutdown + seen.superseded > 0
    assert mailbox.take_batch() == ()


@pytest.mark.usefixtures("hasty_threads")
def test_executors_report_under_load() -> None:
    """concurrent.futures as it is: results, exceptions, futures that are cancelled, and slots that
    wait for their workers."""
    mailbox = Mailbox(capacity=32)
    chance = random.Random(5)

    def work(number: int) -> int:
        if number % 5 == 0:
            raise ValueError(number)
        return number * number

    applied: list[Completion] = []
    futures: dict[int, Future[int]] = {}
    cancelled = 0
    with ThreadPoolExecutor(8) as pool:
        while len(futures) < 4_000:
            try:
                ticket = mailbox.reserve(None)
            except MailboxFull:
                applied += mailbox.take_batch()
                continue
            futures[ticket.request] = future = pool.submit(work, ticket.request)
            mailbox.attach(ticket, future)
            if chance.random() < 0.1:
                cancelled += mailbox.cancel(ticket)
            if chance.random() < 0.2:
                future.cancel()
    applied += mailbox.take_batch()
    seen = assert_books_balance(mailbox)
    assert seen.reserved == seen.reclaimed == seen.submitted == 4_000
    assert (seen.refused, seen.unanswered) == (0, 0), "every slot waited for its worker"
    requests = [done.ticket.request for done in applied]
    assert len(requests) == len(set(requests)) == seen.applied
    assert seen.cancelled >= cancelled > 0
    assert any(future.cancelled() for future in futures.values())
    for done in applied:
        assert not futures[done.ticket.request].cancelled()
        if done.ticket.request % 5:
            assert done.result == done.ticket.request**2
        else:
            assert str(done.error) == "ValueError"


@pytest.mark.usefixtures("hasty_threads")
def test_counters_read_by_another_thread_are_of_one_moment() -> None:
    mailbox = Mailbox(capacity=16)
    moments: set[int] = set()
    failures: list[BaseException] = []
    stop = threading.Event()

    def watch() -> None:
        try:
            while not stop.is_set():
                moments.add(assert_books_balance(mailbox).reserved)
        except BaseException as failure:
            failures.append(failure)

    watcher = threading.Thread(target=watch)
    watcher.start()
    n = 0
    while len(moments) < 50 and not failures:
        mailbox.submit(mailbox.reserve(n % 7), n)
        if n % 8 == 7:
            mailbox.take_batch()
            time.sleep(0)
        n += 1
    stop.set()
    watcher.join()
    assert failures == []
    assert mailbox.counters.applied > 0


def test_only_the_thread_that_runs_the_world_reserves_and_takes() -> None:
    """Until another world comes, which may be run by another thread."""
    mailbox = Mailbox()
    ticket = mailbox.reserve("guard")

    def elsewhere(call: Callable[[], object]) -> object:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(call).result()

    calls: list[Callable[[], object]] = [
        lambda: mailbox.reserve("door"),
        lambda: mailbox.cancel(ticket),
        mailbox.take_batch,
        mailbox.shutdown,
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="from another thread than the one that runs"):
            elsewhere(call)
    assert elsewhere(lambda: mailbox.submit(ticket, "path")) is True
    assert len(mailbox.take_batch()) == 1
    mailbox.replace_world("level 2")
    assert elsewhere(lambda: mailbox.reserve("door").request) == 2
    assert assert_books_balance(mailbox).reserved == 2


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_mailbox_is_not_copied(copied: Any) -> None:
    """It failed with a word about locks."""
    with pytest.raises(TypeError, match="a mailbox cannot be"):
        copied(Mailbox())


@pytest.mark.parametrize("value", [frozenset({1}), object(), 2**64, "\ud800"])
def test_what_no_recording_can_hold_is_refused_with_and_without_one(value: Any) -> None:
    mailbox = Mailbox()
    ticket = mailbox.reserve("guard")
    calls: list[Callable[[], object]] = [
        lambda: mailbox.reserve(value),
        lambda: mailbox.reserve("guard", value),
        lambda: mailbox.submit(ticket, value),
    ]
    for call in calls:
        with pytest.raises((TypeError, OverflowError, ValueError), match="must be"):
            call()
    future: Future[Any] = Future()
    mailbox.attach(ticket, future)
    future.set_result(value)
    (done,) = mailbox.take_batch()
    assert str(done.error) in ("TypeError", "OverflowError", "ValueError")
    assert assert_books_balance(mailbox).reserved == 1


def test_a_result_may_be_a_list_or_a_dict() -> None:
    mailbox = Mailbox()
    mailbox.submit(mailbox.reserve("guard"), [(1, 2), {"cost": 2.5}])
    assert [done.result for done in mailbox.take_batch()] == [[(1, 2), {"cost": 2.5}]]


def test_an_interrupt_between_any_two_instructions_leaves_counters_that_agree() -> None:
    """Ctrl-C at each instruction of the mailbox in turn, in calls of every kind."""
    file = module.__file__

    def life(mailbox: Mailbox, made: list[Ticket]) -> None:
        for target in ("guard", "guard", "door", None):
            made.append(mailbox.reserve(target))
        mailbox.submit(made[0], 1)
        mailbox.submit(made[1], 2)
        mailbox.submit(made[1], 3)
        mailbox.cancel(made[2])
        mailbox.take_batch(lambda ticket: ticket.target != "door")
        mailbox.replace_world("level 2")
        mailbox.submit_error(made[3], KeyError())
        mailbox.take_batch()
        mailbox.reserve("exit")
        mailbox.shutdown()

    boundaries = 0
    for stop in range(1, 20_000):
        mailbox, made = Mailbox(), list[Ticket]()
        with interrupt(stop, file) as boundary:
            life(mailbox, made)
        counters = assert_books_balance(mailbox)
        assert len(made) <= counters.reserved <= len(made) + 1, "the one that was interrupted"
        mailbox.take_batch()
        mailbox.shutdown()
        counters = assert_books_balance(mailbox)
        assert counters.outstanding == 0
        assert len(made) <= counters.reserved == counters.reclaimed
        if not boundary.hit:
            break
        boundaries += 1
    assert boundaries > 500


def test_it_says_what_it_holds() -> None:
    mailbox = Mailbox(capacity=4, world="level 1")
    mailbox.reserve("guard")
    assert repr(mailbox) == "<Mailbox of world 'level 1': 1 of 4 slots taken>"
    mailbox.shutdown()
    assert repr(mailbox) == "<Mailbox of world 'level 1': shut down>"


def test_a_report_from_a_finalizer_in_the_middle_of_a_request_does_not_hang() -> None:
    """Work that reports even when it is thrown away, and a collection that comes when the mailbox
    allocates. It used to wait for itself for ever: hence a thread, which can be given up."""
    mailbox = Mailbox(10_000)
    reported = 0

    class Job:
        def __init__(self, ticket: Ticket) -> None:
            self.own, self.ticket = self, ticket

        def __del__(self) -> None:
            nonlocal reported
            reported += mailbox.submit_error(self.ticket, RuntimeError("thrown away"))
            assert mailbox.counters.outstanding > 0

    def ask() -> None:
        for threshold in range(1, 11):  # one of these comes in the middle of a request
            gc.set_threshold(threshold)
            for number in range(50):
                Job(mailbox.reserve((threshold, number)))

    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    try:
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(30)
        assert not asking.is_alive()
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
    gc.collect()
    assert reported == 500
    mailbox._owner = None  # the thread that asked is over
    assert len(mailbox.take_batch()) == 500
    counts = mailbox.counters
    assert (counts.submitted, counts.applied, counts.outstanding) == (500, 500, 0)


def test_a_ticket_that_was_altered_beyond_a_number_is_unknown() -> None:
    mailbox = Mailbox()
    ticket = mailbox.reserve(1)
    assert not mailbox.submit(ticket._replace(request="1"), 5)  # type: ignore[arg-type]
    counts = mailbox.counters
    assert (counts.submitted, counts.unknown, counts.refused) == (1, 1, 1)
