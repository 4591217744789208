"""A `.ksy` file while it is written."""

from __future__ import annotations

from wiregen.generate.steps.step import UnsupportedError
from wiregen.generate.views.kaitai.numbers import HELPERS
from wiregen.generate.views.kaitai.parts import Identifiers, KaitaiEnum, KaitaiType
from wiregen.generate.views.kaitai.shapes import KaitaiCut
from wiregen.runtime.schema.protocol import Schema

__all__ = ["REFUSED", "KaitaiFile"]

REFUSED = "not_declared"
"""The type of numbers without a meaning: it refuses all bytes."""


class KaitaiFile:
    """The types and enums of a file by identifier, and the constructs that they leave out.

    `cut`: the declarations that end with a cut, to begin with those of an earlier pass. `owner` and `read`: the
    declaration and its field that are being written.
    """

    def __init__(self, schema: Schema, taken: str, cut: frozenset[str]) -> None:
        self.schema = schema
        self.types: dict[str, KaitaiType] = {}
        self.enums: dict[str, KaitaiEnum] = {}
        self.cuts: list[KaitaiCut] = []
        self.left_out: list[str] = []
        self.cut = set(cut)
        self.identifiers = Identifiers([taken, REFUSED, *HELPERS])
        self.owner = self.read = ""
        self._names: dict[str, str] = {}

    def named(self, name: str) -> tuple[str, bool]:
        """Return the identifier of a declaration, and whether it is new."""
        is_new = name not in self._names
        if is_new:
            self._names[name] = self.identifiers.new(name)
        return self._names[name], is_new

    def add_cut(self, error: UnsupportedError) -> None:
        """Note that the bytes of the field are shown up to the end."""
        construct = error.unsupported.construct
        self.cuts.append(KaitaiCut(owner=self.owner, field=self.read, construct=construct))
