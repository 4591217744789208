"""The base of all nodes: named fields, immutable, hashable, equal only to nodes of their own class."""

from __future__ import annotations

from operator import itemgetter

try:  # as `collections.namedtuple` does, for the speed
    from _collections import _tuplegetter as _getter  # type: ignore[import-not-found]
except ImportError:

    def _getter(index: int, _: None) -> property:
        return property(itemgetter(index))


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, dataclass_transform
else:

    def dataclass_transform(**_: object):
        return lambda cls: cls


__all__ = ["Node", "fields_of", "inner_nodes", "nodes_in", "replace"]


@dataclass_transform(frozen_default=True)
class NodeType(type):
    """Makes the class of a node from its annotations, as `dataclasses` does, in a fiftieth of the time."""

    _fields: tuple[str, ...]
    _defaults: dict[str, object]

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> NodeType:
        above = next((base for base in bases if isinstance(base, NodeType)), None)
        inherited = () if above is None else above._fields
        own = tuple(name for name in namespace.get("__annotations__", ()) if name not in inherited)
        defaults = {field: namespace.pop(field) for field in own if field in namespace}
        namespace["_defaults"] = defaults if above is None else {**above._defaults, **defaults}
        namespace["_fields"] = namespace["__match_args__"] = (*inherited, *own)
        namespace["__slots__"] = ()
        for index, field in enumerate(own, len(inherited) + 1):
            namespace[field] = _getter(index, None)
        return super().__new__(cls, name, bases, namespace)


if TYPE_CHECKING:

    class Node(metaclass=NodeType):
        """One element of a schema."""

else:

    class Node(tuple, metaclass=NodeType):
        """One element of a schema.

        At heart a tuple of its class and its values, so that it compares and hashes in C, with nodes of its
        own class only. The tuple is an implementation detail: a node has no length, no items and no order.
        """

        def __new__(cls, *values, **named):
            fields = cls._fields[len(values) :]
            if len(values) > len(cls._fields) or not named.keys() <= set(fields):
                raise TypeError(f"{cls.__name__} has the fields {', '.join(cls._fields)}")
            try:
                rest = [named[each] if each in named else cls._defaults[each] for each in fields]
            except KeyError as missing:
                raise TypeError(f"{cls.__name__} lacks its field {missing}") from None
            return tuple.__new__(cls, (cls, *values, *rest))

        def __getnewargs__(self):
            return tuple(getattr(self, name) for name in self._fields)

        def __repr__(self):
            shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
            return f"{type(self).__name__}({shown})"

        def __bool__(self):
            return True

        __getitem__ = __iter__ = __len__ = __contains__ = __reversed__ = None
        __add__ = __mul__ = __rmul__ = __lt__ = __le__ = __gt__ = __ge__ = count = index = None


def fields_of(node: Node) -> tuple[str, ...]:
    """Return the names of a node's fields in their order."""
    return type(node)._fields


def inner_nodes(node: Node) -> Iterator[Node]:
    """Yield the nodes directly below a node, in the order of its fields."""
    for name in fields_of(node):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif type(value) is tuple:
            yield from (each for each in value if isinstance(each, Node))


def nodes_in(part: object) -> Iterator[Node]:
    """Yield all nodes of a schema's part, each before those below it."""
    if isinstance(part, Node):
        yield part
        for name in fields_of(part):
            yield from nodes_in(getattr(part, name))
    elif isinstance(part, tuple):
        for each in part:
            yield from nodes_in(each)
    elif isinstance(part, dict):
        for each in part.values():
            yield from nodes_in(each)


if TYPE_CHECKING:
    from dataclasses import replace  # type checkers know the fields of a node as those of a dataclass
else:

    def replace(node, /, **changes):
        """Return a copy of a node with other values of some fields.

        Raises:
            TypeError: The node does not have such a field.
        """
        return type(node)(**{**{name: getattr(node, name) for name in fields_of(node)}, **changes})
