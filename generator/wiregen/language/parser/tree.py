"""The grammar's tree to the syntax tree, leaves first and without recursion."""

from lark import ParseTree, Token

from wiregen.language import syntax
from wiregen.language.diagnostics import Report, Span

from . import behaviour, declarations, expressions, layout
from .grammar import QUESTION
from .literals import LITERALS
from .parts import Parts

MAX_NESTING = 64
_NESTING = frozenset(
    ("unary", "binary", "span", "listing", "group", "attribute", "sized", "to_the_end", "terminated", "call")
)
_DECLARATIONS = (
    syntax.Import,
    syntax.Const,
    syntax.Limits,
    syntax.Alias,
    syntax.Enum,
    syntax.Struct,
    syntax.Frame,
    syntax.Message,
    syntax.Preamble,
    syntax.Union,
    syntax.Coding,
    syntax.Variant,
    syntax.Context,
    syntax.Join,
    syntax.Session,
    syntax.Rule,
    syntax.Ledger,
    syntax.Example,
    syntax.Conversation,
)


class NestedTooDeeplyError(Exception):
    """An expression was nested too deeply, and was reported; walking it could exhaust the stack."""


def build(tree: ParseTree, source: str, report: Report) -> Parts:
    """Return the children of a start rule: the version, the protocol, the declarations, as far as they are there.

    Raises:
        NestedTooDeeplyError: An expression is nested too deeply; the report has it.
    """
    # By the identity of subtrees, which all live as long as `tree`: a hash of one would read all below it.
    built: dict[int, object] = {}
    depths: dict[int, int] = {}
    for subtree in tree.iter_subtrees():
        children = [
            _literal(child, source, report) if isinstance(child, Token) else built.pop(id(child))
            for child in subtree.children
        ]
        parts = Parts(children, source, report)
        _check_nesting(subtree, parts, depths)
        built[id(subtree)] = RULES[subtree.data](parts)
    start = built[id(tree)]
    assert isinstance(start, Parts)
    return start


def _literal(token: Token, source: str, report: Report) -> object:
    convert = LITERALS.get(token.type)
    if convert is None:
        return token
    assert token.start_pos is not None and token.end_pos is not None
    return convert(token, Span(source=source, start=token.start_pos, end=token.end_pos), report)


def _check_nesting(subtree: ParseTree, parts: Parts, depths: dict[int, int]) -> None:
    depth = 0
    for child in subtree.children:
        if not isinstance(child, Token) and (inside := depths.pop(id(child), 0)) > depth:
            depth = inside
    depth += subtree.data in _NESTING
    if depth:
        depths[id(subtree)] = depth
    if depth > MAX_NESTING:
        parts.report.error(
            "WG1109",
            f"expression nested deeper than {MAX_NESTING} levels",
            parts.span,
            help="declare a part of it with `const`, or compare with a list: `x in [1, 2, 3]`",
        )
        raise NestedTooDeeplyError


def _start(parts: Parts) -> Parts:
    return parts


def _version(parts: Parts) -> syntax.Integer:
    version = parts.one(syntax.Integer)
    if version.value != 1:
        parts.report.error(
            "WG1117",
            f"version {version.value} of the language is not known",
            version.span,
            help="this compiler reads `wire 1`",
        )
    return version


def declarations_of(parts: Parts) -> tuple[syntax.Declaration, ...]:
    return tuple(child for child in parts.children if isinstance(child, _DECLARATIONS))


def _variant(parts: Parts) -> syntax.Variant:
    return syntax.Variant(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        declarations=declarations_of(parts),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


RULES = {
    **expressions.RULES,
    **layout.RULES,
    **declarations.RULES,
    **behaviour.RULES,
    "variant": _variant,
    "version": _version,
    "file": _start,
    "declarations": _start,
    QUESTION: _start,
}
