"""Vectors of other makers, in the form of our own files: their bytes, frames and verdicts, and ids with their maker's."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, Final

from tests.conformance import test_geode_vectors as geode
from tests.conformance import test_pravega_vectors as pravega
from tests.conformance import test_reactive_streams_vectors as streams
from tests.conformance.names import ERRORS, LIMITS, SIDES, UNTIED
from tests.conformance.two_codecs import Wire
from tests.conformance.vectors import bytes_of, foreign_vectors, kept, own_vectors

from wiregen.conformance.vectors.format import (
    Fault,
    Invalid,
    Octets,
    Sent,
    Step,
    Trace,
    Valid,
    VectorFile,
    compact,
    read_vectors,
    write_vectors,
)

__all__ = ["PROTOCOLS", "converted"]

PROTOCOLS: Final = (
    "geode",
    "lumberjack",
    "pravega",
    "pravega_documented",
    "pravega_proposal",
    "reactive_streams",
)
Vector = dict[str, Any]
Made = Valid | Invalid | Trace


def converted(protocol: str) -> VectorFile:
    """Return the vectors of other makers for a protocol, through the text of a file."""
    makers = {"lumberjack": _lumberjack, "geode": _geode, "reactive_streams": _reactive_streams}
    vectors = makers[protocol]() if protocol in makers else _pravega(protocol)
    return read_vectors(write_vectors(VectorFile(protocol=protocol, vectors=tuple(vectors))))


def _invalid(id_: str, digits: Octets, error: Fault, **more: Any) -> Invalid:
    return Invalid(id=id_, bytes=digits, error=error, **more)


def _cut(id_: str, digits: str, **more: Any) -> Invalid:
    error = Fault(code="truncated", at=len(digits) // 2, recoverable=False)
    return _invalid(id_, digits, error, **more)


# ---- Lumberjack


def _lumberjack() -> Iterator[Made]:
    for vector in [*own_vectors(), *foreign_vectors()]:
        settings = {"from_role": vector["from"], "limits": vector.get("limits", {})}
        match vector["kind"]:
            case "valid":
                encodes, frames = vector["encodes"], tuple(vector["frames"])
                yield Valid(
                    id=vector["id"],
                    bytes=compact(bytes_of(vector)),
                    encodes=encodes,
                    frames=frames,
                    **settings,
                )
            case "invalid":
                told = {
                    key: vector["error"][key]
                    for key in ("code", "rule", "path", "at")
                    if key in vector["error"]
                }
                before = vector["frames_before"]
                yield _invalid(
                    vector["id"], compact(bytes_of(vector)), Fault(**told), frames_before=before, **settings
                )
    yield from streams_of_sessions()


def streams_of_sessions() -> Iterator[Trace]:
    """Yield what the makers of Lumberjack's vectors leave to the session, where their file is there."""
    from tests.conformance.test_sessions import entries

    sent = "325700000003" + "".join(f"3244{number:08x}00000000" for number in (1, 2, 3))
    for entry in entries("lumberjack", "malformed"):
        if entry["stage"] == "session":
            steps = [Step(from_role="writer", bytes=sent)] if entry["from"] == "reader" else []
            limits = {LIMITS[name]: value for name, value in entry["limits"].items()}
            steps.append(Step(from_role=entry["from"], bytes=entry["hex"]))
            is_strict = entry["id"] in LENIENT
            name = entry["expect"]["kind"]
            yield Trace(id=entry["id"], strict=is_strict, limits=limits, steps=tuple(steps), violation=name)


# ---- Geode


def _geode() -> Iterator[Made]:
    for vector in (*geode.GOLDEN, *geode.MALFORMED):
        yield from _of_geode(vector)


def _of_geode(vector: Vector) -> Iterator[Made]:
    role, digits, id_ = SIDES[vector["direction"]], vector["hex"], vector["id"]
    variant = None if vector.get("variant", "table") == "table" else vector["variant"]
    before = _before_geode(vector, role, variant)
    settings: Any = {"from_role": role, "variant": variant}
    match geode.group_of(vector):
        case "frame" | "several":
            encodes: Any = "same_meaning" if id_ in geode.DECODE_ONLY else "exact"
            frames = tuple(_frames_of_geode(vector))
            yield Valid(id=id_, bytes=digits, before=before, frames=frames, encodes=encodes, **settings)
        case "opening":
            mode = importlib.import_module("wireproto.geode").Mode(vector["fields"]["mode"]).name
            line = {"message": "Connect", "header": {}, "fields": {"mode": mode}}
            yield Valid(id=id_, bytes=digits, frames=(line,), **settings)
        case "incomplete":
            yield _cut(id_, digits, before=before, strict=True, **settings)
        case "reject_frame" | "fatal":
            is_fatal = vector["verdict"] == "fatal"
            before = () if "raw_connect" in vector else before
            error = _fault(vector["code"], recoverable=not is_fatal)
            yield _invalid(id_, digits, error, before=before, strict=True, **settings)
        case "session":
            steps = tuple(Step(from_role=each.from_role, bytes=each.bytes) for each in before)
            step = Step(from_role=role, bytes=digits)
            yield Trace(id=id_, steps=(*steps, step), violation=vector["code"])
        case "pieces":
            connect = Step(from_role="client", bytes=f"{vector['connect']:02x}")
            step = Step(from_role="client", bytes=digits)
            yield Trace(id=id_, steps=(connect, step), violation=vector.get("code"))


def _fault(name: str, *, recoverable: bool) -> Fault:
    rule = None if name in UNTIED else name
    return Fault(code=ERRORS[name], rule=rule, recoverable=recoverable)


def _before_geode(vector: Vector, role: str, variant: str | None) -> tuple[Sent, ...]:
    pending = [*vector.get("pending", []), *geode.asked(vector)]
    connect = Sent(from_role="client", bytes=f"{vector.get('connect', 110):02x}")
    asked = [Sent(from_role="client", bytes=_request(name, id_, variant)) for id_, name in pending]
    return (connect, *asked)


def _request(name: str, id_: int, variant: str | None) -> str:
    """Return a golden request of that kind under another number."""
    alike = [each for each in geode.GOLDEN if each["message"] == name]
    chosen = next((each for each in alike if each["variant"] == (variant or "table")), alike[0])
    record = geode.record_of(name, {**chosen["fields"], "correlationId": id_})
    wire = Wire(protocol="geode", role="client", variant=variant)
    return wire.encode("reference", record).hex()


def _frames_of_geode(vector: Vector) -> Iterator[Vector]:
    message, _, times = vector["message"].partition("*")
    if not times:
        yield geode.record_of(message, vector["fields"])
        return
    ((id_, _),) = geode.asked(vector)
    for fields in vector["fields"]:
        yield geode.record_of(message, fields, correlation_id=id_)


# ---- Reactive Streams

LENIENT: Final = frozenset({"M68", "window-over-limit"})
"""Violations that the .wire files only note: no document demands them."""
_HELLOS: Final = (("client", "010000"), ("server", "020000"), ("client", "0301700102"))


def _reactive_streams() -> Iterator[Made]:
    for vector in streams.GOLDEN:
        yield from _golden_stream(vector)
    for vector in streams.MALFORMED:
        yield from _malformed_stream(vector)


def _golden_stream(vector: Vector) -> Iterator[Made]:
    match streams.group_of(vector):
        case "frame":
            size = vector.get("elementSize", 0)
            said = (*_HELLOS, ("server", f"0601{size:02x}"))
            before = tuple(Sent(from_role=role, bytes=digits) for role, digits in said)
            line = streams.record_of(vector["message"], vector["fields"])
            role = vector.get("direction", "server")
            yield Valid(id=vector["id"], from_role=role, before=before, bytes=vector["hex"], frames=(line,))
        case "varint":
            line = streams.record_of("cancel", {"subscriber": vector["fields"]["value"]})
            yield Valid(id=vector["id"], from_role="client", bytes=f"05{vector['hex']}", frames=(line,))
        case "transcript":
            yield from _transcript(vector)


def _transcript(vector: Vector) -> Iterator[Made]:
    steps = streams.steps_of(vector)
    pieces = [(role, streams.wire_of(role).encode("generated", record)) for role, record in steps]
    for role, data in streams.streams_of(vector).items():
        assert b"".join(piece for side, piece in pieces if side == role) == data
    name = "unsupported_version" if "version_mismatch" in vector["message"] else None
    conversation = tuple(Step(from_role=role, bytes=data.hex()) for role, data in pieces)
    yield Trace(id=vector["id"], strict=name is not None, steps=conversation, violation=name)


def _malformed_stream(vector: Vector) -> Iterator[Made]:
    role, id_, digits = SIDES[vector["side"]], vector["id"], vector["hex"]
    said = [(SIDES[side], earlier) for side, earlier in vector["before"]]
    before = tuple(Sent(from_role=side, bytes=earlier) for side, earlier in said)
    settings: Any = {"from_role": role, "before": before, "strict": True}
    match streams.group_of(vector):
        case "accept":
            line = streams.record_of("onNext", {"subscriber": 1, "element": "61"})
            yield Valid(id=id_, bytes=digits, frames=(line,) if digits else (), **settings)
        case "fatal":
            n_before = 1 if id_ == "M81" else 0  # onComplete, then what it makes impossible
            error = _fault(vector["code"], recoverable=False)
            yield _invalid(id_, digits, error, frames_before=n_before, **settings)
        case "incomplete":
            yield _cut(id_, digits, **settings)
        case "session":
            steps = [Step(from_role=side, bytes=earlier) for side, earlier in said]
            steps.append(Step(from_role=role, bytes=digits))
            yield Trace(id=id_, strict=id_ in LENIENT, steps=tuple(steps), violation=vector["code"])


# ---- Pravega


def _pravega(protocol: str) -> Iterator[Made]:
    for vector in kept("pravega")["vectors"]:
        wire = pravega.wire_of(vector)
        if wire.protocol != protocol:
            continue
        settings: Any = {"from_role": wire.role, "strict": True}
        match pravega.group_of(vector):
            case "frame":
                line = pravega.record_of(wire, vector)
                yield Valid(id=vector["id"], bytes=vector["hex"], frames=(line,), **settings)
            case "last piece" | "refused":
                error = Fault(code="truncated", recoverable=True)
                yield _invalid(vector["id"], vector["hex"], error, **settings)
            case "sequence":
                frames = tuple(wire.reading("reference").feed(bytes.fromhex(vector["hex"])))
                assert [line["message"] for line in frames] == vector["fields"]["messages"]
                yield Valid(id=vector["id"], bytes=vector["hex"], frames=frames, **settings)
            case "malformed":
                yield _malformed_pravega(vector, settings)


def _malformed_pravega(vector: Vector, settings: Any) -> Made:
    id_, digits = vector["id"], vector["hex"]
    if id_.endswith("/3"):
        return _cut(id_, digits, **settings)
    faults = {
        "1": Fault(code="truncated", recoverable=True),
        "4": Fault(code="unknown_code", rule="unknown_message_type", recoverable=True),
    }
    return _invalid(id_, digits, faults[id_.rpartition("/")[2]], **settings)
