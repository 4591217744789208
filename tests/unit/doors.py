"""The two codecs of a built protocol as doors, and vectors written by hand."""

from __future__ import annotations

import importlib
from functools import cache

from tests.built_schema import schema_of

from wiregen.runtime.schema.protocol import Schema
from wiregen.vectors.verifying import CarefulDoor
from wiregen.vectors.verifying.made_door import MadeDoor


def plan_of(protocol: str) -> Schema:
    return schema_of(protocol)


@cache
def careful_door(protocol: str) -> CarefulDoor:
    return CarefulDoor(plan_of(protocol))


@cache
def generated_door(protocol: str) -> MadeDoor:
    """Return the door to the package that stands in the repository."""
    names = {"native": "", "protobuf": ".protobuf", "msgpack": ".msgpack"}
    modules = {name: importlib.import_module(f"wireproto.{protocol}{tail}") for name, tail in names.items()}
    return MadeDoor(plan_of(protocol), modules)
