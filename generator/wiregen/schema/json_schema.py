"""The JSON Schema of the model as JSON: one definition for each class of node, made by pydantic from the same entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from wiregen.runtime.schema import literals
from wiregen.runtime.schema.node import Node
from wiregen.schema import model as m
from wiregen.schema.json_form import PublishedKey, entries, kind_of, name_of

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["json_schema", "protocol_model"]

_DOCS: Final[Mapping[str, str]] = {
    "Integer": "8 to 64 bits, a multiple of 8, two's complement.",
    "Float": "IEEE 754, 32 or 64 bits.",
    "Reference": "A declared type by its name. `only`: the members, alternatives or messages allowed, all where null.",
    "Region": "Content that must fill its region; lenient: bytes left over are kept.",
    "List": "Items of one type. `where`: a condition on each item (scope `item`), `where_text` its text.",
    "InPrefix": "A region whose size in bytes precedes it, as an integer; `rule`: the rule that a wrong one violates.",
    "Field": (
        "A field in wire order; `_` as a name is bytes without meaning. `doc`: its own, or that of the alias it is of. "
        "`where_rules`: text and rule of each condition that `where` joins by `and`, if one has a rule of its own."
    ),
}
"""Descriptions of classes whose published form differs from the node."""
_VIEW = (
    PublishedKey(key="form", annotation="ViewForm | Literal['type']", value=lambda form, _: form),
    PublishedKey(key="type", annotation="Type | None", value=lambda type_, _: type_, default=None),
)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a protocol as JSON."""
    return protocol_model().model_json_schema(mode="serialization")


def protocol_model() -> type[BaseModel]:
    """Return a pydantic model of a protocol as JSON, which validates only its shape."""
    models = {name_of(class_): _model(name_of(class_), class_) for class_ in _classes()}
    models["InPrefix"] = _model("InPrefix", m.Prefix, kind="in_prefix")
    models["View"] = _made("View", "A way in which the bytes of a field are read once more.", _VIEW, None)
    namespace = {**vars(literals), "Literal": Literal, "Target": m.Target, **models, **_unions(models)}
    for model in models.values():
        model.model_rebuild(_types_namespace=namespace)
    return models["Protocol"]


def _classes() -> Iterator[type[Node]]:
    """Yield the classes of the model's nodes."""
    apart = (m.About, m.Condition, m.ItemCondition)
    for value in vars(m).values():
        if isinstance(value, type) and issubclass(value, Node) and value is not Node and value not in apart:
            yield value


def _unions(models: Mapping[str, type[BaseModel]]) -> dict[str, object]:
    """Return the unions that annotations name, of the classes as JSON."""
    named: dict[str, tuple[type[Node], ...]] = {
        "Type": get_args(m.Type),
        "Length": get_args(m.Length),
        "ByteLength": get_args(m.ByteLength),
        "ItemLength": get_args(m.ItemLength),
        "Expression": (*get_args(m.Expression), m.ConstantReference, m.MemberReference),
        "FieldValue": get_args(m.FieldValue),
        "Effect": get_args(m.Effect),
        "VariableType": get_args(m.VariableType),
        "ExampleValue": (*get_args(m.ExampleValue), m.MemberReference),
        "CodingReference": (m.CodingReference,),
        "EnumReference": (m.EnumReference,),
        "FrameReference": (m.FrameReference,),
    }
    return {name: reduce(or_, (models[name_of(each)] for each in classes)) for name, classes in named.items()}


def _model(name: str, class_: type[Node], kind: str | None = None) -> type[BaseModel]:
    return _made(name, class_.__doc__, entries(class_), kind or kind_of(class_))


def _made(name: str, doc: str | None, keys: tuple[PublishedKey, ...], kind: str | None) -> type[BaseModel]:
    from pydantic import create_model

    fields: dict[str, Any] = {entry.key: (entry.annotation, entry.default) for entry in keys}
    if kind is not None:
        fields["kind"] = (Literal[kind], kind)
    return create_model(name, __doc__=_DOCS.get(name, doc), **fields)
