"""Types and expressions of the model as `.wire` text, each on one line."""

from __future__ import annotations

from typing import Final, assert_never

from wiregen.schema import model as m

__all__ = ["expression_text", "length_text", "literal_text", "span_text", "type_text"]

_BINDING: Final = {
    "or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4, "not in": 4,
    "+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "**": 8,
}  # fmt: skip
_NOT, _MINUS, _ATOM = 3, 7, 9


def expression_text(expression: m.Expression) -> str:
    """Return an expression in the notation of a file, with the parentheses that it needs."""
    return _bound(expression, 0)


def _bound(expression: m.Expression, least: int) -> str:
    match expression:
        case m.Operation(operator=operator, left=left, right=right):
            own = _BINDING[operator]
            text = f"{_bound(left, own)} {operator} {_bound(right, own + 1)}"
        case m.Negation(operator=operator, operand=operand):
            own = _NOT if operator == "not" else _MINUS
            text = f"not {_bound(operand, own)}" if operator == "not" else f"-{_bound(operand, own)}"
        case m.Range(low=low, high=high):
            own, text = _ATOM, f"{_bound(low, 5)} .. {_bound(high, 5)}"
        case _:
            own, text = _ATOM, _atom(expression)
    return text if own >= least else f"({text})"


def _atom(expression: m.Expression) -> str:
    match expression:
        case m.ConstantReference(name=name) | m.VariableReference(name=name) | m.RoleReference(name=name):
            return name
        case m.JoinReference(name=name):
            return name
        case m.MemberReference(member=member):
            return member
        case m.Number() | m.Truth() | m.String() | m.Octets() | m.Null():
            return literal_text(expression)
        case m.FieldReference(path=path):
            return ".".join(path) or "item"
        case m.LimitReference(name=name):
            return f"limits.{name}"
        case m.Position(what=what):
            return what
        case m.ContextReference(context=name, keys=keys):
            return f"{name}[{_listed(keys)}]"
        case m.ListOf(items=items):
            return f"[{_listed(items)}]"
        case m.Call(function=function, arguments=arguments):
            return f"{function}({_listed(arguments)})"
        case m.Checksum(algorithm=algorithm, first=first, last=last):
            return f"{algorithm}({first} .. {last})"
        case m.Item(list=list_, index=index):
            return f"{_bound(list_, _ATOM)}[{_bound(index, 0)}]"
        case m.Operation() | m.Negation() | m.Range():
            return f"({_bound(expression, 0)})"
        case _:
            assert_never(expression)


def literal_text(value: m.LiteralExpression) -> str:
    """Return a literal in the notation of a file, numbers in decimal."""
    match value:
        case m.Number(value=number):
            return str(number)
        case m.Truth(value=truth):
            return "true" if truth else "false"
        case m.String(value=text):
            escaped = text.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'
        case m.Octets(hex=digits):
            return f'x"{digits}"'
        case m.Null():
            return "null"
        case _:
            assert_never(value)


def _listed(parts: tuple[m.Expression, ...]) -> str:
    return ", ".join(_bound(part, 0) for part in parts)


def span_text(span: m.Span) -> str:
    """Return numbers in the notation of a file: a single one, or a range."""
    return str(span.low) if span.low == span.high else f"{span.low} .. {span.high}"


def type_text(type_: m.Type) -> str:
    """Return a type; parts that take several lines (blocks, arms) are abbreviated."""
    match type_:
        case m.Integer(bits=bits, is_signed=signed, endian=endian):
            return f"{'i' if signed else 'u'}{bits}{'le' if endian == 'little' and bits > 8 else ''}"
        case m.Float(format=word, endian=endian):
            return f"{word}{'le' if endian == 'little' else ''}"
        case m.Boolean(is_lenient=lenient):
            return _lenient("bool", lenient)
        case m.Bits(bits=bits, is_flag=is_flag):
            return "bit" if is_flag else f"u{bits}"
        case m.Varint(bits=bits, is_zigzag=zigzag, is_lenient=lenient):
            return _lenient("zigzag" if zigzag else "varint" if bits == 64 else "varint63", lenient)
        case m.Uuid():
            return "uuid"
        case m.Bytes(length=length):
            return f"bytes[{length_text(length)}]"
        case m.Text(encoding=encoding, length=length, is_lenient=lenient):
            return _lenient(f"{encoding}[{length_text(length)}]", lenient)
        case _:
            return _compound(type_)


def _compound(type_: m.List | m.Reference | m.MessageMatch | m.Match | m.Block | m.Region) -> str:
    match type_:
        case m.List(item=item, length=length):
            return f"{type_text(item)}[{length_text(length)}]"
        case m.StructReference(name=name) | m.CodingReference(name=name) | m.MessageReference(name=name):
            return name
        case m.EnumReference() | m.UnionReference() | m.FrameReference():
            return _lenient(type_.name + _only(type_.only), type_.is_lenient)
        case m.MessageMatch(subject=subject, only=only, is_lenient=lenient):
            return _lenient(f"match {expression_text(subject)}{_only(only)}", lenient)
        case m.Match(subject=subject, arms=arms):
            return f"match {expression_text(subject)} {{ {'  '.join(map(_arm, arms))} }}"
        case m.Block(fields=fields):
            return f"{{ {'  '.join(field.name for field in fields)} }}"
        case m.Region(content=content, carrier=carrier, lenient=lenient):
            return _lenient(f"{type_text(content)} in {_carrier(carrier)}", lenient)
        case _:
            assert_never(type_)


def _lenient(text: str, lenient: bool | str) -> str:
    return f"{text} lenient" if lenient else text


def _only(names: tuple[str, ...] | None) -> str:
    return "" if names is None else f" only {', '.join(names)}"


def _arm(arm: m.Arm) -> str:
    patterns = ", ".join(map(span_text, arm.spans)) or "_"
    return f"{patterns} => {type_text(arm.type)}"


def _carrier(carrier: m.Carrier) -> str:
    match carrier:
        case m.InSize(size=size):
            return expression_text(size)
        case m.Prefix(type=type_):
            return type_text(type_)
        case m.Compressed(algorithm=algorithm, length=length):
            return f"{algorithm}[{length_text(length)}]"
        case m.Chunks(struct=struct, until=until):
            return f"{struct}[until {expression_text(until)}]"
        case _:
            assert_never(carrier)


def length_text(length: m.Length) -> str:
    """Return the text between the brackets of a length."""
    match length:
        case m.Prefix(type=type_):
            return type_text(type_)
        case m.Computed(value=value):
            return expression_text(value)
        case m.ToEnd():
            return ""
        case m.Delimited(delimiter=delimiter):
            return f'until x"{delimiter}"'
        case m.Until(condition=condition):
            return f"until {expression_text(condition)}"
        case _:
            assert_never(length)
