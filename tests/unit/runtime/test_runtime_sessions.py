"""The implementations of sessions, on a protocol that has each of their constructs: rows, keys, senders,
roles, timers, options.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.property.schemas import built

TEXT = (Path(__file__).resolve().parents[2] / "talk.wire").read_text(encoding="utf-8")
PEERS = {"asker": "answerer", "answerer": "asker"}


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with built(TEXT, tmp_path_factory.mktemp("talk"), "talk") as codecs:
        yield codecs.module


@pytest.fixture
def asker(talk: Any) -> Any:
    return talk.Connection("asker")


def names(events: list[Any]) -> list[str]:
    return [type(event).__name__ for event in events]


def violation(events: list[Any]) -> str | None:
    return next((e.name for e in events if type(e).__name__ == "Violation" and not e.lenient), None)


def refusal(talk: Any, send: Callable[..., bytes], *arguments: Any, **header: Any) -> str:
    """Return the name of the violation for which a message may not be sent."""
    with pytest.raises(talk.SessionError) as caught:
        send(*arguments, **header)
    assert caught.value.local
    return str(caught.value.violation)


# ---- variables ----


def test_numbers_roll_over_and_updates_see_what_was_before(talk: Any, asker: Any) -> None:
    asker.send(talk.Count(6))
    assert (asker.sums.total, asker.sums.low, asker.sums.seen) == (0, 122, (250,))
    asker.send(talk.Count(5))
    assert (asker.sums.total, asker.sums.low, asker.sums.seen) == (5, 117, (250, 0))


def test_lists_shrink(talk: Any, asker: Any) -> None:
    for value in (3, 4, 5):
        asker.send(talk.Count(value))
    assert asker.sums.seen == (250, 253, 1)
    asker.send(talk.Count(1))
    assert asker.sums.seen == (250, 253)
    asker.send(talk.Count(0))
    assert asker.sums.seen == (253,)
    asker.send(talk.Count(2))
    assert asker.sums.seen == ()


def test_an_update_that_reads_what_is_not_there_changes_nothing(talk: Any, asker: Any) -> None:
    asker.send(talk.Count(1))
    assert asker.sums.seen == ()


@pytest.mark.parametrize("value", [7, 9, 10, 11])
def test_what_a_list_of_numbers_and_ranges_holds_is_refused(talk: Any, asker: Any, value: int) -> None:
    assert refusal(talk, asker.send, talk.Count(value)) == "unlucky"


def test_a_condition_on_what_is_absent_is_false(talk: Any, asker: Any) -> None:
    asker.send(talk.Maybe(False, None))
    assert refusal(talk, asker.send, talk.Maybe(True, 101)) == "too_much"


def test_a_row_sees_the_header_of_the_frame(talk: Any, asker: Any) -> None:
    asker.send(talk.Maybe(True, 3))
    assert asker.options.big == 0
    asker.send(talk.Maybe(True, 4), note=1)
    assert asker.options.big == 4


def test_an_option_is_a_setting_of_the_connection(talk: Any) -> None:
    assert refusal(talk, talk.Connection("asker").send, talk.Insult()) == "impolite"
    assert talk.Connection("asker", manner=talk.Manner.RUDE).send(talk.Insult())


# ---- violations ----


def test_the_peers_violation_is_the_last_event_and_ends_the_connection(talk: Any, asker: Any) -> None:
    data = b"".join(map(talk.encode, (talk.Count(3), talk.Count(7), talk.Count(4))))
    events = asker.receive(data, 1.5)
    assert names(events) == ["Received", "Violation"]
    found = events[-1]
    assert (found.name, found.role, found.session, found.state) == ("unlucky", "answerer", "Sums", "open")
    assert (found.offset, found.time, found.rule) == (5, 1.5, "Some numbers are not said.")
    assert asker.failure is found
    assert asker.is_closed and asker.receive(data) == []


def test_a_peer_that_broke_a_rule_is_told_by_whoever_knows_it(talk: Any, asker: Any) -> None:
    asker.receive(talk.encode(talk.Count(7)))
    before = repr(asker.sums)
    with pytest.raises(talk.SessionError) as caught:
        asker.send(talk.Count(3))
    assert (caught.value.violation, caught.value.local) == ("unlucky", False)
    assert str(caught.value) == (
        "unlucky (remote, frame at 0): the connection has failed: Sums in open: Some numbers are not said.; "
        "to send an answer before the close, pass despite='unlucky' to `send`"
    )
    assert refusal(talk, asker.send, talk.Insult(), despite="unlucky") == "impolite"
    assert repr(asker.sums) == before
    assert asker.send(talk.Count(3), despite="unlucky") == talk.encode(talk.Count(3))
    assert asker.sums.seen == (250,) and asker.failure.name == "unlucky"
    asker.close()
    assert refusal(talk, asker.send, talk.Count(3), despite="unlucky") == "closed"


def test_a_peer_whose_bytes_make_no_sense_is_told(talk: Any) -> None:
    for keep_going in (False, True):
        asker = talk.Connection("asker", keep_going=keep_going, limits=talk.Limits(frame=100))
        assert names(asker.receive(b"\x01\xff\xff\x00")) == ["Fault"]
        assert asker.failure.code == "limit_exceeded" and asker.is_closed
        with pytest.raises(talk.SessionError, match="limit_exceeded"):
            asker.send(talk.Count(3))
        assert asker.send(talk.Count(3), despite="limit_exceeded")


def test_a_violation_that_is_committed_knowingly_is_named(talk: Any, asker: Any) -> None:
    before = repr(asker.sums)
    assert asker.send(talk.Count(7), despite="unlucky") == talk.encode(talk.Count(7))
    assert repr(asker.sums) == before
    assert refusal(talk, asker.send, talk.Count(7), despite="impolite") == "unlucky"
    nested = talk.Envelope([talk.Frame(talk.Count(3)), talk.Frame(talk.Count(9))])
    assert asker.send(nested, despite="unlucky") == talk.encode(nested)
    assert asker.sums.seen == (250,)


def test_an_error_says_the_name_of_a_violation_once(talk: Any, asker: Any) -> None:
    with pytest.raises(talk.SessionError) as caught:
        asker.send(talk.Count(7))
    assert str(caught.value) == "unlucky (local): Sums in open: Some numbers are not said."


def test_a_connection_that_keeps_going_reports_and_goes_on(talk: Any) -> None:
    asker = talk.Connection("asker", keep_going=True)
    data = b"".join(map(talk.encode, (talk.Count(3), talk.Count(7), talk.Count(4))))
    events = asker.receive(data)
    assert names(events) == ["Received", "Violation", "Received", "Received"]
    assert events[1].frame is events[2].frame
    assert [note.name for note in events[2].notes] == ["unlucky"]
    assert asker.sums.seen == (250, 253)
    assert asker.failure is None
    assert asker.send(talk.Count(5))


def test_a_lenient_violation_is_a_note_and_the_rows_below_are_tried(talk: Any, asker: Any) -> None:
    noted, event = asker.receive(talk.encode(talk.Count(13)))
    assert (noted.name, noted.lenient, noted.frame) == ("unlucky", True, event.frame)
    assert event.notes == (noted,) and asker.failure is None
    assert asker.sums.seen == (250,)


def test_strict_makes_it_a_violation(talk: Any) -> None:
    asker = talk.Connection("asker", strict=True)
    (event,) = asker.receive(talk.encode(talk.Count(13)))
    assert (event.name, event.lenient) == ("unlucky", False)
    assert refusal(talk, talk.Connection("asker", strict=True).send, talk.Count(13)) == "unlucky"


def test_a_message_that_the_sender_never_sends_is_refused(talk: Any, asker: Any) -> None:
    assert refusal(talk, asker.send, talk.Done()) == "wrong_role"
    (event,) = talk.Connection("answerer", keep_going=True).receive(talk.encode(talk.Count(3)))
    assert event.notes == ()


def test_what_no_row_of_the_state_takes_is_unexpected(talk: Any, asker: Any) -> None:
    [event] = asker.receive(talk.encode(talk.Step(1)))
    assert (event.name, event.frame) == ("unexpected_message", talk.Frame(talk.Step(1)))
    assert "Step" not in repr(event)


def test_what_is_refused_here_changes_nothing_anywhere(talk: Any, asker: Any) -> None:
    asker.send(talk.Start(1, 2))
    before = [repr(asker.sums), repr(asker.job[1]), repr(asker.patience)]
    assert refusal(talk, asker.send, talk.Count(7)) == "unlucky"
    assert refusal(talk, asker.send, talk.Start(1, 2)) == "job_in_use"
    with pytest.raises(talk.EncodeError):
        asker.send(talk.Count(3000))
    assert [repr(asker.sums), repr(asker.job[1]), repr(asker.patience)] == before
    assert asker.failure is None


# ---- frames inside messages ----


def test_frames_inside_a_message_are_seen_one_after_the_other(talk: Any, asker: Any) -> None:
    inner = [talk.Frame(talk.Count(3)), talk.Frame(talk.Envelope([talk.Frame(talk.Count(4))]))]
    (event,) = asker.receive(talk.encode(talk.Envelope(inner)))
    assert type(event.frame.message).__name__ == "Envelope"
    assert asker.sums.seen == (250, 253)


def test_a_violation_inside_undoes_all_that_was_to_be_sent(talk: Any, asker: Any) -> None:
    asker.send(talk.Count(3))
    inner = [talk.Frame(talk.Count(4)), talk.Frame(talk.Start(5, 1)), talk.Frame(talk.Count(9))]
    assert refusal(talk, asker.send, talk.Envelope(inner)) == "unlucky"
    assert asker.sums.seen == (250,)
    assert len(asker.job) == 0
    with pytest.raises(talk.EncodeError):
        asker.send(talk.Envelope([talk.Frame(talk.Count(4)), talk.Frame(talk.Count(-5))]))
    assert asker.sums.seen == (250,)


def test_bare_messages_inside_a_message_are_judged_in_frames_of_their_own(talk: Any, asker: Any) -> None:
    bare = talk.Envelope([talk.Count(3), talk.Count(4)])
    assert asker.send(bare) == talk.encode(bare)
    assert asker.sums.seen == (250, 253)
    assert refusal(talk, asker.send, talk.Envelope([talk.Count(3), talk.Count(7)])) == "unlucky"
    assert refusal(talk, asker.send, talk.Envelope([talk.Done()])) == "wrong_role"
    asker.send(talk.Envelope([talk.Maybe(True, 3)]))
    asker.send(talk.Maybe(True, 4), note=1)
    assert (asker.sums.seen, asker.options.big) == ((250, 253), 4)


class _Odd(BaseException):
    pass


def _odd_messages(talk: Any) -> list[Any]:
    """Return messages that should not be sent: values of wrong types in every place, alone and inside others."""
    odd = [None, "7", 1.5, [], {}, 2**70, -1, object()]
    plain = [
        *(make(value) for make in (talk.Count, talk.Step, talk.Hello, talk.Take) for value in odd),
        *(make(value, value) for make in (talk.Start, talk.Offer, talk.Maybe) for value in odd),
        *odd,
        talk.Frame(talk.Frame(talk.Count(3))),
        talk.Frame(None),
    ]
    inside = [talk.Envelope([talk.Count(4), each]) for each in plain]
    framed = [talk.Envelope([talk.Frame(talk.Count(4)), talk.Frame(each)]) for each in plain]
    return [*plain, *inside, *framed, *map(talk.Envelope, odd)]


def _all_of(connection: Any) -> Any:
    engine = connection._engine
    shown = [(place[0].shown_key, place[1]) for place in engine.save()[1]]
    return shown, engine.save()[0], engine.next_timeout(), connection.failure


def test_whatever_is_wrong_with_a_message_a_refused_one_changes_nothing(talk: Any, asker: Any) -> None:
    asker.send(talk.Start(1, 2), 1.0)
    asker.send(talk.Wait(), 2.0)
    for message in _odd_messages(talk):
        before = _all_of(asker)
        try:
            asker.send(message, 2.5)
        except (talk.SessionError, talk.EncodeError):
            assert _all_of(asker) == before, message
        asker.send(talk.Count(4), 2.5)


@pytest.mark.parametrize("error", [ValueError, AttributeError, MemoryError, KeyboardInterrupt, _Odd])
@pytest.mark.parametrize("place", ["encode", "take"])
def test_whatever_is_raised_a_refused_send_changes_nothing(
    talk: Any, asker: Any, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], place: str
) -> None:
    def fail(*_: Any, **__: Any) -> bytes:
        raise error

    asker.send(talk.Start(1, 2))
    before = _all_of(asker)
    monkeypatch.setattr(asker, "_encoded" if place == "encode" else "_remember", fail)
    for message in (
        talk.Count(3),
        talk.Offer(1, 1),
        talk.Envelope([talk.Count(4), talk.Frame(talk.Start(5, 1))]),
    ):
        with pytest.raises(error):
            asker.send(message)
        assert _all_of(asker) == before
    monkeypatch.undo()
    assert asker.send(talk.Count(3))


# ---- instances ----


def test_each_key_has_an_instance_until_it_is_as_new(talk: Any, asker: Any) -> None:
    asker.send(talk.Start(1, 1))
    asker.send(talk.Start(2, 2))
    assert (asker.job[1].state, asker.job[2].left, 3 in asker.job, list(asker.job)) == (
        "running",
        2,
        False,
        [1, 2],
    )
    assert not violation(asker.receive(talk.encode(talk.Step(1))))
    assert (len(asker.job), asker.job[1].state) == (1, "free")
    asker.send(talk.Start(1, 5))
    assert asker.job[1].left == 5


def test_there_are_no_more_instances_than_the_limit_says(talk: Any, asker: Any) -> None:
    for job in range(3):
        asker.send(talk.Start(job, 1))
    assert refusal(talk, asker.send, talk.Start(3, 1)) == "limit_exceeded"
    peer = talk.Connection("answerer", limits=talk.Limits(open=1))
    events = peer.receive(talk.encode(talk.Start(1, 1)) + talk.encode(talk.Start(2, 1)))
    assert (names(events), violation(events)) == (["Received", "Violation"], "limit_exceeded")
    assert events[-1].rule == (
        "limits.open bounds Job per job: no more than 1 at a time; Limits(open=...) allows more"
    )


def test_a_message_without_the_key_goes_to_every_instance(talk: Any, asker: Any) -> None:
    asker.send(talk.Start(1, 1))
    asker.send(talk.Start(2, 2))
    asker.send(talk.Reset())
    assert len(asker.job) == 0


def test_each_sender_has_an_instance(talk: Any, asker: Any) -> None:
    me, you = UUID(int=1), UUID(int=2)
    asker.send(talk.Hello(me))
    assert violation(asker.receive(talk.encode(talk.Late()))) == "hello_first"
    asker = talk.Connection("asker")
    asker.send(talk.Hello(me))
    assert not violation(asker.receive(talk.encode(talk.Hello(you))))
    assert (asker.greeting["asker"].who, asker.greeting["answerer"].who) == (me, you)
    assert refusal(talk, asker.send, talk.Hello(you)) == "another_name"


def test_whoever_begins_plays_the_first_part(talk: Any, asker: Any) -> None:
    asker.send(talk.Offer(1, 10))
    assert not violation(asker.receive(talk.encode(talk.Offer(1, 20))))
    assert (asker.sale["asker", 1].price_asked, asker.sale["answerer", 1].price_asked) == (10, 20)
    assert asker.sale[1].price_asked == 10
    asker.send(talk.Take(1))
    assert (asker.sale["answerer", 1].state, asker.sale["asker", 1].state) == ("sold", "offered")
    assert refusal(talk, asker.send, talk.Take(2)) == "nothing_offered"


def test_an_instance_that_nothing_changes_any_more_makes_room(talk: Any, asker: Any) -> None:
    for item in range(10):
        asker.send(talk.Offer(item, 1))
        assert not violation(asker.receive(talk.encode(talk.Take(item))))
        assert asker.sale[item].state == "sold"
    assert len(asker.sale) == 3 and asker.sale.n_forgotten == 7
    assert repr(asker.sale) == "<Sale: 3 kept, 7 forgotten>"
    assert violation(asker.receive(talk.encode(talk.Take(9)))) == "sold_already"


def test_an_instance_that_the_peer_has_forgotten_is_told(talk: Any) -> None:
    peer = talk.Connection("answerer")
    for item in range(3):
        assert names(peer.receive(talk.encode(talk.Offer(item, 1)))) == ["Received"]
        peer.send(talk.Take(item))
    told, received = peer.receive(talk.encode(talk.Offer(3, 1)))
    assert (told.name, told.session, told.lenient, told.role) == ("limit_exceeded", "Sale", True, "asker")
    assert told.key == ("asker", 0) and received.notes == (told,)
    assert "limits.open bounds Sale per item: the oldest of 3 is forgotten" in told.rule
    assert names(peer.receive(talk.encode(talk.Count(3)))) == ["Received"]


def test_strict_forgets_none(talk: Any) -> None:
    """It could not enforce the rules on forgotten keys."""
    asker = talk.Connection("asker", strict=True)
    for item in range(3):
        asker.send(talk.Offer(item, 1))
        assert not violation(asker.receive(talk.encode(talk.Take(item))))
    assert refusal(talk, asker.send, talk.Offer(3, 1)) == "limit_exceeded"
    with pytest.raises(talk.SessionError, match=r"limits\.open bounds Sale per item: no more than 3"):
        asker.send(talk.Offer(3, 1))
    assert asker.sale.n_forgotten == 0
    assert violation(asker.receive(talk.encode(talk.Take(0)))) == "sold_already"


def test_what_is_undone_brings_back_what_had_given_way(talk: Any, asker: Any) -> None:
    for item in range(3):
        asker.send(talk.Offer(item, 1))
        asker.receive(talk.encode(talk.Take(item)))
    for _ in range(2):
        inner = [talk.Frame(talk.Offer(3, 1)), talk.Frame(talk.Count(9))]
        assert refusal(talk, asker.send, talk.Envelope(inner)) == "unlucky"
        assert (len(asker.sale), asker.sale.n_forgotten, asker.sale[0].state) == (3, 0, "sold")
    asker.send(talk.Offer(3, 1))
    assert (len(asker.sale), asker.sale.n_forgotten) == (3, 1)


# ---- time ----


def test_timers_run_out_and_are_begun_anew(talk: Any, asker: Any) -> None:
    assert asker.next_timeout() is None
    asker.send(talk.Wait(), 10.0)
    assert asker.next_timeout() == 12.0
    asker.send(talk.Wait(), 11.0)
    assert asker.next_timeout() == 13.0
    assert asker.tick(12.9) == []
    (event,) = asker.tick(13.0)
    assert (event.session, event.state, event.next_state, event.time) == (
        "Patience",
        "waiting",
        "nervous",
        13.0,
    )
    assert asker.next_timeout() == 18.0
    (event,) = asker.tick(30.0)
    assert (event.name, event.role, event.time) == ("no_answer", None, 18.0)
    assert (asker.failure, asker.next_timeout()) == (event, None)


def test_time_passes_before_what_comes(talk: Any, asker: Any) -> None:
    asker.send(talk.Wait(), 0.0)
    events = asker.receive(talk.encode(talk.Done()), 3.0)
    assert names(events) == ["TimedOut", "Received"]
    assert (asker.patience.state, asker.next_timeout()) == ("calm", None)


def test_the_time_of_a_timer_is_a_limit(talk: Any) -> None:
    asker = talk.Connection("asker", limits=talk.Limits(idle=500))
    asker.send(talk.Wait(), 1.0)
    assert asker.next_timeout() == 1.5


def test_a_connection_that_keeps_going_is_told_once_that_a_time_ran_out(talk: Any) -> None:
    asker = talk.Connection("asker", keep_going=True)
    asker.send(talk.Wait(), 0.0)
    assert names(asker.tick(100.0)) == ["TimedOut", "Violation"]
    assert (asker.tick(200.0), asker.next_timeout()) == ([], None)
    assert not violation(asker.receive(talk.encode(talk.Done()), 201.0))


# ---- the ends ----


def test_nothing_is_sent_after_close(talk: Any, asker: Any) -> None:
    asker.close()
    assert refusal(talk, asker.send, talk.Count(3)) == "closed"
    assert asker.receive(talk.encode(talk.Count(3))) == []


def test_the_end_of_the_stream_is_an_event(talk: Any, asker: Any) -> None:
    assert names(asker.eof(1.0)) == ["Ended"]
    assert asker.send(talk.Count(3))
    cut = talk.Connection("asker")
    cut.receive(talk.encode(talk.Count(3))[:-1])
    events = cut.eof()
    assert (names(events), events[0].error.code) == (["Fault", "Ended"], "truncated")


def test_a_fault_with_a_known_end_closes_and_costs_one_frame_where_the_connection_continues(
    talk: Any,
) -> None:
    bad = bytes.fromhex("01 0002 00 0303")
    closing = talk.Connection("asker")
    assert names(closing.receive(bad + talk.encode(talk.Count(3)))) == ["Fault"]
    assert closing.failure.code == "trailing_bytes" and not closing.has_more
    asker = talk.Connection("asker", on_error="continue")
    events = asker.receive(bad + talk.encode(talk.Count(3)))
    assert names(events) == ["Fault", "Received"]
    assert asker.failure is None


def test_roles_are_the_protocols(talk: Any) -> None:
    with pytest.raises(ValueError, match="no role"):
        talk.Connection("nobody")
    with pytest.raises(ValueError, match="no role"):
        talk.Session().observe("nobody", b"")


# ---- both directions ----


def test_an_observer_sees_what_both_sides_see(talk: Any) -> None:
    """Every message of each side, whether legal or not, means the same to the sender, the receiver and an observer."""
    messages = [
        talk.Count(3), talk.Start(1, 2), talk.Step(1), talk.Offer(1, 1), talk.Take(1), talk.Wait(), talk.Done(),
        talk.Hello(UUID(int=1)), talk.Reset(), talk.Maybe(True, 200), talk.Insult(), talk.Late(), talk.Count(10),
    ]  # fmt: skip
    for first, second, third in itertools.product(messages, repeat=3):
        sides = {role: talk.Connection(role) for role in PEERS}
        session = talk.Session()
        for role, message in (("asker", first), ("answerer", second), ("asker", third)):
            try:
                data, name = sides[role].send(message), None
            except talk.SessionError as error:
                data, name = talk.encode(message), error.violation
            assert violation(sides[PEERS[role]].receive(data)) == name
            assert violation(session.observe(role, data)) == name
            if name is not None:
                break
            assert_alike(session, *sides.values())


def assert_alike(*sides: Any) -> None:
    for name in ("sums", "options", "patience"):
        assert len({repr(getattr(side, name)) for side in sides}) == 1
    for name in ("job", "greeting", "sale"):
        found = [
            {key: repr(views[key]) for key in views} for views in (getattr(side, name) for side in sides)
        ]
        assert found[0] == found[1] == found[-1]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_where_a_stream_is_cut_does_not_matter(talk: Any, size: int) -> None:
    inner = talk.Envelope([talk.Frame(talk.Count(13)), talk.Frame(talk.Count(4))])
    said = [talk.Count(3), inner, talk.Start(1, 2), talk.Hello(UUID(int=3)), talk.Start(1, 1), talk.Count(3)]
    data = b"".join(map(talk.encode, said))
    chunked = talk.Connection("answerer")
    events = [
        event for start in range(0, len(data), size) for event in chunked.receive(data[start : start + size])
    ]
    whole = talk.Connection("answerer")
    assert events == whole.receive(data)
    assert violation(events) == "job_in_use"
    assert_alike(chunked, whole)
