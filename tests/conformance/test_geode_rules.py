"""The rules of Geode's document and ledger without vectors from others: refused messages with their rule,
and accepted ones.
"""

from __future__ import annotations

from typing import Any, Final

import pytest
from tests.conformance.two_codecs import CODECS, Codec, Wire, check_frame, errors_of

from wireproto import geode

each_codec = pytest.mark.parametrize("codec", CODECS)
each_layout = pytest.mark.parametrize("variant", [None, "example"])

GET: Final = "0001 52 39 00000005 29"
"""Region R, key 5, no callback argument."""
JSON_KEY, EVENT_ID, UPDATE = "0001 01", "0003 0003632d31 0000000000000007 000000000000002a", "0001 01"


def request(api: int, body: str, *, metadata: str | None = None, variant: str | None = None) -> bytes:
    return message(f"{api:04x} 01", metadata, body, variant)


def response(status: int, body: str, *, metadata: str | None = None, variant: str | None = None) -> bytes:
    return message(f"{status:04x}", metadata, body, variant)


def message(head: str, metadata: str | None, body: str, variant: str | None) -> bytes:
    """Return a whole message with correlation id 1 in either layout."""
    flag = f"{metadata is not None:02x}"
    inside = bytes.fromhex(f"{head} {flag if variant else ''} {metadata or ''} {body}")
    outside = "00 00000001" if variant else f"00000001 00 {flag}"
    return len(inside).to_bytes(4, "big") + bytes.fromhex(outside) + inside


def wire(role: str, *, variant: str | None = None, api: int = 4, strict: bool = True) -> Wire:
    known = {"api": [["client", 1, api]]}
    opening = b"\x6e" if role == "client" else b""
    return Wire(protocol="geode", role=role, variant=variant, snapshot=known, opening=opening, strict=strict)


def check_refused(codec: Codec, of: Wire, data: bytes, code: str, rule: str | None) -> None:
    """Check that the message is refused, and that the stream continues after it."""
    with pytest.raises(errors_of(codec).DecodeError) as caught:
        of.decode(codec, data)
    error: Any = caught.value
    assert (error.code, error.rule, error.recoverable, error.end) == (code, rule, True, len(data))
    refused, read = of.reading(codec).feed(data + good(of))
    assert (refused.code, refused.rule) == (code, rule)
    assert read == of.decode(codec, good(of))


def good(of: Wire) -> bytes:
    return (
        request(4, GET, variant=of.variant)
        if of.role == "client"
        else response(1000, "0000", variant=of.variant)
    )


METADATA: Final = [
    pytest.param("0000", "constraint", "bad_metadata_count", id="none"),
    pytest.param("ffff", "invalid_value", "bad_metadata_count", id="negative"),
    pytest.param("0002 {known} {known}", "constraint", "duplicate_metadata_key", id="twice"),
    pytest.param(
        "0002 {known} 0001 00", "constraint", "duplicate_metadata_key", id="twice-with-other-values"
    ),
    pytest.param("0001 0000", "unknown_code", "unknown_metadata_key", id="key-0"),
    pytest.param("0001 0004 01", "unknown_code", "unknown_metadata_key", id="key-4"),
    pytest.param("0002 {known} 0009 01", "unknown_code", "unknown_metadata_key", id="unknown-behind-known"),
    pytest.param("0001 0001 02", "invalid_value", "bad_boolean", id="boolean"),
]


@each_codec
@each_layout
@pytest.mark.parametrize("role", ["client", "server"])
@pytest.mark.parametrize(("metadata", "code", "rule"), METADATA)
def test_metadata_is_at_least_one_known_key_and_none_twice(
    codec: Codec, variant: str | None, role: str, metadata: str, code: str, rule: str
) -> None:
    given = metadata.format(known=JSON_KEY if role == "client" else UPDATE)
    made = request(4, GET, metadata=given, variant=variant)
    if role == "server":
        made = response(1, "29", metadata=given, variant=variant)
    check_refused(codec, wire(role, variant=variant), made, code, rule)


@each_codec
@pytest.mark.parametrize("key", [2, 3])
def test_keys_of_requests_are_none_of_responses(codec: Codec, key: int) -> None:
    made = response(1, "29", metadata=f"0001 {key:04x} 01")
    check_refused(codec, wire("server"), made, "unknown_code", "unknown_metadata_key")


@each_layout
def test_all_keys_may_stand_in_any_order(variant: str | None) -> None:
    made = request(4, GET, metadata=f"0003 {EVENT_ID} 0002 00 {JSON_KEY}", variant=variant)
    event = {"EventId": {"unique_id": "c-1", "thread_id": "7", "sequence_id": "42"}}
    flags = [{"JsonValue": {"value": False}}, {"JsonKey": {"value": True}}]
    body = {"region_name": "R", "key": {"Integer": {"value": 5}}, "callback_arg": {"Null": {}}}
    header = {"correlation_id": 1, "is_partial": False, "metadata": [event, *flags]}
    check_frame(
        wire("client", variant=variant), made, {"message": "GetRequest", "header": header, "fields": body}
    )


@pytest.mark.parametrize(
    ("metadata", "rule"),
    [
        pytest.param([], "bad_metadata_count", id="none"),
        pytest.param(
            [geode.RequestMetadata.JsonKey(True), geode.RequestMetadata.JsonKey(False)],
            "duplicate_metadata_key",
            id="twice",
        ),
    ],
)
def test_metadata_that_would_be_refused_is_not_written(metadata: list[Any], rule: str) -> None:
    body = geode.GetRequest("R", geode.GeodeValue.Integer(5), geode.GeodeValue.Null())
    with pytest.raises(geode.EncodeError) as caught:
        geode.encode(body, correlation_id=1, metadata=metadata)
    assert (caught.value.code, caught.value.rule) == ("constraint", rule)


REQUESTS: Final = [
    pytest.param(3, "0001 52 39 00000005 29", "truncated", None, id="no-chunk"),
    pytest.param(3, "0001 52 39 00000005 29 00000000 00", "truncated", None, id="value-of-no-bytes"),
    pytest.param(3, "0001 52 39 00000005 29 00000001 01 29", "truncated", None, id="last-chunk-missing"),
    pytest.param(
        3, "0001 52 39 00000005 29 ffffffff 00", "invalid_value", "negative_length", id="chunk-size"
    ),
    pytest.param(3, "0001 52 39 00000005 29 00000001 02 29", "invalid_value", "bad_boolean", id="chunk-flag"),
    pytest.param(4, "0001 52 29 29", "constraint", "key_type_not_allowed", id="key-null"),
    pytest.param(4, "0001 52 2c 29", "constraint", "key_type_not_allowed", id="key-opaque"),
    pytest.param(4, "0001 52 ee 29", "unknown_code", "unknown_type_code", id="key-unknown"),
    pytest.param(4, "0001 00 39 00000005 29", "not_canonical", "bad_modified_utf8", id="raw-nul"),
    pytest.param(4, "0001 52 57 0001", "truncated", None, id="key-cut"),
    pytest.param(5, "0001 52 7fffffff 29", "truncated", None, id="count-beyond"),
    pytest.param(6, "0001 52 ffffffff 29", "invalid_value", "negative_count", id="keys-negative"),
    pytest.param(6, "0001 52 00000001 43 00 29", "constraint", "key_type_not_allowed", id="one-of-keys"),
]


@each_codec
@pytest.mark.parametrize(("api", "body", "code", "rule"), REQUESTS)
def test_a_request_is_refused_by_name(codec: Codec, api: int, body: str, code: str, rule: str | None) -> None:
    check_refused(codec, wire("client"), request(api, body), code, rule)


@each_codec
@each_layout
def test_another_version_of_an_api_is_refused(codec: Codec, variant: str | None) -> None:
    made = bytearray(request(4, GET, variant=variant))
    made[made.index(b"\0\4\1") + 2] = 2
    check_refused(
        codec, wire("client", variant=variant), bytes(made), "wrong_constant", "unsupported_api_version"
    )


RESULTS: Final = [
    pytest.param("40 01 39 00000001", "constraint", "bad_string_code", id="string-array"),
    pytest.param("60 41 00", "constraint", "bad_string_code", id="decimal"),
    pytest.param("2b 57 0000", "unknown_code", "bad_class_code", id="class"),
    pytest.param("34 01 57 29", "unknown_code", "bad_class_code", id="object-array"),
    pytest.param("41 02 29 ee", "unknown_code", "unknown_type_code", id="element"),
    pytest.param("58 ffffffff", "invalid_value", "negative_length", id="huge"),
    pytest.param("59 80000000", "invalid_value", "negative_length", id="huge-units"),
    pytest.param("5d ffffffff 00000000", "invalid_value", "negative_length", id="pdx"),
    *(
        pytest.param(f"{code} fd {least} {after}", "invalid_value", "negative_length", id=f"array-{code}")
        for code, after in (
            *(
                (code, "")
                for code in "2e 3e 5f 1a 1b 2f 30 31 32 33 40 5b 41 0a 42 49 47 4a 43 48 46 61 0b".split()
            ),
            *((code, "29") for code in ("4b", "4c", "34")),
        )
        for least in ("ffffffff" if code != "5b" else "80000000",)
    ),
    pytest.param("5b 01 fd ffffffff", "invalid_value", "negative_length", id="inner-array"),
    pytest.param("2e fd 00000001 00", "not_canonical", None, id="wide-array"),
    pytest.param("2a 0001 c3", "invalid_text", "bad_modified_utf8", id="string"),
    pytest.param("35 02", "invalid_value", "bad_boolean", id="boolean"),
    pytest.param("1a 01 02", "invalid_value", "bad_boolean", id="booleans"),
    pytest.param("43 01 2cac 29", "unknown_code", "undelimitable_value", id="opaque-key"),
    pytest.param("41" + "01 41" * 33 + "00", "too_deep", None, id="deep"),
    pytest.param("41 fd 7fffffff 29", "truncated", None, id="count-beyond"),
]


@each_codec
@pytest.mark.parametrize(("result", "code", "rule"), RESULTS)
def test_a_result_is_refused_by_name(codec: Codec, result: str, code: str, rule: str | None) -> None:
    check_refused(codec, wire("server"), response(1, result), code, rule)


@each_codec
@pytest.mark.parametrize("size", ["01000000", "7fffffff"])
def test_a_size_above_the_limit_costs_the_stream(codec: Codec, size: str) -> None:
    with pytest.raises(errors_of(codec).DecodeError) as caught:
        wire("client").decode(codec, bytes.fromhex(size) + bytes(6))
    error = caught.value
    assert (error.code, error.rule, error.recoverable) == ("limit_exceeded", "frame_too_large", False)


ACCEPTED: Final = [
    pytest.param("client", 5, request(5, "0001 52 00000000 29"), id="no-pairs"),
    pytest.param("client", 6, request(6, "0000 00000000 29"), id="no-keys-empty-region"),
    pytest.param("client", 4, request(4, "0001 52 58 00000001 61 29"), id="huge-key"),
    pytest.param("client", 4, request(4, "0001 52 39 00000005 2c aced"), id="opaque-callback"),
    pytest.param("server", 4, response(1, "41" + "01 41" * 30 + "00"), id="nested"),
    pytest.param("server", 4, response(2, "29"), id="partial-response"),
    pytest.param("server", 4, response(9999, "0000"), id="unknown-error"),
    pytest.param("server", 1, response(1, "0102"), id="opaque-body"),
]


@each_codec
@pytest.mark.parametrize(("role", "api", "data"), ACCEPTED)
def test_what_is_unusual_is_read_and_written(codec: Codec, role: str, api: int, data: bytes) -> None:
    of = wire(role, api=api)
    assert of.encode(codec, of.decode(codec, data)) == data


@each_codec
def test_what_java_reads_is_read_unless_strict_and_written_as_it_ought(codec: Codec) -> None:
    raw, right = request(4, "0001 00 39 00000005 29"), request(4, "0002 c080 39 00000005 29")
    lenient = wire("client", strict=False)
    assert lenient.decode(codec, raw) == lenient.decode(codec, right)
    assert lenient.encode(codec, lenient.decode(codec, raw)) == right
    true = wire("server", api=3, strict=False)
    assert true.decode(codec, response(1, "02")) == true.decode(codec, response(1, "01"))
    check_refused(codec, wire("server", api=3), response(1, "02"), "invalid_value", "bad_boolean")
