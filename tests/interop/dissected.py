"""What a dissector of ours shows in tshark, and what the reference codec reads from the same bytes, as rows that can be compared."""

from __future__ import annotations

import math
import re
import subprocess
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.interop import traffic
from tests.interop.traffic import LINKS, End, Sent

from wiregen.generate.views.wireshark.types import abbreviation, declared
from wiregen.runtime.records.types import flat_fields
from wiregen.runtime.reference.scope import ABSENT
from wiregen.runtime.reference.tree import Node, Variety
from wiregen.runtime.schema.elements import CompressedBody, JoinedBody, PreambleReference, UnknownMessage
from wiregen.runtime.schema.protocol import Schema, Variant
from wiregen.runtime.schema.types import (
    Bits,
    Block,
    Bytes,
    FrameReference,
    List,
    MessageReference,
    Region,
    StructReference,
    Text,
    UnionReference,
)

__all__ = ["FIRST_PORT", "Row", "Rows", "Shown", "Turn", "capture", "difference", "dissect"]

_RECORDS = (StructReference, MessageReference, FrameReference, PreambleReference)
FIRST_PORT = 10_000
_SERVER = "10.1.0.1"
_BEGIN = 1000
"""The sequence number of the first byte of each side."""


@dataclass(frozen=True, slots=True)
class Row:
    """A field: its filter name, its size and bytes, and its value; None is not compared."""

    name: str
    size: int | None
    data: bytes | None
    value: object = None


@dataclass(slots=True)
class Shown:
    """What tshark shows of one side of a connection: a tuple of rows per frame, and how many of them have a complaint."""

    frames: list[tuple[Row, ...]] = field(default_factory=list)
    complaints: list[tuple[str, ...]] = field(default_factory=list)


# ---- captures


@dataclass(frozen=True, slots=True)
class Turn:
    """Bytes of one side of a connection; `is_opener`: of the one that opens it."""

    is_opener: bool
    data: bytes


def capture(connections: Sequence[Sequence[Turn]], port: int) -> bytes:
    """Return a pcap file: connection i is from the client port FIRST_PORT + i, and each turn is a segment."""
    sent = [each for i, turns in enumerate(connections) for each in _segments(turns, i, port)]
    return traffic.pcap(packet for each in sent for packet in traffic.captured(each, LINKS["ethernet"]))


def _segments(turns: Sequence[Turn], number: int, port: int) -> Iterator[Sent]:
    sides = {True: End(address="10.0.0.1", port=FIRST_PORT + number), False: End(address=_SERVER, port=port)}
    at = {True: _BEGIN, False: _BEGIN}
    yield Sent(source=sides[True], target=sides[False], sequence=_BEGIN - 1, flags=traffic.SYN)
    yield Sent(
        source=sides[False],
        target=sides[True],
        sequence=_BEGIN - 1,
        acknowledged=_BEGIN,
        flags=traffic.SYN | traffic.ACK,
    )
    for turn in turns:
        side = turn.is_opener
        yield Sent(
            source=sides[side],
            target=sides[not side],
            sequence=at[side],
            acknowledged=at[not side],
            data=turn.data,
            flags=traffic.ACK | traffic.PSH,
        )
        at[side] += len(turn.data)


# ---- tshark


def dissect(
    tshark: str,
    script: Path,
    path: Path,
    protocol: str,
    port: int,
    more: Sequence[str] = (),
) -> dict[tuple[int, bool], Shown]:
    """Return what each side of each connection of a capture shows, by the port of its client and whether it is the client's."""
    command = [
        tshark, "-n", "-r", str(path), "-X", f"lua_script:{script}", "-Y", protocol,
        "-T", "pdml", "-J", f"tcp {protocol}", *more,
    ]  # fmt: skip
    output = path.with_suffix(".pdml")
    with output.open("wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, check=False, timeout=3600)
    errors = done.stderr.decode(errors="replace")
    assert done.returncode == 0, errors[:2000]
    assert "Lua" not in errors, errors[:2000]
    found: dict[tuple[int, bool], Shown] = defaultdict(Shown)
    for packet in _packets(output):
        source, target = (
            int(each.get("show", ""))
            for name in ("tcp.srcport", "tcp.dstport")
            for each in packet.iterfind(f"proto[@name='tcp']/field[@name='{name}']")
        )
        shown = found[source if target == port else target, target == port]
        for proto in packet.iterfind(f"proto[@name='{protocol}']"):
            shown.frames.append(tuple(_fields(proto, protocol)))
            shown.complaints.append(tuple(_complaints(proto, protocol)))
    return found


def _fields(proto: ET.Element, protocol: str) -> Iterator[Row]:
    """Yield the fields below a frame, in the order in which they are shown."""
    for each in proto.iter("field"):
        name = each.get("name", "").removeprefix(f"{protocol}.")
        if name == each.get("name") or name in _COMPLAINTS:
            continue
        digits, size = each.get("unmaskedvalue") or each.get("value"), int(each.get("size", "0"))
        data = None if size and not digits else bytes.fromhex(digits or "")
        yield Row(name, size, data, each.get("show", ""))


def _complaints(proto: ET.Element, protocol: str) -> Iterator[str]:
    """Yield the texts of our own notes to a frame; Wireshark has notes too."""
    for expert in proto.iterfind(".//field[@name='_ws.expert']"):
        if any(each.get("name", "").removeprefix(f"{protocol}.") in _COMPLAINTS for each in expert):
            for message in expert.iterfind("field[@name='_ws.expert.message']"):
                yield message.get("show", "")


_COMPLAINTS = ("wrong", "stopped")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters of texts that tshark prints as they are."""


def _packets(path: Path) -> Iterator[ET.Element]:
    """Yield the packets of a file of tshark one by one: it may be larger than the memory."""
    parser: ET.XMLPullParser[ET.Element] = ET.XMLPullParser(["end"])
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        while chunk := file.read(1 << 20):
            parser.feed(_NOT_XML.sub("?", chunk))
            for event in parser.read_events():
                *_, element = event
                if isinstance(element, ET.Element) and element.tag == "packet":
                    yield element
                    element.clear()


# ---- the reference codec


class Rows:
    """Makes rows from the trees of the reference codec, whose nodes have positions in `data`."""

    def __init__(self, plan: Schema, data: bytes) -> None:
        self._secrets = _secrets(plan)
        self._divided = {join.block for join in plan.joins.values() if join.block is not None}
        self._data = data

    def of(self, root: Node) -> tuple[Row, ...]:
        """Return the rows of a frame or preamble."""
        return tuple(self._rows(root, "", ""))

    def _row(self, name: str, node: Node, value: object = None) -> Row:
        return Row(name, node.size, None if node.inner else self._data[node.start : node.end], value)

    def _rows(self, node: Node, name: str, owner: str) -> Iterator[Row]:
        type_ = node.type
        if node.note == ABSENT:
            return
        if isinstance(type_, _RECORDS):
            own = declared(type_.name)
            yield self._row(own, node)
            is_frame = isinstance(type_, FrameReference)
            for child in node.children:
                yield from self._field(child, own, type_.name if is_frame else "")
        elif isinstance(type_, Block):
            for child in node.children:
                yield from self._field(child, owner, "")
        elif isinstance(type_, UnionReference):
            assert isinstance(node.value, Variety)
            own = f"{declared(type_.name)}.{declared(node.value.name)}"
            code, *fields = node.children
            yield self._row(declared(type_.name), node)
            yield from self._rows(code, f"{declared(type_.name)}.code", "")
            yield Row(own, node.end - code.end, None)
            for child in fields:
                yield from self._field(child, own, "")
        elif isinstance(type_, List):
            prefix = [child for child in node.children if child.is_part]
            if node.value is not None:
                yield self._row(name, node)
            for child in node.children:
                yield from self._rows(child, f"{name}.{'count' if child in prefix else 'item'}", owner)
        elif isinstance(type_, Region):
            yield from self._region(node, name, owner)
        elif isinstance(type_, Bytes | Text):
            yield from self._counted(node, name)
        elif isinstance(type_, UnknownMessage):
            yield self._row(f"{name}.unknown", node)
        elif isinstance(type_, Bits):
            yield Row(name, None, None, node.value)
        else:
            yield self._row(name, node, node.value)

    def _field(self, node: Node, owner: str, frame: str) -> Iterator[Row]:
        name = abbreviation(owner, node.name)
        if (owner, node.name) in self._secrets:
            yield from (
                Row("secret", each.size, None) if each.name == name else each
                for each in self._rows(node, name, owner)
            )
        elif (frame, node.name) in self._divided and isinstance(node.type, Region):
            yield from self._region(node, name, owner, is_divided=True)
        else:
            yield from self._rows(node, name, owner)

    def _region(self, node: Node, name: str, owner: str, *, is_divided: bool = False) -> Iterator[Row]:
        chunks = [child for child in node.children if not child.is_part and child.name.startswith("[")]
        if chunks:
            yield Row(f"{name}.chunks", chunks[-1].end - chunks[0].start, None)
        for child in node.children:
            if isinstance(child.type, CompressedBody):
                yield self._row(f"{name}.{child.type.algorithm}", child)
                yield from self._inside(child.children, name, owner)
            elif isinstance(child.type, JoinedBody):
                yield from self._inside(child.children, name, owner)
            elif is_divided and isinstance(child.type, Bytes):
                yield from self._rows(child, f"{name}.piece", owner)
            else:
                yield from self._inside((child,), name, owner)

    def _inside(self, children: Iterable[Node], name: str, owner: str) -> Iterator[Row]:
        for child in children:
            if child.part == "delimiter":
                continue
            if child.is_part:
                yield self._row(f"{name}.{child.name}", child, child.value)
            else:
                yield from self._rows(child, name, owner)

    def _counted(self, node: Node, name: str) -> Iterator[Row]:
        data = node
        for child in node.children:
            if child.part == "data":
                data = child
            elif child.part == "length":
                yield from self._rows(child, f"{name}.length", "")
        if node.value is not None:
            yield self._row(name, data, node.value)


def _secrets(plan: Schema) -> frozenset[tuple[str, str]]:
    """Return the filter names of declarations and the names of their secret fields."""
    layouts: list[Schema | Variant] = [plan, *plan.variants.values()]
    rows = [(declared(name), fields) for each in layouts for name, fields in each.structs.items()]
    for each in layouts:
        rows += [(declared(name), made.fields) for name, made in each.messages.items()]
        rows += [(declared(name), made.fields) for name, made in each.frames.items()]
        rows += [(declared(name), made.fields) for name, made in each.preambles.items()]
    for name, union in plan.unions.items():
        rows += [(f"{declared(name)}.{declared(each.name)}", each.fields) for each in union.varieties]
    return frozenset(
        (owner, each.name) for owner, fields in rows for each in flat_fields(fields) if each.is_secret
    )


# ---- the comparison

_SUFFIX = re.compile(r"\.(?:u?int(?:8|16|24|32|64)|string|bytes|bool|none|guid|float|double)$")
"""What is put behind a filter name that several types share."""


def difference(shown: Sequence[Row], expected: Sequence[Row]) -> str:
    """Return where rows differ, or ""; a name may have the suffix of its type."""
    for i in range(max(len(shown), len(expected))):
        if i >= len(shown) or i >= len(expected):
            return f"{len(shown)} rows for {len(expected)}: {shown[i:i + 3]} for {expected[i:i + 3]}"
        one, two = shown[i], expected[i]
        if two.name not in (one.name, _SUFFIX.sub("", one.name)):
            return f"row {i}: {one} for {two}"
        if two.size not in (None, one.size):
            return f"row {i}: size of {one} for {two}"
        if None not in (one.data, two.data) and one.data != two.data:
            return f"row {i}: bytes of {one} for {two}"
        if not _is_same(str(one.value), two.value):
            return f"row {i}: value of {one} for {two}"
    return ""


def _is_same(shown: str, value: object) -> bool:
    if isinstance(value, bool):
        return shown in (("1", "True") if value else ("0", "False"))
    if isinstance(value, int):
        return shown == str(value)
    if isinstance(value, float):
        is_edge = math.isnan(value) or not 1e-40 < abs(value) < 1e308  # it shows few digits
        return is_edge or math.isclose(float(shown), value, rel_tol=1e-5)
    if isinstance(value, str):
        is_plain = value.isascii() and value.isprintable() and "\\" not in value and len(value) < 200
        return not is_plain or shown == value
    return True
