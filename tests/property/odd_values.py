"""Values of a caller's own classes: each is of the class of a good value, or stands for one, and its methods lie, change or raise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn
from uuid import UUID

__all__ = ["odd_forms"]


def _refuse(*_: object) -> NoReturn:
    raise OwnError("no method of mine answers")


class OwnError(Exception):
    """An error that no handler knows by name."""


def _yes(*_: object) -> bool:
    return True


def _no(*_: object) -> bool:
    return False


_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__")
_ARITHMETIC = (
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__floordiv__", "__mod__", "__and__", "__or__", "__ror__",
    "__xor__", "__lshift__", "__rshift__", "__neg__", "__pos__", "__pow__", "__abs__", "__invert__",
)  # fmt: skip
_CONVERSIONS = (
    "__index__", "__int__", "__float__", "__bool__", "__hash__", "__str__", "__repr__", "__format__", "__len__", "__iter__", "__getitem__",
    "__bytes__", "__reversed__", "__copy__", "__reduce_ex__",
)  # fmt: skip
_METHODS = (
    "encode", "decode", "isascii", "find", "index", "count", "bit_length", "to_bytes", "hex", "join", "append", "copy", "bytes", "int",
)  # fmt: skip

LIES: tuple[dict[str, Any], ...] = (
    dict.fromkeys((*_COMPARISONS, *_ARITHMETIC, *_CONVERSIONS, *_METHODS), _refuse),
    {**dict.fromkeys(_COMPARISONS, _yes), "__hash__": lambda _: 1},
    {**dict.fromkeys(_COMPARISONS, _no), "__hash__": lambda _: 1},
    {**dict.fromkeys(_ARITHMETIC, lambda *_: 0), "__index__": lambda _: 0, "__int__": lambda _: 0, "__float__": lambda _: 0.0},
    {"__len__": lambda _: 0, "__bool__": _no, "__iter__": lambda _: iter(()), "isascii": _yes, "encode": lambda *_: b"lie"},
    {"__len__": lambda _: 1, "__bool__": _yes, "__iter__": lambda _: iter((0, 0)), "__getitem__": lambda *_: 0},
    {"__class__": property(_refuse)},
    {"__class__": property(lambda _: bool)},
    {"__getattribute__": _refuse},
)  # fmt: skip
"""What the methods of a subclass do: raise, agree, disagree, answer with 0, be empty, be full, hide or tell another class."""


class _Turning:
    """A number that is another one each time that it is asked."""

    def __init__(self, number: int) -> None:
        self._numbers = [number + 1, number]

    def _next(self) -> int:
        self._numbers.reverse()
        return self._numbers[0]

    def __index__(self) -> int:
        return self._next()


class _TurningReal(_Turning):
    def __float__(self) -> float:
        return float(self._next())


class _Same:
    """An object that is everything to everyone."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __index__(self) -> int:
        return int(self._value)

    def __float__(self) -> float:
        return float(self._value)

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class _OtherError(Exception): ...


class _Raising:
    """An object whose conversions raise an error of its own."""

    def __index__(self) -> int:
        raise _OtherError

    __float__ = __len__ = __iter__ = __bool__ = __eq__ = __hash__ = __index__  # type: ignore[assignment]


def odd_forms(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield names of odd forms of a good value, and what makes one; each is encoded once."""
    yield "raises", _Raising
    match value:
        case bool():
            yield "turns", lambda: _Turning(int(value))
            yield "same", lambda: _Same(value)
            yield "number", lambda: int(value)
            yield from _subclasses(int, int(value))
        case int():
            yield "turns", lambda: _Turning(value)
            yield "same", lambda: _Same(value)
            yield "flag", lambda: bool(value)
            yield "real", lambda: float(value % 2**16)
            yield from _subclasses(int, int(value))
        case float():
            yield "turns", lambda: _TurningReal(1)
            yield "same", lambda: _Same(value)
            yield "number", lambda: 3
            yield "narrow", lambda: 0.1
            yield from _subclasses(float, value)
        case str():
            yield from _subclasses(str, value)
        case bytes():
            yield "buffer", lambda: bytearray(value)
            yield "view", lambda: memoryview(value)
            yield from _subclasses(bytes, value)
            yield from _subclasses(bytearray, value)
        case list():
            yield "tuple", lambda: tuple(value)
            yield "grows", lambda: _growing(value)
            yield from _subclasses(list, value)
            yield from _subclasses(tuple, value)
        case UUID():
            yield from _subclasses(UUID, value.hex)
            yield "hollow", lambda: UUID.__new__(UUID)
        case None:
            yield "zero", lambda: 0
            yield "empty", list
        case _ if type(value).__module__.endswith(".messages"):
            yield from _records(value)


def _subclasses(base: Any, value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    for number, methods in enumerate(LIES):
        kind: Any = type("Odd", (base,), methods)
        yield f"{base.__name__}-{number}", partial(kind, value)


def _growing(value: list[Any]) -> list[Any]:
    """Return a list that grows when its first item is asked for its number."""
    items = list(value)

    class Growing:
        def __index__(self) -> int:
            items.append(0)
            return 0

    if items and type(items[0]) is int:
        items[0] = Growing()
    return items


def _records(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield records of a subclass, whose attributes change or raise, and a record of no class of ours."""
    kind = type(value)
    names = [name for name in kind.__slots__ if hasattr(value, name)]

    def of(name: str, methods: Callable[[], dict[str, Any]]) -> Callable[[], Any]:
        def make() -> Any:
            made: Any = object.__new__(type(name, (kind,), methods()))
            for each in names:
                object.__setattr__(made, each, getattr(value, each))
            return made

        return make

    own = kind.__name__
    yield "subclass", of("Sub", dict)
    yield "hides", of(own, lambda: {"__class__": property(_refuse)})
    yield "poses", of(own, lambda: {"__class__": property(lambda _: int)})
    yield "equal", of(own, lambda: {"__eq__": _yes, "__hash__": _refuse})
    yield "refuses", of(own, lambda: {"__getattribute__": _refuse})
    for name in names:
        first = getattr(value, name)
        yield f"{name}-raises", of(own, partial(_property, name, lambda: _refuse))
        if type(first) in (int, list):
            yield f"{name}-turns", of(own, partial(_property, name, partial(_turned, first)))
    yield "foreign", lambda: _foreign(value, names, own)
    yield "foreign-named", lambda: _foreign(value, names, "Stranger")


def _property(name: str, read: Callable[[], Callable[[object], Any]]) -> dict[str, Any]:
    return {name: property(read(), lambda *_: None)}


def _foreign(value: Any, names: list[str], own: str) -> Any:
    made = type(own, (), {})()
    for name in names:
        setattr(made, name, getattr(value, name))
    return made


def _turned(first: Any) -> Callable[[object], Any]:
    """Return a property's function, whose result is another one each time."""
    results = [first, first ^ 1 if type(first) is int else [*first, *first[:1]]]

    def get(_: object) -> Any:
        results.reverse()
        return results[0]

    return get
