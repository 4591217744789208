"""Bytes that others made of the three Pravega documents: read as they say, and the same bytes come of it."""

from __future__ import annotations

import importlib
import json
import re
from typing import Any, Final

import pytest
from tests.conformance.vectors import SHARED

from wiregen.runtime.records import frame_record

PATH = SHARED / "vectors" / "pravega.json"
VECTORS = json.loads(PATH.read_text(encoding="utf-8"))["vectors"] if PATH.is_file() else []

RENAMED: Final[dict[tuple[str, str], str]] = {
    ("AppendBlockEnd", "unused"): "request_id",  # version 7 left the place empty
    ("TableKey", "key_version"): "version",
    ("TableKey", "data"): "key",
    ("TableValue", "data"): "value",
    ("MergeSegments", "attribute_update_type"): "type",
}
"""Fields that the vectors' makers call otherwise; all else is our name in their case."""

OTHER_MEANING: Final = frozenset({"pravega-impl-v15/InvalidEventNumber/121"})
"""The same bytes had other fields in an older version."""

REFUSED: Final[dict[str, str]] = {
    "pravega-impl/bad/1": "truncated",
    "pravega-impl/bad/3": "truncated",
    "pravega-impl-v4/ReadSegment/113": "truncated",  # older than the oldest compatible version
    "pravega-000/AppendBlockEnd/14": "truncated",
    "pravega-001/sequence": "trailing_bytes",  # several frames
}


def module_of(vector: dict[str, Any]) -> Any:
    name = vector["protocol"]
    return importlib.import_module(f"wireproto.{'pravega' if name.startswith('pravega-impl') else name}")


def plain(value: Any, message: str) -> Any:
    """Return what the makers say of a value in our form: numbers as text, bytes as hexadecimal digits."""
    match value:
        case {"hex": digits}:
            return digits
        case {"repeat": [text, count]}:
            return text * count
        case dict():
            return {our_name(name, message): plain(each, message) for name, each in value.items()}
        case list():
            return [plain(each, message) for each in value]
        case bool() | str() | None:
            return value
        case _:
            return str(value)


def our_name(name: str, message: str) -> str:
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return RENAMED.get((message, snake), snake)


def numbers(value: Any) -> Any:
    """Return our record with numbers as text; members of enums are left for their numbers to be compared."""
    match value:
        case dict():
            return {name: numbers(each) for name, each in value.items()}
        case list():
            return [numbers(each) for each in value]
        case bool() | str() | None:
            return value
        case _:
            return str(value)


@pytest.mark.skipif(not VECTORS, reason="no shared/vectors beside the checkout")
def test_there_are_vectors_of_all_three_documents() -> None:
    assert {module_of(vector).__name__.split(".")[1] for vector in VECTORS} == {
        "pravega",
        "pravega_documented",
        "pravega_proposal",
    }


@pytest.mark.parametrize("vector", [pytest.param(each, id=each["id"]) for each in VECTORS])
def test_bytes_are_read_as_their_makers_say_and_come_back(vector: dict[str, Any]) -> None:
    module, data = module_of(vector), bytes.fromhex(vector["hex"])
    if vector["id"] in REFUSED:
        with pytest.raises(module.DecodeError) as error:
            module.decode(data)
        assert error.value.code == REFUSED[vector["id"]]
        return
    frame = module.decode(data)
    assert module.encode(frame) == data
    plan = importlib.import_module(f"{module.__name__}._plan").PLAN
    record = frame_record(plan, frame)
    if vector["message"] == "MALFORMED":
        assert record["message"] == "Unknown"
        return
    assert record["message"] == vector["message"]
    if vector["id"] in OTHER_MEANING:
        return
    assert set(record["fields"]) == {our_name(name, vector["message"]) for name in vector["fields"]}
    for name, theirs in vector["fields"].items():
        check_value(
            getattr(frame.message, our_name(name, vector["message"])),
            record["fields"][our_name(name, vector["message"])],
            theirs,
            vector["message"],
        )


def check_value(value: Any, recorded: Any, theirs: Any, message: str) -> None:
    """Check one field; enums by number, nested frames and table entries by their bytes alone."""
    if isinstance(value, int) and not isinstance(value, bool):
        assert int(value) == int(theirs)
    elif not isinstance(recorded, list | dict):
        assert numbers(recorded) == plain(theirs, message)
    elif isinstance(recorded, list):
        assert len(recorded) == len(theirs)
