"""Values of unions and matches as JSON, and back."""

from __future__ import annotations

from ..codec.errors import EncodeError
from ..reference.access import declared_name, extra, is_named
from ..reference.expressions import Value
from ..reference.tree import Variety
from ..schema.shapes import content
from ..schema.types import (
    Float,
    FrameReference,
    List,
    Match,
    MessageMatch,
    MessageReference,
    Span,
    StructReference,
    Text,
    Type,
    UnionReference,
)
from .arms import arm_names, fitting, leaf_arms, value_arms
from .frames import Recorder
from .scalars import integer, kind, only, wrong
from .types import is_wide
from .values import ValueMaker

__all__ = ["choice_record", "choice_value"]


def choice_record(recorder: Recorder, type_: UnionReference | Match, value: Value) -> Value:
    """Return the JSON of a value of a union or of an arm."""
    if isinstance(type_, UnionReference):
        return _alternative(recorder, type_.name, value)
    return _arm(recorder, type_, value)


def choice_value(maker: ValueMaker, type_: UnionReference | Match, data: Value, path: str) -> Value:
    """Return the value of a union, or of an arm, that JSON represents."""
    if isinstance(type_, UnionReference):
        return _alternative_value(maker, type_.name, data, path)
    return _arm_value(maker, type_, data, path)


# ---- values to JSON


def _alternative(recorder: Recorder, union: str, value: Value) -> dict[str, Value]:
    for variety in recorder.schema.unions[union].varieties:
        name, spans = variety.name, variety.spans
        if is_named(value, f"{union}.{name}"):
            record: dict[str, Value] = {name: recorder.fields(variety.fields, value, name)}
            if len(spans) > 1 or spans[0].low != spans[0].high:
                record["code"] = extra(value, "code", None, name)
            return record
    raise EncodeError("invalid_value", expected=f"a {union}", found=declared_name(value)[:64])


def _arm(recorder: Recorder, type_: Match, value: Value) -> Value:
    """Return the JSON of a choice, with a name for the arm if the JSON is ambiguous otherwise."""
    arms = fitting(recorder.layout, leaf_arms(type_), value)
    if not arms:
        raise EncodeError("invalid_value", expected="a choice", found=declared_name(value)[:64])
    arm = next((arm for arm in arms if is_wide(recorder.schema, content(arm))), arms[0])
    shown = recorder.value(arm, value)
    name = arm_names(recorder.schema, type_).get(content(arm))
    return shown if name is None else {name: shown}


# ---- JSON to values


def _alternative_value(maker: ValueMaker, union: str, data: Value, path: str) -> Variety:
    if type(data) is not dict:
        raise wrong(path, f"a {union}", kind(data))
    for declared in maker.schema.unions[union].varieties:
        name = declared.name
        if name in data:
            only(data, (name, "code"), path)
            values, absent = maker.fields(declared.fields, data[name], f"{path}.{name}", name)
            variety = Variety(union, name, values, _code(declared.spans, data, f"{path}.{name}.code"))
            variety.absent = absent
            return variety
    raise wrong(path, f"a variety of {union}", "none")


def _arm_value(maker: ValueMaker, type_: Match, data: Value, path: str) -> Value:
    """Return the value of a choice, whose arm is found by the form of its JSON."""
    if type(data) is dict:
        named = [(arm, name) for arm, name in arm_names(maker.schema, type_).items() if name in data]
        if named:
            _, name = named[0]
            only(data, (name,), path)
            alike = [arm for arm, own in named if own == name]
            like = (arm for arm in alike if _looks_like(maker, arm, data[name]))
            return maker.value(next(like, alike[0]), data[name], path)
    arms = [content(arm) for arm in leaf_arms(type_)]
    fitting = [arm for arm in arms if _looks_like(maker, arm, data)]
    if not fitting:
        raise wrong(path, "one of the choices", kind(data))
    return maker.value(next((arm for arm in fitting if _is_closest(arm, data)), fitting[0]), data, path)


def _is_closest(type_: Type, data: Value) -> bool:
    """Return whether an arm has the message that JSON names: a frame has a header, a message does not."""
    match type_:
        case MessageReference(name):
            return "header" not in data and bool(data["message"] == name)
        case MessageMatch():
            return "header" not in data
        case FrameReference(only=only):
            return "header" in data and (only is None or data["message"] in only)
        case _:
            return True


def _is_item(maker: ValueMaker, type_: Type, data: Value) -> bool:
    """Return whether JSON looks like an item of a list, in which a struct does not have its name."""
    return type(data) is dict if isinstance(type_, StructReference) else _looks_like(maker, type_, data)


def _looks_like(maker: ValueMaker, type_: Type, data: Value) -> bool:
    type_ = content(type_)
    match type_:
        case MessageReference() | FrameReference() | MessageMatch():
            return type(data) is dict and "message" in data
        case UnionReference(name):
            varieties = maker.schema.unions[name].varieties
            return type(data) is dict and any(variety.name in data for variety in varieties)
        case StructReference():
            return False
        case Match():
            return any(_looks_like(maker, arm.type, data) for arm in value_arms(type_))
        case List(item):
            return type(data) is list and all(_is_item(maker, content(item), each) for each in data)
        case Float() | Text() if type(data) is dict:
            return data.keys() == {"hex"}  # the bytes of a NaN, or of text with lone surrogates
        case _:
            return type(data) not in (dict, list)


def _code(spans: tuple[Span, ...], data: dict[str, Value], path: str) -> int:
    """Return the code of an alternative, which the record must give only if there are several."""
    if "code" in data:
        return integer(data["code"], path)
    if len(spans) > 1 or spans[0].low != spans[0].high:
        raise wrong(path, "a value", "nothing")
    return spans[0].low
