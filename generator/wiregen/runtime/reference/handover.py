"""From generated code to the careful codec: what was wrong, what it would have written, and forms other than bytes.

Imported by generated modules only when they need it.
"""

from __future__ import annotations

from typing import Any

from ..codec.compiled import JUDGED, Bad, release
from ..codec.errors import SEARCHED, DecodeError, NeedMoreData, check_end
from ..codec.options import ContextSource, Options
from ..records.frames import frame_from_record, message_from_fields
from ..stream.whole_blocks import CompiledFrames
from .explain import explain_type, finished
from .objects import build, typed
from .reading.frames import read_frame
from .writing.frames import write_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..codec.compiled import ReadState
    from ..schema.protocol import Schema
    from .reading.reader import Skimming

__all__ = [
    "decode_by_reference", "decode_fault", "decode_view", "encode_by_reference", "encode_fields", "fault_of",
    "made_of_fields",
]  # fmt: skip


def decode_fault(
    plan: Schema,
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
        steps = read_frame(plan, buffer, 0, options, stop=end, skim=skim, is_quick=True, is_faulty=True)
        check_end(finished(steps).end, end)
    except DecodeError as error:
        release(error)
        return _found(plan, buffer, end, options, error)
    raise AssertionError("straight-line code refuses what the careful codec reads")


def fault_of(plan: Schema, buffer: bytes, options: Options) -> DecodeError:
    """Return why `buffer` is not one whole frame; NeedMoreData where it is only cut."""
    try:
        steps = read_frame(plan, buffer, 0, options, stop=len(buffer), is_quick=True, is_faulty=True)
        check_end(finished(steps).end, len(buffer))
    except DecodeError as error:
        release(error)
        return _found(plan, buffer, len(buffer), options, error)
    raise AssertionError("straight-line code refuses what the careful codec reads")


def _found(plan: Schema, buffer: bytes, end: int, options: Options, error: DecodeError) -> DecodeError:
    """Return an error; where the search for it ended in a frame that is cut, that it is."""
    if error.code != "limit_exceeded" or not error.expected.startswith(SEARCHED):
        return error
    from ..stream.extent import Extents, Odd

    try:
        need = Extents(plan, options).begin(buffer, 0).measure(buffer[:end], 0)
    except Odd:
        return error
    if need <= end:
        return error
    name = error.path.partition(".")[0]
    return NeedMoreData(need - end, path=name, at=end, expected=f"{need} bytes or more", found=f"{end} bytes")


def decode_by_reference(
    plan: Schema,
    namespace: dict[str, Any],
    buffer: bytes,
    options: Options,
    *,
    is_compiled: bool = False,
    read: Skimming | None = None,
    state: ReadState | None = None,
) -> Any:
    """Return the frame that `buffer` is, as an object of the generated module whose names are given.

    `is_compiled`: all frames but pieces have compiled code, which refused this one; so the limit `work` bounds the search.
    `read`, `state`: that code, where pieces of a block may have come before.

    Raises:
        DecodeError: It does not conform.
    """
    compiled = None if read is None else CompiledFrames(read, state, is_complete=is_compiled)
    steps = read_frame(plan, buffer, 0, options, stop=len(buffer), is_faulty=is_compiled, compiled=compiled)
    node = finished(steps)
    check_end(node.end, len(buffer))
    return build(plan, node.value, namespace)


def decode_view(plan: Schema, namespace: dict[str, Any], path: str, data: bytes | None) -> Any:
    """Return what a field is when it is read once more, as objects of the generated module; None of what is absent.

    Raises:
        DecodeError: It does not conform.
    """
    if data is None:
        return None
    owner, _, name = path.rpartition(".")
    type_ = plan.views[owner][name]
    assert not isinstance(type_, str)
    node = explain_type(plan, type_, data, Options(), name=name)
    return typed(plan, type_, node.value, namespace)


def encode_by_reference(
    plan: Schema,
    frame: Any,
    compression: int,
    *,
    role: str | None = None,
    context: ContextSource | None = None,
    variant: str | None = None,
    limits: dict[str, Any] | None = None,
) -> bytes:
    """Return the bytes of a frame that straight-line code gave up on.

    Raises:
        EncodeError: The wire cannot carry it.
        Bad: So it says to a judge, who finds out why.
    """
    if JUDGED.is_on:
        raise Bad
    options = Options(role, context=context, limits=limits, variant=variant)
    return write_frame(plan, frame, options, compression=compression)


def made_of_fields(plan: Schema, namespace: dict[str, Any], name: str, fields: dict[str, Any]) -> Any:
    """Return the message of that name, of the generated module, whose fields are given as JSON data.

    Raises:
        EncodeError: They are not its fields.
    """
    return build(plan, message_from_fields(plan, name, fields), namespace)


def encode_fields(plan: Schema, name: str, fields: dict[str, Any]) -> bytes:
    """Return the bytes of a frame around the message of that name whose fields are given as JSON data.

    Raises:
        EncodeError: They are not its fields, or the wire cannot carry them.
    """
    frame = frame_from_record(plan, {"message": name, "fields": fields})
    return write_frame(plan, frame, Options())
