"""Copies of immutable values with other fields: of nodes and of dataclasses by one function."""

import dataclasses
from typing import TYPE_CHECKING

from wiregen.runtime.schema.node import Node, fields_of
from wiregen.runtime.schema.node import replace as replace_node

__all__ = ["mapped", "replace"]

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import replace
    from typing import TypeVar

    _Node = TypeVar("_Node", bound=Node)

    def mapped(node: _Node, change: Callable[[Node], Node | None]) -> _Node: ...

else:

    def replace(value, /, **changes):
        """Return a copy of a node or a dataclass with other values of some fields.

        Raises:
            TypeError: The value does not have such a field.
        """
        return (replace_node if isinstance(value, Node) else dataclasses.replace)(value, **changes)

    def mapped(node, change):
        """Return a node with every node in it, itself included, for which `change` returns another one replaced by that."""
        if type(node) is tuple:
            return tuple(mapped(each, change) for each in node)
        if not isinstance(node, Node):
            return node
        other = change(node)
        if other is not None:
            return other
        return replace_node(node, **{name: mapped(getattr(node, name), change) for name in fields_of(node)})
