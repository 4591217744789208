"""Each message of the shipped protocols is shown by an example, and so are the examples printed in the
documents.
"""

from __future__ import annotations

from functools import cache

import pytest
from tests.conformance.statements import DOCUMENTS, load, model

from wiregen.schema.model.protocol import Construct, Protocol

NAMES = ("geode", "lumberjack", "pravega", "pravega_documented", "pravega_proposal", "reactive_streams")
WITHOUT_A_MESSAGE = {"{1,2}"}
"""Words of examples whose type is not in a message."""


@cache
def protocol(name: str) -> Protocol:
    return model(name)


def shown(value: object) -> str | None:
    """Return the message of an example's value, which may be in its frame, or None for other values."""
    if not isinstance(value, Construct):
        return None
    if value.what == "message":
        return value.name
    held = (shown(each.value) for each in value.fields) if value.what == "frame" else iter(())
    return next((name for name in held if name is not None), None)


@pytest.mark.parametrize("name", NAMES)
def test_each_message_has_an_example(name: str) -> None:
    examples = [each for each in protocol(name).examples if each.violation is None]
    messages = [message.name for message in protocol(name).messages]
    assert len(messages) >= 5
    assert sorted(set(messages) - {shown(each.value) for each in examples}) == []


@pytest.mark.parametrize("name", NAMES)
def test_examples_say_what_they_show(name: str) -> None:
    names = [each.name for each in protocol(name).examples]
    assert len(set(names)) == len(names)
    assert [each for each in names if len(each.split()) < 2 and each != "goodbye"] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_prints_as_an_example_is_one(name: str) -> None:
    left = {
        each.words
        for each in load(name).statements
        if each.kind == "example" and not any(one.startswith("example ") for one in each.carried)
    }
    assert left <= WITHOUT_A_MESSAGE


def test_only_the_examples_of_a_kind_are_looked_for() -> None:
    compressed = next(each for each in protocol("lumberjack").examples if "envelope" in each.name)
    assert shown(compressed.value) == "Compressed"
    assert shown(None) is None
