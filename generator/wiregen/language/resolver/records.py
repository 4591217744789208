"""Rules and the ledger, which only make pages of the docs."""

from collections.abc import Iterable

from wiregen.language import syntax
from wiregen.language.diagnostics import did_you_mean
from wiregen.language.resolver.annotations import resolve_notes
from wiregen.language.resolver.names import PlacedName, check_case, refuse_duplicates
from wiregen.language.resolver.state import Workspace
from wiregen.schema import model


def rules_of(
    declarations: Iterable[syntax.Declaration],
) -> dict[str, syntax.Rule]:
    """Return the rules by name, the first of each."""
    rules = [node for node in declarations if isinstance(node, syntax.Rule)]
    return {node.name.text: node for node in reversed(rules)}


def resolve_rules(work: Workspace, nodes: Iterable[syntax.Rule]) -> tuple[model.Rule, ...]:
    nodes = tuple(nodes)
    refuse_duplicates((PlacedName(name=node.name, what="rule") for node in nodes), work.report)
    return tuple(_rule(work, node) for node in nodes)


def _rule(work: Workspace, node: syntax.Rule) -> model.Rule:
    check_case(node.name, "snake", "a rule", work.report)
    path = work.place(f"{work.path}.rules.{node.name.text}", node.span, name=node.name.span)
    notes = resolve_notes(work, node.annotations)
    noted = (", ".join(source) for source in notes.sources)
    sources = (*(source.value for source in node.sources), *noted)
    return model.Rule(path=path, name=node.name.text, text=node.text.value, sources=sources, notes=notes)


def resolve_ledgers(work: Workspace, nodes: Iterable[syntax.Ledger]) -> tuple[model.Ledger, ...]:
    """Return the ledger's entries, after the places of all nodes that they may be about are known."""
    nodes = tuple(nodes)
    ids = (
        PlacedName(name=syntax.Name(text=_id(node), span=node.id.span), what="ledger entry") for node in nodes
    )
    refuse_duplicates(ids, work.report)
    return tuple(_ledger(work, node) for node in nodes)


def _id(node: syntax.Ledger) -> str:
    return str(node.id.value) if isinstance(node.id, syntax.Integer) else node.id.text


def _ledger(work: Workspace, node: syntax.Ledger) -> model.Ledger:
    path = work.place(f"{work.path}.ledgers.{_id(node)}", node.span, name=node.id.span)
    resolve_notes(work, node.annotations)
    subjects = [each for entry in node.entries if isinstance(entry, syntax.About) for each in entry.subjects]
    texts = _texts(work, node)
    return model.Ledger(
        path=path,
        id=_id(node),
        title=node.title.value,
        document=texts.get("document", ""),
        peers=texts.get("peers", ""),
        decision=texts.get("decision", ""),
        reason=texts.get("reason", ""),
        about=tuple(filter(None, (_subject(work, each) for each in subjects))),
    )


def _texts(work: Workspace, node: syntax.Ledger) -> dict[str, str]:
    texts: dict[str, str] = {}
    for entry in node.entries:
        if isinstance(entry, syntax.About):
            continue
        if entry.kind in texts:
            work.error("WG2405", f"`{entry.kind}` occurs twice", entry.span, label="second")
        texts.setdefault(entry.kind, entry.text.value)
    return texts


def _subject(work: Workspace, node: syntax.Ref) -> str | None:
    words = _dotted(node)
    subject = ".".join(word.text for word in words)
    if words and f"{work.path}.{subject}" in work.origins:
        _refer(work, words)
        return subject
    known = (path.removeprefix(f"{work.path}.") for path in work.origins if "#" not in path)
    message = f"the entry is about `{subject}`, which does not exist"
    work.error("WG2405", message, node.span, label="unknown", help_=did_you_mean(subject, known))
    return None


def _refer(work: Workspace, words: Iterable[syntax.Name]) -> None:
    """Record what each word of a dotted name refers to."""
    path = work.path
    for word in words:
        path = f"{path}.{word.text}"
        work.refer(word, work.origins.get(f"{path}#name"))


def _dotted(node: syntax.Ref) -> list[syntax.Name]:
    words: list[syntax.Name] = []
    while isinstance(node, syntax.Attribute):
        words.insert(0, node.name)
        node = node.base
    return [node, *words] if isinstance(node, syntax.Name) else []
