"""The requests and answers between the runner and an implementation under test; the JSON Schemas of both
are made from these.

A request always has all keys. Unknown keys of an answer are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from wiregen.conformance.vectors.format import Limits, Line, Role
from wiregen.conformance.vectors.repetition import HexText

__all__ = [
    "VERSION",
    "Answer",
    "AnsweredError",
    "Decode",
    "Encode",
    "GarbageError",
    "Hello",
    "Request",
    "Said",
    "Step",
    "Trace",
    "read_answer",
    "read_request",
    "schemas",
    "write",
]

VERSION: Final = 1
_NAMES: Final = ConfigDict(validate_by_name=True, validate_by_alias=True)
_SHOWN: Final = 200


@with_config(_NAMES)
@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Whole frames that a role sent before."""

    from_role: Annotated[str, Field(alias="from")]
    bytes: HexText


@with_config(_NAMES)
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Bytes that a role sends at a time, in seconds; without bytes only time passes, or with `eof` the role stops sending."""

    from_role: Role = None
    bytes: HexText
    at: float
    eof: bool = False


@with_config(_NAMES)
@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The first request to every process; `wiregen` is the version of this exchange."""

    id: int
    do: Literal["hello"] = "hello"
    wiregen: Literal[1] = VERSION
    protocol: str


@with_config(_NAMES)
@dataclass(frozen=True, slots=True, kw_only=True)
class Decode:
    """Bytes that come in `chunks` on a connection on which `before` was sent; earlier requests have no effect."""

    id: int
    do: Literal["decode"] = "decode"
    from_role: Role = None
    chunks: tuple[HexText, ...]
    before: tuple[Said, ...] = ()
    variant: str | None = None
    limits: Limits = field(default_factory=dict)
    strict: bool = False
    serialization: str = "native"


@with_config(_NAMES)
@dataclass(frozen=True, slots=True, kw_only=True)
class Encode:
    """Frames to be encoded, one after the other; compressed parts are stored (zlib's level 0)."""

    id: int
    do: Literal["encode"] = "encode"
    from_role: Role = None
    frames: tuple[Line, ...]
    before: tuple[Said, ...] = ()
    variant: str | None = None
    limits: Limits = field(default_factory=dict)
    strict: bool = False
    serialization: str = "native"


@with_config(_NAMES)
@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A conversation; `options` set the sessions."""

    id: int
    do: Literal["trace"] = "trace"
    steps: tuple[Step, ...]
    options: dict[str, Any] = field(default_factory=dict)
    variant: str | None = None
    limits: Limits = field(default_factory=dict)
    strict: bool = False


Request: TypeAlias = Annotated[Hello | Decode | Encode | Trace, Field(discriminator="do")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredError:
    """Why bytes or frames are refused. `at` counts from the first byte of `chunks`; `code` may be left out where `tells` does."""

    code: str | None = None
    at: int | None = None
    recoverable: bool | None = None
    rule: str | None = None
    path: str | None = None
    inner_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to any request, with its `id`.

    hello: `name`, `can`, `tells`, `serializations`. decode: `frames` before the first fault, and `error` or `incomplete`;
    `unfinished` if they are fragments of which the last is missing.
    encode: `bytes`, or `error`. trace: `violation`. To all of them: `skip`, the reason why it is not done; `failed`, the
    failure.
    """

    id: int
    name: str = "the implementation"
    can: tuple[Literal["decode", "encode", "trace"], ...] = ("decode", "encode")
    tells: tuple[Literal["code", "at", "recoverable"], ...] = ("code", "at", "recoverable")
    serializations: tuple[str, ...] = ("native",)
    frames: tuple[Line, ...] | None = None
    error: AnsweredError | None = None
    incomplete: bool = False
    unfinished: bool = False
    bytes: HexText | None = None
    violation: str | None = None
    skip: str | None = None
    failed: str | None = None


class GarbageError(ValueError):
    """A line that does not belong to the exchange."""


_REQUEST: Final[TypeAdapter[object]] = TypeAdapter(Request)
_ANSWER: Final = TypeAdapter(Answer)


def write(what: object) -> bytes:
    """Return a request as its line, ASCII only."""
    return json.dumps(_REQUEST.dump_python(what, by_alias=True)).encode() + b"\n"


def read_request(line: str | bytes) -> Hello | Decode | Encode | Trace:
    """Return the request of a line.

    Raises:
        GarbageError: The line is not a request.
    """
    request: Hello | Decode | Encode | Trace = _read(_REQUEST, line)
    return request


def read_answer(line: str | bytes) -> Answer:
    """Return the answer of a line.

    Raises:
        GarbageError: The line is not an answer.
    """
    answer: Answer = _read(_ANSWER, line)
    if "do" in json.loads(line):
        raise GarbageError("the request, given back")
    return answer


def schemas() -> Mapping[str, str]:
    """Return the JSON Schema of each side as text, by the name of its file."""
    request = _REQUEST.json_schema(mode="validation", by_alias=True)
    answer = _ANSWER.json_schema()
    return {
        "testee-request.schema.json": json.dumps(request, indent=1) + "\n",
        "testee-answer.schema.json": json.dumps(answer, indent=1) + "\n",
    }


def _read(adapter: TypeAdapter[Any], line: str | bytes) -> Any:
    try:
        return adapter.validate_python(json.loads(line))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise GarbageError(f"{where}: {fault['msg'].lower()}"[:_SHOWN]) from None
    except (ValueError, RecursionError):
        text = line if isinstance(line, str) else line.decode(errors="replace")
        raise GarbageError(f"not JSON: {text.rstrip()[:60]!r}") from None
