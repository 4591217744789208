"""The documents' statements on conversations, each as a conversation: legal, or with the name of its
violation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from tests.conformance.conversations import Said, Talk

from wireproto import geode
from wireproto import lumberjack as lj
from wireproto import pravega_documented as pd
from wireproto import pravega_proposal as pp
from wireproto import reactive_streams as rs

__all__ = ["TALKS"]

WRITER = UUID(int=7)
OTHER = UUID(int=8)


def client(*values: Any) -> tuple[Said, ...]:
    return tuple(Said(role="client", value=value) for value in values)


def server(*values: Any) -> tuple[Said, ...]:
    return tuple(Said(role="server", value=value) for value in values)


# ---- Lumberjack


def version_1(role: str, messages: Iterable[Any]) -> tuple[Said, ...]:
    return tuple(Said(role=role, value=lj.Frame(each, version=lj.Version.V1)) for each in messages)


def window(size: int) -> tuple[Said, ...]:
    return version_1("writer", [lj.Window(size)])


def events(*sequences: int) -> tuple[Said, ...]:
    return version_1("writer", [lj.Data(each, []) for each in sequences])


def ack(*sequences: int) -> tuple[Said, ...]:
    return version_1("reader", [lj.Ack(each) for each in sequences])


TOP = 2**32
W50 = (*window(50), *events(*range(1, 51)), *ack(25), *events(*range(51, 76)), *ack(75))
TWO_WINDOWS = (*window(2), *events(1, 2), *window(2), *events(3, 4))
ROLLED_OVER = (*window(2), *events(TOP - 2, TOP - 1), *window(3), *events(0, 1, 2))
ANEW = (*window(5), *events(1), *window(2), *events(2, 3), *ack(3))
SLID = (*window(2), *events(1, 2), *ack(2), *events(3))
BATCH: dict[str, Any] = {"window_use": lj.WindowUse.BATCH}
LIMIT: dict[str, Any] = {"window_use": lj.WindowUse.LIMIT}


def lumberjack() -> Iterator[Talk]:
    """ "can send up to 50 unacked events before blocking", "all data frames before and including '6'"."""

    def talk(name: str, said: tuple[Said, ...], *breaks: str, is_noted: bool = False, **options: Any) -> Talk:
        return Talk(
            protocol="lumberjack", name=name, said=said, breaks=breaks, is_noted=is_noted, options=options
        )

    yield talk("a window slides", W50)
    yield talk("and on", (*W50, *events(*range(76, 126)), *ack(125)))
    yield talk("one more than the window", (*window(3), *events(1, 2, 3), *ack(1), *events(4)))
    yield talk(
        "two more than the window",
        (*window(3), *events(1, 2, 3), *ack(1), *events(4, 5)),
        "window_overrun",
        is_noted=True,
    )
    yield talk("six events and one ack", (*window(6), *events(1, 2, 3, 4, 5, 6), *ack(6)))
    yield talk("an ack covers windows", (*TWO_WINDOWS, *ack(4), *events(5, 6), *ack(6)))
    yield talk("an ack in the second window", (*TWO_WINDOWS, *ack(3, 4)))
    yield talk(
        "an ack beyond the oldest window",
        (*TWO_WINDOWS, *ack(4)),
        "ack_out_of_window",
        ack_reach=lj.AckReach.WINDOW,
    )
    yield talk("an ack of what was never sent", (*TWO_WINDOWS, *ack(9)), "ack_out_of_window")
    yield talk("numbers roll over", (*ROLLED_OVER, *ack(1, 2)))
    yield talk("acks on both sides of it", (*ROLLED_OVER, *ack(0, TOP - 1, 0)))
    yield talk("another window when it likes", ANEW)
    yield talk("but not for who counts batches", ANEW, "window_short", is_noted=True, **BATCH)
    yield talk("no event without a new window", SLID)
    yield talk("for who counts batches", SLID, "window_overrun", is_noted=True, **BATCH)
    full = (*window(2), *events(1, 2), *window(2))
    yield talk("another window before the acks", (*full, *events(3, 4), *ack(4)))
    yield talk(
        "it lifts no limit by the document", (*full, *events(3)), "window_overrun", is_noted=True, **LIMIT
    )
    yield talk("but a smaller one lowers it", (*full, *ack(2), *window(1), *events(3), *ack(3)), **LIMIT)
    yield talk("a window slides by the document", (*W50, *window(50), *events(76), *ack(76)), **LIMIT)
    all_six = (*window(6), *events(1, 2, 3, 4, 5, 6), *ack(6))
    yield talk("an old ack when nothing waits", (*all_six, *ack(3, 6, 1)))
    yield talk("nor what comes later", (*all_six, *ack(7)), "ack_out_of_window")
    yield talk("an old ack over the roll-over", (*ROLLED_OVER, *ack(2, TOP - 1)))
    yield talk("no ack before an event", (*window(2), *ack(TOP - 1)), "ack_out_of_window")
    yield talk("the last ack once more, numbered anew", (*all_six, *window(2), *events(1, 2), *ack(6, 2)))
    rolled = (*window(2), *events(TOP - 2, TOP - 1), *window(2), *events(0, 1))
    yield talk("event 0 of a later window is no keepalive", (*rolled, *ack(0), *events(2)))
    numbered_anew = (*window(2), *events(11, 12), *window(2), *events(1, 2))
    yield talk("an event that waits was not acknowledged before", (*numbered_anew, *ack(1), *events(3)))
    yield talk("nothing was before the first ack", (*window(2), *events(5, 6), *ack(3)), "ack_out_of_window")
    yield talk("an ack behind the last one, of no event", (*window(1), *events(100), *ack(100, 7)))
    yield talk("a window above the limit", (*window(10_001),), "window_too_large", is_noted=True)
    counted: dict[str, Any] = {"ack_value": lj.AckValue.COUNT}
    yield talk("no old ack for who counts", (*all_six, *ack(3)), "ack_out_of_window", **counted)


# ---- Pravega's documentation

D_SETUP = (*client(pd.SetupAppend(1, WRITER, "s", "")), *server(pd.AppendSetup(1, "s", WRITER, 0)))
D_EVENT = bytes.fromhex("00000000 00000002 6162")


def appended(*lasts: int) -> tuple[Said, ...]:
    blocks = [
        (pd.AppendBlock(WRITER, D_EVENT), pd.AppendBlockEnd(WRITER, len(D_EVENT), b"", 1, last))
        for last in lasts
    ]
    return client(*(message for block in blocks for message in block))


def stored(number: int, previous: int) -> tuple[Said, ...]:
    return server(pd.DataAppended(WRITER, number, previous))


def pravega_documented() -> Iterator[Talk]:
    def talk(name: str, said: tuple[Said, ...], *breaks: str, is_noted: bool = False) -> Talk:
        return Talk(protocol="pravega_documented", name=name, said=said, breaks=breaks, is_noted=is_noted)

    begin, end = pd.AppendBlock(WRITER, b""), pd.AppendBlockEnd(WRITER, 20, b"", 2, 2)
    cut = (pd.PartialEvent(b"a"), pd.AppendBlockEnd(WRITER, 10, b"b", 2, 2))
    event, read = pd.Event(b"ab"), client(pd.ReadSegment("s", 0, 100, ""))
    ten = [pd.SegmentRead("s", offset, True, False, bytes(10)) for offset in (0, 10, 20)]

    yield talk("events as messages of a block", (*D_SETUP, *client(begin, event, event, end)))
    yield talk("the last of them is cut", (*D_SETUP, *client(begin, event, *cut)))
    ends = {size: pd.AppendBlockEnd(WRITER, size, b"", 2, 2) for size in (-1, 2, 4, 21)}
    for size in (-1, 21):
        yield talk(
            f"two messages of {size} bytes",
            (*D_SETUP, *client(begin, event, event, ends[size])),
            "bad_size_of_whole_events",
        )
    yield talk("without their headers", (*D_SETUP, *client(begin, event, event, ends[4])))
    yield talk(
        "an event behind the whole ones",
        (*D_SETUP, *client(begin, event, event, ends[2])),
        "bad_block_tail",
        is_noted=True,
    )
    yield talk(
        "the part is no whole event",
        (*D_SETUP, *client(begin, event, pd.PartialEvent(b"a"), ends[21])),
        "bad_size_of_whole_events",
    )
    rest = pd.AppendBlockEnd(WRITER, 20, b"c", 2, 2)
    yield talk(
        "a rest of nothing",
        (*D_SETUP, *client(begin, event, event, rest)),
        "block_end_data_ignored",
        is_noted=True,
    )
    yield talk(
        "events in the data and behind it",
        (*D_SETUP, *client(pd.AppendBlock(WRITER, D_EVENT), event, end)),
    )
    yield talk("events in the data of a block", (*D_SETUP, *appended(1), *stored(1, 0)))
    below = (*client(pd.SetupAppend(1, WRITER, "s", "")), *server(pd.AppendSetup(1, "s", WRITER, -10)))
    yield talk("numbers below zero", (*below, *appended(-9, -8), *stored(-9, -10), *stored(-8, -9)))
    yield talk("numbers that fall", (*D_SETUP, *appended(3, 2)), "event_number_backwards", is_noted=True)
    yield talk(
        "an ack of the last of them",
        (*D_SETUP, *appended(1, 3, 2), *stored(1, 0), *stored(3, 1)),
        "event_number_backwards",
        is_noted=True,
    )
    yield talk("an event outside a block", (*D_SETUP, *client(event)), "event_outside_block")
    yield talk("acks that follow each other", (*D_SETUP, *appended(3, 5), *stored(3, 0), *stored(5, 3)))
    yield talk(
        "another previous number",
        (*D_SETUP, *appended(5, 9), *stored(5, 0), *stored(9, 3)),
        "wrong_previous_number",
        is_noted=True,
    )
    for number in (100, 3):
        yield talk(
            f"the ack {number} of no block",
            (*D_SETUP, *appended(5), *stored(number, 0)),
            "ack_of_no_block",
            is_noted=True,
        )
    asked = client(pd.SetupAppend(1, WRITER, "s", ""))
    for name, answer in (
        ("request", pd.AppendSetup(2, "s", WRITER, 0)),
        ("segment", pd.AppendSetup(1, "t", WRITER, 0)),
    ):
        yield talk(
            f"an answer to another {name}", (*asked, *server(answer)), "other_append_setup", is_noted=True
        )
    yield from pravega_setups()
    nothing = client(begin, pd.AppendBlockEnd(WRITER, 0, b"", 0, 0))
    yield talk("a block of nothing", (*D_SETUP, *nothing), "bad_event_count", is_noted=True)
    some = client(pd.AppendBlock(WRITER, D_EVENT + bytes(5)), pd.AppendBlockEnd(WRITER, 10, b"", 1, 1))
    yield talk("a block that is less than full", (*D_SETUP, *some), "bad_block_tail", is_noted=True)
    whole = pd.AppendBlock(WRITER, D_EVENT + D_EVENT)
    for name, messages in (("open", (whole,)), ("half full", (begin, event, event))):
        second = client(*messages, pd.SetupAppend(2, OTHER, "t", ""), end)
        yield talk(f"another writer while a block is {name}", (*D_SETUP, *second))
        again = client(*messages, pd.SetupAppend(2, WRITER, "s", ""))
        yield talk(
            f"its own while it is {name}", (*D_SETUP, *again), "unexpected_in_append_block", is_noted=True
        )
    yield talk("an end of no block", (*D_SETUP, *client(end)), "block_end_without_begin")
    twice = (*D_SETUP, *appended(1), *client(end))
    yield talk("a block that ends twice", twice, "block_end_without_begin")
    held = pd.AppendBlockEnd(WRITER, 2 * len(D_EVENT), D_EVENT, 2, 2)
    yield talk(
        "the end holds contents of the block", (*D_SETUP, *client(pd.AppendBlock(WRITER, D_EVENT), held))
    )
    yield talk(
        "or all of them",
        (*D_SETUP, *client(begin, pd.AppendBlockEnd(WRITER, len(D_EVENT), D_EVENT, 1, 1))),
    )
    yield talk(
        "but not less than it says",
        (*D_SETUP, *client(begin, pd.AppendBlockEnd(WRITER, len(D_EVENT) + 1, D_EVENT, 1, 1))),
        "bad_size_of_whole_events",
    )
    yield talk("a read in several replies", (*read, *server(*ten)))
    yield talk("more than was asked for", (*read, *server(pd.SegmentRead("s", 0, True, False, bytes(200)))))
    yield talk("a reply to nothing", (*read, *server(ten[1])), "unknown_read", is_noted=True)
    yield talk("Padding outside a block", client(pd.Padding(b"")), "padding_outside_block", is_noted=True)
    for name, said in (("outside a block", ()), ("while a block is open", (*D_SETUP, *client(begin)))):
        yield talk(
            f"a PartialEvent of the server {name}",
            (*said, *server(pd.PartialEvent(b"a"))),
            "partial_event_from_server",
            is_noted=True,
        )
    behind = (*D_SETUP, *client(begin, event, pd.AppendBlock(OTHER, b"")))
    both = (*client(pd.SetupAppend(2, OTHER, "t", "")), *server(pd.AppendSetup(2, "t", OTHER, 0)))
    yield talk(
        "another's block when an Event came as a message", (*both, *behind), "unexpected_in_append_block"
    )


def pravega_setups() -> Iterator[Talk]:
    """ "there can be multiple "Appends Setup" for a given TCP connection"; each of them is answered."""

    def talk(name: str, said: tuple[Said, ...], *breaks: str, is_noted: bool = False) -> Talk:
        return Talk(protocol="pravega_documented", name=name, said=said, breaks=breaks, is_noted=is_noted)

    def asked(*setups: tuple[int, str]) -> tuple[Said, ...]:
        return client(*(pd.SetupAppend(id_, WRITER, segment, "") for id_, segment in setups))

    def answered(*setups: tuple[int, str, int]) -> tuple[Said, ...]:
        return server(*(pd.AppendSetup(id_, segment, WRITER, last) for id_, segment, last in setups))

    both = asked((1, "a"), (2, "a"))
    yield talk("two setups of one segment", (*both, *answered((1, "a", 0), (2, "a", 0)), *appended(1)))
    yield talk("answered the other way round", (*both, *answered((2, "a", 0), (1, "a", 0)), *appended(1)))
    yield talk("an append behind the first answer", (*both, *answered((1, "a", 0)), *appended(1)))
    yield talk("but not before it", (*both, *client(pd.AppendBlock(WRITER, b""))), "append_before_setup")
    pair = asked((1, "a"), (2, "b"))
    yield talk(
        "two segments", (*pair, *answered((1, "a", 0), (2, "b", 9)), *appended(1, 10, 2), *stored(10, 9))
    )
    yield talk("in any order", (*pair, *answered((2, "b", 9), (1, "a", 0)), *appended(10)))
    yield talk("two with one id", (*asked((1, "a"), (1, "b")), *answered((1, "b", 0), (1, "a", 0))))
    yield talk(
        "an answer that is mixed up", (*pair, *answered((1, "b", 0))), "other_append_setup", is_noted=True
    )
    once = (*asked((1, "a")), *answered((1, "a", 0)))
    yield talk(
        "an answer that comes twice", (*once, *answered((1, "a", 0))), "other_append_setup", is_noted=True
    )
    again = (*once, *appended(1), *asked((2, "b")))
    yield talk(
        "a second segment between blocks", (*again, *appended(2), *answered((2, "b", 7)), *appended(8))
    )
    yield talk("an ack meanwhile", (*again, *stored(1, 0), *answered((2, "b", 7)), *stored(8, 7)))


# ---- Pravega's proposal

P_SETUP = (*client(pp.SetupAppend(WRITER, "s")), *server(pp.AppendSetup("s", WRITER, 0)))
P_EVENT = pp.Event(b"ab")
P_CUT = pp.encode(P_EVENT)


def begun(offset: int = 0, length: int = 100) -> tuple[Said, ...]:
    return client(pp.BeginAppendBlock(WRITER, offset, length))


def ended(length: int, offset: int = 0) -> tuple[Said, ...]:
    return client(pp.EndAppendBlock(WRITER, offset, length))


def level(*levels: int) -> tuple[Said, ...]:
    return server(*(pp.DataAppended(WRITER, each) for each in levels))


def answer_at(offset: int) -> tuple[Said, ...]:
    return server(pp.AppendSetup("s", WRITER, offset))


def piece(part: pp.Part, data: bytes) -> tuple[Said, ...]:
    return client(pp.PartialMessage(part, data))


FIRST, REST = piece(pp.Part.BEGIN, P_CUT[:3]), piece(pp.Part.END, P_CUT[3:])


def proposed_blocks() -> Iterator[Talk]:
    """ "followed the EndAppendBlock message, followed by the remaining partial message"."""

    def talk(name: str, said: tuple[Said, ...], *breaks: str, is_noted: bool = False) -> Talk:
        return Talk(protocol="pravega_proposal", name=name, said=said, breaks=breaks, is_noted=is_noted)

    one = client(P_EVENT)
    yield talk("the last event is cut", (*P_SETUP, *begun(), *one, *FIRST, *ended(20), *REST, *begun(20)))
    middle = piece(pp.Part.MIDDLE, P_CUT[3:5])
    more = piece(pp.Part.END, P_CUT[5:])
    yield talk("and cut twice", (*P_SETUP, *begun(), *FIRST, *middle, *ended(10), *more, *begun(10), *one))
    yield talk("and cut behind the end", (*P_SETUP, *begun(), *FIRST, *ended(10), *middle, *more))
    yield talk(
        "the rest in the next block", (*P_SETUP, *begun(), *FIRST, *ended(10), *begun(10), *REST, *one)
    )
    yield talk(
        "no other event behind the end",
        (*P_SETUP, *begun(), *FIRST, *ended(10), *one, *REST),
        "event_outside_block",
    )
    yield talk(
        "and only that event",
        (*P_SETUP, *begun(), *FIRST, *ended(10), *REST, *one),
        "event_outside_block",
    )
    yield talk("no event before a block", (*P_SETUP, *one), "event_outside_block")
    yield talk("nor one in pieces", (*P_SETUP, *FIRST, *REST), "event_outside_block")
    yield talk(
        "nor one that begins before it",
        (*P_SETUP, *FIRST, *begun(), *one, *REST),
        "event_begun_early",
        is_noted=True,
    )
    alive = pp.encode(pp.KeepAlive(b""))
    around = piece(pp.Part.BEGIN, alive[:3]), piece(pp.Part.END, alive[3:])
    yield talk("but any other message", (*P_SETUP, *around[0], *begun(), *one, *around[1], *one, *ended(20)))
    yield talk(
        "and it goes on behind the block",
        (*P_SETUP, *around[0], *begun(), *one, *ended(10), *around[1], *begun(10), *one),
    )
    yield talk(
        "an answer to another segment",
        (*client(pp.SetupAppend(WRITER, "s")), *server(pp.AppendSetup("t", WRITER, 0))),
        "other_append_setup",
        is_noted=True,
    )
    setups = client(pp.SetupAppend(WRITER, "s"), pp.SetupAppend(WRITER, "s"))
    answer = server(pp.AppendSetup("s", WRITER, 0))
    yield talk("two setups and their answers", (*setups, *answer, *answer, *begun(), *one))
    yield talk("the second answer in a block", (*setups, *answer, *begun(), *one, *answer, *one, *ended(20)))
    yield talk(
        "an answer to no setup", (*P_SETUP, *server(pp.AppendSetup("s", WRITER, 0))), "unexpected_message"
    )
    moved = client(pp.SetupAppend(WRITER, "s"), pp.SetupAppend(WRITER, "t"))
    yield talk(
        "two segments in turn",
        (*moved, *server(pp.AppendSetup("s", WRITER, 40), pp.AppendSetup("t", WRITER, 7)), *begun(7), *one),
    )
    others = client(pp.KeepAlive(b""), pp.ReadSegment("s", 0, 10), pp.SetupAppend(OTHER, "t"))
    yield talk("other messages in a block", (*P_SETUP, *begun(), *one, *others, *one, *ended(20)))
    yield talk("but no block", (*P_SETUP, *begun(), *begun()), "unexpected_in_append_block")
    second = (*client(pp.SetupAppend(OTHER, "t")), *server(pp.AppendSetup("t", OTHER, 0)))
    yield talk(
        "nor another's",
        (*P_SETUP, *second, *begun(), *client(pp.BeginAppendBlock(OTHER, 0, 9))),
        "unexpected_in_append_block",
    )
    again = (*P_SETUP, *begun(), *one, *ended(10), *client(pp.SetupAppend(WRITER, "s")))
    fresh = server(pp.AppendSetup("s", WRITER, 4))
    yield talk("a block while it is set up again", (*again, *begun(10), *one, *ended(10, 10)))
    yield talk("and behind the answer", (*again, *answer_at(10), *begun(10), *one))
    yield talk("from where the answer says", (*again, *fresh, *begun(4), *one, *ended(10, 4), *level(14)))
    other = (*P_SETUP, *client(pp.SetupAppend(WRITER, "t")), *begun(), *one, *ended(10))
    yield talk("a block while another segment is set up", (*other, *level(10)))
    second_segment = (*other, *server(pp.AppendSetup("t", WRITER, 0)), *begun(0), *one, *ended(10))
    yield talk("and one for that segment", (*second_segment, *level(10, 20, 10)))
    yield talk(
        "nor its own setup",
        (*P_SETUP, *begun(), *P_SETUP[:1], *one, *ended(10), *level(10)),
        "unexpected_in_append_block",
        is_noted=True,
    )
    yield talk("pieces in a block", (*P_SETUP, *begun(), *FIRST, *others, *REST, *one, *ended(20)))
    yield talk(
        "one cut message after the other",
        (*P_SETUP, *begun(), *FIRST, *FIRST),
        "partial_in_progress",
    )


def proposed_levels() -> Iterator[Talk]:
    """ "the server will be periodically sending it DataAppended", "in as many replies as it sees fit"."""

    def talk(name: str, said: tuple[Said, ...], *breaks: str, is_noted: bool = False) -> Talk:
        return Talk(protocol="pravega_proposal", name=name, said=said, breaks=breaks, is_noted=is_noted)

    two = client(P_EVENT, P_EVENT)
    yield talk("acks in an open block", (*P_SETUP, *begun(), *two, *level(10, 20), *ended(20), *begun(20)))
    yield talk(
        "without the headers", (*P_SETUP, *begun(), *two, *level(2, 4), *ended(4), *level(4), *begun(4))
    )
    yield talk("of a block that is over", (*P_SETUP, *begun(), *two, *ended(20), *level(20)))
    beyond = (*P_SETUP, *begun(), *two, *level(21))
    yield talk("not of what was not sent", beyond, "ack_beyond_written", is_noted=True)
    yield talk(
        "not less than before", (*P_SETUP, *begun(), *two, *level(20, 10)), "ack_went_back", is_noted=True
    )
    late = (*P_SETUP, *begun(), *client(P_EVENT), *FIRST, *ended(10))
    yield talk("of an event whose rest follows the end", (*late, *REST, *level(20)))
    yield talk(
        "and the next block begins behind it", (*late, *REST, *begun(20), *two, *level(40), *ended(20, 20))
    )
    yield talk("or where the end says", (*late, *REST, *begun(10), *two, *level(40), *ended(20, 10)))
    yield talk("not of its first piece alone", (*late, *level(20)), "ack_beyond_written", is_noted=True)
    yield talk("an end that counts its block", (*P_SETUP, *begun(), *two, *ended(20, 20), *begun(20)))
    for name, said in (
        ("a beginning elsewhere", begun(777)),
        ("an end elsewhere", (*begun(), *two, *ended(20, 777))),
    ):
        yield talk(name, (*P_SETUP, *said), "bad_connection_offset", is_noted=True)
    yield talk(
        "acks while it is set up again",
        (*P_SETUP, *begun(), *two, *ended(20), *client(pp.SetupAppend(WRITER, "s")), *level(20)),
    )
    read = client(pp.ReadSegment("s", 0, 100))
    ten = [pp.SegmentRead("s", offset, True, False, bytes(10)) for offset in (0, 10, 20)]
    yield talk("a read in several replies", (*read, *server(*ten)))
    yield talk("more than was asked for", (*read, *server(pp.SegmentRead("s", 0, True, False, bytes(200)))))
    yield talk("a reply to nothing", server(ten[0]), "unknown_read", is_noted=True)


# ---- Geode and Reactive Streams


def geode_talks() -> Iterator[Talk]:
    values = geode.GeodeValue
    json: list[Any] = [geode.RequestMetadata.JsonKey(True), geode.RequestMetadata.JsonValue(True)]
    put = geode.PutRequest("r", values.Integer(101), values.Null(), values.Integer(7))
    get = geode.GetRequest("r", values.Integer(101), values.Null())
    start = client(geode.Connect(geode.Mode.WHOLE))
    asked = client(geode.Request(put, correlation_id=1), geode.Request(get, correlation_id=2))
    done = geode.Response(geode.PutResponse(True), correlation_id=1)
    got = geode.Response(geode.GetResponse(values.Integer(7)), correlation_id=2)

    def talk(name: str, said: tuple[Said, ...], *breaks: str, is_noted: bool = False) -> Talk:
        return Talk(protocol="geode", name=name, said=said, breaks=breaks, is_noted=is_noted)

    yield talk("answers in order", (*start, *asked, *server(done, got)))
    yield talk("answers out of order", (*start, *asked, *server(got)), "response_out_of_order", is_noted=True)
    flagged = geode.Request(put, correlation_id=1, metadata=json)
    yield talk("integers where JSON may be", (*start, *client(flagged), *server(done)))


def reactive_talks() -> Iterator[Talk]:
    hellos = (*client(rs.ClientHello(0, [])), *server(rs.ServerHello(0, [])))
    asked = (*hellos, *client(rs.Subscribe("p", 1, 2)), *server(rs.Subscribed(1)))
    parts = server(rs.OnNextPart(1, 9, b"a"), rs.OnNextPart(1, 9, b"b"), rs.OnNextLastPart(1, 9, b"c"))
    bye = rs.Goodbye("")

    def talk(name: str, said: tuple[Said, ...], *breaks: str, noted: tuple[str, ...] = ()) -> Talk:
        return Talk(protocol="reactive_streams", name=name, said=said, breaks=breaks, noted=noted)

    refused = ("unsupported_version",)
    yield talk("the server first", (*server(rs.ServerHello(0, [])), *client(rs.ClientHello(0, []))))
    yield talk("messages before the answer", client(rs.ClientHello(0, []), rs.Subscribe("p", 1, 2)))
    yield talk("an element in parts", (*asked, *parts, *server(rs.OnNext(1, b"x"), rs.OnComplete(1))))
    yield talk("a Goodbye is answered", (*asked, *client(bye), *server(bye)))
    yield talk("two Goodbyes cross", (*asked, *client(bye), *server(bye), *client(bye), *server(bye)))
    yield talk(
        "and that is all", (*asked, *client(bye), *server(bye), *client(bye, bye)), "message_after_goodbye"
    )
    yield talk("no Goodbye to the own", (*asked, *client(bye, bye)), "message_after_goodbye")
    yield talk("nothing else behind it", (*asked, *client(bye, rs.Cancel(1))), "message_after_goodbye")
    yield talk(
        "what came behind a hello of another version",
        (*client(rs.ClientHello(1, []), rs.Subscribe("p", 1, 2)), *server(bye), *client(bye)),
        "unsupported_version",
        noted=refused,
    )
    yield talk(
        "a second hello is one, also behind it",
        (*client(rs.ClientHello(1, [])), *client(rs.ClientHello(0, []))),
        "unsupported_version",
        "second_hello",
        noted=(*refused, "second_hello"),
    )
    wrong = "hello_from_wrong_side"
    yield talk("a hello of the wrong side", client(rs.ServerHello(0, [])), wrong)
    yield talk("also behind the own one", (*hellos, *client(rs.ServerHello(0, []))), wrong)
    again = (*asked, *client(rs.ClientHello(0, [])), *server(rs.OnNext(1, b"x")))
    yield talk("a second hello is noted", again, "second_hello", noted=("second_hello",))
    yield talk("a Goodbye before the own hello", (*client(rs.ClientHello(0, [])), *server(bye), *client(bye)))
    yield talk(
        "a Goodbye to another version",
        (*client(rs.ClientHello(1, [])), *server(bye), *client(bye)),
        "unsupported_version",
        noted=refused,
    )
    yield talk(
        "a Goodbye to a server's other version",
        (*client(rs.ClientHello(0, [])), *server(rs.ServerHello(1, [])), *client(bye), *server(bye)),
        "unsupported_version",
        noted=refused,
    )
    fixed = (*hellos, *client(rs.Subscribe("p", 1, 2)), *server(rs.Subscribed(1, 2)))
    none = "packed_count_zero"
    yield talk("a packed message of none", (*fixed, *server(rs.OnNextPacked(1, 0, b""))), none, noted=(none,))
    cut = "complete_with_open_element"
    yield talk("an end in an element", (*asked, *parts[:1], *server(rs.OnComplete(1))), cut, noted=(cut,))
    yield talk(
        "an id is used again",
        (
            *asked,
            *client(rs.Cancel(1), rs.Subscribe("q", 1, 1)),
            *server(rs.Subscribed(1), rs.OnNext(1, b"y")),
        ),
    )
    yield talk("no demand", (*asked, *client(rs.Request(1, 0))), "demand_out_of_range")
    yield talk("no demand behind Cancel", (*asked, *client(rs.Cancel(1), rs.Request(1, 0))))
    yield talk("no demand behind the end", (*asked, *server(rs.OnComplete(1)), *client(rs.Request(1, 0))))
    for role, own in (("client", client), ("server", server)):
        yield talk(
            f"nothing before the hello of the {role}", own(rs.Subscribe("p", 1, 1)), "message_before_hello"
        )


TALKS: tuple[Talk, ...] = (
    *lumberjack(),
    *pravega_documented(),
    *proposed_blocks(),
    *proposed_levels(),
    *geode_talks(),
    *reactive_talks(),
)
