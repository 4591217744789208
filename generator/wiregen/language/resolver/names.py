"""The declarations of a file by name, in one namespace: a word has one meaning in the whole file."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never

from wiregen.language import syntax
from wiregen.language.diagnostics import Label, Report, Span
from wiregen.schema.naming import camel_case, constant_case, snake_case

Kind: TypeAlias = Literal[
    "const",
    "type",
    "enum",
    "struct",
    "message",
    "frame",
    "preamble",
    "union",
    "coding",
    "variant",
    "context",
    "join",
    "session",
]
Named: TypeAlias = (
    syntax.Const
    | syntax.Alias
    | syntax.Enum
    | syntax.Struct
    | syntax.Message
    | syntax.Frame
    | syntax.Preamble
    | syntax.Union
    | syntax.Coding
    | syntax.Variant
    | syntax.Context
    | syntax.Join
    | syntax.Session
)
Names: TypeAlias = Mapping[str, Named]

_KINDS: Final[Mapping[type[Named], Kind]] = {
    syntax.Const: "const",
    syntax.Alias: "type",
    syntax.Enum: "enum",
    syntax.Struct: "struct",
    syntax.Message: "message",
    syntax.Frame: "frame",
    syntax.Preamble: "preamble",
    syntax.Union: "union",
    syntax.Coding: "coding",
    syntax.Variant: "variant",
    syntax.Context: "context",
    syntax.Join: "join",
    syntax.Session: "session",
}

Case: TypeAlias = Literal["camel", "constant", "snake"]
_CASES: Final[Mapping[Case, re.Pattern[str]]] = {
    "camel": re.compile(r"[A-Z][A-Za-z0-9]*"),
    "constant": re.compile(r"[A-Z][A-Z0-9_]*"),
    "snake": re.compile(r"[a-z][a-z0-9_]*"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedName:
    """A name with its place, for the search for duplicates."""

    name: syntax.Name
    what: str


def kind_of(node: Named) -> Kind:
    return _KINDS[type(node)]


def what_is(node: Named) -> str:
    """Return the kind of a declaration for a message, with its article."""
    match kind_of(node):
        case "enum":
            return "an enum"
        case "const":
            return "a constant"
        case kind:
            return f"a {kind}"


def collect(declarations: Iterable[syntax.Declaration], report: Report) -> dict[str, Named]:
    """Return the declarations by name, the first one of each name; report duplicates and wrong case."""
    named = [node for node in declarations if isinstance(node, Named)]
    names: dict[str, Named] = {}
    for node in named:
        check_case(node.name, _case_of(kind_of(node)), what_is(node), report)
        names.setdefault(node.name.text, node)
    refuse_duplicates((PlacedName(name=node.name, what="declaration") for node in named), report)
    return names


def _case_of(kind: Kind) -> Case:
    match kind:
        case "const":
            return "constant"
        case "variant" | "context":
            return "snake"
        case (
            "type"
            | "enum"
            | "struct"
            | "message"
            | "frame"
            | "preamble"
            | "union"
            | "coding"
            | "join"
            | "session"
        ):
            return "camel"
        case _:
            assert_never(kind)


def refuse_duplicates(entries: Iterable[PlacedName], report: Report) -> None:
    """Report each duplicate name, with its first occurrence as the second place."""
    first: dict[str, Span] = {}
    for entry in entries:
        word = entry.name
        before = first.setdefault(word.text, word.span)
        if before is not word.span:
            report_duplicate(entry, before, report)


def report_duplicate(entry: PlacedName, before: Span, report: Report) -> None:
    """Report a name that occurred before, at `before`."""
    report.error(
        "WG2002",
        f"{entry.what} `{entry.name.text}` occurs twice",
        entry.name.span,
        label="second",
        others=(Label(span=before, text="first"),),
        help="rename one of them, or remove it",
    )


def check_case(name: syntax.Name, case: Case, what: str, report: Report, *, is_warning: bool = False) -> None:
    """Report a name whose case does not show what it names."""
    if _CASES[case].fullmatch(name.text):
        return
    form, better = _better(name.text, case)
    help_ = f"write `{better}`" if _CASES[case].fullmatch(better) else None
    tell = report.warning if is_warning else report.error
    tell(
        "WG2003",
        f"the name of {what} must be {form}: found `{name.text}`",
        name.span,
        label=form,
        help=help_,
    )


def _better(word: str, case: Case) -> tuple[str, str]:
    match case:
        case "camel":
            return "in CamelCase", camel_case(word)
        case "constant":
            return "in CAPITALS", constant_case(word)
        case "snake":
            return "in snake_case", snake_case(word)
        case _:
            assert_never(case)
