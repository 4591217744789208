"""What a decoder may report of a declaration, as its layout tells: code, field, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from wiregen import model as m
from wiregen.spelling import expression_text
from wiregen.walk import flat_fields, nested_expressions

__all__ = ["Fault", "Named", "faults_of", "named_by"]

_NO_MESSAGE: Final = "no message has this code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`path`: the field; "" for the whole. `strict`: only of a strict reader. `rule`: the file's own name for it, where it has one."""

    code: str
    path: str
    when: str
    rule: str = ""
    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The rules that limits, and declarations of types, name themselves."""

    limits: Mapping[str, str]
    types: Mapping[str, str]


def named_by(protocol: m.Protocol) -> Named:
    """Return what a file says of its limits and of unions and enums."""
    types = {each.name: each.notes.rule for each in protocol.unions}
    types |= {each.name: each.notes.rule for each in protocol.enums}
    return Named(
        limits={limit.name: limit.notes.rule or "" for limit in protocol.limits},
        types={name: rule for name, rule in types.items() if rule is not None},
    )


def faults_of(owner: str, fields: tuple[m.Field, ...], named: Named) -> tuple[Fault, ...]:
    """Return the faults of a declaration's own fields, each once, in wire order."""
    found = [Fault(code="truncated", path="", when="the bytes end before it does")]
    flat = tuple(flat_fields(fields))
    for field in flat:
        path = owner if field.name == "_" else f"{owner}.{field.name}"
        found += _of_field(field, path, named)
    if any(
        _is_code(field.value) for field in flat
    ):  # which is then at fault, and not the message it stands for
        found = [fault for fault in found if fault.when != _NO_MESSAGE or _is_of_code(fault, owner, flat)]
    return tuple(dict.fromkeys(found))


def _is_code(value: m.FieldValue | None) -> bool:
    return isinstance(value, m.Derived) and isinstance(value.value, m.Call) and value.value.function == "code"


def _is_of_code(fault: Fault, owner: str, fields: tuple[m.Field, ...]) -> bool:
    return any(_is_code(field.value) and fault.path == f"{owner}.{field.name}" for field in fields)


def _of_field(field: m.Field, path: str, named: Named) -> Iterator[Fault]:
    rule = field.notes.rule or ""
    yield from _of_value(field.value, path, rule)
    if field.where is not None:
        text = field.where_text or expression_text(field.where)
        yield Fault(code="constraint", path=path, when=f"not so: {text}", rule=rule)
    for type_, own_rule in _own(field.type, rule):
        yield from _of_type(type_, path, own_rule, named)
    expressions = [part for part in (field.condition, field.where) if part is not None]
    if any(isinstance(part, m.ContextReference) for part in nested_expressions(*expressions)):
        yield Fault(code="missing_context", path=path, when="nothing said before tells its layout", rule=rule)


def _own(type_: m.Type, rule: str) -> Iterator[tuple[m.Type, str]]:
    """Yield a type and those in it that belong to no field inside, each with the rule that it is held to."""
    yield type_, rule
    match type_:
        case m.Block():
            return
        case m.List(item=item, rule=own):
            yield from _own(item, own or rule)
        case m.Region(content=content):
            yield from _own(content, rule)
        case m.Match(arms=arms):
            for arm in arms:
                yield from _own(arm.type, rule)
        case _:
            return


def _beyond(path: str, named: Named, *limits: str) -> Iterator[Fault]:
    """Yield what is reported where a limit is exceeded: the rule is the limit's. A frame has one always."""
    own = tuple(limit for limit in limits if limit == "frame" or limit in named.limits)
    for limit in own:
        rule = named.limits.get(limit, "")
        yield Fault(code="limit_exceeded", path=path, when=f"beyond limits.{limit}", rule=rule)
    others = " or ".join(f"limits.{limit}" for limit in limits if limit not in own)
    if others:
        when = f"beyond {others}, where the reader sets one"
        yield Fault(code="limit_exceeded", path=path, when=when)


def _of_value(value: m.FieldValue | None, path: str, rule: str) -> Iterator[Fault]:
    match value:
        case m.Derived(value=m.Call(function="code")):
            yield Fault(code="unknown_code", path=path, when=_NO_MESSAGE, rule=rule)
        case m.Derived(value=expression, lenient=lenient):
            when = f"not {expression_text(expression)}"
            yield Fault(code="length_mismatch", path=path, when=when, rule=rule, strict=lenient)
        case m.Constant(value=expression):
            yield Fault(
                code="wrong_constant", path=path, when=f"not {expression_text(expression)}", rule=rule
            )
        case m.Default() | m.Trailing() | None:
            return
        case _:
            assert_never(value)


def _of_type(type_: m.Type, path: str, rule: str, named: Named) -> Iterator[Fault]:
    match type_:
        case m.Boolean(lenient=lenient):
            yield Fault(code="invalid_value", path=path, when="neither 0 nor 1", rule=rule, strict=lenient)
        case m.Varint(bits=bits):
            yield from _of_varint(bits, path, rule, lenient=type_.lenient)
        case m.Text(encoding=encoding, length=length, lenient=lenient):
            yield Fault(code="invalid_text", path=path, when=f"not {encoding}", rule=rule, strict=lenient)
            if encoding == "mutf8":
                yield Fault(
                    code="not_canonical", path=path, when="longer than needed", rule=rule, strict=True
                )
            yield from _beyond(path, named, "frame")
            yield from _of_length(length, path, rule)
        case m.Bytes(length=length):
            yield from _beyond(path, named, "frame")
            yield from _of_length(length, path, rule)
        case m.List(length=length):
            yield from _beyond(path, named, "count", "frame", "messages")
            yield from _of_length(length, path, rule)
        case m.Reference():
            yield from _of_reference(type_, path, rule, named)
        case m.MessageMatch(lenient=lenient):
            yield Fault(code="unknown_code", path=path, when=_NO_MESSAGE, rule=rule, strict=lenient)
            yield from _of_subject(type_.subject, path, rule)
        case m.Match(arms=arms, subject=subject):
            if all(arm.patterns for arm in arms):
                yield Fault(code="unknown_code", path=path, when="no arm takes it", rule=rule)
            yield from _of_subject(subject, path, rule)
        case m.Region():
            yield from _of_region(type_, path, rule, named)
        case _:
            return


def _of_varint(bits: int, path: str, rule: str, *, lenient: bool) -> Iterator[Fault]:
    yield Fault(code="invalid_value", path=path, when=f"more than {bits} bits", rule=rule)
    yield Fault(code="not_canonical", path=path, when="longer than needed", rule=rule, strict=lenient)


def _of_length(length: m.Length, path: str, rule: str) -> Iterator[Fault]:
    match length:
        case m.Prefix(type=type_):
            own = length.rule or ("" if isinstance(type_, m.Varint | m.Reference) else rule)
            yield from _of_prefix(type_, path, own)
        case m.Computed(value=value):
            yield Fault(code="invalid_value", path=path, when="its length is negative", rule=rule)
            yield from _of_subject(value, path, rule)
        case m.ToTheEnd() | m.Delimited() | m.UntilHolds():
            return
        case _:
            assert_never(length)


def _of_prefix(type_: m.Integer | m.Varint | m.Reference, path: str, rule: str) -> Iterator[Fault]:
    match type_:
        case m.Integer(signed=True):
            yield Fault(code="invalid_value", path=path, when="its length is negative", rule=rule)
        case m.Varint(bits=bits, lenient=lenient):
            yield from _of_varint(bits, path, rule, lenient=lenient)
        case m.Reference():
            yield Fault(code="invalid_value", path=path, when="its length is null or no number", rule=rule)
            yield Fault(code="not_canonical", path=path, when="its length is longer than needed", rule=rule)
        case m.Integer():
            return
        case _:
            assert_never(type_)


def _of_reference(type_: m.Reference, path: str, rule: str, named: Named) -> Iterator[Fault]:
    deep = named.limits.get("depth", "")
    match type_.target:
        case "enum":
            own, when = named.types.get(type_.name, rule), f"no member of {type_.name}"
            yield Fault(code="invalid_enum", path=path, when=when, rule=own, strict=type_.lenient)
        case "union":
            own = named.types.get(type_.name, rule)
            yield Fault(code="unknown_code", path=path, when=f"no variety of {type_.name}", rule=own)
            yield Fault(
                code="too_deep", path=path, when="values inside values beyond limits.depth", rule=deep
            )
            yield from _beyond(path, named, "messages")
        case "coding":
            yield Fault(code="not_canonical", path=path, when="longer than needed", rule=rule)
            yield Fault(code="invalid_value", path=path, when="a first byte without meaning", rule=rule)
        case "frame":
            yield Fault(
                code="too_deep", path=path, when="frames inside frames beyond limits.depth", rule=deep
            )
        case "struct" | "message":
            return
        case _:
            assert_never(type_.target)
    if type_.only is not None:
        when = f"none of {', '.join(type_.only)}"
        yield Fault(code="constraint", path=path, when=when, rule=rule, strict=type_.lenient)


def _of_subject(subject: m.Expression, path: str, rule: str) -> Iterator[Fault]:
    if any(isinstance(part, m.ContextReference) for part in nested_expressions(subject)):
        yield Fault(code="missing_context", path=path, when="nothing said before tells its layout", rule=rule)


def _of_region(region: m.Region, path: str, rule: str, named: Named) -> Iterator[Fault]:
    when = "bytes are left over at its end"
    yield Fault(code="trailing_bytes", path=path, when=when, rule=rule, strict=region.lenient)
    yield from _beyond(path, named, "frame")
    match region.carrier:
        case m.InCompressed(algorithm=algorithm):
            yield from _beyond(path, named, "inflated")
            yield Fault(code="inflate_failed", path=path, when=f"no whole {algorithm} stream", rule=rule)
            yield Fault(code="partial_inner", path=path, when="it ends inside a frame", rule=rule)
        case m.InSize() | m.InPrefix():
            yield Fault(code="invalid_value", path=path, when="its size is negative", rule=rule)
        case m.InChunks():
            return
        case _:
            assert_never(region.carrier)
