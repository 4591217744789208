"""Calls from generated code to the reference codec: for the error, for the bytes that it would have
written, and for other forms.

Imported by generated modules only when they need it.
"""

from __future__ import annotations

from typing import Any

from ..codec.compiled import JUDGED, Bad, release
from ..codec.errors import SEARCHED, DecodeError, NeedMoreData, check_end
from ..codec.options import ContextSource, Options
from ..records.frames import frame_from_record, message_from_fields
from .explain import finished
from .objects import build
from .reading.frames import read_frame
from .writing.frames import write_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..schema.protocol import Schema
    from .reading.reader import Skimming

__all__ = ["encode_by_reference", "encode_fields", "fault_of", "made_of_fields"]


def fault_of(schema: Schema, buffer: bytes, options: Options, skim: Skimming | None = None) -> DecodeError:
    """Return why `buffer` is not one whole frame; NeedMoreData if it is only cut off.

    `skim`: compiled code for nested frames, so that the reference codec need not read the valid ones.
    """
    end = len(buffer)
    try:
        steps = read_frame(schema, buffer, 0, options, stop=end, skim=skim, is_quick=True, is_faulty=True)
        check_end(finished(steps).end, end)
    except DecodeError as error:
        release(error)
        return _found(schema, buffer, options, error)
    raise AssertionError("straight-line code refuses bytes that the reference codec reads")


def _found(schema: Schema, buffer: bytes, options: Options, error: DecodeError) -> DecodeError:
    """Return an error; if the search for it ended in a frame that is cut off, return that as the error."""
    if error.code != "limit_exceeded" or not error.expected.startswith(SEARCHED):
        return error
    from ..stream.header_extents import EndUnknown, extents_of

    try:
        need = extents_of(schema, options).begin(buffer, 0).measure(buffer, 0)
    except EndUnknown:
        return error
    if need <= (end := len(buffer)):
        return error
    name = error.path.partition(".")[0]
    return NeedMoreData(need - end, path=name, at=end, expected=f"{need} bytes or more", found=f"{end} bytes")


def encode_by_reference(
    schema: Schema,
    frame: object,
    compression: int,
    *,
    role: str | None = None,
    context: ContextSource | None = None,
    variant: str | None = None,
    limits: dict[str, int] | None = None,
) -> bytes:
    """Return the bytes of a frame that straight-line code could not write.

    Raises:
        EncodeError: The value cannot be encoded.
        Bad: So it says to a judge, who finds out why.
    """
    if JUDGED.is_on:
        raise Bad
    options = Options(role, context=context, limits=limits, variant=variant)
    return write_frame(schema, frame, options, compression=compression)


def made_of_fields(schema: Schema, namespace: dict[str, object], name: str, fields: dict[str, object]) -> Any:
    """Return the message of that name, of the generated module, whose fields are given as JSON data.

    Raises:
        EncodeError: The fields are not those of the message.
    """
    return build(schema, message_from_fields(schema, name, fields), namespace)


def encode_fields(schema: Schema, name: str, fields: dict[str, object]) -> bytes:
    """Return the bytes of a frame around the message of that name whose fields are given as JSON data.

    Raises:
        EncodeError: The fields are not those of the message, or cannot be encoded.
    """
    frame = frame_from_record(schema, {"message": name, "fields": fields})
    return write_frame(schema, frame, Options())
