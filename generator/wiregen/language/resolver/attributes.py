"""Names behind a dot: limits, members of enums, alternatives of unions, fields of values."""

from wiregen.language import syntax
from wiregen.language.diagnostics import did_you_mean
from wiregen.language.resolver.layouts import part_of
from wiregen.language.resolver.scopes import STAND_IN, Typed, member, members_of
from wiregen.language.resolver.sorts import INTEGER, WRONG, Sort, describe, enum_of
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model

__all__ = ["code_of_variety", "limit_named", "member_named", "part_named"]


def limit_named(work: Workspace, name: syntax.Name) -> Typed:
    """Return a limit of the protocol."""
    if name.text not in work.limits:
        help_ = f"declare it: `limits {{ {name.text} = … }}`"
        report_unknown(name, "limit", work.limits, work.report, help_=help_)
        return STAND_IN
    work.refer(name, work.limits[name.text].name.span)
    return Typed(expression=model.LimitReference(name=name.text), sort=INTEGER)


def member_named(work: Workspace, node: syntax.Enum, name: syntax.Name) -> Typed:
    """Return a member of an enum."""
    members = members_of(work, enum_of(node.name.text))
    if name.text not in members:
        report_unknown(name, "member", members, work.report, inside=node.name.text)
        return STAND_IN
    found = members[name.text]
    work.refer(name, found.name.span)
    return member(node.name.text, name.text, found.code.value)


def code_of_variety(work: Workspace, node: syntax.Union, name: syntax.Name) -> Typed:
    """Return the code of an alternative."""
    varieties = {variety.name.text: variety for variety in node.varieties}
    if name.text not in varieties:
        report_unknown(name, "alternative", varieties, work.report, inside=node.name.text)
        return STAND_IN
    found = varieties[name.text]
    work.refer(name, found.name.span)
    return Typed(expression=model.Number(value=found.codes[0].low.value), sort=INTEGER)


def part_named(work: Workspace, base: Typed, node: syntax.Attribute, *, is_question: bool = False) -> Typed:
    """Return a field of a value. `is_question`: a command asks about decoded frames."""
    if base.sort == WRONG:
        return STAND_IN
    part = part_of(work, base.sort, node.name.text)
    if part is None or not isinstance(base.expression, model.FieldReference):
        _report_no_part(work, base.sort, node.name, is_question=is_question)
        return STAND_IN
    work.refer_to_any(node.name, part.places)
    reference = base.expression
    path = model.FieldReference(path=(*reference.path, node.name.text), scope=reference.scope)
    return Typed(expression=path, sort=part.sort)


def _report_no_part(work: Workspace, sort: Sort, name: syntax.Name, *, is_question: bool) -> None:
    declared = work.names.get(sort.name)
    fields = declared.fields if isinstance(declared, syntax.Struct | syntax.Message | syntax.Frame) else ()
    names = [field.name.text for field in fields]
    work.report.offer(name.span, names)
    if name.text in names:
        message = f"`{name.text}` can be named through a field only, not through an item or a result"
        where = f"write the condition as a `where` in the declaration of `{sort.name}`"
        if is_question:
            where = "ask about fields outside of lists, or show the list with `--select` and search its items there"
        label = f"a field of `{sort.name}`"
        work.error("WG2208", message, name.span, label=label, help_=where)
        return
    hint = did_you_mean(name.text, names)
    if sort.kind == "block":
        hint = f"the fields of a block belong to the declaration around it: write only `{name.text}`"
    message = f"{describe(sort)} has no field `{name.text}`"
    work.error("WG2208", message, name.span, label="unknown field", help_=hint)
