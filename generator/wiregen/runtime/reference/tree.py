"""The results of the reference decoder: values without generated classes, and the tree of the spans of their bytes.

The leaves of a tree tile its frame: every byte is in exactly one of them. Nodes of inflated or reassembled
bytes are `inner`; their offsets count from the start of those bytes, and they are below the leaf with the
original bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias
from uuid import UUID

from ..codec.fragment import Part
from ..codec.unknown import Unknown
from ..codec.values import show
from ..schema.elements import Element

__all__ = [
    "MOST_SHOWN", "Cut", "FrameValue", "Node", "Record", "Unknown", "Value", "Variety",
]  # fmt: skip


class _Fields:
    """Fields by name, as items of `fields` or as attributes."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: dict[str, Value]) -> None:
        self.name = name
        self.fields = fields

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or name in type(self).__slots__ or name in _Fields.__slots__:
            raise AttributeError(name)
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(f"{self.name} has no field {name}") from None

    def _key(self) -> tuple[object, ...]:
        return (self.name, self.fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Fields) and type(other) is type(self) and other._key() == self._key()

    __hash__ = None  # type: ignore[assignment]


MOST_SHOWN = 256
"""Items of all lists together in an error's `partial`, each counted before those inside it."""


class Cut(list):  # type: ignore[type-arg]
    """The shown values of a list; values after them would leave a gap."""


class Record(_Fields):
    """A struct, message or preamble.

    Attributes:
        absent: The number of absent trailing fields (`?=`); `fields` holds their defaults.
        tail: The trailing bytes of its region, where they are tolerated.
    """

    __slots__ = ("absent", "tail")

    def __init__(self, name: str, fields: dict[str, Value], *, absent: int = 0, tail: bytes = b"") -> None:
        super().__init__(name, fields)
        self.absent = absent
        self.tail = tail

    def _key(self) -> tuple[object, ...]:
        return (self.name, self.fields, self.absent, self.tail)

    def __repr__(self) -> str:
        return f"Record({self.name}, {len(self.fields)} fields)"


class Variety(_Fields):
    """An alternative of a union; a lone shape is its field `value`."""

    __slots__ = ("absent", "code", "tail", "union")

    def __init__(self, union: str, name: str, fields: dict[str, Value], code: int) -> None:
        super().__init__(name, fields)
        self.union = union
        self.code = code
        self.absent = 0
        self.tail = b""

    def _key(self) -> tuple[object, ...]:
        return (self.union, self.name, self.fields, self.code, self.tail)

    def __repr__(self) -> str:
        return f"Variety({self.union}.{self.name}, code {self.code})"


class FrameValue(_Fields):
    """A frame: `fields` is its header without derived fields, `message` the message that it carries.

    Attributes:
        body: The name of the message's field in the .wire file, or None without a message.
        part: The fragment that the frame carries, or None. It is not compared as a part of the value.
        made: The frame as compiled code has read it, in place of the message and the fields next to it.
    """

    __slots__ = ("absent", "body", "made", "message", "part", "tail")

    def __init__(
        self, name: str, fields: dict[str, Value], message: Value = None, *, body: str | None = None
    ) -> None:
        super().__init__(name, fields)
        self.message: Any = message
        self.body = body
        self.absent = 0
        self.tail = b""
        self.part: Part | None = None
        self.made: Any = None

    @property
    def header(self) -> dict[str, Value]:
        return self.fields

    def _key(self) -> tuple[object, ...]:
        return (self.name, self.fields, self.message, self.absent, self.tail)

    def __repr__(self) -> str:
        return f"FrameValue({self.name}, {show(self.message)})"


# Any replaces the items of a list: the recursion would add no information, and mypy would require it
# everywhere.
Plain: TypeAlias = bool | int | float | str | bytes | UUID
Value: TypeAlias = None | Plain | list[Any] | Record | Variety | FrameValue | Unknown


class Node:
    """A field, an item, a prefix or a padding, and its span.

    Attributes:
        name: The field's name, `[3]` for an item, else its kind: `length`, `count`, `code`, `delimiter`, `body`, `tail`.
        path: As in an error.
        type: The type in the schema, or an element between values.
        start, end: Offsets in the outer stream; if `inner`, in the inflated or reassembled bytes.
        value: A Value.
        is_part: It is neither a field nor an item: its name is its kind, and a field may have the same name.
        note: Additional facts: an enum member, `derived`, `default`, a tolerated deviation.
    """

    __slots__ = ("children", "end", "inner", "is_part", "name", "note", "path", "start", "type", "value")

    def __init__(
        self,
        name: str,
        path: str,
        type_: Element,
        start: int,
        end: int,
        value: Value = None,
        children: tuple[Node, ...] = (),
        *,
        inner: bool = False,
        note: str = "",
    ) -> None:
        self.name = name
        self.path = path
        self.type = type_
        self.start = start
        self.end = end
        self.value: Any = value
        self.children = children
        self.inner = inner
        self.is_part = False
        self.note = note

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def part(self) -> str:
        """Return `length`, `count`, `code` and the like; "" for a field or an item, whatever its name."""
        return self.name if self.is_part else ""

    def annotate(self, note: str) -> None:
        """Add to the note."""
        self.note = f"{self.note}, {note}" if self.note else note

    def walk(self) -> Iterator[Node]:
        """Return this node and all below it, in the order of the bytes."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def leaves(self) -> Iterator[Node]:
        """Return the nodes that together hold each byte of this node once."""
        for node in self.walk():
            if node.inner == self.inner and not any(child.inner == self.inner for child in node.children):
                yield node

    def __repr__(self) -> str:
        return f"Node({self.path or self.name}, {self.start}..{self.end}{', inner' if self.inner else ''})"
