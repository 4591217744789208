"""One sample value: the reference decoder runs over bytes that are made up as it asks for them, according to the choices.

Derived fields, constraints and lengths are ignored meanwhile; the encoder computes and checks them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from wiregen.conformance.samples.basis import SampleBasis
from wiregen.conformance.samples.choices import CONTEXT, Choices, MadeChoice, UngrownError
from wiregen.conformance.samples.chosen_types import ChosenTypes
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import ContextSource, Options
from wiregen.runtime.reference.expressions import Undefined
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.reference.reading.reader import Reader, Steps
from wiregen.runtime.reference.reading.records import read_bare_frame, read_preamble
from wiregen.runtime.reference.tree import FrameValue, Record
from wiregen.runtime.reference.window import Place, Window
from wiregen.runtime.schema.types import FrameReference

__all__ = ["SampleValue", "grow", "grow_opening"]

_MOST_BYTES: Final = 1 << 20
"""Bytes made up for one value; a value that needs more is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleValue:
    """A frame or preamble, its choices, and the context that earlier frames must have set.

    Attributes:
        scene: Entries of contexts, by their names and keys.
    """

    value: FrameValue | Record
    made: tuple[MadeChoice, ...]
    covers: tuple[str, ...]
    scene: dict[tuple[str, tuple[Any, ...]], Any] = field(default_factory=dict)


def grow(
    basis: SampleBasis,
    choices: Choices,
    *,
    role: str | None,
    variant: str | None = None,
    context: ContextSource | None = None,
) -> SampleValue:
    """Return a frame of `role`; `context`: the facts of earlier frames, or None to choose them.

    Raises:
        UngrownError: The choices lead to no frame.
    """
    layout = Layout(basis.loose, Options(role, variant=variant))
    name = layout.frame_of(role)

    def read(reader: Reader) -> Steps:
        return read_bare_frame(reader, name, Place(name, name), FrameReference(name))

    return _grown(basis, choices, Options(role, context=context, variant=variant), read)


def grow_opening(basis: SampleBasis, choices: Choices, *, role: str) -> SampleValue:
    """Return the preamble of `role`.

    Raises:
        UngrownError: The choices lead to no preamble.
    """
    name = basis.loose.opens[role]
    return _grown(basis, choices, Options(role), lambda reader: read_preamble(reader, name))


def _grown(
    basis: SampleBasis, choices: Choices, options: Options, read: Callable[[Reader], Steps]
) -> SampleValue:
    scene = _Scene(basis, choices)
    options.context = options.context or scene
    picking = ChosenTypes(basis, choices)
    layout = Layout(basis.loose, options)
    reader = Reader(layout, options, Window(bytearray(), 0), picking.read)
    try:
        value = _finished(read(reader), reader)
    except (DecodeError, EncodeError, Undefined, RecursionError, OverflowError) as error:
        raise UngrownError(str(error)) from None
    return SampleValue(value=value, made=tuple(choices.made), covers=choices.covers, scene=scene.entries)


def _finished(steps: Steps, reader: Reader) -> Any:
    """Return the result of a decoder that is given zeros wherever it asks for bytes that were not chosen."""
    try:
        needed = next(steps)
        while True:
            if needed > _MOST_BYTES:
                raise UngrownError("too many bytes")
            assert isinstance(reader.window.data, bytearray)
            reader.window.data += bytes(needed - reader.window.available)
            needed = steps.send(False)
    except StopIteration as done:
        return done.value.value


class _Scene:
    """A context that has an entry for every key that it is asked for."""

    def __init__(self, basis: SampleBasis, choices: Choices) -> None:
        self._basis = basis
        self._choices = choices
        self.entries: dict[tuple[str, tuple[Any, ...]], Any] = {}

    def lookup(self, name: str, keys: tuple[Any, ...], sender: str | None) -> Any:
        known = (name, keys)
        if known not in self.entries:
            options = self._basis.entry_options(name)
            site = f"{CONTEXT}{name}"
            self.entries[known] = self._choices.choose(site, site, options, is_structural=True)
        return self.entries[known]
