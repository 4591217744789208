"""Identifiers of every target: case, reserved words, collisions. No other package spells a name.

Invariant: the lists are literal, never taken from the running interpreter, so that a build is the same on
every Python.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

__all__ = [
    "MAX_NAME",
    "Collision",
    "Namespace",
    "PythonNames",
    "Stems",
    "camel_case",
    "constant_case",
    "is_device",
    "is_reserved",
    "python_name",
    "python_names",
    "snake_case",
]

MAX_NAME: Final = 100
"""The most characters of a name: files of a package and pages of its site are called after it."""
_DEVICE: Final = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]", re.IGNORECASE)
_KEYWORDS = frozenset(
    "False None True and as assert async await break class continue def del elif else except finally for from global if"
    " import in is lambda nonlocal not or pass raise return try while with yield".split()
)
# The names that every generated package exports.
_OFFERED = frozenset(
    "encode decode decode_message decode_conversation absent tail message Frame Decoder Context Connection Session Unknown"
    " DecodeError EncodeError SessionError NeedMoreData Received Violation Fault TimedOut Ended protobuf msgpack aio"
    " to_dict from_dict replace snapshot restore limits Limits".split()
)
# Builtins that the text of a generated module relies on; shadowing one would change what its functions mean.
_BUILTINS = frozenset(
    "bool bytearray bytes classmethod dict float frozenset int isinstance iter len list max memoryview min next object"
    " property range repr set staticmethod str sum super tuple type zip".split()
)
_EXCEPTIONS = frozenset(
    "ArithmeticError AttributeError BaseException BufferError EOFError Exception IndexError KeyError LookupError"
    " NotImplemented OverflowError RuntimeError StopIteration TypeError UnicodeDecodeError UnicodeEncodeError"
    " UnicodeError ValueError".split()
)
# The names that a generated module imports for its annotations.
_IMPORTED = frozenset("Any Callable Iterable Iterator Literal Required Self TypeAlias TypeVar UUID".split())
# The names that a class of a generated module needs in annotations and decorators.
_IN_CLASSES = frozenset(
    "bool bytes classmethod dict float int list object property staticmethod str tuple".split()
)
_METHODS = frozenset("decode_from encode_into self cls".split())
_CALL_ARGUMENTS = frozenset(
    "compression context despite frame from_role given isinstance limits now split strict variant wait".split()
)
# The attributes of a frame that are not fields, where it may be a fragment.
_OF_FRAMES = frozenset("part".split())
# Attributes that an int-based enum member already has.
_ENUM_ATTRIBUTES = frozenset(
    "as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer mro name numerator real"
    " to_bytes value".split()
)


class Namespace(Enum):
    """The namespace of a Python name; each one has its own reserved names."""

    PACKAGE = "package"  # a protocol: a folder and a module of the generated tree
    MODULE = "module"  # a declaration: a name at the top of the protocol's module
    MEMBER = "member"  # a field: an attribute of a message class and an argument of its constructor
    FRAME_MEMBER = "frame member"  # a header field: also an argument of encode()
    ENUM_MEMBER = "enum member"
    PROTO = "proto"  # a field of a protobuf message, which Python sees as an attribute


_RESERVED: Mapping[Namespace, frozenset[str]] = MappingProxyType(
    {
        Namespace.PACKAGE: _KEYWORDS | _OFFERED,
        Namespace.MODULE: _KEYWORDS | _OFFERED | _BUILTINS | _EXCEPTIONS | _IMPORTED,
        Namespace.MEMBER: _KEYWORDS | _OFFERED | _METHODS | _IN_CLASSES,
        Namespace.FRAME_MEMBER: _KEYWORDS | _OFFERED | _METHODS | _IN_CLASSES | _CALL_ARGUMENTS | _OF_FRAMES,
        Namespace.PROTO: _KEYWORDS,
        Namespace.ENUM_MEMBER: _KEYWORDS | _OFFERED | _ENUM_ATTRIBUTES,
    }
)
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Collision:
    """Different names of one scope that map to the same Python name."""

    python_name: str
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PythonNames:
    """The Python name of each name of a scope, in the given order, and the collisions among them."""

    mapping: Mapping[str, str]
    collisions: tuple[Collision, ...]

    @property
    def renamed(self) -> tuple[tuple[str, str], ...]:
        """Each name that is not a valid Python name, with its replacement."""
        return tuple((name, python) for name, python in self.mapping.items() if name != python)


class Stems:
    """Unique names in one module: declarations that differ in case alone would otherwise share one."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._given: dict[tuple[str, ...], str] = {}
        self._taken = set(taken)

    def own(self, wanted: str, *key: str) -> str:
        """Return the name for `key`, always the same one: `wanted`, with underscores appended if that is taken."""
        place = (wanted, *key)
        if place not in self._given:
            free = wanted
            while free in self._taken:
                free += "_"
            self._given[place] = free
            self._taken.add(free)
        return self._given[place]


def snake_case(name: str) -> str:
    """Return `name` in the form `block_sent`: the result for `BlockSent`, `BLOCK_SENT` and `blockSent`."""
    return "_".join(word.lower() for word in _words(name)) or name


def camel_case(name: str) -> str:
    """Return `name` in the form `BlockSent`; runs of capitals become words too (`HTTPServer` is `HttpServer`)."""
    return "".join(word[:1].upper() + word[1:].lower() for word in _words(name)) or name


def constant_case(name: str) -> str:
    """Return `name` in the form `BLOCK_SENT`."""
    return snake_case(name).upper()


def is_reserved(name: str, scope: Namespace) -> bool:
    """Return whether `name` cannot be used unchanged; a leading underscore is reserved for the generated code."""
    return name in _RESERVED[scope] or name.startswith("_")


def python_name(name: str, scope: Namespace, *, granted: Collection[str] = ()) -> str:
    """Return the Python name of `name`, an ASCII identifier: itself, or with a trailing underscore if it is reserved.

    `granted` are reserved names that this declaration may take, such as `Frame` for the protocol's own frame.
    A leading underscore moves to the end.
    """
    if name in granted or not is_reserved(name, scope):
        return name
    bare = name.lstrip("_")
    return f"{bare}_" if bare[:1].isalpha() else f"unnamed{bare}_"


def python_names(names: Iterable[str], scope: Namespace, *, granted: Collection[str] = ()) -> PythonNames:
    """Return the Python names of one scope; equal `names` are one name, different ones with one result a collision."""
    mapping = {name: python_name(name, scope, granted=granted) for name in names}
    takers: dict[str, list[str]] = {}
    for name, python in mapping.items():
        takers.setdefault(python, []).append(name)
    collisions = (
        Collision(python_name=python, names=tuple(met)) for python, met in takers.items() if len(met) > 1
    )
    return PythonNames(mapping=MappingProxyType(mapping), collisions=tuple(collisions))


def _words(name: str) -> list[str]:
    return [word for part in name.split("_") for word in _WORD.findall(part)]


def is_device(name: str) -> bool:
    """Return whether Windows takes a file of that name for a device, such as `con`."""
    return _DEVICE.fullmatch(name) is not None
