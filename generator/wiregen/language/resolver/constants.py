"""Constants, evaluated in an order in which each one follows those that it needs."""

from collections.abc import Iterable, Iterator, Mapping

from wiregen.language import syntax
from wiregen.language.resolver.annotations import resolve_notes
from wiregen.language.resolver.arithmetic import fold
from wiregen.language.resolver.expressions import require
from wiregen.language.resolver.scopes import Scope
from wiregen.language.resolver.sorts import INTEGER
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.tree import mentioned
from wiregen.schema import model


def evaluate_constants(work: Workspace) -> None:
    """Evaluate the constants; one that needs itself, directly or not, is reported and has no value."""
    nodes = {name: node for name, node in work.names.items() if isinstance(node, syntax.Const)}
    needs = {name: {word.text for _, word in mentioned(node)} & nodes.keys() for name, node in nodes.items()}
    for name in _in_order(needs):
        work.constants[name] = _evaluate(work, nodes[name])
    for name in [name for name in nodes if name not in work.constants]:
        _report_circle(work, nodes[name])
        work.constants[name] = None


def _in_order(needs: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield each name after those that it needs, without names in a cycle and names that need one."""
    users: dict[str, list[str]] = {}
    for name, needed in needs.items():
        for other in sorted(needed):
            users.setdefault(other, []).append(name)
    n_missing = {name: len(needed) for name, needed in needs.items()}
    ready = [name for name, number in n_missing.items() if number == 0]
    while ready:
        name = ready.pop()
        yield name
        for user in users.get(name, ()):
            n_missing[user] -= 1
            if n_missing[user] == 0:
                ready.append(user)


def _evaluate(work: Workspace, node: syntax.Const) -> int | None:
    expression = require(work, Scope(where="fixed"), node.value, INTEGER, "a constant")
    value = fold(expression)
    if value is None and not isinstance(expression, model.Null):
        message = f"the value of constant `{node.name.text}` must be known before reading"
        work.error("WG2207", message, node.value.span, label="not a constant")
    return value


def _report_circle(work: Workspace, node: syntax.Const) -> None:
    message = f"constant `{node.name.text}` refers to itself"
    work.error("WG2009", message, node.name.span, label="refers to itself")


def resolve_constants(work: Workspace, nodes: Iterable[syntax.Const]) -> tuple[model.Const, ...]:
    return tuple(_resolve(work, node) for node in nodes)


def _resolve(work: Workspace, node: syntax.Const) -> model.Const:
    path = work.place(f"{work.path}.{node.name.text}", node.span, name=node.name.span, value=node.value.span)
    value = work.constants.get(node.name.text) or 0
    notes = resolve_notes(work, node.annotations)
    return model.Const(path=path, name=node.name.text, doc=node.docs, value=value, notes=notes)
