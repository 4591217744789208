"""Properties of every protocol: the checks that fixed cases, random values and random schemas share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from tests.property.codecs import Codecs, Item, Outcome, Wishes, cut, is_refusal

from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.tree import FrameValue, Node
from wiregen.runtime.schema.types import Integer


def check_value(codecs: Codecs, value: FrameValue) -> bytes:
    """Check that a good frame is written and read alike by both codecs; return its bytes."""
    made = codecs.made(value)
    data = codecs.reference_encode(value)
    assert isinstance(data, bytes), data
    assert codecs.compiled_encode(made) == codecs.reference_encode(made) == data
    assert codecs.line(made) == codecs.line(value)
    assert codecs.compiled(data, Wishes()) == codecs.reference(data, Wishes()) == codecs.line(value)
    assert codecs.compiled_encode(codecs.module.decode(data)) == data
    return data


def check_bytes(codecs: Codecs, data: bytes, wishes: Wishes) -> Outcome:
    """Check that both codecs make the same of bytes that ought to be one frame: the frame, or every word of the error."""
    outcome = codecs.compiled(data, wishes)
    assert outcome == codecs.reference(data, wishes)
    return outcome


def check_refusal(codecs: Codecs, frame: Any) -> Outcome:
    """Check that both codecs write the same bytes of any value, or refuse it with the same code at the same path."""
    outcome = codecs.compiled_encode(frame)
    assert outcome == codecs.reference_encode(frame)
    return outcome


def check_stream(codecs: Codecs, data: bytes, places: Sequence[int], wishes: Wishes) -> list[Item]:
    """Check that both decoders find the same in a stream, however it is cut, and that what they find tiles it."""
    items = codecs.compiled_items([data], wishes)
    assert items == codecs.reference_items([data], wishes)
    assert items == codecs.compiled_items(cut(data, places), wishes)
    assert items == codecs.reference_items(cut(data, places), wishes)
    outcomes = [outcome for _, _, outcome in items]
    assert codecs.compiled_feeds(cut(data, places), wishes) == outcomes
    bare = codecs.compiled_feeds(cut(data, places), wishes, is_bare=True)
    assert list(map(without_header, bare)) == list(map(without_header, outcomes))
    end = 0
    for offset, size, _ in items:
        assert offset == end
        assert size > 0
        end += size
    assert end == len(data)
    return items


def without_header(outcome: Outcome) -> Any:
    """Return an error as it is, and of a frame's line what is the message's."""
    if not isinstance(outcome, str):
        return outcome
    return {key: value for key, value in json.loads(outcome).items() if key != "header"}


def check_prefixes(codecs: Codecs, data: bytes, role: str | None) -> None:
    """Check that every strict prefix of a frame asks for more bytes, and for no more than it needs."""
    for size in range(len(data)):
        prefix = data[:size]
        outcome = check_bytes(codecs, prefix, Wishes(from_role=role))
        assert isinstance(outcome, dict)
        assert outcome["error"] == "NeedMoreData"
        assert 0 < outcome["needed"] <= len(data) - size
        check_cut(codecs, prefix, role)


def check_cut(codecs: Codecs, prefix: bytes, role: str | None) -> None:
    """Check that a decoder gives nothing of a cut frame and calls it truncated at the end."""
    decoder = codecs.module.Decoder(role)
    assert list(decoder.feed(prefix)) == []
    assert (decoder.offset, decoder.pending) == (0, len(prefix))
    try:
        decoder.finish()
    except codecs.module.DecodeError as error:
        assert prefix
        assert error.code == "truncated"
        assert error.frame_offset == 0
    else:
        assert not prefix


def raised(codecs: Codecs, data: bytes) -> Iterator[bytes]:
    """Yield a frame's bytes with each of its lengths and counts raised, by one and to the most that it can say."""
    node = explain(codecs.schema, data, 0, len(data), Options())
    for length in lengths(node):
        number = int.from_bytes(data[length.start : length.end], _order(length))
        for other in (number + 1, (1 << 8 * length.size) - 1):
            if number < other < 1 << 8 * length.size:
                field = other.to_bytes(length.size, _order(length))
                yield data[: length.start] + field + data[length.end :]


def lengths(node: Node) -> Iterator[Node]:
    """Yield the length prefixes of a frame that are in its own bytes."""
    for inner in node.walk():
        if inner.name in ("length", "count") and not inner.inner and inner.size:
            yield inner


def _order(node: Node) -> Literal["big", "little"]:
    return node.type.endian if isinstance(node.type, Integer) else "big"


def check_raised(codecs: Codecs, data: bytes, other: bytes) -> None:
    """Check that no raised length reaches into the frame after it: refused, or a frame that is the whole buffer."""
    for mutant in raised(codecs, data):
        outcome = check_bytes(codecs, mutant + other, Wishes())
        if not is_refusal(outcome):
            assert codecs.compiled_encode(codecs.module.decode(mutant + other)) == mutant + other
