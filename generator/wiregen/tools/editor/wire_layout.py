"""Offsets and sizes of fields on the wire, counted from the start of their declaration."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

from wiregen.schema import model
from wiregen.schema.offsets import offsets_of
from wiregen.schema.sizes import Sizes
from wiregen.schema.walk import every_field

__all__ = ["WireLayout"]

_Laid: TypeAlias = model.Struct | model.Message | model.Frame | model.Preamble | model.Variety


class WireLayout:
    """The layouts of one protocol, by the paths of its nodes."""

    def __init__(self, protocol: model.Protocol) -> None:
        self._protocol = protocol
        self._sizes = Sizes(protocol)

    @cached_property
    def offsets(self) -> dict[str, str]:
        """The offset of each field, not of those in a block, as `4` or `10+m`: a letter is the size of a field whose size varies."""
        found: dict[str, str] = {}
        for declared in self._declarations:
            offsets = offsets_of(map(self._sizes.fixed_bits, declared.fields))
            found |= {field.path: offset.text for field, offset in zip(declared.fields, offsets, strict=True)}
        return found

    def size(self, path: str) -> str | None:
        """Return the size of a field or of a declaration as text, or None for another node."""
        laid = self._laid.get(path)
        if laid is None:
            return None
        bits = self._sizes.fixed_bits(laid)
        if bits is not None:
            return _counted(bits // 8, "byte") if bits % 8 == 0 else _counted(bits, "bit")
        low, high = self._sizes.smallest(laid), self._sizes.largest(laid)
        return f"at least {_counted(low, 'byte')}" if high is None else f"{low} to {_counted(high, 'byte')}"

    @cached_property
    def _declarations(self) -> tuple[_Laid, ...]:
        one = self._protocol
        varieties = (each for union in one.unions for each in union.varieties)
        return (*one.structs, *one.messages, *one.frames, *one.preambles, *varieties)

    @cached_property
    def _laid(self) -> dict[str, model.Field | _Laid]:
        found: dict[str, model.Field | _Laid] = {each.path: each for each in self._declarations}
        for declared in self._declarations:
            found |= {each.path: each for each in every_field(declared.fields)}
        return found


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
