"""Runs of fields that take the same bytes in both states, with other fields in them: padding that becomes a field, and the like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from wiregen.language.breaking.changes import Change
from wiregen.language.breaking.plain import Renames, plain
from wiregen.language.spelling import type_text
from wiregen.schema import model as m
from wiregen.schema.sizes import Sizes

__all__ = ["Run", "refilled_runs"]

_NO_RENAMES: Final = Renames()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Neighbouring fields of the old state, and those that have their bytes in the new one.

    `old_places`, `new_places`: their indexes in the declaration. `offset`: in bits; None: it is not fixed. `sizes`: of
    the old and of the new state.
    """

    old: tuple[m.Field, ...]
    new: tuple[m.Field, ...]
    old_places: range
    new_places: range
    offset: int | None
    sizes: tuple[Sizes, Sizes]

    def changes(self, name: str, path: str) -> Iterator[Change]:
        """Yield the removed and the new fields of a declaration; the fields after them do not move."""
        removed, added = _filler(self.new), _filler(self.old)
        for at, field in _named(self.old):
            message = f"field `{name}.{field.name}` ({type_text(field.type)}) is removed"
            message += f", its bytes are {removed} now" if removed else ""
            effect = _effect(removed, "new", self._place(self.old[:at], self.sizes[0], name))
            yield Change(code="WG8002", path=path, message=message, effect=effect)
        for at, field in _named(self.new):
            message = f"field `{name}.{field.name}` ({type_text(field.type)}) is new"
            message += f", its bytes were {added} before" if added else ""
            effect = _effect(added, "old", self._place(self.new[:at], self.sizes[1], name))
            yield Change(code="WG8002", path=field.path or path, message=message, effect=effect)

    def _place(self, before: tuple[m.Field, ...], sizes: Sizes, name: str) -> str:
        """Return the place of the field after these of the run."""
        bits = sizes.fixed_bits(before)
        return (
            "there"
            if self.offset is None or bits is None
            else f"at offset {(self.offset + bits) // 8} of `{name}`"
        )


def _effect(filler: str | None, state: str, place: str) -> str:
    match filler:
        case "padding":
            return f"{state} writers send zeros {place}, and {state} readers skip the value"
        case "a constant":
            return f"{state} readers refuse other values {place}"
        case _:
            return f"the bytes {place} are decoded differently"


def refilled_runs(
    old: Sequence[m.Field], new: Sequence[m.Field], renames: Renames, sizes: tuple[Sizes, Sizes]
) -> Iterator[Run]:
    """Yield the runs between fields that both states have, if the runs differ and have the same fixed size.

    `renames`: those within the declaration. `sizes`: of the old and of the new state.
    """
    ours = {renames.own.get(each.name, each.name): at for at, each in enumerate(old) if each.name != "_"}
    theirs = {each.name: at for at, each in enumerate(new) if each.name != "_"}
    anchors = [name for name in ours if name in theirs]
    if anchors != [name for name in theirs if name in ours]:
        return  # their order is another one
    starts = [(0, 0), *((ours[name] + 1, theirs[name] + 1) for name in anchors)]
    ends = [*((ours[name], theirs[name]) for name in anchors), (len(old), len(new))]
    for (start, other_start), (end, other_end) in zip(starts, ends, strict=True):
        n_front, n_back = _equal_ends(old[start:end], new[other_start:other_end], renames)
        places = range(start + n_front, end - n_back)
        others = range(other_start + n_front, other_end - n_back)
        before, after = tuple(old[at] for at in places), tuple(new[at] for at in others)
        if _is_refilled(before, after, sizes):
            yield Run(
                old=before,
                new=after,
                old_places=places,
                new_places=others,
                offset=sizes[0].fixed_bits(tuple(old[: places.start])),
                sizes=sizes,
            )


def _equal_ends(old: Sequence[m.Field], new: Sequence[m.Field], renames: Renames) -> tuple[int, int]:
    """Return how many fields at the front, and then at the back, are equal."""
    equal = [plain(one, renames) == plain(other, _NO_RENAMES) for one, other in zip(old, new, strict=False)]
    n_front = next((at for at, each in enumerate(equal) if not each), len(equal))
    pairs = zip(reversed(old[n_front:]), reversed(new[n_front:]), strict=False)
    same = [plain(one, renames) == plain(other, _NO_RENAMES) for one, other in pairs]
    return n_front, next((at for at, each in enumerate(same) if not each), len(same))


def _is_refilled(old: tuple[m.Field, ...], new: tuple[m.Field, ...], sizes: tuple[Sizes, Sizes]) -> bool:
    if not old or not new or not all(map(_takes_any_bytes, (*old, *new))):
        return False
    if not _named(old) and not _named(new) and {_filler(old), _filler(new)} != {"padding"}:
        return False  # constants are compared one by one
    size = sizes[0].fixed_bits(old)
    return size is not None and size == sizes[1].fixed_bits(new)


def _takes_any_bytes(field: m.Field) -> bool:
    """Return whether readers take all bytes for a field, unless it is a constant or has a name."""
    if field.name != "_" or field.value is not None:
        return True
    return field.where is None and isinstance(field.type, m.Bytes | m.Integer | m.Bits)


def _named(fields: Sequence[m.Field]) -> list[tuple[int, m.Field]]:
    """Return the fields with a name, and their indexes."""
    return [(at, field) for at, field in enumerate(fields) if field.name != "_"]


def _filler(fields: Sequence[m.Field]) -> str | None:
    """Return `padding` or `a constant`, if all fields are without a name; None: others are among them."""
    values = [each.value for each in fields]
    if _named(fields) or not all(isinstance(each, m.Constant | None) for each in values):
        return None
    return "a constant" if any(each is not None for each in values) else "padding"
