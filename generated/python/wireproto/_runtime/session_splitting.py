"""A message that is sent in pieces: made by the rules of a join, as its reader puts them together again.

What a piece has beside its bytes is found by trying: of the values that the rule's condition asks for, the first ones that
make it hold and that the sessions allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from .access import attribute, declared_name
from .explain import explain
from .options import Options
from .record_types import flat_fields
from .schema.protocol import Schema
from .session_terms import NOTHING, compile_term
from .session_words import Kind, MessageWords

__all__ = ["Splitting"]

_MOST_TRIED = 256
"""Combinations of values that are tried for one piece."""

Setting = tuple[str, str, Any]


class Splitting:
    """How frames of one sender are divided; `classes` are those of the package by name."""

    def __init__(self, plan: Schema, classes: Mapping[str, Any], sender: str, context: Any) -> None:
        self._plan = plan
        self._classes = classes
        self._sender = sender
        self._context = context

    def pieces(
        self, frame: Any, size: int, encode: Callable[[Any], bytes], allows: Callable[[Any], bool]
    ) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """Yield the frames that a frame is sent in, each with what it is to the sessions; the frame itself where it is
        small enough, or no join divides it.

        `size`: bytes of the divided thing in one piece. `allows`: says whether the sessions let a piece pass now.

        Raises:
            ValueError: The size is none, or no values make a piece that the join would take.
        """
        if size < 1:
            raise ValueError("a piece has at least one byte")
        found = self._divided(frame, encode)
        if found is None or len(found[2]) <= size:
            yield frame, (frame,)
            return
        name, make, data = found
        type_, _, _, parts, lasts, _ = self._plan.joins[name]
        for start in range(0, len(data), size):
            is_last = start + size >= len(data)
            settings = lasts if is_last else parts
            is_block_whole = is_last and type_ is None
            passes = (lambda each: True) if is_block_whole else allows
            piece = self._first_allowed(make(data[start : start + size], settings), settings, passes, name)
            # The last piece of a block makes its frame whole; a joined frame comes after its last piece.
            is_joined = is_last and type_ is not None and type_[0] == "frame"
            yield piece, (frame,) if is_block_whole else (piece, frame) if is_joined else (piece,)

    # ---- what is divided

    def _divided(
        self, frame: Any, encode: Callable[[Any], bytes]
    ) -> tuple[str, Callable[[bytes, tuple[Setting, ...]], Any], bytes] | None:
        """Return the join that divides a frame, what makes a piece of it, and the bytes to be divided."""
        for name, (type_, block, _, _, lasts, _) in self._plan.joins.items():
            if block is not None and block[0] == declared_name(frame):
                return name, self._block_maker(name, frame), self._block(block[1], encode(frame))
            if type_ is not None and type_[0] == "frame" and declared_name(frame) == type_[1]:
                return name, self._message_maker(frame), encode(frame)
            for target, field, _ in lasts if type_ is not None and type_[0] == "bytes" else ():
                if declared_name(frame.message) == target:
                    return name, self._message_maker(frame), attribute(frame.message, field, field)
        return None

    def _block(self, field: str, data: bytes) -> bytes:
        """Return the bytes of a block of a frame."""
        options = Options(self._sender, context=self._context)
        node = explain(self._plan, data, 0, len(data), options)
        block = next(each for each in node.walk() if each.name == field and not each.inner)
        inside = next((each for each in block.children if each.name == "body"), block)
        return data[inside.start : inside.end]

    def _block_maker(self, name: str, frame: Any) -> Callable[[bytes, tuple[Setting, ...]], Any]:
        piece = self._classes[name]
        return lambda chunk, settings: frame.replace(message=piece(chunk))

    def _message_maker(self, frame: Any) -> Callable[[bytes, tuple[Setting, ...]], Any]:
        """Return what makes a frame around a message of the join; fields of the same name keep their values."""

        def make(chunk: bytes, settings: tuple[Setting, ...]) -> Any:
            target, field, _ = settings[0]
            fields = flat_fields(self._plan.messages[target][2])
            given = {
                each[0]: getattr(frame.message, each[0], 0)
                for each in fields
                if not each[1] and each[0] != field
            }
            return frame.replace(message=self._classes[target](**given, **{field: chunk}))

        return make

    # ---- what a piece says of itself

    def _first_allowed(
        self, frame: Any, settings: tuple[Setting, ...], allows: Callable[[Any], bool], name: str
    ) -> Any:
        first = None
        for candidate in self._candidates(frame, settings):
            if self._holds(candidate, settings):
                if allows(candidate):
                    return candidate
                first = first or candidate
        if first is None:
            raise ValueError(f"no values make a piece of {name}")
        return first

    def _candidates(self, frame: Any, settings: tuple[Setting, ...]) -> Iterator[Any]:
        """Yield the frame with all values of the fields that the conditions name, as it is first."""
        kind = Kind(self._plan, frame, frame.message)
        named = [path[0] for _, _, when in settings for path in _fields(when) if len(path) == 1]
        own = {field: self._values(kind.fields[field][2]) for field in named if field in kind.fields}
        header = {
            field: self._values(kind.frame_fields[field][2])
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

    def _values(self, type_: Any) -> list[Any]:
        """Return the values of a type that are worth trying."""
        if type_[0] == "enum":
            members = self._plan.enums[type_[1]][2]
            enum = self._classes[type_[1]]
            return [enum(number) for number, _ in members]
        return [False, True] if type_[0] == "bool" or type_[:2] == ("bits", 1) else [0, 1]

    def _holds(self, frame: Any, settings: tuple[Setting, ...]) -> bool:
        words = MessageWords(Kind(self._plan, frame, frame.message), {})
        for _, _, when in settings:
            try:
                if when is None or compile_term(when, words)(frame.message, frame, [], None):
                    return True
            except NOTHING:
                continue
        return False


def _fields(expression: Any) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the fields that an expression names."""
    if isinstance(expression, tuple):
        if expression[:1] == ("field",):
            yield expression[1]
        for part in expression:
            yield from _fields(part)
