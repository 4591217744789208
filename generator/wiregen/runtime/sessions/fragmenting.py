"""A message that is sent in fragments, made by the rules of a join so that its reader can reassemble them.

The other fields of a fragment are found by trial: of the values in the rule's condition, the first ones
that make it hold and that the sessions allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, islice, product, takewhile
from typing import Any

from ..codec.fragment import Part, part_of
from ..codec.options import Options
from ..codec.values import is_a, show
from ..records.types import flat_fields
from ..reference.access import attribute, declared_name
from ..reference.explain import explain
from ..reference.scope import content
from ..schema.declarations import Join, Setting
from ..schema.expressions import Expression, FieldReference
from ..schema.node import nodes_in
from ..schema.protocol import Schema
from ..schema.types import Bits, Boolean, Bytes, EnumReference, FrameReference, Type
from .closures import NOTHING, compile_term
from .names import Kind, MessageWords

__all__ = ["Splitting"]

_Make = Callable[[bytes, tuple[Setting, ...]], Any]
_MOST_TRIED = 256
"""Combinations of values that are tried for one fragment."""


class _Divided:
    """How a frame is divided.

    Attributes:
        join: The name of the join.
        make: Returns a frame that carries a fragment, from its bytes and the settings of the join that it may have.
        data: The bytes to be divided.
        header: The fields before a block, which a fragment does not determine.
    """

    __slots__ = ("data", "header", "join", "make")

    def __init__(
        self, join: str, make: _Make, data: bytes, header: Mapping[str, object] | None = None
    ) -> None:
        self.join = join
        self.make = make
        self.data = data
        self.header = header or {}


class Splitting:
    """How frames are divided; `classes` are those of the package by name, `options` those of the sender."""

    def __init__(self, schema: Schema, classes: Mapping[str, Any], options: Options) -> None:
        self._schema = schema
        self._classes = classes
        self._options = options

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
        if found is None or len(found.data) <= size:
            yield frame, (frame,)
            return
        name, data = found.join, found.data
        join = self._schema.joins[name]
        for start in range(0, len(data), size):
            is_last = start + size >= len(data)
            settings = join.lasts if is_last else join.parts
            is_block_whole = is_last and join.type is None
            passes = (lambda each: True) if is_block_whole else allows
            made = found.make(data[start : start + size], settings)
            if join.type is None:
                made.part = Part(name, (), start // size, is_last, header=found.header)
            piece = self._first_allowed(made, settings, passes, join)
            if piece is None:
                raise ValueError(f"no message can carry a fragment of {name}")
            # The last fragment of a block completes its frame; a reassembled frame comes after its last fragment.
            is_joined = is_last and isinstance(join.type, FrameReference)
            yield piece, (frame,) if is_block_whole else (piece, frame) if is_joined else (piece,)

    # ---- divided frames

    def _divided(self, frame: Any, encode: Callable[[object], bytes]) -> _Divided | None:
        """Return how a join divides a frame, or None."""
        for name, join in self._schema.joins.items():
            if join.block is not None and join.block[0] == declared_name(frame):
                return self._divided_block(name, join.block[1], frame, encode(frame))
            if isinstance(join.type, FrameReference) and declared_name(frame) == join.type.name:
                return _Divided(name, self._message_maker(frame), encode(frame))
            for last in join.lasts if isinstance(join.type, Bytes) else ():
                if declared_name(frame.message) == last.target:
                    data = attribute(frame.message, last.field, last.field)
                    return _Divided(name, self._message_maker(frame), data)
        return None

    def _divided_block(self, join: str, field: str, frame: Any, data: bytes) -> _Divided:
        node = explain(self._schema, data, 0, len(data), self._options)
        block = next(each for each in node.walk() if each.name == field and not each.inner)
        inside = content(block)
        header = {each.name: each.value for each in takewhile(lambda each: each is not block, node.children)}
        piece = self._classes[join]
        return _Divided(
            join,
            lambda chunk, settings: frame.replace(message=piece(chunk)),
            data[inside.start : inside.end],
            header,
        )

    def _message_maker(self, frame: Any) -> _Make:
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
        self, frame: object, settings: tuple[Setting, ...], allows: Callable[[object], bool], join: Join
    ) -> object | None:
        first: object = None
        for candidate in self._candidates(frame, settings, join):
            if self._holds(candidate, settings):
                if allows(candidate):
                    return candidate
                first = candidate if first is None else first
        return first

    def _candidates(self, frame: Any, settings: tuple[Setting, ...], join: Join) -> Iterator[object]:
        """Yield the frame with all values of the fields in the conditions; those with fewer changed values come first.

        Fields that are derived, and the keys of the join, stay as they are.
        """
        kind, note = Kind(self._schema, frame, frame.message), part_of(frame)
        named = {path[0] for each in settings for path in _fields(each.when) if len(path) == 1}
        free = sorted(named.difference(join.keys))
        own = {name: kind.fields[name] for name in free if name in kind.fields}
        header = {name: kind.frame_fields[name] for name in free if name in {*kind.frame_fields} - {*own}}
        own, header = (
            {name: each for name, each in some.items() if not each.is_hidden} for some in (own, header)
        )
        now = [*(getattr(frame.message, name) for name in own), *(getattr(frame, name) for name in header)]
        others = [self._values(each.type) for each in (*own.values(), *header.values())]
        yield frame
        for values in islice(_changed(now, others), _MOST_TRIED):
            message = frame.message
            if own:
                message = message.replace(**dict(zip(own, values, strict=False)))
            candidate = frame.replace(message=message, **dict(zip(header, values[len(own) :], strict=True)))
            if note is not None:
                candidate.part = note
            yield candidate

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


def _changed(now: list[object], others: list[list[object]]) -> Iterator[tuple[object, ...]]:
    """Yield values in place of those of `now`: one changed, then two, and so on."""
    for n_changed in range(1, len(now) + 1):
        for places in combinations(range(len(now)), n_changed):
            yield from product(*(others[at] if at in places else [now[at]] for at in range(len(now))))
