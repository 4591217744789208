"""Parsing a text to a tree, with recovery after errors."""

from dataclasses import dataclass, replace
from typing import Protocol

from lark import ParseTree, UnexpectedInput

from wiregen.language import syntax
from wiregen.language.diagnostics import Report, Span

from .expressions import expressions
from .grammar import QUESTION, Attempt
from .keywords import NAMES, WORDS
from .scanning import Outline, outline, report_late_docs, report_obstacles
from .tree import NestedTooDeeplyError, build, declarations_of
from .unexpected import report_unexpected


class ParserInput(Protocol):
    """A text and the name by which diagnostics call it."""

    @property
    def name(self) -> str: ...

    @property
    def text(self) -> str: ...


def parse(source: ParserInput, report: Report) -> syntax.File | None:
    """Return the tree of a text without errors; otherwise report at least one error and return None."""
    findings = Report()
    file = _parse(source, findings)
    report.merge(findings)
    return None if findings.has_errors else file


def parse_partial(source: ParserInput, report: Report) -> syntax.File | None:
    """Return the tree of the declarations without syntax errors.

    Return None without a protocol, or if brackets or an expression are nested too deeply.
    """
    return _parse(source, report)


def parse_tokens(source: ParserInput, report: Report) -> ParseTree | None:
    """Return the grammar's tree with all tokens of a text; report at least one error and return None if it does not match.

    Literals are not read: a wrong escape is no error here.
    """
    findings = Report()
    seen = outline(source.text)
    is_fit = not report_obstacles(source.text, seen, source.name, findings)
    report_late_docs(seen, source.name, findings)
    trees = _trees(source, seen, findings) if is_fit else []
    report.merge(findings)
    return None if findings.has_errors else trees[0]


def parse_question(
    source: ParserInput, report: Report, *, is_one: bool = False
) -> tuple[syntax.Expression, ...]:
    """Return the expressions of a question, `is_one`: a single one; otherwise report an error and return ()."""
    seen = outline(source.text)
    if report_obstacles(source.text, seen, source.name, report):
        return ()
    attempt = Attempt(text=source.text, begin=0, end=len(source.text), rule=QUESTION)
    try:
        found = expressions(build(attempt.parse(), source.name, report))
    except UnexpectedInput as error:
        report_unexpected(error, attempt, seen, source.name, report)
        return ()
    except NestedTooDeeplyError:
        return ()
    for extra in found[1:] if is_one else ():
        help_ = "join conditions with `and` or `or`"
        report.error("WG1100", "expected one condition, found several", extra.span, help=help_)
    return () if report.has_errors else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What the grammar accepts at a place: words of the language; `is_name`: also names."""

    words: tuple[str, ...]
    is_name: bool


def accepted_at(source: ParserInput, offset: int) -> Accepted:
    """Return what the grammar accepts at an offset: nothing behind a syntax error in the same declaration."""
    start = outline(source.text[:offset]).start_at_or_before(offset)
    begin, rule = (0, "file") if start is None else (start.offset, "declarations")
    accepted = Attempt(text=source.text, begin=begin, end=offset, rule=rule).accepted()
    words = (WORDS[kind] for kind in accepted & WORDS.keys())
    return Accepted(words=tuple(sorted(words)), is_name=bool(accepted & NAMES))


def _parse(source: ParserInput, report: Report) -> syntax.File | None:
    seen = outline(source.text)
    if report_obstacles(source.text, seen, source.name, report):
        return None
    report_late_docs(seen, source.name, report)
    trees = _trees(source, seen, report)
    try:
        starts = [build(tree, source.name, report) for tree in trees]
    except NestedTooDeeplyError:
        return None
    protocol = next((part.maybe(syntax.Protocol) for part in starts), None)
    if protocol is None:
        return None
    return syntax.File(
        version=starts[0].maybe(syntax.Integer),
        protocol=protocol,
        declarations=sum((declarations_of(part) for part in starts), ()),
        span=Span(source=source.name, start=0, end=len(source.text)),
    )


def _trees(source: ParserInput, seen: Outline, report: Report) -> list[ParseTree]:
    """Parse to the end, resuming at the next declaration after an error."""
    trees: list[ParseTree] = []
    attempt = Attempt(text=source.text, begin=0, end=len(source.text), rule="file")
    tried = -1
    while not report.is_full:
        try:
            return [*trees, attempt.parse()]
        except UnexpectedInput as error:
            at = report_unexpected(error, attempt, seen, source.name, report)
        trees.extend(_tree_before(attempt, at, seen))
        start = seen.next_start(at, tried)
        if start is None:
            break
        attempt = replace(attempt, begin=start.offset, rule="declarations")
        tried = start.word
    return trees


def _tree_before(attempt: Attempt, at: int, seen: Outline) -> list[ParseTree]:
    """Parse again the text before the declaration with an error."""
    start = seen.start_at_or_before(at)
    if start is None or start.offset <= attempt.begin:
        return []
    try:
        return [replace(attempt, end=start.offset).parse()]
    except UnexpectedInput:
        return []
