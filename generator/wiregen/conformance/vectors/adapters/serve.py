"""The other side of the exchange: any implementation answers on stdin and stdout."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import assert_never

from wiregen.conformance.judge.implementation import (
    CodecSetting,
    Implementation,
    ImplementationError,
    Line,
    Refused,
    SkippedError,
    Step,
)
from wiregen.conformance.vectors.adapters.exchange import (
    Decode,
    Encode,
    GarbageError,
    Hello,
    Request,
    Trace,
    read_request,
)

__all__ = ["answers"]


def answers(implementation: Implementation, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the line that answers each line; a line that is not a request is answered with `failed` and the id 0."""
    for line in lines:
        try:
            request = read_request(line)
        except GarbageError as error:
            yield _line({"id": 0, "failed": str(error)})
            continue
        yield _line({"id": request.id, **_said(implementation, request)})


def _said(implementation: Implementation, request: Request) -> dict[str, object]:
    try:
        return _answer(implementation, request)
    except SkippedError as error:
        return {"skip": str(error)}
    except ImplementationError as error:
        return {"failed": error.text}


def _answer(implementation: Implementation, request: Request) -> Line:
    match request:
        case Hello():
            told = {
                name: sorted(getattr(implementation, name)) for name in ("can", "tells", "serializations")
            }
            return {"name": implementation.name, **told}
        case Decode():
            decoded = implementation.decode(
                _setting(request), [bytes.fromhex(chunk) for chunk in request.chunks]
            )
            answer: dict[str, object] = {"frames": list(decoded.frames), "incomplete": decoded.is_incomplete}
            answer |= {"unfinished": True} if decoded.is_unfinished else {}
            return answer if decoded.fault is None else {**answer, "error": _error(decoded.fault)}
        case Encode():
            written = implementation.encode(_setting(request), request.frames)
            refused = {"error": {"code": written.code}}
            return {"bytes": written.data.hex()} if written.code is None else refused
        case Trace():
            steps = [
                Step(role=s.from_role, data=bytes.fromhex(s.bytes), at=s.at, is_end=s.eof)
                for s in request.steps
            ]
            setting = CodecSetting(variant=request.variant, limits=request.limits, is_strict=request.strict)
            return {"violation": implementation.trace(setting, steps, request.options).violation}
        case _:
            assert_never(request)


def _setting(request: Decode | Encode) -> CodecSetting:
    return CodecSetting(
        role=request.from_role,
        before=tuple((said.from_role, bytes.fromhex(said.bytes)) for said in request.before),
        variant=request.variant,
        limits=request.limits,
        is_strict=request.strict,
        serialization=request.serialization,
    )


def _error(fault: Refused) -> dict[str, object]:
    names = ("code", "at", "recoverable", "rule", "path", "inner_at")
    return {name: getattr(fault, name) for name in names if getattr(fault, name) is not None}


def _line(answer: Line) -> bytes:
    return json.dumps(answer).encode() + b"\n"
