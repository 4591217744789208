"""Vectors in the making: bytes in their scene, the result of the reference codec, and the goals that they show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, TypeAlias

from wiregen.conformance.vectors.format import (
    Encodes,
    Fault,
    Invalid,
    Sent,
    Unwritable,
    Valid,
    compact,
    compacted,
    slug,
)
from wiregen.conformance.vectors.frame_parts import spans_of
from wiregen.conformance.vectors.reference_verdicts import ReferenceVerdicts, Scene
from wiregen.conformance.vectors.vector import Line
from wiregen.formats.jsonl import LineError, decoded_line
from wiregen.formats.line_maker import LineMaker
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_from_record, frame_record, part_record
from wiregen.runtime.reference.tree import FrameValue, Node
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.elements import CompressedBody
from wiregen.runtime.schema.protocol import Schema
from wiregen.schema.copies import replace

__all__ = ["Carry", "Draft", "Drafting", "message_of", "without_repetition"]

Carry: TypeAlias = "Callable[[Draft, list[Line]], Line]"
"""Gives the bytes of a frame by serialization, or in `note` the reason why a serialization has no bytes."""

_INDEX: Final = re.compile(r"\[\d+\]")
_LONGEST_ID: Final = 80
_LARGE: Final = 1 << 20
_NOT_TOLD: Final = ("offset", "size", "from", "raw")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Bytes that decode, or do not.

    Attributes:
        trees: The trees of the frames before the error, or of all frames.
        known: The context at the start of the bytes, with which a frame is encoded; `after`: at their end.
        is_variation: The same frame as in another vector, read with other options. That vector holds the
            spans and the other serializations.
        made: The vector of large bytes, without its id. They and their trees are not kept, only their `digest`.
    """

    scene: Scene
    data: bytes
    trees: tuple[Node, ...]
    error: DecodeError | None
    covers: tuple[str, ...] = ()
    note: str = ""
    source: str = ""
    is_variation: bool = False
    known: Any = field(default=None, compare=False)
    after: Any = field(default=None, compare=False)
    made: Valid | Invalid | None = None
    digest: bytes = b""

    @property
    def identity(self) -> bytes:
        """The bytes, or the digest of large ones: equal for equal bytes."""
        return self.digest or self.data

    @property
    def is_whole(self) -> bool:
        return self.error is None

    def as_variation(self) -> Draft:
        return replace(self, is_variation=True)

    def showing(self, covers: tuple[str, ...], note: str = "") -> Draft:
        return replace(self, covers=covers, note=note)


class Drafting:
    """Makes drafts of one protocol, and vectors of them."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.bench = ReferenceVerdicts(schema)
        self._ids: dict[str, int] = {}
        self._placed: set[str] = set()
        self._known: dict[tuple[object, ...], object] = {}

    def draft(self, scene: Scene, data: bytes, *, ends: bool = False) -> Draft:
        """Return the draft of bytes in a scene; `ends`: the stream ends after them.

        Raises:
            DecodeError: The scene itself does not conform.
        """
        known = self._before(scene)
        items, after = self.bench.read(scene, data, ends=ends)
        trees = tuple(item for _, _, item in items if not isinstance(item, DecodeError))
        error = next((item for _, _, item in items if isinstance(item, DecodeError)), None)
        return Draft(scene=scene, data=data, trees=trees, error=error, known=known, after=after)

    # ---- vectors

    def of(self, draft: Draft, carry: Carry | None = None) -> Valid | Invalid:
        """Return the vector of a draft; `carry` gives the bytes of other serializations."""
        made = draft.made or self._made(draft, carry)
        word = _first_word(made.frames) if isinstance(made, Valid) else "bad"
        return replace(made, id=self._id(draft, word), covers=draft.covers)

    def without_bytes(self, draft: Draft) -> Draft:
        """Return a draft that does not keep bytes of 1 MiB and more, which many messages have."""
        if len(draft.data) < _LARGE:
            return draft
        digest, made = sha256(draft.data).digest(), self._made(draft)
        return replace(draft, data=b"", digest=digest, trees=(), known=None, after=None, made=made)

    def _made(self, draft: Draft, carry: Carry | None = None) -> Valid | Invalid:
        return self._valid(draft, carry) if draft.is_whole else self._invalid(draft)

    def _valid(self, draft: Draft, carry: Carry | None) -> Valid:
        lines = self._lines(draft)
        encodes = self._encodes(draft, lines)
        others: Line = carry(draft, lines) if carry is not None and not draft.is_variation else {}
        unwritten = _why_unwritten(draft, lines) if encodes == "no" else ""
        note = "; ".join(part for part in (draft.note, others.pop("note", ""), unwritten) if part)
        return Valid(
            id="",
            variant=draft.scene.variant,
            before=_sent(draft.scene),
            from_role=draft.scene.role,
            limits=draft.scene.limits,
            strict=draft.scene.strict,
            bytes=compact(draft.data),
            encodes=encodes,
            frames=tuple(compacted(line) for line in lines),
            spans=self._spans(draft),
            source=draft.source,
            note=note,
            **others,
        )

    def _invalid(self, draft: Draft) -> Invalid:
        assert draft.error is not None
        return Invalid(
            id="",
            variant=draft.scene.variant,
            before=_sent(draft.scene),
            from_role=draft.scene.role,
            limits=draft.scene.limits,
            strict=draft.scene.strict,
            bytes=compact(draft.data),
            frames_before=len(draft.trees),
            error=_fault(draft.error),
            source=draft.source,
            note=draft.note,
        )

    def unwritable(
        self, scene: Scene, line: dict[str, object], error: EncodeError, covers: tuple[str, ...]
    ) -> Unwritable:
        """Return the vector of a frame that cannot be written."""
        draft = Draft(scene=scene, data=b"", trees=(), error=None, covers=covers)
        return Unwritable(
            id=self._id(draft, "unwritable"),
            variant=scene.variant,
            before=_sent(scene),
            from_role=scene.role,
            frames=(compacted(line),),
            error=Fault(code=error.code, path=error.path),
            covers=covers,
        )

    def _spans(self, draft: Draft) -> tuple[tuple[str, int, int], ...]:
        """Return the spans of the parts of a frame, if one of them is new."""
        if len(draft.trees) != 1 or draft.is_variation:
            return ()
        spans = spans_of(draft.trees[0])
        names = {_INDEX.sub("[]", name) for name, _, _ in spans}
        if names <= self._placed:
            return ()
        self._placed |= names
        return spans

    def _id(self, draft: Draft, word: str) -> str:
        """Return an unused name that describes the vector."""
        what = draft.covers[0] if draft.covers else draft.note
        is_said = re.match(rf"{re.escape(word)}\b", what, re.IGNORECASE)
        words = ["" if is_said else word, draft.scene.variant or "", what]
        name = slug(" ".join(words))[:_LONGEST_ID].strip("-")
        self._ids[name] = self._ids.get(name, 0) + 1
        return name if self._ids[name] == 1 else f"{name}-{self._ids[name]}"

    # ---- frames as lines

    def _lines(self, draft: Draft) -> list[Line]:
        scene = draft.scene
        maker = LineMaker(self.schema, variant=scene.variant, limits=scene.limits)
        self._let_know(maker, scene)
        start = draft.trees[0].start if draft.trees else 0
        lines = []
        for tree in draft.trees:
            data = draft.data[tree.start - start : tree.end - start]
            line = self._line(maker, tree.value, data, scene)
            lines.append({key: line[key] for key in line if key not in _NOT_TOLD})
        return lines

    def _line(self, maker: LineMaker, value: object, data: bytes, scene: Scene) -> Line:
        """Return the line of a frame. Megabytes in canonical form are not converted to text, which would be slow."""
        if len(data) < _LARGE or not self._gives_back(value, data, scene):
            return maker.decoded(value, data, offset=0, role=scene.role)
        record = frame_record(self.schema, value, variant=scene.variant)
        part = part_record(self.schema, value, variant=scene.variant)
        return decoded_line(record, offset=0, size=len(data), role=scene.role, **part)

    def _gives_back(self, value: object, data: bytes, scene: Scene) -> bool:
        options = Options(scene.role, context=self._before(scene), variant=scene.variant)
        try:
            return write_frame(self.schema, value, options) == data
        except EncodeError:
            return False

    def _let_know(self, maker: LineMaker, scene: Scene) -> None:
        """Replay the frames that were sent before to a maker of lines."""
        sent: list[tuple[str | None, bytes]] = []
        for role, data in scene.before:
            before = Scene(role=role, variant=scene.variant, before=tuple(sent))
            for _, size, item in self.bench.read(before, data)[0]:
                if isinstance(item, Node):
                    maker.decoded(item.value, data[:size], offset=0, role=role)
            sent.append((role, data))

    def _encodes(self, draft: Draft, lines: list[dict[str, object]]) -> Encodes:
        """Return whether encoding the lines gives the bytes, or others of the same meaning."""
        is_canonical = all(line.get("canonical", True) for line in lines)
        if is_canonical and not any(_is_compressed(tree) for tree in draft.trees):
            return "exact"
        try:
            again = self._written(draft, lines)
            if is_canonical and again == draft.data:
                return "exact"
            items, _ = self.bench.read(draft.scene, again)
        except (EncodeError, DecodeError, LineError):
            return "no"
        values = [item.value for _, _, item in items if isinstance(item, Node)]
        return "same_meaning" if values == [tree.value for tree in draft.trees] else "no"

    def _written(self, draft: Draft, lines: list[dict[str, object]]) -> bytes:
        """Return the encoded frames. Where they are fragments, the context is not asked: they are encoded as they are."""
        written = []
        for line in lines:
            record = {key: line[key] for key in ("message", "code", "header", "fields") if key in line}
            value = frame_from_record(self.schema, record, role=draft.scene.role, variant=draft.scene.variant)
            context = self._before(draft.scene)
            options = Options(draft.scene.role, context=context, variant=draft.scene.variant)
            written.append(write_frame(self.schema, value, options, compression=0))
        return b"".join(written)

    def _before(self, scene: Scene) -> Any:
        """Return the context at the start of the bytes; encoding does not change it."""
        key = (scene.role, scene.variant, scene.before, tuple(scene.limits.items()), scene.strict)
        if key not in self._known:
            self._known[key] = self.bench.read(scene, b"")[1]
        return self._known[key]


def without_repetition(drafts: Iterable[Draft]) -> list[Draft]:
    """Return drafts without duplicates: of drafts with equal bytes in equal scenes the first, which shows
    the goals of all.
    """
    first: dict[tuple[object, ...], Draft] = {}
    for draft in drafts:
        scene = draft.scene
        limits = tuple(scene.limits.items())
        key = (scene.role, scene.variant, scene.before, limits, scene.strict, draft.is_whole, draft.identity)
        known = first.get(key)
        first[key] = draft if known is None else _both(known, draft)
    return list(first.values())


def _is_compressed(tree: Node) -> bool:
    """Return whether any part is compressed: the encoder chooses compressed bytes, and vectors hold those of level 0."""
    return any(isinstance(node.type, CompressedBody) for node in tree.walk())


def _both(known: Draft, other: Draft) -> Draft:
    covers = tuple(dict.fromkeys((*known.covers, *other.covers)))
    return replace(known, covers=covers, is_variation=known.is_variation and other.is_variation)


def message_of(draft: Draft) -> str:
    """Return the name of the message in the last frame of a draft."""
    if not draft.trees:
        return ""
    value = draft.trees[-1].value
    message = value.message if isinstance(value, FrameValue) else value
    return str(getattr(message, "name", "") or getattr(value, "name", ""))


def _why_unwritten(draft: Draft, lines: list[dict[str, object]]) -> str:
    """Return the reason why a draft is not an encoding vector."""
    if any("part" in line for line in lines):
        return "not encoded: an encoder makes pieces from the whole message"
    if any(node.part == "tail" and node.size for tree in draft.trees for node in tree.walk()):
        return "not encoded: bytes that are left over are read and not written"
    return "not encoded: the value that was read breaks a condition on written values"


def _first_word(lines: Sequence[Line]) -> str:
    return str(lines[0]["message"]) if lines else "nothing"


def _sent(scene: Scene) -> tuple[Sent, ...]:
    return tuple(Sent(from_role=role, bytes=compact(data)) for role, data in scene.before)


def _fault(error: DecodeError) -> Fault:
    return Fault(
        code=error.code,
        rule=error.rule,
        path=error.path,
        at=error.at,
        inner_at=error.inner_at,
        recoverable=error.recoverable,
    )
