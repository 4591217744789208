"""JSON lines: one line per decoded frame, and back to the bytes.

The lines of a stream cover it without gaps, and every line gives back its bytes: a frame that is not
canonical carries them as `raw`, undecodable bytes are in `bytes`. Whether a frame is canonical is found by
encoding its line as `LineEncoder` will.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final, Protocol

from wiregen.formats.json_text import compact
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.values import ValueMaker
from wiregen.runtime.reference.access import extra
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.expressions import Undefined
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.elements import TrailingBytes
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.context import Context

__all__ = [
    "NOTHING_LEFT",
    "Carrier",
    "Line",
    "LineEncoder",
    "LineError",
    "backend_of",
    "decoded_line",
    "dumps",
    "encode_lines",
    "error_line",
    "line_record",
    "loads",
    "place_of",
]

LONGEST_LINE: Final = 256 * 2**20
"""The most characters of a line that is read."""
_RECORD_KEYS: Final = ("message", "code", "header", "fields")
_PLACE_KEYS: Final = ("offset", "size", "from", "flow", "time")
_OTHER_KEYS: Final = (
    "part", "joined", "canonical", "backend", "raw", "error", "partial", "bytes", "bytes_truncated",
)  # fmt: skip
_KEYS: Final = (*_PLACE_KEYS, *_RECORD_KEYS, *_OTHER_KEYS)
"""All keys that decoding writes."""

_NATIVE: Final = "native"
NOTHING_LEFT: Final = "no trailing bytes"

Line = dict[str, Any]


class Carrier(Protocol):
    """Code that writes one serialization; `name` is its backend's."""

    name: str

    def write(self, value: object, options: Options) -> bytes:
        """Return the bytes of a frame.

        Raises:
            EncodeError: The serialization cannot carry it.
        """


class LineError(ValueError):
    """A line that is not a decoded frame. `number`: that of the line, from 1, or 0 if it is unknown."""

    def __init__(self, why: str, number: int = 0) -> None:
        self.why = why
        self.number = number
        super().__init__(f"line {number}: {why}" if number else why)


# ---- lines as text ----


def dumps(line: Line) -> str:
    """Return a line without its line end. Its floats are finite: records have bytes for the others."""
    return compact(line)


def loads(text: str | bytes, number: int = 0) -> Line:
    """Return the object in a line.

    Raises:
        LineError: The line is not a JSON object, has a key twice, or is too long or too deep.
    """
    if len(text) > LONGEST_LINE:
        raise LineError(f"longer than {LONGEST_LINE} characters", number)
    try:
        plain = text.decode() if isinstance(text, bytes) else text
        # Without its end: the error of a truncated line is where it stops, not at the column after the line feed.
        line = json.loads(plain.rstrip(), object_pairs_hook=_unique, parse_constant=_refuse)
    except LineError as error:
        raise LineError(error.why, number) from None
    except json.JSONDecodeError as error:
        raise LineError(f"not JSON: {error.msg.lower()} at column {error.colno}", number) from None
    except UnicodeDecodeError as error:
        raise LineError(f"not UTF-8 at byte {error.start + 1}", number) from None
    except RecursionError:
        raise LineError("nested too deep", number) from None
    except ValueError:
        raise LineError("a number with too many digits", number) from None
    if not isinstance(line, dict):
        raise LineError("expected a JSON object", number)
    return line


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise LineError(f"key {twice[:64]!r} occurs twice")
    return found


def _refuse(name: str) -> object:
    raise LineError(f"{name} is not JSON")


# ---- lines of frames ----


def decoded_line(
    record: dict[str, Any],
    *,
    offset: int,
    size: int,
    role: str | None = None,
    flow: str | None = None,
    time: float | str | None = None,
    raw: bytes | None = None,
    part: dict[str, Any] | None = None,
    joined: object = None,
) -> Line:
    """Return the line of a frame with this record.

    `raw`: its bytes, if it is not canonical. `part`: that of a fragment; `joined`: of the last one, the
    reassembled message.
    """
    return place_of(offset, size, role, flow, time) | line_record(record, raw=raw, part=part, joined=joined)


def line_record(
    record: dict[str, Any],
    *,
    raw: bytes | None = None,
    part: dict[str, Any] | None = None,
    joined: object = None,
) -> Line:
    """Return the entries of that line after those of its place."""
    line: Line = {key: record[key] for key in _RECORD_KEYS if key in record}
    if part is not None:
        line["part"] = part
    if joined is not None:
        line["joined"] = joined
    if raw is not None:
        line |= {"canonical": False, "raw": raw.hex()}
    return line


def backend_of(carrier: Carrier | None) -> Line:
    """Return the entry that names the serialization of a line with bytes; {} for native bytes."""
    return {} if carrier is None or carrier.name == _NATIVE else {"backend": carrier.name}


def error_line(
    error: DecodeError,
    data: bytes,
    *,
    offset: int,
    role: str | None = None,
    flow: str | None = None,
    time: float | str | None = None,
    most_bytes: int | None = None,
) -> Line:
    """Return the line of bytes that could not be decoded; after `most_bytes` bytes they are cut, and marked so."""
    shown = data if most_bytes is None else data[:most_bytes]
    return place_of(offset, len(data), role, flow, time) | {
        "error": _fault(error),
        "partial": error.partial,
        "bytes": shown.hex(),
        "bytes_truncated": len(shown) < len(data),
    }


def place_of(offset: int, size: int, role: str | None, flow: str | None, time: float | str | None) -> Line:
    """Return the first entries of a line; those that are None are left out."""
    line: Line = {"offset": offset, "size": size}
    if role is not None:
        line["from"] = role
    if flow is not None:
        line["flow"] = flow
    if time is not None:
        line["time"] = time
    return line


def _fault(error: DecodeError) -> dict[str, object]:
    found: dict[str, Any] = {"code": error.code, "rule": error.rule, "path": error.path, "at": error.at}
    if error.inner_at is not None:
        found["inner_at"] = error.inner_at
    return found | {"expected": error.expected, "found": error.found, "recoverable": error.recoverable}


# ---- lines to bytes ----


class LineEncoder:
    """Lines to bytes, in order: earlier lines may determine how later ones are laid out.

    `is_canonical`: write every frame anew, even if a line has the bytes of the original; a fragmented block
    is written whole. `carrier`: writes the frames, if that is not the native codec; the bytes in a line are
    written only by the serialization that they belong to.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        variant: str | None = None,
        limits: dict[str, int] | None = None,
        is_canonical: bool = False,
        carrier: Carrier | None = None,
    ) -> None:
        self._schema = schema
        self._carrier = carrier
        self._backend = _NATIVE if carrier is None else carrier.name
        self._variant = variant
        self._limits = limits
        self._is_canonical = is_canonical
        self._contexts: dict[object, Context] = {}
        self._makers: dict[str | None, ValueMaker] = {}

    def encode(self, line: Line) -> bytes:
        """Return the bytes of one line.

        Raises:
            LineError: The line holds no frame that could be written.
            EncodeError: It holds a frame that is invalid in the protocol.
        """
        _refuse_strangers(line)
        is_of_other = line.get("backend", _NATIVE) != self._backend
        if "error" in line:
            return _rest(line, is_of_other=is_of_other)
        if self._is_canonical and self._is_divided(line):
            return b""
        if "raw" not in line or self._is_canonical:
            return self._written(line)
        if is_of_other:
            self._refuse_left_over(line)
            return self._written(line)
        with suppress(EncodeError):  # the line has the bytes all the same
            self._note(line, self._value(line))
        return _hex(line, "raw")

    def _refuse_left_over(self, line: Line) -> None:
        """Refuse a line whose native bytes hold data for which other serializations have no field."""
        if "backend" in line:
            return
        data, options = _hex(line, "raw"), self.options(line)
        with suppress(DecodeError):  # not a frame: then the line has only the fields
            tree = explain(self._schema, data, 0, len(data), options)
            tail = next((node for node in tree.walk() if isinstance(node.type, TrailingBytes)), None)
            if tail is not None:
                found = f"{tail.size} bytes"
                raise EncodeError("unrepresentable", path=tail.path, expected=NOTHING_LEFT, found=found)

    def _is_divided(self, line: Line) -> bool:
        """Return whether a line is a fragment of a block that its last fragment writes whole."""
        part = line.get("part")
        if not isinstance(part, dict) or part.get("last") is not False:
            return False
        join = self._schema.joins.get(part.get("join", ""))
        return join is not None and join.block is not None

    def _written(self, line: Line) -> bytes:
        value, options = self._value(line), self.options(line)
        if self._carrier is None:
            data = write_frame(self._schema, value, options)
        else:
            data = self._carrier.write(value, options)
        self._note(line, value)
        return data

    def _value(self, line: Line) -> Any:
        record = {key: line[key] for key in _RECORD_KEYS if key in line}
        if "message" not in record:
            raise LineError("neither a message nor an error")
        role = _role(line)
        if role is not None and role not in self._schema.roles:
            raise LineError(f"no role {role[:64]!r}; there are {', '.join(self._schema.roles)}")
        maker = self._makers.get(role)
        if maker is None:
            maker = self._makers[role] = ValueMaker(self._schema, Options(role, variant=self._variant))
        try:
            return maker.outermost(record)
        except RecursionError:
            raise EncodeError("too_deep", expected="fewer levels of nesting") from None

    def _note(self, line: Line, value: object) -> None:
        """Record the values of a frame that determine later ones."""
        if self._schema.contexts and extra(value, "message", None, "") is not None:
            try:
                self._context(line).apply(value, _role(line))
                if isinstance(line.get("joined"), dict):
                    self._context(line).apply(
                        self._value({"from": _role(line), **line["joined"]}), _role(line)
                    )
            except DecodeError as error:
                raise EncodeError(error.code, path=error.path, expected=error.expected) from None
            except Undefined as error:
                raise EncodeError("constraint", path=error.name, expected=error.what) from None

    def options(self, line: Line) -> Options:
        """Return the options with which a line's frame is written: its sender, and the values of earlier frames."""
        return Options(_role(line), context=self._context(line), limits=self._limits, variant=self._variant)

    def _context(self, line: Line) -> Context:
        flow = line.get("flow")
        key = flow if isinstance(flow, str) else None
        if key not in self._contexts:
            self._contexts[key] = Context(self._schema, limits=self._limits)
        return self._contexts[key]


def encode_lines(encoder: LineEncoder, lines: Iterable[str | bytes]) -> Iterator[bytes]:
    """Yield the bytes of each line that is not empty.

    Raises:
        LineError: With the number of the wrong line.
    """
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            yield encoder.encode(loads(text, number))
        except LineError as error:
            raise LineError(error.why, number) from None
        except EncodeError as error:
            raise LineError(str(error), number) from error


def _refuse_strangers(line: Line) -> None:
    stranger = next((key for key in line if key not in _KEYS), None)
    if stranger is not None:
        raise LineError(f"no key {stranger[:64]!r}; there are {', '.join(_KEYS)}")


def _rest(line: Line, *, is_of_other: bool) -> bytes:
    if is_of_other:
        raise LineError("bytes that could not be decoded, of another serialization")
    if line.get("bytes_truncated"):
        raise LineError("the bytes of an error are cut: decode without a bound on them")
    return _hex(line, "bytes")


def _hex(line: Line, key: str) -> bytes:
    digits = line.get(key)
    try:
        return bytes.fromhex(digits if isinstance(digits, str) else "?")
    except ValueError:
        raise LineError(f"{key}: expected hexadecimal text") from None


def _role(line: Line) -> str | None:
    role = line.get("from")
    if role is not None and not isinstance(role, str):
        raise LineError("from: expected the name of a role")
    return role
