"""Several frames that form one message: fragments and the last one, a whole message, alternating messages,
an incomplete one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from wiregen.conformance.samples import Choices, grow
from wiregen.conformance.samples.choices import UngrownError
from wiregen.conformance.vectors.drafts import Draft, Drafting
from wiregen.conformance.vectors.preceding_frames import GivenEntries, Scenery
from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import FrameValue, Record
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.declarations import Join, Setting
from wiregen.runtime.schema.expressions import Expression, FieldReference, Negation, Number, Operation
from wiregen.runtime.schema.types import FrameReference
from wiregen.runtime.stream.joins import limit_of_joins
from wiregen.schema.copies import replace

__all__ = ["joined_drafts"]

_KEYS: Final = (3, 5)
_LEAST, _ENOUGH = 3, 6
"""Minimum size of a block in bytes for three fragments, and for fragments of several bytes."""


def joined_drafts(drafting: Drafting, scenery: Scenery, frames: list[Draft]) -> Iterator[Draft]:
    """Yield the drafts of a protocol's reassembly; `frames`: whole ones, from which blocks are taken."""
    for name, join in drafting.schema.joins.items():
        make = _of_messages if join.block is None else _of_blocks
        for what, scene, data, ends, covers in make(drafting, scenery, name, frames):
            draft = drafting.draft(scene, data, ends=ends)
            is_shown = draft.is_whole if not ends else draft.error is not None
            if is_shown:
                yield draft.showing((f"join {name}: {what}", *covers))


Made: TypeAlias = Iterator[tuple[str, Scene, bytes, bool, tuple[str, ...]]]
"""The goal, the scene, the bytes, whether the stream ends after them, and the options that were taken."""


# ---- fragments that are messages


def _of_messages(drafting: Drafting, scenery: Scenery, name: str, frames: list[Draft]) -> Made:
    """Yield reassemblies of messages that carry fragments, whose data is cut from an existing frame."""
    join = drafting.schema.joins[name]
    part, end = join.parts[0], join.lasts[0]
    for role in _roles(drafting, part.target):
        whole = b"joined data"[: _most(drafting)]
        if isinstance(join.type, FrameReference):
            whole = _frame_for(join.type.name, role, frames)
        pieces = _Pieces(drafting, scenery, role, join.keys)
        try:
            some = [pieces.write(part, data, _KEYS[0]) for data in (whole[:3], whole[3:4])]
            other = pieces.write(part, whole, _KEYS[1])
            last = pieces.write(end, whole[4:], _KEYS[0])
            other_last = pieces.write(end, b"", _KEYS[1])
        except (EncodeError, UngrownError):
            continue
        scene = Scene(role=role, before=scenery.opening(role))
        orders = _orders(scene, some, last, other, other_last, len(whole), bool(join.keys))
        for index, made in enumerate(orders):
            yield (*made, tuple(pieces.covers) if index == 0 else ())
        return


def _orders(
    scene: Scene,
    some: list[bytes],
    last: bytes,
    other: bytes,
    other_last: bytes,
    n_bytes: int,
    has_keys: bool,
) -> Iterator[tuple[str, Scene, bytes, bool]]:
    yield "three pieces", scene, b"".join([*some, last]), False
    yield "left open", scene, b"".join(some), True
    yield from _too_long(scene, b"".join([*some, last]), n_bytes)
    if has_keys:
        yield "two at once", scene, b"".join([some[0], other, some[1], other_last, last]), False
        narrow = replace(scene, limits={"open": 1})
        yield "more than may be open", narrow, some[0] + other, True


def _most(drafting: Drafting) -> int:
    """Return the number of bytes that may be reassembled."""
    most: int = drafting.schema.limits[limit_of_joins(drafting.schema)]
    return most


def _too_long(scene: Scene, data: bytes, n_bytes: int) -> Iterator[tuple[str, Scene, bytes, bool]]:
    """Yield a reassembly at the edge of its limit, and one beyond."""
    edges = (("as long as may be", n_bytes, False), ("too long", n_bytes - 1, True))
    for what, most, is_refused in edges[: min(n_bytes, 1) + 1]:
        yield f"{what}: joined", replace(scene, limits={"joined": most}), data, is_refused


def _frame_for(name: str, role: str | None, frames: list[Draft]) -> bytes:
    """Return a frame of a kind, to be cut; empty if there is no such frame."""
    found = [
        draft.data
        for draft in frames
        if isinstance(value := draft.trees[0].value, FrameValue)
        and value.name == name
        and len(draft.data) < 200
        and not draft.scene.before
    ]
    return next((data for data in found if len(data) > 6), max(found, key=len, default=b""))


def _roles(drafting: Drafting, target: str) -> list[str | None]:
    messages, frames = drafting.schema.messages, drafting.schema.frames
    role = messages[target].role if target in messages else frames[target].role
    return [role] if role is not None else list(drafting.schema.roles) or [None]


class _Pieces:
    """Writes the frames of fragments."""

    def __init__(self, drafting: Drafting, scenery: Scenery, role: str | None, keys: tuple[str, ...]) -> None:
        self._drafting = drafting
        self._scenery = scenery
        self._role = role
        self._keys = keys
        self.covers: dict[str, None] = {}

    def write(self, setting: Setting, data: bytes, key: int) -> bytes:
        """Return the frame of a fragment that holds `data`.

        Raises:
            EncodeError, UngrownError: Such a frame does not exist.
        """
        target = setting.target
        schema = self._drafting.schema
        demands: dict[str, object] = {f"{target}.{name}": key for name in self._keys}
        demands |= {f"{target}.{setting.field}": data, **_met(target, setting.when)}
        if target in schema.messages:
            demands |= dict.fromkeys(self._scenery.basis.code_sites, schema.messages[target].code)
        specimen = grow(self._scenery.basis, Choices(by_site=demands), role=self._role)
        self.covers.update(dict.fromkeys(specimen.covers))
        return write_frame(schema, specimen.value, Options(self._role, context=GivenEntries({})))


def _met(target: str, when: Expression | None) -> dict[str, object]:
    """Return the demands that make a plain condition hold: a flag, a flag that is not set, a number."""
    match when:
        case FieldReference((name,)):
            return {f"{target}.{name}": True}
        case Negation("not", FieldReference((name,))):
            return {f"{target}.{name}": False}
        case Operation("==", FieldReference((name,)), Number(number)):
            return {f"{target}.{name}": number}
        case Operation("and", left, right):
            return {**_met(target, left), **_met(target, right)}
        case _:
            return {}


# ---- fragments of a block


def _of_blocks(drafting: Drafting, scenery: Scenery, name: str, frames: list[Draft]) -> Made:
    """Cut the block of a frame: the same header, then fewer bytes."""
    join = drafting.schema.joins[name]
    assert join.block is not None
    target, block = join.block
    for draft in sorted(frames, key=lambda each: len(_block_of(each, block)) < _ENOUGH):
        value = draft.trees[0].value
        if not isinstance(value, FrameValue) or value.name != target or len(draft.data) > 400:
            continue
        cut = _block_of(draft, block)
        if (
            not _LEAST <= len(cut) <= _most(drafting)
            or isinstance(value.message, Record)
            and value.message.name == name
        ):
            continue
        first, second = (2, 5) if len(cut) >= _ENOUGH else (1, 2)
        writer = _Blocks(drafting, draft, name, join)
        try:
            some = [writer.write(data, is_last=False) for data in (cut[:first], cut[first:second])]
            last = writer.write(cut[second:], is_last=True)
            other = writer.write(cut, is_last=False, step=1)
        except EncodeError:
            continue
        scene = draft.scene
        yield "three pieces", scene, b"".join([*some, last]), False, ()
        yield "a piece of another between", scene, b"".join([some[0], other, some[1], last]), False, ()
        yield "left open", scene, b"".join(some), True, ()
        yield "more than may be open", replace(scene, limits={"open": 1}), some[0] + other, True, ()
        for made in _too_long(scene, b"".join([*some, last]), len(cut)):
            yield (*made, ())
        yield "one byte short", scene, some[0] + writer.write(cut[first:-1], is_last=True), True, ()
        return


def _block_of(draft: Draft, block: str) -> bytes:
    start = draft.trees[0].start
    node = next((child for child in draft.trees[0].walk() if child.name == block and not child.inner), None)
    if node is None:
        return b""
    inside = next((child for child in node.children if child.name in ("content", "piece")), node)
    return draft.data[inside.start - start : inside.end - start]


class _Blocks:
    """Writes frames with a fragment of a block in place of the block."""

    def __init__(self, drafting: Drafting, draft: Draft, name: str, join: Join) -> None:
        self._schema = drafting.schema
        self._draft = draft
        self._name = name
        self._join = join

    def write(self, data: bytes, *, is_last: bool, step: int = 0) -> bytes:
        """Return a frame with a fragment; `step`: the distance of its keys from those of the frame that is
        cut.

        Raises:
            EncodeError: It cannot be written.
        """
        value, scene = self._draft.trees[0].value, self._draft.scene
        layout = self._schema.frames[value.name]
        names = [field.name for field in layout.fields if field.name in value.fields]
        header = {name: value.fields[name] for name in names}
        header |= {key: header[key] + step for key in self._join.keys if isinstance(header.get(key), int)}
        setting = self._join.lasts[0] if is_last else self._join.parts[0]
        header |= {name.rpartition(".")[2]: set_ for name, set_ in _met("", setting.when).items()}
        frame = FrameValue(value.name, header, Record(self._name, {"data": data}), body=layout.message)
        options = Options(scene.role, context=self._draft.known, variant=scene.variant)
        return write_frame(self._schema, frame, options)
