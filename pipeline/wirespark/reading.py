"""Reading of the parts of one task, whatever their kinds; and the treatment of bad bytes by the mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow.compute as pc

from wiregen.formats.capture import IssueKind
from wirespark.batches import Slice, slice_columns
from wirespark.captures import Share, share_columns
from wirespark.columns import Columns, Origin, selected
from wirespark.errors import WireSparkError
from wirespark.options import Mode, ReadOptions, Wishes
from wirespark.planning import OpenedFile, Part, WholeFile, opened
from wirespark.requests_ahead import results_ahead
from wirespark.small_files import SmallFiles
from wirespark.storage import storage_of
from wirespark.table_rows import rows_table
from wirespark.untyped import Made

__all__ = ["ReadReport", "columns_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReport:
    """Facts about the files of a reading, complete after the last columns.

    Attributes:
        issues: How often each kind of issues is in captures, by the path of the file.
        captures: The paths of the files that are captures.
    """

    issues: dict[str, Counter[IssueKind]] = field(default_factory=dict)
    captures: set[str] = field(default_factory=set)


def columns_of(
    parts: Sequence[Part], wishes: Wishes, options: ReadOptions, report: ReadReport | None = None
) -> Iterator[Columns]:
    """Yield the columns of parts, with the origin of their rows. Small files come together, after larger ones.

    Of remote files, the next 16 are opened, and read if they are small, while these are decoded.

    Raises:
        WireSparkError: By the iterator: in the mode FAILFAST, something cannot be decoded.
    """
    for columns in _decoded(parts, wishes, options, report or ReadReport()):
        kept = _kept(columns, wishes.mode)
        if kept is not None:
            yield kept


def _decoded(
    parts: Sequence[Part], wishes: Wishes, options: ReadOptions, report: ReadReport
) -> Iterator[Columns]:
    batch_size = options.batch_size
    small = SmallFiles(wishes, batch_size)
    paths = (part.path for part in parts)
    for found in results_ahead(partial(_opened, options=options), parts, paths):
        part, content = found.part, found.content
        if isinstance(part, Share):
            report.captures.add(part.path)
            issues = report.issues.setdefault(part.path, Counter())
            yield from share_columns(part, wishes, batch_size, issues)
        elif content is not None:
            yield from small.add(part, content)
        else:
            origin = Origin(file=part.path)
            yield from (replace(each, origin=origin) for each in slice_columns(part, wishes, batch_size))
    yield from small.flush()


def _opened(part: Part, options: ReadOptions) -> OpenedFile:
    if isinstance(part, WholeFile):
        return opened(part, options)
    return OpenedFile(part=part, content=_content(part, options.batch_size))


def _content(part: Slice | Share, batch_size: int) -> bytes | None:
    """Return the bytes of a stream whose end was planned, if they are fewer than a batch."""
    if not isinstance(part, Slice) or part.start or part.end is not None:
        return None
    if part.stop is None or part.stop >= batch_size:
        return None
    with storage_of(part.path).open(part.path) as file:
        return file.read(part.stop)


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
    if row["_flow"] is not None:
        place += f", sent by {row['_from'] or 'either role'} in {row['_flow']}"
    where = f" ({error['path']})" if error["path"] else ""
    return f"{place}{where}: use another mode than FAILFAST to get it as a row"
