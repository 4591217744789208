"""Refused bytes: each class of faults once at each place of the .wire file, and faults that only a strict
reader refuses.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import Final

from wiregen.conformance.vectors.checksums import Checksums
from wiregen.conformance.vectors.declared_limits import limited_drafts, limited_lists
from wiregen.conformance.vectors.drafts import Draft, Drafting, message_of
from wiregen.conformance.vectors.fault_kinds import AT_THE_END, CLASSES, FaultyBytes, Fields
from wiregen.conformance.vectors.faults import bad_parts
from wiregen.conformance.vectors.frame_parts import FramePart, parts_of
from wiregen.runtime.codec.errors import DecodeError

__all__ = ["Faults"]

_LONGEST: Final = 3000
"""Bytes of the frames in which faults are put."""
_PATIENCE: Final = 3
"""Frames in which a fault is tried that is not reported as it should be."""


class Faults:
    """Puts faults into frames.

    Attributes:
        drafts: Bytes that are refused, and accepted bytes that are not canonical.
    """

    def __init__(self, drafting: Drafting) -> None:
        self._drafting = drafting
        self._fields = Fields(drafting.schema)
        self._sums = Checksums(drafting.schema)
        self._tried: dict[str, int] = {}
        self._known: set[str] = set()
        self.drafts: list[Draft] = []

    def put_into(self, draft: Draft) -> None:
        """Keep the possible faults of a frame that are not shown yet."""
        if len(draft.data) > _LONGEST or len(draft.trees) != 1:
            return
        self._put(draft)
        self._cut(draft)
        self._unset(draft)
        for name, limited in chain(
            limited_drafts(self._drafting, draft, self._is_wanted),
            limited_lists(self._drafting, draft, self._is_wanted),
        ):
            self._tried[name] = self._tried.get(name, 0) + 1
            if limited is not None:
                self._keep(limited, name)

    def put_at_end(self, draft: Draft) -> None:
        """Keep the possible faults at the end of a minimal frame: these are shown with it rather than with
        another frame.
        """
        self._put(draft, is_at_end=True)

    def _put(self, draft: Draft, *, is_at_end: bool = False) -> None:
        # Offsets of parts count from the start of their sender's stream, after the bytes that it sent
        # before.
        behind = b"".join(sent for role, sent in draft.scene.before if role == draft.scene.role)
        for part in parts_of(draft.trees[0]):
            for bad in bad_parts(part, behind + draft.data, self._fields):
                if is_at_end and (bad.kind, bad.which) not in _AT_ENDS and bad.which != AT_THE_END:
                    continue
                names = self._wanted(bad, self._site(part.site, draft, bad))
                if names and bad.data.startswith(behind):
                    data = self._sums.mended(draft.trees[0], behind + draft.data, bad.data)
                    self._try(draft, bad, part, data[len(behind) :], names)

    def _site(self, site: str, draft: Draft, bad: FaultyBytes) -> str:
        """Return the place at which a part is shown; faults of a header, and of a struct in it, are shown
        anew with each message.
        """
        owner, schema = site.partition(".")[0], self._drafting.schema
        is_header = owner in schema.frames
        variant = f"{draft.scene.variant}: " * bool(draft.scene.variant)
        if is_header and (bad.kind, bad.which) in _AT_ENDS:
            return f"{variant}{message_of(draft)}{_absent(draft)} in {site}"
        if is_header and variant:
            return (
                f"{variant}{message_of(draft)} in {site}"
                if bad.kind in _OF_CONDITIONS
                else f"{variant}{site}"
            )
        of = _OF_HEADERS if is_header else _OF_STRUCTS if owner in schema.structs else frozenset()
        return f"{message_of(draft)} in {site}" if bad.kind in of else site

    def _wanted(self, bad: FaultyBytes, site: str) -> list[str]:
        """Return the goals of a fault that are not shown yet."""
        what = f"{bad.kind} {bad.which}".strip()
        own = f"{site}: {bad.kind if bad.shape else what}"
        every = [own] if not bad.shape else [f"{bad.shape}: {what}", *([] if bad.is_common else [own])]
        return [name for name in every if self._is_wanted(name)]

    def _try(self, draft: Draft, bad: FaultyBytes, part: FramePart, data: bytes, names: list[str]) -> None:
        self._tried.update({name: self._tried.get(name, 0) + 1 for name in names})
        changed = self._drafting.draft(draft.scene, data)
        if changed.error is not None:
            is_of_a_sum = self._sums.is_told(changed.error) and part.site not in self._sums.sites
            if changed.error.code in CLASSES[bad.kind] and not is_of_a_sum:
                self._keep(changed, *self._told(names, changed.error, bad, part))
        elif len(changed.trees) == 1 and (bad.kind not in _MAY_BE_RIGHT or bad.which == _SHORTER):
            self._tolerated(changed, names)

    def _told(self, names: list[str], error: DecodeError, bad: FaultyBytes, part: FramePart) -> list[str]:
        """Return the goals that a fault shows. If the condition of another field fails, the names say so,
        and the fault is still needed.
        """
        path = _INDEX.sub("", error.path)
        if (
            bad.kind not in _OF_CONDITIONS
            or error.code != "constraint"
            or path == _INDEX.sub("", part.node.path)
        ):
            return names
        others = (f"{name.replace(f'{bad.kind} ', '')} breaks {path}" for name in names)
        return [name for name in others if name not in self._known]

    def _is_wanted(self, name: str) -> bool:
        return name not in self._known and self._tried.get(name, 0) < _PATIENCE

    def _tolerated(self, changed: Draft, names: list[str]) -> None:
        """Keep bytes that a lenient reader accepts and a strict reader refuses."""
        strict = self._drafting.draft(replace(changed.scene, strict=True), changed.data)
        if strict.error is not None and strict.error.code in _OF_STRICT:
            self._keep(changed, *names)
            self._keep(strict, *(f"{name}, strict" for name in names))

    def _keep(self, draft: Draft, *names: str) -> None:
        if not names:
            return
        self._known.update(names)
        self.drafts.append(replace(draft, covers=names, is_variation=True))

    # ---- faults without a part

    def _cut(self, draft: Draft) -> None:
        name = f"{message_of(draft)}: cut"
        if name not in self._known and len(draft.data) > 1:
            cut = self._drafting.draft(draft.scene, draft.data[:-1])
            if cut.error is not None and cut.error.code in CLASSES["cut"]:
                self._keep(cut, name)

    def _unset(self, draft: Draft) -> None:
        """Leave out the frames that set the scene."""
        variant = f"{draft.scene.variant}: " * bool(draft.scene.variant)
        name = f"{variant}{message_of(draft)}: missing context"
        scene = replace(draft.scene, before=draft.scene.before[:-1])
        is_needed = bool(draft.scene.before) and bool(self._drafting.schema.contexts)
        if name in self._known or not is_needed:
            return
        try:
            alone = self._drafting.draft(scene, draft.data)
        except DecodeError:
            return
        if alone.error is not None and alone.error.code == "missing_context":
            self._keep(alone, name)
        elif alone.error is None and message_of(alone) == "Unknown" and len(alone.trees) == 1:
            self._keep(alone, name)
            strict = self._drafting.draft(replace(scene, strict=True), draft.data)
            if strict.error is not None:
                self._keep(strict, f"{name}, strict")


_INDEX: Final = re.compile(r"\[\d+\]")
_OF_CONDITIONS: Final = ("constraint broken", "bad enum")
"""Classes whose bytes may be valid alone, and wrong by the conditions on other fields."""
_OF_HEADERS: Final = frozenset(
    {
        "bad enum",
        "bad value",
        "constraint broken",
        "wrong constant",
        "length too long",
        "length negative",
        "length beyond the limit",
    }
)
"""Classes that are shown with every message if they concern its header."""
_SHORTER: Final = "a byte less"
_AT_ENDS: Final = frozenset({("extra", ""), ("length too short", _SHORTER)})
"""Faults that are shown with every message wherever it may end: part of an optional field, or bytes after
the last field.
"""
_OF_STRUCTS: Final = frozenset({"bad value", "length negative", "length too long"})
"""Classes that are shown with every message if they concern a struct in it."""
_MAY_BE_RIGHT: Final = ("constraint broken", "length too long", "length too short")
"""Classes whose bytes may have another valid meaning."""
_OF_STRICT: Final = frozenset(
    {
        "invalid_value",
        "not_canonical",
        "invalid_text",
        "trailing_bytes",
        "length_mismatch",
        "constraint",
        "unknown_code",
    }
)
"""Codes with which a strict reader refuses bytes that a lenient one accepts."""


def _absent(draft: Draft) -> str:
    """Return the number of absent fields, in the words of the coverage."""
    absent = getattr(getattr(draft.trees[0].value, "message", None), "absent", 0)
    return f" without its last {absent}" if absent else ""
