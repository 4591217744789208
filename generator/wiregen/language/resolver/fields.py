"""Fields: shape, view, value, condition and `where`, each with the names that it can use."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

from wiregen.language import syntax
from wiregen.language.diagnostics import did_you_mean
from wiregen.language.resolver import types
from wiregen.language.resolver.annotations import doc_of_shape, resolve_notes, rule_of_shape
from wiregen.language.resolver.expressions import require, require_literal, require_truth
from wiregen.language.resolver.layouts import LONE, PADDING, layout_of, lone_layout
from wiregen.language.resolver.scopes import layout_scope
from wiregen.language.resolver.shape_context import FieldPlace
from wiregen.language.resolver.sorts import BOOLEAN, Sort, sort_of_type
from wiregen.language.resolver.state import MAX_ALIAS_CHAIN, Workspace, span_of
from wiregen.language.resolver.views import resolve_view
from wiregen.schema import model
from wiregen.schema.copies import replace
from wiregen.schema.field_facts import joined_conditions


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The conditions of a field and of the aliases it is of, joined.

    `text`: that of all, or text and rule of each if one of them has a rule of its own.
    """

    condition: model.Expression | None
    text: str | tuple[model.Condition, ...]


def resolve_owned(
    work: Workspace,
    path: str,
    fields: tuple[syntax.Field, ...],
    notes: model.Notes,
    *,
    frame: syntax.Frame | None = None,
) -> tuple[model.Field, ...]:
    """Return the fields of a declaration with its notes; `frame`: the declaration, if it is a frame."""
    layout = layout_of(work, fields)
    scope = layout_scope(layout, 0)
    place = FieldPlace(work=work, owner=path, path=path, scope=scope, layout=layout, notes=notes, frame=frame)
    return resolve_fields(place, fields)


def resolve_fields(place: FieldPlace, fields: tuple[syntax.Field, ...]) -> tuple[model.Field, ...]:
    """Return a sequence of fields; those of a block belong to the declaration of `place`."""
    return tuple(_field(place, node) for node in fields)


def resolve_lone(
    work: Workspace, path: str, node: syntax.Variety, shape: syntax.Shape, notes: model.Notes
) -> model.Field:
    """Return the one field of an alternative that is a single shape; `notes`: those of the alternative."""
    layout = lone_layout(work, shape)
    scope = layout_scope(layout, 0)
    name = f"{path}.{LONE}"
    work.place(name, shape.span, type=shape.span, where=span_of(node.where))
    place = FieldPlace(work=work, owner=path, path=name, scope=scope, layout=layout)
    type_ = types.resolve_shape(place, shape)
    whole = replace(place, scope=replace(scope, visible=layout.n_fields))
    own = () if node.where is None else ((node.where, None),)
    joined = _where(whole, shape, LONE, type_, own)
    lone = _with_rule(work, model.Notes(rule=notes.rule, inherited=notes.places), shape)
    work.about[name] = model.About(doc=node.docs, notes=lone)
    return model.Field(
        path=name,
        name=LONE,
        is_hidden=False,
        type=type_,
        value=None,
        condition=None,
        where=joined.condition,
        where_text=joined.text,
        rule=lone.rule,
        is_secret=lone.secret,
    )


def _field(place: FieldPlace, node: syntax.Field) -> model.Field:
    start, end = place.layout.places.get(node.span, (place.scope.visible, place.scope.visible + 1))
    path = _placed(place, node, start)
    notes = resolve_notes(place.work, node.annotations, place.notes)
    scope = replace(place.scope, own=place.layout.fields_at(node), visible=start)
    here = replace(place, path=path, scope=scope, notes=notes, is_nested=False)
    type_ = types.resolve_shape(here, node.shape, is_derived=isinstance(node.value, syntax.Derived))
    behind = replace(here, scope=replace(here.scope, visible=end))
    own = [(each.expression, _rule_of(place.work, each)) for each in node.requirements]
    where = _where(behind, node.shape, node.name.text, type_, own)
    notes = _with_rule(place.work, notes, node.shape)
    doc = node.docs or doc_of_shape(place.work, node.shape)
    place.work.about[path] = model.About(doc=doc, notes=notes)
    return model.Field(
        path=path,
        name=node.name.text,
        is_hidden=node.name.text == PADDING or isinstance(node.value, syntax.Derived | syntax.Constant),
        type=type_,
        view=resolve_view(here, node.view, type_) if node.view is not None else None,
        value=_value(here, node, sort_of_type(type_)),
        condition=require_truth(place.work, here.scope, node.condition, "`if`"),
        where=where.condition,
        where_text=where.text,
        rule=notes.rule,
        is_secret=notes.secret,
    )


def _rule_of(work: Workspace, node: syntax.Requirement) -> str | None:
    """Return the rule that a condition names for itself, or None if it has the field's."""
    return resolve_notes(work, node.rules).rule


def _with_rule(work: Workspace, notes: model.Notes, shape: syntax.Shape) -> model.Notes:
    """Return a field's notes with a rule: its own, or that of its type."""
    return notes if notes.rule is not None else replace(notes, rule=rule_of_shape(work, shape))


def _placed(place: FieldPlace, node: syntax.Field, start: int) -> str:
    """Record the place of a field; nameless fields and later namesakes get their position in the path."""
    name = node.name.text if node.name.text != PADDING else f"{PADDING}{start}"
    path = f"{place.owner}.{name}"
    if place.work.origins.get(path, node.span) != node.span:
        path = f"{path}@{start}"
    return place.work.place(
        path,
        node.span,
        name=node.name.span,
        type=node.shape.span,
        value=span_of(node.value),
        if_=span_of(node.condition),
        where=node.requirements[0].expression.span if node.requirements else None,
    )


def _value(place: FieldPlace, node: syntax.Field, sort: Sort) -> model.FieldValue | None:
    match node.value:
        case None:
            return None
        case syntax.Default(expression=expression, others=others):
            value = _constant(place, expression, sort)
            return model.Default(value=value, others=tuple(_defaults_of(place, others, sort)))
        case syntax.Trailing(expression=expression):
            return model.Trailing(value=_constant(place, expression, sort))
        case syntax.Constant(expression=expression):
            return model.Constant(value=require(place.work, place.scope, expression, sort, "the value"))
        case syntax.Derived(expression=expression):
            ahead = replace(place.scope, visible=place.layout.n_fields)
            value = require(place.work, ahead, expression, sort, "the value")
            return model.Derived(value=value, is_lenient=node.shape.lenient is not None)
        case _:
            assert_never(node.value)


def _defaults_of(
    place: FieldPlace, nodes: Iterable[syntax.DefaultOf], sort: Sort
) -> Iterator[model.DefaultOf]:
    """Yield the default with each message that has one of its own; invalid defaults are reported."""
    seen: set[str] = set()
    for node in nodes:
        value = _constant(place, node.expression, sort)
        if not _is_plain(value):
            message = "the default for a message is a number, a text, bytes, a member or an empty list"
            place.work.error("WG2407", message, node.expression.span, label="not a plain value")
        for name in node.messages:
            fault = _fault_of_default(place, name, seen)
            if fault is not None:
                help_ = did_you_mean(name.text, place.work.words_of(syntax.Message))
                place.work.error("WG2407", fault, name.span, label="of this message", help_=help_)
            else:
                place.work.refer(name, place.work.names[name.text].name.span)
            seen.add(name.text)
            yield model.DefaultOf(message=name.text, value=value)


def _is_plain(value: model.Expression) -> bool:
    match value:
        case model.Negation(operator="-", operand=model.Number()) | model.ListOf(items=()):
            return True
        case _:
            return isinstance(value, model.Number | model.Truth | model.String | model.Octets)


def _fault_of_default(place: FieldPlace, name: syntax.Name, seen: set[str]) -> str | None:
    """Return why a field has no default of its own with this message, or None."""
    if place.frame is None:
        return "only a field of a frame can have defaults for messages"
    message = place.work.names.get(name.text)
    if not isinstance(message, syntax.Message):
        return f"there is no message `{name.text}`"
    if name.text in seen:
        return f"`{name.text}` has a default already"
    roles = {role.text for role in (place.frame.role, message.role) if role is not None}
    return f"`{place.frame.name.text}` never carries `{name.text}`" if len(roles) > 1 else None


def _constant(place: FieldPlace, node: syntax.Expression, sort: Sort) -> model.Expression:
    scope = replace(place.scope, where="fixed")
    return require_literal(place.work, scope, node, sort, "the value")


def _where(
    place: FieldPlace,
    shape: syntax.Shape,
    name: str,
    type_: model.Type,
    own: Iterable[tuple[syntax.Expression, str | None]],
) -> Where:
    """Return the field's conditions after those of its aliases, in which `value` means the field."""
    work, sort = place.work, sort_of_type(type_)
    conditions: list[tuple[model.Expression, model.Condition]] = []
    for each in _conditions_of_aliases(work, shape.core):
        scope = replace(place.scope, own={}, value=(name, sort))
        text = work.text_of(each.span)
        conditions.append((require(work, scope, each, BOOLEAN, "`where`"), model.Condition(text, None)))
    for each, rule in own:
        text = work.text_of(each.span)
        conditions.append((require(work, place.scope, each, BOOLEAN, "`where`"), model.Condition(text, rule)))
    return _all_of(conditions)


def condition_of_items(place: FieldPlace, base: syntax.Ref, item: model.Type) -> model.ItemCondition | None:
    """Return the conditions of the aliases that the items of a list are of, in which `value` means the item."""
    work = place.work
    scope = replace(place.scope, own={}, value=None, item={}, item_sort=sort_of_type(item))
    conditions = [
        (require(work, scope, each, BOOLEAN, "`where`"), model.Condition(work.text_of(each.span), None))
        for each in _conditions_of_aliases(work, base)
    ]
    if not conditions:
        return None
    return model.ItemCondition(
        condition=_conjunction([condition for condition, _ in conditions]),
        text=joined_conditions([about.text for _, about in conditions]),
    )


def _all_of(conditions: list[tuple[model.Expression, model.Condition]]) -> Where:
    """Return conditions, each with its text and its own rule, as one."""
    if not conditions:
        return Where(condition=None, text="")
    abouts = tuple(about for _, about in conditions)
    has_rules = any(about.rule is not None for about in abouts)
    return Where(
        condition=_conjunction([condition for condition, _ in conditions]),
        text=abouts if has_rules else joined_conditions([about.text for about in abouts]),
    )


def _conjunction(conditions: list[model.Expression]) -> model.Expression:
    """Return at least one condition as one that is true where all are."""
    return reduce(lambda left, right: model.Operation("and", left, right), conditions)


def _conditions_of_aliases(work: Workspace, core: object) -> list[syntax.Expression]:
    """Return the `where` of each alias that the core of a shape is, the innermost first."""
    found: list[syntax.Expression] = []
    for _ in range(MAX_ALIAS_CHAIN):
        alias = work.named(core.text, syntax.Alias) if isinstance(core, syntax.Name) else None
        if not isinstance(alias, syntax.Alias):
            break
        if alias.where is not None:
            found.insert(0, alias.where)
        core = alias.shape.core
    return found
