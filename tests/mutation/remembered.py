"""Cached answers of the reference codec: they are the same for any fault in compiled code, and it is slow."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from wiregen.runtime.codec.errors import DecodeError

__all__ = ["Remembered"]

_MOST: Final = 200_000
_LONGEST: Final = 1 << 14
"""Bytes of a question; answers to longer ones would fill the memory."""


@dataclass(slots=True)
class Remembered:
    """A function of the reference codec that counts its calls, and caches its results.

    A result depends on the arguments and the entries of a context only; a call that changes these is made each time.
    """

    function: Callable[..., Any]
    count: Callable[[], None]
    _said: dict[Hashable, tuple[Any, Exception | None]] = field(default_factory=dict)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.count()
        context = next((each for each in (*arguments, *named.values()) if hasattr(each, "entries")), None)
        key = _key(context, arguments, named)
        if key is None:
            return self.function(*arguments, **named)
        if key not in self._said:
            said = self._asked(arguments, named)
            if key != _key(context, arguments, named) or len(self._said) > _MOST:
                return _answer(said)
            self._said[key] = said
        return _answer(self._said[key])

    def _asked(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Exception | None]:
        try:
            return self.function(*arguments, **named), None
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised again
            return None, error


def _answer(said: tuple[Any, Exception | None]) -> Any:
    value, error = said
    if error is not None:
        raise error.copy() if isinstance(error, DecodeError) else error.with_traceback(None)
    return value.copy() if isinstance(value, DecodeError) else value


def _key(context: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Hashable | None:
    """Return the key of an answer, or None if it cannot be determined."""
    own = [
        _plain(each, context)
        for each in (*arguments, *(part for pair in sorted(named.items()) for part in pair))
    ]
    joins: Any = {} if context is None else vars(context.joins)
    if any(joins.get("_open", {}).values()):
        return None
    known = () if context is None else (repr(context.entries), repr(joins))
    try:
        told = pickle.dumps((own, known))
    except Exception:  # noqa: BLE001 - a mistaken value may be anything
        return None
    return blake2b(told, digest_size=16).digest() if len(told) <= _LONGEST else None


def _plain(value: Any, context: Any) -> Any:
    if value is context:
        return None
    to_dict = getattr(value, "to_dict", None) if type(value).__name__ == "Limits" else None
    return to_dict() if to_dict is not None else value
