"""`limits.joined` bounds what pieces are put together to, in every codec alike, and its rule is told."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from wiregen.conformance.judge import ReferenceImplementation
from wiregen.conformance.judge.generated_package import implementation_of
from wiregen.conformance.judge.implementation import CodecSetting, Implementation, Refused
from wiregen.conformance.vectors.building import build_vectors
from wiregen.conformance.vectors.format import Invalid
from wiregen.generate.frontend import load_protocol
from wiregen.generate.packages import Package, make
from wiregen.language.checker import largest_memory
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

HEAD = 'protocol p { source "no document" endian big roles client, server }\n'
BYTES = """
limits { frame = 4 KiB  %s }
frame Frame { type : u8 := code(body)  body : match type in u16 }
message Piece 1 from client { id : u16  data : bytes[] }
message LastPiece 2 from client { id : u16  data : bytes[] }
message Whole 3 { text : utf8[u16] }
join Text : %s per id { part Piece.data  last LastPiece.data }
rule too_long "What is joined has an end." @assumed("no bound is given")
"""
BLOCKS = """
limits { frame = 4 KiB  joined = 8 }
frame Frame { id : u8  more : bool = false  block : { kind : u8 := code(body)  body : match kind } in u16 }
message Go 1 { data : bytes[] }
join Part : Frame.block per id { part Frame.block when more  last Frame.block when not more }
"""
JOINED = "joined = 1 KiB @rule(too_long)"


@cache
def package_of(text: str) -> Package:
    report = Report()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.wire"
        path.write_text(HEAD + text)
        subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None, report
    package = make(subject, ("native",), report)
    assert package is not None, report
    return package


def implementations(package: Package) -> tuple[Implementation, ...]:
    return ReferenceImplementation(package.schema), implementation_of(package)


def piece(code: int, data: bytes, key: int = 3) -> bytes:
    return bytes([code]) + (2 + len(data)).to_bytes(2, "big") + key.to_bytes(2, "big") + data


def faults(package: Package, data: bytes, limits: dict[str, int] | None = None) -> list[Refused | None]:
    setting = CodecSetting(role="client", limits=limits or {})
    return [implementation.decode(setting, [data]).fault for implementation in implementations(package)]


@pytest.mark.parametrize(
    ("sizes", "limits", "is_refused"),
    [
        ((500, 524), {}, False),
        ((500, 525), {}, True),
        ((900, 900, 900, 900), {}, True),
        ((1024,), {}, False),
        ((1025,), {}, True),
        ((5, 5), {"joined": 9}, True),
        ((5, 5), {"joined": 10}, False),
        ((900, 900), {"joined": 1 << 20}, False),
    ],
    ids=str,
)
def test_a_join_ends_at_its_limit(sizes: tuple[int, ...], limits: dict[str, int], is_refused: bool) -> None:
    package = package_of(BYTES % (JOINED, "bytes"))
    *parts, last = (b"x" * size for size in sizes)
    data = b"".join(piece(1, part) for part in parts) + piece(2, last)
    for fault in faults(package, data, limits):
        assert (fault is not None) is is_refused
        if fault is not None:
            assert (fault.code, fault.rule, fault.path) == ("limit_exceeded", "too_long", "Text")


def test_more_than_a_frame_is_joined_where_the_limit_lets_it() -> None:
    package = package_of(BYTES % ("joined = 64 KiB", "bytes"))
    assert faults(package, piece(1, b"x" * 4000) * 16 + piece(2, b"x" * 1536)) == [None, None]
    assert [fault and fault.code for fault in faults(package, piece(1, b"x" * 4000) * 17)] == [
        "limit_exceeded",
        "limit_exceeded",
    ]


def test_without_a_limit_of_its_own_what_is_joined_ends_where_a_frame_does() -> None:
    package = package_of(BYTES % ("", "bytes"))
    assert faults(package, piece(1, b"x" * 4000) + piece(2, b"x" * 96)) == [None, None]
    assert None not in faults(package, piece(1, b"x" * 4000) + piece(2, b"x" * 97))
    assert faults(package, piece(1, b"x" * 4000) + piece(2, b"x" * 97), {"joined": 5000}) == [None, None]


def test_a_frame_out_of_pieces_keeps_to_it() -> None:
    package = package_of(BYTES % ("joined = 12 @rule(too_long)", "Frame"))
    fits, beyond = (b"\3\0" + bytes([n + 2]) + b"\0" + bytes([n]) + b"t" * n for n in (7, 8))
    assert faults(package, piece(1, fits[:4]) + piece(2, fits[4:])) == [None, None]
    for fault in faults(package, piece(1, beyond[:4]) + piece(2, beyond[4:])):
        assert fault is not None and (fault.code, fault.rule) == ("limit_exceeded", "too_long")


def test_a_block_out_of_pieces_keeps_to_it() -> None:
    package = package_of(BLOCKS)
    first, last = b"\1\1\0\4\1abc", b"\1\0\0\4efgh"
    assert faults(package, first + last) == [None, None]
    for data in (first + b"\1\0\0\5efghi", first * 3):
        assert [fault and fault.code for fault in faults(package, data)] == ["limit_exceeded"] * 2
    assert faults(package, b"\1\0\0\x0a\1bcdefghij") == [None, None], "a block that came whole is no join"


@pytest.mark.parametrize("text", [BYTES % (JOINED, "bytes"), BYTES % (JOINED, "Frame"), BLOCKS])
def test_a_vector_shows_what_is_beyond_it(text: str) -> None:
    package = package_of(text)
    built = build_vectors(package.schema, limits=("joined",))
    shown = [
        each
        for each in built.file.vectors
        if isinstance(each, Invalid) and any("joined" in name for name in each.covers)
    ]
    assert {each.error.code for each in shown} == {"limit_exceeded"}
    assert not [each.missing for each in built.coverage.measures if each.what == "limits" and each.missing]


def test_what_a_message_may_hold_counts_what_is_joined() -> None:
    small, large = (
        dict(largest_memory(package_of(BYTES % (f"joined = {n} KiB", "bytes")).subject.protocol))
        for n in (1, 65)
    )
    assert large["LastPiece"] - small["LastPiece"] == 2 * 64 * 1024
    assert large["Piece"] == small["Piece"]
