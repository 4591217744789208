"""Random valid `.wire` files, with names and comments that are unkind to Python; and the steps from text to codecs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.built_schema import schema_of
from tests.compiled import compile_runtime
from tests.property.codecs import Codecs

from wiregen.generate.build import build
from wiregen.generate.writer import Output, write
from wiregen.language.config import Config
from wiregen.language.diagnostics import Report, render
from wiregen.language.source import Sources

HEAD = """
wire 1

protocol p {
  source "a public document"
  endian big
  roles  client, server
}

frame Frame {
  kind : u8 := code(body)
  size : u16 := size(body)
  body : match kind in size
}
"""
"""The beginning of a protocol for tests of single constructs."""
HOSTILE_FIELDS = (
    "absent base buffer bytes cls code compression count data def decode dict encode end end_position frame from_dict "
    "from_role header i index inner inner_end inner_position int is_ item key len length level limits list memoryview "
    "message n n_a name object offset parts position print property raise range replace self size slots start state "
    "static str strict super to_dict tuple type uuid value values version zlib class from import lambda none return "
    "while yield async del global pass a b limit number record stream copy args kwargs bad new item_ n_b None True Frame"
    " Decoder Limits _runtime _plan Exception"
).split()
HOSTILE_TYPES = (
    "Ack Any Bad Callable Class Connection Context Data Decoder DecodeError Enum Exception False Frames IntEnum Int KeyError "
    "Lengths Limits Literal Message NeedMoreData None Readers Required Self Session State Str Struct True TypeError Unknown UUID ValueError Window Python Writers"
).split()
HOSTILE_DOCS = (
    'ends in a quote"',
    'ends in three quotes"""',
    "'''",
    "*/ /* -->",
    "{{ x }} {% for x in y %} {# z #}",
    "<script>alert(1)</script>",
    "ends in a backslash\\",
    "\\N{DIGIT ONE} \\x00 \\u2028 \\",
    "%s {0} {x!r} $x `rm -rf` \t tab",
    "# type: ignore # noqa # fmt: off",
    "-*- coding: latin-1 -*-",
    "zażółć 日本語 😀",
    "    four blanks, and then a long line " + "x" * 200,
)
REFUSED_DOCS = ("line\u2028separator", "bidi \u202e tricks", "a \x07 bell", "no\u200bwidth")
SCALARS = "u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 u16le u32le u64le i16be i32le f32le f64le bool uuid".split()
PREFIXES = "u8 u16 u32 u64 u16le u32le i8 i16 i32 i64".split()
ENCODINGS = "utf8 utf8 mutf8 ascii latin1 utf16".split()


@contextmanager
def built(text: str, folder: Path, name: str, backends: tuple[str, ...] = ("native",)) -> Iterator[Codecs]:
    """Build the protocol `p` of a text and import it as `name`.p; it is forgotten afterwards."""
    outputs = outputs_of(text, folder, name, backends)
    write(outputs, folder / "generated")
    compile_runtime(outputs, folder / "generated")
    place = str(folder / "generated" / "python")
    sys.path.insert(0, place)
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(f"{name}.p")
        yield Codecs(module=module, schema=schema_of(f"{name}.p"))
    finally:
        sys.path.remove(place)
        for known in [each for each in sys.modules if each.split(".")[0] == name]:
            del sys.modules[known]


def outputs_of(
    text: str, folder: Path, package: str = "random_wire", backends: tuple[str, ...] = ("native",)
) -> tuple[Output, ...]:
    """Return the files of a build; a text with a fault fails the test with its diagnostics."""
    report, sources = Report(), Sources()
    outputs = build(configuration(text, folder, package, backends), (), sources, report)
    assert not report.has_errors, f"{render(report, sources, colour=False)}\n{text}"
    return outputs


def configuration(
    text: str, folder: Path, package: str = "random_wire", backends: tuple[str, ...] = ("native",)
) -> Config:
    """Write the protocol's file, and return the configuration of a project with that file only."""
    (folder / "idl").mkdir(parents=True, exist_ok=True)
    (folder / "idl" / "p.wire").write_text(text, encoding="utf-8")
    return Config(
        root=folder,
        file=None,
        sources=(folder / "idl",),
        output=folder / "generated",
        package=package,
        backends=backends,
        protocols=None,
    )


# ---- texts


@st.composite
def wire_texts(draw: DrawFn) -> str:
    """Return the text of a protocol `p` that straight-line code exists for."""
    return _Writer(draw).text()


class _Writer:
    """Writes one file; every choice is drawn."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw
        n_types = draw(st.integers(3, 7))
        names = st.sampled_from(HOSTILE_TYPES) | st.from_regex(r"\A[A-Z][a-z]{1,6}\Z")
        self._types = draw(
            st.lists(
                names.filter(lambda name: name != "Frame"), min_size=n_types, max_size=n_types, unique=True
            )
        )
        self._structs: list[str] = []
        self._enums: list[tuple[str, str]] = []

    def text(self) -> str:
        enums = [self._enum(self._types.pop()) for _ in range(self._number(0, 1))]
        structs = [self._struct(self._types.pop()) for _ in range(self._number(0, len(self._types) - 2))]
        frame, bits = self._frame()
        parts = [self._head(), self._limits(), *enums, *structs, frame, *self._messages(bits)]
        return "\n\n".join(parts) + "\n"

    def _number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, max(low, high)))

    def _chance(self, one_in: int) -> bool:
        return self._number(1, one_in) == one_in

    def _one(self, values: Any) -> Any:
        return self._draw(st.sampled_from(tuple(values)))

    def _doc(self, indent: str = "") -> str:
        if not self._chance(3):
            return ""
        line = st.sampled_from(HOSTILE_DOCS) | st.text(
            st.characters(min_codepoint=32, max_codepoint=126), max_size=40
        )
        return "".join(f"{indent}/// {text}\n" for text in self._draw(st.lists(line, min_size=1, max_size=3)))

    def _names(self, low: int, high: int) -> list[str]:
        names = st.sampled_from(HOSTILE_FIELDS) | st.from_regex(r"\A[a-z][a-z0-9]{0,5}\Z")
        names = names.filter(lambda name: name not in PREFIXES)  # `bytes[u8]` would mean the field
        unlike = st.lists(names, min_size=low, max_size=high, unique_by=lambda name: name.rstrip("_"))
        return [f"`{name}`" if name in LANGUAGE_WORDS else name for name in self._draw(unlike)]

    # ---- declarations

    def _head(self) -> str:
        order, doc = self._one(("big", "little")), self._doc()
        return f'wire 1\n\n{doc}protocol p {{\n  source "a public document"\n  endian {order}\n  roles  one, other\n}}'

    def _limits(self) -> str:
        chosen = [f"depth = {self._number(0, 3)}", "inflated = 4096"]
        chosen += [f"frame = {self._number(200, 5000)}"] if self._chance(3) else []
        chosen += [f"count = {self._number(1, 6)}"] if self._chance(3) else []
        chosen += [f"messages = {self._number(1, 12)}"] if self._chance(2) else []
        return "limits {\n" + "".join(f"{self._doc('  ')}  {limit}\n" for limit in chosen) + "}"

    def _enum(self, name: str) -> str:
        base = self._one(("u8", "u16", "u32", "i16", "u16le"))
        numbers = self._draw(st.lists(st.integers(0, 127), min_size=1, max_size=4, unique=True))
        members = self._draw(
            st.lists(
                st.sampled_from("A MRO NONE CLASS NAME VALUE SELF REAL V1".split()),
                min_size=len(numbers),
                max_size=len(numbers),
                unique=True,
            )
        )
        rows = "".join(
            f"{self._doc('  ')}  {member} = {number}\n"
            for member, number in zip(members, numbers, strict=True)
        )
        self._enums.append((name, members[0]))
        return f"{self._doc()}{self._one(('', 'open '))}enum {name} : {base} {{\n{rows}}}"

    def _struct(self, name: str) -> str:
        text = f"{self._doc()}struct {name} {{\n{self._fields(1, 4, is_nested=True)}}}"
        self._structs.append(name)
        return text

    def _frame(self) -> tuple[str, int]:
        """Return the frame, and how many bits its code has: whole before it, for the code has a fixed place."""
        before, after = self._names(0, 4), []
        if before and self._chance(2):
            after = [before.pop()]
        code, bits = self._one((("u8", 8), ("u16", 16), ("i32", 31), ("u32le", 31)))
        rows = [f"  {name} : {self._fixed()}\n" for name in before]
        rows += [f"  kind_x : {code} := code(body_x)\n"]
        rows += [f"  {name} : {self._fixed()}\n" for name in after]
        rows += ["  body_x : match kind_x\n"]
        return f"{self._doc()}frame Frame {{\n{''.join(rows)}}}", bits

    def _messages(self, bits: int) -> Iterator[str]:
        codes = self._draw(
            st.lists(st.integers(0, (1 << min(bits, 12)) - 1), min_size=8, max_size=8, unique=True)
        )
        for name in self._types:
            role = self._one(("", " from one", " from other"))
            code = codes.pop()
            yield f"{self._doc()}message {name} {code}{role} {{\n{self._fields(0, 5)}}}"
        if self._chance(2):
            prefix, algorithm = self._one(("u16", "u32", "u32le")), self._one(("zlib", "gzip", "deflate"))
            rows = self._fields(0, 2, is_nested=True)
            frames = f"  inner_frames : Frame[] in {algorithm}[{prefix}]\n"
            yield f"message Envelope {codes.pop()} {{\n{self._one((rows + frames, frames + rows))}}}"

    # ---- fields

    def _fields(self, low: int, high: int, *, is_nested: bool = False) -> str:
        rows = []
        for name in self._names(low, high):
            rows.append(self._doc("  ") + f"  {name} : {self._field()}\n")
            if self._chance(5):
                rows.append(f"  _ : {self._one(('u8', 'u16', 'u32', 'u8 == 0', 'u16 == 7'))}\n")
        if is_nested and not rows:
            return "  only_x : u8\n"
        return "".join(rows)

    def _fixed(self) -> str:
        return self._scalar(self._one(("scalar", "default", "constant", "enum")))

    def _field(self) -> str:
        kind = self._one(("scalar", "default", "constant", "enum", "bytes", "text", "list", "struct"))
        match kind:
            case "bytes":
                return f"bytes[{self._one(PREFIXES)}]" + str(self._one(("", "", " as json", ' = x"00ff"')))
            case "text":
                return self._text()
            case "list":
                return f"{self._item()}[{self._one(PREFIXES)}]"
            case "struct" if self._structs:
                return str(self._one(self._structs))
            case _:
                return self._scalar(kind)

    def _text(self) -> str:
        encoding = self._one(ENCODINGS)
        lenient = " lenient" if encoding in ("utf8", "mutf8") and self._chance(2) else ""
        default = self._one(("", "", ' = "a\\"\\\\b\\n"'))
        return f"{encoding}[{self._one(PREFIXES)}]{lenient}{default}"

    def _item(self) -> str:
        return str(self._one([*SCALARS, *self._structs * 4]))

    def _scalar(self, kind: str) -> str:
        scalar = self._one(SCALARS)
        if kind == "enum" and self._enums:
            name, member = self._one(self._enums)
            return f"{name}{self._one(('', f' = {member}'))}"
        if kind == "default" and scalar[0] in "ui" and scalar != "uuid":
            return f"{scalar} = {self._number(0, 127)}"
        if kind == "constant" and scalar[0] in "ui" and scalar != "uuid":
            return f"{scalar} == {self._number(0, 127)}"
        return f"bool{self._one(('', ' lenient', ' = true'))}" if scalar == "bool" else scalar


LANGUAGE_WORDS = frozenset(
    "after and any as false if in lenient match not null only or true until where".split()
)
