"""Valid frames: the plainest frame of every message, and enough others to show all alternatives of a frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from wiregen.conformance.samples import Choices, Exploration, SampleBasis, SampleValue, explore, grow
from wiregen.conformance.samples.choices import UngrownError
from wiregen.conformance.vectors.drafts import Draft, Drafting, message_of
from wiregen.conformance.vectors.format import Unwritable
from wiregen.conformance.vectors.preceding_frames import GivenEntries, Scenery
from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_record
from wiregen.runtime.reference.tree import FrameValue, Record, Variety
from wiregen.runtime.reference.writing.frames import write_frame

__all__ = ["Crop", "valid_drafts"]

_WAVES: Final = 8
"""Frames of a message that is shown alone: they differ in the choices that waves change."""
_REFUSALS: Final = ("constraint", "limit_exceeded", "invalid_value")
"""Errors of values of the right types: a condition, a limit, or a length that its prefix cannot hold."""


class Crop:
    """The results of exploring one protocol.

    Attributes:
        drafts: Frames that decode; the plain ones of each message before those that vary it.
        errors: The first error of a value of each message.
    """

    def __init__(self, basis: SampleBasis, drafting: Drafting) -> None:
        self.basis = basis
        self.drafting = drafting
        self.scenery = Scenery(basis)
        self.found = Exploration()
        self.drafts: list[Draft] = []
        self._alone_refused: dict[str, tuple[Scene, object, EncodeError]] = {}
        self._constants: set[str] = set()
        self.errors: dict[str, EncodeError] = {}
        self._refusals: dict[str, tuple[SampleValue, EncodeError, str | None, str | None]] = {}

    def take(self, specimen: SampleValue, role: str | None, variant: str | None, *, is_opening: bool) -> bool:
        """Keep a sample that can be written and read, if it shows something new."""
        options = Options(role, context=GivenEntries(specimen.scene), variant=variant)
        try:
            data = write_frame(self.basis.schema, specimen.value, options, compression=0)
        except EncodeError as error:
            self._refuse(specimen, error, role, variant)
            return False
        new = tuple(name for name in specimen.covers if name not in self.found.covered)
        new = new or self._constant(specimen)
        if not new:
            return True
        draft = self._drafted(specimen, data, role, variant, is_opening=is_opening)
        if draft is None:
            return False
        self.drafts.append(draft.showing(new))
        for shorter in self._shorter(specimen, draft):
            self.drafts.append(shorter)
        return True

    def _constant(self, specimen: SampleValue) -> tuple[str, ...]:
        """Return the name of a value without choices that was not kept yet: a preamble of constants, an empty message."""
        if specimen.covers:
            return ()
        value = getattr(specimen.value, "message", None) or specimen.value
        absent = [name for name, part in getattr(value, "fields", {}).items() if part is None]
        name = (
            f"{_name(value)} without {', '.join(absent)}"
            if absent
            else f"{_name(value)}, which is always the same"
        )
        if name in self._constants:
            return ()
        self._constants.add(name)
        return (name,)

    def _drafted(
        self, specimen: SampleValue, data: bytes, role: str | None, variant: str | None, *, is_opening: bool
    ) -> Draft | None:
        before = () if is_opening else self.scenery.before(specimen, role, variant)
        if before is None:
            return None
        try:
            draft = self.drafting.draft(Scene(role=role, variant=variant, before=before), data)
        except DecodeError:
            return None
        return draft if draft.is_whole and len(draft.trees) == 1 else None

    def alone(self, role: str | None) -> Iterator[Draft]:
        """Yield the messages of a role that occur only inside others, in frames of their own."""
        schema = self.basis.schema
        met = {message_of(draft) for draft in self.drafts}
        for name, declared in schema.messages.items():
            code = declared.code
            if name in met or declared.role not in (role, None) or code is None:
                continue
            known: set[bytes] = set()
            for wave in range(_WAVES):
                draft = self._alone(name, code, role, wave)
                if draft is not None and draft.data not in known:
                    known.add(draft.data)
                    yield draft.showing((f"{name} alone", f"{name} alone {wave}")[wave > 0 :][:1])

    def _alone(self, name: str, code: int, role: str | None, wave: int) -> Draft | None:
        choices = Choices(wave=wave, by_site=dict.fromkeys(self.basis.code_sites, code))
        try:
            specimen = grow(self.basis, choices, role=role)
            options = Options(role, context=GivenEntries(specimen.scene))
            data = write_frame(self.basis.schema, specimen.value, options, compression=0)
        except (EncodeError, UngrownError):
            return None
        draft = self._drafted(specimen, data, role, None, is_opening=False)
        return draft if draft is not None and message_of(draft) == name else None

    # ---- refused values

    def _refuse(
        self, specimen: SampleValue, error: EncodeError, role: str | None, variant: str | None
    ) -> None:
        """Record the goals of a refused sample."""
        self.errors.setdefault(_name(getattr(specimen.value, "message", None) or specimen.value), error)
        if error.code not in _REFUSALS:
            return
        for name in specimen.covers:
            if name not in self.found.covered:
                self._refusals.setdefault(name, (specimen, error, role, variant))

    def refusals(self) -> list[tuple[str, tuple[SampleValue, EncodeError, str | None, str | None]]]:
        """Return the goals that only refused values show, and why those are refused."""
        missing = frozenset(self.found.missing)
        return [(name, told) for name, told in self._refusals.items() if name in missing]

    def refuse(self, name: str, scene: Scene, value: object, error: EncodeError) -> None:
        """Record a frame without another fault in place of a refused sample."""
        self._alone_refused.setdefault(name, (scene, value, error))

    def refused(self) -> Iterator[Unwritable]:
        """Yield a frame for each option that only refused values show."""
        for name in self.found.missing:
            if name in self._alone_refused:
                yield from self._told(*self._alone_refused[name], name)
                continue
            if name not in self._refusals:
                continue
            specimen, error, role, variant = self._refusals[name]
            before = self.scenery.before(specimen, role, variant)
            if before is not None:
                scene = Scene(role=role, variant=variant, before=before)
                yield from self._told(scene, specimen.value, error, name)

    def _told(self, scene: Scene, value: object, error: EncodeError, name: str) -> Iterator[Unwritable]:
        """Yield the vector of a refused value, unless the value lacks a field: other faults of it may be
        reported first.
        """
        if error.found != "nothing":
            record = frame_record(self.basis.schema, value, variant=scene.variant)
            yield self.drafting.unwritable(scene, record, error, (name,))

    # ---- absent fields at the end

    def _shorter(self, specimen: SampleValue, whole: Draft) -> Iterator[Draft]:
        """Yield the same frame without its last optional fields, one fewer each time."""
        for owner in _with_absence(specimen.value):
            for absent in range(1, self._n_trailing(owner) + 1):
                name = f"{_name(owner)} without its last {absent}"
                if name in self.found.covered:
                    continue
                draft = self._without(specimen, owner, absent, whole.scene)
                if draft is not None:
                    self.found.covered[name] = None
                    self.found.goals[name] = None
                    yield draft.showing((name,))

    def _without(self, specimen: SampleValue, owner: Any, absent: int, scene: Scene) -> Draft | None:
        before, owner.absent = owner.absent, absent
        options = Options(scene.role, context=GivenEntries(specimen.scene), variant=scene.variant)
        try:
            data = write_frame(self.basis.schema, specimen.value, options, compression=0)
            draft = self.drafting.draft(scene, data)
        except (EncodeError, DecodeError):
            return None
        finally:
            owner.absent = before
        return draft if draft.is_whole else None

    def _n_trailing(self, owner: Any) -> int:
        return self.basis.trailing.get(_name(owner), 0)


def valid_drafts(crop: Crop) -> None:
    """Explore everything that is sent."""
    schema = crop.basis.schema
    roles: tuple[str | None, ...] = tuple(schema.sends) or (None,)
    for opener in schema.opens:
        explore(
            crop.basis, _taking(crop, opener, None, is_opening=True), crop.found, role=opener, is_opening=True
        )
    for variant in (None, *schema.variants):
        for role in roles:
            explore(crop.basis, _taking(crop, role, variant), crop.found, role=role, variant=variant)
    for role in roles:
        crop.drafts += tuple(crop.alone(role))


def _taking(crop: Crop, role: str | None, variant: str | None, *, is_opening: bool = False) -> Any:
    return lambda specimen: crop.take(specimen, role, variant, is_opening=is_opening)


def _name(owner: Record | FrameValue | Variety) -> str:
    return f"{owner.union}.{owner.name}" if isinstance(owner, Variety) else owner.name


def _with_absence(value: object) -> Iterator[Any]:
    """Yield every record below a value."""
    match value:
        case FrameValue():
            yield value
            yield from _with_absence(value.message)
        case Record() | Variety():
            yield value
        case list():
            for item in value:
                yield from _with_absence(item)
            return
        case _:
            return
    for part in value.fields.values():
        yield from _with_absence(part)
