"""Native, protobuf and msgpack say the same: for every message of every protocol, forwards and backwards."""

from __future__ import annotations

import importlib
import zlib
from typing import Any

import msgpack as python_msgpack
import pytest
from tests.property.any_values import AnyValues

PROTOCOLS = ("geode", "lumberjack", "pravega", "pravega_documented", "pravega_proposal", "reactive_streams")
N_SEEDS = 40


class Package:
    """A generated package with its three serializations."""

    def __init__(self, name: str) -> None:
        self.native: Any = importlib.import_module(f"wireproto.{name}")
        self.protobuf: Any = importlib.import_module(f"wireproto.{name}.protobuf")
        self.msgpack: Any = importlib.import_module(f"wireproto.{name}.msgpack")
        self.plan: dict[str, Any] = importlib.import_module(f"wireproto.{name}._plan").PLAN

    def frames(self, seed: int) -> list[tuple[str | None, Any]]:
        return AnyValues(self.native, self.plan, seed).frames()

    def told(self, role: str | None) -> dict[str, Any]:
        return {"from_role": role} if len(self.plan["frames"]) > 1 else {}


def code_of(call: Any, *arguments: Any, **more: Any) -> Any:
    """Return what a call returns, or the code and path of what it refuses."""
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
    for seed in range(5 * N_SEEDS):
        for _, frame in package.frames(seed):
            name = type(frame.message).__name__
            good[name] = good.get(name, False) or isinstance(code_of(package.msgpack.encode, frame), bytes)
    assert {name for name, is_good in good.items() if not is_good} == set()
    assert len(good) == len([name for name in package.plan["messages"] if hasattr(package.native, name)])


def test_python_msgpack_reads_what_we_write(package: Package) -> None:
    for role, frame in package.frames(1):
        octets = code_of(package.msgpack.encode, frame)
        if isinstance(octets, bytes):
            row = python_msgpack.unpackb(octets)
            code = package.plan["messages"][type(frame.message).__name__][0]
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
