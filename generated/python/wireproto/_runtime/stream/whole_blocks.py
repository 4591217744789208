"""Fragments of a block, put into the last one's frame as if it had come whole, for compiled code.

Compiled code is a hundred times as fast as the reference codec, and frames that it refuses do not conform:
the search for the error is bounded.
"""

from __future__ import annotations

from typing import NamedTuple

from ..codec.compiled import BRIEF, READ_FAULTS, release
from ..reference.layout import Layout
from ..schema.declarations import Derived
from ..schema.expressions import Call, Checksum, FieldReference, Position
from ..schema.node import nodes_in
from ..schema.types import FrameReference, InSize, Integer, Prefix, Region

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..codec.compiled import ReadState
    from ..reference.reading.reader import Reader, Skimming
    from ..reference.scope import RecordScope
    from ..reference.tree import Node
    from ..schema.declarations import Field
    from ..schema.protocol import Schema

__all__ = ["CompiledFrames", "Splice", "splice_of", "spliced"]


class Splice(NamedTuple):
    """The place of the size of a frame's divided block.

    Attributes:
        size: The number.
        name: The field that is derived from the size, or None if the number is the block's prefix.
        nests: The block may hold frames, which have a limit of their own.
    """

    size: Integer
    name: str | None
    nests: bool


class CompiledFrames:
    """The compiled reader of frames. `is_complete`: frames that it refuses do not conform, except fragments."""

    __slots__ = ("_is_complete", "_read", "_state")

    def __init__(self, read: Skimming, state: ReadState | None, *, is_complete: bool) -> None:
        self._read = read
        self._state = state
        self._is_complete = is_complete

    def made(self, reader: Reader, data: bytes, splice: Splice) -> Any:
        """Return the frame in `data`, or None if compiled code refuses it or cannot read it."""
        state, most = self._state, reader.layout.frame
        if len(data) > most and (state is None or splice.nests):
            return None  # the limit of a frame holds for each received frame, not for the reassembled one
        if state is not None:
            state.begin()
            state.frame = max(most, len(data))
        try:
            frame, end = self._read(data, 0, len(data), state)
            if end == len(data):
                return frame
        except READ_FAULTS as error:
            release(error)
        finally:
            if state is not None:
                state.frame = most
        if self._is_complete and not (BRIEF.has_inflated and BRIEF.inflated_left is not None):
            reader.is_faulty = True
        return None


def spliced(
    reader: Reader, record: RecordScope, field: Field, node: Node, inside: Node, pieces: Sequence[bytes]
) -> object:
    """Return the frame that compiled code reads from all fragments, or None if the reference codec must read it.

    `node`, `inside`: the block of the last fragment, and its content.
    """
    compiled = reader.compiled
    splice = None if compiled is None else _known_splice(reader, record.name, field)
    if compiled is None or splice is None:
        return None
    window, form = reader.window, splice.size
    head = bytearray(window.data[window.frame_start : inside.start - window.base])
    number = node.children[0] if splice.name is None else record.nodes[splice.name]
    at = number.start - window.base - window.frame_start
    try:
        size = form.encode(sum(map(len, pieces)))
    except OverflowError:
        return None
    head[at : at + form.size] = size
    return compiled.made(reader, b"".join((head, *pieces)), splice)


_KNOWN: dict[tuple[int, str | None, str], tuple[Schema, Splice | None]] = {}
"""Splices by the identity of the schema, which the entry keeps alive; a hash would read the whole schema."""
_MOST_KNOWN = 64


def _known_splice(reader: Reader, frame: str, block: Field) -> Splice | None:
    """Return the splice of a frame, searched once, as that examines the whole schema."""
    schema = reader.layout.schema
    key = (id(schema), reader.options.variant, frame)
    known = _KNOWN.get(key)
    if known is None or known[0] is not schema:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[key] = (schema, splice_of(reader.layout, frame, block))
    return known[1]


def splice_of(layout: Layout, frame: str, block: Field) -> Splice | None:
    """Return the place of the size of a frame's block, or None if other parts of the frame depend on
    whether it came whole.
    """
    fields = layout.frames[frame].fields
    if fields[-1] != block or block.condition is not None or not isinstance(block.type, Region):
        return None
    size, name = _size(fields, block, block.type.carrier)
    schema = layout.schema
    inside = (schema.structs, schema.messages, schema.unions, schema.variants)
    is_plain = not any(_depends(node, name, block.name) for node in nodes_in(inside))
    n_depending = sum(_depends(node, name, block.name, is_own=True) for node in nodes_in(fields))
    if size is None or not is_plain or n_depending != (0 if name is None else 2):
        return None
    return Splice(size, name, any(isinstance(node, FrameReference) for node in nodes_in((fields, inside))))


def _size(fields: tuple[Field, ...], block: Field, carrier: object) -> tuple[Integer | None, str | None]:
    """Return the number that is the size of the block, and the name of its field, if it is one."""
    match carrier:
        case Prefix(Integer() as size):
            return size, None
        case InSize(FieldReference((name,), "own")):
            measured = Call("size", (FieldReference((block.name,)),))
            field = next((each for each in fields if each.name == name), None)
            if field is None or field.condition is not None or not isinstance(field.type, Integer):
                return None, None
            value = field.value
            is_measured = isinstance(value, Derived) and value.value == measured
            return (field.type, name) if is_measured and field.where is None else (None, None)
        case _:
            return None, None


def _depends(node: object, size: str | None, block: str, *, is_own: bool = False) -> bool:
    """Return whether an expression has another value in the last fragment than in the whole frame."""
    match node:
        case Position(what):
            return is_own or what == "offset"
        case Checksum():
            return is_own
        case FieldReference(path, scope) if path and (is_own or scope == "frame"):
            return path[0] in (size, block)
        case _:
            return False
