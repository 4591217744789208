"""`only A, B`: applied to the reference, or the match of messages, that it restricts."""

from collections.abc import Mapping

from wiregen.language import syntax
from wiregen.language.resolver.layouts import messages
from wiregen.language.resolver.names import PlacedName, refuse_duplicates
from wiregen.language.resolver.scopes import members_of
from wiregen.language.resolver.sorts import enum_of
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model
from wiregen.schema.copies import replace


def restrict(work: Workspace, type_: model.Type, names: tuple[syntax.Name, ...]) -> model.Type:
    """Return the type restricted to these names; of lists the items are restricted."""
    if isinstance(type_, model.List):
        return replace(type_, item=restrict(work, type_.item, names))
    if isinstance(type_, model.Region):
        return replace(type_, content=restrict(work, type_.content, names))
    if isinstance(type_, model.Restrictable):
        return replace(type_, only=_allowed_of(work, type_, names))
    span = replace(names[0].span, end=names[-1].span.end)
    message = "`only` cannot restrict this type"
    help_ = "use it for an enum, a union, a frame or a `match` of messages; in a `match` with arms, write it in the arm"
    work.error("WG2105", message, span, help_=help_)
    return type_


def _allowed_of(
    work: Workspace, type_: model.Restrictable, names: tuple[syntax.Name, ...]
) -> tuple[str, ...] | None:
    match type_:
        case model.EnumReference(name=name):
            return _allowed(work, names, "member", members_of(work, enum_of(name)), type_.only, name)
        case model.UnionReference(name=name):
            return _allowed(work, names, "alternative", _varieties(work, name), type_.only, name)
        case model.FrameReference() | model.MessageMatch():
            return _allowed(work, names, "message", _messages(work), type_.only)


def _messages(work: Workspace) -> dict[str, syntax.Message]:
    return {node.name.text: node for node in messages(work)}


def _varieties(work: Workspace, name: str) -> dict[str, syntax.Variety]:
    node = work.names.get(name)
    return {each.name.text: each for each in node.varieties} if isinstance(node, syntax.Union) else {}


def _allowed(
    work: Workspace,
    names: tuple[syntax.Name, ...],
    what: str,
    existing: Mapping[str, syntax.Member | syntax.Variety | syntax.Message],
    before: tuple[str, ...] | None,
    inside: str | None = None,
) -> tuple[str, ...]:
    """Return the names that exist; a restriction of an alias can only be narrowed."""
    allowed = None if before is None else frozenset(before)
    for name in names:
        if name.text not in existing:
            report_unknown(name, what, existing, work.report, inside=inside)
            continue
        work.refer(name, existing[name.text].name.span)
        if allowed is not None and name.text not in allowed:
            message = f"`{name.text}` is already excluded by the type"
            work.error(
                "WG2105",
                message,
                name.span,
                help_="remove the name; a `type` with `only` can be restricted further, but not extended",
            )
    refuse_duplicates((PlacedName(name=name, what="name") for name in names), work.report)
    return tuple(dict.fromkeys(name.text for name in names))
