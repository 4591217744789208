"""Columns agree with the reference codec in what they hold and in the bytes they are written to, for each
construct and the shipped protocols.
"""

from __future__ import annotations

import importlib
import json
import random
from pathlib import Path

import pytest
from tests.built_schema import schema_of

from wiregen.schema.copies import replace

pa = pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from tests.pipeline.back import check_back  # noqa: E402
from tests.pipeline.rows import check_row, rows_of  # noqa: E402
from tests.property import grown  # noqa: E402
from tests.property.schemas import built  # noqa: E402

from wiregen.runtime.codec.options import Options  # noqa: E402
from wiregen.runtime.records.frames import frame_record  # noqa: E402
from wiregen.runtime.reference.explain import explain  # noqa: E402
from wirespark import packages  # noqa: E402
from wirespark.encoding import encoder_of  # noqa: E402
from wirespark.options import Wishes  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted((ROOT / "tests" / "cases" / "constructs").glob("*.wire"))
SHIPPED = {
    "lumberjack": ("writer", "reader"),
    "pravega": ("client", "server"),
    "pravega_documented": ("client", "server"),
    "pravega_proposal": ("client", "server"),
}
"""Protocols and roles whose streams begin without a preamble; `test_splits` has the others."""
N_FRAMES = 40
LONE_SURROGATE = "\\ud800"
"""Columns have the bytes of such a text, which the check does not compare."""


def check_stream(protocol: str, role: str | None, folder: Path, dice: random.Random) -> None:
    """Check frames made by chance, all in one stream."""
    wishes = Wishes(protocol=protocol, role=role)
    plan = schema_of(wishes.package.native)
    options = Options(role)
    made = [
        (value, data)
        for value, data in grown.frames(
            replace(plan, opens={}), dice, N_FRAMES, options, deep=2, cuts_regions=True
        )
        if LONE_SURROGATE not in json.dumps(frame_record(plan, value))
    ]
    assert len(made) > N_FRAMES // 3
    data = b"".join(data for _, data in made)
    rows = rows_of(data, wishes, folder, batch_size=4096)
    assert sum(row["_size"] for row in rows) == len(data)
    offset = 0
    for row, (_, frame) in zip(rows, made, strict=False):
        if row["_error"] is not None or row["_size"] != len(frame):
            break  # a limit, which chance may exceed; what follows is another affair
        value = explain(plan, frame, 0, len(frame), options).value
        line = {"offset": offset, "size": len(frame), "from": row["_from"], **frame_record(plan, value)}
        check_row(row, line, wishes)
        offset += len(frame)
    assert offset > 0
    check_back(data, wishes, folder)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_every_construct_has_columns(path: Path, tmp_path: Path) -> None:
    name = f"columns_{path.stem}"
    with built(path.read_text(encoding="utf-8"), tmp_path, name, ("native", "columns")):
        importlib.invalidate_caches()
        packages.package_of.cache_clear()
        encoder_of.cache_clear()
        for role in grown.senders(schema_of(packages.package_of(f"{name}.p").native)):
            check_stream(f"{name}.p", role, tmp_path, random.Random(path.stem))
    packages.package_of.cache_clear()
    encoder_of.cache_clear()


@pytest.mark.parametrize(("protocol", "role"), [(p, role) for p, roles in SHIPPED.items() for role in roles])
def test_shipped_protocols_have_columns(protocol: str, role: str, tmp_path: Path) -> None:
    check_stream(protocol, role, tmp_path, random.Random(role))
