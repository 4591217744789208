"""The protocol of echo.wire written by hand, with knobs that break it; as a program it answers `vectors run`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Line = dict[str, Any]


class Refused(Exception):
    def __init__(self, code: str, at: int = 0, recoverable: bool = False) -> None:
        super().__init__(code)
        self.code, self.at, self.recoverable = code, at, recoverable


@dataclass(frozen=True, kw_only=True)
class Codec:
    """Without arguments a right one."""

    order: Literal["big", "little"] = "big"
    keeps_limits: bool = True
    one_more: int = 0
    text_errors: str = "strict"

    def decode(self, chunks: list[bytes], wire: Any) -> Iterator[Line]:
        data, position = b"".join(chunks), 0
        limit = wire.limits.get("frame", 64)
        while position < len(data):
            if len(data) < position + 3:
                raise EOFError
            size = int.from_bytes(data[position : position + 2], "big")
            end = position + 3 + size
            if self.keeps_limits and 3 + size > limit:
                raise Refused("limit_exceeded", position)
            if len(data) < end:
                raise EOFError
            yield self._message(data, position + 2, end)
            position = end

    def _message(self, data: bytes, start: int, end: int) -> Line:
        if data[start] not in (1, 2):
            return {
                "message": "Unknown",
                "code": data[start],
                "fields": {"data": data[start + 1 : end].hex()},
            }
        at, number = start + 1, {}
        if data[start] == 2:
            number = {"number": int.from_bytes(data[at : at + 4], self.order)}
            at += 4
        stop = at + 1 + (data[at] if at < end else 0) + self.one_more
        if stop > end:
            raise Refused("truncated", end, True)
        text = self._text(data, at + 1, stop)
        if stop < end:
            raise Refused("trailing_bytes", stop, True)
        return {"message": "Pong" if data[start] == 2 else "Ping", "fields": {**number, "text": text}}

    def _text(self, data: bytes, start: int, stop: int) -> str:
        try:
            return data[start:stop].decode("utf-8", self.text_errors)
        except UnicodeDecodeError as error:
            raise Refused("invalid_text", start + error.start, True) from None

    def encode(self, frames: list[Line], wire: Any) -> bytes:
        return b"".join(map(self._written, frames))

    def _written(self, line: Line) -> bytes:
        if line["message"] == "Unknown":
            data = bytes([line["code"]]) + bytes.fromhex(line["fields"]["data"])
            return (len(data) - 1).to_bytes(2, "big") + data
        text, number = line["fields"]["text"].encode(), b""
        if line["message"] == "Pong":
            try:
                number = line["fields"]["number"].to_bytes(4, self.order)
            except OverflowError:
                raise Refused("invalid_value") from None
        body = number + bytes([len(text)]) + text
        written: bytes = len(body).to_bytes(2, "big") + bytes([2 if number else 1]) + body
        return written


class OneError(Codec):
    """Has no codes: all that it refuses is a ValueError."""

    tells: tuple[str, ...] = ()

    def decode(self, chunks: list[bytes], wire: Any) -> Iterator[Line]:
        try:
            yield from super().decode(chunks, wire)
        except Refused as error:
            raise ValueError(str(error)) from None

    def encode(self, frames: list[Line], wire: Any) -> bytes:
        try:
            return super().encode(frames, wire)
        except Refused as error:
            raise ValueError(str(error)) from None


right = Codec()
BROKEN = {
    "wrong byte order": Codec(order="little"),
    "ignored limit": Codec(keeps_limits=False),
    "off by one": Codec(one_more=-1),
    "lenient text": Codec(text_errors="replace"),
}
CODELESS = {
    "one error": OneError(),
    "one error, lenient text": OneError(text_errors="replace"),
}


def misbehaving(how: str, n_good: int) -> None:
    """Answer so many requests well, then do otherwise."""
    from wiregen.conformance.judge.python_codec import PythonCodec
    from wiregen.conformance.vectors.adapters.serve import answers

    codecs = {**BROKEN, **CODELESS, "good": right}
    for number, line in enumerate(answers(PythonCodec(codecs.get(how, right)), sys.stdin.buffer)):
        if number < n_good or how in codecs:
            sys.stdout.buffer.write(line)
        else:
            misbehave(how, line)
        sys.stdout.flush()


def misbehave(how: str, line: bytes) -> None:
    match how:
        case "hangs":
            time.sleep(600)
        case "crashes":
            print("out of cheese", file=sys.stderr)
            sys.exit(3)
        case "prints garbage":
            print("Hello, world")
        case "prints no frames":
            print(json.dumps({"id": json.loads(line)["id"]}))
        case "answers another":
            print('{"id": 77, "frames": []}')
        case "prints on and on":
            while True:
                sys.stdout.buffer.write(b"x" * 65536)
        case "drips":
            for _ in range(6000):
                print(" ", end="", flush=True)
                time.sleep(0.1)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "generator"))
    misbehaving(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
