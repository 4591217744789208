"""Every decoder over changed frames, streams and captures: the result of each, and exceptions that are not
its own errors.
"""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from tests.interop import traffic
from tests.property.test_serializations import PROTOCOLS, Package
from tests.unit.hostile_serializations import varint

from wiregen.conformance.fuzz.comparison import Trial
from wiregen.conformance.fuzz.mutations import Mutator
from wiregen.conformance.judge.implementation import CodecSetting
from wiregen.formats.capture import CaptureError, CaptureLimits, read_streams
from wiregen.runtime.codec.errors import DecodeError as ReferenceError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.tree import Node

__all__ = ["DECODERS", "Tally", "captures", "frames"]

DECODERS = (
    "native_lenient", "native_strict", "native_stream", "reference", "protobuf", "msgpack", "sessions", "captures",
)  # fmt: skip
_MOST_SEED = 4096
"""Bytes of a frame that is changed: of longer ones, few changes meet anything else."""
_PORT = 5044


@dataclass(slots=True)
class Tally:
    """The results of one decoder.

    Attributes:
        errors: The number of errors by code; `read` counts inputs without an error.
        unexpected: Exceptions that are not its own errors: the kind, and the first input that caused it.
    """

    inputs: int = 0
    read: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    unexpected: dict[str, str] = field(default_factory=dict)
    n_unexpected: int = 0
    seconds: float = 0.0

    def run(self, call: Callable[[], str | None], data: bytes, what: str) -> str | None:
        """Call a decoder with an input; count and return the code of its error, or None."""
        begin = time.perf_counter()
        self.inputs += 1
        code: str | None
        try:
            code = call()
        except Exception as error:  # noqa: BLE001 - what is looked for
            code = None
            self.differs(f"{what}: {type(error).__name__}: {str(error)[:200]}", data)
        else:
            if code is None:
                self.read += 1
            else:
                self.errors[code] += 1
        self.seconds += time.perf_counter() - begin
        return code

    def differs(self, text: str, data: bytes) -> None:
        """Count what should not be, and keep the first input that shows it."""
        self.n_unexpected += 1
        self.unexpected.setdefault(text, data.hex()[:20_000])


Tallies = dict[str, Tally]


def frames(seed: int, count: int, tallies: Tallies, protocols: Sequence[str] = PROTOCOLS) -> None:
    """Give `count` changed frames of each protocol to every decoder of frames and to sessions."""
    for number, name in enumerate(protocols):
        package, dice = Package(name), Random(seed * 1_000 + number)
        made = (list(_seeds(package, seed + 1_000_000 * turn)) for turn in range(100))
        seeds = next(each for each in made if each)  # of a small protocol, sometimes nothing can be written
        mutator = Mutator(package.schema, dice)
        trees: dict[int, tuple[Node, ...]] = {}
        for _ in range(count):
            place = dice.randrange(len(seeds))
            role, trial, packed = seeds[place]
            if place not in trees:
                trees[place] = _tree(package, role, trial.data)
            changed = mutator.mutated(trial, trees[place], seeds[dice.randrange(len(seeds))][1])
            _natively(package, role, changed, tallies)
            for form, octets in packed.items():
                other = seeds[dice.randrange(len(seeds))][2].get(form, b"")
                _serially(package, form, role, _of_values(dice, form, octets, other), tallies)


def _seeds(package: Package, seed: int) -> Iterator[tuple[str | None, Trial, dict[str, bytes]]]:
    """Yield frames of a package with their bytes in each serialization."""
    for role, frame in package.frames(seed):
        packed: dict[str, bytes] = {}
        told = package.told(role)
        for form, module in (
            ("native", package.native),
            ("protobuf", package.protobuf),
            ("msgpack", package.msgpack),
        ):
            try:
                packed[form] = module.encode(frame, **told)
            except package.native.EncodeError:
                continue
        data = packed.pop("native", None)
        if data is not None and len(data) <= _MOST_SEED:
            yield role, Trial(setting=CodecSetting(role=role), data=data), packed


def _tree(package: Package, role: str | None, data: bytes) -> tuple[Node, ...]:
    try:
        return (explain(package.schema, data, 0, len(data), Options(role)),)
    except ReferenceError:
        return ()


def _natively(package: Package, role: str | None, trial: Trial, tallies: Tallies) -> None:
    native, data, what = package.native, trial.data, package.schema.name

    def decode(**wishes: Any) -> str | None:
        try:
            native.decode(data, from_role=role, **wishes)
        except native.DecodeError as error:
            return str(error.code)
        return None

    def reference() -> str | None:
        try:
            node = explain(package.schema, data, 0, len(data), Options(role))
        except ReferenceError as error:
            return str(error.code)
        return None if node.end == len(data) else "trailing_bytes"

    def stream() -> str | None:
        decoder = native.Decoder(role, errors="yield")
        if hasattr(decoder, "begin_inside"):
            decoder.begin_inside()
        codes = [
            str(item.code)
            for chunk in trial.chunks
            for item in decoder.feed(chunk)
            if isinstance(item, native.DecodeError)
        ]
        codes += [
            str(error.code) for _, _, error in decoder.finish_items() if isinstance(error, native.DecodeError)
        ]
        return codes[0] if codes else None

    lenient = tallies["native_lenient"].run(decode, data, what)
    tallies["native_strict"].run(partial(decode, strict=True), data, what)
    tallies["native_stream"].run(stream, data, what)
    found = tallies["reference"].run(reference, data, what)
    if (
        found != lenient and lenient != "limit_exceeded"
    ):  # the search for a fault is bounded, a reading is not
        tallies["reference"].differs(f"{what}: {found} where compiled code says {lenient}", data)
    tallies["sessions"].run(partial(_session, package, role, trial), data, what)


def _session(package: Package, role: str | None, trial: Trial) -> str | None:
    """Feed a stream to a connection of the other side; return the violation or error that ended it."""
    from importlib import import_module

    module = import_module(f"{package.native.__name__}.sessions")
    roles = package.schema.roles
    sender = role or roles[0]
    connection = module.Connection(next(each for each in roles if each != sender), on_error="continue")
    events = [event for chunk in trial.chunks for event in connection.receive(chunk, 0.0)]
    events += connection.eof(1.0)
    ends = [event for event in events if type(event).__name__ in ("Fault", "Violation")]
    if not ends:
        return None
    return str(ends[0].error.code) if type(ends[0]).__name__ == "Fault" else str(ends[0].name)


def _serially(package: Package, form: str, role: str | None, data: bytes, tallies: Tallies) -> None:
    module = getattr(package, form)

    def decode() -> str | None:
        try:
            module.decode(data, from_role=role, strict=len(data) % 2 == 0)
        except module.DecodeError as error:
            return str(error.code)
        return None

    tallies[form].run(decode, data, package.schema.name)


_HEADS = tuple(
    bytes.fromhex(digits)
    for digits in (
        "00 7f 80 ff 01 08 0a 12 c0 c1 c2 c3 c4ff c5ffff c6ffffffff cf"
        + "ff" * 8
        + " d3"
        + "80"
        + "00" * 7
        + " dcffff"
        " ddffffffff 90 9f 91 de0001 df00000001 ca7fc00000 cb7ff8000000000000 d9ff a0 a1ff a1c3 ffffffffffffffffff01 0b 0c"
    ).split()
)
"""Heads of values that protobuf and msgpack know: varints, tags, lengths, arrays, maps, floats, bad text."""


def _of_values(dice: Random, form: str, data: bytes, other: bytes) -> bytes:
    """Return the bytes of a serialization with one to three changes to its heads and values."""
    is_framed = form == "protobuf" and dice.random() < 0.8
    buffer = bytearray(_body(data) if is_framed else data)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        at = dice.randrange(len(buffer) + 1)
        match dice.randrange(6):
            case 0:
                buffer[at : at + 1] = dice.choice(_HEADS)
            case 1:
                buffer[at:at] = dice.choice(_HEADS)
            case 2 if at < len(buffer):
                buffer[at] = (buffer[at] + dice.choice((1, -1))) % 256
            case 3:
                del buffer[at : at + dice.randrange(1, 9)]
            case 4:
                start = dice.randrange(len(other) + 1)
                buffer[at:at] = other[start : start + dice.randrange(1, 33)]
            case _:
                buffer[at : at + 1] = dice.randbytes(1)
    return varint(len(buffer)) + bytes(buffer) if is_framed else bytes(buffer)


def _body(data: bytes) -> bytes:
    """Return the bytes after a varint."""
    return data[1 + next(place for place, octet in enumerate(data) if octet < 0x80) :]


# ---- captures


def captures(seed: int, count: int, tallies: Tallies) -> None:
    """Give changed captures to the reader of captures."""
    dice = Random(seed)
    originals = [_capture(Random(number), number) for number in range(8)]
    limits = CaptureLimits(stream_buffer=100_000, total_buffer=400_000)

    def read(data: bytes) -> str | None:
        streams = read_streams(io.BytesIO(data), limits=limits)
        try:
            for _ in streams:
                pass
        except CaptureError:
            return "capture_error"
        return "issues" if any(True for _ in streams.issues) else None

    for _ in range(count):
        data = _of_capture(dice, dice.choice(originals))
        tallies["captures"].run(partial(read, data), data, "capture")


def _capture(dice: Random, number: int) -> bytes:
    """Return a short talk between two ends, on one of the links, in one of the forms."""
    address = ("10.0.0.1", "10.0.0.2") if number % 2 else ("fd00::1", "fd00::2")
    first, second = (traffic.End(address=each, port=_PORT + place) for place, each in enumerate(address))
    link = traffic.LINKS[sorted(traffic.LINKS)[number % len(traffic.LINKS)]]
    packets = [
        packet
        for turn in range(4)
        for sent in (
            traffic.Sent(source=first, target=second, sequence=1 + 40 * turn, data=dice.randbytes(40)),
            traffic.Sent(source=second, target=first, sequence=1 + 8 * turn, data=dice.randbytes(8)),
        )
        for packet in traffic.captured(sent, link)
    ]
    return (traffic.pcap if number % 3 else traffic.pcapng)(packets, order="<>"[number % 2])


def _of_capture(dice: Random, data: bytes) -> bytes:
    """Return a capture with one to four changes: numbers of heads, bytes left out, pieces that come twice."""
    buffer = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(len(buffer) + 1)
        match dice.randrange(6):
            case 0:
                at -= at % 4
                value = dice.choice((0, 1, 4, 12, 20, 0x7FFFFFFF, 0xFFFFFFFF, len(buffer)))
                buffer[at : at + 4] = value.to_bytes(4, dice.choice(("little", "big")))
            case 1:
                buffer[at : at + 2] = dice.choice(
                    (b"\0\0", b"\xff\xff", b"\0\1", b"\x81\0", b"\x86\xdd", b"\x08\0")
                )
            case 2:
                del buffer[at : at + dice.choice((1, 4, 16, 60))]
            case 3:
                start = dice.randrange(len(buffer) + 1)
                buffer[at:at] = buffer[start : start + dice.choice((4, 16, 100))]
            case 4:
                del buffer[at:]
            case _ if at < len(buffer):
                buffer[at] ^= 1 << dice.randrange(8)
            case _:
                pass
    return bytes(buffer)
