"""Copies of immutable values with other fields: of nodes and of dataclasses by one function."""

import dataclasses
from typing import TYPE_CHECKING

from wiregen.runtime.schema.node import Node
from wiregen.runtime.schema.node import replace as replace_node

__all__ = ["replace"]

if TYPE_CHECKING:
    from dataclasses import replace
else:

    def replace(value, /, **changes):
        """Return a copy of a node or a dataclass with other values of some fields.

        Raises:
            TypeError: The value does not have such a field.
        """
        return (replace_node if isinstance(value, Node) else dataclasses.replace)(value, **changes)
