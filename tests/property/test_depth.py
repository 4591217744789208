"""`limits.depth`: the reference codec and the serializations agree with compiled code, called from a deep stack."""

from __future__ import annotations

import importlib
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.property.schemas import built

from wiregen.formats.jsonl import LineEncoder, dumps, loads
from wiregen.formats.line_maker import LineMaker
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.values import MOST_NESTING
from wiregen.runtime.schema.protocol import Schema

HEAD = """
protocol p { source "x" endian big roles a, b }
limits { depth = %d  frame = 64 KiB  inflated = 64 KiB }
frame F { type : u8 := code(body)  body : match type }
"""
CALLED_FROM = 100
_Result = TypeVar("_Result")


def flags(depth: int) -> bytes:
    return b"\x01" + b"\x01" * depth + b"\0"


def pairs(depth: int) -> bytes:
    return b"\x01" + b"\x01\x02" * (depth // 2) + (b"\x01\0\x05" if depth % 2 else b"\0")


def sized(innermost: bytes, code: bytes) -> Callable[[int], bytes]:
    def octets(depth: int) -> bytes:
        inside = innermost
        for _ in range(depth):
            inside = code + len(inside).to_bytes(2, "big") + inside
        return b"\x01" + inside

    return octets


def branches(wrap: Callable[[bytes], bytes]) -> Callable[[int], bytes]:
    """Return what makes values whose innermost is the arm of a number, each in the arm of a list around it."""

    def octets(depth: int) -> bytes:
        inside = b"\0\0\1\5"
        for _ in range(depth):
            inside = b"\1" + wrap(inside)
        return b"\1" + inside

    return octets


def behind_size(octets: bytes) -> bytes:
    return len(octets).to_bytes(2, "big") + octets


def deflated(depth: int) -> bytes:
    octets = b"\x02\x05"
    for _ in range(depth + 1):
        packed = zlib.compress(octets)
        octets = b"\x01" + len(packed).to_bytes(4, "big") + packed
    return octets


CIRCLES = {
    "a struct in itself": ("struct A { more : bool  a : A if more }  message M 1 { a : A }", flags),
    "a list of itself": ("struct A { a : A[u8] }  message M 1 { a : A }", flags),
    "two structs": (
        "struct A { more : bool  b : B if more }  struct B { more : bool  a : A if more }  message M 1 { a : A }",
        flags,
    ),
    "two structs with lists": (
        """struct Row { cells : Cell[u8] }  struct Cell { kind : u8  value : match kind { 0 => u8  2 => Row } }
        message M 1 { row : Row }""",
        pairs,
    ),
    "six structs with lists": (
        "".join(f"struct A{i} {{ a : A{(i + 1) % 6}[u8] }} " for i in range(6)) + "message M 1 { a : A0 }",
        flags,
    ),
    "two circles": (
        "struct A { a : A[u8]  }  union V : u8 { A 1 { v : V }  Leaf 0 { a : A } }  message M 1 { v : V }",
        lambda depth: b"\x01" + b"\x01" * (depth // 2) + b"\0" + b"\x01" * ((depth - 1) - depth // 2) + b"\0",
    ),
    "a union in itself": ("union V : u8 { Leaf 0 { }  Nest 1 { v : V } }  message M 1 { v : V }", flags),
    "a list of a union": (
        "union V : u8 { Leaf 0 { x : u8 }  Nest 1 { v : V[u8] } }  message M 1 { v : V }",
        lambda depth: b"\x01" + b"\x01\x01" * depth + b"\0\x05",
    ),
    "a union and a struct": (
        "union V : u8 { Leaf 0 { }  Nest 1 { s : S } }  struct S { more : bool  v : V if more }  message M 1 { s : S }",
        flags,
    ),
    "a message in itself": ("message M 1 { more : bool  m : M if more }", flags),
    "a region with its size": (
        "struct A { size : u16 := size(a)  a : A[] in size }  message M 1 { a : A }",
        sized(b"\0\0", b""),
    ),
    "a union with its size": (
        "union V : u8 { Leaf 0 { x : u8 }  Nest 1 { n : u16 := size(v)  v : V in n } }  message M 1 { v : V }",
        sized(b"\0\x07", b"\x01"),
    ),
    "an arm with its size": (
        """struct A { kind : u8  size : u16 := size(a)  a : match kind { 0 => u8  1 => A[] } in size }
        message M 1 { a : A }""",
        branches(behind_size),
    ),
    "choices in choices with a size": (
        """struct A { kind : u8  size : u16 := size(a)
          a : match kind { 0 => u8  _ => match kind { 2 => u16  _ => match kind { 3 => u8  _ => A[] } } } in size }
        message M 1 { a : A }""",
        branches(behind_size),
    ),
    "a block with its size in a region with its size": (
        """struct A { kind : u8  size : u16 := size(a)
          a : match kind { 0 => u8  _ => { n : u16 := size(b)  b : A[] in n } } in size }
        message M 1 { a : A }""",
        branches(lambda octets: behind_size(behind_size(octets))),
    ),
    "sizes that count themselves": (
        """struct A { size : u16 := size(a) + 2  a : B[] in size - 2 }
        struct B { size : u16 := 2 + size(a)  a : A[] in size - 2 }  message M 1 { a : A }""",
        lambda depth: b"\1" + b"".join((2 * n).to_bytes(2, "big") for n in range(depth + 1, 0, -1)),
    ),
    "compressed frames": ("message M 1 { frames : F[] in zlib[u32] }  message X 2 { x : u8 }", deflated),
}


class Side:
    """A package that was built, and its reference codec."""

    def __init__(self, module: Any, package: str, plan: Schema) -> None:
        self.native = module
        self.schema = plan
        self.serials = [importlib.import_module(f"{package}.p.{name}") for name in ("protobuf", "msgpack")]
        self._plan = importlib.import_module(f"{package}.p._plan").PLAN
        self._explain = importlib.import_module(f"{package}._runtime.reference.explain").explain
        self._write = importlib.import_module(f"{package}._runtime.reference.writing.frames").write_frame
        self._options = importlib.import_module(f"{package}._runtime.codec.options").Options

    def read(self, octets: bytes, limits: dict[str, int] | None = None) -> Any:
        return self._explain(self._plan, octets, 0, len(octets), self._options(limits=limits)).value

    def write(self, frame: Any, limits: dict[str, int] | None = None) -> bytes:
        data: bytes = self._write(self._plan, frame, self._options(limits=limits))
        return data


@pytest.fixture(scope="module", params=CIRCLES.items(), ids=list(CIRCLES))
def circle(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Side, Callable[[int], bytes]]]:
    name, (text, octets_of) = request.param
    package = "deep_" + name.replace(" ", "_")
    folder: Path = tmp_path_factory.mktemp(package)
    with built(HEAD % MOST_NESTING + text, folder, package, ("native", "protobuf", "msgpack")) as codecs:
        yield Side(codecs.module, package, codecs.schema), octets_of


def called_deep(work: Callable[[], _Result]) -> _Result:
    """Return the result of a function that is called `CALLED_FROM` frames deep."""
    n_frames, frame = 0, sys._getframe()
    while frame.f_back is not None:
        n_frames, frame = n_frames + 1, frame.f_back
    return _deeper(CALLED_FROM - n_frames, work)


def _deeper(n_frames: int, work: Callable[[], _Result]) -> _Result:
    return work() if n_frames <= 0 else _deeper(n_frames - 1, work)


def test_the_deepest_value_goes_through_every_codec(circle: tuple[Side, Callable[[int], bytes]]) -> None:
    side, octets_of = circle
    octets = octets_of(MOST_NESTING)
    frame = called_deep(lambda: side.native.decode(octets))
    assert called_deep(lambda: side.native.encode(frame)) == octets
    tree = called_deep(lambda: side.read(octets))
    assert called_deep(lambda: side.write(tree)) == called_deep(lambda: side.write(frame)) == octets
    for serial in side.serials:
        packed = called_deep(partial(serial.encode, frame))
        back = called_deep(partial(serial.decode, packed))
        assert side.native.encode(back) == octets


def test_the_deepest_value_is_a_json_line(circle: tuple[Side, Callable[[int], bytes]]) -> None:
    side, octets_of = circle
    octets = octets_of(MOST_NESTING)
    frame = side.native.decode(octets)
    line = called_deep(lambda: dumps(LineMaker(side.schema).decoded(frame, octets, offset=0)))
    assert "raw" not in loads(line)
    assert called_deep(lambda: LineEncoder(side.schema).encode(loads(line))) == octets
    limits = {"depth": MOST_NESTING - 1}
    with pytest.raises(EncodeError, match=r"nesting at most 31 deep \(limits\.depth\)"):
        called_deep(lambda: LineEncoder(side.schema, limits=limits).encode(loads(line)))


@pytest.mark.parametrize("depth", [0, 1, 5, MOST_NESTING])
def test_one_level_more_is_too_deep_in_every_codec(
    circle: tuple[Side, Callable[[int], bytes]], depth: int
) -> None:
    side, octets_of = circle
    native, limits = side.native, side.native.Limits(depth=depth)
    wide = {"depth": MOST_NESTING + 10}
    octets = octets_of(depth + 1)
    tree = side.read(octets, wide)
    found = [
        called_deep(lambda: _refusal(side, lambda: native.decode(octets, limits=limits))),
        called_deep(lambda: _refusal(side, lambda: side.read(octets, {"depth": depth}))),
    ]
    assert {(each.code, each.path, each.at, each.inner_at, each.expected) for each in found} == {
        (
            "too_deep",
            found[0].path,
            found[0].at,
            found[0].inner_at,
            f"nesting at most {depth} deep (limits.depth)",
        )
    }
    written = called_deep(lambda: _refusal(side, lambda: side.write(tree, {"depth": depth})))
    assert (written.code, written.path, written.expected) == ("too_deep", found[0].path, found[0].expected)
    if depth < MOST_NESTING:
        frame = native.decode(octets)
        refused = called_deep(lambda: _refusal(side, lambda: native.encode(frame, limits=limits)))
        assert (refused.code, refused.path, refused.expected) == ("too_deep", written.path, written.expected)
        for serial in side.serials:
            read = partial(serial.decode, serial.encode(frame), limits=limits)
            refused = called_deep(partial(_refusal, side, read))
            assert (refused.code, refused.expected) == ("too_deep", written.expected)


def test_levels_count_to_the_limit(circle: tuple[Side, Callable[[int], bytes]]) -> None:
    side, octets_of = circle
    for n in range(1, 12):
        octets = octets_of(n)
        frame = side.native.decode(octets)
        for depth in range(12):
            limits = side.native.Limits(depth=depth)
            is_refused = _fails(partial(side.native.decode, octets, limits=limits))
            assert is_refused == _fails(partial(side.read, octets, {"depth": depth}))
            assert is_refused == _fails(partial(side.native.encode, frame, limits=limits))
            assert is_refused == (depth < n)


def _fails(work: Callable[[], object]) -> bool:
    try:
        work()
    except ValueError:
        return True
    return False


def _refusal(side: Side, work: Callable[[], object]) -> Any:
    with pytest.raises((side.native.DecodeError, side.native.EncodeError)) as caught:
        work()
    return caught.value


def test_limits_nest_no_deeper_than_every_codec(circle: tuple[Side, Callable[[int], bytes]]) -> None:
    native = circle[0].native
    assert native.Limits(depth=MOST_NESTING).depth == MOST_NESTING
    for depth in (MOST_NESTING + 1, 10**9, None):
        with pytest.raises(ValueError, match=r"the limit depth is an integer from 0 to 32, not "):
            native.Limits(depth=depth)
