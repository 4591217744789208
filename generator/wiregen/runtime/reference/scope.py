"""The scope of expressions while a record is read: the fields so far, limits, contexts, positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ..codec.fragment import Part
from ..schema.shapes import is_flat
from ..schema.types import Region, Text
from .expressions import Undefined, checksum
from .tree import FrameValue, Node, Record, Unknown, Value, Variety
from .window import Place, Window

if TYPE_CHECKING:
    from ..schema.declarations import Field
    from .reading.reader import Reader

__all__ = ["ABSENT", "Kind", "RecordScope", "content", "count_of", "descend"]

Kind: TypeAlias = tuple[str] | tuple[str, str | None] | tuple[str, str, int]
ABSENT = "absent"


class RecordScope:
    """A record that is being read; `nodes` holds the fields that its expressions may name, hidden fields
    and blocks too.

    Attributes:
        kind: The kind of the finished record; with the field of a frame that carries its message, or an
            alternative's union and code.
        rules: The rules that its fields name.
        part: The note of a frame that carries a fragment.
        made: The object that compiled code has made of a reassembled frame whose last fragment this is.
        deferred: Checks that look ahead, made when the record is complete, each with the offset at the end
            of its field.
        fixed_offset: The offset that such a check uses, or None while the record is read.
    """

    __slots__ = (
        "_frame", "_reader", "_windows", "absent", "deferred", "fields", "fixed_offset", "kind", "made", "message", "name", "nodes", "part", "place", "rules",
        "tail",
    )  # fmt: skip

    def __init__(self, reader: Reader, name: str, place: Place, kind: Kind = ("record",)) -> None:
        self._reader = reader
        self._frame = reader.frame
        self.name = name
        self.place = place
        self.kind = kind
        self.rules: dict[str, str | None] = {}
        self.fields: dict[str, Value] = {}
        self.nodes: dict[str, Node] = {}
        self._windows: dict[str, Window] = {}  # the windows of the nodes
        self.deferred: list[tuple[Callable[[], None], int]] = []
        self.fixed_offset: int | None = None
        self.message: Value = None
        self.absent = 0
        self.tail = b""
        self.part: Part | None = None
        self.made: Any = None

    def add(self, field: Field, node: Node) -> None:
        """Add a field that was read, or found absent."""
        name, hidden = field.name, field.is_hidden
        self.nodes[name] = node
        self._windows[name] = self._reader.window
        self.rules[name] = field.rule
        if not hidden and not is_flat(node.type):
            self.put(name, node.value)

    def put(self, name: str, value: Value) -> None:
        if self.kind == ("frame", name):
            self.message = value
        else:
            self.fields[name] = value

    def value(self) -> Record | FrameValue | Variety:
        """Return the record as far as it is read."""
        match self.kind:
            case ("frame", body):
                frame = FrameValue(self.name, self.fields, self.message, body=body)
                frame.absent, frame.tail, frame.part = self.absent, self.tail, self.part
                frame.made = self.made
                if self.part is not None and self.part.last:
                    self.part.joined = self.message
                return frame
            case ("variety", union, code):
                variety = Variety(union, self.name, self.fields, code)
                variety.absent, variety.tail = self.absent, self.tail
                return variety
            case _:
                return Record(self.name, self.fields, absent=self.absent, tail=self.tail)

    # -- values for expressions -------------------------------------------------------------------------------------

    def field(self, path: tuple[str, ...], scope: str) -> Value:
        if scope == "item":
            item = self._reader.item
            if item is None:
                raise Undefined("item")
            node = descend(item, path)
        else:
            node = self._node(path, scope)
        value: Value = node.value
        return value

    def about_item(self, function: str, path: tuple[str, ...]) -> Value:
        """Return the result of a function of a field of the last item."""
        item = self._reader.item
        if item is None:
            raise Undefined("item")
        node = descend(item, path)
        match function:
            case "size":
                return node.size
            case "count":
                return 0 if node.note == ABSENT and node.value is None else count_of(node)
            case "code":
                return self._code_of(node)
            case _:
                return node.note != ABSENT

    def limit(self, name: str) -> int:
        value = self._reader.layout.limits.get(name)
        if value is None:
            raise Undefined("limit", name)
        return value

    def context(self, name: str, keys: tuple[Value, ...]) -> Value:
        source = self._reader.options.context
        try:
            if source is None:
                raise KeyError(name)
            value: Value = source.lookup(name, keys, self._reader.sender)
        except KeyError:
            raise Undefined("context", name) from None
        return value

    def variable(self, name: str) -> Value:
        if name == "sender":
            return self._reader.sender
        raise Undefined("variable", name)

    def remaining(self) -> int:
        window = self._reader.window
        if window.end is None:
            raise Undefined("remaining")
        return window.end - window.position

    def offset(self) -> int:
        if self.fixed_offset is not None:
            return self.fixed_offset
        window = self._reader.window
        return window.position - window.frame_start

    def size(self, path: tuple[str, ...]) -> int:
        return self._node(path, "own").size

    def count(self, path: tuple[str, ...]) -> int | None:
        node = self._node(path, "own")
        return 0 if node.note == ABSENT and node.value is None else count_of(node)

    def present(self, path: tuple[str, ...]) -> bool:
        return self._node(path, "own").note != ABSENT

    def code(self, path: tuple[str, ...]) -> int:
        return self._code_of(self._node(path, "own"))

    def _code_of(self, node: Node) -> int:
        value = node.value
        if isinstance(value, Unknown | Variety) and value.code is not None:
            return value.code
        if isinstance(value, Record):
            code = self._reader.code_of(value.name)
            if code is not None:
                return code
        raise Undefined("code", node.name)

    def checksum(self, algorithm: str, first: str, last: str) -> int:
        start, end = self._node((first,), "own").start, self._node((last,), "own").end
        window = self._windows[first]
        return checksum(algorithm, bytes(window.data[start - window.base : end - window.base]))

    def _node(self, path: tuple[str, ...], scope: str) -> Node:
        owner = self if scope != "frame" or self.kind[0] == "frame" else self._frame
        if owner is None or not path or path[0] not in owner.nodes:
            raise Undefined("field", ".".join(path))
        return descend(owner.nodes[path[0]], path[1:])


def descend(node: Node, path: tuple[str, ...]) -> Node:
    """Return the node of a field of a field.

    Raises:
        Undefined: The field is missing.
    """
    for name in path:
        found = next((child for child in _fields_below(node) if child.name == name), None)
        if found is None:
            raise Undefined("field", name)
        node = found
    return node


def _fields_below(node: Node) -> list[Node]:
    fields: list[Node] = []
    for child in content(node).children:
        fields.append(child)
        if is_flat(child.type):
            fields.extend(_fields_below(child))
    return fields


def content(node: Node) -> Node:
    """Return the node of the content of a region, or the node itself."""
    inside = (grandchild for child in node.children if child.name == "body" for grandchild in child.children)
    if not isinstance(node.type, Region):
        return node
    found = next((child for child in (*node.children, *inside) if child.name == "content"), None)
    return node if found is None else content(found)


def count_of(node: Node) -> int | None:
    """Return the length without prefix in bytes, in utf16 units of two bytes, or in items; it is None for a null."""
    inside = content(node)
    if inside.value is None:
        return None
    if isinstance(inside.value, list):
        n_items = sum(child.name.startswith("[") for child in inside.children)
        return n_items or len(inside.value)  # a skimmed item has no value, and a default has no nodes
    data = next((child for child in inside.children if child.name == "data"), inside)
    is_utf16 = isinstance(inside.type, Text) and inside.type.encoding == "utf16"
    return data.size // 2 if is_utf16 else data.size
