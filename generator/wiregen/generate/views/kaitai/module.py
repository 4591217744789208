"""The view of a `.ksy` file: the frames that one role of a protocol sends."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.generate.views.kaitai.file import KaitaiFile
from wiregen.generate.views.kaitai.parts import (
    Identifiers,
    KaitaiAttribute,
    KaitaiEntry,
    KaitaiEnum,
    KaitaiType,
)
from wiregen.generate.views.kaitai.shapes import KaitaiCut
from wiregen.generate.views.kaitai.types import KaitaiTypes
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.schema.protocol import Schema
from wiregen.schema import model as m
from wiregen.schema.lowering import lower

__all__ = ["KaitaiView", "kaitai_views"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KaitaiView:
    """A file: the preamble and the frames of `role`. `left_out`: the constructs that it leaves out, a line of text each."""

    id: str
    protocol: str
    role: str
    source: str
    left_out: tuple[str, ...]
    cuts: tuple[KaitaiCut, ...]
    seq: tuple[KaitaiAttribute, ...]
    types: tuple[KaitaiType, ...]
    enums: tuple[KaitaiEnum, ...]


def kaitai_views(protocol: m.Protocol, source: str) -> tuple[KaitaiView, ...]:
    """Return the views of a checked protocol, one for each role that sends frames."""
    schema, identifiers = lower(protocol), Identifiers()
    return tuple(
        _view(schema, role, identifiers.new(f"{schema.name}_{role}"), source)
        for role in schema.roles
        if role in schema.sends
    )


def _view(schema: Schema, role: str, id_: str, source: str) -> KaitaiView:
    layout = Layout(schema, Options(from_role=role))
    cut: frozenset[str] = frozenset()
    while True:  # a declaration that is cut cuts those that hold it
        types = KaitaiTypes(layout, role, id_, cut)
        seq = _stream(types, schema, role)
        if types.file.cut == cut:
            break
        cut = frozenset(types.file.cut)
    file = types.file
    return KaitaiView(
        id=id_,
        protocol=schema.name,
        role=role,
        source=source,
        left_out=_left_out(file),
        cuts=tuple(dict.fromkeys(file.cuts)),
        seq=seq,
        types=tuple(file.types.values()),
        enums=tuple(file.enums.values()),
    )


def _stream(types: KaitaiTypes, schema: Schema, role: str) -> tuple[KaitaiAttribute, ...]:
    seq = []
    if role in schema.opens:
        preamble = types.record(schema.opens[role], schema.preambles[schema.opens[role]].fields)
        seq.append(KaitaiAttribute(id="preamble", entries=preamble.entries))
    name = schema.sends[role]
    frames = types.record(name, schema.frames[name].fields, name)
    repeat = KaitaiEntry(key="repeat", value="eos")
    return (*seq, KaitaiAttribute(id="frames", entries=(*frames.entries, repeat)))


def _left_out(file: KaitaiFile) -> tuple[str, ...]:
    lines = [
        "values that a writer computes (lengths, counts, checksums) are read, but not compared",
        "bytes left over at the end of a region are not noticed",
        "limits are not tested, and neither is whether a variable-width integer is longer than needed",
        "text in other bytes than those of its encoding is read as the target language does it",
    ]
    if file.schema.sessions:
        lines.append("sessions: an order of messages that the protocol forbids is not seen")
    for name, join in file.schema.joins.items():
        lines.append(
            f"the fragments of `{name}` are shown, but not what they make together"
            + ("; the last one is read as if it were whole" if join.block is not None else "")
        )
    lines += [f"the variant `{name}` has another layout" for name in file.schema.variants]
    lines += dict.fromkeys(file.left_out)
    cuts = dict.fromkeys(file.cuts)
    lines += [
        f"`{each.owner}.{each.field}` needs {each.construct}: bytes up to the end are shown" for each in cuts
    ]
    return (*(f"{line};" for line in lines[:-1]), f"{lines[-1]}.")
