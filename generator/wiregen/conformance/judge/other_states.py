"""Vectors of one state of a protocol, decoded by the reference codec of another state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wiregen.conformance.judge.checks import AnyVector, setting_of
from wiregen.conformance.judge.implementation import CodecSetting, DecodedFrames, ImplementationError, Line
from wiregen.conformance.judge.reference_implementation import ReferenceImplementation
from wiregen.conformance.vectors.format import Valid, VectorsError, octets, size_of
from wiregen.language.breaking import Renames
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.schema.protocol import Schema

__all__ = ["Misread", "misread"]

_LARGEST = 1 << 16
"""Vectors of more bytes show limits; they take long and prove no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Misread:
    """A vector that another state does not decode (`is_refused`), or decodes to other values; `messages`: those in it."""

    id: str
    messages: frozenset[str]
    is_refused: bool


def misread(vectors: Sequence[AnyVector], own: Schema, other: Schema, renames: Renames) -> Iterator[Misread]:
    """Yield the valid vectors of `own` that the reference codec of `other` refuses or reads otherwise.

    Attributes that only `other` has are not compared, and renamed ones are by their new names. Vectors that `own` refuses are
    those of a third state, and are left out.
    """
    before, after = ReferenceImplementation(own), ReferenceImplementation(other)
    for vector in vectors:
        if not isinstance(vector, Valid) or size_of(vector) > _LARGEST:
            continue
        frames = _frames(before, setting_of(vector), octets(vector.bytes))
        if not frames:
            continue
        setting = _setting(vector, renames)
        found = _frames(after, setting, octets(vector.bytes))
        if found is None or not _holds(_renamed(list(frames), renames), list(found)):
            messages = frozenset(str(line.get("message")) for line in frames)
            yield Misread(id=vector.id, messages=messages, is_refused=found is None)


def _setting(vector: Valid, renames: Renames) -> CodecSetting:
    setting = setting_of(vector)
    before = tuple((renames.roles.get(role, role), data) for role, data in setting.before)
    role = None if setting.role is None else renames.roles.get(setting.role, setting.role)
    return CodecSetting(
        role=role, before=before, variant=setting.variant, limits=setting.limits, is_strict=setting.is_strict
    )


def _frames(codec: ReferenceImplementation, setting: CodecSetting, data: bytes) -> tuple[Line, ...] | None:
    """Return the frames of bytes, or None if they are not whole and valid frames."""
    try:
        found: DecodedFrames = codec.decode(setting, [data])
    except (ImplementationError, DecodeError, VectorsError, KeyError):
        return None
    return None if found.fault is not None or found.is_incomplete else found.frames


def _renamed(value: object, renames: Renames) -> object:
    if isinstance(value, Mapping):
        names = {**renames.declarations, **renames.fields}
        return {
            names.get(key, key): (
                renames.declarations.get(each, each) if key == "message" else _renamed(each, renames)
            )
            for key, each in value.items()
        }
    return [_renamed(each, renames) for each in value] if isinstance(value, list) else value


def _holds(expected: object, found: object) -> bool:
    """Return whether all that is expected was found; objects may have further members."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return all(key in found and _holds(each, found[key]) for key, each in expected.items())
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        return len(expected) == len(found) and all(map(_holds, expected, found))
    return bool(expected == found)
