"""Types of numbers that Kaitai Struct does not have: their value is the instance `value`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wiregen.generate.views.kaitai.parts import (
    KaitaiAttribute,
    KaitaiEntry,
    KaitaiInstance,
    KaitaiType,
    order_of,
    quoted,
    type_entry,
    valid,
    within,
)
from wiregen.runtime.schema import declarations as d
from wiregen.schema import model as m

__all__ = ["HELPERS", "coding_type", "is_built_in", "primitive", "signed_type", "varint_types"]

_SIZES: Final = (1, 2, 4, 8)
"""The sizes of integers that Kaitai has in both forms, with a sign and without."""
HELPERS: Final = (
    "varint",
    "varint_group",
    "zigzag",
    *(f"signed_b{bits}{end}" for bits in range(24, 264, 8) for end in ("be", "le")),
)
"""The names of the types of this module, which no declaration has."""
_GROUPS: Final = 10
"""The most bytes of a variable-width integer of 64 bits."""


def is_built_in(type_: m.Integer) -> bool:
    """Return whether Kaitai has a type for an integer, as bits if not by its size."""
    return not type_.is_signed or type_.size in _SIZES


def primitive(type_: m.Integer) -> str:
    """Return the type of an integer of 1, 2, 4 or 8 bytes, or of an unsigned one."""
    order = order_of(type_.endian)
    if type_.size not in _SIZES:
        return f"b{8 * type_.size}{order}"
    return f"{'s' if type_.is_signed else 'u'}{type_.size}{'' if type_.size == 1 else order}"


def signed_type(type_: m.Integer) -> KaitaiType:
    """Return the type of a signed integer of a size that Kaitai does not have."""
    bits = 8 * type_.size
    raw = primitive(type_)
    return KaitaiType(
        name=f"signed_{raw}",
        comment=f"A signed integer of {type_.size} bytes.",
        seq=(KaitaiAttribute(id="raw", entries=(type_entry(raw),)),),
        instances=(
            KaitaiInstance(id="value", value=quoted(f"raw < {2 ** (bits - 1)} ? raw : raw - {2**bits}")),
        ),
    )


def varint_types(type_: m.Varint) -> Iterator[KaitaiType]:
    """Yield the type of a variable-width integer, and those that it needs."""
    group = KaitaiType(
        name="varint_group",
        comment="Seven bits of a variable-width integer, and whether more follow.",
        seq=(KaitaiAttribute(id="byte", entries=(type_entry("u1"),)),),
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
                    type_entry("varint_group"),
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
            seq=(KaitaiAttribute(id="raw", entries=(type_entry("varint"),)),),
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
    known = " or ".join(within("code", width.low, width.high) for width in coding.widths)
    code = (
        type_entry(primitive(coding.type)),
        valid((known,)),
    )
    seq = [KaitaiAttribute(id="code", entries=code)]
    value, null = "code", "false"
    for i, width in enumerate(coding.widths):
        test = within("code", width.low, width.high)
        if width.is_null:
            null = f"{null} or {test}"
            value = f"{test} ? 0 : {value}"
        if width.wide is not None:
            entries = (
                type_entry(primitive(width.wide)),
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
