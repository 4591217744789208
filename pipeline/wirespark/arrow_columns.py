"""Columns of an Arrow schema beside the types of a protocol: their groups, their meaning, the arms that share one."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from wirespark.errors import WireSparkError
from wirespark.untyped import ArrowField, Values

__all__ = ["chosen", "column_groups", "declared", "member_of", "wire_of"]

_BESIDE = ("number", "raw")


def column_groups(schema: Iterable[ArrowField]) -> Iterator[list[ArrowField]]:
    """Yield each column with its companions (`number`, `raw`)."""
    group: list[ArrowField] = []
    for column in schema:
        if group and wire_of(column) not in _BESIDE:
            yield group
            group = []
        group.append(column)
    if group:
        yield group


def wire_of(column: ArrowField) -> str:
    wire: bytes = (column.metadata or {}).get(b"wire", b"")
    return wire.decode()


def declared(name: str, known: Container[object]) -> str:
    """Return a name as the .wire file spells it."""
    return name if name in known else name.removesuffix("_")


def chosen(names: Values, values: Mapping[str, Values]) -> Values:
    """Return the value of each row from the column that its name selects."""
    try:
        return [None if name is None else values[name][row] for row, name in enumerate(names)]
    except KeyError as error:
        raise WireSparkError(f"unknown {error}: expected one of {', '.join(values)}") from None


def member_of(members: Mapping[str, object], name: str) -> object:
    """Return the member of an enum by its name."""
    if name not in members:
        raise WireSparkError(f"unknown member {name!r}: the members are {', '.join(members)}")
    return members[name]
