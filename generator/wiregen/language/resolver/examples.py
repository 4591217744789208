"""Examples: bytes, and the messages that they encode."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, get_args

from wiregen.language import syntax
from wiregen.language.resolver.annotations import resolve_notes
from wiregen.language.resolver.constructors import SentType, Shelf, build
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.runtime.schema.literals import Code
from wiregen.schema import model

_DECODE_ERRORS: Final[tuple[str, ...]] = get_args(Code)


def resolve_examples(
    work: Workspace, nodes: Iterable[tuple[syntax.Example, str | None]], shelves: dict[str | None, Shelf]
) -> tuple[model.Example, ...]:
    """Return the examples, each with the variant that contains it."""
    found = (
        _example(shelves[variant], node, variant, f"{work.path}.examples[{index}]")
        for index, (node, variant) in enumerate(nodes)
    )
    return tuple(example for example in found if example is not None)


def _example(shelf: Shelf, node: syntax.Example, variant: str | None, path: str) -> model.Example | None:
    work = shelf.work
    work.place(path, node.span, name=node.name.span, given=node.given.span, outcome=node.outcome.span)
    resolve_notes(work, node.annotations)
    match node.given, node.outcome:
        case syntax.Bytes() as octets, syntax.Violates(name=name):
            _check_code(work, name)
            return _made(node, path, variant, "violates", octets, (), violation=name.text)
        case syntax.Bytes() as octets, outcome if not isinstance(outcome, syntax.Violates | syntax.Bytes):
            return _made(node, path, variant, "read", octets, _conversation(shelf, outcome))
        case given, syntax.Bytes() as octets if not isinstance(given, syntax.Bytes):
            return _made(node, path, variant, "both", octets, _conversation(shelf, given))
        case _:
            message = "an example needs a value and its bytes, or bytes and the error that they cause"
            help_ = 'write `VALUE = x"…"`, `x"…" = VALUE` or `x"…" violates CODE`'
            work.error("WG2406", message, node.name.span, label="this example", help_=help_)
            return None


def _made(
    node: syntax.Example,
    path: str,
    variant: str | None,
    form: Literal["both", "read", "violates"],
    octets: syntax.Bytes,
    conversation: tuple[model.Construct, ...],
    *,
    violation: str | None = None,
) -> model.Example:
    return model.Example(
        path=path,
        name=node.name.value,
        doc=node.docs,
        form=form,
        variant=variant,
        scene=conversation[:-1],
        value=conversation[-1] if conversation else None,
        hex=octets.value.hex(),
        violation=violation,
    )


def _conversation(shelf: Shelf, node: syntax.Expression) -> tuple[model.Construct, ...]:
    """Return the messages of an example: the bytes are those of the last one, the others precede it."""
    if isinstance(node, syntax.Listing) and not node.items:
        shelf.work.error(
            "WG2406", "the list is empty", node.span, help_="write the message of the bytes last"
        )
    nodes = node.items if isinstance(node, syntax.Listing) else (node,)
    built = (build(shelf, each, SentType()) for each in nodes)
    return tuple(each for each in built if isinstance(each, model.Construct))


def _check_code(work: Workspace, name: syntax.Name) -> None:
    known = {*_DECODE_ERRORS, *work.rules, *violations_of(work)}
    if name.text not in known:
        report_unknown(name, "error or rule", sorted(known), work.report)
    work.refer(name, work.place_of_rule(name.text))


def violations_of(work: Workspace) -> Iterator[str]:
    """Yield the rules that rows and timers of sessions name as violated."""
    for node in work.names.values():
        if not isinstance(node, syntax.Session):
            continue
        rows = (row for line in node.lines if isinstance(line, syntax.State) for row in line.rows)
        yield from (row.effect.name.text for row in rows if isinstance(row.effect, syntax.Violates))
