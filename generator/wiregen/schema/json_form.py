"""The model as JSON, as `wiregen ir` prints it and plug-ins receive it.

A node is an object of its fields; for a node in a union, `kind` names its class. This form is published. The
tables of this module define where it differs from the nodes, for the values and for their JSON Schema
(`json_schema`) alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import get_annotations
from typing import Any, Final, get_args

from wiregen.runtime.schema.node import Node
from wiregen.schema import model as m
from wiregen.schema.field_facts import condition_text
from wiregen.schema.walk import arm_path

__all__ = ["JsonValue", "PublishedKey", "as_json", "entries", "kind_of", "name_of"]

JsonValue = Any
"""Plain data for `json.dumps`, of the shape that the JSON Schema describes."""


def as_json(protocol: m.Protocol) -> JsonValue:
    """Return a protocol as dicts, lists and scalars."""
    return NodePlace(path="", about=protocol.about).inside(protocol)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlace:
    """The place of a node: the path of its field or arm, and the documentation of the protocol's fields."""

    path: str
    about: Mapping[str, m.About]

    def inside(self, value: object) -> JsonValue:
        """Return a value at this place as JSON."""
        if not isinstance(value, Node):
            return [self.inside(each) for each in value] if isinstance(value, tuple) else value
        here = self.at(value.path) if isinstance(value, m.Field) else self
        kind = kind_of(type(value))
        known = {} if kind is None else {"kind": kind}
        return {entry.key: entry.value(value, here) for entry in entries(type(value))} | known

    def at(self, path: str) -> NodePlace:
        return NodePlace(path=path, about=self.about)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKey:
    """A key of an object: the annotation of its value, its default if any, and the function that gives the value."""

    key: str
    annotation: str
    value: Callable[[Any, NodePlace], JsonValue]
    default: object = ...


# ---- differences of the published form from the nodes


def _arms(match: m.Match, place: NodePlace) -> JsonValue:
    return [place.at(arm_path(place.path, index)).inside(arm) for index, arm in enumerate(match.arms)]


def _carrier(region: m.Region, place: NodePlace) -> JsonValue:
    carrier = place.inside(region.carrier)
    return carrier | {"kind": "in_prefix"} if isinstance(region.carrier, m.Prefix) else carrier


def _view(field: m.Field, place: NodePlace) -> JsonValue:
    if field.view is None:
        return None
    is_type = isinstance(field.view, Node)
    return {"form": "type" if is_type else field.view, "type": place.inside(field.view) if is_type else None}


def _rules(field: m.Field, place: NodePlace) -> JsonValue:
    return [] if isinstance(field.where_text, str) else [[each.text, each.rule] for each in field.where_text]


_BITS: Final = PublishedKey(key="bits", annotation="int", value=lambda node, _: node.bits)
_NAME: Final = PublishedKey(key="name", annotation="str", value=lambda node, _: node.name)
_TARGET: Final = PublishedKey(key="target", annotation="Target", value=lambda node, _: m.target_of(node))
_ONLY: Final = PublishedKey(
    key="only",
    annotation="tuple[str, ...] | None",
    value=lambda node, place: place.inside(getattr(node, "only", None)),
    default=None,
)
_LENIENT: Final = PublishedKey(
    key="lenient", annotation="bool", value=lambda node, _: getattr(node, "is_lenient", False), default=False
)
_RENAMED: Final[Mapping[str, str]] = {"is_signed": "signed", "is_zigzag": "zigzag", "is_lenient": "lenient"}
_CHANGED: Final[Mapping[tuple[type[Node], str], tuple[PublishedKey, ...]]] = {
    (m.Integer, "size"): (_BITS,),
    (m.Float, "format"): (
        _BITS,
        PublishedKey(key="format", annotation="FloatName", value=lambda node, _: node.format),
    ),
    (m.Arm, "spans"): (
        PublishedKey(key="path", annotation="str", value=lambda _, place: place.path),
        PublishedKey(
            key="patterns", annotation="tuple[Span, ...]", value=lambda arm, place: place.inside(arm.spans)
        ),
    ),
    (m.Match, "arms"): (PublishedKey(key="arms", annotation="tuple[Arm, ...]", value=_arms),),
    (m.List, "smallest_item"): (),
    (m.List, "where"): (
        PublishedKey(
            key="where",
            annotation="Expression | None",
            value=lambda list_, place: None if list_.where is None else place.inside(list_.where.condition),
            default=None,
        ),
        PublishedKey(
            key="where_text",
            annotation="str",
            value=lambda list_, _: "" if list_.where is None else list_.where.text,
            default="",
        ),
    ),
    (m.Region, "carrier"): (
        PublishedKey(key="carrier", annotation="InSize | InPrefix | InCompressed | InChunks", value=_carrier),
    ),
    (m.Region, "lenient"): (
        PublishedKey(key="lenient", annotation="bool", value=lambda region, _: bool(region.lenient)),
    ),
    (m.Field, "is_hidden"): (),
    (m.Field, "rule"): (),
    (m.Field, "is_secret"): (),
    (m.Field, "view"): (PublishedKey(key="view", annotation="View | None", value=_view),),
    (m.Field, "where_text"): (
        PublishedKey(key="where_text", annotation="str", value=lambda field, _: condition_text(field)),
        PublishedKey(
            key="where_rules",
            annotation="tuple[tuple[str, str | None], ...]",
            value=_rules,
            default=(),
        ),
    ),
    (m.Field, "path"): (
        PublishedKey(key="path", annotation="str", value=lambda field, _: field.path),
        PublishedKey(key="doc", annotation="str", value=lambda field, place: place.about[field.path].doc),
        PublishedKey(
            key="notes",
            annotation="Notes",
            value=lambda field, place: place.inside(place.about[field.path].notes),
        ),
    ),
    (m.Variety, "spans"): (
        PublishedKey(
            key="codes",
            annotation="tuple[Span, ...]",
            value=lambda variety, place: place.inside(variety.spans),
        ),
    ),
    (m.Union, "is_raw"): (),
    (m.ConversationOption, "value"): (
        PublishedKey(
            key="value",
            annotation="Number | Truth | String | MemberReference",
            value=lambda option, place: place.inside(option.value),
        ),
    ),
    (m.Protocol, "about"): (),
}
_NAMES: Final[Mapping[type[Node], str]] = {
    m.ToEnd: "ToTheEnd",
    m.Until: "UntilHolds",
    m.Compressed: "InCompressed",
    m.Chunks: "InChunks",
    **dict.fromkeys(get_args(m.Reference), "Reference"),
}
_KINDS: Final[Mapping[type[Node], str]] = {
    m.ToEnd: "to_the_end",
    m.Until: "until_holds",
    m.InSize: "in_size",
    m.Compressed: "in_compressed",
    m.Chunks: "in_chunks",
    m.List: "list_of",
    m.ListOf: "list",
    m.MessageMatch: "message_match",
    m.Constant: "fixed",
    m.ConversationStep: "step",
    m.ConversationPause: "pause",
    **dict.fromkeys(get_args(m.Reference), "reference"),
}
_CHOSEN: Final = frozenset(
    (
        *get_args(m.Type | m.Length | m.Carrier | m.Expression | m.FieldValue | m.Effect),
        *(
            m.ConstantReference,
            m.MemberReference,
            m.Construct,
            m.Values,
            m.ConversationStep,
            m.ConversationPause,
        ),
    )
)
"""Nodes in unions, which `kind` distinguishes."""


def kind_of(class_: type[Node]) -> str | None:
    """Return the word that distinguishes a node from others of its union, or None if it is not in a union."""
    if class_ not in _CHOSEN:
        return None
    return _KINDS.get(class_, class_.__name__.removesuffix("Reference").lower())


def name_of(class_: type[Node]) -> str:
    """Return the name of a class in the published form."""
    return _NAMES.get(class_, class_.__name__)


@cache
def entries(class_: type[Node]) -> tuple[PublishedKey, ...]:
    """Return the keys of the objects of a class, without `kind`."""
    if class_ in get_args(m.Reference):
        return (_TARGET, _NAME, _ONLY, _LENIENT)
    return tuple(_entries(class_))


def _entries(class_: type[Node]) -> Iterator[PublishedKey]:
    annotations = {
        name: text for base in reversed(class_.__mro__) for name, text in get_annotations(base).items()
    }
    for name in class_._fields:
        changed = _CHANGED.get((class_, name))
        yield from (_entry(class_, name, annotations[name]),) if changed is None else changed


def _entry(class_: type[Node], name: str, annotation: str) -> PublishedKey:
    return PublishedKey(
        key=_RENAMED.get(name, name),
        annotation=annotation,
        value=lambda node, place: place.inside(getattr(node, name)),
        default=class_._defaults.get(name, ...),
    )
