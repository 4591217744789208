"""Bytes that others made from Reactive Streams' document: both codecs read them as their makers say, and
write the same bytes.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, Final, Literal, TypeAlias

import pytest
from tests.conformance.names import ERRORS, SIDES, UNTIED, snake
from tests.conformance.two_codecs import (
    CODECS,
    Codec,
    Record,
    Wire,
    check_frame,
    check_incomplete,
    check_stream,
    check_written,
    errors_of,
)
from tests.conformance.vectors import kept

from wireproto import reactive_streams as rs

Vector: TypeAlias = dict[str, Any]
Role: TypeAlias = Literal["client", "server"]
FILE: Final = kept("reactive_streams")
GOLDEN: Final[list[Vector]] = FILE["golden"]
MALFORMED: Final[list[Vector]] = FILE["malformed"]
FOUND_BY_THE_SESSION: Final = frozenset({"packed_in_variable_mode"})
"""Fatal, but the bytes of the message itself are sound: the table of its subscription forbids it."""


def group_of(vector: Vector) -> str:
    """Return how a vector is tested."""
    if "verdict" in vector:
        return "session" if vector["code"] in FOUND_BY_THE_SESSION else str(vector["verdict"])
    kind = str(vector["message"]).partition(":")[0]
    return kind if kind in ("varint", "transcript") else "frame"


def cases(*groups: str) -> pytest.MarkDecorator:
    chosen = [each for each in (*GOLDEN, *MALFORMED) if group_of(each) in groups]
    return pytest.mark.parametrize("vector", [pytest.param(each, id=each["id"]) for each in chosen])


each_codec = pytest.mark.parametrize("codec", CODECS)


def test_every_vector_is_in_one_group() -> None:
    ids = [vector["id"] for vector in (*GOLDEN, *MALFORMED)]
    assert len(ids) == len(set(ids)) == 48
    groups = ("frame", "varint", "transcript", "accept", "fatal", "incomplete", "session")
    counted = {group: len([*cases(group).args[1]]) for group in groups}
    assert counted == {
        "frame": 16, "varint": 8, "transcript": 3, "accept": 2, "fatal": 6, "incomplete": 2, "session": 11,
    }  # fmt: skip
    assert sum(counted.values()) == len(ids)


# ---- what the makers say, as records

NUMBERS: Final = ("subscriber", "initialDemand", "demand", "elementSize", "version", "element")
DEFAULTS: Final = {"Subscribe": {"initialDemand": 0}, "Subscribed": {"elementSize": 0}}


def record_of(name: str, fields: Vector) -> Record:
    message = name[0].upper() + name[1:]
    if message == "OnNextPacked":
        pieces = fields["messages"]
        fields = {**fields, "count": str(len(pieces)), "messages": "".join(pieces)}
    given = {**DEFAULTS.get(message, {}), **fields}
    return {
        "message": message,
        "header": {},
        "fields": {snake(name): field_value(message, name, value) for name, value in given.items()},
    }


def field_value(message: str, name: str, value: Any) -> Any:
    """Return a field in the form of a record, where all varints are text; the element of OnNext is its bytes."""
    if name == "extensions":
        return [str(each) for each in value]
    is_number = name in NUMBERS and (message, name) != ("OnNext", "element")
    return str(value) if is_number else value


def wire_of(role: str, size: int = 0) -> Wire:
    return Wire(protocol="reactive_streams", role=role, snapshot={"element_size": [[role, 1, size]]})


# ---- whole messages


@cases("frame")
def test_a_message_is_what_its_maker_says(vector: Vector) -> None:
    data, record = bytes.fromhex(vector["hex"]), record_of(vector["message"], vector["fields"])
    assert len(data) == vector["len"]
    for role in [vector["direction"]] if "direction" in vector else ["client", "server"]:
        wire = wire_of(role, vector.get("elementSize", 0))
        check_frame(wire, data, record, is_piece=vector["message"] == "onNextPart")
        check_written(wire, record, data)


@cases("varint")
def test_a_number_is_what_its_maker_says(vector: Vector) -> None:
    """Cancel is its type and one number."""
    data, record = b"\x05" + bytes.fromhex(vector["hex"]), record_of(
        "cancel", {"subscriber": vector["fields"]["value"]}
    )
    check_frame(wire_of("client"), data, record)
    check_written(wire_of("client"), record, data)


# ---- conversations


def steps_of(vector: Vector) -> list[tuple[Role, Record]]:
    roles: dict[str, Role] = {"c": "client", "s": "server"}
    return [(roles[side], record_of(name, fields)) for side, name, fields in vector["fields"]["steps"]]


def streams_of(vector: Vector) -> dict[Role, bytes]:
    return {"client": bytes.fromhex(vector["hex"]), "server": bytes.fromhex(vector["server_hex"])}


@each_codec
@cases("transcript")
def test_each_side_of_a_conversation_is_read_by_itself(codec: Codec, vector: Vector) -> None:
    for role, data in streams_of(vector).items():
        said = [record for side, record in steps_of(vector) if side == role]
        check_stream(Wire(protocol="reactive_streams", role=role), codec, data, said)


@each_codec
@cases("transcript")
def test_each_side_of_a_conversation_is_written(codec: Codec, vector: Vector) -> None:
    for role, data in streams_of(vector).items():
        said = [record for side, record in steps_of(vector) if side == role]
        assert b"".join(wire_of(role).encode(codec, record) for record in said) == data


@cases("transcript")
def test_a_conversation_is_read_in_its_order_byte_by_byte(vector: Vector) -> None:
    steps = steps_of(vector)
    pieces = [(role, wire_of(role).encode("generated", record)) for role, record in steps]
    for chunks in (pieces, [(role, bytes([byte])) for role, data in pieces for byte in data]):
        read = [(role, wire_of(role).record(frame)) for role, frame in rs.decode_conversation(chunks)]
        assert read == steps


# ---- malformed bytes


def after(vector: Vector, *, strict: bool = False) -> Wire:
    """Return the direction of a vector, where what came before is known; each piece of that is sound."""
    decoders: dict[str, rs.Decoder] = {}
    context = rs.Context()
    for side, digits in vector["before"]:
        decoder = decoders.setdefault(side, rs.Decoder(SIDES[side], context=context, strict=strict))  # type: ignore[arg-type]
        assert len(list(decoder.feed(bytes.fromhex(digits)))) == 1
    return Wire(
        protocol="reactive_streams", role=SIDES[vector["side"]], snapshot=context.snapshot(), strict=strict
    )


@each_codec
@cases("fatal")
def test_a_fault_costs_the_stream(codec: Codec, vector: Vector) -> None:
    data, wire = bytes.fromhex(vector["hex"]), after(vector, strict=True)
    name = vector["code"]
    for chunks in ([data], [bytes([byte]) for byte in data]):
        reading = wire.reading(codec)
        items = [item for chunk in chunks for item in reading.feed(chunk)]
        *sound, error = chain(items, reading.finish())
        assert all(isinstance(item, dict) for item in sound)
        assert isinstance(error, errors_of(codec).DecodeError)
        assert (error.code, error.rule) == (ERRORS[name], None if name in UNTIED else name)
        assert not error.recoverable
        assert list(reading.feed(b"\x0d\x00")) == []


@each_codec
@cases("incomplete")
def test_a_beginning_is_waited_for(codec: Codec, vector: Vector) -> None:
    check_incomplete(after(vector, strict=True), codec, bytes.fromhex(vector["hex"]))


@each_codec
@cases("accept")
def test_what_is_accepted_is_read(codec: Codec, vector: Vector) -> None:
    data, reading = bytes.fromhex(vector["hex"]), after(vector, strict=True).reading(codec)
    items = [*reading.feed(data), *reading.finish()]
    assert items == ([record_of("onNext", {"subscriber": 1, "element": "61"})] if data else [])


@each_codec
@cases("session")
def test_what_only_the_session_forbids_is_read(codec: Codec, vector: Vector) -> None:
    data, wire = bytes.fromhex(vector["hex"]), after(vector, strict=True)
    reading = wire.reading(codec)
    first = next(reading.feed(data))
    assert isinstance(first, dict) and first["message"] != "Unknown"
    if vector["code"] in FOUND_BY_THE_SESSION:
        return  # behind the message, nobody knows where the next begins
    items = [first, *reading.feed(b"")]
    assert all(isinstance(item, dict) for item in items)
    is_open = first["message"] == "OnNextPart" and items[-1]["message"] != "OnNextLastPart"
    left = {"truncated"} if codec == "generated" and is_open else set()
    assert (reading.decoder.pending, {error.code for error in reading.finish()}) == (0, left)


# ---- numbers and texts that are not as they ought to be


@each_codec
@pytest.mark.parametrize(
    ("octets", "canonical"),
    [
        pytest.param("01 8000 00", "01 00 00", id="version"),
        pytest.param("8100 00 00", "01 00 00", id="type"),
        pytest.param("01 00 8000", "01 00 00", id="count"),
        pytest.param("01 00 01 ff00", "01 00 01 7f", id="extension"),
        pytest.param("0d 8100 61", "0d 01 61", id="text"),
        pytest.param("07 01 8100 61", "07 01 01 61", id="element"),
        pytest.param("0b 01 8280808000 8100 61", "0b 01 02 01 61", id="part"),
        pytest.param("06 01 8400", "06 01 04", id="size"),
        pytest.param("05 80808080808080808000", "05 00", id="ten-bytes"),
    ],
)
def test_a_number_that_is_too_long_is_read_unless_strict(codec: Codec, octets: str, canonical: str) -> None:
    long, short = bytes.fromhex(octets), bytes.fromhex(canonical)
    wire = wire_of("client")
    assert wire.decode(codec, long) == wire.decode(codec, short)
    assert wire.encode(codec, wire.decode(codec, long)) == short
    strict = Wire(protocol="reactive_streams", role="client", snapshot=wire.snapshot, strict=True)
    with pytest.raises(errors_of(codec).DecodeError) as caught:
        strict.decode(codec, long)
    assert (caught.value.code, caught.value.recoverable) == ("not_canonical", False)


REFUSED: Final = [
    pytest.param("04 01 ffffffffffffffffff02", "invalid_value", None, id="tenth-byte"),
    pytest.param("04 01 ffffffffffffffffffff01", "invalid_value", None, id="eleven-bytes"),
    pytest.param("0d ffffffffffffffffff02", "invalid_value", None, id="length"),
    pytest.param("00", "unknown_code", "unknown_message_type", id="type-0"),
    pytest.param("3f", "unknown_code", "unknown_message_type", id="type-63"),
    pytest.param("40", "unknown_code", "unknown_message_type", id="type-64"),
    pytest.param("0d 03 eda080", "invalid_text", "bad_utf8", id="surrogate"),
    pytest.param("09 01 01 ff", "invalid_text", "bad_utf8", id="error"),
    pytest.param("0d 808080808020", "limit_exceeded", "length_over_limit", id="text"),
    pytest.param("07 01 808080808020", "limit_exceeded", "length_over_limit", id="element"),
    pytest.param("0b 01 01 808080808020", "limit_exceeded", "length_over_limit", id="part"),
    pytest.param("01 00 8120", "limit_exceeded", "count_over_limit", id="extensions"),
    pytest.param("07 02 01 61", "missing_context", "element_before_subscribed", id="no-subscription"),
    pytest.param("0a 02 01 61", "missing_context", "element_before_subscribed", id="packed"),
]


@each_codec
@pytest.mark.parametrize(("octets", "code", "rule"), REFUSED)
def test_bytes_are_refused_by_name(codec: Codec, octets: str, code: str, rule: str | None) -> None:
    with pytest.raises(errors_of(codec).DecodeError) as caught:
        wire_of("client").decode(codec, bytes.fromhex(octets))
    assert (caught.value.code, caught.value.rule, caught.value.recoverable) == (code, rule, False)


@each_codec
def test_a_fixed_size_beyond_the_limit_is_refused_before_its_bytes_come(codec: Codec) -> None:
    for octets in ("07 01", "0a 01 01"):
        with pytest.raises(errors_of(codec).DecodeError) as caught:
            wire_of("client", 2**40).decode(codec, bytes.fromhex(octets))
        assert (caught.value.code, caught.value.rule) == ("limit_exceeded", "length_over_limit")
