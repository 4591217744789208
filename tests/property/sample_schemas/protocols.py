"""Whole schemas, drawn from a seed: frames, messages, contexts, joins, sessions, variants, and the types below them."""

from __future__ import annotations

import random
import re
from typing import Final

from tests.property.sample_schemas.fields import DOCS, INTEGERS, Declared, Fields, Known, Place
from tests.property.sample_schemas.text import Part, Schema

__all__ = ["draw"]

_VARIABLES: Final = {
    "credit": "u64 = 0",
    "seen": "u32[] = []",
    "flag": "bool = false",
    "owner": 'uuid = x"00000000000000000000000000000000"',
    "word": 'utf8[u8] = ""',
}
"""Variables of sessions, with types and first values."""
_RULES: Final[dict[str, tuple[str, list[str] | None]]] = {
    "too_soon": ("Nobody speaks too soon", ['source "Order, MUST"']),
    "wrong_side": ("<b>Only</b> the other side says so", None),
    "bad_alias": ("No value is *here*", None),
}
"""Rules that types, fields, roles and sessions name: their sentences and the rows in their braces."""
_TYPES: Final = (
    "Ack Any Bad Callable Class Connection Context Data Decoder DecodeError Enum Exception False Frames IntEnum Int KeyError "
    "Lengths Limits Literal Message NeedMoreData None Readers Required Self Session State Str Struct True TypeError UUID ValueError Window Writers"
).split()


def draw(seed: str, name: str) -> Schema:
    """Return the schema of a seed, which may have faults, as the protocol `name`."""
    return _Protocol(random.Random(seed), name).schema()


class _Protocol:
    def __init__(self, dice: random.Random, name: str) -> None:
        self._dice = dice
        self._name = name
        self._declared = Declared()
        self._fields = Fields(dice, self._declared)
        self._types: set[str] = set()
        self._parts: list[Part] = []
        self._messages: list[tuple[str, str, list[Known]]] = []
        """Name, role (or ""), and fields that contexts may take."""
        self._frames: list[tuple[str, str, list[str]]] = []
        """Name, role (or ""), and header fields that may be keys."""
        self._variables: list[str] = []
        self._joined = ""
        """The join, once there is one."""
        self._is_bounded = True
        self._is_tagged = False
        """The numbers of messages in protobuf are their codes, which only one message can have."""

    def schema(self) -> Schema:
        self._parts.append(self._head())
        self._limits()
        self._constants()
        for make, most in (
            (self._enum, 2),
            (self._coding, 2),
            (self._alias, 2),
            (self._struct, 3),
            (self._union, 2),
        ):
            for _ in range(self._dice.randint(0, most)):
                make()
        if self._chance(0.4):
            self._chunk()
        if self._chance(0.4):
            self._alias()
        self._speak()
        self._notes()
        if self._chance(0.7):
            self._parts = [self._with_defaults(part) for part in self._parts]
        return Schema(tuple(self._parts))

    def _with_defaults(self, part: Part) -> Part:
        """Return a frame whose header has other defaults with some of its messages; all else as it is."""
        frame = next((each for each in self._frames if re.search(rf"\bframe {each[0]}\b", part.head)), None)
        if frame is None or part.rows is None:
            return part
        names = [name for name, sender, _ in self._messages if frame[1] in ("", sender) or not sender]
        chosen = self._dice.sample(names, min(len(names), self._dice.randint(1, 2)))
        others = f"{{ {', '.join(chosen)} => {self._dice.randint(0, 9)} }}"
        rows = (f"{row} {others}" if chosen and row.endswith(": u8 = 3") else row for row in part.rows)
        return Part(part.head, tuple(rows))

    # ---- small things

    def _chance(self, share: float) -> bool:
        return self._dice.random() < share

    def _one(self, *values: str) -> str:
        return self._dice.choice(values)

    def _type(self, *, plain: str = "") -> str:
        while True:
            letters = "".join(self._dice.choice("abcdeimnorstu") for _ in range(self._dice.randint(1, 4)))
            name = (
                self._dice.choice(_TYPES)
                if self._chance(0.2)
                else plain or self._dice.choice("ABCDEGHKLMNPQRSTVW") + letters
            )
            if name not in self._types:
                self._types.add(name)
                return name
            plain = ""

    def _doc(self) -> str:
        return f"/// {self._dice.choice(DOCS)}\n" if self._chance(0.1) else ""

    def _add(self, head: str, rows: list[str] | None = None) -> None:
        if self._chance(0.1) and rows is not None:
            head += self._one(' @source("Heading", "words")', ' @assumed("nobody says")', ' @since("1")')
        self._parts.append(Part(head, None if rows is None else tuple(rows)))

    def _head(self) -> Part:
        rows = ['source "no document"', f"endian {self._one('big', 'little')}"]
        rows += [f"bits {self._one('msb', 'lsb')}"] if self._chance(0.5) else []
        rows += [f"roles a, b{self._one('', '', ' @rule(wrong_side)')}"]
        rows += ["port tcp 5044"] if self._chance(0.2) else []
        rows += ['reserved 250 .. 255 "later"'] if self._chance(0.2) else []
        return Part(f"protocol {self._name}", tuple(rows))

    def _limits(self) -> None:
        rows = [
            f"frame = {self._dice.choice(('2048', '64 KiB', '300', '16 KiB', '1 MiB'))}",
            "inflated = 16384",
        ]
        rows += [f"count = {self._dice.randint(4, 60)}"] if self._chance(0.3) else []
        rows += [f"messages = {self._dice.randint(5, 99)}"] if self._chance(0.3) else []
        rows += [f"depth = {self._dice.randint(1, 6)}"] if self._chance(0.5) else []
        rows += [f"open = {self._dice.randint(2, 9)}"] if self._chance(0.3) else []
        if self._chance(0.3):
            rows.append(f"most = {self._dice.randint(2, 200)}")
            self._declared.limits.append("most")
        rows += ["idle = 30 s"]
        self._add("limits", rows)

    def _constants(self) -> None:
        for name in ("LARGE", "FEW")[: self._dice.randint(0, 2)]:
            value = (
                self._dice.choice((0, 1, 3, 5, 2**32 - 1)) if name == "LARGE" else self._dice.randint(1, 4)
            )
            self._parts.append(Part(f"const {name} = {value}{self._one('', ' + 1', ' * 2')}"))
            if name == "FEW":
                self._declared.consts.append((name, value))

    def _code(self, number: int) -> str:
        """Return a number in the notation of the file: a letter may be written as itself."""
        return f"'{chr(number)}'" if 65 <= number <= 90 and self._chance(0.5) else str(number)

    # ---- types

    def _enum(self) -> None:
        name = self._type()
        numbers = self._dice.sample(range(120), self._dice.randint(1, 4))
        members = self._dice.sample("A MRO NONE CLASS NAME VALUE SELF REAL V1 ONE".split(), len(numbers))
        is_open = self._chance(0.4)
        base = self._one("u8", "u8", "u16", "u32", "i16", "u16le", "i8", "varint", "u24")
        rows = [f"{member} = {self._code(number)}" for member, number in zip(members, numbers, strict=True)]
        rows += ['reserved 121 .. 125 "kept"'] if self._chance(0.2) else []
        self._add(f"{self._doc()}{'open ' if is_open else ''}enum {name} : {base}", rows)
        self._declared.enums.append((name, list(zip(members, numbers, strict=True)), is_open))

    def _coding(self) -> None:
        name = self._type()
        rows, has_null = self._dice.choice(
            (
                (["0 .. 0xFC", "0xFE => u16", "0xFD => i32", "0xFF => null"], True),
                (["0 .. 0x7F", "0x80 => u16le", "0x81 => u64"], False),
                (["0 .. 9", "10 => u8", "11 => u24", "12 => null"], True),
                (["0 .. 0xEF", "0xF0 => u16", "0xF1 => u32"], False),
            )
        )
        self._add(f"coding {name} : u8", rows)
        self._declared.codings.append((name, has_null))

    def _alias(self) -> None:
        name, fields = self._type(), self._fields
        place = Place(is_bounded=False, is_last=False)
        shape, known = fields.shape(place)
        clause = fields.where("value", known) if self._chance(0.5) else ""
        clause += " @rule(bad_alias)" if self._chance(0.2) else ""
        self._add(f"type {name} = {shape}{clause}")
        self._declared.aliases.append((name, known))

    def _struct(self) -> None:
        declared, dice = self._declared, self._dice
        kind = dice.choices(("plain", "pair", "ender", "open", "own"), (6, 1, 1.5, 1, 1.5))[0]
        name = self._type()
        if kind == "pair":
            self._add(
                f"struct {name}", ["key : utf8[u8] lenient", f"value : {self._fields.shape(Place())[0]}"]
            )
            declared.pairs.append(name)
        elif kind == "ender":
            rows, until = dice.choice(
                (
                    (["more : bool", "x : u8"], "not more"),
                    (["x : bytes[u8]"], "count(x) == 0"),
                    (["k : u16", "y : u8"], "k == 0"),
                    (["x : utf8[u8]"], "size(x) < 3"),
                )
            )
            self._add(f"struct {name}", rows)
            declared.enders.append((name, until))
        else:
            place = Place(
                is_bounded=kind == "open", is_last=kind == "open", own=name if kind == "own" else ""
            )
            rows = self._fields.rows(place, 1, 4)
            self._add(f"{self._doc()}struct {name}", rows)
            declared.members[name] = place.of("int", "bool", "enum")
        declared.structs.append(name)

    def _union(self) -> None:
        name, names = self._type(), []
        base, codes = self._dice.choice(
            (
                ("u8", range(200)),
                ("u8", range(200)),
                ("i16", range(-50, 300)),
                ("varint", range(500)),
                ("u16le", range(999)),
                ("i8", range(-9, 90)),
            )
        )
        chosen = sorted(self._dice.sample(list(codes), self._dice.randint(1, 4)))
        rows = []
        is_open = self._chance(0.3)
        for code in chosen:
            variety = self._one("Nil", "Num", "Str", "Many", "Rec", "Other", "Tail", "Value") + self._one(
                "", "X", "Y"
            )
            if variety in names:
                continue
            names.append(variety)
            place = Place(is_bounded=is_open, is_last=is_open, own=name)
            layout = self._one("", " : lone", " : lone", " {}")
            if layout == " : lone":
                shape, known = self._fields.shape(place)
                layout = f" : {shape}{self._fields.where('value', known)}"
            elif layout == " {}":
                layout = f" {{ {'  '.join(self._fields.rows(place, 0, 3))} }}"
            more = f", {code + 1000} .. {code + 1002}" if base == "u16le" and self._chance(0.2) else ""
            rows.append(f"{variety} {self._code(code)}{more}{layout}")
        if self._chance(0.2) and base != "varint":
            low, high = (100, 120) if base != "u8" else (201, 210)
            wide = self._chance(0.3) and base == "u16le"
            rows.append(
                f"Unnamed {1000 if wide else low + 900 * (base == 'u16le')} .. {65535 if wide else high + 900 * (base == 'u16le')} : bytes[u8]"
            )
        self._add(
            f"{self._doc()}union {name} : {base}{self._one('', '', '', ' @raw')}",
            rows,
        )
        self._declared.unions.append((name, names))

    def _chunk(self) -> None:
        name = self._type(plain="Chunk")
        rows, until = self._dice.choice(
            (
                (["size : u16 := count(data)", "more : bool", "data : bytes[size]"], "not more"),
                (["kind : u8", "data : bytes[u8]"], "kind == 0"),
                (["data : bytes[u8]"], "count(data) < 255"),
                (["more : bit", "_ : u7 == 0", "data : bytes[u16]"], "not more"),
            )
        )
        self._add(f"struct {name}", rows)
        self._declared.chunks.append((name, until))

    # ---- frames and messages

    def _speak(self) -> None:
        """Write frames, messages, and all that is about them."""
        n_ways = self._dice.choices(("both", "two", "one"), (5, 3, 0.7))[0]
        roles = {"both": ("",), "two": ("a", "b"), "one": ("a",)}[n_ways]
        if n_ways == "both" and self._chance(0.6):
            self._declared.frame = self._type(plain="Frame")
        frames = [self._declared.frame or self._type(plain="Frame") for _ in roles]
        named = [self._type() for _ in range(self._dice.randint(0, 2))]
        self._declared.messages = [] if n_ways == "two" else list(named)
        self._settle_contexts(n_ways)
        is_coded = self._chance(0.4)
        self._named_codes = {name: 20 + place for place, name in enumerate(named)} if is_coded else {}
        for name in named:
            self._message(name, str(self._named_codes.get(name, "")), roles[0])
        bodies = [self._frame(name, role, named) for name, role in zip(frames, roles, strict=True)]
        for role, codes in zip(roles, bodies, strict=True):
            self._coded_messages(role, codes, n_ways)
        self._finish_contexts()
        for share, write in (
            (0.3, self._preamble),
            (0.3, self._variant),
            (0.3, self._join),
            (0.5, self._session),
        ):
            if self._chance(share):
                write()

    def _settle_contexts(self, n_ways: str) -> None:
        """Choose the contexts that fields may ask; they are set by messages that come after."""
        self._contexts: list[tuple[str, int, str, str]] = []
        n_contexts = self._dice.choice((0, 0, 1, 2))
        for name in ("sizes", "kinds")[:n_contexts]:
            role = "a" if n_ways == "one" else self._one("", "a", "b")
            self._contexts.append(
                (name, self._dice.choice((1, 1, 2)), self._one("int", "int", "bool", "float"), role)
            )
        self._declared.contexts = [(name, n_keys, sort) for name, n_keys, sort, _ in self._contexts]

    def _coded_messages(self, role: str, codes: dict[str, int], n_ways: str) -> None:
        for name, code in codes.items():
            sender = role or self._one("", "", " from a", " from b").replace(" from ", "")
            if n_ways == "one":
                sender = "a"
            self._message(name, self._code(code), sender)
            self._declared.coded.append(name)
        if codes and n_ways == "both" and not self._is_tagged and self._chance(0.3):
            sender = self._one("a", "b")
            others = {other for _, other, _ in self._messages}
            if others <= {"a", "b"} - {sender}:
                self._message(self._type(), str(min(codes.values())), sender)

    def _message(self, name: str, code: str, sender: str) -> None:
        place = Place(is_bounded=self._is_bounded, is_last=self._is_bounded)
        if self._chance(0.15):
            rows = self._set_rows(place)
        else:
            rows = self._fields.rows(place, 0, 5)
        if self._chance(0.1):
            n, text = self._fields.name(place), self._fields.name(place)
            rows = [f"{n} : u8 := size({text})", f"{text} : bytes[{n}] if {n} > 0", *rows]
        rows = [f"{row} @tag({index + 3})" for index, row in enumerate(rows)] if self._chance(0.03) else rows
        head = f"{self._doc()}message {name}{f' {code}' if code else ''}{f' from {sender}' if sender else ''}"
        self._add(head, rows)
        self._messages.append((name, sender, [each for each in place.known if not each.is_optional]))

    def _set_rows(self, place: Place) -> list[str]:
        """Return the fields of a message that a context can take: keys, and the value."""
        rows = []
        for _ in range(2):
            name = self._fields.name(place)
            rows.append(f"{name} : u8")
            place.known.append(Known(name, "int", 255))
        flag, level = self._fields.name(place), self._fields.name(place)
        place.known += [Known(flag, "bool"), Known(level, "float")]
        float_ = self._one("f32", "f32le", "f64")
        return [*rows, f"{flag} : bool", f"{level} : {float_}", *self._fields.rows(place, 0, 2)]

    def _frame(self, name: str, role: str, named: list[str]) -> dict[str, int]:
        """Write a frame; return the messages that have codes in it, with their codes."""
        dice, fields = self._dice, self._fields
        place = Place()
        self._is_tagged = self._chance(0.25)
        head = f"{self._doc()}frame {name}{f' from {role}' if role else ''}{' @tag(code)' * self._is_tagged}"
        if named and self._chance(0.06):
            self._add(head, [f"m : {named[0]} in {self._one('u16', 'u32', 'varint', 'u16le')}"])
            return {}
        before = self._header(place)
        kind = fields.name(place)
        code_type, codes = dice.choice(
            (
                ("u8", range(200)),
                ("u8", range(200)),
                ("u16", range(400)),
                ("i16", range(-40, 90)),
                ("varint", range(300)),
                ("i8", range(-50, 60)),
                ("u32le", range(999)),
                ("bits", range(32)),
                ("u24", range(70_000, 70_100)),
            )
        )
        taken_codes = self._named_codes.values()
        free = [code for code in codes if code not in taken_codes]
        chosen = {self._type(): code for code in dice.sample(free, dice.randint(1, 4))}
        code_rows = [f"{kind} : {code_type} := code(body)"]
        if code_type == "bits":
            other = fields.name(place)
            code_rows = [f"{kind} : u5 := code(body)", f"{other} : u3"]
        if code_type in ("u8", "u16") and self._chance(0.2):
            code_rows = [f"{kind} : {self._code_enum([*chosen.values(), *taken_codes])} := code(body)"]
        taken = self._one(*chosen) if self._chance(0.1) else ""
        rows = self._body(place, [*before, *code_rows], f"{kind} only {taken}" if taken else kind, named)
        self._add(head, rows)
        keys = [each.name for each in place.known if each.sort == "int" and not each.is_optional]
        self._frames.append((name, role, keys))
        return chosen

    def _code_enum(self, codes: list[int]) -> str:
        name = self._type()
        rows = [f"C{code} = {code}" for code in sorted(codes)]
        self._add(f"{self._one('', 'open ')}enum {name} : u16", rows)
        return name

    def _header(self, place: Place) -> list[str]:
        fields, rows = self._fields, []
        if self._chance(0.2):
            name = fields.name(place)
            rows.append(
                self._one(
                    f'{name} : bytes[2] == x"cafe"',
                    f"{name} : u8 == 1",
                    f"{name} : u16 where {name} in [1, 2]",
                )
            )
        for _ in range(self._dice.choice((0, 0, 1, 2))):
            name = fields.name(place)
            type_ = self._one(
                "u8", "u8", "u16", "bool = true", "u8 = 3", "u32", "uuid", "varint", *INTEGERS[:3]
            )
            rows.append(f"{name} : {type_}")
            if type_[0] == "u" and "uuid" not in type_:
                place.known.append(Known(name, "int", 255 if type_ == "u8" else 0))
            elif type_[0] == "b":
                place.known.append(Known(name, "bool"))
        return rows

    def _body(self, place: Place, rows: list[str], kind: str, named: list[str]) -> list[str]:
        fields = self._fields
        rows, match = self._choice(place, rows, kind, named)
        after = self._after(place)
        form = self._dice.choices(
            ("in size", "bare", "in prefix", "block", "zlib", "chunks", "if", "total"),
            (5, 2, 2, 2, 0.6, 0.5, 0.7, 0.6),
        )[0]
        if form == "chunks" and not self._declared.chunks:
            form = "in size"
        self._is_bounded = self._is_bounded and form != "bare"
        lenient = self._one("", "", "", " lenient")
        n = fields.name(place)
        sizes = self._one("u8", "u16", "u16le", "u32", "i32", "varint", "u24")
        size = f"{n} : {sizes}{self._one('', '', ' lenient')}"
        match form:
            case "in size":
                where = f" where {n} < 9000" if self._chance(0.1) else ""
                return [
                    *self._mixed(rows, f"{size} := size(body){where}"),
                    f"body : {match} in {n}{lenient}",
                    *after,
                ]
            case "bare":
                return [*rows, f"body : {match}", *after]
            case "in prefix":
                return [*rows, f"body : {match} in {sizes}{lenient}", *after]
            case "zlib":
                return [*rows, f"body : {match} in {self._one('zlib', 'gzip', 'deflate')}[u16]", *after]
            case "chunks":
                struct, until = self._dice.choice(self._declared.chunks)
                return [*rows, f"body : {match} in {struct}[until {until}]", *after]
            case "total":
                total = f"{size} := size(body) + 4 where {n} >= 4"
                return [*self._mixed(rows, total), f"body : {match} in {n} - 4{lenient}", *after]
            case "if":
                flag = fields.name(place)
                head = rows[: -1 if "code(" in rows[-1] else -2]
                inner = "  ".join([*rows[len(head) :], f"body : {match}"])
                return [
                    *head,
                    f"{flag} : bit := present(rest)",
                    "_ : u7 == 0",
                    f"rest : {{ {inner} }} if {flag}",
                ]
            case _:
                return self._in_block(place, rows, size, n, match, after)

    def _in_block(
        self, place: Place, rows: list[str], size: str, n: str, match: str, after: list[str]
    ) -> list[str]:
        """Return a frame whose code and body are in a block of given size."""
        cut = -1 if "code(" in rows[-1] else -2
        more = []
        if self._chance(0.5):
            flag, note = self._fields.name(place), self._fields.name(place)
            rows = [f"{flag} : bool := present({note})", *rows]
            more = [f"{note} : {self._one('utf8[u8]', 'u16[u8]', 'u8')} if {flag}"]
        inner = "  ".join([*more, *rows[cut:], f"body : {match}"])
        return [f"{size} := size(payload)", *rows[:cut], f"payload : {{ {inner} }} in {n}", *after]

    def _mixed(self, rows: list[str], row: str) -> list[str]:
        """Return rows with another one at any place that cuts no run of bits."""
        places = [0, len(rows)] if any(" : u5 " in each for each in rows) else range(len(rows) + 1)
        at = self._dice.choice(list(places))
        return [*rows[:at], row, *rows[at:]]

    def _choice(self, place: Place, rows: list[str], kind: str, named: list[str]) -> tuple[list[str], str]:
        """Return the rows before the field that carries the message, and its type; no code is written of a message without one."""
        own = f"match {kind}{self._one('', ' lenient') if ' only ' in kind else ''}"
        numbers = [each for each in place.known if each.sort == "int" and each.most]
        is_written_apart = "code(" in rows[-1]
        if named and numbers and (is_written_apart or self._named_codes) and self._chance(0.5):
            subject = self._dice.choice(numbers).name
            arms, others = [f"0 => {own}", f"1, 3 .. 4 => {named[0]}"], ["1", "3 .. 4"]
            if len(named) > 1 and len(numbers) > 1 and self._chance(0.5):
                arms.append(f"2 => match {numbers[0].name} {{ 0 => {named[1]}  _ => {named[0]} }}")
                others.append("2")
            rest = self._one("", named[-1], own)
            arms += [f"_ => {rest}"] if rest else []
            if not self._named_codes:
                condition = f"{subject} not in [{', '.join(others)}]" if rest == own else f"{subject} == 0"
                rows = [*rows[:-1], f"{rows[-1]} if {condition}"]
            return rows, f"match {subject} {{ {'  '.join(arms)} }}"
        return rows, own

    def _after(self, place: Place) -> list[str]:
        """Return the fields after the message in its frame."""
        if not self._chance(0.25):
            return []
        name = self._fields.name(place)
        return [self._one(f"{name} : u8 == 7", f"{name} : u32 := crc32(body)", "_ : bytes[-offset % 4]", f"{name} : u16", f"{name} : bytes[u8] if code(body) == 3", f"{name} : u8 = 1")]  # fmt: skip

    # ---- what is remembered

    def _finish_contexts(self) -> None:
        for name, n_keys, sort, role in self._contexts:
            fits = [
                (message, known)
                for message, sender, known in self._messages
                if (not role or sender == role) and self._takers(known, sort)
            ]
            if not fits:
                continue
            message, known = self._dice.choice(fits)
            value = self._dice.choice(self._takers(known, sort))
            sorts = ("int", "float") if self._chance(0.4) else ("int",)
            numbers = [each.name for each in known if each.sort in sorts and "." not in each.name]
            keys = [name for name in numbers if name != value.name][:n_keys]
            frame_keys = self._header_numbers(role)
            if len(keys) < n_keys:
                keys = [*keys, *frame_keys][:n_keys]
            rows = [f"set {message}.{value.name}{self._when(known)}"]
            if self._chance(0.5):
                rows.append(f"clear {self._dice.choice(self._messages)[0]}")
            per = f" per {', '.join(keys)}" if keys else ""
            type_ = {"int": self._one("u8", "u16", "u32"), "bool": "bool", "float": self._one("f32", "f64")}[
                sort
            ]
            self._add(f"context {name} : {type_}{per}{f' from {role}' if role else ''}", rows)

    def _header_numbers(self, role: str) -> list[str]:
        """Return the number fields of the first frame that a role may send."""
        return next((keys for _, side, keys in self._frames if side in ("", role)), [])

    def _takers(self, known: list[Known], sort: str) -> list[Known]:
        fit = [each for each in known if each.sort == sort and "." not in each.name]
        return [each for each in fit if each.most >= 255 or sort != "int"]

    def _when(self, known: list[Known]) -> str:
        numbers = [each for each in known if each.sort in ("int", "float")]
        return f" when {self._dice.choice(numbers).name} < 99" if numbers and self._chance(0.3) else ""

    def _join(self) -> None:
        """Write a join of bytes, of frames or of blocks, with the messages that are its pieces."""
        if not self._frames:
            return
        frame, role, keys = self._dice.choice(self._frames)
        text = " ".join(
            row for part in self._parts if part.head.find(f"frame {frame}") >= 0 for row in part.rows or ()
        )
        flags = [word.rstrip(":") for word in text.split() if f"{word} : bool = true" in text]
        name = self._joined = self._type(plain="Whole")
        per = f" per {keys[0]}" if keys and self._chance(0.7) else ""
        if "payload : {" in text and flags:
            rows = [f"part {frame}.payload when {flags[0]}", f"last {frame}.payload when not {flags[0]}"]
            self._add(f"join {name} : {frame}.payload{per}", rows)
            return
        sender = f" from {role}" if role else ""
        piece, end = self._type(plain="Piece"), self._type(plain="End")
        has_flag = self._chance(0.5)
        layout = ["key : u8", "more : bool", "data : bytes[u8]"]
        self._add(f"message {piece} {201}{sender}", layout)
        rows = [f"part {piece}.data when more", f"last {piece}.data when not more"]
        if not has_flag:
            self._add(f"message {end} {202}{sender}", ["key : u8", "data : bytes[u8]"])
            rows = [f"part {piece}.data", f"last {end}.data"]
        rows += (
            [f"clear {self._dice.choice(self._messages)[0]}"] if self._messages and self._chance(0.4) else []
        )
        what = self._one("bytes", "bytes", frame)
        self._add(f"join {name} : {what}{self._one('', ' per key')}", rows)

    def _preamble(self) -> None:
        place = Place()
        role = self._one("a", "b")
        rows = self._fields.rows(place, 1, 3)
        self._add(f"preamble {self._type(plain='Hello')} from {role}", rows)

    def _variant(self) -> None:
        """Write another layout of some declarations: other widths, other orders of bytes."""
        kinds = ("frame ", "struct ", "message ", "preamble ")
        fit = [part for part in self._parts if part.rows and part.head.split("\n")[-1].startswith(kinds)]
        rows = []
        for part in self._dice.sample(fit, min(len(fit), self._dice.randint(1, 2))):
            other = [self._varied(row) for row in part.rows or ()]
            if part.rows and self._chance(0.3) and all(" : " in row and "{" not in row for row in part.rows):
                other = self._dice.sample(other, len(other))
            head = part.head.split("\n")[-1].split(" @")[0]
            if "message" in head or "preamble" in head or "frame" in head or "struct" in head:
                rows.append(f"{head} {{ {'  '.join(other)} }}")
        self._add(f"variant {self._one('other', 'example', 'old')}", rows)

    def _varied(self, row: str) -> str:
        name, colon, rest = row.partition(" : ")
        type_, blank, clause = rest.partition(" ")
        swapped = {"u16": "u16le", "u32": "u24", "u16le": "u16be", "i16": "i32", "u8": "u16", "u64": "varint"}
        if colon and type_ in swapped and self._chance(0.6):
            return f"{name}{colon}{swapped[type_]}{blank}{clause}"
        return row

    # ---- sessions

    def _session(self) -> None:
        if not self._messages:
            return
        known = {name: fields for name, _, fields in self._messages}
        senders = {name: sender for name, sender, _ in self._messages}
        first = self._dice.choice(list(known))
        keys = [
            each.name
            for each in known[first]
            if each.sort in ("int", "enum", "uuid") and "." not in each.name
        ]
        per = self._dice.choices(("", "sender", "key", "both"), (5, 2, 3 * bool(keys), bool(keys)))[0]
        names = {"": "", "sender": "sender", "key": keys[:1], "both": ["sender", *keys[:2]]}[per]
        rows = ["roles asker, answerer"] if self._chance(0.2) else []
        sides = ("asker", "answerer") if rows else ("a", "b")
        self._variables = self._dice.sample(list(_VARIABLES), self._dice.randint(0, len(_VARIABLES)))
        rows += [f"var {name} : {_VARIABLES[name]}" for name in self._variables]
        rows += ["option eager : bool = false", "option most_open : u16 = 3"] if self._chance(0.3) else []
        is_optional = "option" in " ".join(rows)
        rows += self._list_rows(known) if "seen" in self._variables else []
        for state in ("begin", "active, waiting", "active", "ended"):
            inner = [
                self._row(known, senders, sides, has_options=is_optional)
                for _ in range(self._dice.randint(1, 3))
            ]
            if state == "begin":
                inner.append(
                    "any any => ended { seen = [] }" if "seen" in self._variables else "any any => ended"
                )
            rows.append(f"state {state} {{ {'  '.join(inner)} }}")
        rows += ["state active { after limits.idle => ended }"] if self._chance(0.6) else []
        rows += ["state begin { after limits.idle violates too_late }"] if self._chance(0.2) else []
        rows += [f"state any {{ any {first} => {{}} }}"] if self._chance(0.2) else []
        head = f"{self._doc()}session {self._type(plain='Talk')}"
        self._add(
            f"{head} per {names if isinstance(names, str) else ', '.join(names)}" if names else head, rows
        )

    def _list_rows(self, known: dict[str, list[Known]]) -> list[str]:
        """Return rows by which the list of a session grows and is emptied again."""
        numbers = [
            (message, each.name)
            for message, fields in known.items()
            for each in fields
            if each.sort == "int" and each.most and not each.is_optional
        ]
        if not numbers or self._chance(0.3):
            return []
        message, n = self._dice.choice(numbers)
        guard = self._one("", f" when index(seen, {n}) == count(seen)", f" when {n} not in seen")
        less = self._one("[]", f"remove(seen, {n})", "drop(seen, 1)")
        return [
            f"state begin {{ any {message} => active }}",
            f"state active {{ any {message}{guard or ' when count(seen) < 3'} => {{ seen = push(seen, {n}) }} }}",
            f"state active {{ any {message} => {{ seen = {less} }} }}",
        ]

    def _row(
        self,
        known: dict[str, list[Known]],
        senders: dict[str, str],
        sides: tuple[str, str],
        *,
        has_options: bool,
    ) -> str:
        message = self._dice.choice(list(known))
        role = senders[message] or "any"
        role = self._one(*sides) if sides[0] != "a" or role == "any" and self._chance(0.6) else role
        guards, updates = self._said(known[message])
        guards += ["eager", "not eager", "most_open > 2"] * has_options
        guards += [f"sender == {self._one(*sides)}"] * self._chance(0.2)
        guards += [f"size({self._joined}) > 3"] * bool(self._joined)
        guards += [f"{name} != 3" for name in self._header_numbers(senders[message])]
        chosen = {each.split()[0]: each for each in self._dice.sample(updates, min(len(updates), 2))}
        changes = "  ".join(chosen.values())
        effects = [
            "=> active",
            "=> {}",
            "=> ended",
            "=> waiting",
            "violates too_soon",
            "violates too_soon lenient",
        ]
        effects += [f"=> {{ {changes} }}", f"=> active {{ {changes} }}"] * bool(updates)
        when = f" when {self._one(*guards)}" if guards and self._chance(0.5) else ""
        others = f", {self._one(*known)}" if not when and self._chance(0.2) else ""
        targets = self._joined if self._joined and self._chance(0.2) else f"{message}{others}"
        return f"{role} {targets}{when} {self._dice.choice(effects)}"

    def _said(self, fields: list[Known]) -> tuple[list[str], list[str]]:
        """Return conditions on the variables of a session and the fields of a message, and the actions that
        rows may take.
        """
        numbers = [each.name for each in fields if each.sort == "int" and each.most]
        n = self._one(*numbers) if numbers else "1"
        guards = [f"{n} > 1", f"{n} in [1, 5 .. 9]", f"{n} ** 2 != 4"] if numbers else []
        found = {
            "credit": (["credit < 3", f"credit - {n} >= -9"], ["credit = credit + 1", "credit = 0", f"credit = min(credit, {n})"]),
            "seen": (
                ["count(seen) == 0", f"{n} in seen", f"{n} not in seen", f"index(seen, {n}) == 0", f"seen[0] == {n}", f"rank(seen, {n}) == 0", "distinct(seen)"],
                [f"seen = push(seen, {n})", f"seen = drop(seen, rank(seen, {n}))", f"seen = remove(seen, {n})", "seen = drop(seen, 1)", "seen = []"],
            ),
            "flag": (["flag", "not flag"], ["flag = true", "flag = not flag"]),
            "owner": ([], []),
            "word": (['word == ""'], ['word = "x"']),
        }  # fmt: skip
        for each in fields:
            match each.sort:
                case "uuid":
                    found["owner"] = ([f"owner == {each.name}"], [f"owner = {each.name}"])
                case "text":
                    found["word"] = ([f"word != {each.name}"], [f"word = {each.name}"])
                case "bool":
                    found["flag"] = ([f"flag == {each.name}"], [f"flag = {each.name}"])
        for name in self._variables:
            guards += found[name][0]
        return guards, [update for name in self._variables for update in found[name][1]]

    # ---- pages

    def _notes(self) -> None:
        """Declare the rules that are named, and at times others: a schema without that of its roles is drawn again."""
        rows = [row for part in self._parts for row in (part.head, *(part.rows or ()))]
        for name, (sentence, sources) in _RULES.items():
            if self._chance(0.25) or any(f"@rule({name})" in row for row in rows):
                self._add(f'rule {name} "{sentence}"', sources)
        if self._chance(0.2) and self._messages:
            rows = ['document "says nothing"', 'peers "differ | {{ x }}"', 'decision "as *here*"', 'reason "*/ easy"', f"about {self._messages[0][0]}"]  # fmt: skip
            self._add('ledger 1 "left open"', rows)
