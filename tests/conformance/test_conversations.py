"""Bytes that others made of Geode's and Reactive Streams' documents: whole frames are read and come back the same."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from tests.conformance.vectors import SHARED

from wireproto import geode
from wireproto import reactive_streams as rs


def vectors(name: str) -> list[dict[str, Any]]:
    path = SHARED / "vectors" / f"{name}.json"
    if not path.is_file():
        return []
    golden: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["golden"]
    return golden


ROLES: Final = {"c2s": "client", "s2c": "server"}
CODES: Final = {"Put": 3, "Get": 4, "PutAll": 5, "GetAll": 6}
SPLIT: Final = frozenset({"G25"})
"""Values in several chunks, which are written as one."""
GEODE = [
    pytest.param(each, id=each["id"])
    for each in vectors("geode")
    if "/" not in each["message"] and "*" not in each["message"]
]
ELEMENTS = [
    pytest.param(each, id=each["id"])
    for each in vectors("reactive_streams")
    if each["message"] != "varint" and ":" not in each["message"]
]


@pytest.mark.parametrize("vector", GEODE)
def test_geode_frames_are_read_and_come_back(vector: dict[str, Any]) -> None:
    data, name = bytes.fromhex(vector["hex"]), vector["message"]
    if name == "Connect":
        opening: Any = next(geode.Decoder("client").feed(data))
        assert (type(opening).__name__, opening.mode) == ("Connect", vector["fields"]["mode"])
        assert geode.encode(opening) == data
        return
    variant = None if vector["variant"] == "table" else vector["variant"]
    context = geode.Context()
    code = CODES.get(name.removesuffix("Response"), 4)
    asked = int.from_bytes(data[4:8] if variant is None else data[5:9], "big")
    context.restore({"api": [["client", asked, code]]})
    frame = geode.decode(data, from_role=ROLES[vector["direction"]], context=context, variant=variant)  # type: ignore[arg-type]
    assert type(frame.message).__name__ == name
    assert frame.correlation_id == vector["fields"]["correlationId"]
    if vector["id"] not in SPLIT:
        assert frame.encode(variant=variant) == data


@pytest.mark.parametrize("vector", ELEMENTS)
def test_reactive_streams_messages_are_read_and_come_back(vector: dict[str, Any]) -> None:
    data, name = bytes.fromhex(vector["hex"]), vector["message"]
    context = rs.Context()
    size = vector.get("elementSize", 0)
    context.restore(
        {"element_size": [[role, id_, size] for role in ("client", "server") for id_ in range(8)]}
    )
    role = vector.get("direction", "client")
    frame = rs.decode(data, from_role=role, context=context)
    message: Any = frame.message
    assert type(message).__name__ == name[0].upper() + name[1:]
    if "subscriber" in vector["fields"]:
        assert message.subscriber == int(vector["fields"]["subscriber"])
    assert rs.encode(frame, from_role=role, context=context) == data
