"""Vectors of a small RADIUS show every attribute, though a derived length must be at least 3 and bounds a chosen value."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiregen.conformance.vectors.building import build_vectors
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema.lowering import lower

TEXT = (Path(__file__).parent / "radius.wire").read_text(encoding="utf-8")
LENGTH = "length        : u16 := size(body) + 20"
MESSAGE = "attributes : Attribute[]"
NUMBERS = {"Kind\n": "u8\n"} | {
    f"{name} =>": f"{number} =>"
    for number, name in [
        (1, "USER_NAME    "), (2, "USER_PASSWORD"), (4, "NAS_ADDRESS  "),
        (5, "NAS_PORT     "), (18, "REPLY        "), (26, "VENDOR       "),
    ]
}  # fmt: skip


def replaced(text: str, replacements: dict[str, str]) -> str:
    for old, new in replacements.items():
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    "replacements",
    [
        pytest.param({}, id="plain"),
        pytest.param({MESSAGE: f"{MESSAGE} where count(attributes) > 1"}, id="several attributes"),
        pytest.param({LENGTH: f"{LENGTH} where length > 20"}, id="no empty body"),
        pytest.param(
            NUMBERS | {MESSAGE: f"{MESSAGE} where count(attributes) > 1"}, id="arms take few of the numbers"
        ),
    ],
)
def test_the_vectors_show_every_field_of_every_attribute(
    replacements: dict[str, str], tmp_path: Path
) -> None:
    (file := tmp_path / "p.wire").write_text(replaced(TEXT, replacements), encoding="utf-8")
    check_fields(file)


def test_a_value_of_the_size_that_a_bounded_length_gives(tmp_path: Path) -> None:
    head, _, rest = TEXT.partition("struct Attribute {")
    attribute = "struct Attribute { type : u8  length : u8 := size(value) + 2 where length >= 3  value : bytes[length - 2] }"
    text = f"{head}{attribute}{rest.partition('in length - 2')[2].partition('}')[2]}"
    text = replaced(text, {MESSAGE: f"{MESSAGE} where count(attributes) > 0"})
    (file := tmp_path / "p.wire").write_text(text, encoding="utf-8")
    check_fields(file)


def check_fields(file: Path) -> None:
    subject = load_protocol(file, Sources(), report := Report(), roots=(file.parent,))
    assert subject is not None, report.diagnostics
    built = build_vectors(lower(subject.protocol))
    assert built.coverage.measures[0].missing == ()
    assert built.unheld() == ()
