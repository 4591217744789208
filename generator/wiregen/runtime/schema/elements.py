"""Elements of decoded bytes: values of a type, and bytes between them that no type declares."""

from __future__ import annotations

from .node import Node
from .types import Type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = [
    "CompressedBody", "Data", "DelimiterBytes", "Element", "JoinedBody", "PreambleReference", "Skipped", "TrailingBytes", "UnknownMessage",
]  # fmt: skip


class PreambleReference(Node, legacy="preamble"):
    """A whole preamble."""

    name: str


class Data(Node, legacy="data"):
    """The bytes of a value next to its length or delimiter."""


class DelimiterBytes(Node, legacy="delimiter"):
    """A delimiter."""


class TrailingBytes(Node, legacy="tail"):
    """Bytes that a lenient region has left over."""


class Skipped(Node, legacy="skipped"):
    """An item that was not looked at in detail."""


class UnknownMessage(Node, legacy="unknown"):
    """The bytes of a message whose code is not known."""


class CompressedBody(Node, legacy="compressed"):
    """A compressed stream."""

    algorithm: str


class JoinedBody(Node, legacy="joined"):
    """Joined bytes; `name`: the struct or the join whose pieces they are."""

    name: str


if TYPE_CHECKING:
    Element: TypeAlias = (
        Type | PreambleReference | Data | DelimiterBytes | TrailingBytes | Skipped | UnknownMessage | CompressedBody | JoinedBody
    )  # fmt: skip
else:
    Element = Node
