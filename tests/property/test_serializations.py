"""Native, protobuf and msgpack say the same: for every message of every protocol, forwards and backwards."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterator
from random import Random
from typing import Any

import msgpack as python_msgpack
import pytest
from tests.built_schema import schema_of
from tests.property.any_values import AnyValues

from wiregen.runtime.schema.protocol import Schema

PROTOCOLS = ("geode", "lumberjack", "pravega", "pravega_documented", "pravega_proposal", "reactive_streams")
N_SEEDS = 20


class Package:
    """A generated package with its three serializations."""

    def __init__(self, name: str) -> None:
        self.native: Any = importlib.import_module(f"wireproto.{name}")
        self.protobuf: Any = importlib.import_module(f"wireproto.{name}.protobuf")
        self.msgpack: Any = importlib.import_module(f"wireproto.{name}.msgpack")
        self.schema: Schema = schema_of(name)
        self._values = AnyValues(self.native, self.schema)
        self.modules: tuple[Any, ...] = (self.native, self.protobuf, self.msgpack)

    def frames(self, seed: int) -> list[tuple[str | None, Any]]:
        return self._values.frames(seed)

    def told(self, role: str | None) -> dict[str, Any]:
        return {"from_role": role} if len(self.schema.frames) > 1 else {}


def code_of(call: Any, *arguments: Any, **more: Any) -> Any:
    """Return the result of a call, or the code and path of its error."""
    try:
        return call(*arguments, **more)
    except ValueError as error:
        return error.code, error.path  # type: ignore[attr-defined]


def inflated(value: Any) -> Any:
    """Return bytes in which a zlib stream at the end is inflated."""
    place = value.find(b"\x78")
    return value if place < 0 else value[:place] + zlib.decompress(value[place:])


@pytest.fixture(scope="module", params=PROTOCOLS)
def package(request: pytest.FixtureRequest) -> Package:
    return Package(request.param)


@pytest.mark.parametrize("seed", range(N_SEEDS))
def test_every_message_goes_round(package: Package, seed: int) -> None:
    for role, frame in package.frames(seed):
        check_round(package, role, frame)


@pytest.mark.parametrize("seed", range(3))
def test_every_message_comes_back_from_its_dict(package: Package, seed: int) -> None:
    for _, frame in package.frames(seed):
        message = frame.message
        again = type(message).from_dict(message.to_dict())
        assert again == message
        slots = [name for name in type(message).__slots__ if name not in type(message).__match_args__]
        assert [getattr(again, name) for name in slots] == [getattr(message, name) for name in slots]


def check_round(package: Package, role: str | None, frame: Any) -> None:
    native = code_of(package.native.encode, frame)
    octets = code_of(package.protobuf.encode, frame)
    if isinstance(native, tuple) and native[0] != "missing_context":
        assert octets == native == code_of(package.msgpack.encode, frame)
        return
    if isinstance(octets, tuple):  # a lone surrogate is the only thing that protobuf and msgpack cannot carry
        assert octets[0] in ("unrepresentable", "invalid_value", "constraint", "unknown_code")
        assert octets == code_of(package.msgpack.encode, frame)
        return
    told = package.told(role)
    first = package.protobuf.decode(octets, **told)
    second = package.msgpack.decode(package.msgpack.encode(first), **told)
    assert first == second == frame
    assert absences(second) == absences(frame)
    if isinstance(native, bytes):
        assert package.native.encode(second) == native


def absences(value: Any) -> list[int]:
    """Return how many fields are absent in each record, outer ones first."""
    if isinstance(value, list):
        return [count for item in value for count in absences(item)]
    names = getattr(type(value), "__match_args__", ())
    own = [value.absent] if hasattr(value, "absent") else []
    return own + [count for name in names for count in absences(getattr(value, name))]


def test_every_message_is_made_and_most_are_good(package: Package) -> None:
    good: dict[str, bool] = {}
    for seed in range(N_SEEDS):
        for _, frame in package.frames(seed):
            name = type(frame.message).__name__
            good[name] = good.get(name, False) or isinstance(code_of(package.msgpack.encode, frame), bytes)
    assert {name for name, is_good in good.items() if not is_good} == set()
    assert len(good) == len([name for name in package.schema.messages if hasattr(package.native, name)])


def test_python_msgpack_reads_what_we_write(package: Package) -> None:
    for role, frame in package.frames(1):
        octets = code_of(package.msgpack.encode, frame)
        if isinstance(octets, bytes):
            row = python_msgpack.unpackb(octets)
            code = package.schema.messages[type(frame.message).__name__].code
            assert row[0] == (type(frame.message).__name__ if code is None else code)
            again = package.msgpack.decode(python_msgpack.packb(row), **package.told(role))
            assert again == frame


@pytest.mark.parametrize("name", ["protobuf", "msgpack"])
def test_a_stream_is_the_same_in_any_chunks(package: Package, name: str) -> None:
    module = getattr(package, name)
    for role in {role for role, _ in package.frames(3)}:
        mine = [frame for sender, frame in package.frames(3) if sender == role]
        pieces = [(frame, code_of(module.encode, frame)) for frame in mine]
        good = [(frame, octets) for frame, octets in pieces if isinstance(octets, bytes)]
        stream = b"".join(octets for _, octets in good)
        for size in (1, 7, len(stream) or 1):
            decoder = module.Decoder(role)
            found = [
                frame
                for start in range(0, len(stream), size)
                for frame in decoder.feed(stream[start : start + size])
            ]
            decoder.finish()
            assert found == [frame for frame, _ in good]
            assert (decoder.offset, decoder.pending, decoder.needed) == (len(stream), 0, 0)


@pytest.mark.parametrize("name", ["protobuf", "msgpack"])
def test_whatever_the_bytes_only_decode_errors_leave(package: Package, name: str) -> None:
    import random

    module, dice = getattr(package, name), random.Random(5)
    for role, frame in package.frames(2) * 3:
        octets = code_of(module.encode, frame)
        if not isinstance(octets, bytes):
            continue
        for _ in range(8):
            bad = bytearray(octets)
            for _ in range(dice.randint(1, 3)):
                bad[dice.randrange(len(bad))] = dice.choice(
                    (0, 1, 0x7F, 0x80, 0xFF, 0xDD, 0xC6, 0x90, dice.randrange(256))
                )
            check_bytes(package, module, bytes(bad), role)
            check_bytes(package, module, bytes(bad[: dice.randrange(len(bad))]), role)


def check_bytes(package: Package, module: Any, data: bytes, role: str | None) -> None:
    told = package.told(role)
    try:
        frame = module.decode(data, **told)
    except module.DecodeError as error:
        assert error.code
        assert len(str(error)) < 600
    else:
        again = module.decode(module.encode(frame), **told)
        assert again == frame or "nan" in repr(frame)  # which is not equal to itself
    decoder = module.Decoder(role, errors="yield")
    items = [*decoder.items(data), *decoder.finish_items()]
    assert sum(size for _, size, _ in items) == len(data)


# ---- wrong input of every kind


def outcome(package: Package, module: Any, data: bytes, role: str | None) -> Any:
    """Return the frame in bytes, or the error: only a DecodeError with a code, and a path of its own."""
    try:
        return module.decode(data, **package.told(role))
    except package.native.DecodeError as error:
        assert error.code and 0 <= error.at <= len(data)
        assert error.recoverable == (error.end is not None)
        assert isinstance(error.path, str) and (not error.path or error.path[0] not in ".["), error.path
        return error


def damaged(data: bytes, seed: int) -> list[bytes]:
    """Return the bytes cut, with bits turned, pieces doubled, left out and put in."""
    random = Random(seed)
    found = []
    for _ in range(12):
        at, end = sorted((random.randrange(len(data)), random.randrange(len(data) + 1)))
        turned = bytearray(data)
        turned[at] ^= 1 << random.randrange(8)
        found += [bytes(turned), data[:at], data[:end] + data[at:], data[:at] + data[end:]]
        found.append(data[:at] + random.randbytes(random.randrange(1, 9)) + data[at:])
    return found


@pytest.mark.parametrize("name", ["protobuf", "msgpack"])
@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_are_read_or_refused_and_nothing_else(package: Package, name: str, seed: int) -> None:
    module = getattr(package, name)
    n_refused = 0
    for role, frame in package.frames(seed):
        octets = code_of(module.encode, frame)
        for data in damaged(octets, seed) if isinstance(octets, bytes) else ():
            found = outcome(package, module, data, role)
            if isinstance(found, ValueError):
                n_refused += 1
            else:  # what was read is a value that the protocol allows
                assert isinstance(code_of(module.encode, found), bytes)
    assert n_refused > 20


WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**64 - 1,
    1.5,
    "text",
    b"\xff",
    [],
    [[]],
    {},
    [None] * 3,
    python_msgpack.ExtType(5, b""),
)


def with_wrong(row: list[Any], wrong: Any) -> Iterator[list[Any]]:
    """Yield a row with each of its cells in turn, at any depth, replaced."""
    for index, cell in enumerate(row):
        yield [*row[:index], wrong, *row[index + 1 :]]
        if isinstance(cell, list):
            yield from ([*row[:index], inner, *row[index + 1 :]] for inner in with_wrong(cell, wrong))


def test_every_cell_of_another_type_is_refused_with_its_path_or_allowed(package: Package) -> None:
    places = set()
    for role, frame in package.frames(2):
        octets = code_of(package.msgpack.encode, frame)
        if not isinstance(octets, bytes) or len(octets) > 400:
            continue
        row = python_msgpack.unpackb(octets)
        for wrong in WRONG:
            for spoilt in with_wrong(row, wrong):
                found = outcome(package, package.msgpack, python_msgpack.packb(spoilt), role)
                if isinstance(found, ValueError) and found.path:  # type: ignore[attr-defined]
                    places.add(found.path)  # type: ignore[attr-defined]
    named = {place.partition(".")[0] for place in places}
    assert {type(frame.message).__name__ for _, frame in package.frames(2)} & named
    assert any("." in place for place in places)


def test_a_doubled_field_and_an_unknown_one_are_refused_in_every_message(package: Package) -> None:
    n_messages = 0
    for role, frame in (each for seed in range(3) for each in package.frames(seed)):
        octets = code_of(package.protobuf.encode, frame)
        if not isinstance(octets, bytes):
            continue
        n_messages += 1
        body = octets[next(n for n, byte in enumerate(octets) if byte < 128) + 1 :]
        for more in (body, b"\xf8\xff\xff\xff\x0f\x00"):  # all of it again; the largest number there is
            found = outcome(package, package.protobuf, length_of(body + more) + body + more, role)
            assert isinstance(found, ValueError) and found.code in ("duplicate", "unknown_code"), found  # type: ignore[attr-defined]
    assert n_messages > 3


def length_of(body: bytes) -> bytes:
    size, found = len(body), b""
    while size > 127:
        size, found = size >> 7, found + bytes([size & 127 | 128])
    return found + bytes([size])


@pytest.mark.parametrize("wishes", ["strict", "limits", "both"])
def test_what_no_context_is_known_for_is_read_with_any_wishes(package: Package, wishes: str) -> None:
    """Of an element whose context is unknown nothing but a DecodeError leaves a decoder, strictly and within limits too."""
    more: dict[str, Any] = {} if wishes == "limits" else {"strict": True}
    if wishes != "strict":
        more["limits"] = package.native.Limits()
    n_read = 0
    for seed in range(3):
        for role, frame in package.frames(seed):
            for module in (package.protobuf, package.msgpack):
                octets = code_of(module.encode, frame)
                if isinstance(octets, bytes):
                    told = {"from_role": role} | more
                    n_read += code_of(module.decode, octets, **told) == frame
                    n_read += [*module.Decoder(role, errors="yield", **more).feed(octets)] == [frame]
    assert n_read


def test_an_element_without_its_context_is_read_strictly() -> None:
    module = importlib.import_module("wireproto.reactive_streams")
    msgpack = importlib.import_module("wireproto.reactive_streams.msgpack")
    octets = bytes.fromhex("930701c40401000028")
    for more in ({}, {"strict": True}, {"limits": module.Limits()}):
        assert msgpack.decode(octets, **more) == msgpack.decode(octets)
    with pytest.raises(module.DecodeError) as caught:
        msgpack.decode(octets, limits=module.Limits(frame=3))
    assert caught.value.code == "limit_exceeded"
