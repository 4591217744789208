"""Checks of generated packages and of the runtime that need the standard library only: a script for any Python.

Each line of stdin is a vector as JSON, with its bytes as hexadecimal digits. The script ends with an error at the first
difference, and prints how many checks there were.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import pkgutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

from tests.built_schema import schema_of

import wireproto
from wiregen import runtime
from wiregen.runtime.codec import errors
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records import frames as records
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wireproto import lumberjack as lj
from wireproto._runtime.codec.errors import DecodeError, EncodeError
from wireproto._runtime.records.frames import frame_from_record, frame_record, part_record
from wireproto._runtime.reference.objects import build

LIBRARIES = ("google", "msgspec", "pyarrow", "backports")
"""Packages that a Python may lack; the modules that need one are counted and not imported then."""
SERIALIZATIONS = ("protobuf", "msgpack")
_VALUE = ("message", "code", "header", "fields")

Vector = dict[str, Any]


def imported() -> Iterator[str]:
    """Import all modules of the tree and of the runtime; yield `imported`, or `without` and the library that is missing."""
    trees = ((package.__path__, f"{package.__name__}.") for package in (wireproto, runtime))
    for found in (each for path, prefix in trees for each in pkgutil.walk_packages(path, prefix)):
        module = module_of(found.name)
        yield f"without {module}" if isinstance(module, str) else "imported"


def module_of(name: str) -> ModuleType | str:
    """Return a module, or the library that it needs and this Python lacks."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        cause = error.__cause__ or error  # a generated module says how to install its library
        library = (cause.name or "").partition(".")[0] if isinstance(cause, ModuleNotFoundError) else ""
        if library not in LIBRARIES:
            raise
        return library


@cache
def package_of(protocol: str) -> ModuleType:
    return importlib.import_module(f"wireproto.{protocol}")


@cache
def serializations_of(protocol: str) -> dict[str, Any]:
    """Return the modules of the serializations whose libraries are installed."""
    modules = {name: module_of(f"wireproto.{protocol}.{name}") for name in SERIALIZATIONS}
    return {name: module for name, module in modules.items() if isinstance(module, ModuleType)}


class Native:
    """The native codec of a package, with the options of one vector."""

    def __init__(self, vector: Vector) -> None:
        self.module: Any = package_of(vector["protocol"])
        self.schema = importlib.import_module(f"{self.module.__name__}._plan").PLAN
        self.vector = vector
        limits = self.module.Limits(**vector["limits"]) if vector["limits"] else None
        self.wishes = {
            "context": self.module.Context(limits=limits) if hasattr(self.module, "Context") else None,
            "limits": limits,
            "strict": vector["strict"],
            "variant": vector["variant"],
            "from_role": vector["from"],
            "compression": 0,
        }

    def called(self, function: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        known = inspect.signature(function).parameters
        wishes = {**self.wishes, **more}
        return function(*arguments, **{name: wish for name, wish in wishes.items() if name in known})

    def decoder(self, role: str | None) -> Any:
        return self.called(self.module.Decoder, from_role=role)

    def line(self, frame: Any) -> dict[str, Any]:
        record = frame_record(self.schema, frame, variant=self.vector["variant"])
        return record | part_record(self.schema, frame, variant=self.vector["variant"])

    def written(self, line: dict[str, Any]) -> bytes:
        frame = build(self.schema, self.value(line), vars(self.module))
        octets: bytes = (
            self.called(self.module.encode, frame) if hasattr(frame, "message") else frame.encode()
        )
        return octets

    def value(self, line: dict[str, Any]) -> Any:
        return frame_from_record(self.schema, record_of(line), **self.place)

    @property
    def place(self) -> dict[str, Any]:
        return {"role": self.vector["from"], "variant": self.vector["variant"]}


class Reference(Native):
    """The reference codec of the whole runtime, with the schema of the same package and the options of one vector."""

    def __init__(self, vector: Vector) -> None:
        super().__init__(vector)
        self.schema = schema_of(vector["protocol"])
        self.context = Context(self.schema, limits=dict(vector["limits"]))

    def options(self, role: str | None) -> Options:
        return Options(
            role,
            context=self.context,
            limits=dict(self.vector["limits"]),
            strict=self.vector["strict"],
            variant=self.vector["variant"],
        )

    def decoder(self, role: str | None) -> Any:
        return reference_decoder(self.schema, self.options(role), "raise", context=self.context)

    def line(self, frame: Any) -> dict[str, Any]:
        variant, value = self.vector["variant"], frame.value
        record = records.frame_record(self.schema, value, variant=variant)
        return record | records.part_record(self.schema, value, variant=variant)

    def written(self, line: dict[str, Any]) -> bytes:
        value = records.frame_from_record(self.schema, record_of(line), **self.place)
        return write_frame(self.schema, value, self.options(self.vector["from"]), compression=0)


def record_of(line: dict[str, Any]) -> dict[str, Any]:
    return {key: line[key] for key in _VALUE if key in line}


def check_frames(codec: Native) -> Iterator[str]:
    """Check that a codec decodes valid bytes to their frames, and encodes these to the same bytes."""
    vector, decoder = codec.vector, receiver(codec)
    data = bytes.fromhex(vector["bytes"])
    frames = list(decoder.feed(data))
    same([codec.line(frame) for frame in frames], vector["frames"])
    same(decoder.pending, 0)
    yield "decoded"
    if type(codec) is Native:
        yield from (view for frame in frames for view in views_of(getattr(frame, "message", frame)))
    if vector["encodes"] == "exact" and len(frames) == 1 and "part" not in vector["frames"][0]:
        again = type(codec)(vector)
        receiver(again)
        same(again.written(vector["frames"][0]), data)
        yield "encoded"


def views_of(message: Any) -> Iterator[str]:
    """Read each property of a message: it has a value, or raises DecodeError."""
    for name, each in vars(type(message)).items():
        if isinstance(each, property):
            try:
                getattr(message, name)
            except DecodeError:
                yield "refused views"
            else:
                yield "views"


def receiver(codec: Native) -> Any:
    """Return a decoder of the vector's sender, after the earlier bytes of the connection."""
    decoders: dict[str | None, Any] = {}
    for sent in (*codec.vector["before"], None):
        role = codec.vector["from"] if sent is None else sent["from"]
        decoders[role] = decoders.get(role) or codec.decoder(role)
        if sent is not None:
            list(decoders[role].feed(bytes.fromhex(sent["bytes"])))
    return decoders[codec.vector["from"]]


def check_refused(codec: Native) -> Iterator[str]:
    """Check that a codec refuses invalid bytes with their error, at its place."""
    vector, decoder, n_frames = codec.vector, receiver(codec), 0
    before, said = decoder.fed, vector["error"]
    try:
        for _ in decoder.feed(bytes.fromhex(vector["bytes"])):
            n_frames += 1
        decoder.finish()
    except (DecodeError, errors.DecodeError) as error:
        found = (n_frames, error.code, error.rule, error.at - before, error.inner_at, error.recoverable)
        known = (said["code"], said["rule"], said["at"], said["inner_at"], said["recoverable"])
        same(found, (vector["frames_before"], *known))
        yield "refused"
    else:
        raise AssertionError("these bytes were decoded")


def check_unwritable(codec: Native) -> Iterator[str]:
    """Check that a codec refuses to encode a value with the error of the vector."""
    receiver(codec)
    try:
        codec.written(codec.vector["frames"][0])
    except (EncodeError, errors.EncodeError) as error:
        same(error.code, codec.vector["error"]["code"])
        yield "refused values"
    else:
        raise AssertionError("this value was encoded")


def check_carried(vector: Vector) -> Iterator[str]:
    """Check that other serializations decode a frame to the same values; fragments are joined by native streams only."""
    if len(vector["frames"]) != 1:
        return
    line = {key: part for key, part in vector["frames"][0].items() if key not in ("part", "joined")}
    for name, way in serializations_of(vector["protocol"]).items():
        if vector[name] is not None:
            codec = Native(vector)
            receiver(codec)
            same(codec.line(codec.called(way.decode, bytes.fromhex(vector[name]))), line)
            yield name


def check_trace(vector: Vector) -> Iterator[str]:
    """Check that a session finds the violation of a conversation, or none."""
    codec = Native(vector)
    known = inspect.signature(codec.module.Session).parameters
    options = {f"{name}_" if f"{name}_" in known else name: each for name, each in vector["options"].items()}
    session = codec.called(codec.module.Session, **options)
    found = None
    for step in vector["steps"]:
        found = next(filter(None, map(broken, events(session, step))), None)
        if found is not None:
            break
    same(found, vector["violation"])
    yield "traces"


def events(session: Any, step: dict[str, Any]) -> Iterator[Any]:
    if step["eof"]:
        yield from session.eof(step["from"], step["at"])
    elif step["bytes"]:
        yield from session.observe(step["from"], bytes.fromhex(step["bytes"]), step["at"])
    else:
        yield from session.tick(step["at"])


def broken(event: Any) -> str | None:
    """Return the name of a violation that is not lenient, or the code of an error."""
    kind = type(event).__name__
    if kind == "Violation":
        return None if event.lenient else str(event.name)
    return str(event.error.code) if kind == "Fault" else None


def checks_of(vector: Vector) -> Iterator[str]:
    match vector["kind"]:
        case "trace":
            yield from check_trace(vector)
        case "valid":
            for codec in (Native, Reference):
                yield from check_frames(codec(vector))
            yield from check_carried(vector)
        case kind:
            check = check_refused if kind == "invalid" else check_unwritable
            for codec in (Native, Reference):
                yield from check(codec(vector))


def same(found: object, expected: object) -> None:
    if found != expected:
        raise AssertionError(f"{found} is not {expected}")


async def connected() -> str:
    """Check that a client's events reach a server over a socket, and its acknowledgement the client."""
    aio = importlib.import_module("wireproto.lumberjack.aio")

    async def acknowledge(peer: Any) -> None:
        async for frame in peer:
            if isinstance(frame.message, lj.Json) and frame.message.sequence == 3:
                await peer.send(lj.Ack(3))

    server = await aio.serve(acknowledge, "127.0.0.1", 0)
    async with server, aio.connect("127.0.0.1", server.port) as peer:
        for message in (lj.Window(3), *(lj.Json(number, b"{}") for number in (1, 2, 3))):
            await peer.send(message)
        async for frame in peer:
            same(frame.message, lj.Ack(3))
            break
        same(peer.connection.transfer.state, "idle")
    return "connections"


def main() -> None:
    counts = Counter([*imported(), asyncio.run(connected())])
    for text in sys.stdin:
        vector = json.loads(text)
        try:
            counts.update(checks_of(vector))
        except Exception as error:
            error.add_note(f"in {vector['protocol']}, {vector['id']}")
            raise
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
