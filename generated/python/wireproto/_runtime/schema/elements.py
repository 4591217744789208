"""Elements of decoded bytes: values of a type, and bytes between them that no type declares."""

from __future__ import annotations

from .node import Node
from .types import Type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from .literals import Algorithm

__all__ = [
    "CompressedBody", "Data", "DelimiterBytes", "Element", "JoinedBody", "PreambleReference", "Skipped", "TrailingBytes", "UnknownMessage",
]  # fmt: skip


class PreambleReference(Node):
    """A whole preamble."""

    name: str


class Data(Node):
    """The bytes of a value next to its length or delimiter."""


class DelimiterBytes(Node):
    """A delimiter."""


class TrailingBytes(Node):
    """Trailing bytes of a lenient region."""


class Skipped(Node):
    """An item that was not looked at in detail."""


class UnknownMessage(Node):
    """The bytes of a message whose code is not known."""


class CompressedBody(Node):
    """A compressed stream."""

    algorithm: Algorithm


class JoinedBody(Node):
    """Joined bytes; `name`: the struct or the join whose pieces they are."""

    name: str


Element: TypeAlias = (
    Type | PreambleReference | Data | DelimiterBytes | TrailingBytes | Skipped | UnknownMessage | CompressedBody | JoinedBody
)  # fmt: skip
