"""Lumberjack's Data (8 pairs) and Window: the generated codec beside what one would take instead.

Run `make bench`, or `python benchmarks/lumberjack.py [--quick]`. The first line of each table is 1.00; a smaller ratio is faster.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import lumberjack_by_hand as hand
import lumberjack_elsewhere as elsewhere
from harness import compare, table

from wireproto import lumberjack as lj

FIELDS = [
    ("@timestamp", "2026-11-21T08:15:30.123Z"),
    ("host", "web-17.example.net"),
    ("file", "/var/log/nginx/access.log"),
    ("offset", "1048576"),
    ("line", '203.0.113.9 - - "GET /index.html HTTP/1.1" 200 5316 "-" "curl/8.5.0"'),
    ("type", "nginx"),
    ("tags", "edge,eu-west"),
    ("beat", "filebeat"),
]

Candidates = dict[str, Callable[[], object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="five short rounds: to see that it runs")
    rounds, seconds = (5, 0.002) if parser.parse_args().quick else (31, 0.02)
    for title, candidates in _tables().items():
        print(table(title, compare(candidates, rounds=rounds, seconds=seconds)))


def _tables() -> dict[str, Candidates]:
    data = lj.Data(4711, [lj.Pair(key, value) for key, value in FIELDS])
    window = lj.Window(2048)
    return {
        "decode Data, 8 pairs": _decoding(data.encode(), _protobuf_data()),
        "decode Window": _decoding(window.encode(), _protobuf_window()),
        "encode Data, 8 pairs": _encoding_data(data),
        "encode Window": _encoding_window(window),
    }


def _decoding(data: bytes, other: bytes) -> Candidates:
    frame = elsewhere.protobuf_frame()
    return {
        "hand-written, same checks": lambda: hand.careful_decode(data),
        "generated, decode_message": lambda: lj.decode_message(data),
        "generated, decode (Frame)": lambda: lj.decode(data),
        "naive struct code": lambda: hand.naive_decode(data),
        "protobuf, every field read": lambda: _read_all(frame.FromString(other)),
        "construct, compiled": lambda: elsewhere.COMPILED.parse(data),
        "construct, interpreted": lambda: elsewhere.FRAME.parse(data),
    }


def _read_all(frame: object) -> object:
    kind = frame.WhichOneof("body")  # type: ignore[attr-defined]
    if kind == "window":
        return frame.version, frame.window.size  # type: ignore[attr-defined]
    data = frame.data  # type: ignore[attr-defined]
    return frame.version, data.sequence, [(pair.key, pair.value) for pair in data.pairs]  # type: ignore[attr-defined]


def _protobuf_data() -> bytes:
    frame = elsewhere.protobuf_frame()(version=2)
    frame.data.sequence = 4711
    for key, value in FIELDS:
        frame.data.pairs.add(key=key, value=value)
    return bytes(frame.SerializeToString())


def _protobuf_window() -> bytes:
    frame = elsewhere.protobuf_frame()(version=2)
    frame.window.size = 2048
    return bytes(frame.SerializeToString())


def _encoding_data(data: lj.Data) -> Candidates:
    by_hand = hand.Data(4711, [hand.Pair(key, value) for key, value in FIELDS])
    pairs = [{"key": key, "value": value} for key, value in FIELDS]
    plain = {"version": 50, "type": 0x44, "body": {"sequence": 4711, "pairs": pairs}}
    return {
        "hand-written, same checks": lambda: hand.careful_encode_data(by_hand, 50),
        "generated": lambda: data.encode(),
        "naive struct code": lambda: hand.naive_encode_data(by_hand, 50),
        "protobuf, from values": _protobuf_data_maker(),
        "construct, compiled": lambda: elsewhere.COMPILED.build(plain),
        "construct, interpreted": lambda: elsewhere.FRAME.build(plain),
    }


def _encoding_window(window: lj.Window) -> Candidates:
    by_hand = hand.Window(2048)
    plain = {"version": 50, "type": 0x57, "body": {"size": 2048}}
    return {
        "hand-written, same checks": lambda: hand.careful_encode_window(by_hand, 50),
        "generated": lambda: window.encode(),
        "naive struct code": lambda: hand.naive_encode_window(by_hand, 50),
        "protobuf, from values": _protobuf_window_maker(),
        "construct, compiled": lambda: elsewhere.COMPILED.build(plain),
        "construct, interpreted": lambda: elsewhere.FRAME.build(plain),
    }


def _protobuf_data_maker() -> Callable[[], bytes]:
    class_ = elsewhere.protobuf_frame()

    def make() -> bytes:
        frame = class_(version=2)
        frame.data.sequence = 4711
        for key, value in FIELDS:
            frame.data.pairs.add(key=key, value=value)
        return bytes(frame.SerializeToString())

    return make


def _protobuf_window_maker() -> Callable[[], bytes]:
    class_ = elsewhere.protobuf_frame()

    def make() -> bytes:
        frame = class_(version=2)
        frame.window.size = 2048
        return bytes(frame.SerializeToString())

    return make


if __name__ == "__main__":
    main()
