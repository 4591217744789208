"""However a file is cut into slices and read in chunks, its rows are those of one read from its beginning."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline.damage import damaged
from tests.pipeline.rows import table_rows
from tests.pipeline.streams import STREAMS, stream_of

from wirespark.batches import Slice, slice_columns
from wirespark.options import ReadOptions, Wishes
from wirespark.planning import WholeFile, opened, parts_of

N_EXAMPLES = settings.get_current_profile_name() == "soak" and 400 or 8


def rows_in_slices(path: Path, wishes: Wishes, split_size: int, batch_size: int) -> list[dict[str, Any]]:
    options = ReadOptions(
        wishes=wishes,
        paths=(str(path),),
        capture=False,
        split_size=split_size,
        batch_size=batch_size,
        has_index=False,
    )
    parts = [
        opened(part, options).part if isinstance(part, WholeFile) else part for part in parts_of(options)
    ]
    slices = [part for part in parts if isinstance(part, Slice)]
    assert len(slices) == len(parts)
    assert [each.start for each in slices[1:]] == [each.end for each in slices[:-1]]
    return [
        row
        for part in slices
        for columns in slice_columns(part, wishes, batch_size)
        for row in table_rows(columns, wishes)
    ]


@pytest.mark.parametrize("protocol", STREAMS)
@given(data=st.data())
@settings(max_examples=N_EXAMPLES)
def test_slices_together_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, protocol: str, data: st.DataObject
) -> None:
    stream = stream_of(protocol, data.draw(st.integers(0, 5)))
    content = stream.data
    if data.draw(st.booleans()):
        content = damaged(content, random.Random(data.draw(st.integers(0, 2**32))))
    path = tmp_path_factory.mktemp("splits") / "stream.bin"
    path.write_bytes(content)
    wishes = Wishes(protocol=protocol, role=stream.role)
    whole = rows_in_slices(path, wishes, len(content) + 1, 1 << 20)
    assert sum(row["_size"] for row in whole) == len(content)
    split_size = data.draw(st.integers(1, len(content) + 1))
    assert rows_in_slices(path, wishes, split_size, data.draw(st.integers(1, 5000))) == whole


@pytest.mark.parametrize("protocol", STREAMS)
def test_a_good_stream_has_no_faults(tmp_path: Path, protocol: str) -> None:
    stream = stream_of(protocol, 1)
    path = tmp_path / "stream.bin"
    path.write_bytes(stream.data)
    rows = rows_in_slices(path, Wishes(protocol=protocol, role=stream.role), 700, 300)
    faults = [row["_error"] for row in rows if row["_error"] is not None and row["_size"]]
    assert faults == []
    assert [row["_offset"] + row["_size"] for row in rows if row["_size"]] == list(stream.ends)
