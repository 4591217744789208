"""Classes of faults, and the facts of a schema that their makers use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from wiregen.conformance.samples.compared_numbers import mentions_of
from wiregen.conformance.vectors.checksums import Checksums
from wiregen.conformance.vectors.frame_parts import FramePart
from wiregen.runtime.codec.options import Options
from wiregen.runtime.codec.transforms import TRANSFORMS
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import Span

__all__ = ["AT_THE_END", "CLASSES", "FaultyBytes", "Fields", "Maker", "measures", "strangers"]

_SIZES: Final = frozenset(
    {"truncated", "trailing_bytes", "length_mismatch", "limit_exceeded", "invalid_value"}
)
_MALFORMED: Final[frozenset[str]] = frozenset(transform.error for transform in TRANSFORMS.values())
_AFTER: Final = frozenset(
    {
        "constraint",
        "unknown_code",
        "invalid_enum",
        "wrong_constant",
        "invalid_text",
        "not_canonical",
    }
    | _MALFORMED
)
CLASSES: Final[dict[str, frozenset[str]]] = {
    "cut": frozenset({"truncated"}),
    "extra": frozenset({"trailing_bytes", "truncated"}),
    "wrong constant": frozenset({"wrong_constant"}),
    "wrong code": frozenset({"unknown_code", "invalid_enum", "constraint"}),
    "length too long": _SIZES | _AFTER,
    "length too short": _SIZES | _AFTER | {"partial_inner"},
    "length negative": frozenset({"invalid_value"}),
    "length wrapped round": frozenset({"limit_exceeded", "truncated"}),
    "no end inside": frozenset({"constraint", "unknown_code", "invalid_value", "invalid_enum"}),
    "length beyond the limit": frozenset({"limit_exceeded", "truncated"}),
    "not as derived": frozenset({"constraint", "length_mismatch"}),
    "bad text": frozenset({"invalid_text"}),
    "bad enum": frozenset({"invalid_enum", "constraint"}),
    "bad value": frozenset({"invalid_value"}),
    "constraint broken": frozenset({"constraint"}),
    "outside only": frozenset({"constraint"}),
    "not canonical": frozenset({"not_canonical", "invalid_value"}),
    "too large": frozenset({"invalid_value"}),
    "not inflatable": _MALFORMED,
    "behind the stream": frozenset({"trailing_bytes"}),
    "partial inside": frozenset({"partial_inner", "truncated"}),
    "over a limit": frozenset({"limit_exceeded"}),
    "too deep": frozenset({"too_deep"}),
    "missing context": frozenset({"missing_context"}),
}
"""The error codes that faults of a class are reported with. A wrong length is noticed at the bytes after it."""

AT_THE_END: Final = "at the end"
"""Name of the wrong lengths at the end of a frame, where a wrong end does not spoil later bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyBytes:
    """Bytes with a fault.

    Attributes:
        kind: The class.
        which: The fault among several of that class.
        shape: The shape that similar parts share. Each fault is shown once for a shape; other parts show
            only the first.
        is_common: The same code reads all similar parts: the other parts do not show the fault.
    """

    kind: str
    which: str
    data: bytes
    shape: str = ""
    is_common: bool = False


Maker: TypeAlias = "Callable[[FramePart, bytes, Fields], Iterator[FaultyBytes]]"


class Fields:
    """The facts of a schema that the makers of faults use."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        mentions = mentions_of(schema)
        self.numbers, self.counts = mentions.numbers, mentions.counts
        self.sums = Checksums(schema).sites
        self._layout = Layout(schema, Options())

    def members(self, name: str) -> frozenset[int]:
        return frozenset(each.value for each in self.schema.enums[name].members)

    def endless(self, union: str) -> Iterator[int]:
        """Yield the codes of alternatives that extend to the end of their region."""
        for each in self.schema.unions[union].varieties:
            if self._layout.fields_reach_end(each.fields):
                yield each.spans[0].low

    def codes(self, union: str) -> list[Span]:
        return [span for each in self.schema.unions[union].varieties for span in each.spans]


def strangers(spans: list[Span]) -> tuple[int, ...]:
    """Return numbers next to the defined ones."""
    return _free(tuple(spans))


@cache
def _free(spans: tuple[Span, ...]) -> tuple[int, ...]:
    edges = sorted({number for span in spans for number in (span.low - 1, span.high + 1)})
    free = [number for number in edges if not any(span.low <= number <= span.high for span in spans)]
    return tuple(free if len(free) < 5 else [*free[:2], *free[-2:]])


def measures(part: FramePart, fields: Fields) -> bool:
    """Return whether a number says how long something else is."""
    node = part.node
    is_derived = node.note.split(", ")[0] in ("derived", "not as derived") and part.site not in fields.sums
    return node.part in ("length", "count") or is_derived
