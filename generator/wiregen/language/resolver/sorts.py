"""Sorts: the kind of value of an expression or a field, found from the syntax alone, before any type is resolved."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never

from wiregen.schema import model

SortKind: TypeAlias = Literal[
    "unknown",
    "integer",
    "boolean",
    "float",
    "text",
    "bytes",
    "uuid",
    "enum",
    "list",
    "record",
    "union",
    "message",
    "block",
    "null",
    "role",
    "mixed",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """`unknown` matches every sort, so that errors are not reported twice. A `record` is a struct, message or frame.

    `mixed`: of arms with values of different kinds. It matches no other sort.
    """

    kind: SortKind
    name: str = ""
    item: "Sort | None" = None


UNKNOWN: Final = Sort(kind="unknown")
WRONG: Final = Sort(kind="unknown", name="?")
"""The sort of a wrong expression that is reported already."""
INTEGER: Final = Sort(kind="integer")
BOOLEAN: Final = Sort(kind="boolean")
FLOAT: Final = Sort(kind="float")
TEXT: Final = Sort(kind="text")
BYTES: Final = Sort(kind="bytes")
UUID: Final = Sort(kind="uuid")
MESSAGE: Final = Sort(kind="message")
BLOCK: Final = Sort(kind="block")
NULL: Final = Sort(kind="null")
ROLE: Final = Sort(kind="role")
MIXED: Final = Sort(kind="mixed")


UNKNOWN_TYPE: Final = model.Bytes(length=model.Delimited(delimiter=""))
"""Replaces a wrong type; it is never written, because an error was reported."""


def list_of(item: Sort) -> Sort:
    return Sort(kind="list", item=item)


def enum_of(name: str) -> Sort:
    return Sort(kind="enum", name=name)


def record_of(name: str) -> Sort:
    return Sort(kind="record", name=name)


def item_of(sort: Sort) -> Sort:
    """Return the sort of a list's items, `unknown` for other sorts."""
    return sort.item or UNKNOWN


def is_number(sort: Sort) -> bool:
    """Return whether the sort allows arithmetic; an enum counts as its number."""
    return sort.kind in {"integer", "enum", "unknown"}


def is_ordered(sort: Sort) -> bool:
    return is_number(sort) or sort.kind == "float"


def fits(found: Sort, wanted: Sort) -> bool:
    """Return whether a value of one sort can replace a value of the other, or be compared with it."""
    if "unknown" in (found.kind, wanted.kind) or "null" in (found.kind, wanted.kind):
        return True
    if "mixed" in (found.kind, wanted.kind):
        return False
    if found.kind == wanted.kind == "list":
        return fits(item_of(found), item_of(wanted))
    if found.kind == wanted.kind:
        return found.name == wanted.name
    return {found.kind, wanted.kind} in ({"integer", "enum"}, {"integer", "float"})


def common(sorts: Iterable[Sort]) -> Sort:
    """Return the sort of values that may be of any of these sorts; a block has no value beside those of other arms."""
    found = dict.fromkeys(sorts)
    if len(found) > 1:
        found.pop(BLOCK, None)
    first = next(iter(found), UNKNOWN)
    kinds = {sort.kind for sort in found}
    if len(found) <= 1:
        return first
    if kinds <= {"message", "record"}:
        return MESSAGE
    if kinds == {"list"}:
        return list_of(common(map(item_of, found)))
    if kinds <= {"integer", "enum"}:
        return INTEGER
    if kinds <= {"integer", "enum", "float"}:
        return FLOAT
    return UNKNOWN if "unknown" in kinds else MIXED


def is_value_of(found: Sort, wanted: Sort) -> bool:
    """Return whether a value of one sort can replace a value of the other: an integer is a float, a float is not an integer."""
    return fits(found, wanted) and (found.kind, wanted.kind) != ("float", "integer")


def way_out(*sorts: Sort) -> str | None:
    """Return the help for values of a wrong sort, or None for most sorts."""
    is_mixed = any(sort.kind == "mixed" for sort in sorts)
    return "give the values of each kind a name of their own: `0 => { number : u8 }`" if is_mixed else None


def describe(sort: Sort) -> str:
    """Return the name of the sort for a message, with its article."""
    match sort.kind:
        case "enum" | "record" | "union":
            return f"`{sort.name}`"
        case "list":
            item = item_of(sort)
            return "a list" if item.kind == "unknown" else f"a list of {_plural(item)}"
        case "unknown":
            return "a value"
        case "integer":
            return "an integer"
        case "boolean":
            return "a Boolean"
        case "bytes":
            return "bytes"
        case "null":
            return "null"
        case "mixed":
            return "a value of several kinds"
        case _:
            return f"a {sort.kind}"


def _plural(sort: Sort) -> str:
    if sort.name:
        return f"`{sort.name}`"
    words = {"boolean": "Booleans", "bytes": "bytes", "mixed": "values of several kinds"}
    return words.get(sort.kind, f"{sort.kind}s")


def sort_of_type(type_: model.Type) -> Sort:
    """Return the sort of a resolved type's values."""
    if type_ == UNKNOWN_TYPE:
        return WRONG
    match type_:
        case model.Integer() | model.Varint() | model.Bits(is_flag=False):
            return INTEGER
        case model.Boolean() | model.Bits():
            return BOOLEAN
        case model.Float():
            return FLOAT
        case model.Uuid():
            return UUID
        case model.Bytes():
            return BYTES
        case model.Text():
            return TEXT
        case model.List(item=item):
            return list_of(sort_of_type(item))
        case model.EnumReference(name=name):
            return enum_of(name)
        case model.CodingReference():
            return INTEGER
        case model.UnionReference(name=name):
            return Sort(kind="union", name=name)
        case _ if isinstance(type_, model.RecordReference):
            return record_of(type_.name)
        case model.Region(content=content):
            return sort_of_type(content)
        case model.MessageMatch():
            return MESSAGE
        case model.Block():
            return BLOCK
        case model.Match():
            return UNKNOWN
        case _:
            assert_never(type_)
