"""Rows written back to bytes, held against the bytes that they were read from."""

from __future__ import annotations

from pathlib import Path

from tests.built_schema import schema_of

from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.writing.frames import write_frame
from wirespark.batches import Slice, slice_columns
from wirespark.encoding import encoder_of
from wirespark.options import Wishes
from wirespark.table_rows import wide_table

__all__ = ["check_back"]


def check_back(data: bytes, wishes: Wishes, folder: Path) -> None:
    """Check that each row is written as the bytes that it came from; where these are not canonical, as the reference codec does."""
    path = folder / "stream.bin"
    path.write_bytes(data)
    rows = written(path, wishes)
    assert sum(len(given) for given, _ in rows) == len(data)
    for given, made in rows:
        if given != made:
            assert made == canonical(given, wishes)


def written(path: Path, wishes: Wishes) -> list[tuple[bytes, bytes]]:
    """Return each row's bytes, and the bytes to which the row is written."""
    data, encoder = path.read_bytes(), encoder_of(wishes.protocol, role=wishes.role)
    stream, found = encoder.stream(wishes.role), []
    for columns in slice_columns(Slice(path=str(path), role=wishes.role), wishes, 4096):
        table = wide_table(columns, wishes.package)
        named = {name: table.column(name) for name in table.schema.names}
        for row, frame in zip(table.to_pylist(), encoder.frames(named, table.num_rows), strict=True):
            if row["_size"]:
                given = data[row["_offset"] : row["_offset"] + row["_size"]]
                found.append((given, stream.bytes_of(frame, row.get("_part"))))
    return found


def canonical(frame: bytes, wishes: Wishes) -> bytes:
    """Return the bytes that the reference codec writes for a frame that it read."""
    plan, options = schema_of(wishes.package.native), Options(wishes.role)
    return write_frame(plan, explain(plan, frame, 0, len(frame), options).value, options)
