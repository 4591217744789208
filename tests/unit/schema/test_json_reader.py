"""The model from its JSON: equal to the model that was written, for each shipped protocol and each example of the guide."""

import json
from pathlib import Path

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.runtime.schema.types import Float
from wiregen.schema import json_reader
from wiregen.schema.copies import replace
from wiregen.schema.json_form import as_json
from wiregen.schema.json_reader import protocol_from_json

ROOT = Path(__file__).resolve().parents[3]
FILES = (
    *sorted((ROOT / "idl").glob("*.wire")),
    *sorted((ROOT / "docs/guide/examples").glob("*.wire")),
    *sorted((ROOT / "tests/cases/breaking").glob("*.wire")),
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_was_written_is_read(path: Path) -> None:
    subject = load_protocol(path, Sources(), Report(), (ROOT / "idl",))
    assert subject is not None
    written = json.dumps(as_json(subject.protocol))
    expected = replace(subject.protocol, examples=(), conversations=())
    assert protocol_from_json(json.loads(written)) == expected


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, {"path": "x"}, {"messages": [{"kind": "y"}]}])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="it is not a model"):
        protocol_from_json(value)


@pytest.mark.parametrize(
    ("published", "name"),
    [
        ({"kind": "float", "bits": 16, "format": "bf16", "endian": "big"}, "bf16"),
        ({"kind": "float", "bits": 64, "format": "f64", "endian": "big"}, "f64"),
        ({"kind": "float", "bits": 32, "endian": "big"}, "f32"),
    ],
)
def test_a_float_is_read_by_the_word_of_its_format(published: dict[str, object], name: str) -> None:
    float_ = json_reader._read(published, "Type")
    assert isinstance(float_, Float)
    assert float_.format == name
