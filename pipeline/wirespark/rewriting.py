"""Files of tables that are written again: those of several receipts as one, or those of one without the rows of some sources.

One receipt takes the place of the old ones. It names them, so that the next run removes them if the process was killed in
between. Its name is a function of theirs, so that no two receipts ever name each other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wirespark.output import FileForm
from wirespark.parquet import TableWriters
from wirespark.receipts import Counts, Receipt
from wirespark.target_storage import TargetStorage
from wirespark.untyped import Batch

__all__ = ["Rewrite", "rewritten"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """The receipts that one takes the place of.

    Attributes:
        sources: The files whose rows stay, or None for all.
        files: The files of tables that are read: those of the receipts, unless somebody removed some.
    """

    old: tuple[Receipt, ...]
    sources: frozenset[str] | None
    files: tuple[str, ...]


def rewritten(target: TargetStorage, rewrite: Rewrite, output: FileForm) -> Receipt | None:
    """Write files again, and return the receipt that names them, or None if another run has changed the old ones."""
    old, sources = rewrite.old, rewrite.sources
    kept = old if sources is None else tuple(receipt.only(sources) for receipt in old)
    parts = [part for receipt in kept for part in receipt.ways]
    name = target.new_name([*(receipt.name for receipt in old), *parts])
    writers = TableWriters(target, name, output)
    try:
        for file in rewrite.files:
            with pq.ParquetFile(target.open(file)) as table:
                for batch in table.iter_batches():
                    own = batch if sources is None else _rows_of(sources, batch)
                    if own.num_rows:
                        writers.add(file.rpartition("/")[0], own)
        writers.finish()
        files = writers.files
        new = target.replace(old, files, lambda: _receipt(kept, name, [each.name for each in files]))
    except FileNotFoundError:  # another run was quicker
        new = None
    except BaseException:
        writers.drop()
        raise
    if new is None:
        writers.drop()
    return new


def _rows_of(sources: Collection[str], batch: Batch) -> Batch:
    return batch.filter(pc.is_in(batch.column("_file"), value_set=pa.array(sorted(sources), pa.string())))


def _receipt(kept: Sequence[Receipt], name: str, files: list[str]) -> Receipt:
    found = {file for receipt in kept for file in receipt.counts}
    replaced = {each for receipt in kept for each in (receipt.name, *receipt.replaces)}
    return Receipt(
        name=name,
        ways={part: way for receipt in kept for part, way in receipt.ways.items()},
        sources={part: file for receipt in kept for part, file in receipt.sources.items()},
        counts={
            file: Counts.sum([each.counts[file] for each in kept if file in each.counts])
            for file in sorted(found)
        },
        files=files,
        seconds=sum(receipt.seconds for receipt in kept),
        replaces=sorted(replaced),
    )
