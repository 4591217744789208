"""Fields: shape, view, value, condition and `where`, each with what it may look at."""

from dataclasses import dataclass, replace
from typing import assert_never

from wiregen import model, syntax
from wiregen.resolver import types
from wiregen.resolver.annotations import resolve_notes, rule_of_shape
from wiregen.resolver.expressions import require, require_truth
from wiregen.resolver.layouts import LONE, PADDING, layout_of, lone_layout
from wiregen.resolver.place import Place
from wiregen.resolver.scopes import layout_scope
from wiregen.resolver.sorts import BOOLEAN, Sort, sort_of_type
from wiregen.resolver.views import resolve_view
from wiregen.resolver.workspace import MAX_ALIAS_CHAIN, Workspace, span_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A `where` of a field and of the aliases it is of, joined, with the text of all."""

    condition: model.Expression | None
    text: str


def resolve_owned(
    work: Workspace, path: str, fields: tuple[syntax.Field, ...], notes: model.Notes
) -> tuple[model.Field, ...]:
    """Return the fields of a declaration, which has these notes."""
    layout = layout_of(work, fields)
    scope = layout_scope(layout, 0)
    place = Place(work=work, owner=path, path=path, scope=scope, layout=layout, notes=notes)
    return resolve_fields(place, fields)


def resolve_fields(place: Place, fields: tuple[syntax.Field, ...]) -> tuple[model.Field, ...]:
    """Return fields in a row; those of a block belong to the declaration that `place` says."""
    return tuple(_field(place, node) for node in fields)


def resolve_lone(
    work: Workspace, path: str, node: syntax.Variety, shape: syntax.Shape, notes: model.Notes
) -> model.Field:
    """Return the one field of a variety that is a lone shape; `notes`: those of the variety."""
    layout = lone_layout(work, shape)
    scope = layout_scope(layout, 0)
    name = f"{path}.{LONE}"
    work.place(name, shape.span, type=shape.span, where=span_of(node.where))
    place = Place(work=work, owner=path, path=name, scope=scope, layout=layout)
    type_ = types.resolve_shape(place, shape)
    whole = replace(place, scope=replace(scope, visible=layout.n_fields))
    joined = _where(whole, shape, LONE, type_, node.where)
    return model.Field(
        path=name,
        name=LONE,
        doc=node.docs,
        type=type_,
        view=None,
        value=None,
        condition=None,
        where=joined.condition,
        where_text=joined.text,
        notes=_with_rule(work, model.Notes(rule=notes.rule, inherited=notes.places), shape),
    )


def _field(place: Place, node: syntax.Field) -> model.Field:
    start, end = place.layout.places.get(id(node), (place.scope.visible, place.scope.visible + 1))
    path = _placed(place, node, start)
    notes = resolve_notes(place.work, node.annotations, place.notes)
    scope = replace(place.scope, visible=start)
    here = replace(place, path=path, scope=scope, notes=notes, is_nested=False)
    type_ = types.resolve_shape(here, node.shape, is_derived=isinstance(node.value, syntax.Derived))
    behind = replace(here, scope=replace(here.scope, visible=end))
    where = _where(behind, node.shape, node.name.text, type_, node.where)
    return model.Field(
        path=path,
        name=node.name.text,
        doc=node.docs,
        type=type_,
        view=resolve_view(here, node.view, type_) if node.view is not None else None,
        value=_value(here, node, sort_of_type(type_)),
        condition=require_truth(place.work, here.scope, node.condition, "`if`"),
        where=where.condition,
        where_text=where.text,
        notes=_with_rule(place.work, notes, node.shape),
    )


def _with_rule(work: Workspace, notes: model.Notes, shape: syntax.Shape) -> model.Notes:
    """Return a field's notes with a rule: its own, or that of its type."""
    return notes if notes.rule is not None else replace(notes, rule=rule_of_shape(work, shape))


def _placed(place: Place, node: syntax.Field, start: int) -> str:
    """Record where a field stands; nameless ones are told apart by their place in the row."""
    name = node.name.text if node.name.text != PADDING else f"{PADDING}{start}"
    return place.work.place(
        f"{place.owner}.{name}",
        node.span,
        name=node.name.span,
        type=node.shape.span,
        value=span_of(node.value),
        if_=span_of(node.condition),
        where=span_of(node.where),
    )


def _value(place: Place, node: syntax.Field, sort: Sort) -> model.FieldValue | None:
    match node.value:
        case None:
            return None
        case syntax.Default(expression=expression):
            return model.Default(value=_constant(place, expression, sort))
        case syntax.Trailing(expression=expression):
            return model.Trailing(value=_constant(place, expression, sort))
        case syntax.Constant(expression=expression):
            return model.Constant(value=require(place.work, place.scope, expression, sort, "the value"))
        case syntax.Derived(expression=expression):
            ahead = replace(place.scope, visible=place.layout.n_fields)
            value = require(place.work, ahead, expression, sort, "the value")
            return model.Derived(value=value, lenient=node.shape.lenient is not None)
        case _:
            assert_never(node.value)


def _constant(place: Place, node: syntax.Expression, sort: Sort) -> model.Expression:
    scope = replace(place.scope, where="fixed")
    return require(place.work, scope, node, sort, "the value")


def _where(
    place: Place, shape: syntax.Shape, name: str, type_: model.Type, own: syntax.Expression | None
) -> Where:
    """Return the field's condition behind those of its aliases, in which `value` means the field."""
    work, sort = place.work, sort_of_type(type_)
    conditions: list[tuple[model.Expression, str]] = []
    for each in _conditions_of_aliases(work, shape):
        scope = replace(place.scope, own={}, value=(name, sort))
        conditions.append((require(work, scope, each, BOOLEAN, "`where`"), work.text_of(each.span)))
    if own is not None:
        conditions.append((require(work, place.scope, own, BOOLEAN, "`where`"), work.text_of(own.span)))
    if not conditions:
        return Where(condition=None, text="")
    whole = conditions[0][0]
    for condition, _ in conditions[1:]:
        whole = model.Operation(operator="and", left=whole, right=condition)
    return Where(condition=whole, text=_joined([text for _, text in conditions]))


def _joined(texts: list[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    return " and ".join(f"({text})" if " or " in text else text for text in texts)


def _conditions_of_aliases(work: Workspace, shape: syntax.Shape) -> list[syntax.Expression]:
    """Return the `where` of each alias that a shape is, the innermost first."""
    found: list[syntax.Expression] = []
    core = shape.core
    for _ in range(MAX_ALIAS_CHAIN):
        alias = work.named(core.text, syntax.Alias) if isinstance(core, syntax.Name) else None
        if not isinstance(alias, syntax.Alias):
            break
        if alias.where is not None:
            found.insert(0, alias.where)
        core = alias.shape.core
    return found
