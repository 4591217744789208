"""The common parts of all generated classes: their `repr`, and the checks of arguments."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ClassVar, Final

__all__ = ["MOST_NESTING", "Generic", "Shown", "check_limits", "check_role", "is_a", "show"]

_SHOWN: Final = 64
"""Characters of a value that `repr` shows."""
_MOST_PARTS: Final = 512
_MOST_LEVELS: Final = 16
"""The number of values in a `repr`, and their depth: a value may hold itself."""
MOST_NESTING: Final = 32
"""The largest value of the limit `depth`: the stack suffices for it in every codec, from any caller."""


def is_a(value: object, *classes: type) -> bool:
    """Return whether the value is of one of the classes, without asking the value."""
    return issubclass(type(value), classes)


class Generic:
    """A replacement for typing's Generic, which takes milliseconds to import."""

    __slots__ = ()

    def __class_getitem__(cls, item: object) -> type:
        return cls


class Shown:
    """An object whose `repr` is its class's name and the parts that `_shown` yields."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        return show(self)

    def _shown(self, spell: Callable[[object], str]) -> Iterator[str]:
        """Yield the parts; `spell` returns the text of a value."""
        raise NotImplementedError


def show(value: object) -> str:
    """Return the repr of a value, cut where it is long; bytes, text and lists are cut before they are spelled out.

    Whatever the value is, this returns a short text: a value whose own repr raises is shown by its class's name.
    """
    return _Spelling().spell(value)


class _Spelling:
    """The text of one value and its parts, within bounds."""

    __slots__ = ("_level", "_n_left")

    def __init__(self) -> None:
        self._n_left = _MOST_PARTS
        self._level = 0

    def spell(self, value: object) -> str:
        """Return the text of a value or of a part of it."""
        self._n_left -= 1
        if self._n_left < 0 or self._level >= _MOST_LEVELS:
            return "…"
        self._level += 1
        try:
            return self._text(value)
        except Exception:  # noqa: BLE001 - a value may be of any class, and raise anything
            return f"<{type(value).__name__[:_SHOWN]}>"
        finally:
            self._level -= 1

    def _text(self, value: object) -> str:
        if isinstance(value, Shown):
            text = f"{type(value).__qualname__}({', '.join(value._shown(self.spell))})"
            return text if self._level == 1 else _cut(text)
        for kind in (bytes, str, bytearray):
            if isinstance(value, kind):
                return _cut_before(value, kind)
        if isinstance(value, list):
            return f"[{self._items(value, list)}]"
        if isinstance(value, tuple) and type(value).__repr__ is tuple.__repr__:
            return f"({self._items(value, tuple)}{',' if len(value) == 1 else ''})"
        if isinstance(value, int) and int.bit_length(value) > 16 * _SHOWN:
            return f"<{type(value).__name__[:_SHOWN]} of {int.bit_length(value)} bits>"
        return _cut(repr(value))

    def _items(self, value: Any, kind: type[list[object] | tuple[object, ...]]) -> str:
        size: int = kind.__len__(value)
        texts = [self.spell(item) for item in kind.__getitem__(value, slice(0, 3))]
        return ", ".join([*texts, f"… ({size})"] if size > 3 else texts)


def _cut_before(value: Any, kind: type[bytes | str | bytearray]) -> str:
    """Return the repr of bytes or text, from a first part of it only."""
    size: int = kind.__len__(value)
    head = kind.__repr__(kind.__getitem__(value, slice(0, _SHOWN)))
    return head if size <= _SHOWN else f"{head}… ({size})"


def _cut(text: str) -> str:
    return text if len(text) <= 16 * _SHOWN else f"{text[: 16 * _SHOWN]}…"


def check_role(role: str | None, roles: tuple[str, ...]) -> None:
    """Refuse a role that the protocol does not have.

    Raises:
        ValueError: The role is unknown; the message names the roles.
    """
    if role is not None and role not in roles:
        raise ValueError(f"there is no role {show(role)}, only {' and '.join(roles)}")


def bounds_of(limits: object, kind: type) -> dict[str, int] | None:
    """Return the bounds of the argument `limits` by name, or None for None.

    Raises:
        TypeError: It is neither None nor the `Limits` of the protocol.
    """
    if limits is None:
        return None
    if not isinstance(limits, kind):
        raise TypeError(f"limits takes a {_named(kind)} or None, not {show(limits)}")
    found: dict[str, int] = limits.to_dict()  # type: ignore[attr-defined]
    return found


def check_context(context: object, kind: type) -> None:
    """Refuse an argument `context` that is neither None nor the `Context` of the protocol, nor looks
    entries up as that does.

    Raises:
        TypeError: The argument is of another type.
    """
    if context is not None and not callable(getattr(context, "lookup", None)):
        raise TypeError(f"context takes a {_named(kind)} or None, not {show(context)}")


def _named(kind: type) -> str:
    """Return a class of a generated package with the package's name."""
    package = kind.__module__.rpartition(".")[0].rpartition(".")[2]
    return f"{package}.{kind.__name__}"


def check_limits(limits: dict[str, int | None], times: tuple[str, ...] = ()) -> None:
    """Refuse bounds that cannot be met. `times`: the names of those in milliseconds.

    Raises:
        ValueError: One is no integer from 0 on (nor None), or `depth` is more than every codec keeps to.
    """
    depth = limits.get("depth", 0)
    if depth is None or (type(depth) is int and depth > MOST_NESTING):
        raise ValueError(f"the limit depth is an integer from 0 to {MOST_NESTING}, not {show(depth)}")
    for name, limit in limits.items():
        if limit is not None and (type(limit) is not int or limit < 0):
            what = "an integer of milliseconds" if name in times else "an integer"
            raise ValueError(f"the limit {name} is {what} from 0 on, not {show(limit)}")
