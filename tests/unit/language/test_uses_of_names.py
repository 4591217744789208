"""The declarations to which the names of a file refer, as the resolver records them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from wiregen.language import syntax
from wiregen.language.diagnostics import Report
from wiregen.language.parser import parse
from wiregen.language.resolver import Resolved, resolve_partial
from wiregen.language.resolver.builtin_types import ALGORITHMS, sort_of_word
from wiregen.language.resolver.tree import children
from wiregen.language.source import Source, Sources, load

ROOT = Path(__file__).parents[3]
FILES = sorted((*ROOT.glob("idl/*.wire"), *ROOT.glob("tests/**/*.wire")))
DECLARING = frozenset(
    "Alias Coding Const Context Enum Field Frame Join Ledger Limit Member Message Option Preamble Protocol Rule Session Struct Union Var Variant Variety".split()
)
"""The nodes whose `name` or `id` declares something."""
WORDS_OF_SETTINGS = frozenset("big little msb lsb tcp udp close continue".split())
WORDS_OF_EXPRESSIONS = frozenset("value remaining offset sender code _ json dict limits".split())
BUILT_IN = frozenset(ALGORITHMS) | WORDS_OF_SETTINGS | WORDS_OF_EXPRESSIONS


def resolved(path: Path) -> tuple[syntax.File, Resolved, Sources] | None:
    """Return a file with its model, or None if it has errors."""
    sources, report = Sources(), Report()
    source = load(path, sources, report)
    file = None if source is None else parse(source, report)
    if file is None:
        return None
    found = resolve_partial(file, sources, report, roots=(path.parent,))
    return None if report.has_errors else (file, found, sources)


def names(node: object, owner: object = None, slot: str = "") -> Iterator[tuple[syntax.Name, str, str]]:
    """Yield the names below a node, each with the kind of the node and the attribute that hold it."""
    if isinstance(node, syntax.Name):
        yield node, type(owner).__name__, slot
    for below, child in children(node):
        yield from names(child, node, below)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_name_declares_refers_or_is_a_word_of_the_language(path: Path) -> None:
    found = resolved(path)
    if found is None:
        return  # the cases of errors have tests of their own
    file, model, _ = found
    uses = model.workspace.uses
    declared = {place for places in uses.values() for place in places}
    for name, owner, slot in names(file):
        is_declaration = slot in {"name", "id"} and owner in DECLARING
        is_declaration |= (owner, slot) in {
            ("RolesSetting", "names"),
            ("SessionRoles", "names"),
            ("State", "names"),
        }
        is_word = (
            name.text in BUILT_IN
            or sort_of_word(name.text) is not None
            or (owner, slot) in {("Annotation", "name"), ("Call", "function")}
        )
        is_error = (owner, slot) == ("Violates", "name")
        assert name.span in uses or name.span in declared or is_declaration or is_word or is_error, (
            name,
            owner,
            slot,
        )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_name_is_written_as_its_declaration(path: Path) -> None:
    found = resolved(path)
    if found is None:
        return
    _, model, sources = found
    for use, places in model.workspace.uses.items():
        for place in places:
            assert (
                sources[use.source].text[use.start : use.end]
                == sources[place.source].text[place.start : place.end]
            )


TEXT = """protocol p {
  endian big
  roles a, b
}
union Kind : u8 {
  Hello 1
  Other 2
}
message Hello 1 from a {
  size : u8
  data : bytes[size] if size > Kind.Hello
  kind : Kind only Hello
}
frame Frame {
  type : u8 := code(body)
  body : match type
}
session S {
  state open {
    a Hello => open
  }
}
"""


def test_an_alternative_and_a_message_of_one_name_are_told_apart() -> None:
    source, report = (
        Source(name="p.wire", path=Path("p.wire"), text=TEXT),
        Report(),
    )
    sources = Sources(source)
    file = parse(source, report)
    assert file is not None
    uses = resolve_partial(file, sources, report).workspace.uses
    assert not report.has_errors
    lines = {
        (source.line_and_column(use.start), source.line_and_column(place.start))
        for use, places in uses.items()
        for place in places
        if source.text[use.start : use.end] == "Hello"
    }
    alternative, message = (6, 3), (9, 9)
    assert {place for _, place in lines} == {alternative, message}
    assert sorted(use[0] for use, place in lines if place == alternative) == [11, 12]
    assert sorted(use[0] for use, place in lines if place == message) == [20]


def test_uses_are_known_in_a_file_with_errors() -> None:
    text = TEXT.replace("bytes[size]", "bytes[missing]")
    source, report = Source(name="p.wire", path=Path("p.wire"), text=text), Report()
    file = parse(source, report)
    assert file is not None
    uses = resolve_partial(file, Sources(source), report).workspace.uses
    assert report.has_errors
    assert "Kind" in {text[use.start : use.end] for use in uses}
