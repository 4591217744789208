"""Questions about decoded frames: expressions that a user writes about the fields of any message, and about places."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from wiregen.language import syntax
from wiregen.language.diagnostics import Report
from wiregen.language.parser import parse_question
from wiregen.language.resolver.expressions import require, resolve_expression
from wiregen.language.resolver.scopes import Scope, meanings
from wiregen.language.resolver.sorts import BOOLEAN, FLOAT, INTEGER, ROLE, TEXT, Sort
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.targets import SessionNames, every_target, scope_of
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.language.source import Source
from wiregen.schema import model

__all__ = ["MESSAGE", "PLACES", "Question", "resolve_condition", "resolve_questions"]

MESSAGE: Final = "@message"
PLACES: Final[Mapping[str, Sort]] = {
    MESSAGE: TEXT,
    "@from": ROLE,
    "@offset": INTEGER,
    "@size": INTEGER,
    "@time": FLOAT,
    "@flow": TEXT,
    "@error": TEXT,
}
"""The facts about a frame that are not in its bytes; `message` is short for `@message` where no field has that name."""
_SHORT: Final = MESSAGE.removeprefix("@")
_UNKNOWN_MESSAGE: Final = "Unknown"
_END_OF_FILE: Final = "the end of the file"
"""As messages of the parser name the end of a text."""
_END_OF_QUESTION: Final = "the end of the text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An expression, with its text as the user wrote it."""

    text: str
    expression: model.Expression
    sort: Sort


def resolve_condition(work: Workspace, source: Source, report: Report) -> model.Expression | None:
    """Return the expression of a condition about any frame, or report an error and return None."""
    asked = _parsed(source, report, is_one=True)
    if not asked:
        return None
    found = Report()
    work, scope = replace(work, report=found), _scope(work)
    condition = require(work, scope, asked[0], BOOLEAN, "the condition")
    _check_messages(work, asked[0])
    report.merge(found)
    return None if report.has_errors else condition


def resolve_questions(
    work: Workspace, source: Source, report: Report, expected: Sort | None = None
) -> tuple[Question, ...]:
    """Return the expressions of a text that are separated by commas, or report an error and return ().

    `expected`: the sort that is wanted, whose members need no prefix.
    """
    found = Report()
    asked = _parsed(source, found)
    work, scope = replace(work, report=found), _scope(work)
    questions = []
    for node in asked:
        typed = resolve_expression(work, scope, node, expected)
        text = source.text[node.span.start : node.span.end]
        questions.append(Question(text=text, expression=typed.expression, sort=typed.sort))
    report.merge(found)
    return () if report.has_errors else tuple(questions)


def _parsed(source: Source, report: Report, *, is_one: bool = False) -> tuple[syntax.Expression, ...]:
    """Return the expressions of a text, or report an error about it, which is no file, and return ()."""
    found = Report()
    asked = parse_question(source, found, is_one=is_one)
    for each in found.diagnostics:
        report.add(replace(each, message=each.message.replace(_END_OF_FILE, _END_OF_QUESTION)))
    return asked


def _scope(work: Workspace) -> Scope:
    """Return the scope of a question: the fields of everything that is sent, and the places."""
    scope = replace(scope_of(work, every_target(work), SessionNames(variables=PLACES)), is_question=True)
    if meanings(work, scope, _SHORT, None):
        return scope
    return replace(scope, variables={**PLACES, _SHORT: TEXT})


def _check_messages(work: Workspace, node: syntax.Expression) -> None:
    """Report a text that is compared with the name of the message, and is not the name of any."""
    known = [target.name.text for target in every_target(work) if not isinstance(target, syntax.Join)]
    for text in _compared_with_message(node):
        if text.value not in (*known, _UNKNOWN_MESSAGE):
            report_unknown(syntax.Name(text=text.value, span=text.span), "message", known, work.report)


def _compared_with_message(node: syntax.Expression) -> Iterator[syntax.String]:
    """Yield the texts that stand on the other side of `message`."""
    match node:
        case syntax.Group(expression=inner) | syntax.Unary(operand=inner):
            yield from _compared_with_message(inner)
        case syntax.Binary(left=left, right=right):
            for one, other in ((left, right), (right, left)):
                if isinstance(one, syntax.Name) and one.text in (MESSAGE, _SHORT):
                    yield from _texts(other)
                yield from _compared_with_message(one)
        case _:
            return


def _texts(node: syntax.Expression) -> Iterator[syntax.String]:
    match node:
        case syntax.String():
            yield node
        case syntax.Listing(items=items):
            for item in items:
                yield from _texts(item)
        case syntax.Group(expression=inner):
            yield from _texts(inner)
        case _:
            return
