"""Rules of the grammar to expressions, references, names and annotations."""

from typing import cast

from lark import Token

from wiregen.language import syntax

from .parts import Clause, Docs, Listed, Names, Parts

_REFS = (
    syntax.Name,
    syntax.Attribute,
    syntax.Sized,
    syntax.ToTheEnd,
    syntax.Terminated,
    syntax.Call,
)
_EXPRESSIONS = (
    *_REFS,
    syntax.Integer,
    syntax.Character,
    syntax.String,
    syntax.Bytes,
    syntax.Boolean,
    syntax.Null,
    syntax.Unary,
    syntax.Binary,
    syntax.Range,
    syntax.Listing,
    syntax.Group,
)


def expressions(parts: Parts) -> tuple[syntax.Expression, ...]:
    """Return the direct expressions among the parts, names included."""
    return tuple(child for child in parts.children if isinstance(child, _EXPRESSIONS))


def references(parts: Parts) -> tuple[syntax.Ref, ...]:
    return tuple(child for child in parts.children if isinstance(child, _REFS))


def unary(parts: Parts) -> syntax.Unary:
    operator = cast(syntax.UnaryOperator, str(parts.one(Token)))
    (operand,) = expressions(parts)
    return syntax.Unary(operator=operator, operand=operand, span=parts.span)


def binary(parts: Parts) -> syntax.Binary:
    left, right = expressions(parts)
    words = parts.all(Token)
    operator = cast(syntax.BinaryOperator, " ".join(words))
    place = Parts(words, parts.source, parts.report).span
    return syntax.Binary(operator=operator, operator_span=place, left=left, right=right, span=parts.span)


def range_(parts: Parts) -> syntax.Range:
    low, high = expressions(parts)
    return syntax.Range(low=low, high=high, span=parts.span)


def listing(parts: Parts) -> syntax.Listing:
    return syntax.Listing(items=expressions(parts), span=parts.span)


def group(parts: Parts) -> syntax.Group:
    (expression,) = expressions(parts)
    return syntax.Group(expression=expression, span=parts.span)


def attribute(parts: Parts) -> syntax.Attribute:
    base, name = references(parts)
    return syntax.Attribute(base=base, name=cast(syntax.Name, name), span=parts.span)


def to_the_end(parts: Parts) -> syntax.ToTheEnd:
    (base,) = references(parts)
    return syntax.ToTheEnd(base=base, span=parts.span)


def sized(parts: Parts) -> syntax.Sized:
    base, length = expressions(parts)
    return syntax.Sized(base=cast(syntax.Ref, base), length=length, span=parts.span)


def terminated(parts: Parts) -> syntax.Terminated:
    base, until = expressions(parts)
    return syntax.Terminated(base=cast(syntax.Ref, base), until=until, span=parts.span)


def call(parts: Parts) -> syntax.Call:
    (function,) = references(parts)
    return syntax.Call(function=function, arguments=arguments_of(parts), span=parts.span)


def arguments(parts: Parts) -> Listed:
    return Listed(items=parts.all(syntax.Argument), span=parts.span)


def arguments_of(parts: Parts) -> tuple[syntax.Argument, ...]:
    listed = parts.maybe(Listed)
    return () if listed is None else cast(tuple[syntax.Argument, ...], listed.items)


def argument(parts: Parts) -> syntax.Argument:
    if parts.token("ASSIGN") is None:
        (value,) = expressions(parts)
        return syntax.Argument(name=None, value=value, span=parts.span)
    name, value = expressions(parts)
    return syntax.Argument(name=cast(syntax.Name, name), value=value, span=parts.span)


def annotation(parts: Parts) -> syntax.Annotation:
    return syntax.Annotation(name=parts.one(syntax.Name), arguments=arguments_of(parts), span=parts.span)


def condition(parts: Parts) -> Clause:
    word = parts.one(Token)
    (expression,) = expressions(parts)
    return Clause(word=str(word), expression=expression, span=parts.span)


def names(parts: Parts) -> Names:
    return Names(word="", names=parts.all(syntax.Name), span=parts.span)


def worded_names(parts: Parts) -> Names:
    """`only` or `per` with a list of names, `from` with one."""
    single = parts.maybe(syntax.Name)
    listed = parts.names() if single is None else (single,)
    return Names(word=str(parts.one(Token)), names=listed, span=parts.span)


def code(parts: Parts) -> syntax.Code:
    character = parts.maybe(syntax.Character)
    if character is not None:
        return character
    integer = parts.one(syntax.Integer)
    value = integer.value if parts.token("MINUS") is None else -integer.value
    return syntax.Integer(value=value, span=parts.span)


def code_of(parts: Parts) -> syntax.Code | None:
    return parts.maybe(syntax.Integer) or parts.maybe(syntax.Character)


def code_range(parts: Parts) -> syntax.CodeRange:
    codes = [child for child in parts.children if isinstance(child, syntax.Integer | syntax.Character)]
    return syntax.CodeRange(low=codes[0], high=codes[-1], span=parts.span)


def ranges(parts: Parts) -> Listed:
    return Listed(items=parts.all(syntax.CodeRange), span=parts.span)


def ranges_of(parts: Parts) -> tuple[syntax.CodeRange, ...]:
    return cast(tuple[syntax.CodeRange, ...], parts.one(Listed).items)


def text(parts: Parts) -> syntax.String:
    """Join adjacent strings to one text."""
    strings = parts.all(syntax.String)
    return syntax.String(value="".join(string.value for string in strings), span=parts.span)


def docs(parts: Parts) -> Docs:
    before = parts.maybe(Docs)
    lines = [] if before is None or not before.text else [before.text]
    lines += [token.rstrip()[3:].removeprefix(" ") for token in parts.all(Token)]
    return Docs(text="\n".join(lines))


def wildcard(parts: Parts) -> syntax.Wildcard:
    return syntax.Wildcard(span=parts.span)


RULES = {
    "unary": unary,
    "binary": binary,
    "span": range_,
    "listing": listing,
    "group": group,
    "attribute": attribute,
    "to_the_end": to_the_end,
    "sized": sized,
    "terminated": terminated,
    "call": call,
    "arguments": arguments,
    "argument": argument,
    "annotation": annotation,
    "condition": condition,
    "where": condition,
    "when": condition,
    "carrier": condition,
    "names": names,
    "only": worded_names,
    "per": worded_names,
    "from": worded_names,
    "code": code,
    "range": code_range,
    "ranges": ranges,
    "text": text,
    "docs": docs,
    "any": wildcard,
}
