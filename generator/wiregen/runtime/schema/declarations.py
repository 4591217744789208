"""Declarations of a schema: the named parts of a `.wire` file, apart from sessions."""

from __future__ import annotations

from .expressions import Call, Expression
from .node import Node
from .types import Bytes, FrameReference, Integer, Span, Type, Varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from .types import View

__all__ = [
    "Clearing", "Coding", "Condition", "Constant", "Context", "Default", "DefaultOf", "Derived", "Enum", "Field", "FieldValue", "Frame", "Join", "Member", "Message",
    "Preamble", "Setting", "Trailing", "Union", "Variety", "Width", "is_code",
]  # fmt: skip


# ---- fields


class DefaultOf(Node):
    """The default that a field of a frame has with one message."""

    message: str
    value: Expression


class Default(Node):
    """A value that need not be given; `others`: of a field of a frame, the defaults with some messages."""

    value: Expression
    others: tuple[DefaultOf, ...] = ()


class Derived(Node):
    """Computed on writing and compared on reading; lenient: any value is accepted on reading."""

    value: Expression
    is_lenient: bool


class Constant(Node):
    """Written, and compared on reading."""

    value: Expression


class Trailing(Node):
    """Read if there are bytes for it (or if the field's condition holds), else this value."""

    value: Expression


class Condition(Node):
    """The text of a condition in the `.wire` file, and the rule that it belongs to; None: the field's."""

    text: str
    rule: str | None


class Field(Node):
    """A field in wire order.

    `is_hidden`: it is not part of the message as users see it, since it is derived, constant or has no name (`_`).
    `condition`: whether the field is there. `where`: the condition on its value; conditions with rules of their own are
    joined by `and`, and `where_text` then holds text and rule of each. `path`: declaration and name, by which the compiler
    finds documentation and positions; empty in a generated package, as is `view`, which a schema keeps by name.
    """

    name: str
    is_hidden: bool
    type: Type
    value: FieldValue | None
    condition: Expression | None
    where: Expression | None
    where_text: str | tuple[Condition, ...]
    rule: str | None = None
    is_secret: bool = False
    view: View | None = None
    path: str = ""


# ---- named types


class Member(Node):
    """A number of an enum and its name."""

    value: int
    name: str


class Enum(Node):
    """Numbers with names; `is_open`: other numbers are accepted."""

    type: Integer | Varint
    is_open: bool
    members: tuple[Member, ...]


class Width(Node):
    """First numbers of a variable-width integer: the value itself (`wide` None), the type of the value after it, or null."""

    low: int
    high: int
    wide: Integer | None
    is_null: bool


class Coding(Node):
    """A variable-width integer."""

    type: Integer
    widths: tuple[Width, ...]


class Variety(Node):
    """One alternative of a union; `is_lone`: its only field is `value`."""

    spans: tuple[Span, ...]
    name: str
    fields: tuple[Field, ...]
    is_lone: bool


class Union(Node):
    """One of several alternatives, chosen by a code; `is_raw`: users see the value of an alternative without its class."""

    type: Integer | Varint
    varieties: tuple[Variety, ...]
    is_raw: bool


# ---- messages and frames


class Message(Node):
    """`code` None: only arms name the message. `role`: the role that may send it, None: both."""

    code: int | None
    role: str | None
    fields: tuple[Field, ...]


class Frame(Node):
    """A direction of a connection is a sequence of frames; `message`: the field that carries the message."""

    role: str | None
    fields: tuple[Field, ...]
    message: str | None


class Preamble(Node):
    """The bytes that a role sends once, before its first frame."""

    role: str
    fields: tuple[Field, ...]


# ---- declarations on which later frames depend


class Setting(Node):
    """An entry takes the value of a field of `target`, when the condition holds."""

    target: str
    field: str
    when: Expression | None


class Clearing(Node):
    """Messages that end an entry, when the condition holds."""

    targets: tuple[str, ...]
    when: Expression | None


class Context(Node):
    """Values that earlier messages set and later layouts use; `role`: whose messages set it, None: each direction its own."""

    type: Type
    keys: tuple[str, ...]
    role: str | None
    settings: tuple[Setting, ...]
    clearings: tuple[Clearing, ...]


class Join(Node):
    """One value reassembled from several frames; `block`: frame and field of the block that it fills, where `type` is None."""

    type: Bytes | FrameReference | None
    block: tuple[str, str] | None
    keys: tuple[str, ...]
    parts: tuple[Setting, ...]
    lasts: tuple[Setting, ...]
    clearings: tuple[Clearing, ...]


def is_code(field: Field) -> bool:
    """Return whether a field is derived from the code of the message."""
    value = field.value.value if isinstance(field.value, Derived) else None
    return isinstance(value, Call) and value.function == "code"


FieldValue: TypeAlias = Default | Derived | Constant | Trailing
