"""`df.write.format("wire")`: rows are written as streams of wire bytes, all of them or none."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from wirespark.decoders import has_context
from wirespark.encoding import encoder_of
from wirespark.errors import WireSparkError
from wirespark.inner_frames import INSIDE
from wirespark.options import Wishes, among, check_names, wishes_of
from wirespark.stream_writing import Runs, StreamRun, merged
from wirespark.table_rows import rows_schema, wide_schema
from wirespark.untyped import ArrowArray, Batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["WireWriter", "WriteOptions", "in_order"]

_KNOWN = ("protocol", "message", "from", "backend", "variant", "mode", "path")
_STREAM = ("_file", "_flow", "_from")
_EXCHANGE = 2
_HERE = -100


def in_order(table: DataFrame) -> DataFrame:
    """Return the table with the rows of each stream in one partition, in order.

    It is needed for protocols whose frames determine how later ones are written.
    """
    keys = [name for name in _STREAM if name in table.columns]
    return table.repartition(*keys).sortWithinPartitions(*keys, "_offset")


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """The options of one write; `message`: the only message, whose fields are the columns."""

    wishes: Wishes
    backend: str
    message: str | None
    target: Path

    @classmethod
    def of(cls, options: Mapping[str, str]) -> WriteOptions:
        """Return the options that a user gave as text.

        Raises:
            WireSparkError: An option is unknown, or its value is invalid.
        """
        given = check_names(options, _KNOWN)
        backend, path = given.pop("backend", "native"), given.get("path", "").removeprefix("file:")
        if not path or "://" in path:
            raise WireSparkError(
                "the target is missing: give a folder on a disk that all workers can write to"
            )
        wishes = wishes_of({"mode": "FAILFAST", **given})
        encoder_of(wishes.protocol, backend, wishes.variant, wishes.role)
        message = among(given.get("message"), "message", wishes.package.messages)
        return cls(wishes=wishes, backend=backend, message=message, target=Path(path).absolute())


@dataclass
class WrittenRuns(WriterCommitMessage):
    """The runs that a task has written."""

    runs: tuple[StreamRun, ...]


class WireWriter(DataSourceArrowWriter):
    """One write: tasks leave runs in a hidden folder next to the target, which finally becomes the target.

    If a write fails, a task that was still starting may leave that folder. It is never read.
    """

    def __init__(self, options: WriteOptions, schema: StructType, *, is_overwriting: bool) -> None:
        self._options = options
        self._is_overwriting = is_overwriting
        target = options.target
        self._folder = target.with_name(f".{target.name}.{uuid4().hex}")
        _check_columns(schema.names, options)

    def write(self, iterator: Iterator[Batch]) -> WrittenRuns:
        options = self._options
        encoder = encoder_of(
            options.wishes.protocol, options.backend, options.wishes.variant, options.wishes.role
        )
        place = self._folder / "runs"
        place.mkdir(parents=True, exist_ok=True)
        runs = Runs(place, encoder, options.wishes.role)
        try:
            for batch in iterator:
                rows = _rows(batch, options)
                runs.take(rows, len(next(iter(rows.values()))))
        except WireSparkError as error:
            raise WireSparkError(f"{error}{self._advice()}") from None
        return WrittenRuns(tuple(runs.finish()))

    def _advice(self) -> str:
        is_known = not has_context(self._options.wishes.package)
        return (
            "" if is_known else "; if its layout depends on an earlier frame, write wirespark.in_order(table)"
        )

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        runs = [run for message in messages if isinstance(message, WrittenRuns) for run in message.runs]
        streams = self._folder / "streams"
        streams.mkdir(parents=True, exist_ok=True)
        try:
            merged(runs, streams, is_one=has_context(self._options.wishes.package))
            _sync(streams)
            self._publish(streams)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _publish(self, streams: Path) -> None:
        """Publish all streams at once: as the target, in place of it, or as a folder in it."""
        target = self._options.target
        if not target.exists():
            os.rename(streams, target)
        elif self._is_overwriting:
            _exchange(streams, target)
        else:
            os.rename(streams, target / f"part-{uuid4().hex}")
        _sync(target.parent)


def _check_columns(names: list[str], options: WriteOptions) -> None:
    package = options.wishes.package
    schema = rows_schema(package) if options.message else wide_schema(package)
    known = {
        *schema.names,
        *(INSIDE if options.message else ()),
        *(package.messages[options.message].names if options.message else package.messages),
    }
    unknown = [name for name in names if name not in known]
    if unknown:
        raise WireSparkError(f"unknown column {unknown[0]!r}: the columns are {', '.join(sorted(known))}")


def _rows(batch: Batch, options: WriteOptions) -> dict[str, ArrowArray]:
    """Return the columns of the wide table that are present, without the rows that have no bytes of their own."""
    if "_depth" in batch.schema.names:
        batch = batch.filter(pc.equal(batch["_depth"], 0))
    names = [name for name in batch.schema.names if name not in INSIDE]
    rows = {name: batch.column(batch.schema.get_field_index(name)) for name in names}
    if options.message is not None:
        fields = options.wishes.package.messages[options.message].names
        own = [pa.field(name, rows[name].type) for name in fields if name in rows]
        struct = pa.StructArray.from_arrays([rows.pop(field.name) for field in own], fields=own)
        rows |= {
            options.message: struct,
            "_message": pa.repeat(pa.scalar(options.message, pa.string()), len(batch)),
        }
    is_kept = _is_kept(rows, options)
    return rows if is_kept is None else {name: column.filter(is_kept) for name, column in rows.items()}


def _is_kept(rows: Mapping[str, ArrowArray], options: WriteOptions) -> ArrowArray:
    """Return the mask of the rows to write, or None if all are written.

    An error of a reassembled message is a row without bytes.
    """
    if "_error" not in rows or rows["_error"].null_count == len(rows["_error"]):
        return None
    is_right = rows["_error"].is_null()
    if options.wishes.mode == "DROPMALFORMED" or "_size" not in rows:
        return is_right if options.wishes.mode == "DROPMALFORMED" else None
    return pc.or_(is_right, pc.greater(rows["_size"], 0))


# ---- folders


def _exchange(new: Path, old: Path) -> None:
    """Exchange two folders, atomically where the system can."""
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.renameat2(_HERE, os.fsencode(new), _HERE, os.fsencode(old), _EXCHANGE) == 0:
            return
    aside = new.with_name("old")
    os.rename(old, aside)
    os.rename(new, old)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
