"""The model from its JSON: the reverse of `json_form`, without examples and conversations.

Invariant: the text is not trusted; a wrong one is a ValueError.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from inspect import get_annotations
from typing import Final, TypeAlias, cast

from wiregen.runtime.schema.node import Node
from wiregen.schema import model as m
from wiregen.schema.json_form import kind_of

__all__ = ["protocol_from_json"]

_Object: TypeAlias = Mapping[str, object]
_RENAMED: Final = {"is_signed": "signed", "is_zigzag": "zigzag", "is_lenient": "lenient"}
_CLASSES: Final[Mapping[str, type[Node]]] = {
    name: each for name, each in vars(m).items() if isinstance(each, type) and issubclass(each, Node)
}
_TARGETS: Final[Mapping[str, type[Node]]] = {
    "enum": m.EnumReference,
    "struct": m.StructReference,
    "union": m.UnionReference,
    "coding": m.CodingReference,
    "message": m.MessageReference,
    "frame": m.FrameReference,
}
_KINDS: Final[Mapping[str | None, type[Node]]] = {
    **{kind_of(each): each for each in _CLASSES.values()},
    "in_prefix": m.Prefix,
}


def protocol_from_json(value: object) -> m.Protocol:
    """Return the protocol that `json_form.as_json` made into these dicts, lists and scalars.

    Raises:
        ValueError: They are not of that form.
    """
    try:
        return cast(m.Protocol, _node(m.Protocol, cast(_Object, value)))
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"it is not a model: {type(error).__name__} {error}") from None


def _read(value: object, annotation: str) -> object:
    if isinstance(value, list):
        return tuple(_read(each, annotation) for each in value)
    return _node(_class(value, annotation), value) if isinstance(value, dict) else value


def _class(value: _Object, annotation: str) -> type[Node]:
    """Return the class of an object: by its kind, or the only class of nodes that the annotation names."""
    kind = value.get("kind")
    if kind == "reference":
        return _TARGETS[str(value["target"])]
    if kind is not None:
        return _KINDS[str(kind)]
    return next(_CLASSES[word] for word in re.findall(r"\w+", annotation) if word in _CLASSES)


def _node(class_: type[Node], value: _Object) -> Node:
    return class_(**{name: _attribute(class_, name, value) for name in class_._fields})


def _attribute(class_: type[Node], name: str, value: _Object) -> object:
    changed = _CHANGED.get((class_, name))
    if changed is not None:
        return changed(value)
    key = _RENAMED.get(name, name)
    if key not in value and name in class_._defaults:
        return class_._defaults[name]
    return _read(value[key], _annotations(class_)[name])


@cache
def _annotations(class_: type[Node]) -> Mapping[str, str]:
    return {name: text for base in reversed(class_.__mro__) for name, text in get_annotations(base).items()}


# ---- differences of the published form from the nodes


def _bits(value: _Object) -> int:
    return int(cast(int, value["bits"]))


def _where(value: _Object) -> m.ItemCondition | None:
    if value["where"] is None:
        return None
    condition = cast(m.Expression, _read(value["where"], ""))
    return m.ItemCondition(condition=condition, text=str(value["where_text"]))


def _notes(value: _Object) -> m.Notes:
    return cast(m.Notes, _read(value["notes"], "Notes"))


def _value(value: _Object) -> object:
    return _read(value["value"], "")


def _is_hidden(value: _Object) -> bool:
    return value["name"] == "_" or isinstance(_value(value), m.Derived | m.Constant)


def _view(value: _Object) -> object:
    view = cast(_Object | None, value["view"])
    if view is None:
        return None
    return _read(view["type"], "") if view["form"] == "type" else view["form"]


def _where_text(value: _Object) -> object:
    rules = cast(list[tuple[str, str | None]], value["where_rules"])
    conditions = tuple(m.Condition(text=text, rule=rule) for text, rule in rules)
    return conditions or value["where_text"]


def _about(value: object) -> dict[str, m.About]:
    """Return the documentation of the fields anywhere in a model."""
    return {str(each["path"]): m.About(doc=str(each["doc"]), notes=_notes(each)) for each in _fields(value)}


def _fields(value: object) -> Iterator[_Object]:
    if isinstance(value, dict):
        if "where_rules" in value:
            yield value
        for each in value.values():
            yield from _fields(each)
    elif isinstance(value, list):
        for each in value:
            yield from _fields(each)


_CHANGED: Final[Mapping[tuple[type[Node], str], Callable[[_Object], object]]] = {
    (m.Integer, "size"): lambda value: _bits(value) // 8,
    (m.Float, "format"): lambda value: value.get(
        "format", f"f{_bits(value)}"
    ),  # earlier versions wrote no format
    (m.Arm, "spans"): lambda value: _read(value["patterns"], "Span"),
    (m.Variety, "spans"): lambda value: _read(value["codes"], "Span"),
    (m.List, "smallest_item"): lambda value: 0,
    (m.List, "where"): _where,
    (m.Field, "is_hidden"): _is_hidden,
    (m.Field, "rule"): lambda value: _notes(value).rule,
    (m.Field, "is_secret"): lambda value: _notes(value).secret,
    (m.Field, "view"): _view,
    (m.Field, "where_text"): _where_text,
    (m.Union, "is_raw"): lambda value: _notes(value).raw,
    (m.Protocol, "about"): _about,
    (m.Protocol, "examples"): lambda value: (),
    (m.Protocol, "conversations"): lambda value: (),
}
