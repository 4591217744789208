"""Vectors of a small RADIUS show every attribute, though a derived length must be at least 3 and bounds a chosen value."""

from __future__ import annotations

from pathlib import Path

from wiregen.conformance.vectors.building import build_vectors
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema.lowering import lower

FILE = Path(__file__).parent / "radius.wire"


def test_the_vectors_show_every_field_of_every_attribute() -> None:
    subject = load_protocol(FILE, Sources(), Report(), roots=(FILE.parent,))
    assert subject is not None
    built = build_vectors(lower(subject.protocol))
    fields, choices, _ = built.coverage.measures
    assert fields.missing == ()
    assert not [goal for goal in choices.missing if not goal.startswith("every bytes[end]")]
    assert built.unheld() == ()
