"""Records made from the columns of their arguments: of structs and messages, and of alternatives with their codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from wirespark.untyped import ArrowArray, Made, Values

__all__ = ["Arrays", "Taker", "coded_taker", "record_maker"]

Arrays: TypeAlias = Sequence[ArrowArray]
Columns: TypeAlias = Sequence[Values]
Taker: TypeAlias = Callable[[Arrays], Values]
"""Takes the arrays of one field, and returns a value for each row, None for absent ones."""


def record_maker(class_: Made, names: Sequence[str], trailing: Sequence[str]) -> Callable[[Columns], Values]:
    """Return the function that makes records from the columns of their arguments `names`.

    `trailing`: the arguments that may be omitted, the last one first.
    """
    order = [names.index(name) for name in class_.__match_args__]

    def make(columns: Columns) -> Values:
        made = list(map(class_, *(columns[place] for place in order)))
        return _with_absences(made, names, columns, trailing)

    return make


def coded_taker(
    class_: Made,
    names: Sequence[str],
    take: Callable[[Arrays], Columns],
    trailing: Sequence[str] = (),
    *,
    has_code: bool,
) -> Taker:
    """Return the taker of an alternative; the last of its arrays is the list of codes.

    `has_code`: several codes select the alternative, so that its values carry their code.
    """
    if not has_code and not names:
        return lambda arrays: [class_() for _ in arrays[-1]]
    if not has_code:
        make = record_maker(class_, names, trailing)
        return lambda arrays: make(take(arrays[:-1]))

    def make_coded(arrays: Arrays) -> Values:
        *own, codes = arrays
        columns = take(own)
        rows = zip(codes, *columns, strict=True)
        made = [class_(**dict(zip(("code", *names), row, strict=True))) for row in rows]
        return _with_absences(made, names, columns, trailing)

    return make_coded


def _with_absences(made: Values, names: Sequence[str], columns: Columns, trailing: Sequence[str]) -> Values:
    """Set on each record the number of its last arguments without a value, if any may be omitted."""
    last_first = [columns[names.index(name)] for name in trailing]
    for row, record in enumerate(made if trailing else ()):
        n_absent = 0
        for values in last_first:
            if values[row] is not None:
                break
            n_absent += 1
        record.absent = n_absent
    return made
