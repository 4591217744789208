"""Conditions that must be false, and pieces of bytes, as the Python templates print them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

__all__ = ["AnyCheck", "Pieced", "StrictCheck", "Tested", "any_of", "few_of", "joined_pieces", "strict_if"]

_WIDTH = 92
"""The most characters of a condition, so that it is seldom broken into lines."""
_STRICT: Final = "state is not None and state.strict and "


@dataclass(frozen=True, slots=True)
class StrictCheck:
    """A condition that must be false for a strict reader only."""

    text: str


AnyCheck: TypeAlias = str | StrictCheck


def strict_if(is_lenient: bool, text: str) -> AnyCheck:
    """Return a check, of strict readers only if lenient ones accept such a value."""
    return StrictCheck(text) if is_lenient else text


def any_of(checks: tuple[AnyCheck, ...]) -> str:
    """Return a condition that is true if one of the checks is; checks of strict readers share one test of the state."""
    plain = [check for check in checks if isinstance(check, str)]
    strict = [check.text for check in checks if isinstance(check, StrictCheck)]
    if strict:
        together = strict[0] if len(strict) == 1 else f"({' or '.join(strict)})"
        plain.append(f"{_STRICT}{together}" if not plain else f"({_STRICT}{together})")
    return " or ".join(plain)


def few_of(checks: tuple[AnyCheck, ...]) -> tuple[str, ...]:
    """Return conditions that must all be false: as few as fit in lines."""
    found: list[tuple[AnyCheck, ...]] = []
    for check in checks:
        if found and len(any_of((*found[-1], check))) <= _WIDTH:
            found[-1] = (*found[-1], check)
        else:
            found.append((check,))
    return tuple(any_of(group) for group in found)


def joined_pieces(pieces: tuple[str, ...]) -> str:
    """Return the expression of all pieces concatenated."""
    match pieces:
        case ():
            return 'b""'
        case (one,):
            return one
        case (one, other):
            return f"{_operand(one)} + {_operand(other)}"
        case _:
            return f'b"".join(({", ".join(pieces)}))'


def _operand(piece: str) -> str:
    return f"({piece})" if " if " in piece else piece


class Tested:
    """A step with checks."""

    __slots__ = ()
    checks: tuple[AnyCheck, ...]

    @property
    def tests(self) -> tuple[str, ...]:
        return few_of(self.checks)


class Pieced:
    """A step with pieces."""

    __slots__ = ()
    pieces: tuple[str, ...]

    @property
    def joined(self) -> str:
        return joined_pieces(self.pieces)
