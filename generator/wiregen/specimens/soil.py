"""What values of a protocol are grown from: its plan, the free one beside it, and the options of its declarations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wiregen.runtime.cells import blocks
from wiregen.runtime.layout import Layout
from wiregen.runtime.options import Options
from wiregen.runtime.schema.protocol import Schema, Variant
from wiregen.specimens.choices import SHARED, Option
from wiregen.specimens.fitting import Fitting, wheres_of
from wiregen.specimens.loosening import loosened
from wiregen.specimens.mentions import Mentions, mentions_of
from wiregen.specimens.options import int_options, varint_options

__all__ = ["Soil", "bounds", "every_field", "references", "rows_of", "shape_of"]


@dataclass(frozen=True, kw_only=True)
class Soil:
    """A plan, and what is worked out from it once."""

    plan: Schema

    @cached_property
    def too_large(self) -> list[str]:
        """Where values were given up because they had too many parts."""
        return []

    @cached_property
    def long_lists(self) -> Counter[str]:
        """How many long lists were made up for each site."""
        return Counter()

    @cached_property
    def loose(self) -> Schema:
        return loosened(self.plan)

    @cached_property
    def mentions(self) -> Mentions:
        return mentions_of(self.plan)

    @cached_property
    def fitting(self) -> Fitting:
        """What the conditions of fields allow."""
        found = (
            where for owner, fields in rows_of(self.plan) for where in wheres_of(owner, every_field(fields))
        )
        return Fitting(dict(found))

    @cached_property
    def hidden(self) -> dict[str, frozenset[str]]:
        """The fields by declaration that are no part of values."""
        found: dict[str, frozenset[str]] = {}
        for owner, fields in rows_of(self.plan):
            names = {field[0] for field in every_field(fields) if field[1]}
            found[owner] = found.get(owner, frozenset()) | names
        return found

    @cached_property
    def code_sites(self) -> tuple[str, ...]:
        """The fields of frames that say which message they carry."""
        found = [
            f"{owner}.{field[0]}"
            for owner, fields in rows_of(self.plan)
            for field in every_field(fields)
            if owner in self.plan.frames and field[3] is not None and field[3][0] == "derived"
            if field[3][1][:2] == ("call", "code")
        ]
        return tuple(dict.fromkeys(found))

    @cached_property
    def trailing(self) -> dict[str, int]:
        """How many fields may be absent at the end, by declaration."""
        found: dict[str, int] = {}
        for owner, fields in rows_of(self.plan):
            kinds = [field[3][0] for field in every_field(fields) if field[3] is not None]
            found[owner] = max(found.get(owner, 0), kinds.count("trailing"))
        return found

    @cached_property
    def defaults(self) -> dict[str, int]:
        """The defaults that are plain numbers, by site."""
        found: dict[str, int] = {}
        for owner, fields in rows_of(self.plan):
            for field in every_field(fields):
                match field[3]:
                    case ("default" | "trailing", ("number", int(number)), *_):
                        found[f"{owner}.{field[0]}"] = number
        return found

    @cached_property
    def shallow(self) -> dict[str, frozenset[str]]:
        """The varieties of each union that hold none of the same union."""
        return {
            name: frozenset(
                own for _, own, fields, _ in union[1] if ("union", name) not in self._inside(fields, set())
            )
            for name, union in self.plan.unions.items()
        }

    def varieties(
        self, name: str, only: tuple[str, ...] | None, *, is_deep: bool, can_reach_end: bool
    ) -> tuple[Option, ...]:
        """Return the varieties that may stand somewhere, by their codes; deep in their own union those that end it."""
        key = (name, only, is_deep, can_reach_end)
        if key not in self._varieties:
            schema = Layout(self.plan, Options())
            self._varieties[key] = tuple(
                (own if len(edges) == 1 else f"{own} {code}", code)
                for spans, own, fields, _ in self.plan.unions[name][1]
                if (only is None or own in only) and (can_reach_end or not schema.fields_reach_end(fields))
                if not is_deep or own in self.shallow[name]
                for edges in (dict.fromkeys(code for span in spans for code in span),)
                for code in edges
            )
        return self._varieties[key]

    @cached_property
    def _varieties(self) -> dict[Any, tuple[Option, ...]]:
        return {}

    def _inside(self, part: Any, seen: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return the structs and unions that something can hold."""
        for kind, name in references(part):
            if (kind, name) in seen:
                continue
            seen.add((kind, name))
            if kind == "struct":
                self._inside(self.plan.structs[name], seen)
            else:
                self._inside(self.plan.unions[name][1], seen)
        return seen

    def only_name(self, only: tuple[str, ...]) -> str:
        return ", ".join(only) if len(only) < 3 else f"{only[0]} to {only[-1]}"

    def entry_options(self, name: str) -> tuple[Option, ...]:
        """Return what a context may say."""
        type_ = self.plan.contexts[name][0]
        match type_:
            case ("enum", enum, *_):
                return tuple((member, number) for number, member in self.plan.enums[enum][2])
            case ("bool", *_):
                return (("true", True), ("false", False))
            case _:
                return (("three", 3), ("zero", 0), ("one", 1))

    def int_options(self, site: str, name: str, type_: Any) -> tuple[Option, ...]:
        """Return the numbers that a field called `name` may have."""
        is_small = name in self.mentions.measuring
        if type_[0] == "varint":
            return varint_options(site, type_[1], zigzag=type_[2], is_small=is_small)
        key = (site, name, type_)
        if key not in self._numbers:  # asked for each item of a list
            low, high = bounds(type_)
            mentioned = self.mentions.numbers.get(name, ())
            self._numbers[key] = int_options(site, low, high, mentioned, is_small=is_small)
        return self._numbers[key]

    @cached_property
    def _numbers(self) -> dict[Any, tuple[Option, ...]]:
        return {}

    def most_in(self, owner: str, name: str) -> int | None:
        """Return the largest number that an integer field can hold; None: it is none, or no layout has it."""
        types = [
            field[2]
            for each, fields in rows_of(self.plan)
            if each == owner
            for field in every_field(fields)
            if field[0] == name
        ]
        if not types or any(type_[0] != "int" for type_ in types):
            return None
        return max(bounds(type_)[1] for type_ in types)

    def most_said(self, length: Any) -> int | None:
        """Return the largest number that a prefix can say; None: it is no prefix, or nothing bounds it in practice."""
        if length[0] != "prefix":
            return None
        match length[1]:
            case ("int", *_):
                return bounds(length[1])[1]
            case ("coding", name):
                rows = self.plan.codings[name][1]
                wides = [bounds(wide)[1] for _, _, wide, _ in rows if wide is not None]
                narrow = (high for _, high, wide, is_null in rows if wide is None and not is_null)
                return max([*wides, *map(int, narrow)])
            case _:
                return None

    def can_be_null(self, length: Any) -> bool:
        """Say whether a prefix can say that there is nothing."""
        match length:
            case ("prefix", ("coding", name), *_):
                return any(is_null for _, _, _, is_null in self.plan.codings[name][1])
            case _:
                return False

    def coding_options(self, name: str, *, is_small: bool) -> tuple[Option, ...]:
        """Return the numbers at the edges of each row of a coding."""
        _, rows = self.plan.codings[name]
        options: list[Option] = [("two", 2)] if is_small else []
        for low, high, wide, is_null in rows:
            if is_null:
                options.append((f"{SHARED}{name} null", None))
            elif wide is None:
                options += [(f"{SHARED}{name} {number}", number) for number in (low, high)]
            else:
                first = 1 + max((number for _, number in options if number is not None), default=-1)
                last = bounds(wide)[1]
                options += [(f"{SHARED}{name} {number}", number) for number in (first, last)]
        known: dict[Any, str] = {}
        for label, number in options:
            known.setdefault(number, label)
        return tuple((label, number) for number, label in known.items())


def bounds(type_: Any) -> tuple[int, int]:
    """Return the smallest and the largest number of an integer type."""
    if type_[0] == "bits":
        return 0, (1 << type_[1]) - 1
    _, size, signed, _ = type_
    return (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if signed else (0, (1 << 8 * size) - 1)


def shape_of(type_: Any) -> str:
    """Return what a type with a length is called where it does not matter which field has it."""
    kind = type_[1] if type_[0] == "text" else type_[0]
    length = type_[2] if type_[0] in ("text", "list") else type_[1]
    match length:
        case ("prefix", ("int", size, signed, _), *_):
            return f"{kind}[{'i' if signed else 'u'}{8 * size}]"
        case ("prefix", ("varint", *_), *_):
            return f"{kind}[varint]"
        case ("prefix", ("coding", name), *_):
            return f"{kind}[{name}]"
        case _:
            return f"{kind}[{length[0]}]"


def rows_of(plan: Schema) -> Iterator[tuple[str, Any]]:
    """Return every declaration that has fields, and these; of variants too."""
    owners: tuple[Schema | Variant, ...] = (plan, *plan.variants.values())
    for layouts in owners:
        yield from layouts.structs.items()
        yield from ((name, fields) for name, (_, _, fields) in layouts.messages.items())
        yield from ((name, fields) for name, (_, fields, _) in layouts.frames.items())
        yield from ((name, fields) for name, (_, fields) in layouts.preambles.items())
    for union, (_, varieties, _) in plan.unions.items():
        yield from ((f"{union}.{name}", fields) for _, name, fields, _ in varieties)


def every_field(fields: Any) -> Iterator[Any]:
    """Return fields, and those of blocks among them, which belong to the same declaration."""
    for field in fields:
        yield field
        for block in blocks(field[2]):
            yield from every_field(block)


def references(part: Any) -> Iterator[tuple[str, str]]:
    """Return the structs and unions that are named in a part of a plan."""
    match part:
        case ("struct" | "union" as kind, str(name), *_):
            yield kind, name
        case tuple():
            for inner in part:
                yield from references(inner)
