"""Reading values from callers: tree values and objects of generated classes alike.

Values are not trusted:

- types are asked of the class and never of the value;
- subclasses of int, str and list are treated as their base classes;
- an attribute that raises is an EncodeError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import index
from typing import Any, Final
from uuid import UUID

from ..codec.errors import EncodeError
from ..codec.values import is_a
from .tree import FrameValue, Record, Unknown, Variety

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expressions import Value

__all__ = [
    "MISSING", "as_bytes", "as_float", "as_int", "as_items", "as_str", "as_uuid", "attribute", "declared_name",
    "extra", "is_a", "is_named", "keeps_tail", "kind_of", "spellings", "unknown_of",
]  # fmt: skip

MISSING: Final = object()
"""The result of `attribute` for a field that is not given."""

_EXTRAS: Final = ("absent", "code", "message", "tail")


def kind_of(value: object) -> str:
    """Return the kind of a value for an error message: never its content."""
    if value is None or value is MISSING:
        return "nothing"
    return declared_name(value)[:64]


def _wrong(path: str, expected: str, value: object) -> EncodeError:
    return EncodeError("invalid_value", path=path, expected=expected, found=kind_of(value))


# ---- plain values ----


def as_int(value: object, path: str) -> int:
    """Return an integer, or the result of `__index__`, which straight-line code accepts too."""
    if is_a(value, int):
        return int.__int__(value)  # type: ignore[arg-type]
    try:
        return index(value)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - a method may raise anything
        raise _wrong(path, "an integer", value) from None


def as_float(value: object, path: str) -> float:
    """Return a float, or the result of `__float__` or `__index__`."""
    if is_a(value, float):
        return float.__float__(value)  # type: ignore[arg-type]
    if not hasattr(type(value), "__float__"):
        value = as_int(value, path)
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise EncodeError("invalid_value", path=path, expected="a float", found="a larger number") from None
    except Exception:  # noqa: BLE001 - a method may raise anything
        raise _wrong(path, "a float", value) from None


def as_str(value: object, path: str) -> str:
    if not is_a(value, str):
        raise _wrong(path, "text", value)
    return str.__str__(value)


def as_bytes(value: object, path: str) -> bytes:
    if type(value) is bytes:
        return value
    if not is_a(value, bytes, bytearray, memoryview):
        raise _wrong(path, "bytes", value)
    try:
        return memoryview(value).tobytes()  # type: ignore[arg-type]
    except (ValueError, TypeError, BufferError):
        raise EncodeError("invalid_value", path=path, expected="bytes", found="a released buffer") from None


def as_uuid(value: object, path: str) -> bytes:
    """Return the 16 bytes of a UUID."""
    if not is_a(value, UUID):
        raise _wrong(path, "a UUID", value)
    try:
        return as_int(UUID.__dict__["int"].__get__(value), path).to_bytes(16, "big")
    except (AttributeError, OverflowError):
        raise _wrong(path, "a UUID of 128 bits", value) from None


def as_items(value: object, path: str) -> tuple[object, ...]:
    if is_a(value, list):
        return tuple(list.__iter__(value))  # type: ignore[arg-type]
    if is_a(value, tuple):
        return tuple(tuple.__iter__(value))  # type: ignore[arg-type]
    raise _wrong(path, "a list", value)


# ---- records ----


def declared_name(value: object) -> str:
    """Return the name of a value's declaration, `Union.Alternative` of an alternative; a class with another name holds it."""
    if is_a(value, Record, Variety, FrameValue):
        names = (value.union, value.name) if is_a(value, Variety) else (value.name,)  # type: ignore[attr-defined]
        return ".".join(names) if all(type(name) is str for name in names) else "?"
    class_: Any = type(value)
    return _known_class_name(class_) if type(class_) is type else _class_name(class_)


def _class_name(class_: type) -> str:
    """Return the name of a generated class, that of a caller's subclass too, which has no fields of its own."""
    declared = next((base for base in class_.__mro__ if "__match_args__" in base.__dict__), class_)
    own = next((base.__dict__["_NAME"] for base in declared.__mro__ if "_NAME" in base.__dict__), "")
    return own if type(own) is str and own else declared.__name__


_known_class_name = lru_cache(4096)(_class_name)


def is_named(value: object, name: str) -> bool:
    return declared_name(value) == name


def attribute(value: object, name: str, path: str) -> Value:
    """Return the attribute of a record, or MISSING.

    Raises:
        EncodeError: The attribute exists but cannot be read.
    """
    if is_a(value, Record, Variety, FrameValue):
        fields = value.fields  # type: ignore[attr-defined]
        if type(fields) is not dict:
            raise _wrong(path, "fields by name", fields)
        return fields.get(name, MISSING)
    return _guarded(value, spellings(type(value), name), path)


def spellings(class_: Any, name: str) -> tuple[str, ...]:
    """Return the attributes of a class that may be the field of that name, the most likely first."""
    # A class of a metaclass may raise where a cache asks for its hash.
    return _known_spellings(class_, name) if type(class_) is type else _spellings(class_, name)


def _spellings(class_: type, name: str) -> tuple[str, ...]:
    """Return the spellings; if the class has slots, only those that are slots.

    A reserved name (`encode`, `_mark`) has its underscore after it, in the slots too. Of a frame's
    `message` and `message_`, the second is the field.
    """
    bare = name.lstrip("_")
    spelled = f"{bare}_" if bare[:1].isalpha() else f"unnamed{bare}_"
    candidates = (spelled, name) if name in _EXTRAS else (name, spelled)
    slots = _slots(class_)
    return tuple(each for each in candidates if each in slots) if slots else candidates


_known_spellings = lru_cache(4096)(_spellings)


def _guarded(value: object, candidates: Iterable[str], path: str) -> Value:
    """Return the first existing attribute, or MISSING."""
    for candidate in candidates:
        try:
            return getattr(value, candidate)
        except AttributeError:
            continue
        except Exception as error:  # noqa: BLE001 - a property may raise anything
            found = f"an attribute that raises {type(error).__name__}"
            raise EncodeError("invalid_value", path=path, expected="a value", found=found) from None
    return MISSING


def extra(value: object, name: str, default: object, path: str) -> Value:
    """Return `absent`, `tail`, `code` or `message`: the data of a record in addition to its fields."""
    if is_a(value, Record, Variety, FrameValue):
        return object.__getattribute__(value, name) if name in _slots(type(value)) else default
    found = _guarded(value, (name,), path)
    return default if found is MISSING else found


def keeps_tail(value: object) -> bool:
    """Return whether a value is a record that keeps the trailing bytes of a lenient region."""
    return "tail" in _slots(type(value))


def _slots(class_: type) -> set[str]:
    found: set[str] = set()
    for base in class_.__mro__:
        slots = base.__dict__.get("__slots__", ())
        found.update((slots,) if isinstance(slots, str) else slots)
    return found


def unknown_of(value: object, messages: Mapping[str, object], path: str) -> Unknown | None:
    """Return a message of unknown layout as one of the tree, or None if the value is not one."""
    if is_a(value, Unknown):
        code = None if value.code is None else as_int(value.code, path)  # type: ignore[attr-defined]
        return Unknown(code, as_bytes(value.data, path))  # type: ignore[attr-defined]
    if type(value).__name__ != "Unknown" or "Unknown" in messages:
        return None
    code = _guarded(value, ("code",), path)
    return Unknown(
        None if code is None else as_int(code, path), as_bytes(_guarded(value, ("data",), path), path)
    )
