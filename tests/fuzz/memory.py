"""The most memory that decoders take of large changed frames, compared with the promise of `wiregen check --verbose`.

The limits are narrower than the protocols' own, so that a sample costs little; the promise follows them.
Each input is decoded once before it is measured, so that imports and tables of a codec are not counted.
"""

from __future__ import annotations

import copy
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from tests.property.test_serializations import PROTOCOLS, Package
from tests.property.values import put, spots
from tests.unit.hostile_serializations import varint

from wiregen.generate.frontend import load_protocol
from wiregen.language.checker import largest_memory
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

__all__ = ["LIMITS", "MEASURED", "Peak", "measure"]

IDL = Path(__file__).resolve().parents[2] / "idl"
LIMITS = {"frame": 1 << 18, "inflated": 1 << 20, "messages": 1024}
MEASURED = ("native_lenient", "native_strict", "native_stream", "protobuf", "msgpack", "sessions")
"""The decoders that a project gets. The reference codec keeps a node of each value, for people to look at, and is promised nothing."""
PER_SEED = 2
_TIMES = {"protobuf": 2, "msgpack": 2}
"""The multiple of the promise that a serialization may take: its values are bounded by the limits of the native form."""
_SLACK = 1 << 16
"""Bytes that nobody is promised: an error and its text, the frames of a small stack."""
_MOST_TRIES = 40


@dataclass(slots=True)
class Peak:
    """The peak memory of a decoder.

    Attributes:
        peak: In bytes, for any input, the bytes of the input included.
        share: The largest share of the promise, in hundredths. With an error, the promise is doubled.
        beyond: Inputs that took more than the promise.
    """

    inputs: int = 0
    peak: int = 0
    share: int = 0
    beyond: int = 0
    shown: str = ""

    def take(self, taken: int, promise: int, what: str) -> None:
        """Count an input."""
        self.inputs += 1
        self.peak = max(self.peak, taken)
        self.share = max(self.share, -(-100 * max(0, taken - _SLACK) // promise))
        if taken > promise + _SLACK:
            self.beyond += 1
            self.shown = self.shown or f"{what}: {taken} bytes of {promise}"

    def and_also(self, earlier: Peak) -> Peak:
        """Return the figures of both."""
        return Peak(
            inputs=earlier.inputs + self.inputs,
            peak=max(earlier.peak, self.peak),
            share=max(earlier.share, self.share),
            beyond=earlier.beyond + self.beyond,
            shown=earlier.shown or self.shown,
        )


def measure(seed: int, peaks: dict[str, Peak], count: int = PER_SEED) -> None:
    """Give large frames of one protocol, whole and changed, to each decoder, and add what they took."""
    name = PROTOCOLS[seed % len(PROTOCOLS)]
    package, dice, limits = Package(name), Random(seed), _limits(name)
    for role, data, frame in _frames(package, dice, count):
        inputs = {"native": data, **_packed(package, role, frame)}
        for decoder in MEASURED:
            octets = inputs.get(decoder if decoder in inputs else "native", data)
            octets = octets if dice.random() < 0.5 else _changed(dice, octets)
            call = _call(package, decoder, role, limits)
            failed = call(octets)
            taken = _most(lambda call=call, octets=octets: call(octets)) + len(octets)  # type: ignore[misc]
            peaks[decoder].take(
                taken, _promise(name) * _TIMES.get(decoder, 1) * (1 + failed), f"{name}, seed {seed}"
            )


@cache
def _promise(name: str) -> int:
    """Return the largest memory of any message of a protocol within the limits: a changed frame may be any of them."""
    subject = load_protocol(IDL / f"{name}.wire", Sources(), Report(), (IDL,))
    assert subject is not None
    return max(size for _, size in largest_memory(subject.protocol, LIMITS))


@cache
def _limits(name: str) -> Any:
    return import_module(f"wireproto.{name}").Limits(**LIMITS)


def _frames(package: Package, dice: Random, count: int) -> Iterator[tuple[str | None, bytes, Any]]:
    """Yield frames with one long list or one long text, as long as the limits allow, or nearly."""
    for _ in range(_MOST_TRIES):
        role, frame = dice.choice(package.frames(dice.randrange(1 << 20)) or [(None, None)])
        places = [place for place in spots(frame) if isinstance(_value(*place), str | bytes | list)]
        index = dice.randrange(len(places)) if places else -1
        if index < 0 or _value(*places[index]) == []:
            continue
        other = copy.deepcopy(frame)
        again = [place for place in spots(other) if isinstance(_value(*place), str | bytes | list)]
        put(again[index], _long(_value(*places[index]), dice))
        try:
            data = package.native.encode(other, **package.told(role))
        except package.native.EncodeError:
            continue
        if 5_000 < len(data) <= LIMITS["frame"]:
            yield role, data, other
            count -= 1
        if not count:
            return


def _value(owner: Any, name: str | int) -> Any:
    return owner[name] if isinstance(name, int) else getattr(owner, name, None)


def _long(value: str | bytes | list[Any], dice: Random) -> str | bytes | list[Any]:
    size = LIMITS["frame"] - dice.choice((400, 4_000, 100_000, 230_000))
    if isinstance(value, str):
        return "a" * size + "\U0001f600"  # one wide character makes all of them wide
    return b"a" * size if isinstance(value, bytes) else (value * 1_000)[: dice.choice((1_000, 900, 300))]


def _packed(package: Package, role: str | None, frame: Any) -> dict[str, bytes]:
    found = {}
    for form in ("protobuf", "msgpack"):
        try:
            found[form] = getattr(package, form).encode(frame, **package.told(role))
        except package.native.EncodeError:
            continue
    return found


def _changed(dice: Random, data: bytes) -> bytes:
    """Return bytes with a fault, most often near the end, so that the bytes before it are read first."""
    place = len(data) - 1 - int(len(data) * dice.random() ** 3)
    other = (
        data[:place],
        data + varint(dice.randrange(1 << 20)),
        data[:place] + bytes([data[place] ^ dice.choice((1, 0x80, 0xFF))]) + data[place + 1 :],
        data[:place] + data[place + 1 :],
    )
    return dice.choice(other)


def _call(package: Package, decoder: str, role: str | None, limits: Any) -> Callable[[bytes], bool]:
    """Return a function that decodes, drops the result, and returns whether there was an error."""
    native = package.native

    def decode(data: bytes) -> bool:
        module = getattr(package, decoder, native)
        try:
            module.decode(data, from_role=role, limits=limits, strict=decoder == "native_strict")
        except native.DecodeError:
            return True
        return False

    def stream(data: bytes) -> bool:
        made = native.Decoder(role, errors="yield", limits=limits)
        if hasattr(made, "begin_inside"):
            made.begin_inside()
        chunks = (data[: len(data) // 2], data[len(data) // 2 :])
        found = sum(isinstance(item, native.DecodeError) for chunk in chunks for item in made.feed(chunk))
        return found + sum(1 for _ in made.finish_items()) > 0

    def session(data: bytes) -> bool:
        sender = role or package.schema.roles[0]
        other = next(each for each in package.schema.roles if each != sender)
        sessions = import_module(f"{native.__name__}.sessions")
        connection = sessions.Connection(other, on_error="continue", limits=limits)
        events = [type(event).__name__ for event in connection.receive(data, 0.0)]
        events += [type(event).__name__ for event in connection.eof(1.0)]
        return "Fault" in events

    return {"native_stream": stream, "sessions": session}.get(decoder, decode)


def _most(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
