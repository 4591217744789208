"""The rules of contexts and joins that one kind of frame is concerned with, looked up once for each kind."""

from __future__ import annotations

from typing import Any

from .access import declared_name
from .schema.protocol import Schema
from .tree import FrameValue

__all__ = ["Rules", "RulesOf"]


class Rules:
    """What a frame of that name, with a message of that name, does to contexts and joins.

    Attributes:
        contexts: Name, keys, role, settings (field, when) and clearings (when) of each context that it acts on.
        pieces: Name, type, keys, field, when, and whether it is the last, of each field that may be a piece.
        blocks: Name and join of each block of the frame that comes in pieces.
        piece_of: The join of a block that the message is a piece of.
        is_quiet: There are none of these but blocks.
        join_clearings: Name, keys and when of each rule that drops pieces.
    """

    __slots__ = ("blocks", "contexts", "is_quiet", "join_clearings", "piece_of", "pieces")

    def __init__(self, plan: Schema, frame: str, message: str) -> None:
        names = {frame, message}
        joins = plan.joins
        self.contexts = [rules for rules in _contexts(plan, names) if rules[3] or rules[4]]
        pieces = [
            (name, join[0], join[2], field, when, is_last)
            for name, join in joins.items()
            if join[1] is None
            for is_last, settings in ((False, join[3]), (True, join[4]))
            for target, field, when in settings
            if target in names
        ]
        # What holds always says least: it comes last.
        self.pieces = sorted(pieces, key=lambda piece: piece[4] is None)
        self.blocks = [
            (name, join) for name, join in joins.items() if join[1] is not None and join[1][0] in names
        ]
        is_piece = self.blocks and message not in plan.messages
        self.piece_of = next((name for name, _ in self.blocks if is_piece and name in names), None)
        self.join_clearings = [
            (name, join[2], when)
            for name, join in joins.items()
            for targets, when in join[5]
            if names.intersection(targets)
        ]
        self.is_quiet = not (self.contexts or self.pieces or self.join_clearings)


def _contexts(plan: Schema, names: set[str]) -> list[tuple[Any, ...]]:
    return [
        (
            name,
            keys,
            role,
            [(field, when) for target, field, when in settings if target in names],
            [when for targets, when in clearings if names.intersection(targets)],
        )
        for name, (_, keys, role, settings, clearings) in plan.contexts.items()
    ]


class RulesOf:
    """The rules for each kind of frame that has come."""

    __slots__ = ("_kinds", "_plan")

    def __init__(self, plan: Schema) -> None:
        self._plan = plan
        self._kinds: dict[Any, Rules] = {}

    def __call__(self, frame: Any) -> Rules:
        message = frame.message
        kind: Any = (type(frame), type(message))
        if type(frame) is FrameValue:
            kind = (frame.name, declared_name(message))
        rules = self._kinds.get(kind)
        if rules is None:
            rules = self._kinds[kind] = Rules(self._plan, declared_name(frame), declared_name(message))
        return rules
