"""Fields of random schemas: rows of text, and the known facts about the fields above them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

__all__ = ["Declared", "Fields", "Known", "Place"]

INTEGERS: Final = (
    "u8 u8 u8 u16 u24 u32 u40 u48 u56 u64 i8 i16 i24 i32 i40 i48 i56 i64 u16le u24le u32le u64le "
    "u16be u32be i16le i24le i32le i64le i16be i64be"
).split()
SMALL: Final = ("u8", "u8", "u16", "u16le", "u24", "varint", "i16", "u32")
PREFIXES: Final = (
    "u8 u8 u8 u16 u16 u16le u24 u24le u32 u32le u40 u64 i8 i16 i32le varint varint63 zigzag".split()
)
ALGORITHMS: Final = ("zlib", "gzip", "deflate")
CHECKSUMS: Final = (
    ("crc32", "u32"),
    ("adler32", "u32"),
    ("crc16", "u16"),
    ("crc32", "u32le"),
    ("crc16", "u16le"),
)
ENCODINGS: Final = ("utf8", "utf8", "mutf8", "ascii", "latin1", "utf16")
_DEFAULTS: Final = {"text": '"a"', "bytes": 'x"00ff"', "uuid": 'x"00112233445566778899aabbccddeeff"'}
HOSTILE: Final = (
    "absent base buffer bytes_ cls code compression count data decode dict encode end end_position frame from_dict index inner "
    "item key length level limits list message n name object offset_ parts position print property raise range replace self "
    "size_ slots start state static str super to_dict tuple tail type uuid value values version zlib class from import lambda none return "
    "while yield del pass number record stream copy args kwargs message_ set source last part sender items match_ part_"
).split()
DOCS: Final = (
    'ends in a quote"', 'ends in three quotes"""', "*/ /* -->", "{{ x }} {% for x in y %} {# z #}", "<b>&amp;</b>",
    "ends in a backslash\\", "%s {0} `code` $x [link](x) | table | \\N{DIGIT ONE}",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Known:
    """A field above: `sort` is int, float, bool, enum, text, bytes, list or other; `most` bounds a small integer."""

    name: str
    sort: str
    most: int = 0
    type: str = ""
    is_optional: bool = False
    guard: str = ""
    """The condition that an optional field has; "" where something else decides."""


@dataclass(slots=True)
class Declared:
    """The names that fields may refer to, in the order in which they were declared."""

    enums: list[tuple[str, list[tuple[str, int]], bool]] = field(default_factory=list)
    structs: list[str] = field(default_factory=list)
    members: dict[str, list[Known]] = field(default_factory=dict)
    """The known facts about the fields of a struct, to be named through a field that has it."""
    pairs: list[str] = field(default_factory=list)
    chunks: list[tuple[str, str]] = field(default_factory=list)
    enders: list[tuple[str, str]] = field(default_factory=list)
    """Structs that can end a list, each with a condition that its last item fulfils."""
    unions: list[tuple[str, list[str]]] = field(default_factory=list)
    codings: list[tuple[str, bool]] = field(default_factory=list)
    aliases: list[tuple[str, Known]] = field(default_factory=list)
    consts: list[tuple[str, int]] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    """Without codes: named in arms alone."""
    coded: list[str] = field(default_factory=list)
    contexts: list[tuple[str, int, str]] = field(default_factory=list)
    frame: str = ""
    rules: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Place:
    """Where rows are written: the fields above, and whether something may reach to the end of the region."""

    known: list[Known] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    is_bounded: bool = False
    is_last: bool = False
    depth: int = 0
    own: str = ""
    """The struct or union that is being declared: its fields may refer to it."""

    def inside(self, *, is_bounded: bool, is_last: bool = True) -> Place:
        """Return the place of a block or an arm: its names are those of the declaration."""
        return Place(list(self.known), self.names, is_bounded, is_last, self.depth + 1, self.own)

    def of(self, *sorts: str, is_optional: bool = False) -> list[Known]:
        return [each for each in self.known if each.sort in sorts and each.is_optional <= is_optional]


class Fields:
    """Draws rows of fields."""

    def __init__(self, dice: random.Random, declared: Declared) -> None:
        self.dice = dice
        self.declared = declared

    # ---- chance

    def chance(self, share: float) -> bool:
        return self.dice.random() < share

    def one(self, values: Iterable[str]) -> str:
        return self.dice.choice(list(values) or [""])

    def name(self, place: Place) -> str:
        """Return a name that the declaration has not yet."""
        while True:
            name = self.dice.choice(HOSTILE) if self.chance(0.15) else self._plain()
            if name.strip("_") not in place.names:
                place.names.add(name.strip("_"))
                return name

    def _plain(self) -> str:
        return self.dice.choice("abcdefghkmpqrstvwxyz") + self.dice.choice(("", "x", "y", "1", "_b"))

    # ---- rows

    def rows(self, place: Place, low: int, high: int) -> list[str]:
        """Return the rows of a declaration."""
        n_rows = self.dice.randint(low, high)
        found: list[str] = []
        is_last = place.is_last
        for index in range(n_rows):
            place.is_last = is_last and index == n_rows - 1
            found += self.row(place)
        if is_last and place.is_bounded and self.chance(0.15):
            found += self.trailing(place)
        return found

    def row(self, place: Place) -> list[str]:
        """Return a field, or several that belong together."""
        idioms: Sequence[tuple[float, Callable[[Place], list[str]]]] = (
            (5, self.plain),
            (1.2, self.counted),
            (0.8, self.measured),
            (0.8, self.present),
            (0.8, self.bits),
            (0.5, self.checked),
            (1, self.chosen),
            (0.6, self.filler),
            (0.6, self.viewed),
            (0.4, self.total),
            (0.5, self.constant),
            (0.8, self.conditional),
            (0.5, self.placed),
            (0.5, self.block),
            (0.4, self.by_context),
            (0.3, self.chosen_float),
            (0.3, self.derived_float),
        )
        weights = [weight for weight, _ in idioms]
        return self.dice.choices([draw for _, draw in idioms], weights)[0](place)

    def plain(self, place: Place) -> list[str]:
        name = self.name(place)
        shape, known = self.shape(place)
        row = f"{name} : {shape}"
        if known.sort == "int" and self.chance(0.25):
            row += f" = {self.dice.randint(0, 9)}"
        elif known.sort == "bool" and self.chance(0.4):
            row += self.one((" = true", " = false"))
        elif known.sort == "enum" and not known.type.endswith(")") and self.chance(0.3):
            row += f" = {self._member(known.type)}"
        elif known.sort in _DEFAULTS and self.chance(0.1):
            row += f" = {_DEFAULTS[known.sort]}"
        row += self.where(name, known)
        place.known += self.named(name, known)
        return [row + self.annotation()]

    def named(self, name: str, known: Known) -> list[Known]:
        """Return the known facts about a field of this name, and about the fields of its struct."""
        below = self.declared.members.get(known.type, []) if known.sort == "struct" else []
        return [replace(known, name=name), *(replace(each, name=f"{name}.{each.name}") for each in below)]

    def where(self, name: str, known: Known) -> str:
        if not self.chance(0.12):
            return ""
        match known.sort:
            case "int":
                limit = (
                    f" and {name} != limits.{self.one(self.declared.limits)}" if self.declared.limits else ""
                )
                return self.one((f" where {name} ** 2 != 4 @rule(too_soon) where {name} != 9", f" where 0 <= {name} and {name} < 128", f" where {name} < 200", f" where {name} in [0 .. 9, 20, 30 .. 99]", f" where {name} not in 5 .. 7", f" where {name} % 3 != 2{limit}", f" where not ({name} == 77 or {name} > 120)", f" where {name} <= 10 ** 2 and -{name} <= 0"))  # fmt: skip
            case "numbers" if self.chance(0.5):
                return self.one((f" where distinct({name})", f" where count({name}) == 0 or {name}[0] < 100"))
            case "text" if self.chance(0.4):
                return self.one((f' where {name} != "b"', f' where {name} not in ["", "ab"]'))
            case "bytes" if self.chance(0.4):
                return self.one((f' where {name} != x"00"', f" where count({name}) < 2 or {name}[1] > 1"))
            case "bytes" | "list" | "text" | "numbers":
                return f" where count({name}) < {self.dice.randint(3, 9)}"
            case "float":
                return self.one((f" where {name} < 1", f" where not {name} > 2 ** 70 and {name} != 7"))
            case "uuid":
                return f' where {name} != x"00000000000000000000000000000000"'
            case _:
                return ""

    def annotation(self) -> str:
        if not self.chance(0.08):
            return ""
        rules = [f" @rule({name})" for name in self.declared.rules]
        return self.one((' @source("Heading", "a few words")', ' @assumed("nobody says")', ' @errata("{{ x }}")', ' @since("2")', ' @deprecated("<b>old</b>")', " @secret", *rules))  # fmt: skip

    # ---- shapes

    def shape(self, place: Place) -> tuple[str, Known]:
        """Return a type with its carrier, and the known facts about its values."""
        declared = self.declared
        kinds = {"int": 4.0, "float": 0.5, "bool": 0.8, "uuid": 0.3, "varint": 0.7, "bytes": 1.3, "text": 1.5}
        kinds |= {"list": 1.6, "enum": 1.0 * bool(declared.enums), "coding": 0.7 * bool(declared.codings)}
        kinds |= {"struct": 1.2 * bool(declared.structs), "union": 1.0 * bool(declared.unions)}
        kinds |= {"alias": 0.8 * bool(declared.aliases), "region": 1.0 * (place.depth < 3)}
        kinds |= {"frame": 0.3 * bool(declared.frame and not place.own), "own": 0.7 * bool(place.own)}
        kind = self.dice.choices(list(kinds), list(kinds.values()))[0]
        shape: tuple[str, Known] = getattr(self, f"_{kind}")(place)
        return shape

    def _int(self, place: Place) -> tuple[str, Known]:
        type_ = self.one(INTEGERS)
        return type_, Known("", "int", 255 if type_ == "u8" else 0)

    def _float(self, place: Place) -> tuple[str, Known]:
        return self.one(("f32", "f64", "f32le", "f64be", "f64le")), Known("", "float")

    def _bool(self, place: Place) -> tuple[str, Known]:
        return self.one(("bool", "bool lenient")), Known("", "bool")

    def _uuid(self, place: Place) -> tuple[str, Known]:
        return "uuid", Known("", "uuid")

    def _varint(self, place: Place) -> tuple[str, Known]:
        return self.one(("varint", "varint63", "zigzag")) + self.one(("", " lenient")), Known("", "int")

    def _bytes(self, place: Place) -> tuple[str, Known]:
        return f"bytes[{self.length(place)}]", Known("", "bytes")

    def _text(self, place: Place) -> tuple[str, Known]:
        encoding = self.one(ENCODINGS)
        lenient = " lenient" if encoding in ("utf8", "mutf8") and self.chance(0.4) else ""
        unit = '"0000"' if encoding == "utf16" else self.one(('"00"', '"0d0a"', '"7c"'))
        length = f"until x{unit}" if self.chance(0.2) else self.length(place, has_delimiter=False)
        return f"{encoding}[{length}]{lenient}", Known("", "text")

    def _enum(self, place: Place) -> tuple[str, Known]:
        name, members, _ = self.dice.choice(self.declared.enums)
        if len(members) > 1 and self.chance(0.25):
            chosen = ", ".join(member for member, _ in members[: self.dice.randint(1, len(members) - 1)])
            return f"{name} only {chosen}{self.one(('', ' lenient'))}", Known("", "enum", type=f"{name})")
        return name, Known("", "enum", type=name)

    def _member(self, enum: str) -> str:
        return next(
            self.one(member for member, _ in members)
            for name, members, _ in self.declared.enums
            if name == enum
        )

    def _coding(self, place: Place) -> tuple[str, Known]:
        name, has_null = self.dice.choice(self.declared.codings)
        return name, Known("", "other" if has_null else "int")

    def _struct(self, place: Place) -> tuple[str, Known]:
        name = self.one(self.declared.structs)
        return name, Known("", "struct", type=name)

    def _own(self, place: Place) -> tuple[str, Known]:
        """Return a shape that holds the declaration itself, and can end."""
        return f"{place.own}[{self.one(('u8', 'u16', 'varint'))}]", Known("", "list")

    def _union(self, place: Place) -> tuple[str, Known]:
        name, varieties = self.dice.choice(self.declared.unions)
        only = (
            f" only {', '.join(varieties[: self.dice.randint(1, len(varieties))])}"
            if self.chance(0.2)
            else ""
        )
        return name + only, Known("", "other")

    def _alias(self, place: Place) -> tuple[str, Known]:
        return self.dice.choice(self.declared.aliases)

    def _frame(self, place: Place) -> tuple[str, Known]:
        carrier = self.one((f"{self.one(ALGORITHMS)}[u16]", "u16", "u32"))
        only = f" only {self.one(self.declared.coded)}" if self.declared.coded and self.chance(0.3) else ""
        if self.chance(0.3):
            return f"{self.declared.frame}{only}", Known("", "other")
        items = self.one(("[] in " + carrier, "[u8]"))
        return f"{self.declared.frame}{items if not only else '[u8]' + only}", Known("", "list")

    def _list(self, place: Place) -> tuple[str, Known]:
        if self.declared.enders and self.chance(0.3):
            struct, until = self.dice.choice(self.declared.enders)
            return f"{struct}[until {until}]", Known("", "list")
        item = self.item(place)
        sort = "numbers" if item in INTEGERS else "list"
        return f"{item}[{self.length(place, has_delimiter=False, is_list=True)}]", Known("", sort)

    def item(self, place: Place) -> str:
        declared = self.declared
        items = [
            self.one(INTEGERS),
            self.one(("f32", "bool", "uuid", "varint", "zigzag")),
            "utf8[u8]",
            "bytes[u8]",
            "u16[u8]",
        ]
        items += (
            [each for each, _, _ in declared.enums]
            + declared.structs * 2
            + [each for each, _ in declared.unions]
        )
        items += [each for each, _ in declared.codings] + [each for each, _ in declared.aliases]
        return self.one(items)

    def length(self, place: Place, *, has_delimiter: bool = True, is_list: bool = False) -> str:
        small = [each for each in place.of("int") if each.most]
        kinds = {
            "prefix": 6.0,
            "expression": 1.5 * bool(small),
            "number": 0.8,
            "coding": 0.7 * bool(self.declared.codings),
        }
        kinds |= {"end": 1.5 * (place.is_bounded and place.is_last), "delimiter": 0.7 * has_delimiter}
        kinds |= {"const": 0.4 * bool(self.declared.consts)}
        kinds |= {"remaining": 0.5 * (place.is_bounded and not is_list), "bool": 0.3 * bool(place.of("bool"))}
        match self.dice.choices(list(kinds), list(kinds.values()))[0]:
            case "expression":
                return self.size_of(place)
            case "number":
                return str(self.dice.choice((0, 1, 2, 3, 7)))
            case "coding":
                return self.dice.choice(self.declared.codings)[0]
            case "end":
                return ""
            case "delimiter":
                return f'until x"{self.one(("00", "0d0a", "ff00ff"))}"'
            case "const":
                return self.dice.choice(self.declared.consts)[0]
            case "remaining":
                return self.one(("remaining % 4", "min(remaining, 3)", "max(remaining - 9, 0)"))
            case _:
                return self.one(PREFIXES)

    def size_of(self, place: Place) -> str:
        """Return an expression over a small integer above."""
        n = self.dice.choice([each for each in place.of("int") if each.most]).name
        return self.one((n, n, f"{n} - {n} / 2", f"limits.frame - limits.frame + {n}", f"-(-{n})", f"{n} + 1", f"{n} * 2", f"{n} / 2", f"{n} % 5", f"min({n}, 4)", f"max({n} - 3, 0)", f"{n} * {n} - {n} * ({n} - 1)"))  # fmt: skip

    def _region(self, place: Place) -> tuple[str, Known]:
        lenient = " lenient" if self.chance(0.3) else ""
        inner = place.inside(is_bounded=True)
        content = self.one(("bytes", "list", "struct", "union", "text"))
        if content in ("struct", "union") and not getattr(self.declared, f"{content}s"):
            content = "list"
        shape, known = getattr(self, f"_{content}")(inner)
        return f"{shape} in {self.carrier(place)}{'' if ' lenient' in shape else lenient}", replace(
            known, sort="other"
        )

    def carrier(self, place: Place) -> str:
        kinds = {"prefix": 4.0, "zlib": 1.0, "chunks": 1.0 * bool(self.declared.chunks)}
        kinds["size"] = 1.0 * bool([each for each in place.of("int") if each.most])
        kinds |= {"number": 0.5}
        match self.dice.choices(list(kinds), list(kinds.values()))[0]:
            case "zlib":
                to_end = "" if place.is_bounded and place.is_last else "u16"
                return f"{self.one(ALGORITHMS)}[{self.one(('u16', 'u32', 'u24le', 'varint', to_end))}]"
            case "chunks":
                struct, until = self.dice.choice(self.declared.chunks)
                return f"{struct}[until {until}]"
            case "size":
                return self.size_of(place)
            case "number":
                return str(self.dice.choice((4, 6, 8, 12)))
            case _:
                return self.one((*PREFIXES[:11], "varint", *(name for name, _ in self.declared.codings)))

    # ---- fields that belong together

    def counted(self, place: Place) -> list[str]:
        """Return a count or a size that is derived, and the list, bytes or text of that length."""
        n, xs = self.name(place), self.name(place)
        type_ = self.one(SMALL)
        items = self.one((self.item(place), "bytes", "utf8", "utf16", "ascii lenient"[:5]))
        function = self.one(("count", "size")) if items in ("bytes", "utf8", "ascii") else "count"
        plus = self.one(("", "", " + 1"))
        less = " - 1" if plus else ""
        between = self.plain(replace_last(place)) if self.chance(0.3) else []
        where = f" where {n} >= 1" if plus and self.chance(0.4) else ""
        lenient = " lenient" if self.chance(0.1) else ""
        rows = [
            f"{n} : {type_}{lenient} := {function}({xs}){plus}{where}",
            *between,
            f"{xs} : {items}[{n}{less}]",
        ]
        place.known += [Known(n, "int", 255 if type_ == "u8" else 0), Known(xs, "text" if items in ENCODINGS else "bytes" if items == "bytes" else "list")]  # fmt: skip
        return rows

    def measured(self, place: Place) -> list[str]:
        """Return a size that is derived, and the region of that size."""
        n, body = self.name(place), self.name(place)
        content = self._content(place)
        rows = [
            f"{n} : {self.one(SMALL)} := size({body})",
            f"{body} : {content} in {n}{' lenient' if self.chance(0.3) else ''}",
        ]
        place.known.append(Known(body, "other"))
        return rows

    def _content(self, place: Place) -> str:
        if self.chance(0.5):
            inner = place.inside(is_bounded=True)
            return f"{{ {'  '.join(self.rows(inner, 1, 3))} }}"
        content = self.one(("list", "bytes", "struct" if self.declared.structs else "text"))
        shape: str = getattr(self, f"_{content}")(place.inside(is_bounded=True))[0]
        return shape.replace(" lenient", "")

    def present(self, place: Place) -> list[str]:
        """Return a flag that is derived from whether a field is there."""
        flag, name = self.name(place), self.name(place)
        as_bit = self.chance(0.5)
        rows = (
            [f"{flag} : bit := present({name})", "_ : u7 == 0"]
            if as_bit
            else [f"{flag} : bool := present({name})"]
        )
        if self.chance(0.4):
            rows += self.plain(replace_last(place))
        shape, known = self.shape(place)
        rows.append(f"{name} : {shape} if {flag}")
        place.known.append(replace(known, name=name, is_optional=True))
        return rows

    def bits(self, place: Place) -> list[str]:
        """Return a run of bit fields that fills whole bytes."""
        left, rows = self.dice.choice((8, 8, 16, 24)), []
        while left:
            width = self.dice.randint(1, min(7, left))
            left -= width
            if self.chance(0.15):
                rows.append(f"_ : u{width} == {self.dice.randrange(1 << width)}")
                continue
            name = self.name(place)
            if width == 1 and self.chance(0.7):
                rows.append(f"{name} : bit{self.one(('', ' = true'))}")
                place.known.append(Known(name, "bool"))
            else:
                rows.append(f"{name} : u{width}{self.one(('', '', ' = 1', f' where {name} != 0'))}")
                place.known.append(Known(name, "int", (1 << width) - 1))
        return rows

    def checked(self, place: Place) -> list[str]:
        """Return fields and a checksum of them, which may be before them."""
        first, last, sum_ = self.name(place), self.name(place), self.name(place)
        algorithm, type_ = self.dice.choice(CHECKSUMS)
        rows = [
            f"{first} : {self.one(('u8', 'u32', 'utf8[u8]'))}",
            f"{last} : {self.one(('bytes[u8]', 'u16', 'u8[u8]'))}",
        ]
        span = self.one((f"{first} .. {last}", first, last))
        own = f"{sum_} : {type_} := {algorithm}({span})"
        return [own, *rows] if self.chance(0.3) else [*rows, own]

    def chosen(self, place: Place) -> list[str]:
        """Return a choice by a field above, or by one of its own."""
        subjects = [each for each in place.of("int", "bool", "enum") if each.most or each.sort != "int"]
        subjects += [
            Known(f"count({each.name})", "int", 100) for each in place.of("text", "bytes", "list", "numbers")
        ]
        subjects += [Known("remaining", "int", 100)] * place.is_bounded
        rows: list[str] = []
        if not subjects or self.chance(0.5):
            own = self.name(place)
            rows.append(f"{own} : {self.one(('u8', 'i8', 'u16', 'varint'))}")
            place.known.append(Known(own, "int", 100))
            subject = place.known[-1]
        else:
            subject = self.dice.choice(subjects)
        name = self.name(place)
        rows.append(f"{name} : {self.match(place, subject)}")
        place.known.append(Known(name, "other"))
        return rows

    def match(self, place: Place, subject: Known) -> str:
        arms = self._patterns(subject)
        mixed = self.chance(0.4)
        are_blocks = not mixed and self.chance(0.35)
        shapes = []
        for _ in arms:
            inner = place.inside(is_bounded=place.is_bounded, is_last=place.is_last)
            is_block = self.chance(0.5) if mixed else are_blocks
            shapes.append(self._block_arm(inner) if is_block else self._value_arm(inner))
        return f"match {subject.name} {{ {'  '.join(f'{arm} => {shape}' for arm, shape in zip(arms, shapes, strict=True))} }}"

    def _patterns(self, subject: Known) -> list[str]:
        match subject.sort:
            case "bool":
                return self.dice.choice((["true", "false"], ["true", "_"], ["1", "_"]))
            case "enum":
                name = subject.type.rstrip(")")
                members = [
                    member for member, _ in next(each[1] for each in self.declared.enums if each[0] == name)
                ]
                return [*members[: self.dice.randint(1, len(members))], "_"]
            case _:
                few = self.dice.choice(
                    (["0", "1"], ["0", "1, 3 .. 5", "'a'"], ["0 .. 9", "10"], ["2"], ["0x10 .. 0x1f, 7"])
                )
                return [*few, *self.dice.choice((["_"], ["_"], []))]

    def _block_arm(self, inner: Place) -> str:
        return f"{{ {'  '.join(self.rows(inner, 0, 2))} }}"

    def _value_arm(self, inner: Place) -> str:
        if self.declared.messages and self.chance(0.2):
            return self.one(self.declared.messages)
        subjects = [each for each in inner.of("int") if each.most]
        if subjects and inner.depth < 3 and self.chance(0.15):
            return self.match(inner, self.dice.choice(subjects))
        return self.shape(inner)[0]

    def filler(self, place: Place) -> list[str]:
        return [self.one(("_ : u8", "_ : u16 == 7", "_ : bytes[2]", "_ : bytes[-offset % 4]", "_ : u8 == 0", "_ : bytes[u8]", "_ : bool", "_ : varint", "_ : f32", "_ : uuid", '_ : bytes[until x"00"]'))]  # fmt: skip

    def viewed(self, place: Place) -> list[str]:
        name = self.name(place)
        declared = self.declared
        views = ["as json", "as u16[]", "as utf8[]"]
        views += [f"as {self.one(declared.structs)}{self.one(('', '[]'))}"] * bool(declared.structs)
        views += [f"as {declared.frame}"] * bool(declared.frame)
        if declared.pairs and self.chance(0.4):
            row = f"{name} : {self.one(declared.pairs)}[{self.one(('u8', 'u16'))}] as dict"
        else:
            row = f"{name} : bytes[{self.one(PREFIXES)}] {self.one(views)}"
        condition = self.condition(place) if self.chance(0.2) else ""
        place.known.append(Known(name, "other", is_optional=bool(condition)))
        return [row + condition]

    def total(self, place: Place) -> list[str]:
        """Return a number that is derived from fields above."""
        sorts = ("text", "bytes", "list", "numbers", "struct", "int")
        sized = [each for each in place.of(*sorts, is_optional=self.chance(0.3)) if each.type not in ("bit",)]
        if not sized:
            return self.plain(place)
        name = self.name(place)
        first, second = self.dice.choice(sized), self.dice.choice(sized)
        function = "count" if second.sort in ("text", "bytes", "list", "numbers") else "size"
        lenient = self.one(("", "", " lenient"))
        place.known.append(Known(name, "int"))
        return [
            f"{name} : {self.one(('u32', 'u16', 'varint', 'u64le'))}{lenient} := size({first.name}) + {function}({second.name})"
        ]

    def constant(self, place: Place) -> list[str]:
        name = self.name(place)
        consts = [f"u64 == {each}" for each, value in self.declared.consts if value >= 0]
        enums = [f"{enum} == {members[0][0]}" for enum, members, _ in self.declared.enums]
        row = self.one(("u8 == 7", "i16 == -3", 'bytes[4] == x"cafe0042"', "bool == true", 'ascii[3] == "abc"', "varint == 300", *consts, *enums))  # fmt: skip
        return [f"{name} : {row}"]

    def condition(self, place: Place) -> str:
        """Return an `if` over fields above, or "" without any."""
        subjects = place.of("int", "bool", "enum", "float")
        if not subjects:
            return ""
        subject = self.dice.choice(subjects)
        name = subject.name
        match subject.sort:
            case "bool":
                text = self.one((name, f"not {name}"))
            case "enum":
                text = f"{name} == {self._member(subject.type.rstrip(')'))}"
            case "float":
                text = self.one((f"{name} > 0", f"not {name} < 1", f"{name} == 0", f"{name} != 1"))
            case _:
                text = self.one((f"{name} > 1", f"1 <= {name}", f"{name} ** 2 > 9", f"{name} in [1, 2] or {name} in 8 .. 9", f"{name} == 0", f"{name} in [0, 4 .. 7]", f"{name} not in 1 .. 3", f"{name} % 2 == 0", f"{name} - 1 <= 3 or {name} == 9"))  # fmt: skip
        if len(subjects) > 1 and self.chance(0.2):
            other = self.dice.choice(subjects)
            if other.sort == "int":
                text += f" and {other.name} < 100"
        return f" if {text}"

    def conditional(self, place: Place) -> list[str]:
        condition = self.condition(place)
        if not condition:
            return self.plain(place)
        name = self.name(place)
        guarded = [each for each in place.of("int", is_optional=True) if each.guard and each.most]
        if guarded and self.chance(0.5):
            return [f"{name} : {self.by_absent(self.dice.choice(guarded))}"]
        shape, known = self.shape(place)
        where = self.where(name, known)
        found = self.named(name, known)
        place.known += [
            replace(each, is_optional=True, guard=condition.removeprefix(" if ")) for each in found
        ]
        return [f"{name} : {shape}{condition}{where}"]

    def by_absent(self, other: Known) -> str:
        """Return a layout that asks a field that may be absent, where its own condition says that it is there."""
        return self.one(
            (
                f"bytes[{other.name}] if {other.guard}",
                f"u8 if ({other.guard}) and {other.name} > 2",
                f"u16 if {other.guard} where {other.guard.split()[-1]} != 0 or {other.name} != 3",
                f"match {other.name} {{ 0 .. 3 => u8  _ => bytes[u8] }} if {other.guard}",
                f"u8[{other.name} % 4] if {other.guard}",
                f"{{ {other.name}_in : u8[{other.name}] }} if {other.guard}",
                f"u8 if present({other.name}) and {other.name} != 7",
            )
        )

    def placed(self, place: Place) -> list[str]:
        """Return a field whose bounds depend on where it lies, or on how much is left."""
        name = self.name(place)
        rows = [
            f"{name} : u16 where {name} != offset",
            f"{name} : u16 := offset",
            f"{name} : bytes[offset % 3]",
            f"{name} : bytes[-offset % 8]",
        ]
        if place.is_bounded:
            rows += [
                f"{name} : bytes[remaining % 4]",
                f"{name} : u8[remaining % 2]",
                f"{name} : u8 where remaining < 3000",
            ]
            rows += [f"{name} : u8 if remaining != 0"]
        return [self.one(rows)]

    def block(self, place: Place) -> list[str]:
        """Return fields in braces: bare, conditional, or in a region."""
        if place.depth > 2:
            return self.plain(place)
        name = self.name(place)
        kind = self.one(("bare", "if", "in", "in if"))
        is_inside = "in" in kind
        inner = place.inside(is_bounded=is_inside or place.is_bounded, is_last=is_inside or place.is_last)
        condition = self.condition(place) if "if" in kind else ""
        lenient = self.one(("", "", " lenient"))
        carrier = f" in {self.carrier(place)}{lenient}" if is_inside else ""
        rows = "  ".join(self.rows(inner, 1, 3))
        return [f"{name} : {{ {rows} }}{carrier}{condition}"]

    def trailing(self, place: Place) -> list[str]:
        """Return a row of `?=`."""
        rows = []
        values = ["u8 ?= 5", "u16 ?= 300", 'utf8[u8] ?= "x"', "bool ?= true", "varint ?= 300", "u8[u8] ?= [1, 2]", 'bytes[u8] ?= x"00ff"', "f32 ?= 1", 'uuid ?= x"00112233445566778899aabbccddeeff"']  # fmt: skip
        values += [f"{enum} ?= {members[0][0]}" for enum, members, _ in self.declared.enums]
        values += [f"{coding} ?= null" for coding, has_null in self.declared.codings if has_null]
        values += [f"u8 ?= 3{condition}" for condition in [self.condition(place)] if condition]
        for _ in range(self.dice.randint(1, 3)):
            rows.append(f"{self.name(place)} : {self.one(values)}")
        return rows + ([f'{self.name(place)} : bytes[] ?= x"01"'] if self.chance(0.2) else [])

    def by_context(self, place: Place) -> list[str]:
        """Return a field whose length or layout an earlier message has said."""
        keyed = [each for each in self.declared.contexts if not place.own]
        if not keyed:
            return self.plain(place)
        context, n_keys, sort = self.dice.choice(keyed)
        keys, rows = [], []
        for _ in range(n_keys):
            key = self.name(place)
            rows.append(f"{key} : {self.one(('u8', 'u8', 'u8', 'f32'))}")
            keys.append(key)
        name, entry = self.name(place), context + "".join(f"[{key}]" for key in keys)
        types: tuple[str, ...] = (f"bytes[{entry}]", f"u8[{entry}]", f"match {entry} {{ 0 => u16  1 .. 5 => utf8[u8]  _ => bytes[u8] }}", f"u16 if {entry} == 1")  # fmt: skip
        if sort == "float":
            types = (f"u16 if {entry} > 0", f"u8[u8] if not {entry} < 1", f"u32 if {entry} != 1")
        return [*rows, f"{name} : {f'u16 if {entry}' if sort == 'bool' else self.one(types)}"]

    def chosen_float(self, place: Place) -> list[str]:
        """Return a choice among floats of several widths, alone or in lists."""
        n, name = self.name(place), self.name(place)
        items = "[u8]" * self.chance(0.3)
        other = self.one(("f64", "f64le", "f32", "match " + n + " { 2 => f32  _ => f64 }", "f64 in 8"))
        other = "f64" if items else other
        known = Known(name, "list" if items else "float")
        where = (
            self.where(name, known)
            if not items
            else self.one(("", f" where distinct({name})", f" where count({name}) == 0 or {name}[0] < 1"))
        )
        place.known += [Known(n, "int", 255), known]
        return [f"{n} : u8", f"{name} : match {n} {{ 0 .. 1 => f32{items}  _ => {other}{items} }}{where}"]

    def derived_float(self, place: Place) -> list[str]:
        """Return a float that is derived from a number above."""
        numbers = place.of("int", "float")
        if not numbers:
            return self.plain(place)
        name = self.name(place)
        place.known.append(Known(name, "float"))
        lenient = self.one(("", "", "", " lenient"))
        return [f"{name} : {self.one(('f32', 'f32le', 'f64'))}{lenient} := {self.dice.choice(numbers).name}"]


def replace_last(place: Place) -> Place:
    """Return the same place, where nothing reaches to the end."""
    return Place(place.known, place.names, place.is_bounded, False, place.depth, place.own)
