"""The common behaviour of all generated classes; differences, and equality for its speed, are written out
in each class.
"""

from __future__ import annotations

from .errors import EncodeError
from .values import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, ClassVar, Self, TypeVar

    from ..schema.protocol import Schema

    Kind = TypeVar("Kind", bound="Record")

__all__ = ["Envelope", "MessageRecord", "Record", "attributes_of", "in_class"]


class Record(Shown):
    """Plain data: `__match_args__` are the constructor's arguments in order, `__slots__` these and the reader's notes."""

    __slots__: ClassVar[tuple[str, ...]] = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    _NAME: ClassVar[str] = ""
    """The declaration's name, if the class has another; an alternative's name after that of its union."""
    _SECRETS: ClassVar[tuple[str, ...]] = ()
    """Attributes that `repr` does not show."""

    def replace(self, **changes: object) -> Self:
        """Return a copy with these attributes changed."""
        arguments = attributes_of(type(self))
        copy = type(self)(**({name: getattr(self, name) for name in arguments} | changes))
        for name in type(self).__slots__:
            if name not in arguments:
                setattr(copy, name, getattr(self, name))
        return copy

    __replace__ = replace

    def _shown(self, spell: Callable[[object], str]) -> Iterator[str]:
        for name in attributes_of(type(self)):
            yield f"{name}={'…' if name in self._SECRETS else spell(getattr(self, name))}"


def attributes_of(class_: type[Record]) -> tuple[str, ...]:
    """Return the constructor's arguments; the code of an alternative with several codes is an argument, but
    not a positional pattern.
    """
    names = class_.__match_args__
    return ("code", *names) if "code" in class_.__slots__ and "code" not in names else names


def in_class(kind: type[Kind], value: object, changes: Mapping[str, object]) -> Kind:
    """Return a value as one of this class, with these attributes changed; it may be of a caller's subclass.

    Raises:
        EncodeError: An attribute cannot be read.
    """
    if type(value) is kind and not changes:
        return value
    record = object.__new__(kind)
    for name in kind.__slots__:
        try:
            attribute = changes[name] if name in changes else getattr(value, name)
        except Exception as error:  # noqa: BLE001 - a property may raise anything
            path, found = (
                f"{kind._NAME or kind.__name__}.{name}",
                f"an attribute that raises {type(error).__name__}",
            )
            raise EncodeError("invalid_value", path=path, expected="a value", found=found) from None
        setattr(record, name, attribute)
    return record


class MessageRecord(Record):
    """A message of a protocol."""

    __slots__ = ()
    _ROLE: ClassVar[Any] = None
    """The sending role, if the other role has another message with this code."""

    @staticmethod
    def _load_plan() -> Schema:
        """Return the protocol's schema."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON data: 64-bit integers as decimal text, bytes as hexadecimal text."""
        from ..records.frames import message_fields

        fields: dict[str, Any] = message_fields(type(self)._load_plan(), self)
        return fields

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Return the message with these fields, as given by `to_dict`; the bounds of numbers are checked
        when it is encoded.

        Raises:
            EncodeError: The fields are not those of the message.
        """
        import sys

        from ..reference.handover import made_of_fields

        namespace = vars(sys.modules[cls.__module__])
        message: Self = made_of_fields(cls._load_plan(), namespace, cls._NAME or cls.__name__, fields)
        return message


class Envelope(Record):
    """A frame around a message."""

    __slots__ = ()

    def _shown(self, spell: Callable[[object], str]) -> Iterator[str]:
        first, *others = super()._shown(spell)
        yield first.removeprefix("message=")
        yield from others
