"""`convert`: captured traffic to one Parquet table per message, on all workers, resumed where it was interrupted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from wirespark.catalogue import refresh
from wirespark.errors import WireSparkError, as_it_was_said
from wirespark.options import ReadOptions
from wirespark.output import divided
from wirespark.receipts import BundleResult, Counts
from wirespark.spark_session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Summary", "convert", "look", "sources", "summary_of", "texts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The result of a conversion; counts cover all parts, those of earlier runs included.

    Attributes:
        size: The bytes that the rows tile.
        new_size: The bytes of this run.
        rows: The number of rows that were written; `dropped` rows were left out, in the mode DROPMALFORMED.
        messages: The number of frames by message; `inner` has those inside of others, which have rows too.
        errors: The number of errors by code, dropped ones included.
        missing: The bytes that the streams of captures lack: packets were cut, lost, or not captured.
        issues: The number of issues of captures that can cause missing bytes, by kind: `cut_packet`,
            `truncated_file` (a capture ends within a record), …
        replaced: The number of rows of earlier runs in whose place these come: a file has changed, or was read with another `port`,
            `from`, `split` or `capture`.
        seconds: The duration of this run.
    """

    parts: int
    resumed: int
    size: int
    new_size: int
    rows: int
    dropped: int
    messages: dict[str, int]
    inner: dict[str, int]
    errors: dict[str, int]
    missing: int
    issues: dict[str, int]
    replaced: int
    seconds: float

    @property
    def mb_per_second(self) -> float:
        return self.new_size / 1e6 / self.seconds if self.seconds else 0.0


def convert(
    spark: SparkSession,
    source: str | Path | tuple[str, ...],
    target: str | Path,
    *,
    protocol: str,
    **options: object,
) -> Summary:
    """Write one table per message below `target`: `message=data_appended/…`, and `_frames` with all rows in order.

    Frames inside of others have rows as well, with their `_path` and `_depth`. `options` are those of
    `format("wire")`, and: `compression` (`snappy`, `zstd`, `gzip`, `lz4`, `none`); `frames`, whether `_frames` is
    written; `filesize` (128MiB), the bytes of small inputs that share files; `partition` (`message`, or `date` for folders of days below them). Parts that an earlier run converted from the same files are
    skipped. A run that was killed is resumed.

    Raises:
        WireSparkError: An option is invalid, or there are no files to read.
    """
    from wirespark.convert_source import PREPARATIONS, ConvertSource, is_preparation, results_of

    is_here = not is_connect(spark)
    if is_here:
        # The process that plans the read is another one. Its working folder does not change with ours.
        source = tuple(map(_absolute, source)) if isinstance(source, tuple) else _absolute(source)
        target = _absolute(target)
    given = texts(options) | sources(source) | {"protocol": protocol}
    look(given, str(target), is_here=is_here)
    spark.dataSource.register(ConvertSource)
    begun = perf_counter()
    reader = spark.read.format("wire_convert").options(**given, target=str(target))
    results: list[BundleResult] = []
    try:
        with as_it_was_said():
            for prepared in PREPARATIONS:
                rows = reader.option("prepared", prepared).load().collect()
                results += results_of(rows)
                if not is_preparation(rows):
                    break
    finally:
        refresh(spark, target)
    return summary_of(results, perf_counter() - begun)


def look(given: Mapping[str, str], target: str | None, *, is_here: bool) -> None:
    """Check the options before Spark starts, so that errors are raised here and not by a worker through a Java stack.

    `is_here`: the files are on this machine. Files of a remote Spark are not visible here.

    Raises:
        WireSparkError: An option is invalid, there are no files to read, or the target holds another
            conversion.
    """
    from wirespark.storage import storage_of
    from wirespark.targets import target_of

    output, read = divided(given)
    options = ReadOptions.of(read)
    have_files = [storage_of(path).has_files(path) for path in options.paths if is_here]
    if is_here and not any(have_files):
        raise WireSparkError(
            f"there are no files below {', '.join(options.paths)}, hidden ones apart: give a folder with traffic"
        )
    if target is not None:
        found = target_of(target, options, output)
        if is_here:
            found.look()


def texts(options: Mapping[str, object]) -> dict[str, str]:
    """Return options as Spark passes them; `from_` means `from`, a keyword of Python."""
    texts = {name.rstrip("_"): value for name, value in options.items() if value is not None}
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in texts.items()
    }


def _absolute(path: str | Path) -> str:
    return str(path) if ":" in str(path) else str(Path(path).absolute())


def sources(source: str | Path | tuple[str, ...]) -> dict[str, str]:
    import json

    if isinstance(source, tuple):
        return {"paths": json.dumps([str(each) for each in source])}
    return {"path": str(source)}


def summary_of(results: Sequence[BundleResult], seconds: float) -> Summary:
    """Return the sums of results."""
    total = Counts.sum([each.counts for each in results])
    return Summary(
        parts=sum(each.n_parts for each in results),
        resumed=sum(each.n_parts for each in results if each.is_resumed),
        size=total.size,
        new_size=sum(each.counts.size for each in results if not each.is_resumed),
        rows=total.rows,
        dropped=total.dropped,
        messages=total.messages,
        inner=total.inner,
        errors=total.errors,
        missing=total.missing,
        issues=total.issues,
        replaced=total.replaced,
        seconds=seconds,
    )
