"""The features of a schema that need optional modules of the runtime, and these modules.

Invariant: every module that the reference codec and decoders load by name (`runtime/lazy.py`) for a schema
belongs to one of its features. Tests check that the tables are total, and with random schemas that they are
complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final

from wiregen.runtime.codec.options import Options
from wiregen.runtime.lazy import Lazy
from wiregen.runtime.reference.functions import FUNCTIONS
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.schema import declarations as d
from wiregen.runtime.schema import expressions as e
from wiregen.runtime.schema import protocol as p
from wiregen.runtime.schema import sessions as s
from wiregen.runtime.schema import types as t
from wiregen.runtime.schema.node import Node, nodes_in, replace
from wiregen.runtime.stream.header_extents import header_of_frame

__all__ = ["FEATURE_OF", "MODULES", "Feature", "features_of"]


class Feature(Enum):
    """A group of constructs that modules of their own support in the runtime."""

    BIT_FIELDS = "bit fields"
    CHOICES = "unions and matches"
    CHUNKS = "regions in chunks"
    COMPRESSION = "compressed regions"
    CONTEXTS = "contexts and reassembly"
    EXTENTS = "frames whose size is not in their first numbers"
    FLOATS = "floats"
    FRAGMENTS = "blocks that come in fragments"
    JSON_VIEWS = "fields that hold JSON"
    LISTS = "lists, and values that are compared as wholes"
    LIST_FUNCTIONS = "functions of lists"
    MODIFIED_UTF8 = "modified UTF-8"
    REMAINING = "conditions on the remaining bytes"
    VARIABLE_WIDTH = "variable-width integers"


MODULES: Final[Mapping[Feature, tuple[str, ...]]] = {
    Feature.BIT_FIELDS: ("reference.reading.bits", "reference.writing.bits"),
    Feature.CHOICES: ("records.choices", "reference.reading.choices", "reference.writing.choices"),
    Feature.CHUNKS: ("reference.reading.chunks", "reference.writing.chunks"),
    Feature.COMPRESSION: ("reference.reading.compressed", "reference.writing.compressed"),
    Feature.CONTEXTS: ("records.fragments", "stream.context_updates"),
    Feature.EXTENTS: ("stream.sender_extents",),
    Feature.FLOATS: ("records.floats",),
    Feature.FRAGMENTS: ("reference.reading.fragments", "reference.writing.fragments", "stream.whole_blocks"),
    Feature.JSON_VIEWS: ("records.views",),
    Feature.LISTS: ("reference.reading.lists", "reference.writing.lists"),
    Feature.LIST_FUNCTIONS: ("reference.lists",),
    Feature.MODIFIED_UTF8: ("codec.mutf8",),
    Feature.REMAINING: ("reference.writing.verification",),
    Feature.VARIABLE_WIDTH: ("reference.reading.variable_width",),
}
"""The modules that the core of the runtime loads by name for a feature; each one implies the modules that it imports."""

FEATURE_OF: Final[Mapping[type[Node], Feature | None]] = {
    # types
    t.Bits: Feature.BIT_FIELDS,
    t.Block: None,
    t.Boolean: None,
    t.Bytes: None,
    t.CodingReference: Feature.VARIABLE_WIDTH,
    t.EnumReference: None,
    t.Float: Feature.FLOATS,
    t.FrameReference: None,
    t.Integer: None,
    t.List: Feature.LISTS,
    t.Match: Feature.CHOICES,
    t.MessageMatch: None,
    t.MessageReference: None,
    t.Region: None,
    t.StructReference: Feature.LISTS,
    t.Text: None,
    t.UnionReference: Feature.CHOICES,
    t.Uuid: None,
    t.Varint: Feature.VARIABLE_WIDTH,
    # lengths, carriers, and parts of types
    t.Arm: None,
    t.Chunks: Feature.CHUNKS,
    t.Compressed: Feature.COMPRESSION,
    t.Computed: None,
    t.Delimited: None,
    t.InSize: None,
    t.ItemCondition: None,
    t.Prefix: None,
    t.Span: None,
    t.ToEnd: None,
    t.Until: None,
    # expressions
    e.Call: None,
    e.Checksum: None,
    e.ContextReference: None,
    e.FieldReference: None,
    e.Item: None,
    e.JoinReference: None,
    e.LimitReference: None,
    e.ListOf: None,
    e.Negation: None,
    e.Null: None,
    e.Number: None,
    e.Octets: None,
    e.Operation: None,
    e.Position: None,
    e.Range: None,
    e.RoleReference: None,
    e.String: None,
    e.Truth: None,
    e.VariableReference: None,
    # declarations
    d.Clearing: None,
    d.Coding: None,
    d.Condition: None,
    d.Constant: None,
    d.Context: Feature.CONTEXTS,
    d.Default: None,
    d.DefaultOf: None,
    d.Derived: None,
    d.Enum: None,
    d.Field: None,
    d.Frame: None,
    d.Join: Feature.CONTEXTS,
    d.Member: None,
    d.Message: None,
    d.Preamble: None,
    d.Setting: None,
    d.Trailing: None,
    d.Union: None,
    d.Variety: None,
    d.Width: None,
    p.Schema: None,
    p.Variant: None,
    # sessions: their modules are imported by the modules of packages
    s.Go: None,
    s.Session: None,
    s.Timer: None,
    s.Transition: None,
    s.Update: None,
    s.Variable: None,
    s.Violates: None,
}
"""The feature that a node always needs; `_of_values` has the features that depend on a node's values."""


def features_of(schema: p.Schema) -> frozenset[Feature]:
    """Return the features that a schema needs, without those of session expressions, whose modules sessions import."""
    layouts = replace(schema, sessions={})
    return frozenset((*_of_protocol(schema), *(each for node in nodes_in(layouts) for each in _of(node))))


def _of_protocol(schema: p.Schema) -> Iterator[Feature]:
    """Yield the features that do not come from a single node."""
    if any("json" in forms.values() for forms in schema.views.values()):
        yield Feature.JSON_VIEWS
    if not all(_has_header(schema, variant) for variant in (None, *schema.variants)):
        yield Feature.EXTENTS


def _of(node: Node) -> Iterator[Feature]:
    feature = FEATURE_OF[type(node)]
    if feature is not None:
        yield feature
    yield from _of_values(node)


def _of_values(node: Node) -> Iterator[Feature]:
    match node:
        case e.Call(function) if isinstance(FUNCTIONS.get(function), Lazy):
            yield Feature.LIST_FUNCTIONS
        case e.Position("remaining"):
            yield Feature.REMAINING
        case t.UnionReference():
            yield Feature.LISTS
        case t.Text(encoding="mutf8"):
            yield Feature.MODIFIED_UTF8
        case d.Join(type=None):
            yield Feature.FRAGMENTS


def _has_header(schema: p.Schema, variant: str | None) -> bool:
    """Return whether the first numbers of every frame determine its size."""
    layout = Layout(schema, Options(variant=variant))
    return all(header_of_frame(layout, name) is not None for name in set(schema.sends.values()))
