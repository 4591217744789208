"""The note in a record on a frame that carries a fragment."""

from __future__ import annotations

from ..codec.fragment import Part
from ..reference.expressions import Value
from ..schema.types import Type
from .frames import Recorder
from .types import flat_fields

__all__ = ["part_record"]


def part_record(recorder: Recorder, part: Part) -> dict[str, Value]:
    """Return `part`, and for the last fragment `joined`."""
    record: dict[str, Value] = {"part": _part(recorder, part)}
    type_ = recorder.schema.joins[part.join].type
    if part.last and type_ is not None:
        record["joined"] = recorder.value(type_, part.joined)
    return record


def _part(recorder: Recorder, part: Part) -> dict[str, Value]:
    """Return the JSON of a fragment's note."""
    join = recorder.schema.joins[part.join]
    types = _key_types(recorder, {setting.target for setting in (*join.parts, *join.lasts)})
    key = {name: recorder.value(types[name], value) for name, value in zip(join.keys, part.key, strict=True)}
    return {"join": part.join, "key": key, "index": part.index, "last": part.last}


def _key_types(recorder: Recorder, targets: set[str]) -> dict[str, Type]:
    """Return the types of all fields that a key may have, by name; those of the fragments take precedence
    over the frames'.
    """
    layout = recorder.layout
    owners = [frame.fields for frame in layout.frames.values()]
    owners += [layout.messages[name].fields for name in targets if name in layout.messages]
    owners += [layout.frames[name].fields for name in targets if name in layout.frames]
    return {field.name: field.type for fields in owners for field in flat_fields(fields)}
