"""From generated code to the careful codec: what was wrong, what it would have written, and forms other than bytes.

Imported by generated modules only when they need it.
"""

from __future__ import annotations

from typing import Any

from .decoder import check_end
from .errors import DecodeError
from .explain import finished
from .options import Options
from .reading import read_frame
from .records import frame_from_record
from .writing import write_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .reader import Skimming

__all__ = ["decode_fault", "encode_carefully", "encode_fields"]


def decode_fault(
    plan: dict[str, Any],
    buffer: bytes,
    end: int,
    from_role: str | None,
    limits: dict[str, Any] | None,
    strict: bool,
    skim: Skimming | None = None,
) -> DecodeError:
    """Return why `buffer`, up to `end`, is not one whole frame; NeedMoreData where it is only cut.

    `skim`: fast code for nested frames, which saves the careful reading of the good ones.
    """
    options = Options(from_role, limits=limits, strict=strict)
    try:
        steps = read_frame(plan, buffer, 0, options, stop=end, skim=skim)
        check_end(finished(steps).end, end)
    except DecodeError as error:
        return error
    raise AssertionError("straight-line code refuses what the careful codec reads")


def encode_carefully(plan: dict[str, Any], frame: Any, compression: int) -> bytes:
    """Return the bytes of a frame that straight-line code gave up on.

    Raises:
        EncodeError: The wire cannot carry it.
    """
    return write_frame(plan, frame, Options(), compression=compression)


def encode_fields(plan: dict[str, Any], name: str, fields: dict[str, Any]) -> bytes:
    """Return the bytes of a frame around the message of that name whose fields are given as JSON data.

    Raises:
        EncodeError: They are not its fields, or the wire cannot carry them.
    """
    frame = frame_from_record(plan, {"message": name, "fields": fields})
    return write_frame(plan, frame, Options())
