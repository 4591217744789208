"""Fields that hold the code of a message: one is enough, and each message that an arm names has the code written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wiregen.language.checker.absences import Uses
from wiregen.language.checker.conditions import never
from wiregen.language.checker.inspection import Inspection, Record
from wiregen.language.checker.presence import Fact, placed
from wiregen.runtime.schema.shapes import content
from wiregen.schema.model import (
    Call,
    Derived,
    Expression,
    Field,
    FieldReference,
    Message,
    MessageReference,
    Number,
    Operation,
)
from wiregen.schema.walk import arm_path, nested_expressions, placed_matches

__all__ = ["RULES"]


def _code_derived_twice(inspection: Inspection) -> None:
    for record in inspection.records:
        seen: dict[str, Field] = {}
        for field in record.flat:
            body = _coded(field)
            if body is not None and body in seen:
                inspection.error(
                    "WG3035",
                    f"the type code of `{body}` is written twice",
                    inspection.place(field.path, "value"),
                    "second field with the code",
                    inspection.also(seen[body].path, "first", "value"),
                    help_=f"derive only one of them from the code; compare the other one: `where {field.name} == {seen[body].name}`",
                )
            elif body is not None:
                seen[body] = field


def _coded(field: Field) -> str | None:
    match field.value:
        case Derived(value=Call(function="code", arguments=(FieldReference(path=(name,)),))):
            return name
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """A message that a field names, the path of the place that names it, and the facts that hold there."""

    message: Message
    path: str
    known: list[Fact]


def _message_without_its_code(inspection: Inspection) -> None:
    """Report messages that are named where a field holds their code, but have no code or are read as another choice."""
    for record in inspection.records:
        coded = [(field, body) for field in record.flat for body in _asked_codes(field)]
        if not coded:
            continue
        uses = Uses(inspection, record)
        for field, body in coded:
            for named in _named_in(inspection, record, uses, body):
                fault = _fault(field, named, uses)
                if fault is not None:
                    _report(inspection, record, field, body, named, fault)


def _asked_codes(field: Field) -> Iterator[str]:
    """Yield the fields whose codes the value of a field is derived from."""
    if isinstance(field.value, Derived):
        for each in nested_expressions(field.value.value):
            match each:
                case Call(function="code", arguments=(FieldReference(path=(name,), scope="own"),)):
                    yield name


def _named_in(inspection: Inspection, record: Record, uses: Uses, name: str) -> Iterator[_Named]:
    for each in placed(record.fields, ()):
        if each.field.name != name:
            continue
        for facts, type_ in each.laid:
            if not isinstance(type_, MessageReference) or type_.name not in inspection.messages:
                continue
            known = uses.known_before(len(record.flat), facts)
            if not (known and never(known, uses)):
                message = inspection.messages[type_.name]
                yield _Named(message=message, path=_place_of(each.field, type_), known=known)


def _place_of(field: Field, reference: MessageReference) -> str:
    """Return the path of the arm that names a message, or that of the field if no arm does."""
    for path, match in placed_matches(field):
        for index, arm in enumerate(match.arms):
            if content(arm.type) is reference:
                return arm_path(path, index)
    return field.path


def _fault(field: Field, named: _Named, uses: Uses) -> str | None:
    """Return why a message can be read where it is named but not be written.

    Return None if it can be written, or never comes with the field.
    """
    known = [*named.known, *(fact for each in uses.facts_of(field) for fact in uses.implied(each))]
    code = named.message.code
    if code is None:
        return None if known and never(known, uses) else f"`{named.message.name}` has no type code"
    if _coded(field) is None:
        return None
    written: Expression = Operation(
        operator="==", left=FieldReference(path=(field.name,), scope="own"), right=Number(value=code)
    )
    is_never = never([*known, (written, True)], uses) and not (known and never(known, uses))
    return (
        f"`{named.message.name}` has the type code {code}, which leads to another arm" if is_never else None
    )


def _report(
    inspection: Inspection, record: Record, field: Field, body: str, named: _Named, fault: str
) -> None:
    message = named.message
    inspection.error(
        "WG3080",
        f"{fault}, so `{field.name}` cannot be written",
        inspection.place(named.path, "type"),
        "can be read, but not written",
        inspection.also(field.path, "derived from the code", "value"),
        inspection.also(message.path, "declared here", "code" if message.code is not None else "name"),
        help_=_help(record, field, body, named),
    )


def _help(record: Record, field: Field, body: str, named: _Named) -> str:
    code = f"give `{named.message.name}` a type code that leads to this arm"
    if any(way.subject == FieldReference(path=(field.name,), scope="own") for way in record.ways):
        return code  # messages that the field chooses say it as well
    return f"{code}, or remove `:= code({body})`, so that `{field.name}` is set by hand"


RULES = (_code_derived_twice, _message_without_its_code)
