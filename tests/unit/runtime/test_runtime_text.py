"""Text and back, against an encoder of one line per rule."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wiregen.runtime.codec.text import NOT_CANONICAL, decode_text, encode_text

ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.text(
    st.sampled_from("a\0\x7fé\u07ffह\ud83d\ude00😀\uffff")
)


def units(value: str) -> list[int]:
    """Return the UTF-16 units of a text."""
    found = []
    for character in value:
        code = ord(character)
        if code > 0xFFFF:
            found += [0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code - 0x10000 & 0x3FF)]
        else:
            found.append(code)
    return found


def java(value: str) -> bytes:
    """Encode as Java's writeUTF does, unit by unit."""
    data = bytearray()
    for unit in units(value):
        if 0 < unit < 0x80:
            data.append(unit)
        elif unit < 0x800:
            data += bytes((0xC0 | unit >> 6, 0x80 | unit & 0x3F))
        else:
            data += bytes((0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F))
    return bytes(data)


def joined(value: str) -> str:
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@given(ANY_TEXT)
@example("\0")
@example("a😀")
def test_mutf8_is_what_java_writes(value: str) -> None:
    assert encode_text(value, "mutf8") == java(value)


@given(ANY_TEXT, st.booleans())
def test_mutf8_comes_back(value: str, lenient: bool) -> None:
    assert decode_text(java(value), "mutf8", lenient) == joined(value)


@given(
    st.binary(max_size=12)
    | st.lists(st.sampled_from([0, 0x41, 0x80, 0xBF, 0xC0, 0xC1, 0xE0, 0xED, 0xA0, 0xF0])).map(bytes)
)
def test_strict_mutf8_takes_nothing_that_it_would_write_otherwise(data: bytes) -> None:
    try:
        value = decode_text(data, "mutf8")
    except UnicodeDecodeError as error:
        assert 0 <= error.start < error.end <= len(data)
        decode_text(data[: error.start], "mutf8")
    else:
        assert java(value) == data


@given(st.binary(max_size=16))
def test_lenient_mutf8_takes_more(data: bytes) -> None:
    try:
        value = decode_text(data, "mutf8")
    except UnicodeDecodeError as error:
        if error.reason != NOT_CANONICAL:
            with pytest.raises(UnicodeDecodeError):
                decode_text(data, "mutf8", lenient=True)
    else:
        assert decode_text(data, "mutf8", lenient=True) == value


@pytest.mark.parametrize(
    ("data", "value"),
    [
        pytest.param("4100", "A\0", id="raw NUL"),
        pytest.param("c181", "A", id="two bytes for an ASCII letter"),
        pytest.param("e0818141", "AA", id="three bytes for an ASCII letter"),
        pytest.param("e08080c3a9", "\0é", id="three bytes for NUL"),
        pytest.param("c181eda0bdedb880", "A😀", id="a pair of surrogates behind it"),
    ],
)
def test_forms_that_only_a_lenient_reader_takes(data: str, value: str) -> None:
    assert decode_text(bytes.fromhex(data), "mutf8", lenient=True) == value
    with pytest.raises(UnicodeDecodeError) as caught:
        decode_text(bytes.fromhex(data), "mutf8")
    assert caught.value.reason == NOT_CANONICAL


@pytest.mark.parametrize(
    ("data", "start"),
    [
        pytest.param("61f09f9880", 1, id="four bytes"),
        pytest.param("c3a961ff", 3, id="no start byte"),
        pytest.param("c080c3", 2, id="cut"),
        pytest.param("e28261", 0, id="no continuation"),
        pytest.param("eda0bd80", 3, id="continuation alone"),
    ],
)
def test_place_of_a_fault_in_mutf8(data: str, start: int) -> None:
    with pytest.raises(UnicodeDecodeError) as caught:
        decode_text(bytes.fromhex(data), "mutf8", lenient=True)
    assert caught.value.start == start


@given(st.binary())
def test_lenient_utf8_gives_back_every_byte(data: bytes) -> None:
    assert encode_text(decode_text(data, "utf8", lenient=True), "utf8", lenient=True) == data


@given(st.binary(), st.sampled_from(["big", "little"]))
def test_utf16_gives_back_every_unit(data: bytes, endian: str) -> None:
    whole = data[: len(data) // 2 * 2]
    assert encode_text(decode_text(whole, "utf16", endian=endian), "utf16", endian=endian) == whole
    if whole != data:
        with pytest.raises(UnicodeDecodeError):
            decode_text(data, "utf16", endian=endian)


@pytest.mark.parametrize(
    ("value", "encoding", "lenient", "start"),
    [
        pytest.param("a\udce9", "utf8", False, 1, id="a lone surrogate"),
        pytest.param("\ud800", "utf8", True, 0, id="a surrogate that stands for no byte"),
        pytest.param("aé", "ascii", False, 1, id="not ASCII"),
        pytest.param("é\u0100", "latin1", False, 1, id="not Latin-1"),
    ],
)
def test_what_an_encoding_does_not_have(value: str, encoding: str, lenient: bool, start: int) -> None:
    with pytest.raises(UnicodeEncodeError) as caught:
        encode_text(value, encoding, lenient)
    assert caught.value.start == start
