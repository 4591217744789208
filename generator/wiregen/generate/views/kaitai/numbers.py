"""Types of numbers that Kaitai Struct does not have: their value is the instance `value`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wiregen.generate.views.kaitai.parts import (
    KaitaiAttribute,
    KaitaiEntry,
    KaitaiInstance,
    KaitaiType,
    quoted,
)
from wiregen.runtime.schema import declarations as d
from wiregen.schema import model as m

__all__ = ["coding_type", "primitive", "signed_type", "varint_types"]

_GROUPS: Final = 10
"""The most bytes of a variable-width integer of 64 bits."""


def primitive(type_: m.Integer) -> str:
    """Return the type of an integer of 1, 2, 4 or 8 bytes, or of an unsigned one."""
    order = "be" if type_.endian == "big" else "le"
    if type_.size not in (1, 2, 4, 8):
        return f"b{8 * type_.size}{order}"
    return f"{'s' if type_.is_signed else 'u'}{type_.size}{'' if type_.size == 1 else order}"


def signed_type(type_: m.Integer) -> KaitaiType:
    """Return the type of a signed integer of a size that Kaitai does not have."""
    bits = 8 * type_.size
    raw = primitive(type_)
    return KaitaiType(
        name=f"signed_{raw}",
        comment=f"A signed integer of {type_.size} bytes.",
        seq=(KaitaiAttribute(id="raw", entries=(KaitaiEntry(key="type", value=raw),)),),
        instances=(
            KaitaiInstance(id="value", value=quoted(f"raw < {2 ** (bits - 1)} ? raw : raw - {2**bits}")),
        ),
    )


def varint_types(type_: m.Varint) -> Iterator[KaitaiType]:
    """Yield the type of a variable-width integer, and those that it needs."""
    group = KaitaiType(
        name="varint_group",
        comment="Seven bits of a variable-width integer, and whether more follow.",
        seq=(KaitaiAttribute(id="byte", entries=(KaitaiEntry(key="type", value="u1"),)),),
        instances=(
            KaitaiInstance(id="has_next", value=quoted("(byte & 128) != 0")),
            KaitaiInstance(id="bits", value=quoted("(byte & 127).as<u8>")),
        ),
    )
    terms = [f"(groups.size > {i} ? groups[{i}].bits << {7 * i} : 0)" for i in range(1, _GROUPS)]
    unsigned = KaitaiType(
        name="varint",
        comment="An integer of seven bits a byte, lowest bits first (LEB128).",
        seq=(
            KaitaiAttribute(
                id="groups",
                entries=(
                    KaitaiEntry(key="type", value="varint_group"),
                    KaitaiEntry(key="repeat", value="until"),
                    KaitaiEntry(
                        key="repeat-until", value=quoted(f"not _.has_next or _index == {_GROUPS - 1}")
                    ),
                ),
            ),
        ),
        instances=(KaitaiInstance(id="value", value=quoted(" + ".join(["groups[0].bits", *terms]))),),
    )
    if type_.is_zigzag:
        yield KaitaiType(
            name="zigzag",
            comment="A signed integer: 0, -1, 1, -2 and so on as 0, 1, 2, 3.",
            seq=(KaitaiAttribute(id="raw", entries=(KaitaiEntry(key="type", value="varint"),)),),
            instances=(
                KaitaiInstance(
                    id="value",
                    value=quoted("raw.value % 2 == 0 ? raw.value >> 1 : -(raw.value >> 1) - 1"),
                ),
            ),
        )
    yield unsigned
    yield group


def coding_type(name: str, comment: str, coding: d.Coding) -> KaitaiType:
    """Return the type of a variable-width integer of the file's own; its value is 0 where it is null."""
    known = " or ".join(f"(code >= {width.low} and code <= {width.high})" for width in coding.widths)
    code = (
        KaitaiEntry(key="type", value=primitive(coding.type)),
        KaitaiEntry(key="valid", value=f"{{expr: {quoted(known)}}}"),
    )
    seq = [KaitaiAttribute(id="code", entries=code)]
    value, null = "code", "false"
    for i, width in enumerate(coding.widths):
        test = f"(code >= {width.low} and code <= {width.high})"
        if width.is_null:
            null = f"{null} or {test}"
            value = f"{test} ? 0 : {value}"
        if width.wide is not None:
            entries = (
                KaitaiEntry(key="type", value=primitive(width.wide)),
                KaitaiEntry(key="if", value=quoted(test)),
            )
            seq.append(KaitaiAttribute(id=f"wide_{i + 1}", entries=entries))
            value = f"{test} ? wide_{i + 1} : {value}"
    return KaitaiType(
        name=name,
        comment=comment,
        seq=tuple(seq),
        instances=(
            KaitaiInstance(id="is_null", value=quoted(null)),
            KaitaiInstance(id="value", value=quoted(value)),
        ),
    )
