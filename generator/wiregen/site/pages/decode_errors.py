"""The errors that a decoder may report of a declaration, derived from its layout: code, field and condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, assert_never

from wiregen.language.spelling import expression_text
from wiregen.runtime.codec.transforms import TRANSFORMS
from wiregen.runtime.reference.reading.records import measures
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.values import number_of
from wiregen.schema.walk import every_field, nested_expressions, references
from wiregen.site.pages.legends import keeps_unknown
from wiregen.site.pages.named_rules import NamedRules, may_be_negative
from wiregen.site.pages.numbers import limit_phrase
from wiregen.site.pages.remaining_bytes import fills

__all__ = ["PossibleError", "conditions_of", "faults_of"]

_NO_MESSAGE: Final = "no message has this code"


class Cause(Enum):
    """The causes of errors that belong to another field than the one at which they are found."""

    OWN = "the field itself"
    CODE = "a code that no message has: the field that holds it"
    NEGATIVE_SIZE = "a negative size: the field that holds it"


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleError:
    """An error of a field. `path`: "" for the whole declaration. `strict`: only of a strict reader.

    `rule`: the file's own name for it, "" where it has no name.
    """

    code: str
    path: str
    when: str
    rule: str = ""
    strict: bool = False
    cause: Cause = Cause.OWN


def faults_of(owner: str, fields: tuple[m.Field, ...], named: NamedRules) -> tuple[PossibleError, ...]:
    """Return the errors of a declaration's own fields, each once, in wire order."""
    found = [PossibleError(code="truncated", path="", when="the bytes end before it does")]
    flat = tuple(every_field(fields))
    for field in flat:
        found += _of_field(field, f"{owner}.{field.name}", named)
    codes = {f"{owner}.{field.name}" for field in flat if _is_code(field.value)}
    if codes:  # the code field is at fault then, and not the message that it selects
        found = [fault for fault in found if fault.cause is not Cause.CODE or fault.path in codes]
    if keeps_unknown(fields):
        found = [replace(fault, strict=True) if fault.cause is Cause.CODE else fault for fault in found]
    rules = {f"{owner}.{field.name}": field.rule for field in flat}
    return tuple(dict.fromkeys(_ruled(fault, rules) for fault in found))


def _ruled(fault: PossibleError, rules: Mapping[str, str | None]) -> PossibleError:
    """Return an error; of a negative size, with the rule of the field that holds the size, if it has one."""
    rule = rules.get(fault.path) if fault.cause is Cause.NEGATIVE_SIZE else None
    return fault if rule is None else replace(fault, rule=rule)


def _is_code(value: m.FieldValue | None) -> bool:
    return isinstance(value, m.Derived) and isinstance(value.value, m.Call) and value.value.function == "code"


def _of_field(field: m.Field, path: str, named: NamedRules) -> Iterator[PossibleError]:
    rule = field.rule or ""
    yield from _of_value(field.value, path, rule)
    for part in conditions_of(field):
        yield PossibleError(code="constraint", path=path, when=f"not so: {part.text}", rule=part.rule or rule)
    # A code's rule is about the message that it selects, not about the encoding of a varint.
    own = "" if _is_code(field.value) and isinstance(field.type, m.Varint) else rule
    for type_, own_rule in _own(field.type, own):
        yield from _of_type(type_, path, own_rule, named)
    expressions = [part for part in (field.condition, field.where) if part is not None]
    if any(isinstance(part, m.ContextReference) for part in nested_expressions(*expressions)):
        yield PossibleError(
            code="missing_context", path=path, when="earlier frames did not give its layout", rule=rule
        )


def conditions_of(field: m.Field) -> tuple[m.Condition, ...]:
    """Return the conditions of a field: each with its rule if one has a rule of its own, else all in one."""
    if isinstance(field.where_text, tuple):
        return field.where_text
    if field.where is None:
        return ()
    return (m.Condition(text=field.where_text or expression_text(field.where), rule=None),)


def _own(type_: m.Type, rule: str) -> Iterator[tuple[m.Type, str]]:
    """Yield a type and the types inside that do not belong to an inner field, each with the rule that applies to it."""
    yield type_, rule
    match type_:
        case m.List(item=item, rule=own):
            yield from _own(item, own or rule)
        case m.Region(content=content):
            yield from _own(content, rule)
        case m.Match(arms=arms):
            for arm in arms:
                yield from _own(arm.type, rule)
        case _:
            return


def _beyond(path: str, named: NamedRules, *limits: str) -> Iterator[PossibleError]:
    """Yield the errors of exceeded limits, each with the rule of its limit.

    Limits without a rule share one error, except `frame`.
    """
    own = [limit for limit in limits if limit == "frame" or named.limits.get(limit)]
    for limit in own:
        when = f"beyond {limit_phrase(limit, named.bounds)}"
        yield PossibleError(code="limit_exceeded", path=path, when=when, rule=named.limits.get(limit, ""))
    # Bounded limits come first: the remark about the unbounded ones ends the sentence.
    others = sorted(set(limits).difference(own), key=lambda each: (named.bounds.get(each) is None, each))
    if others:
        phrases = " or ".join(limit_phrase(limit, named.bounds) for limit in others)
        yield PossibleError(code="limit_exceeded", path=path, when=f"beyond {phrases}")


def _of_value(value: m.FieldValue | None, path: str, rule: str) -> Iterator[PossibleError]:
    match value:
        case m.Derived(value=m.Call(function="code")):
            yield PossibleError(code="unknown_code", path=path, when=_NO_MESSAGE, rule=rule, cause=Cause.CODE)
        case m.Derived(value=expression, is_lenient=lenient):
            when = f"not {expression_text(expression)}"
            code = "length_mismatch" if measures(expression) else "constraint"
            yield PossibleError(code=code, path=path, when=when, rule=rule, strict=lenient)
        case m.Constant(value=expression):
            yield PossibleError(
                code="wrong_constant", path=path, when=f"not {expression_text(expression)}", rule=rule
            )
        case m.Default() | m.Trailing() | None:
            return
        case _:
            assert_never(value)


def _of_type(type_: m.Type, path: str, rule: str, named: NamedRules) -> Iterator[PossibleError]:
    match type_:
        case m.Boolean(is_lenient=lenient):
            yield PossibleError(
                code="invalid_value", path=path, when="neither 0 nor 1", rule=rule, strict=lenient
            )
        case m.Varint(bits=bits):
            yield from _of_varint(bits, path, rule, lenient=type_.is_lenient)
        case m.Text(encoding=encoding, length=length, is_lenient=lenient):
            if encoding != "latin1":  # in latin1 every byte is a character
                is_taken = (
                    lenient and encoding != "mutf8"
                )  # lenient mutf8 accepts only longer forms and a raw 00
                yield PossibleError(
                    code="invalid_text", path=path, when=f"not {encoding}", rule=rule, strict=is_taken
                )
            if encoding == "mutf8":
                yield PossibleError(
                    code="not_canonical", path=path, when="longer than needed", rule=rule, strict=True
                )
            yield from _of_run(length, path, rule, named)
        case m.Bytes(length=length):
            yield from _of_run(length, path, rule, named)
        case m.List(length=length, where=where):
            if where is not None:
                when = f"an item is not so: {where.text}"
                yield PossibleError(code="constraint", path=path, when=when, rule=type_.rule or rule)
            yield from _beyond(path, named, "count", "frame", "messages")
            yield from _of_length(length, path, rule, named)
        case m.EnumReference() | m.UnionReference() | m.CodingReference() | m.FrameReference():
            yield from _of_reference(type_, path, rule, named)
        case m.MessageMatch(is_lenient=lenient):
            yield PossibleError(
                code="unknown_code",
                path=path,
                when=_NO_MESSAGE,
                rule=rule,
                strict=lenient,
                cause=Cause.CODE,
            )
            yield from _of_subject(type_.subject, path, rule)
        case m.Match(arms=arms, subject=subject):
            if all(arm.spans for arm in arms):
                yield PossibleError(code="unknown_code", path=path, when="no arm takes it", rule=rule)
            yield from _of_subject(subject, path, rule)
        case m.Region():
            yield from _of_region(type_, path, rule, named)
        case (
            m.Integer()
            | m.Float()
            | m.Bits()
            | m.Uuid()
            | m.StructReference()
            | m.MessageReference()
            | m.Block()
        ):
            return
        case _:
            assert_never(type_)


def _of_varint(bits: int, path: str, rule: str, *, lenient: bool) -> Iterator[PossibleError]:
    yield PossibleError(code="invalid_value", path=path, when=f"more than {bits} bits", rule=rule)
    yield PossibleError(code="not_canonical", path=path, when="longer than needed", rule=rule, strict=lenient)


def _of_run(length: m.Length, path: str, rule: str, named: NamedRules) -> Iterator[PossibleError]:
    """Yield the errors of bytes or text; a constant length alone exceeds no limit."""
    if not isinstance(length, m.Computed) or number_of(length.value) is None:
        yield from _beyond(path, named, "frame")
    yield from _of_length(length, path, rule, named)


def _of_length(length: m.Length, path: str, rule: str, named: NamedRules) -> Iterator[PossibleError]:
    match length:
        case m.Prefix(type=type_):
            own = length.rule or ("" if isinstance(type_, m.Varint | m.CodingReference) else rule)
            yield from _of_prefix(type_, path, own, named)
        case m.Computed(value=value):
            yield from _of_computed(value, path, rule, named, "length")
            yield from _of_subject(value, path, rule)
        case m.ToEnd() | m.Delimited() | m.Until():
            return
        case _:
            assert_never(length)


def _of_computed(
    value: m.Expression, path: str, rule: str, named: NamedRules, what: str
) -> Iterator[PossibleError]:
    """Yield the error of a negative size, at the first field that it is computed from, if of the same declaration."""
    if not may_be_negative(value, named):
        return
    asked = (each for each in nested_expressions(value) if isinstance(each, m.FieldReference))
    first = next((each.path[0] for each in asked if each.scope == "own" and each.path), "")
    if first:
        owner, _, name = path.rpartition(".")
        yield PossibleError(
            code="invalid_value",
            path=f"{owner}.{first}",
            when=f"it makes negative the {what} of {name}",
            rule=rule,
            cause=Cause.NEGATIVE_SIZE,
        )
    else:
        yield PossibleError(code="invalid_value", path=path, when=f"its {what} is negative", rule=rule)


def _of_prefix(
    type_: m.Integer | m.Varint | m.CodingReference, path: str, rule: str, named: NamedRules
) -> Iterator[PossibleError]:
    match type_:
        case m.Integer(is_signed=True):
            yield PossibleError(code="invalid_value", path=path, when="its length is negative", rule=rule)
        case m.Varint(bits=bits, is_lenient=lenient):
            yield from _of_varint(bits, path, rule, lenient=lenient)
        case m.CodingReference(name=name):
            yield from _of_coding(named.codings[name], path, rule)
        case m.Integer():
            return
        case _:
            assert_never(type_)


def _of_reference(
    type_: m.EnumReference | m.UnionReference | m.CodingReference | m.FrameReference,
    path: str,
    rule: str,
    named: NamedRules,
) -> Iterator[PossibleError]:
    deep, deepest = named.limits.get("depth", ""), limit_phrase("depth", named.bounds)
    match type_:
        case m.EnumReference(name=name):
            own, when = named.types.get(name, rule), f"no member of {name}"
            if name not in named.open_enums:
                yield PossibleError(
                    code="invalid_enum", path=path, when=when, rule=own, strict=type_.is_lenient
                )
        case m.UnionReference(name=name):
            own = named.types.get(name, rule)
            yield PossibleError(code="unknown_code", path=path, when=f"no variety of {name}", rule=own)
            yield from _of_endless(type_, path, named)
            when = f"values inside values beyond {deepest}"
            yield PossibleError(code="too_deep", path=path, when=when, rule=deep)
            yield from _beyond(path, named, "messages")
        case m.CodingReference(name=name):
            yield from _of_coding(named.codings[name], path, rule)
            return
        case m.FrameReference():
            when = f"frames inside frames beyond {deepest}"
            yield PossibleError(code="too_deep", path=path, when=when, rule=deep)
        case _:
            assert_never(type_)
    if type_.only is not None:
        when = f"none of {', '.join(type_.only)}"
        yield PossibleError(code="constraint", path=path, when=when, rule=rule, strict=type_.is_lenient)


def _of_endless(type_: m.UnionReference, path: str, named: NamedRules) -> Iterator[PossibleError]:
    """Yield the refusal of alternatives that extend to the end of the region, one error for each of their rules."""
    endless = [each for each in named.endless[type_.name] if type_.only is None or each[0] in type_.only]
    for rule in dict.fromkeys(rule for _, rule in endless):
        names = ", ".join(name for name, own in endless if own == rule)
        yield PossibleError(
            code="unknown_code", path=path, when=f"{names}, where something follows", rule=rule
        )


def _of_coding(coding: m.Coding, path: str, rule: str) -> Iterator[PossibleError]:
    """Yield the errors of a variable-width integer."""
    n_known = sum(width.high - width.low + 1 for width in coding.widths)
    if n_known < 2**coding.type.bits:
        when = f"a first number without meaning in {coding.name}"
        yield PossibleError(code="invalid_value", path=path, when=when, rule=rule)
    if any(width.wide is not None for width in coding.widths):
        yield PossibleError(
            code="not_canonical", path=path, when=f"a {coding.name} longer than needed", rule=rule
        )


def _of_subject(subject: m.Expression, path: str, rule: str) -> Iterator[PossibleError]:
    if any(isinstance(part, m.ContextReference) for part in nested_expressions(subject)):
        yield PossibleError(
            code="missing_context", path=path, when="earlier frames did not give its layout", rule=rule
        )


def _of_region(region: m.Region, path: str, rule: str, named: NamedRules) -> Iterator[PossibleError]:
    if not fills(region, named.protocol):
        when = "bytes are left over at its end"
        yield PossibleError(
            code="trailing_bytes", path=path, when=when, rule=rule, strict=bool(region.lenient)
        )
    yield from _beyond(path, named, "frame")
    match region.carrier:
        case m.Compressed(algorithm=algorithm):
            transform = TRANSFORMS[algorithm]
            if transform.is_compression:
                yield from _beyond(path, named, "inflated")
            when = f"no whole {algorithm} {transform.body}"
            yield PossibleError(code=transform.error, path=path, when=when, rule=rule)
            if any(isinstance(each, m.FrameReference) for each in references(region.content)):
                yield PossibleError(code="partial_inner", path=path, when="it ends inside a frame", rule=rule)
        case m.InSize(size=size):
            yield from _of_computed(size, path, rule, named, "size")
            yield from _of_subject(size, path, rule)
        case m.Prefix(type=type_):
            yield from _of_prefix(type_, path, region.carrier.rule or rule, named)
        case m.Chunks():
            return
        case _:
            assert_never(region.carrier)
