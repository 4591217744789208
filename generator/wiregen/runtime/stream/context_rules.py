"""The rules of contexts and joins that apply to one kind of frame, looked up once for each kind."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..reference.access import declared_name
from ..reference.tree import FrameValue
from ..schema.declarations import Clearing, Context, Setting
from ..schema.protocol import Schema
from ..schema.types import Bytes, FrameReference

__all__ = ["FragmentField", "Rules", "RulesOf"]


class FragmentField(NamedTuple):
    """A field that may be a fragment of a join: `type`, that of the join; `setting`, the field, and its condition."""

    name: str
    type: Bytes | FrameReference | None
    keys: tuple[str, ...]
    setting: Setting
    is_last: bool


class Rules:
    """The effects of a frame and a message of given names on contexts and joins.

    Attributes:
        contexts: Each context that it changes by name, with the settings and clearings that have it as a target.
        pieces: Each field that may be a fragment.
        blocks: Name and join of each divisible block of the frame.
        piece_of: The join of the block of which the message is a fragment.
        is_quiet: It has no effects except by blocks.
        join_clearings: Name and keys of each join, with a rule that drops its fragments.
    """

    __slots__ = ("blocks", "contexts", "is_quiet", "join_clearings", "piece_of", "pieces")

    def __init__(self, schema: Schema, frame: str, message: str) -> None:
        names = {frame, message}
        joins = schema.joins
        self.contexts = [rules for rules in _contexts(schema, names) if rules[2] or rules[3]]
        pieces = [
            FragmentField(name, join.type, join.keys, setting, is_last)
            for name, join in joins.items()
            if join.block is None
            for is_last, settings in ((False, join.parts), (True, join.lasts))
            for setting in settings
            if setting.target in names
        ]
        # A setting without a condition is the least specific: it comes last.
        self.pieces = sorted(pieces, key=lambda piece: piece.setting.when is None)
        self.blocks = [
            (name, join) for name, join in joins.items() if join.block is not None and join.block[0] in names
        ]
        is_piece = self.blocks and message not in schema.messages
        self.piece_of = next((name for name, _ in self.blocks if is_piece and name in names), None)
        self.join_clearings = [
            (name, join.keys, clearing)
            for name, join in joins.items()
            for clearing in join.clearings
            if names.intersection(clearing.targets)
        ]
        self.is_quiet = not (self.contexts or self.pieces or self.join_clearings)


def _contexts(schema: Schema, names: set[str]) -> list[tuple[str, Context, list[Setting], list[Clearing]]]:
    return [
        (
            name,
            context,
            [setting for setting in context.settings if setting.target in names],
            [clearing for clearing in context.clearings if names.intersection(clearing.targets)],
        )
        for name, context in schema.contexts.items()
    ]


class RulesOf:
    """The rules for each kind of frame that was received."""

    __slots__ = ("_kinds", "_schema")

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._kinds: dict[object, Rules] = {}

    def __call__(self, frame: Any) -> Rules:
        message = frame.message
        kind: object = (type(frame), type(message))
        if type(frame) is FrameValue:
            kind = (frame.name, declared_name(message))
        rules = self._kinds.get(kind)
        if rules is None:
            rules = self._kinds[kind] = Rules(self._schema, declared_name(frame), declared_name(message))
        return rules
