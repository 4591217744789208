"""Choices by chance: any option of a site, or another value of its type."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final
from uuid import UUID

from wiregen.conformance.samples.choices import Choices, Option
from wiregen.conformance.samples.unconstrained import FewBits
from wiregen.runtime.schema.types import Bytes, CodingReference, Float, Integer, Text, Type, Uuid, Varint

__all__ = ["RandomChoices"]

_SHORT: Final = 16
_LONG: Final = 300
_N_LONG: Final = 0.1
_N_PLAIN: Final = 0.6
"""How often the first option is taken where values do not show which one it was."""
_FAR: Final = 8
"""Names in a path from which on the first option is taken where more may follow from it."""
_ASCII: Final = "".join(map(chr, range(128)))
_LATIN: Final = "".join(map(chr, range(256)))
_LETTERS: Final = {"ascii": _ASCII, "latin1": _LATIN}
_WIDE: Final = f"{_LATIN}\u0800日\uffff\U00010000😀"


@dataclass(slots=True, kw_only=True)
class RandomChoices(Choices):
    """Makes the choices of one value by chance; `wave` is without effect.

    A text or bytes of more than 16 units is rare, one of more than 300 is taken only where no other is
    possible.

    Attributes:
        dice: The source of chance. Equal states of it make equal choices.
        n_others: How often a value is taken that is not an option.
    """

    dice: Random
    deep: int = 4
    cuts_regions: bool = True
    n_others: float = 0.4
    _offered: Option | None = field(default=None, init=False)

    def more_options(self, type_: Type) -> tuple[Option, ...]:
        """Return a random value of a type as often as `n_others` says."""
        value = self.other(type_) if self.dice.random() < self.n_others else None
        self._offered = None if value is None else ("random", value)
        return () if self._offered is None else (self._offered,)

    def other(self, type_: Type) -> object:
        """Return a random value of a type, or None if all its values are options."""
        match type_:
            case Integer() | Varint() | FewBits(is_flag=False):
                low, high = type_.bounds
                return self._number(high.bit_length(), is_signed=low < 0)
            case CodingReference():
                return self._number(32, is_signed=False)
            case Float():
                return type_.definition.unpack(self.dice.randbytes(type_.size))
            case _:
                return self._other_bytes(type_)

    def _other_bytes(self, type_: Type) -> object:
        match type_:
            case Uuid():
                return UUID(bytes=self.dice.randbytes(16))
            case Text(encoding):
                letters = _LETTERS.get(encoding, _WIDE)
                return "".join(self.dice.choices(letters, k=self.dice.randrange(_SHORT)))
            case Bytes():
                return self.dice.randbytes(self.dice.randrange(_SHORT))
            case _:
                return None

    def _number(self, bits: int, *, is_signed: bool) -> int:
        """Return a number of which each count of bits is as frequent as any other."""
        number = self.dice.getrandbits(self.dice.randint(1, bits))
        return ~number if is_signed and self.dice.random() < 0.5 else number

    def _is_demanded(self, site: str, options: tuple[Option, ...], *, is_structural: bool) -> bool:
        """Return whether a value is demanded; of a message only where it is possible, since it can hold others."""
        if site not in self.by_site:
            return False
        return not is_structural or any(value == self.by_site[site] for _, value in options)

    def _index(self, path: str, options: tuple[Option, ...], *, is_structural: bool, is_goal: bool) -> int:
        if path in self.by_path:
            return min(self.by_path[path], len(options) - 1)
        is_far = is_structural and path.count(".") > _FAR
        if is_far or not is_goal and self.dice.random() < _N_PLAIN:
            return 0
        offered = next((index for index, option in enumerate(options) if option is self._offered), None)
        if offered is not None:
            return offered
        most = _LONG if self.dice.random() < _N_LONG else _SHORT
        fit = [index for index, (_, value) in enumerate(options) if _size(value) <= most]
        return self.dice.choice(fit) if fit else self.dice.randrange(len(options))


def _size(value: object) -> int:
    return len(value) if isinstance(value, str | bytes) else 0
