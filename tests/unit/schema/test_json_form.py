"""The model as JSON: its published schema holds for every protocol, and names every class of node."""

from pathlib import Path
from typing import get_args

import pytest
from tests.unit.docs_sites import loaded

from wiregen.runtime.schema.node import Node
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.json_form import as_json, entries, kind_of
from wiregen.schema.json_schema import json_schema, protocol_model

ROOT = Path(__file__).resolve().parents[3]
PROTOCOLS = sorted((ROOT / "idl").glob("*.wire")) + [ROOT / "tests" / "property" / "every_construct.wire"]


@pytest.mark.parametrize("path", PROTOCOLS, ids=lambda path: path.stem)
def test_a_protocol_as_json_has_the_shape_that_the_schema_says(path: Path) -> None:
    plain = as_json(loaded(path)[0].protocol)
    validated = protocol_model().model_validate(plain)
    assert validated.model_dump(mode="json") == plain


def test_a_key_that_the_schema_does_not_know_is_lost() -> None:
    plain = as_json(loaded(PROTOCOLS[0])[0].protocol)
    assert protocol_model().model_validate(plain | {"about": {}}).model_dump(mode="json") == plain


def test_nodes_of_one_union_have_kinds_of_their_own() -> None:
    for union in (m.Type, m.Length, m.Expression, m.FieldValue, m.Effect):
        kinds = [kind_of(each) for each in get_args(union) if each not in get_args(m.Reference)]
        assert None not in kinds and len(set(kinds)) == len(kinds)


def test_every_class_of_the_model_is_described() -> None:
    described = json_schema()["$defs"]
    assert {"Integer", "Reference", "Field", "Arm", "InPrefix", "View", "Session"} <= described.keys()
    for name in ("Integer", "Text", "Message"):
        class_ = getattr(m, name)
        assert issubclass(class_, Node)
        assert {entry.key for entry in entries(class_)} <= described[name]["properties"].keys()


def test_fields_that_differ_in_words_alone_are_equal_nodes() -> None:
    protocol = loaded(ROOT / "idl" / "lumberjack.wire")[0].protocol
    messages = {each.name: each for each in protocol.messages}
    first, second = (messages[name].fields[0] for name in ("Data", "Json"))
    assert first.name == second.name == "sequence" and first != second
    assert replace(first, path="") == replace(second, path="")
    assert {first.path, second.path} <= protocol.about.keys()


def test_a_number_with_a_name_is_a_number_and_equal_to_no_plain_one() -> None:
    named = m.ConstantReference(3, "N")
    assert isinstance(named, m.Number) and named != m.Number(3) and named == m.ConstantReference(3, "N")
