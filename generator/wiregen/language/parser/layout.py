"""Rules of the grammar to fields and shapes."""

from collections.abc import Iterator
from typing import TypeGuard, cast

from wiregen.language import syntax

from .expressions import expressions, references
from .parts import Clause, Listed, Parts


def block(parts: Parts) -> syntax.Block:
    return syntax.Block(fields=parts.all(syntax.Field), span=parts.span)


def fields_of(parts: Parts) -> tuple[syntax.Field, ...]:
    return parts.one(syntax.Block).fields


def field(parts: Parts) -> syntax.Field:
    listed = parts.all(Listed)
    return syntax.Field(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        shape=parts.one(syntax.Shape),
        view=parts.maybe(syntax.View),
        value=_value_of(parts),
        condition=parts.expression("if"),
        requirements=tuple(_requirements(listed)),
        annotations=(*parts.all(syntax.Annotation), *_of_field(listed)),
        span=parts.span,
    )


def requirement(parts: Parts) -> Listed:
    """Return a `where` of a field and the annotations after it."""
    return Listed(items=(*parts.all(Clause), *parts.all(syntax.Annotation)), span=parts.span)


def _requirements(parts: tuple[Listed, ...]) -> Iterator[syntax.Requirement]:
    for number, part in enumerate(parts):
        condition, *annotations = part.items
        assert isinstance(condition, Clause)
        rules = tuple(each for each in annotations if number and _is_rule(each))
        yield syntax.Requirement(expression=condition.expression, rules=rules, span=part.span)


def _of_field(parts: tuple[Listed, ...]) -> Iterator[syntax.Annotation]:
    """Yield the annotations that are the field's: all but the rules after a second `where` or a later one."""
    for number, part in enumerate(parts):
        for each in part.items:
            if isinstance(each, syntax.Annotation) and not (number and _is_rule(each)):
                yield each


def _is_rule(node: object) -> TypeGuard[syntax.Annotation]:
    return isinstance(node, syntax.Annotation) and node.name.text == "rule"


def _value_of(parts: Parts) -> syntax.Value | None:
    for child in parts.children:
        if isinstance(child, syntax.Default | syntax.Derived | syntax.Constant | syntax.Trailing):
            return child
    return None


def shape(parts: Parts) -> syntax.Shape:
    return syntax.Shape(
        core=cast(syntax.Core, parts.children[0]),
        only=parts.names("only"),
        carrier=parts.expression("in"),
        lenient=parts.place("LENIENT"),
        span=parts.span,
    )


def match_(parts: Parts) -> syntax.Match:
    (subject,) = references(parts)
    arms = None if parts.token("LBRACE") is None else parts.all(syntax.Arm)
    return syntax.Match(subject=subject, arms=arms, span=parts.span)


def arm(parts: Parts) -> syntax.Arm:
    patterns = tuple(
        p for p in parts.children if isinstance(p, syntax.Name | syntax.Boolean | syntax.CodeRange)
    )
    return syntax.Arm(patterns=patterns, shape=parts.one(syntax.Shape), span=parts.span)


def view(parts: Parts) -> syntax.View:
    (type_,) = references(parts)
    return syntax.View(type=type_, only=parts.names("only"), span=parts.span)


def default(parts: Parts) -> syntax.Default:
    (expression,) = expressions(parts)
    return syntax.Default(expression=expression, others=parts.all(syntax.DefaultOf), span=parts.span)


def default_of(parts: Parts) -> syntax.DefaultOf:
    (expression,) = expressions(parts)
    return syntax.DefaultOf(messages=parts.names(), expression=expression, span=parts.span)


def derived(parts: Parts) -> syntax.Derived:
    (expression,) = expressions(parts)
    return syntax.Derived(expression=expression, span=parts.span)


def constant(parts: Parts) -> syntax.Constant:
    (expression,) = expressions(parts)
    return syntax.Constant(expression=expression, span=parts.span)


def trailing(parts: Parts) -> syntax.Trailing:
    (expression,) = expressions(parts)
    return syntax.Trailing(expression=expression, span=parts.span)


RULES = {
    "block": block,
    "field": field,
    "requirement": requirement,
    "shape": shape,
    "match": match_,
    "arm": arm,
    "view": view,
    "default": default,
    "default_of": default_of,
    "derived": derived,
    "constant": constant,
    "trailing": trailing,
}
