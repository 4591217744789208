"""Bytes that others made from Geode's document: both codecs read them as their makers say, and write the same bytes."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import pytest
from tests.conformance.names import ERRORS, SIDES, UNTIED, VALUES, our_field, snake
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

from wireproto import geode

Vector: TypeAlias = dict[str, Any]
FILE: Final = kept("geode")
GOLDEN: Final[list[Vector]] = FILE["golden"]
MALFORMED: Final[list[Vector]] = FILE["malformed"]

PIECES: Final = frozenset({"G26", "G27", "M10", "M12"})
"""Divided messages: their reassembly is tested with joins."""
DECODE_ONLY: Final = frozenset({"G25"})
"""A value in several chunks is written as one."""


def group_of(vector: Vector) -> str:
    """Return how a vector is tested."""
    if vector["id"] in PIECES:
        return "pieces"
    if "verdict" in vector:
        return str(vector["verdict"])
    if vector["message"] == "Connect":
        return "opening"
    return "several" if "*" in vector["message"] else "frame"


def cases(*groups: str) -> pytest.MarkDecorator:
    chosen = [each for each in (*GOLDEN, *MALFORMED) if group_of(each) in groups]
    return pytest.mark.parametrize("vector", [pytest.param(each, id=each["id"]) for each in chosen])


TESTED: Final = ("frame", "several", "opening", "incomplete", "reject_frame", "fatal", "session")
each_codec = pytest.mark.parametrize("codec", CODECS)


def test_every_vector_is_in_one_group() -> None:
    ids = [vector["id"] for vector in (*GOLDEN, *MALFORMED)]
    assert len(ids) == len(set(ids)) == 60
    counted = {group: len([*cases(group).args[1]]) for group in (*TESTED, "pieces")}
    assert counted == {
        "frame": 31, "several": 1, "opening": 2, "incomplete": 2, "reject_frame": 15, "fatal": 3, "session": 2, "pieces": 4,
    }  # fmt: skip
    assert sum(counted.values()) == len(ids)


# ---- what the makers say, as records


def wire_of(vector: Vector, *, strict: bool = False) -> Wire:
    role = SIDES[vector["direction"]]
    pending = [*vector.get("pending", []), *asked(vector)]
    return Wire(
        protocol="geode",
        role=role,
        variant=None if vector.get("variant", "table") == "table" else vector["variant"],
        snapshot={"api": [["client", id_, FILE["api_ids"][name]] for id_, name in pending]},
        opening=bytes([vector.get("connect", 110)]) if role == "client" else b"",
        strict=strict,
    )


def asked(vector: Vector) -> list[tuple[int, str]]:
    """Return the request that a golden response answers; an error answers any."""
    name = vector.get("message", "").partition("*")[0]
    if not name.endswith("Response"):
        return []
    fields = vector["fields"]
    id_ = fields["correlationId"] if isinstance(fields, dict) else int(vector["hex"][8:16], 16)
    return [(id_, name.replace("Response", "Request").replace("Error", "Get"))]


HEADER: Final = ("correlationId", "apiId", "apiVersion", "responseTypeId", "errorCode", "metadata", "chunks")


def record_of(message: str, fields: Vector, *, correlation_id: int | None = None) -> Record:
    header: Record = {"correlation_id": fields.get("correlationId", correlation_id), "is_partial": False}
    status = fields.get("responseTypeId", fields.get("errorCode"))
    if status is not None:
        header["status"] = geode.Status(status).name
    if "metadata" in fields:
        header["metadata"] = [metadata(name, value) for name, value in fields["metadata"].items()]
    body = {name: value for name, value in fields.items() if name not in HEADER}
    return {
        "message": message,
        "header": header,
        "fields": {our_field(message, name): field_value(name, value) for name, value in body.items()},
    }


def metadata(name: str, fields: Vector) -> Record:
    return {
        name.title().replace("_", ""): {
            snake(key): value if isinstance(value, str) else str(value) for key, value in fields.items()
        }
    }


def field_value(name: str, theirs: Any) -> Any:
    match name:
        case "keys":
            return [value(each) for each in theirs]
        case "pairs":
            return [{"key": value(key), "value": value(each)} for key, each in theirs]
        case "key" | "value" | "callbackArg" | "result":
            return value(theirs)
        case _:
            return theirs


def value(theirs: Any) -> Record:
    """Return a Geode value as a record."""
    match theirs:
        case None:
            return {"Null": {}}
        case {"nullString": None}:
            return {"NullString": {}}
        case {"string": text, "form": "huge"}:
            return {"HugeStringBytes": {"value": text}}
        case {"string": text}:
            return {"StringBytes": {"value": text}}
        case {"opaque": digits}:
            return {"Unbounded": {"value": digits[2:]}, "code": int(digits[:2], 16)}
        case {"pdx": {"typeId": number, "data": digits}}:
            return {"Pdx": {"type_id": number, "body": digits}}
        case _:
            ((wrapper, inside),) = theirs.items()
            return {VALUES[wrapper]: {"value": plain(wrapper, inside)}}


def plain(wrapper: str, inside: Any) -> Any:
    match wrapper:
        case "long" | "date":
            return str(inside)
        case "map":
            return [{"key": value(key), "value": value(each)} for key, each in inside]
        case "bigint":
            number = int(inside)
            return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True).hex()
        case "bytes" if inside is not None and "*" in inside:
            digits, _, times = inside.partition("*")
            return digits * int(times)
        case _:
            return inside


# ---- whole frames


@cases("frame")
def test_a_frame_is_what_its_maker_says(vector: Vector) -> None:
    data, wire = bytes.fromhex(vector["hex"]), wire_of(vector)
    assert len(data) == vector["len"]
    check_frame(wire, data, record_of(vector["message"], vector["fields"]))


@cases("frame")
def test_what_its_maker_says_is_written_as_the_frame(vector: Vector) -> None:
    data, wire = bytes.fromhex(vector["hex"]), wire_of(vector)
    record = record_of(vector["message"], vector["fields"])
    if vector["id"] not in DECODE_ONLY:
        check_written(wire, record, data)
        return
    written = wire.encode("reference", record)
    assert written == wire.encode("generated", record) != data
    check_frame(wire, written, record)


@each_codec
@cases("several")
def test_several_answers_follow_each_other(codec: Codec, vector: Vector) -> None:
    wire, message = wire_of(vector), vector["message"].partition("*")[0]
    ((id_, _),) = asked(vector)
    records = [record_of(message, fields, correlation_id=id_) for fields in vector["fields"]]
    check_stream(wire, codec, bytes.fromhex(vector["hex"]), records)
    assert b"".join(wire.encode(codec, record) for record in records).hex() == vector["hex"]


@each_codec
@cases("opening")
def test_the_opening_byte_is_read_and_written(codec: Codec, vector: Vector) -> None:
    wire, data = Wire(protocol="geode", role="client"), bytes.fromhex(vector["hex"])
    mode = geode.Mode(vector["fields"]["mode"])
    record = {"message": "Connect", "header": {}, "fields": {"mode": mode.name}}
    check_stream(wire, codec, data, [record])
    assert wire.encode("reference", record) == geode.encode(geode.Connect(mode)) == data


# ---- malformed bytes

GOOD: Final = {
    "client": bytes.fromhex("0000000b0000000200000004010001525700016b29"),
    "server": bytes.fromhex("00000007000000020000000139ffffffff"),
}
"""A request, and the answer to it."""


def next_good(wire: Wire) -> bytes:
    """Return a frame that may follow in this layout and direction."""
    assert wire.role is not None and wire.variant is None
    return GOOD[wire.role]


def check_refused(codec: Codec, wire: Wire, data: bytes, name: str, *, recoverable: bool) -> Any:
    """Check that the bytes are refused by that name; return the error of a decoder."""
    with pytest.raises(errors_of(codec).DecodeError) as caught:
        wire.decode(codec, data)
    reading = wire.reading(codec)
    error, *_ = (*reading.feed(data), *reading.finish())
    for each in (caught.value, error):
        assert (each.code, each.rule) == (ERRORS[name], None if name in UNTIED else name)
        assert each.recoverable is recoverable
    return error


@each_codec
@cases("reject_frame")
def test_a_frame_is_refused_and_the_next_is_read(codec: Codec, vector: Vector) -> None:
    asked_too = {**vector, "pending": [*vector.get("pending", []), [2, "GetRequest"]]}
    wire, data = wire_of(asked_too, strict=True), bytes.fromhex(vector["hex"])
    error = check_refused(codec, wire, data, vector["code"], recoverable=True)
    assert error.end == len(wire.opening) + len(data)
    good = next_good(wire)
    for chunks in ([data + good], [bytes([byte]) for byte in data + good]):
        reading = wire.reading(codec)
        found = [item for chunk in chunks for item in reading.feed(chunk)]
        assert found == [error, wire.decode(codec, good)]


@each_codec
@cases("fatal")
def test_a_fault_that_costs_the_stream_is_found_at_once_and_again(codec: Codec, vector: Vector) -> None:
    data = bytes.fromhex(vector["hex"])
    wire = wire_of(vector, strict=True)
    if "raw_connect" in vector:
        wire = Wire(protocol="geode", role="client")
    else:
        check_refused(codec, wire, data, vector["code"], recoverable=False)
    reading = wire.reading(codec, errors="raise")
    for chunk in (data, GOOD["client"], GOOD["client"]):
        with pytest.raises(errors_of(codec).DecodeError) as caught:
            list(reading.decoder.feed(chunk))
        error = caught.value
        assert (error.code, error.rule, error.recoverable) == (
            ERRORS[vector["code"]],
            vector["code"],
            False,
        )


@each_codec
@cases("incomplete")
def test_a_beginning_is_waited_for(codec: Codec, vector: Vector) -> None:
    check_incomplete(wire_of(vector, strict=True), codec, bytes.fromhex(vector["hex"]))


@each_codec
@cases("session")
def test_what_only_the_session_forbids_is_read(codec: Codec, vector: Vector) -> None:
    data, reading = bytes.fromhex(vector["hex"]), wire_of(vector).reading(codec)
    items = list(reading.feed(data))
    assert not any(isinstance(item, Exception) for item in items)
    assert (reading.decoder.pending, list(reading.finish())) == (0, [])
    last = items[-1]
    assert isinstance(last, dict)
    assert last["message"] == "Unknown"  # its request is not known, or was answered
    assert last["fields"] == {"data": "29"}
