"""Vectors of every construct of the language: all fields are shown, and the vectors hold in both codecs and
all serializations.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from wiregen.conformance.judge import ReferenceImplementation, judge
from wiregen.conformance.judge.generated_package import implementation_of
from wiregen.conformance.vectors.building import build_vectors
from wiregen.conformance.vectors.format import read_vectors, write_vectors
from wiregen.conformance.vectors.serializations import carrier
from wiregen.generate.frontend import load_protocol
from wiregen.generate.packages import make
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

TESTS = Path(__file__).resolve().parents[1]
CONSTRUCTS = (
    "offset",
    "recursion_trailing",
    "trailing",
    "choices_recursive",
    "alignment_in_structs",
    "codings",
    "conditions_of_items",
    "preamble_of_given_size",
    "own_conditions",
    "preamble_compressed",
    "chunks_absent",
    "choices_of_many_kinds",
    "uuids_compared",
    "nulls_in_arms",
    "frame_in_chunks_empty",
    "frames_of_two_roles",
    "names_with_underscores",
    "frames_beside_messages",
    "frames_of_a_variant_inside",
)
PATHS = (
    TESTS / "property" / "every_construct.wire",
    *(TESTS / "cases" / "constructs" / f"{name}.wire" for name in CONSTRUCTS),
)
BACKENDS = ("native", "protobuf", "msgpack")
UNREACHABLE = {
    "every_construct": {
        "Lists.n = 0",  # a list of n - 1 items follows
        "Lists.n largest",  # and at most 50 may be in one
        "Lists.n other marked",
    },
    "preamble_of_given_size": {  # four bytes are the count and three items
        "Hello.items.count no item",
        "Hello.items.count one item",
        "Hello.items.count two items",
    },
}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_vectors_show_a_construct_and_hold(path: Path) -> None:
    report = Report()
    subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None
    package = make(subject, BACKENDS, report)
    assert package is not None
    built = build_vectors(package.schema, carry=carrier(package))
    missing = {name for each in built.coverage.measures for name in each.missing}
    allowed = UNREACHABLE.get(path.stem, set())
    assert missing <= allowed
    assert {"valid", "invalid", "unwritable"} <= set(built.kinds)
    implementations = (ReferenceImplementation(package.schema), implementation_of(package))
    vectors = read_vectors(write_vectors(built.file)).vectors
    verdicts = [
        (implementation.name, judge(each, implementation, is_thorough=False))
        for each in vectors
        for implementation in implementations
    ]
    assert [f"{name}: {verdict}" for name, verdict in verdicts if verdict.outcome == "failed"] == []
