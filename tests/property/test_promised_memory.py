"""The peak memory of decoding, against the promise of `wiregen check --verbose`; with an error, at most twice as much."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from math import inf, isqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests.peaks import peak_of
from tests.property.test_serializations import PROTOCOLS, Package
from tests.property.values import put, spots

from wiregen.generate.frontend import load_protocol
from wiregen.language.checker import largest_memory
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wireproto import geode, lumberjack

GeodeValue = geode.GeodeValue
IDL = Path(__file__).resolve().parents[2] / "idl"
LIMITS = {"frame": 1 << 20, "inflated": 4 << 20, "messages": 4096}
"""Narrower than the protocols' own, so that this takes seconds; the promise follows them."""
SMALL = 1 << 20
"""Bytes below which nobody is promised anything: codecs load what they need, and make their tables."""
N_MESSAGES = 8
"""Of each protocol, those of the largest promises."""


@pytest.fixture(scope="module", params=PROTOCOLS)
def package(request: pytest.FixtureRequest) -> Package:
    return Package(request.param)


def test_decoding_takes_what_is_promised_and_an_error_at_most_twice(package: Package) -> None:
    limits = package.native.Limits(**LIMITS)
    promises = promised(package)
    chosen = sorted(promises, key=lambda name: promises[name])[-N_MESSAGES:]
    n_large = 0
    for role, frame in package.frames(3):
        name = type(frame.message)._NAME or type(frame.message).__name__
        if name not in chosen:
            continue
        for data in grown(package, frame):
            told = package.told(role) | {"limits": limits}
            good, error = peak(package, data, told)
            if error is not None:  # more than the limits allow, though encoders have wider ones
                continue
            assert good < promises[name] + SMALL, name
            n_large += good > SMALL
            for bad in (data + b"\0", data[:-1], data[:-1] + bytes([data[-1] ^ 0xFF])):
                allowed = 2 * good + SMALL
                assert peak(package, bad, told, allowed)[0] < allowed, name
    assert n_large


def test_wide_texts_in_what_is_inflated_take_what_is_promised() -> None:
    """The messages of an inflated block hold texts; one wide character makes each of a text's take four bytes."""
    package = Package("lumberjack")
    text = "\U0001f600" + "a" * 30_000
    size = LIMITS["inflated"] // (len(text) + 32)
    frames = [lumberjack.Frame(lumberjack.Data(n, [lumberjack.Pair("k", text)])) for n in range(size)]
    data = lumberjack.encode(lumberjack.Compressed(frames))
    most, error = peak(package, data, {"limits": lumberjack.Limits(**LIMITS)})
    assert error is None
    assert 4 * LIMITS["inflated"] < most < promised(package)["Compressed"]


SHARE = 1 if settings.get_current_profile_name() == "soak" else 3
"""A soak has messages of three times as many items."""
N_ITEMS = 15_000 // SHARE
"""Items of one message: the default limits allow it, and the search to go through all of them."""
N_ROWS = isqrt(N_ITEMS) - 2


def put_request(value: Any) -> geode.PutRequest:
    return geode.PutRequest("r", GeodeValue.Integer(1), value, GeodeValue.Null())


def in_two(kind: Any, item: Any) -> Any:
    return GeodeValue.ArrayList([kind([item] * (N_ITEMS // 2)) for _ in range(2)])


def in_rows(kind: Any, item: Any, n: int = N_ROWS) -> Any:
    return GeodeValue.ArrayList([kind([item] * n) for _ in range(n)])


LONG = {
    "flags": in_two(GeodeValue.BooleanArray, True),
    "rows of flags": in_rows(GeodeValue.BooleanArray, True),
    "numbers": GeodeValue.DoubleArray([1.0] * N_ITEMS),
    "bytes": GeodeValue.ByteArrays([b"x"] * N_ITEMS),
    "texts": GeodeValue.StringArray([GeodeValue.StringBytes("x")] * N_ITEMS),
    "unions": GeodeValue.ArrayList([GeodeValue.Integer(1)] * N_ITEMS),
    "rows of unions": in_rows(GeodeValue.LinkedList, GeodeValue.Integer(1)),
    "few rows of unions": in_rows(GeodeValue.LinkedList, GeodeValue.Integer(1), N_ROWS // 2),
    "nothing": GeodeValue.ArrayList([GeodeValue.Null()] * N_ITEMS),
    "structs": GeodeValue.HashMap([geode.Entry(GeodeValue.Null(), GeodeValue.Null())] * (N_ITEMS // 2)),
    "counted structs": GeodeValue.TreeMap(
        GeodeValue.Null(), [geode.Entry(GeodeValue.Null(), GeodeValue.Null())] * (N_ITEMS // 2)
    ),
    "one text": GeodeValue.HugeString("\u20ac" * (1_000_000 // SHARE)),
}


@pytest.mark.parametrize("name", LONG)
def test_an_error_behind_many_items_takes_at_most_twice(name: str) -> None:
    """With the default limits: as a frame, from a stream, and in pieces."""
    data = geode.encode(put_request(LONG[name]), correlation_id=1)
    pieces = split(data, 4000)
    with pytest.raises(geode.DecodeError):
        geode.decode(b"\0" * 99)  # what is loaded once
    assert_error_takes_twice(lambda last: geode.decode(data[:-1] + last))
    assert_error_takes_twice(lambda last: fed(data[:-1] + last))
    assert_error_takes_twice(lambda last: fed(pieces[:-1] + last))


def fed(data: bytes) -> list[Any]:
    decoder = geode.Decoder("client")
    decoder.begin_inside()
    return list(decoder.feed(data))


def split(data: bytes, size: int) -> bytes:
    """Return the frames that carry the block of a frame in pieces."""
    block = data[10:]
    pieces = [block[at : at + size] for at in range(0, len(block), size)]
    return b"".join(
        len(piece).to_bytes(4, "big") + data[4:8] + bytes([piece is not pieces[-1], 0]) + piece
        for piece in pieces
    )


def assert_error_takes_twice(read: Callable[[bytes], object]) -> None:
    """Compare a good last byte, which is a null, with one of no meaning."""
    good, error = peak_of(lambda: read(b"\x29"))
    assert error is None
    allowed = 2 * good + SMALL // SHARE
    bad, error = peak_of(lambda: read(b"\xd6"), allowed)
    assert isinstance(error, geode.DecodeError)
    assert bad < allowed, (bad, good)


def promised(package: Package) -> dict[str, int]:
    report = Report()
    subject = load_protocol(IDL / f"{package.schema.name}.wire", Sources(), report, (IDL,))
    assert subject is not None, report
    return dict(largest_memory(subject.protocol, LIMITS))


def grown(package: Package, frame: Any) -> Iterator[bytes]:
    """Yield frames with one long list or one long text with a wide character each, as long as the limits allow."""
    for index, (owner, name) in enumerate(spots(frame)):
        value = owner[name] if isinstance(name, int) else getattr(owner, name, None)
        if not isinstance(value, str | bytes | list) or value == []:
            continue
        for size in (4096, 4000, 1000) if isinstance(value, list) else (1 << 20, (1 << 20) - 4096, 60_000):
            other = copy.deepcopy(frame)
            put(list(spots(other))[index], long(value, size))
            try:
                data = package.native.encode(other)
            except package.native.EncodeError:
                continue
            if len(data) <= LIMITS["frame"]:
                yield data
                break


def long(value: str | bytes | list[Any], size: int) -> str | bytes | list[Any]:
    """Return a value of the same kind and of that size."""
    if isinstance(value, str):
        return "a" * size + "\U0001f600"
    return b"a" * size if isinstance(value, bytes) else (value * size)[:size]


def peak(
    package: Package, data: bytes, told: dict[str, Any], allowed: float = inf
) -> tuple[int, Exception | None]:
    """Return how many bytes decoding took at most, those of the frame included, and the error that it ended with."""
    most, error = peak_of(lambda: package.native.decode(data, **told), allowed - len(data))
    return most + len(data), error
