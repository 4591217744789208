"""Explains a syntax error: one diagnostic for the place where the grammar stopped.

The explanations are tried in order, the most specific first; the last one always applies.
"""

from collections.abc import Callable
from dataclasses import replace

from lark import Token, UnexpectedInput
from lark.parsers.lalr_interactive_parser import InteractiveParser

from wiregen.language.diagnostics import Report

from . import characters, structure
from . import explanations as wording
from .grammar import Attempt
from .scanning import Outline
from .syntax_error import MisplacedToken

_Explanation = Callable[[MisplacedToken], bool]

_EXPLANATIONS: tuple[_Explanation, ...] = (
    characters.unterminated,
    characters.misplaced_quantity,
    characters.malformed_number,
    characters.comment_of_another_language,
    characters.operator_of_another_language,
    characters.separator,
    characters.stray,
    structure.unclosed,
    structure.unopened,
    structure.mismatched,
    structure.second_protocol,
    structure.late_version,
    structure.misplaced_docs,
    wording.torn_name,
    wording.reserved,
    wording.confused_equals,
    wording.misspelled,
    structure.no_protocol,
    wording.late_clause,
    wording.missing_colon,
    wording.region_before_arms,
    wording.unexpected,
)


def report_unexpected(
    error: UnexpectedInput, attempt: Attempt, seen: Outline, source: str, report: Report
) -> int:
    """Report why the grammar stopped, and return the place where it did."""
    fault = _fault(error, attempt, seen, source, report)
    for explain in _EXPLANATIONS:
        if explain(fault):
            break
    return fault.start


def _fault(
    error: UnexpectedInput, attempt: Attempt, seen: Outline, source: str, report: Report
) -> MisplacedToken:
    token = getattr(error, "token", None)
    text = attempt.text
    if isinstance(token, Token) and token.type != "$END":
        assert token.start_pos is not None and token.end_pos is not None
        kind, start, end = token.type, token.start_pos, token.end_pos
    elif token is None:
        assert error.pos_in_stream is not None
        kind, start, end = "", error.pos_in_stream, error.pos_in_stream + 1
    else:
        kind, start, end = "$END", len(text), len(text)
    return MisplacedToken(
        text=text,
        start=start,
        end=end,
        kind=kind,
        accepts=_accepts(error, attempt, start),
        seen=seen,
        source=source,
        report=report,
    )


def _accepts(error: UnexpectedInput, attempt: Attempt, at: int) -> frozenset[str]:
    """Return the tokens that the grammar accepts at the fault.

    The parser of the error may have reduced rules for the token that then did not fit, and lost the tokens
    that were possible before. Therefore the text before the fault is parsed once more, without the text after
    it.
    """
    accepted = replace(attempt, end=at).accepted()
    if accepted:
        return accepted
    stopped: InteractiveParser = error.interactive_parser
    return frozenset(stopped.accepts())  # type: ignore[no-untyped-call]
