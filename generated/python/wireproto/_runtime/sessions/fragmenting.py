"""A message that is sent in fragments, made by the rules of a join so that its reader can reassemble them.

The other fields of a fragment are found by trial: of the values in the rule's condition, the first ones
that make it hold and that the sessions allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from ..codec.options import Options
from ..codec.values import is_a, show
from ..records.types import flat_fields
from ..reference.access import attribute, declared_name
from ..reference.explain import explain
from ..schema.declarations import Setting
from ..schema.expressions import Expression, FieldReference
from ..schema.node import nodes_in
from ..schema.protocol import Schema
from ..schema.types import Bits, Boolean, Bytes, EnumReference, FrameReference, Type
from .closures import NOTHING, compile_term
from .names import Kind, MessageWords

__all__ = ["Splitting"]

_MOST_TRIED = 256
"""Combinations of values that are tried for one fragment."""


class Splitting:
    """How frames of one sender are divided; `classes` are those of the package by name."""

    def __init__(self, schema: Schema, classes: Mapping[str, Any], sender: str, context: Any) -> None:
        self._schema = schema
        self._classes = classes
        self._sender = sender
        self._context = context

    def pieces(
        self, frame: object, size: int, encode: Callable[[object], bytes], allows: Callable[[object], bool]
    ) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """Yield the fragments of a frame, each with the items that the sessions see; the frame itself if it
        is small enough or not divisible.

        `size`: bytes of the divided data in one fragment. `allows`: returns whether the sessions accept a
        fragment now.

        Raises:
            ValueError: The size is not an integer from 1 on, or no values make a fragment of the join.
        """
        if not is_a(size, int) or size < 1:
            raise ValueError(
                f"split takes an integer from 1 on, as a fragment has at least one byte, not {show(size)}"
            )
        found = self._divided(frame, encode)
        if found is None or len(found[2]) <= size:
            yield frame, (frame,)
            return
        name, make, data = found
        join = self._schema.joins[name]
        for start in range(0, len(data), size):
            is_last = start + size >= len(data)
            settings = join.lasts if is_last else join.parts
            is_block_whole = is_last and join.type is None
            passes = (lambda each: True) if is_block_whole else allows
            piece = self._first_allowed(make(data[start : start + size], settings), settings, passes, name)
            # The last fragment of a block completes its frame; a reassembled frame comes after its last fragment.
            is_joined = is_last and isinstance(join.type, FrameReference)
            yield piece, (frame,) if is_block_whole else (piece, frame) if is_joined else (piece,)

    # ---- divided frames

    def _divided(
        self, frame: Any, encode: Callable[[object], bytes]
    ) -> tuple[str, Callable[[bytes, tuple[Setting, ...]], object], bytes] | None:
        """Return the join that divides a frame, a function that makes a fragment, and the bytes to be divided."""
        for name, join in self._schema.joins.items():
            if join.block is not None and join.block[0] == declared_name(frame):
                return name, self._block_maker(name, frame), self._block(join.block[1], encode(frame))
            if isinstance(join.type, FrameReference) and declared_name(frame) == join.type.name:
                return name, self._message_maker(frame), encode(frame)
            for last in join.lasts if isinstance(join.type, Bytes) else ():
                if declared_name(frame.message) == last.target:
                    data = attribute(frame.message, last.field, last.field)
                    return name, self._message_maker(frame), data
        return None

    def _block(self, field: str, data: bytes) -> bytes:
        """Return the bytes of a block of a frame."""
        options = Options(self._sender, context=self._context)
        node = explain(self._schema, data, 0, len(data), options)
        block = next(each for each in node.walk() if each.name == field and not each.inner)
        inside = next((each for each in block.children if each.name == "body"), block)
        return data[inside.start : inside.end]

    def _block_maker(self, name: str, frame: Any) -> Callable[[bytes, tuple[Setting, ...]], object]:
        piece = self._classes[name]
        return lambda chunk, settings: frame.replace(message=piece(chunk))

    def _message_maker(self, frame: Any) -> Callable[[bytes, tuple[Setting, ...]], object]:
        """Return a function that makes a frame around a message of the join; fields of the same name keep
        their values.
        """

        def make(chunk: bytes, settings: tuple[Setting, ...]) -> Any:
            target, field = settings[0].target, settings[0].field
            fields = flat_fields(self._schema.messages[target].fields)
            given = {
                each.name: getattr(frame.message, each.name, 0)
                for each in fields
                if not each.is_hidden and each.name != field
            }
            return frame.replace(message=self._classes[target](**given, **{field: chunk}))

        return make

    # ---- the other fields of a fragment

    def _first_allowed(
        self, frame: object, settings: tuple[Setting, ...], allows: Callable[[object], bool], name: str
    ) -> object:
        first = None
        for candidate in self._candidates(frame, settings):
            if self._holds(candidate, settings):
                if allows(candidate):
                    return candidate
                first = first or candidate
        if first is None:
            raise ValueError(f"no message can carry a fragment of {name}")
        return first

    def _candidates(self, frame: Any, settings: tuple[Setting, ...]) -> Iterator[Any]:
        """Yield the frame with all values of the fields in the conditions, its own values first."""
        kind = Kind(self._schema, frame, frame.message)
        named = [path[0] for each in settings for path in _fields(each.when) if len(path) == 1]
        own = {field: self._values(kind.fields[field].type) for field in named if field in kind.fields}
        header = {
            field: self._values(kind.frame_fields[field].type)
            for field in named
            if field not in own and field in kind.frame_fields
        }
        yield frame
        choices = product(*own.values(), *header.values())
        for _, values in zip(range(_MOST_TRIED), choices, strict=False):
            message = frame.message
            if own:
                message = message.replace(**dict(zip(own, values, strict=False)))
            yield frame.replace(message=message, **dict(zip(header, values[len(own) :], strict=True)))

    def _values(self, type_: Type) -> list[object]:
        """Return the values of a type that are worth trying."""
        match type_:
            case EnumReference(name):
                enum = self._classes[name]
                return [enum(member.value) for member in self._schema.enums[name].members]
            case Boolean() | Bits(1):
                return [False, True]
            case _:
                return [0, 1]

    def _holds(self, frame: Any, settings: tuple[Setting, ...]) -> bool:
        words = MessageWords(Kind(self._schema, frame, frame.message), {})
        for setting in settings:
            when = setting.when
            try:
                if when is None or compile_term(when, words)(frame.message, frame, [], None):
                    return True
            except NOTHING:
                continue
        return False


def _fields(expression: Expression | None) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the fields that an expression names."""
    return (node.path for node in nodes_in(expression) if isinstance(node, FieldReference))
