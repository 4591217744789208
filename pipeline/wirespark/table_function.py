"""`frames` for SQL: a table function whose columns depend on its argument `protocol`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from wirespark.array_casting import bare_type
from wirespark.cells import decoded_frames, frames_type
from wirespark.errors import WireSparkError
from wirespark.options import Wishes, wishes_of
from wirespark.untyped import Made

if TYPE_CHECKING:
    from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult

__all__ = ["frames_function"]


class _Frames:
    """The frames and errors in a stretch of the bytes of one role, a row each."""

    @staticmethod
    def analyze(
        data: AnalyzeArgument, protocol: AnalyzeArgument, role: AnalyzeArgument | None = None
    ) -> AnalyzeResult:
        from pyspark.sql.udtf import AnalyzeResult

        from wirespark.spark_types import struct_type

        if protocol.value is None:
            raise WireSparkError("the protocol must be a constant text: frames(data, 'lumberjack')")
        return AnalyzeResult(
            schema=struct_type(
                bare_type(frames_type(_wishes(protocol.value, None if role is None else role.value)))
            )
        )

    def eval(
        self, data: bytes | None, protocol: str, role: str | None = None
    ) -> Iterator[tuple[object, ...]]:
        cells = pa.array([data], pa.binary())
        for row in decoded_frames(cells, _wishes(protocol, role))[0].as_py() or ():
            yield tuple(row.values())


def _wishes(protocol: str, role: str | None) -> Wishes:
    return wishes_of({"protocol": protocol, **({"from": role} if role else {})})


def frames_function() -> Made:
    """Return the function to register."""
    from pyspark.sql.functions import udtf

    return udtf(_Frames)
