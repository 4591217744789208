"""The frames that must be sent before a frame can be read: preambles, and messages that set contexts."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from wiregen.conformance.samples import Choices, SampleBasis, SampleValue, grow, try_openings
from wiregen.conformance.samples.choices import UngrownError
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.context import Context

__all__ = ["GivenEntries", "Scenery"]


class GivenEntries:
    """A context with given entries, the same for every sender."""

    def __init__(self, entries: dict[tuple[str, tuple[object, ...]], object]) -> None:
        self._entries = entries

    def lookup(self, name: str, keys: tuple[object, ...], sender: str | None) -> Any:
        return self._entries[name, keys]


class Scenery:
    """Makes the bytes that set a scene."""

    def __init__(self, basis: SampleBasis) -> None:
        self.basis = self._basis = basis
        self._schema: Schema = basis.schema
        openings = {role: self._opening(role) for role in self._schema.opens}
        self._openings = {role: data for role, data in openings.items() if data is not None}

    def before(
        self, specimen: SampleValue, role: str | None, variant: str | None
    ) -> tuple[tuple[str | None, bytes], ...] | None:
        """Return the frames sent before a sample, the preambles included, or None if the scene cannot be
        set.
        """
        said = [
            self._said(name, keys, value, role, variant) for (name, keys), value in specimen.scene.items()
        ]
        sent = [each for each in said if each is not None]
        if len(sent) < len(said):
            return None
        speakers = dict.fromkeys([*(who for who, _ in sent), role])
        if any(who in self._schema.opens and who not in self._openings for who in speakers):
            return None
        return (*((who, self._openings[who]) for who in speakers if who in self._openings), *sent)

    def opening(self, role: str | None) -> tuple[tuple[str | None, bytes], ...]:
        """Return the preamble of a role, if it has one."""
        return ((role, self._openings[role]),) if role in self._openings else ()

    def _opening(self, role: str) -> bytes | None:
        """Return the plainest preamble of a role that can be written, or None if none is found."""
        written: list[bytes] = []

        def take(specimen: SampleValue) -> bool:
            with suppress(EncodeError):
                written.append(write_frame(self._schema, specimen.value, Options(role)))
            return bool(written)

        try_openings(self._basis, take, role=role)
        return next(iter(written), None)

    def _said(
        self, name: str, keys: tuple[object, ...], value: object, role: str | None, variant: str | None
    ) -> tuple[str | None, bytes] | None:
        """Return the sender and the bytes of a frame that sets an entry of a context."""
        entry = self._schema.contexts[name]
        for setting in entry.settings:
            target = setting.target
            speaker = entry.role or self._speaker(target, role)
            demands = {f"{target}.{setting.field}": value}
            demands |= {
                f"{place}.{key}": part
                for key, part in zip(entry.keys, keys, strict=True)
                for place in (target, *self._schema.frames)
            }
            data = self._written(self._code_of(target), demands, speaker, variant, (name, keys, value))
            if data is not None:
                return speaker, data
        return None

    def _speaker(self, target: str, role: str | None) -> str | None:
        """Return the role that sends a message or frame; if both may send it, the role that asks."""
        kind = self._schema.messages.get(target) or self._schema.frames.get(target)
        return (None if kind is None else kind.role) or role

    def _code_of(self, target: str) -> int | None:
        return self._schema.messages[target].code if target in self._schema.messages else None

    def _written(
        self,
        code: int | None,
        demands: dict[str, object],
        role: str | None,
        variant: str | None,
        entry: tuple[str, tuple[object, ...], object],
    ) -> bytes | None:
        name, keys, value = entry
        if code is not None:
            demands = {**demands, **self._code_sites(code)}
        try:
            specimen = grow(self._basis, Choices(by_site=demands), role=role, variant=variant)
            context = Context(self._schema)
            options = Options(role, context=context, variant=variant)
            data = write_frame(self._schema, specimen.value, options)
            context.apply(specimen.value, role)
            known = context.lookup(name, keys, role)
        except (UngrownError, EncodeError, KeyError):
            return None
        return data if known == value else None

    def _code_sites(self, code: int) -> dict[str, int]:
        """Return the sites of the frames' codes."""
        return dict.fromkeys(self._basis.code_sites, code)
