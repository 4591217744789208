"""Changes of declarations: messages, frames, structs, enums, unions and codings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wiregen.language.breaking.changes import Change
from wiregen.language.breaking.fields import Pair, compare_fields, eased
from wiregen.language.breaking.matching import Declared, declared
from wiregen.language.breaking.plain import Renames, plain
from wiregen.language.spelling import span_text, type_text
from wiregen.schema import model as m
from wiregen.schema.copies import replace

__all__ = ["compare_declarations"]

_API: Final = "programs that use the name fail; the bytes are the same"


def compare_declarations(
    old: m.Protocol | m.Variant, new: m.Protocol | m.Variant, pair: Pair
) -> Iterator[Change]:
    """Yield the changes of the declarations of a protocol, or of those of a variant."""
    theirs = {(type(each), each.name): each for each in declared(new)}
    names = pair.renames.declarations
    for each in declared(old):
        name = names.get(each.name, each.name)
        other = theirs.get((type(each), name))
        if other is None:
            yield from _gone(each, new.path)
            continue
        if name != each.name and not isinstance(each, m.Context | m.Join | m.Session):
            message = f"{_what(each)} `{each.name}` is renamed to `{name}`"
            yield Change(code="WG8101", path=other.path, message=message, effect=_API)
        yield from _between(each, other, pair)
    ours = {(type(each), names.get(each.name, each.name)) for each in declared(old)}
    for key, each in theirs.items():
        if key not in ours and isinstance(each, m.Frame | m.Preamble):
            message = f"{_what(each)} `{each.name}` is new"
            yield Change(code="WG8008", path=each.path, message=message, effect="peers expect other bytes")


def _what(declaration: Declared) -> str:
    return "constant" if isinstance(declaration, m.Const) else type(declaration).__name__.lower()


def _gone(declaration: Declared, path: str) -> Iterator[Change]:
    message = f"{_what(declaration)} `{declaration.name}` is removed"
    match declaration:
        case m.Message(code=int(code)):
            effect = f"frames with the code {code} are refused, or decoded as another message"
            yield Change(code="WG8007", path=path, message=message, effect=effect)
        case m.Frame() | m.Preamble():
            yield Change(code="WG8008", path=path, message=message, effect="peers send these bytes")
        case m.Context() | m.Join():
            effect = "frames that depend on earlier ones are decoded differently"
            yield Change(code="WG8010", path=path, message=message, effect=effect)
        case m.Session():
            yield Change(
                code="WG8205", path=path, message=message, effect="its rules are not checked any more"
            )
        case _:
            yield Change(code="WG8101", path=path, message=message, effect="programs that use the name fail")


def _between(old: Declared, new: Declared, pair: Pair) -> Iterator[Change]:
    match old, new:
        case m.Message(), m.Message():
            yield from _message(old, new, pair)
            yield from compare_fields(old.fields, new.fields, new.name, new.path, pair)
        case m.Frame(), m.Frame():
            yield from _sender(old.role, new.role, new, pair)
            yield from compare_fields(old.fields, new.fields, new.name, new.path, pair)
        case m.Struct() | m.Preamble(), m.Struct() | m.Preamble():
            yield from compare_fields(old.fields, new.fields, new.name, new.path, pair)
        case m.Enum(), m.Enum():
            yield from _enum(old, new, pair)
        case m.Union(), m.Union():
            yield from _union(old, new, pair)
        case m.Coding(), m.Coding():
            if plain(old, pair.renames) != plain(replace(new, name=old.name), Renames()):
                message = f"the widths of coding `{new.name}` change"
                effect = "a number of this coding has another value, or every field after it moves"
                yield Change(code="WG8009", path=new.path, message=message, effect=effect)
        case m.Const(), m.Const():
            if old.value != new.value:
                message = f"constant `{new.name}` is {new.value}, it was {old.value}"
                yield Change(
                    code="WG8103", path=new.path, message=message, effect="programs see another number"
                )
        case (m.Context(), m.Context()) | (m.Join(), m.Join()):
            if plain(replace(old, name=""), pair.renames) != plain(replace(new, name=""), Renames()):
                message = f"the lines or keys of {_what(new)} `{new.name}` change"
                effect = "frames that depend on earlier ones are decoded differently"
                yield Change(code="WG8010", path=new.path, message=message, effect=effect)


# ---- messages


def _message(old: m.Message, new: m.Message, pair: Pair) -> Iterator[Change]:
    if old.code != new.code:
        message = f"message `{new.name}` has {_coded(new.code)}, it had {_coded(old.code)}"
        effect = "frames of the other state are refused, or are another message"
        yield Change(code="WG8006", path=new.path, message=message, effect=effect)
    yield from _sender(old.role, new.role, new, pair)


def _coded(code: int | None) -> str:
    return "no code" if code is None else f"the code {code}"


def _sender(old: str | None, new: str | None, node: m.Message | m.Frame, pair: Pair) -> Iterator[Change]:
    before = None if old is None else pair.renames.roles.get(old, old)
    if before != new and new is not None:
        message = f"{_what(node)} `{node.name}` is sent by {new} only, it was sent by {before or 'both'}"
        effect = "frames of the other role are refused"
        yield Change(code="WG8006", path=node.path, message=message, effect=effect)


# ---- numbers with names


def _enum(old: m.Enum, new: m.Enum, pair: Pair) -> Iterator[Change]:
    yield from _base(old, new, pair)
    if old.is_open != new.is_open:
        word, refusal = ("closed", "new") if old.is_open else ("open", "old")
        message = f"enum `{new.name}` is {word}"
        effect = f"{refusal} readers refuse numbers that have no name"
        yield Change(code="WG8005", path=new.path, message=message, effect=effect)
    ours = {member.value: member for member in old.members}
    theirs = {member.value: member for member in new.members}
    numbers = {member.name: member.value for member in new.members}
    for value, member in ours.items():
        other = theirs.get(value)
        if other is not None and other.name == member.name:
            continue
        name = f"{new.name}.{member.name}"
        if member.name in numbers:
            message = f"member `{name}` is {numbers[member.name]}, it was {value}"
            effect = (
                f"the number {value} means something else" if other else f"the number {value} has no name"
            )
            yield Change(code="WG8005", path=f"{new.path}.{member.name}", message=message, effect=effect)
        elif other is not None:
            message = f"member `{name}` is renamed to `{other.name}`"
            yield Change(code="WG8101", path=other.path, message=message, effect=_API)
        elif new.is_open:
            message = f"member `{name}` is removed"
            yield Change(
                code="WG8101", path=new.path, message=message, effect="programs that use the name fail"
            )
        else:
            message = f"member `{name}` is removed"
            yield Change(code="WG8005", path=new.path, message=message, effect=f"new readers refuse {value}")
    names = {member.name for member in old.members}
    for value, member in theirs.items():
        if value not in ours and member.name not in names and not (old.is_open or new.is_open):
            message = f"member `{new.name}.{member.name}` is new in a closed enum"
            yield Change(
                code="WG8005", path=member.path, message=message, effect=f"old readers refuse {value}"
            )


def _base(old: m.Enum | m.Union, new: m.Enum | m.Union, pair: Pair) -> Iterator[Change]:
    if eased(plain(old.type, pair.renames), plain(new.type, Renames())) == plain(new.type, Renames()):
        return
    before, after = type_text(old.type), type_text(new.type)
    message = f"the numbers of {_what(new)} `{new.name}` change from `{before}` to `{after}`"
    by = pair.growth(old.type, new.type)
    effect = (
        f"every field after a value of `{new.name}` moves by {by}"
        if by
        else "its bytes are decoded differently"
    )
    yield Change(code="WG8001", path=new.path, message=message, effect=effect)


def _union(old: m.Union, new: m.Union, pair: Pair) -> Iterator[Change]:
    yield from _base(old, new, pair)
    if old.is_raw != new.is_raw:
        message = f"values of union `{new.name}` have {'no class' if new.is_raw else 'classes'} of their own"
        yield Change(
            code="WG8103", path=new.path, message=message, effect="the value has another type in programs"
        )
    ours = _by_codes(old)
    for codes, variety in _by_codes(new).items():
        before = ours.pop(codes, None)
        name = f"{new.name}.{variety.name}"
        if before is None:
            message = f"alternative `{name}` has the codes {_codes(variety)}, which no alternative had"
            effect = "old readers refuse them, or read another alternative"
            yield Change(code="WG8009", path=variety.path, message=message, effect=effect)
            continue
        if before.name != variety.name:
            message = f"alternative `{new.name}.{before.name}` is renamed to `{variety.name}`"
            yield Change(code="WG8101", path=variety.path, message=message, effect=_API)
        if before.is_lone != variety.is_lone:
            message = f"alternative `{name}` has other attributes"
            effect = "programs that use them fail; the bytes are the same"
            yield Change(code="WG8103", path=variety.path, message=message, effect=effect)
        yield from compare_fields(before.fields, variety.fields, name, variety.path, pair)
    for variety in ours.values():
        message = (
            f"no alternative of union `{new.name}` has the codes {_codes(variety)}, as `{variety.name}` had"
        )
        effect = "new readers refuse them, or read another alternative"
        yield Change(code="WG8009", path=new.path, message=message, effect=effect)


def _by_codes(union: m.Union) -> dict[tuple[m.Span, ...], m.Variety]:
    return {variety.spans: variety for variety in union.varieties}


def _codes(variety: m.Variety) -> str:
    return ", ".join(map(span_text, variety.spans))
