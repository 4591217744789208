"""Bytes that others made from the three Pravega documents: both codecs read them as their makers say, and
write the same bytes.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import pytest
from tests.conformance.names import our_field
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

from wiregen.runtime.records.frames import frame_from_record

Vector: TypeAlias = dict[str, Any]
VECTORS: Final[list[Vector]] = kept("pravega")["vectors"]

OLDER: Final = frozenset({"pravega-impl-v4/ReadSegment/113"})
"""Older than the oldest compatible version, and without a field that nothing replaces."""
OTHER_READING: Final = frozenset({"pravega-000/AppendBlockEnd/14"})
"""The data without its length, which no program writes so: ledger D5."""
OTHER_NAMES: Final = {"pravega-impl-v15/InvalidEventNumber/121": {"eventNumber": "requestId"}}
"""The same bytes had another meaning before version 16."""

STRUCTS: Final = {
    "attributeUpdates": "AttributeUpdate",
    "entries": "Entry",
    "key": "TableKey",
    "keys": "TableKey",
    "sources": "MergedSource",
    "value": "TableValue",
}
"""The structs that a field holds."""


def group_of(vector: Vector) -> str:
    """Return how a vector is tested."""
    if vector["message"] in ("MALFORMED", "SEQUENCE"):
        return str(vector["message"]).lower()
    if vector["fields"].get("part") == 2:
        return "last piece"
    return "refused" if vector["id"] in OLDER | OTHER_READING else "frame"


def cases(*groups: str) -> pytest.MarkDecorator:
    chosen = [vector for vector in VECTORS if group_of(vector) in groups]
    return pytest.mark.parametrize("vector", [pytest.param(each, id=each["id"]) for each in chosen])


each_codec = pytest.mark.parametrize("codec", CODECS)


def test_every_vector_is_in_one_group() -> None:
    ids = [vector["id"] for vector in VECTORS]
    assert len(ids) == len(set(ids)) == 76
    counted = {
        group: len([*cases(group).args[1]])
        for group in ("frame", "last piece", "refused", "malformed", "sequence")
    }
    assert counted == {"frame": 69, "last piece": 1, "refused": 2, "malformed": 3, "sequence": 1}


def test_what_is_not_read_as_its_maker_says_is_what_the_ledger_reads_otherwise() -> None:
    other = {vector["id"] for vector in VECTORS if not vector["recommended"]}
    assert other - OTHER_READING == {"pravega-001/PartialMessage/19", "pravega-001/PartialMessage/21"}
    assert other > OTHER_READING  # the two are pieces with the codes that this repository takes too


# ---- what the makers say, as records


def wire_of(vector: Vector, *, strict: bool = True) -> Wire:
    name = vector["protocol"]
    roles = {"request": "client", "reply": "server"}
    return Wire(
        protocol="pravega" if name.startswith("pravega-impl") else name,
        role=roles.get(vector.get("direction", ""), "client"),
        strict=strict,
    )


def record_of(wire: Wire, vector: Vector) -> Record:
    """Return the record that the makers' fields are, with numbers and members written as ours."""
    names = OTHER_NAMES.get(vector["id"], {})
    fields = {names.get(name, name): value for name, value in vector["fields"].items()}
    message = vector["message"]
    record = {"message": message, "header": {}, "fields": fields_of(message, fields)}
    return wire.record(frame_from_record(wire.schema, record, role=wire.role))


def fields_of(owner: str, fields: Vector) -> Record:
    return {our_field(owner, name): plain(name, value) for name, value in fields.items()}


def plain(name: str, value: Any) -> Any:
    match value:
        case {"hex": digits} if name == "event":
            return {"message": "Event", "header": {}, "fields": {"data": digits}}
        case {"hex": digits}:
            return digits
        case {"repeat": [text, count]}:
            return text * count
        case dict():
            return fields_of(STRUCTS[name], value)
        case list():
            return [plain(name, each) for each in value]
        case _:
            return value


# ---- frames


@cases("frame")
def test_a_frame_is_what_its_maker_says(vector: Vector) -> None:
    data, wire = bytes.fromhex(vector["hex"]), wire_of(vector)
    record = record_of(wire, vector)
    assert data[8:].hex() == vector["body_hex"]
    assert int.from_bytes(data[:4], "big", signed=True) == vector["type_code"]
    check_frame(wire, data, record, is_piece=record["fields"].get("part") == "BEGIN")
    check_written(wire, record, data)


@cases("last piece")
def test_a_last_piece_alone_is_not_the_whole_frame_that_it_must_be(vector: Vector) -> None:
    data, wire = bytes.fromhex(vector["hex"]), wire_of(vector)
    assert wire.record(wire.module.decode(data)) == record_of(wire, vector)
    (error,) = wire.reading("generated").feed(data)
    assert (error.code, error.path, error.recoverable) == ("truncated", "Whole.Frame.type", True)


@each_codec
@cases("sequence")
def test_frames_follow_each_other(codec: Codec, vector: Vector) -> None:
    data, wire = bytes.fromhex(vector["hex"]), wire_of(vector)
    records = list(wire.reading(codec).feed(data))
    assert [record["message"] for record in records] == vector["fields"]["messages"]
    check_stream(wire, codec, data, records)
    assert b"".join(wire.encode(codec, record) for record in records) == data


@each_codec
@cases("refused")
def test_what_lacks_a_field_is_refused_and_the_next_is_read(codec: Codec, vector: Vector) -> None:
    check_refused(codec, wire_of(vector), bytes.fromhex(vector["hex"]), "truncated", None)


def check_refused(codec: Codec, wire: Wire, data: bytes, code: str, rule: str | None) -> None:
    """Check that the frame is refused, and that the stream continues after it."""
    with pytest.raises(errors_of(codec).DecodeError) as caught:
        wire.decode(codec, data)
    error = caught.value
    assert (error.code, error.rule, error.recoverable, error.end) == (code, rule, True, len(data))
    event = bytes.fromhex("0000000000000003616263")
    for chunks in ([data + event], [bytes([byte]) for byte in data + event]):
        reading = wire.reading(codec)
        refused, read = [item for chunk in chunks for item in reading.feed(chunk)]
        assert refused == error
        assert read == {"message": "Event", "header": {}, "fields": {"data": "616263"}}


# ---- malformed frames


def malformed(name: str) -> tuple[Wire, bytes]:
    vector = next(each for each in VECTORS if each["id"] == f"pravega-impl/bad/{name}")
    assert group_of(vector) == "malformed"
    return wire_of(vector), bytes.fromhex(vector["hex"])


@each_codec
def test_a_text_beyond_its_frame_is_refused(codec: Codec) -> None:
    check_refused(codec, *malformed("1"), "truncated", None)


@each_codec
def test_a_header_without_its_body_is_waited_for(codec: Codec) -> None:
    wire, data = malformed("3")
    check_incomplete(wire, codec, data)


@each_codec
def test_an_unknown_type_is_kept_unless_strict(codec: Codec) -> None:
    wire, data = malformed("4")
    check_refused(codec, wire, data, "unknown_code", "unknown_message_type")
    lenient = Wire(protocol="pravega", role="client")
    kept_as_it_is = lenient.decode(codec, data)
    assert kept_as_it_is == {"message": "Unknown", "code": 99, "header": {}, "fields": {"data": ""}}
    assert lenient.encode(codec, kept_as_it_is) == data


# ---- rules for which nobody made a vector

WRITER: Final = "00112233445566778899aabbccddeeff"
ONE: Final = "0000000000000001"


def framed(code: int, body: str) -> bytes:
    octets = bytes.fromhex(body)
    return code.to_bytes(4, "big", signed=True) + len(octets).to_bytes(4, "big") + octets


REFUSED: Final = [
    pytest.param(4, f"{WRITER} 00000000 ffffffff", "invalid_value", "negative_length", id="negative-length"),
    pytest.param(4, f"{WRITER} 00000000 7fffffff 61", "truncated", None, id="length-beyond-frame"),
    pytest.param(75, f"{ONE} ffffffff", "invalid_value", "negative_count", id="negative-count"),
    pytest.param(75, f"{ONE} 7fffffff {ONE}", "truncated", None, id="count-beyond-frame"),
    pytest.param(37, f"{ONE} 02", "invalid_value", "bad_boolean", id="boolean"),
    pytest.param(21, f"{ONE} 0001 00", "not_canonical", "bad_modified_utf8", id="raw-nul"),
    pytest.param(21, f"{ONE} 0002 c181", "not_canonical", "bad_modified_utf8", id="overlong"),
    pytest.param(21, f"{ONE} 0004 f09f9880", "invalid_text", "bad_modified_utf8", id="four-bytes"),
    pytest.param(21, f"{ONE} 0001 c3", "invalid_text", "bad_modified_utf8", id="cut-text"),
    pytest.param(21, f"{ONE} 0001 61 00", "trailing_bytes", None, id="left-over"),
    pytest.param(5, f"{WRITER} {ONE} {ONE} 00000064 00000000", "constraint", "bad_nested_event", id="not-an-event"),
    pytest.param(5, f"{WRITER} {ONE} {ONE} 00000000 00000009", "truncated", None, id="event-beyond-frame"),
    pytest.param(57, f"{ONE} 0000 00", "truncated", None, id="part-of-a-trailing-text"),
]  # fmt: skip


@each_codec
@pytest.mark.parametrize(("code_of", "body", "code", "rule"), REFUSED)
def test_a_frame_is_refused_by_name(
    codec: Codec, code_of: int, body: str, code: str, rule: str | None
) -> None:
    wire = Wire(protocol="pravega", strict=True)
    check_refused(codec, wire, framed(code_of, body), code, rule)


@each_codec
@pytest.mark.parametrize("protocol", ["pravega", "pravega_documented", "pravega_proposal"])
@pytest.mark.parametrize(
    ("length", "code", "rule"),
    [
        pytest.param("ffffffff", "invalid_value", "negative_size", id="negative"),
        pytest.param("01000000", "limit_exceeded", "frame_too_large", id="too-large"),
    ],
)
def test_a_length_without_sense_costs_the_stream(
    codec: Codec, protocol: str, length: str, code: str, rule: str
) -> None:
    wire = Wire(protocol=protocol, role="client")
    with pytest.raises(errors_of(codec).DecodeError) as caught:
        wire.decode(codec, bytes.fromhex("00000009" + length))
    error = caught.value
    assert (error.code, error.rule, error.at, error.recoverable) == (code, rule, 4, False)
    assert error.path == ("Frame.length" if code == "invalid_value" else "Frame.body")


@each_codec
def test_bytes_left_over_are_kept_and_not_written(codec: Codec) -> None:
    short, long = framed(21, f"{ONE} 0001 61"), framed(21, f"{ONE} 0001 61 0102")
    wire = Wire(protocol="pravega", role="server")
    assert wire.decode(codec, long) == wire.decode(codec, short)
    assert wire.encode(codec, wire.decode(codec, long)) == short
    frame = wire.module.decode(long)
    assert frame.message.tail == b"\1\2"


@each_codec
@pytest.mark.parametrize("size", range(8))
def test_a_part_of_a_trailing_number_is_left_over(codec: Codec, size: int) -> None:
    whole, wire = f"{WRITER} {ONE}", Wire(protocol="pravega", role="server")
    data = framed(8, whole + "07" * size)
    assert wire.decode(codec, data) == wire.decode(codec, framed(8, whole))
    assert wire.module.decode(data).message.request_id == -1
    assert wire.module.decode(data).message.absent == 1


@each_codec
def test_what_programs_write_behind_a_documented_block_is_read_and_not_written(codec: Codec) -> None:
    vector = next(each for each in VECTORS if each["id"] == "pravega-impl-v7/AppendBlockEnd/115")
    data = bytes.fromhex(vector["hex"])
    wire = Wire(protocol="pravega_documented", role="client")
    record = wire.decode(codec, data)
    assert "request_id" not in record["fields"]
    assert wire.encode(codec, record) == framed(4, vector["body_hex"][:-16])
