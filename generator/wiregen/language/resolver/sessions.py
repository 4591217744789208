"""Sessions: states, variables, rows and timers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from wiregen.language import syntax
from wiregen.language.diagnostics import Span
from wiregen.language.resolver import types
from wiregen.language.resolver.annotations import resolve_notes
from wiregen.language.resolver.expressions import require, require_literal, require_truth
from wiregen.language.resolver.keys import resolve_keys
from wiregen.language.resolver.names import PlacedName, check_case, refuse_duplicates
from wiregen.language.resolver.scopes import Scope
from wiregen.language.resolver.shape_context import FieldPlace
from wiregen.language.resolver.sorts import INTEGER, Sort, sort_of_type
from wiregen.language.resolver.state import Workspace, span_of
from wiregen.language.resolver.targets import SessionNames, Target, every_target, resolve_targets, scope_of
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model

SENDER = "sender"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """The names that the rows of one session may use."""

    work: Workspace
    path: str
    states: dict[str, syntax.Name]
    instance: SessionNames
    options: frozenset[str]
    scopes: dict[tuple[str, ...] | None, Scope] = field(default_factory=dict)
    """By the names of the targets: in rows about every target, every field is visible."""


def resolve_session(work: Workspace, node: syntax.Session) -> model.Session:
    path = work.place(f"{work.path}.{node.name.text}", node.span, name=node.name.span)
    variables = tuple(_variables(work, path, node))
    sorts = {each.name: _sort_of(each) for each in variables}
    instance = SessionNames(variables=sorts, roles=_roles(work, node), places=_places(node))
    options = frozenset(each.name for each in variables if each.is_option)
    table = _Table(work=work, path=path, states=_states(work, node), instance=instance, options=options)
    docs = _docs_of_states(node)
    return model.Session(
        path=path,
        name=node.name.text,
        doc=node.docs,
        keys=resolve_keys(work, (key for key in node.keys if key.text != SENDER), _in_rows(work, node)),
        per_sender=any(key.text == SENDER for key in node.keys),
        roles=instance.roles,
        variables=variables,
        states=tuple(_state(table, docs, name) for name in table.states.values()),
        rows=tuple(_rows(table, node)),
        timers=tuple(_timers(table, node)),
        notes=resolve_notes(work, node.annotations),
    )


def _places(node: syntax.Session) -> dict[str, Span]:
    """Return the places of the names of a session's variables and roles."""
    places: dict[str, Span] = {}
    for line in node.lines:
        match line:
            case syntax.SessionRoles(names=names):
                places.update((name.text, name.span) for name in names)
            case syntax.Var(name=name) | syntax.Option(name=name):
                places.setdefault(name.text, name.span)
            case _:
                pass
    return places


def _roles(work: Workspace, node: syntax.Session) -> tuple[str, ...]:
    lines = [line for line in node.lines if isinstance(line, syntax.SessionRoles)]
    names = [name for line in lines for name in line.names]
    refuse_duplicates((PlacedName(name=name, what="role") for name in names), work.report)
    for name in names:
        check_case(name, "snake", "a role", work.report)
    if lines and len(names) != 2:
        message = f"a session has two roles: found {len(names)}"
        work.error("WG2303", message, lines[0].span, help_="write `roles asker, answerer`, for example")
    return tuple(dict.fromkeys(name.text for name in names))


def _states(work: Workspace, node: syntax.Session) -> dict[str, syntax.Name]:
    """Return the states in the order of their first mention; a state may be opened several times."""
    states: dict[str, syntax.Name] = {}
    for line in node.lines:
        if isinstance(line, syntax.State) and not isinstance(line.names, syntax.Wildcard):
            refuse_duplicates((PlacedName(name=name, what="state") for name in line.names), work.report)
            for name in line.names:
                check_case(name, "snake", "a state", work.report)
                work.refer(name, states.setdefault(name.text, name).span)
    if not states:
        help_ = "write `state open { … }`; the first state is the initial state"
        work.error("WG2303", f"session `{node.name.text}` has no state", node.name.span, help_=help_)
    return states


def _state(table: _Table, docs: Mapping[str, str], name: syntax.Name) -> model.State:
    path = table.work.place(f"{table.path}.{name.text}", name.span, name=name.span)
    return model.State(path=path, name=name.text, doc=docs.get(name.text, ""))


def _docs_of_states(node: syntax.Session) -> dict[str, str]:
    """Return the documentation of each state: that of the blocks that open only this state."""
    docs: dict[str, list[str]] = {}
    for line in node.lines:
        if isinstance(line, syntax.State) and not isinstance(line.names, syntax.Wildcard):
            names = {each.text for each in line.names}
            if len(line.names) == len(names) == 1 and line.docs:
                docs.setdefault(names.pop(), []).append(line.docs)
    return {name: "\n\n".join(texts) for name, texts in docs.items()}


def _variables(work: Workspace, owner: str, node: syntax.Session) -> Iterator[model.Variable]:
    lines = [line for line in node.lines if isinstance(line, syntax.Var | syntax.Option)]
    refuse_duplicates((PlacedName(name=line.name, what="variable") for line in lines), work.report)
    for line in lines:
        check_case(line.name, "snake", "a variable", work.report)
        resolve_notes(work, line.annotations)
        variable = _variable(work, f"{owner}.vars.{line.name.text}", line)
        if variable is not None:
            yield variable


def _variable(work: Workspace, path: str, node: syntax.Var | syntax.Option) -> model.Variable | None:
    work.place(path, node.span, name=node.name.span, type=node.type.span, value=node.value.span)
    place = FieldPlace(work=work, owner=path, path=path, scope=Scope(where="fixed"), off_wire=True)
    is_list = isinstance(node.type, syntax.ToTheEnd) and not _is_bytes(node.type.base)
    written = node.type.base if is_list and isinstance(node.type, syntax.ToTheEnd) else node.type
    type_ = types.resolve_type(place, written)
    kept = _kept(type_)
    if kept is None:
        message = (
            "a variable must be an integer, a Boolean, an enum, a uuid, bytes, a text, or a list of these"
        )
        work.error("WG2302", message, node.type.span, label="type not allowed")
        return None
    sort = sort_of_type(type_)
    wanted = Sort(kind="list", item=sort) if is_list else sort
    initial = require_literal(
        work, Scope(where="fixed", roles=work.settings.roles), node.value, wanted, "the initial value"
    )
    return model.Variable(
        path=path,
        name=node.name.text,
        doc=node.docs,
        type=kept,
        is_list=is_list,
        initial=initial,
        is_option=isinstance(node, syntax.Option),
    )


def _is_bytes(node: syntax.Ref) -> bool:
    return isinstance(node, syntax.Name) and node.text == "bytes"


def _kept(type_: model.Type) -> model.VariableType | None:
    """Return a type that a variable may have, or None for any other type."""
    return type_ if isinstance(type_, model.VariableType) else None


def _sort_of(variable: model.Variable) -> Sort:
    sort = sort_of_type(variable.type)
    return Sort(kind="list", item=sort) if variable.is_list else sort


def _opened(
    node: syntax.Session,
) -> Iterator[tuple[tuple[str, ...] | None, syntax.Row | syntax.Timer]]:
    for line in node.lines:
        if isinstance(line, syntax.State):
            is_any = isinstance(line.names, syntax.Wildcard)
            states = (
                None if isinstance(line.names, syntax.Wildcard) else tuple(name.text for name in line.names)
            )
            yield from ((None if is_any else states, row) for row in line.rows)


def _rows(table: _Table, node: syntax.Session) -> Iterator[model.Row]:
    rows = ((states, row) for states, row in _opened(node) if isinstance(row, syntax.Row))
    for index, (states, row) in enumerate(rows):
        yield _row(table, f"{table.path}.rows[{index}]", states, row)


def _row(table: _Table, path: str, states: tuple[str, ...] | None, node: syntax.Row) -> model.Row:
    work = table.work
    work.place(path, node.span, name=node.role.span, when=span_of(node.when), effect=node.effect.span)
    _place_updates(work, path, node.effect)
    named = None if isinstance(node.messages, syntax.Wildcard) else resolve_targets(work, node.messages)
    names = None if named is None else tuple(target.name.text for target in named)
    scope = _scope(table, node, named)
    return model.Row(
        path=path,
        doc=node.docs,
        states=states,
        role=None if isinstance(node.role, syntax.Wildcard) else _role(table, node.role),
        targets=names,
        when=require_truth(work, scope, node.when, "`when`"),
        effect=_effect(table, scope, node.effect),
        notes=resolve_notes(work, node.annotations),
    )


def _in_rows(work: Workspace, node: syntax.Session) -> Iterator[Target]:
    """Yield the targets that the rows of a session name; for all, frames after the messages that they carry."""
    for _, row in _opened(node):
        match row:
            case syntax.Row(messages=syntax.Wildcard()):
                yield from sorted(every_target(work), key=lambda each: isinstance(each, syntax.Frame))
            case syntax.Row(messages=tuple() as names):
                declared = (work.names.get(name.text) for name in names)
                yield from (each for each in declared if isinstance(each, Target))


def _scope(table: _Table, node: syntax.Row, named: tuple[Target, ...] | None) -> Scope:
    """Return the names visible to a row's expressions; an unknown target may have any field."""
    is_known = isinstance(node.messages, tuple) and named is not None and len(named) == len(node.messages)
    key = tuple(target.name.text for target in named) if is_known and named is not None else None
    if key not in table.scopes:
        seen = every_target(table.work) if key is None or named is None else named
        table.scopes[key] = scope_of(table.work, seen, table.instance)
    return table.scopes[key]


def _role(table: _Table, name: syntax.Name) -> str:
    roles = table.instance.roles or table.work.settings.roles
    if name.text not in roles:
        report_unknown(name, "role", roles, table.work.report)
    own = table.instance.places if table.instance.roles else table.work.settings.role_places
    table.work.refer(name, own.get(name.text))
    return name.text


def _effect(table: _Table, scope: Scope, node: syntax.Effect) -> model.Effect:
    match node:
        case syntax.Go(state=state):
            if state.text not in table.states:
                report_unknown(state, "state", table.states, table.work.report)
            else:
                table.work.refer(state, table.states[state.text].span)
            return model.Go(state=state.text, updates=_updates(table, scope, node.updates))
        case syntax.Stay():
            return model.Go(state=None, updates=_updates(table, scope, node.updates))
        case syntax.Violates(name=name):
            check_case(name, "snake", "a violation", table.work.report)
            table.work.refer(name, table.work.place_of_rule(name.text))
            return model.Violates(name=name.text, is_lenient=node.lenient is not None)


def _place_updates(work: Workspace, path: str, node: syntax.Effect) -> None:
    if isinstance(node, syntax.Go | syntax.Stay):
        for update in node.updates:
            work.place(f"{path}.{update.name.text}", update.span, name=update.name.span)


def _updates(table: _Table, scope: Scope, nodes: Iterable[syntax.Update]) -> tuple[model.Update, ...]:
    nodes = tuple(nodes)
    refuse_duplicates((PlacedName(name=node.name, what="update") for node in nodes), table.work.report)
    updates = (_update(table, scope, node) for node in nodes)
    return tuple(update for update in updates if update is not None)


def _update(table: _Table, scope: Scope, node: syntax.Update) -> model.Update | None:
    if node.name.text in table.options:
        message = f"`{node.name.text}` is an option, which only the application sets"
        table.work.error(
            "WG2007", message, node.name.span, label="an option", help_="declare it with `var` to update it"
        )
        return None
    variables = table.instance.variables
    wanted = variables.get(node.name.text)
    if wanted is None:
        report_unknown(
            node.name, "variable", variables, table.work.report, help_="declare it: `var x : u32 = 0`"
        )
        return None
    table.work.refer(node.name, table.instance.places.get(node.name.text))
    value = require(table.work, scope, node.value, wanted, f"`{node.name.text}`")
    return model.Update(variable=node.name.text, value=value)


def _timers(table: _Table, node: syntax.Session) -> Iterator[model.Timer]:
    timers = ((states, row) for states, row in _opened(node) if isinstance(row, syntax.Timer))
    for index, (states, timer) in enumerate(timers):
        yield _timer(table, f"{table.path}.timers[{index}]", states, timer)


def _timer(table: _Table, path: str, states: tuple[str, ...] | None, node: syntax.Timer) -> model.Timer:
    work = table.work
    work.place(path, node.span, name=node.duration.span, effect=node.effect.span)
    _place_updates(work, path, node.effect)
    scope = scope_of(work, (), table.instance)
    return model.Timer(
        path=path,
        doc=node.docs,
        states=states,
        after=require(work, scope, node.duration, INTEGER, "`after`"),
        effect=_effect(table, scope, node.effect),
        notes=resolve_notes(work, node.annotations),
    )
