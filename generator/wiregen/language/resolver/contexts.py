"""Contexts and joins: values of earlier messages for later ones, and messages reassembled from several frames."""

from collections.abc import Iterable

from wiregen.language import syntax
from wiregen.language.diagnostics import Label, Span
from wiregen.language.resolver import types
from wiregen.language.resolver.annotations import resolve_notes
from wiregen.language.resolver.expressions import require_truth
from wiregen.language.resolver.keys import demand_keys, named_in, resolve_keys
from wiregen.language.resolver.layouts import ResolvedLayout, layout_of
from wiregen.language.resolver.messages import resolve_role
from wiregen.language.resolver.scopes import Scope
from wiregen.language.resolver.shape_context import FieldPlace
from wiregen.language.resolver.sorts import BYTES, UNKNOWN_TYPE, Sort, describe, is_value_of, sort_of_type
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.targets import (
    SessionNames,
    Target,
    every_target,
    resolve_target,
    resolve_targets,
    scope_of,
)
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model


def resolve_context(work: Workspace, node: syntax.Context) -> model.Context:
    path = work.place(f"{work.path}.{node.name.text}", node.span, name=node.name.span, type=node.type.span)
    type_ = types.resolve_type(_off_wire(work, path), node.type)
    sort = sort_of_type(type_)
    lines = tuple(each for each in node.lines if isinstance(each, syntax.Set))
    settings = _settings(work, lines, sort, node.keys)
    return model.Context(
        path=path,
        name=node.name.text,
        doc=node.docs,
        type=type_,
        keys=resolve_keys(work, node.keys, named_in(work, node.lines)),
        role=resolve_role(work, node.role),
        settings=settings,
        clearings=_clearings(work, node.lines, node.keys),
        notes=resolve_notes(work, node.annotations),
    )


def _off_wire(work: Workspace, path: str) -> FieldPlace:
    return FieldPlace(work=work, owner=path, path=path, scope=Scope(where="fixed"), off_wire=True)


def _settings(
    work: Workspace,
    lines: Iterable[syntax.Set],
    wanted: Sort,
    keys: Iterable[syntax.Name],
) -> tuple[model.Setting, ...]:
    """Return the settings; one that an earlier unconditional setting makes redundant is reported."""
    settings: list[model.Setting] = []
    always: dict[str, Span] = {}
    for line in lines:
        setting = _setting(work, line, wanted, keys)
        if setting is None:
            continue
        settings.append(setting)
        if setting.target in always:
            others = (Label(span=always[setting.target], text="always set here"),)
            message = f"`{setting.target}` already sets the context"
            help_ = "remove one of the lines, or give both a `when`"
            work.error("WG2305", message, line.path.span, label="set twice", others=others, help_=help_)
        elif setting.when is None:
            always[setting.target] = line.path.span
    return tuple(settings)


def _setting(
    work: Workspace,
    node: syntax.Set | syntax.Part | syntax.Last,
    wanted: Sort,
    keys: Iterable[syntax.Name],
) -> model.Setting | None:
    owner = resolve_target(work, node.path.owner)
    if owner is None or isinstance(owner, syntax.Join):
        if owner is not None:
            message = f"`{node.path.owner.text}` is a join, which has no fields"
            work.error("WG2007", message, node.path.owner.span, label="a join")
        return None
    known = layout_of(work, owner.fields).fields.get(node.path.field.text)
    if known is None:
        candidates = layout_of(work, owner.fields).fields
        report_unknown(node.path.field, "field", candidates, work.report, inside=owner.name.text)
        return None
    work.refer(node.path.field, *known.places)
    if not is_value_of(known.sort, wanted):
        message = f"expected {describe(wanted)}, but the field is {describe(known.sort)}"
        work.error("WG2202", message, node.path.field.span, label=describe(known.sort))
    demand_keys(work, owner, node.path.owner, keys)
    return model.Setting(
        doc=node.docs,
        target=owner.name.text,
        field=node.path.field.text,
        when=_when(work, (owner,), node.when),
    )


def _when(
    work: Workspace, targets: tuple[Target, ...], node: syntax.Expression | None
) -> model.Expression | None:
    return require_truth(work, scope_of(work, targets, SessionNames()), node, "`when`")


def _clearings(
    work: Workspace, lines: Iterable[object], keys: tuple[syntax.Name, ...] = ()
) -> tuple[model.Clearing, ...]:
    """Return the `clear` lines; each of their targets has to have `keys`."""
    return tuple(_clearing(work, each, keys) for each in lines if isinstance(each, syntax.Clear))


def _clearing(work: Workspace, node: syntax.Clear, keys: tuple[syntax.Name, ...]) -> model.Clearing:
    targets = resolve_targets(work, node.names)
    if len(targets) == len(node.names):
        for target, name in zip(targets, node.names, strict=True):
            demand_keys(work, target, name, keys)
    names = tuple(target.name.text for target in targets)
    seen = targets if len(targets) == len(node.names) else every_target(work)
    return model.Clearing(doc=node.docs, targets=names, when=_when(work, seen, node.when))


def resolve_join(work: Workspace, node: syntax.Join) -> model.Join:
    path = work.place(f"{work.path}.{node.name.text}", node.span, name=node.name.span, type=node.type.span)
    type_, block = _joined(work, path, node.type)
    sort = Sort(kind="block") if block is not None else BYTES
    parts = (_setting(work, each, sort, node.keys) for each in node.lines if isinstance(each, syntax.Part))
    lasts = (_setting(work, each, sort, node.keys) for each in node.lines if isinstance(each, syntax.Last))
    return model.Join(
        path=path,
        name=node.name.text,
        doc=node.docs,
        type=type_,
        block=block,
        keys=resolve_keys(work, node.keys, named_in(work, node.lines)),
        parts=tuple(each for each in parts if each is not None),
        lasts=tuple(each for each in lasts if each is not None),
        clearings=_clearings(work, node.lines),
        notes=resolve_notes(work, node.annotations),
    )


def _joined(
    work: Workspace, path: str, node: syntax.Ref
) -> tuple[model.Bytes | model.FrameReference | None, tuple[str, str] | None]:
    """Return the type as which the reassembled bytes are read, or the block of a frame that they fill."""
    if isinstance(node, syntax.Attribute) and isinstance(node.base, syntax.Name):
        return _block(work, node.base, node.name)
    type_ = types.resolve_type(_off_wire(work, path), node)
    match type_:
        case model.Bytes(length=model.ToEnd()) | model.FrameReference():
            return type_, None
        case _:
            message = "the type of a join is `bytes`, a frame, or a block of a frame"
            work.error("WG2301", message, node.span, help_="write `bytes`, `Frame` or `Frame.payload`")
            return UNKNOWN_TYPE, None


def _block(work: Workspace, owner: syntax.Name, name: syntax.Name) -> tuple[None, tuple[str, str] | None]:
    frame = resolve_target(work, owner)
    if frame is None:
        return None, None
    layout: ResolvedLayout | None = layout_of(work, frame.fields) if isinstance(frame, syntax.Frame) else None
    known = layout.fields.get(name.text) if layout is not None else None
    if known is None or known.sort.kind != "block":
        message = f"`{owner.text}.{name.text}` is not a block of a frame"
        work.error(
            "WG2301",
            message,
            name.span,
            help_="the type of a join is `bytes`, a frame, or a block of a frame",
        )
    else:
        work.refer(name, *known.places)
    return None, (owner.text, name.text)
