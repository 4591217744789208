"""The bytes after the whole events of a Pravega block, and the bytes in the AppendBlockEnd after it."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import pytest

from wireproto import pravega, pravega_documented

WRITER: Final = UUID(int=7)
EVENT: Final = bytes.fromhex("00000000 00000002 6162")
PADDING: Final = bytes.fromhex("ffffffff 00000003 000000")
NO_PADDING: Final = bytes.fromhex("ffffffff 00000000")
PARTIAL: Final = bytes.fromhex("fffffffe 00000003 000000")

BLOCKS: Final = {
    "nothing": (b"", b"", ""),
    "whole_events": (b"", b"", ""),
    "data_behind_whole_events": (b"", b"XXX", "block_end_data_ignored"),
    "partial": (PARTIAL, b"XXX", ""),
    "partial_that_is_whole": (PARTIAL, b"", ""),
    "padding": (PADDING, b"", ""),
    "padding_of_nothing": (NO_PADDING, b"", ""),
    "data_after_padding": (PADDING, b"XXX", "data_after_padding"),
    "data_after_padding_of_nothing": (NO_PADDING, b"X", "data_after_padding"),
    "one_stray_byte": (b"\xff", b"", "bad_block_tail"),
    "three_stray_bytes": (b"XXX", b"", "bad_block_tail"),
    "seven_of_a_header": (PADDING[:7], b"", "bad_block_tail"),
    "another_event": (EVENT, b"", "bad_block_tail"),
    "another_event_and_data": (EVENT, b"XXX", "bad_block_tail"),
    "an_event_before_the_padding": (EVENT + PADDING, b"", "bad_block_tail"),
    "another_message": (bytes.fromhex("00000003 00000000"), b"", "bad_block_tail"),
    "an_unknown_type": (bytes.fromhex("fffffffd 00000000"), b"", "bad_block_tail"),
    "a_type_like_padding": (bytes.fromhex("feffffff 00000000"), b"", "bad_block_tail"),
    "a_length_past_the_block": (PADDING[:-1], b"", "bad_block_tail"),
    "a_length_far_past_the_block": (bytes.fromhex("fffffffe 7fffffff 00"), b"", "bad_block_tail"),
    "a_negative_length": (bytes.fromhex("fffffffe ffffffff 00"), b"", "bad_block_tail"),
    "bytes_behind_the_partial": (PARTIAL + b"\x00", b"X", "bad_block_tail"),
    "padding_behind_the_partial": (PARTIAL + PADDING, b"X", "bad_block_tail"),
}
TOLERATED: Final = {"data_behind_whole_events", "bytes_behind_the_partial", "padding_behind_the_partial"}
"""By programs. The document does not say what fills a block that is less than full: there all is tolerated."""


def opened(package: Any, *, strict: bool) -> tuple[Any, Any]:
    """Return a client and a server, and have a writer set up."""
    sides = client, server = tuple(package.Connection(role, strict=strict) for role in ("client", "server"))
    if package is pravega:
        for one, other in (sides, reversed(sides)):
            other.receive(one.send(pravega.Hello()))
    server.receive(client.send(package.SetupAppend(1, WRITER, "s", "")))
    client.receive(server.send(package.AppendSetup(1, "s", WRITER, 0)))
    return client, server


def end(package: Any, size: int, data: bytes) -> Any:
    more = (1,) if package is pravega else ()
    return package.AppendBlockEnd(WRITER, size, data, 1, 1, *more)


@pytest.mark.parametrize("package", [pravega, pravega_documented], ids=["pravega", "documented"])
@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize("n_events", [0, 1, 3])
@pytest.mark.parametrize("name", BLOCKS)
def test_what_may_stand_behind_whole_events(package: Any, strict: bool, n_events: int, name: str) -> None:
    tail, data, rule = BLOCKS[name]
    client, server = opened(package, strict=strict)
    whole = n_events * EVENT
    block = client.send(package.AppendBlock(WRITER, whole + tail))
    assert [type(event).__name__ for event in server.receive(block)] == ["Received"]
    *told, last = server.receive(package.encode(end(package, len(whole), data)))
    if rule and (strict or (package is pravega and name not in TOLERATED)):
        assert (last.name, last.lenient, told) == (rule, False, [])
        with pytest.raises(package.SessionError) as caught:
            client.send(end(package, len(whole), data))
        assert str(caught.value.violation) == rule
        assert client.block.block == whole + tail
        return
    assert [(each.name, each.lenient) for each in told] == ([(rule, True)] if rule else [])
    assert last.frame.message.size_of_whole_events == len(whole)
    client.send(end(package, len(whole), data))
    assert client.block.state == server.block.state == "closed"
    assert client.block.block == server.block.block == b""


def test_what_a_block_holds_is_kept_as_it_was_sent() -> None:
    """A buffer of the sender may be filled anew meanwhile."""
    client, _ = opened(pravega, strict=True)
    data = bytearray(EVENT + PADDING)
    client.send(pravega.AppendBlock(WRITER, data))  # type: ignore[arg-type]
    data[len(EVENT)] = 0
    assert client.block.block == EVENT + PADDING
    client.send(end(pravega, len(EVENT), b""))


def test_the_event_of_a_conditional_append_is_inside_one() -> None:
    client, server = opened(pravega, strict=True)
    event = pravega.Frame(pravega.Event(b"ab"))
    for number in (1, 2):
        data = client.send(pravega.ConditionalAppend(WRITER, number, 0, event, 1))
        (received,) = (each for each in server.receive(data) if isinstance(each, pravega.Received))
        assert isinstance(received.frame.message, pravega.ConditionalAppend)
    with pytest.raises(pravega.SessionError, match="event_outside_block"):
        client.send(pravega.Event(b"ab"))
