"""Reading of the parts of one task, whatever their kinds; and the treatment of bad bytes by the mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow.compute as pc

from wiregen.formats.capture import IssueKind
from wirespark.batches import slice_columns
from wirespark.captures import Share, share_columns
from wirespark.columns import Columns, Origin, selected
from wirespark.errors import WireSparkError
from wirespark.options import Mode, ReadOptions, Wishes
from wirespark.planning import Part, opened
from wirespark.small_files import SmallFiles
from wirespark.table_rows import rows_table
from wirespark.untyped import Made

__all__ = ["columns_of"]


def columns_of(
    parts: Sequence[Part], wishes: Wishes, options: ReadOptions, counts: Counter[IssueKind] | None = None
) -> Iterator[Columns]:
    """Yield the columns of parts, with the origin of their rows. Small files come together, after larger ones.

    `counts` gets how often each kind of issues is in captures.

    Raises:
        WireSparkError: By the iterator: in the mode FAILFAST, something cannot be decoded.
    """
    for columns in _decoded(parts, wishes, options, counts):
        kept = _kept(columns, wishes.mode)
        if kept is not None:
            yield kept


def _decoded(
    parts: Sequence[Part], wishes: Wishes, options: ReadOptions, counts: Counter[IssueKind] | None
) -> Iterator[Columns]:
    batch_size = options.batch_size
    small = SmallFiles(wishes, batch_size)
    for planned in parts:
        part = opened(planned, options)
        if isinstance(part, Share):
            yield from share_columns(part, wishes, batch_size, counts)
        elif len(parts) > 1 and small.takes(part):
            yield from small.add(part)
        else:
            origin = Origin(file=part.path)
            yield from (replace(each, origin=origin) for each in slice_columns(part, wishes, batch_size))
    yield from small.flush()


def _kept(columns: Columns, mode: Mode) -> Columns | None:
    errors = columns.rows.column("_error")
    if mode == "PERMISSIVE" or errors.null_count == len(errors):
        return columns
    if mode == "FAILFAST":
        raise WireSparkError(_first(columns))
    return selected(columns, pc.is_null(errors))


def _first(columns: Columns) -> str:
    row: dict[str, Made] = next(row for row in rows_table(columns).to_pylist() if row["_error"] is not None)
    error = row["_error"]
    place = f"{error['code']} at {error['at']} in the frame at {row['_offset']} of {row['_file']}"
    where = f" ({error['path']})" if error["path"] else ""
    return f"{place}{where}: use another mode than FAILFAST to get it as a row"
