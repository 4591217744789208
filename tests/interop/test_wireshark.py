"""Dissectors in tshark: each field of vectors and captures is shown as the reference codec reads it, in segments of several sizes."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.interop.dissected_vectors import Compared, compare, compare_capture, compare_recut, long_turns_of

from wiregen.conformance.vectors.building import build_vectors
from wiregen.conformance.vectors.format import Valid, read_vectors
from wiregen.generate.backends import Subject
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema.lowering import lower

TSHARK = shutil.which("tshark") or ""
pytestmark = pytest.mark.skipif(not TSHARK, reason="there is no tshark (Debian: apt-get install tshark)")

ROOT = Path(__file__).resolve().parents[2]
PROTOCOLS = [path.stem for path in sorted((ROOT / "idl").glob("*.wire"))]
CONSTRUCTS = [path.stem for path in sorted((ROOT / "tests" / "cases" / "constructs").glob("*.wire"))]
CAPTURES = ROOT / "examples" / "captures"
IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
STEP = 1 if IS_SOAK else 20
"""Of so many vectors one is compared."""
SEGMENTS = (1, 7, 100, 1400) if IS_SOAK else (100,)
MOST = {1: 1 << 8, 7: 1 << 10, 100: 1 << 14, 1400: 1 << 20}
"""The largest vectors, in bytes, by the size of a segment: each segment is read from the beginning of its frame."""
LARGEST_SEGMENT = 1460
"""Of TCP over Ethernet."""
FEW = CONSTRUCTS if IS_SOAK else CONSTRUCTS[5::20]


def subject_of(path: Path) -> Subject:
    report = Report()
    subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None, report
    return subject


def check(compared: Compared) -> None:
    print(compared)
    assert not compared.wrong, "\n".join(compared.wrong[:5])
    assert compared.counts.total()


@pytest.mark.parametrize("segment", SEGMENTS)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_vectors_are_shown_as_they_are_read(name: str, segment: int, tmp_path: Path) -> None:
    vectors = read_vectors((ROOT / "generated" / "vectors" / f"{name}.json").read_bytes()).vectors
    subject = subject_of(ROOT / "idl" / f"{name}.wire")
    most = MOST[segment] if IS_SOAK else 1 << 12
    check(compare(TSHARK, subject, vectors[::STEP], tmp_path, segment=segment, most=most))


@pytest.mark.parametrize("segment", SEGMENTS)
@pytest.mark.parametrize("name", FEW)
def test_constructs_are_shown_as_they_are_read(name: str, segment: int, tmp_path: Path) -> None:
    subject = subject_of(ROOT / "tests" / "cases" / "constructs" / f"{name}.wire")
    vectors = build_vectors(lower(subject.protocol)).file.vectors
    check(compare(TSHARK, subject, vectors, tmp_path, segment=segment, most=min(MOST[segment], 1 << 12)))


def test_frames_that_are_shown_again_have_the_values_of_their_time(tmp_path: Path) -> None:
    vectors = read_vectors((ROOT / "generated" / "vectors" / "geode.json").read_bytes()).vectors
    chosen = [vector for vector in vectors if isinstance(vector, Valid) and vector.from_role == "server"]
    assert chosen
    subject = subject_of(ROOT / "idl" / "geode.wire")
    check(compare(TSHARK, subject, chosen[:: 2 * STEP], tmp_path, segment=7, most=1 << 12, more=("-2",)))


def unpacked(capture: str, folder: Path) -> Path:
    """Write a capture without its compression; return its path."""
    data = (CAPTURES / capture).read_bytes()
    path = folder / capture.removesuffix(".gz")
    path.write_bytes(gzip.decompress(data) if capture.endswith(".gz") else data)
    return path


of_each_capture = pytest.mark.parametrize(
    ("capture", "name", "port"),
    [
        ("golumber-async-pipelined.pcap", "lumberjack", 41591),
        ("npm-w10-plain.pcap", "lumberjack", 44701),
        ("pylogbeat-unicode.pcap", "lumberjack", 39273),
        ("pravega-write-read.pcap.gz", "pravega", 42505),
    ],
)


@of_each_capture
def test_captures_are_shown_as_they_are_read(capture: str, name: str, port: int, tmp_path: Path) -> None:
    path, subject = unpacked(capture, tmp_path), subject_of(ROOT / "idl" / f"{name}.wire")
    check(compare_capture(TSHARK, subject, path, port, tmp_path))


@of_each_capture
def test_captures_in_segments_of_each_size_are_shown_alike(
    capture: str, name: str, port: int, tmp_path: Path, evidence: Callable[..., None]
) -> None:
    path, subject = unpacked(capture, tmp_path), subject_of(ROOT / "idl" / f"{name}.wire")
    turns = long_turns_of(lower(subject.protocol), path, port).values()
    longest = max(len(data) for sent in turns for _, data in sent)
    sizes = range(1, min(longest, LARGEST_SEGMENT) + 1) if IS_SOAK else (1, 100)
    as_sent = compare_capture(TSHARK, subject, path, port, tmp_path)
    compared = compare_recut(TSHARK, subject, path, port, tmp_path, sizes)
    check(compared)
    assert compared.counts == {name: len(sizes) * count for name, count in as_sent.counts.items()}
    figures = {**compared.counts, "sizes": len(sizes), "not_compared": compared.left_out.total()}
    evidence("dissected_captures", count=len(sizes), failures=len(compared.wrong), **figures)


HOSTILE = r"""wire 1
protocol hostile { source "None" endian big roles a, b }
limits { frame = 4 KiB }
frame Frame { length : u8 := size(body)  body : Text in length }
message Text from a {
  magic : utf8[u8] == "\"]] .. os.exit(3) --[[\\"
  other : utf8[u8] where other != "\"..os.exit(4)..\""
}
"""


def test_texts_of_a_file_are_no_code(tmp_path: Path) -> None:
    path = tmp_path / "hostile.wire"
    path.write_text(HOSTILE, encoding="utf-8")
    subject = subject_of(path)
    vectors = build_vectors(lower(subject.protocol)).file.vectors
    check(compare(TSHARK, subject, vectors, tmp_path, segment=100, most=1 << 12))
