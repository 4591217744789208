"""Vectors with the bytes of another one, within limits or to a strict decoder: in a file they stand in that one's line.

Invariant: what is folded for a file and unfolded when it is read is what it was, but for what it covers, which its setting says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from wiregen.vectors.kinds import Again, AnyVector, Invalid, Valid

__all__ = ["folded", "named_as_twins", "unfolded"]

Bytes: TypeAlias = "tuple[Any, ...]"
"""What bytes are, and when and by whom they are sent."""
Pair: TypeAlias = tuple[Valid, Valid | Invalid]


def named_as_twins(vectors: Iterable[AnyVector]) -> tuple[AnyVector, ...]:
    """Return vectors, those that can stand in the line of another one with the ids that they have there."""
    every = tuple(vectors)
    bases = _bases(every)
    twins = ((each, _pair(each, bases)) for each in every)
    return tuple(each if pair is None else replace(each, id=_id(*pair)) for each, pair in twins)


def folded(vectors: Iterable[AnyVector]) -> Iterator[AnyVector]:
    """Yield vectors as they stand in a file."""
    every = tuple(vectors)
    bases = _bases(every)
    twins: dict[str, list[Again]] = {}
    others: list[AnyVector] = []
    for each in every:
        pair = _pair(each, bases)
        if pair is not None and each.id == _id(*pair):
            twins.setdefault(pair[0].id, []).append(_again(pair[1]))
        else:
            others.append(each)
    for each in others:
        again = twins.get(each.id)
        yield replace(each, again=tuple(again)) if again and isinstance(each, Valid) else each


def unfolded(vectors: Iterable[AnyVector]) -> Iterator[AnyVector]:
    """Yield the vectors of a file one by one, those with the same bytes behind each other."""
    for each in vectors:
        if not isinstance(each, Valid) or not each.again:
            yield each
            continue
        base = replace(each, again=())
        yield base
        yield from (_twin(base, again) for again in each.again)


def _bases(vectors: Iterable[AnyVector]) -> Mapping[Bytes, Valid]:
    found: dict[Bytes, Valid] = {}
    for each in vectors:
        if isinstance(each, Valid) and not each.limits and not each.strict:
            found.setdefault(_bytes_of(each), each)
    return found


def _pair(vector: AnyVector, bases: Mapping[Bytes, Valid]) -> Pair | None:
    """Return the vector in whose line another one can stand, and that one."""
    if not isinstance(vector, Valid | Invalid) or not (vector.limits or vector.strict):
        return None
    base = bases.get(_bytes_of(vector))
    if base is None or vector.source != base.source or vector.note:
        return None
    if isinstance(vector, Invalid):
        return None if vector.frames_before else (base, vector)
    twin = replace(_twin(base, _again(vector)), id=vector.id, covers=vector.covers)
    return (base, vector) if twin == vector else None


def _bytes_of(vector: Valid | Invalid) -> Bytes:
    return vector.variant, vector.from_role, vector.before, vector.bytes


def _id(base: Valid, vector: Valid | Invalid | Again) -> str:
    """Return the id of a twin: what sets it apart behind the id of the other one."""
    limits = "".join(f"-{name}-{number}" for name, number in vector.limits.items())
    return f"{base.id}{limits}{'-strict' if vector.strict else ''}"


def _again(vector: Valid | Invalid) -> Again:
    error = vector.error if isinstance(vector, Invalid) else None
    return Again(limits=vector.limits, strict=vector.strict, error=error)


def _twin(base: Valid, again: Again) -> Valid | Invalid:
    said: dict[str, Any] = {
        "id": _id(base, again),
        "variant": base.variant,
        "before": base.before,
        "from_role": base.from_role,
        "limits": again.limits,
        "strict": again.strict,
        "bytes": base.bytes,
        "source": base.source,
    }
    if again.error is not None:
        return Invalid(**said, error=again.error)
    return Valid(**said, encodes=base.encodes, frames=base.frames)
