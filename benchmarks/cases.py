"""The four messages, each in every codec: name to a call without arguments that decodes, or encodes, the same values.

`assert_same` holds every codec to the same outcome before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import data_by_hand as by_hand_2
import elsewhere
import on_next_by_hand as by_hand_3
import put_request_by_hand as by_hand_4
import segment_read_by_hand as by_hand_1

from wireproto import geode, lumberjack, pravega, reactive_streams

__all__ = ["BASE", "GENERATED", "NAIVE", "PROTOBUF", "Case", "cases"]

BASE, GENERATED, NAIVE = "by hand, same checks", "generated", "naive struct code"
PROTOBUF, COMPILED, INTERPRETED = "protobuf, every field", "construct, compiled", "construct, interpreted"

Calls = dict[str, Callable[[], object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A message; `data` is its frame. The first call of each kind is the base of comparison."""

    name: str
    data: bytes
    decode: Calls
    encode: Calls

    def assert_same(self) -> None:
        """Hold the codecs of the same bytes to each other: all encode to `data`, and the objects read the same."""
        for name in (BASE, GENERATED, NAIVE, COMPILED, INTERPRETED):
            assert self.encode[name]() == self.data, (self.name, name)
        decoded = {name: plain(self.decode[name]()) for name in (BASE, GENERATED, NAIVE)}
        assert decoded[BASE] == decoded[GENERATED] == decoded[NAIVE], (self.name, decoded)
        assert self.decode[PROTOBUF]() is not None


def plain(value: object) -> object:
    """Return the content of an object: the names of its attributes and their values."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    slots = getattr(type(value), "__slots__", None)
    return (
        value
        if slots is None
        else {name: plain(getattr(value, name, None)) for name in slots if name not in ("absent", "tail")}
    )


def cases() -> tuple[Case, ...]:
    return segment_read(), data(), on_next(), put_request()


def construct_calls(
    plain_construct: elsewhere.c.Construct, frame: bytes, fields: dict[str, object]
) -> tuple[Calls, Calls]:
    compiled = plain_construct.compile()
    decode: Calls = {
        COMPILED: lambda: compiled.parse(frame),
        INTERPRETED: lambda: plain_construct.parse(frame),
    }
    encode: Calls = {
        COMPILED: lambda: compiled.build(fields),
        INTERPRETED: lambda: plain_construct.build(fields),
    }
    return decode, encode


def segment_read() -> Case:
    """Return M1: 100 bytes of data."""
    values = ("scope/stream/0.#epoch.0", 12345, False, False, bytes(range(100)), 77)
    message, by_hand = pravega.SegmentRead(*values), by_hand_1.SegmentRead(*values)
    names = ("segment", "offset", "at_tail", "end_of_segment", "data", "request_id")
    frame = message.encode()
    class_ = elsewhere.protobuf("Frame")
    other = class_(segmentread=dict(zip(names, values, strict=True))).SerializeToString()

    def read() -> object:
        m = class_.FromString(other).segmentread
        return m.segment, m.offset, m.at_tail, m.end_of_segment, m.data, m.request_id

    fields = {"length": len(frame) - 8, **dict(zip(names, values, strict=True))}
    decode, encode = construct_calls(elsewhere.SEGMENT_READ, frame, fields)
    return Case(
        name="M1 Pravega SegmentRead, 100 B",
        data=frame,
        decode={
            BASE: lambda: by_hand_1.careful_decode(frame),
            GENERATED: lambda: pravega.decode_message(frame),
            NAIVE: lambda: by_hand_1.naive_decode(frame),
            PROTOBUF: read,
            **decode,
        },
        encode={
            BASE: lambda: by_hand.careful_encode(),
            GENERATED: lambda: message.encode(),
            NAIVE: lambda: by_hand_1.naive_encode(by_hand),
            PROTOBUF: lambda: class_(segmentread=dict(zip(names, values, strict=True))).SerializeToString(),
            **encode,
        },
    )


PAIRS = [
    ("@timestamp", "2026-11-21T08:15:30.123Z"),
    ("host", "web-17.example.net"),
    ("file", "/var/log/nginx/access.log"),
    ("offset", "1048576"),
    ("line", '203.0.113.9 - - "GET /index.html HTTP/1.1" 200 5316 "-" "curl/8.5.0"'),
    ("type", "nginx"),
    ("tags", "edge,eu-west"),
    ("beat", "filebeat"),
]


def data() -> Case:
    """Return M2: 8 pairs."""
    message = lumberjack.Data(4711, [lumberjack.Pair(key, value) for key, value in PAIRS])
    by_hand = by_hand_2.Data(4711, [by_hand_2.Pair(key, value) for key, value in PAIRS])
    v2 = lumberjack.Version.V2
    frame = message.encode(version=v2)
    class_ = elsewhere.protobuf("Frame")

    def write() -> bytes:
        made = class_()
        made.data.sequence = 4711
        for key, value in PAIRS:
            made.data.pairs.add(key=key, value=value)
        return bytes(made.SerializeToString())

    other = write()

    def read() -> object:
        m = class_.FromString(other).data
        return m.sequence, [(pair.key, pair.value) for pair in m.pairs]

    fields = {
        "version": 50,
        "sequence": 4711,
        "pairs": [{"key": key, "value": value} for key, value in PAIRS],
    }
    decode, encode = construct_calls(elsewhere.DATA, frame, fields)
    return Case(
        name="M2 Lumberjack Data, 8 pairs",
        data=frame,
        decode={
            BASE: lambda: by_hand_2.careful_decode(frame),
            GENERATED: lambda: lumberjack.decode_message(frame),
            NAIVE: lambda: by_hand_2.naive_decode(frame),
            PROTOBUF: read,
            **decode,
        },
        encode={
            BASE: lambda: by_hand.careful_encode(),
            GENERATED: lambda: message.encode(version=v2),
            NAIVE: lambda: by_hand_2.naive_encode_data(by_hand, 50),
            PROTOBUF: write,
            **encode,
        },
    )


def on_next() -> Case:
    """Return M3: 16 bytes with their length, as the subscription asked for no fixed size."""
    context = reactive_streams.Context()
    subscribed = reactive_streams.Subscribed(7, 0).encode()
    assert len(list(reactive_streams.Decoder("server", context=context).feed(subscribed))) == 1
    sizes = {("server", 7): 0}
    message, by_hand = reactive_streams.OnNext(7, bytes(16)), by_hand_3.OnNext(7, bytes(16))
    frame = message.encode(from_role="server", context=context)
    class_ = elsewhere.protobuf("Frame")
    other = class_(onnext={"subscriber": 7, "element": bytes(16)}).SerializeToString()

    def read() -> object:
        m = class_.FromString(other).onnext
        return m.subscriber, m.element

    decode, encode = construct_calls(elsewhere.ON_NEXT, frame, {"subscriber": 7, "element": bytes(16)})
    return Case(
        name="M3 Reactive Streams OnNext, 16 B",
        data=frame,
        decode={
            BASE: lambda: by_hand_3.careful_decode(frame, "server", sizes),
            GENERATED: lambda: reactive_streams.decode_message(frame, from_role="server", context=context),
            NAIVE: lambda: by_hand_3.naive_decode(frame, "server", sizes),
            PROTOBUF: read,
            **decode,
        },
        encode={
            BASE: lambda: by_hand.careful_encode("server", sizes),
            GENERATED: lambda: message.encode(from_role="server", context=context),
            NAIVE: lambda: by_hand_3.naive_encode(by_hand, "server", sizes),
            PROTOBUF: lambda: class_(onnext={"subscriber": 7, "element": bytes(16)}).SerializeToString(),
            **encode,
        },
    )


def put_request() -> Case:
    """Return M4: the document's own example."""
    region, text = "ExampleRegion", "New Geode Client Server Protocol"
    kinds = geode.GeodeValue
    message = geode.PutRequest(region, kinds.Integer(101), kinds.Null(), kinds.StringBytes(text))
    by_hand = by_hand_4.PutRequest(
        region, by_hand_4.Integer(101), by_hand_4.Null(), by_hand_4.StringBytes(text)
    )
    frame = message.encode(correlation_id=1)
    class_ = elsewhere.protobuf("Frame")
    fields: dict[str, object] = {
        "correlation_id": 1,
        "is_partial": False,
        "region_name": region,
        "key": {"integer": 101},
        "callback_arg": {"null": {}},
        "value": {"text": text},
    }
    other = class_(putrequest=fields).SerializeToString()

    def read() -> object:
        m = class_.FromString(other).putrequest
        values = [getattr(each, each.WhichOneof("kind")) for each in (m.key, m.callback_arg, m.value)]
        return m.correlation_id, m.is_partial, m.region_name, values

    values = {
        "size": len(frame) - 10,
        "correlation_id": 1,
        "is_partial": False,
        "has_metadata": False,
        "region_name": region,
        "key": {"code": 57, "value": 101},
        "callback_arg": {"code": 41, "value": None},
        "value_size": 35,
        "has_more": False,
        "value": {"code": 87, "value": text},
    }
    decode, encode = construct_calls(elsewhere.PUT_REQUEST, frame, values)
    return Case(
        name="M4 Geode PutRequest",
        data=frame,
        decode={
            BASE: lambda: by_hand_4.careful_decode(frame),
            GENERATED: lambda: geode.decode_message(frame, from_role="client"),
            NAIVE: lambda: by_hand_4.naive_decode(frame),
            PROTOBUF: read,
            **decode,
        },
        encode={
            BASE: lambda: by_hand.careful_encode(correlation_id=1),
            GENERATED: lambda: message.encode(correlation_id=1),
            NAIVE: lambda: by_hand_4.naive_encode(by_hand, 1),
            PROTOBUF: lambda: class_(putrequest=fields).SerializeToString(),
            **encode,
        },
    )
