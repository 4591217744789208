"""Editing a field in the playground: leaving a field unchanged leaves its bytes unchanged, and typed values
are the ones written.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.docs_sites import SHIPPED, shipped_chapter
from tests.unit.site.test_playground import QUESTIONS, look, nodes

from wiregen.conformance.vectors.format import Valid
from wireproto import lumberjack as lj

STRANGE = [
    'say "hi"', '"hi"', "back\\slash", "two\nlines\r\n", "tab\tand nul\0", "\u202eright", "x" * 300, '{"a": 1}', '{"hex": "41"}', 'x"41"', "",
    " spaces ", "0x10", "null", "ünï \U0001f600", "\ufeffmark",
]  # fmt: skip


def data(value: str) -> str:
    return lj.encode(lj.Data(1, [lj.Pair(key="k", value=value)]), version=lj.Version.V2).hex()


def edited(text: str, path: str, value: str) -> dict[str, Any]:
    question = {"kind": "edit", "protocol": "lumberjack", "text": text, "frame": 0, "path": path}
    return QUESTIONS.answer({**question, "value": value})


def text_at(answer: dict[str, Any], path: str) -> str:
    leaves = nodes(answer["frames"][0]["tree"])
    return next(str(each["edit"]) for each in leaves if each["path"] == path and "edit" in each)


@pytest.mark.parametrize("value", STRANGE)
def test_a_text_that_is_given_back_changes_nothing(value: str) -> None:
    text = data(value)
    given = text_at(look("lumberjack", text), "Data.pairs[0].value")
    assert given.isprintable(), "an input field would drop something of it"
    assert edited(text, "Data.pairs[0].value", given)["hex"] == text


def test_what_needs_no_quotes_has_none() -> None:
    assert text_at(look("lumberjack", data('say "hi"')), "Data.pairs[0].value") == 'say "hi"'
    assert text_at(look("lumberjack", data("a\nb")), "Data.pairs[0].value") == '"a\\nb"'


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("plain", "plain"), ('"a\\nb"', "a\nb"), ('"', '"'), ('"a" and "b"', '"a" and "b"')],
)
def test_what_is_typed_is_written(typed: str, expected: str) -> None:
    assert edited(data("old"), "Data.pairs[0].value", typed)["hex"] == data(expected)


@pytest.mark.parametrize("name", SHIPPED)
def test_no_field_of_a_vector_changes_by_itself(name: str) -> None:
    vectors = shipped_chapter(name).vectors
    assert vectors is not None
    n_fields = 0
    plain = [each for each in vectors.vectors if isinstance(each, Valid) and each.encodes == "exact"]
    for vector in [each for each in plain if not (each.variant or each.limits or each.before)][::11]:
        if not isinstance(vector.bytes, str) or len(vector.bytes) > 2000:
            continue
        answer = look(name, vector.bytes, role=vector.from_role)
        question = {"kind": "edit", "protocol": name, "text": vector.bytes, "role": vector.from_role}
        for at, frame in enumerate(answer["frames"]):
            for node in nodes(frame["tree"]) if "tree" in frame else ():
                if "edit" in node:
                    same = QUESTIONS.answer(
                        {**question, "frame": at, "path": node["path"], "value": node["edit"]}
                    )
                    assert same.get("hex") == answer["hex"], (vector.id, node, same.get("wrong"))
                    n_fields += 1
    assert n_fields or name == "reactive_streams"


@pytest.mark.parametrize("typed", ['x"414141"', "414141", "41 41 41", "0x414141", ' x"41 4141" '])
def test_bytes_are_typed_as_they_are_shown(typed: str) -> None:
    text = lj.encode(lj.Json(1, b"{}"), version=lj.Version.V2).hex()
    given = text_at(look("lumberjack", text), "Json.document")
    assert given == "7b7d" and edited(text, "Json.document", given)["hex"] == text
    assert edited(text, "Json.document", typed)["hex"] == "324a0000000100000003414141"
    assert "not hex" in edited(text, "Json.document", 'x"4"')["wrong"]
