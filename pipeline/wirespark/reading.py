"""Reading of one part by a task, whatever its kind; and the treatment of bad bytes by the mode."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.compute as pc

from wirespark.batches import slice_columns
from wirespark.captures import Share, share_columns
from wirespark.columns import Columns, selected
from wirespark.errors import WireSparkError
from wirespark.options import Mode, ReadOptions, Wishes
from wirespark.planning import Part
from wirespark.untyped import Made

__all__ = ["located_columns"]


def located_columns(
    part: Part, wishes: Wishes, options: ReadOptions
) -> Iterator[tuple[Columns, str, str | None]]:
    """Yield the columns of a part, with the file and the flow of each batch; the flow is None if `flows` has it.

    Raises:
        WireSparkError: By the iterator: in the mode FAILFAST, something cannot be decoded.
    """
    if isinstance(part, Share):
        found: Iterator[tuple[Columns, str | None]] = share_columns(part, wishes, options.batch_size)
    else:
        found = ((columns, None) for columns in slice_columns(part, wishes, options.batch_size))
    for columns, flow in found:
        kept = _kept(columns, wishes.mode, part.path)
        if kept is not None:
            yield kept, part.path, flow


def _kept(columns: Columns, mode: Mode, file: str) -> Columns | None:
    errors = columns.rows.column("_error")
    if mode == "PERMISSIVE" or errors.null_count == len(errors):
        return columns
    if mode == "FAILFAST":
        raise WireSparkError(_first(columns, file))
    return selected(columns, pc.is_null(errors))


def _first(columns: Columns, file: str) -> str:
    row: dict[str, Made] = next(row for row in columns.rows.to_pylist() if row["_error"] is not None)
    error = row["_error"]
    place = f"{error['code']} at {error['at']} in the frame at {row['_offset']} of {file}"
    where = f" ({error['path']})" if error["path"] else ""
    return f"{place}{where}: use another mode than FAILFAST to get it as a row"
