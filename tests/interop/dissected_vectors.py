"""Vectors as connections in a capture: what a dissector of ours shows of them, against what the reference codec reads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from tests.interop.dissected import FIRST_PORT, Rows, Shown, Turn, capture, difference, dissect

from wiregen.conformance.vectors.format import AnyVector, Trace, Unwritable, octets, size_of
from wiregen.formats.capture import FlowBytes, Gap, read_streams
from wiregen.generate.backends import Subject
from wiregen.generate.backends.wireshark import WiresharkBackend
from wiregen.generate.emitter import render
from wiregen.generate.views.wireshark.module import filter_name
from wiregen.language.diagnostics import Report
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wiregen.schema.lowering import lower

__all__ = [
    "Case",
    "Compared",
    "cases_of",
    "compare",
    "compare_capture",
    "compare_recut",
    "long_turns_of",
    "read_side",
    "turns_of",
    "write_dissector",
]

BEYOND = {
    "a number that Lua cannot calculate with": "frames laid out by numbers beyond 2**53",
    "deflate is not undone here": "frames with deflate",
}
"""The beginning of a complaint about what a dissector cannot read, and the name of it."""
_AT_ONCE = 300
"""The most connections in one capture: the text of a larger one needs much memory."""
UNKNOWN = "the code of no message of this sender"
"""The beginning of the complaint about a message that readers skip."""


@dataclass(slots=True)
class Compared:
    """What was compared, in numbers; `wrong`: each difference; `waiting`: refused bytes that the dissector takes for cut."""

    counts: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        compared = ", ".join(f"{count:,} {name}" for name, count in sorted(self.counts.items()))
        left_out = ", ".join(f"{count:,} {name}" for name, count in sorted(self.left_out.items()))
        return f"{compared or 'nothing'}; not compared: {left_out or 'nothing'}"


def write_dissector(subject: Subject, folder: Path) -> Path:
    """Write the dissector of a protocol; return its path."""
    (page,) = WiresharkBackend().pages(subject, Report())
    path = folder / page.path.name
    path.write_text(render(page.template, page.view), encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    variant: str | None
    turns: tuple[tuple[str, bytes], ...]
    """Senders and bytes in the order of the connection."""
    segment: int = 1400
    """The largest number of bytes in a segment."""


def compare(
    tshark: str,
    subject: Subject,
    vectors: Sequence[AnyVector],
    folder: Path,
    *,
    segment: int,
    most: int,
    more: Sequence[str] = (),
) -> Compared:
    """Return what tshark shows of vectors of at most `most` bytes, in segments of `segment` bytes, against the reference codec."""
    compared, plan = Compared(), lower(subject.protocol)
    for variant in (None, *plan.variants):
        cases = [
            replace(case, segment=segment)
            for case in cases_of(
                plan, vectors, variant, most, compared.left_out if variant is None else Counter()
            )
        ]
        if cases:
            _compare_cases(tshark, subject, cases, folder, compared, more)
    return compared


def _compare_cases(
    tshark: str,
    subject: Subject,
    cases: Sequence[Case],
    folder: Path,
    compared: Compared,
    more: Sequence[str] = (),
) -> None:
    """Compare connections of one variant."""
    plan, variant = lower(subject.protocol), cases[0].variant
    ports = subject.protocol.ports
    port = ports[0].number if ports else 7777
    script, name = write_dissector(subject, folder), filter_name(plan.name)
    path = folder / f"{plan.name}.pcap"
    path.write_bytes(capture([list(_segments(plan, case)) for case in cases], port))
    told = ([] if ports else _decode_as(port, name)) + (
        [] if variant is None else ["-o", f"{name}.variant:{variant}"]
    )
    shown = dissect(tshark, script, path, name, port, (*told, *more))
    for i, case in enumerate(cases):
        for side, role in enumerate(plan.roles):
            _compare(plan, case, role, shown.get((FIRST_PORT + i, side == 0), Shown()), compared)


def compare_recut(
    tshark: str, subject: Subject, path: Path, port: int, folder: Path, sizes: Iterable[int]
) -> Compared:
    """Compare tshark and the reference codec on the connections of a capture, each in segments of every size of `sizes`."""
    compared, turns = Compared(), long_turns_of(lower(subject.protocol), path, port)
    cases = [
        Case(f"{path.name}, port {client}, in segments of {size}", None, sent, size)
        for size in sizes
        for client, sent in turns.items()
    ]
    for start in range(0, len(cases), _AT_ONCE):
        _compare_cases(tshark, subject, cases[start : start + _AT_ONCE], folder, compared)
    return compared


def long_turns_of(plan: Schema, path: Path, port: int) -> dict[int, tuple[tuple[str, bytes], ...]]:
    """Return the same as `turns_of`, with all that one side sends before the other one answers as one turn."""
    return {
        client: tuple(
            (sender, b"".join(data for _, data in run))
            for sender, run in groupby(sent, key=lambda turn: turn[0])
        )
        for client, sent in turns_of(plan, path, port).items()
    }


def compare_capture(tshark: str, subject: Subject, path: Path, port: int, folder: Path) -> Compared:
    """Return what tshark shows of the connections to a port in a capture, against the reference codec."""
    compared, plan = Compared(), lower(subject.protocol)
    name = filter_name(plan.name)
    turns = turns_of(plan, path, port)
    more = _decode_as(port, name)
    shown = dissect(tshark, write_dissector(subject, folder), path, name, port, more)
    for client, sent in turns.items():
        for side, role in enumerate(plan.roles):
            case = Case(f"{path.name}, port {client}", None, tuple(sent))
            _compare(plan, case, role, shown.get((client, side == 0), Shown()), compared)
    return compared


def _segments(plan: Schema, case: Case) -> Iterator[Turn]:
    for role, data in case.turns:
        for start in range(0, len(data), case.segment):
            yield Turn(role == plan.roles[0], data[start : start + case.segment])


def turns_of(plan: Schema, path: Path, port: int) -> dict[int, list[tuple[str, bytes]]]:
    """Return the bytes of the connections to a port in a capture with their senders, by the port of the client."""
    turns: dict[int, list[tuple[str, bytes]]] = defaultdict(list)
    with path.open("rb") as file:
        for event in read_streams(file):
            assert not isinstance(event, Gap)
            if isinstance(event, FlowBytes) and event.flow.other.port == port:
                turns[event.flow.opener.port].append((plan.roles[not event.from_opener], event.data))
    return turns


def _decode_as(port: int, name: str) -> list[str]:
    return ["-d", f"tcp.port=={port},{name}"]


def cases_of(
    plan: Schema, vectors: Sequence[AnyVector], variant: str | None, most: int, left_out: Counter[str]
) -> Iterator[Case]:
    for vector in vectors:
        if isinstance(vector, Unwritable):
            left_out["values that cannot be written"] += 1
        elif not isinstance(vector, Trace) and vector.strict:
            left_out["of strict readers"] += 1
        elif not isinstance(vector, Trace) and vector.limits:
            left_out["within other limits"] += 1
        elif size_of(vector) > most:
            left_out[f"above {most:,} bytes"] += 1
        elif vector.variant == variant:
            sent = vector.steps if isinstance(vector, Trace) else (*vector.before, vector)
            turns = [(each.from_role or plan.roles[0], octets(each.bytes)) for each in sent if each.bytes]
            yield Case(vector.id, variant, tuple(turns))


def _compare(plan: Schema, case: Case, role: str, shown: Shown, compared: Compared) -> None:
    """Compare one side of a connection, up to the first frame that is refused."""
    rows = Rows(plan, b"".join(data for sender, data in case.turns if sender == role))
    frames, error = read_side(plan, case, role)
    where = f"{plan.name} {case.name}, from {role}"
    for i, node in enumerate(frames):
        if i >= len(shown.frames):
            compared.wrong.append(f"{where}: {i} of {len(frames)} frames")
            return
        complaints = [text for text in shown.complaints[i] if not text.startswith(UNKNOWN)]
        beyond = [
            name for begin, name in BEYOND.items() if any(text.startswith(begin) for text in complaints)
        ]
        if beyond:
            compared.left_out[beyond[0]] += 1
            return
        found = difference(shown.frames[i], rows.of(node)) or ", ".join(complaints)
        if found:
            compared.wrong.append(f"{where}, frame {i}: {found} {complaints}")
            return
        compared.counts["frames"] += 1
        compared.counts["fields"] += len(shown.frames[i])
    if error is None:
        return
    if len(shown.frames) == len(frames):
        compared.left_out["refused frames that wait for more bytes"] += 1
    elif any(shown.complaints[len(frames) :]):
        compared.counts["refused frames"] += 1
    else:
        compared.wrong.append(f"{where}: no complaint, but {error.code} {error}")


def read_side(plan: Schema, case: Case, role: str) -> tuple[list[Node], DecodeError | None]:
    """Return the frames of a role, and the error behind them."""
    context, variant = Context(plan), case.variant
    decoders = {
        each: reference_decoder(
            plan, Options(from_role=each, context=context, variant=variant), "yield", context=context
        )
        for each in plan.roles
    }
    found: list[Node] = []
    errors: dict[str, DecodeError] = {}
    for sender, data in case.turns:
        for node in () if sender in errors else decoders[sender].feed(data):
            if isinstance(node, DecodeError):
                errors[sender] = node
                break
            found += [node] if sender == role else []
    return found, errors.get(role)
