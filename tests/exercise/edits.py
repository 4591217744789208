"""Edits of a copy of the tree that add scalars, a function and a carrier which the language does not have, as someone would by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["ABS", "BFLOAT", "CARRIER", "U256", "Edit"]

_PACKAGE: Final = "generator/wiregen"


@dataclass(frozen=True, slots=True)
class Edit:
    """Changes of one file: texts that occur in it once, and their replacements. `target`: of one target alone."""

    path: str
    changes: tuple[tuple[str, str], ...]
    target: str = ""

    def apply(self, root: Path) -> None:
        """Change the file below a folder."""
        file = root / self.path
        text = file.read_text(encoding="utf-8")
        for before, after in self.changes:
            assert text.count(before) == 1, (self.path, before)
            text = text.replace(before, after)
        file.write_text(text, encoding="utf-8")


BFLOAT: Final = (
    Edit(
        f"{_PACKAGE}/runtime/schema/literals.py",
        (('FloatName: TypeAlias = Literal["f32", ', 'FloatName: TypeAlias = Literal["bf16", "f32", '),),
    ),
    Edit(
        f"{_PACKAGE}/runtime/schema/scalars.py",
        (
            (
                "FLOATS: Final",
                '''def _pack_bfloat(value: float) -> bytes:
    """Return the upper half of a binary32, rounded half to even."""
    data = Struct(">f").pack(value)
    if value - value != 0:  # infinite, or not a number
        return data[:2]
    rounded = (int.from_bytes(data, "big") + 0x7FFF + (data[1] & 1)) >> 16
    if rounded & 0x7F80 == 0x7F80:
        raise OverflowError("too large for bfloat16")
    return rounded.to_bytes(2, "big")


def _unpack_bfloat(data: bytes) -> float:
    return float(Struct(">f").unpack(data + b"\\0\\0")[0])


FLOATS: Final''',
            ),
            (
                '    "f32": _of_struct',
                """    "bf16": FloatFormat("", 4, b"\\x7f\\x7f", _pack_bfloat, _unpack_bfloat),
    "f32": _of_struct""",
            ),
        ),
    ),
)
"""`bf16`: the upper half of an IEEE 754 binary32. Its numbers are floats wherever they are shown."""

U256: Final = (
    Edit(
        f"{_PACKAGE}/runtime/schema/scalars.py",
        (
            (
                "INTEGER_SIZES: Final = (1, 2, 3, 4, 5, 6, 7, 8)",
                "INTEGER_SIZES: Final = (1, 2, 3, 4, 5, 6, 7, 8, 32)",
            ),
        ),
    ),
    Edit(
        f"{_PACKAGE}/schema/value_shapes/shapes.py",
        (
            ('"String", "Uuid",', '"String", "Uuid", "Vast",'),
            (
                "@dataclass(frozen=True, slots=True, kw_only=True)\nclass Octets:",
                '''@dataclass(frozen=True, slots=True, kw_only=True)
class Vast:
    """An integer beyond 64 bits: its bytes, most significant first."""

    size: int
    is_signed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Octets:''',
            ),
            ("Form: TypeAlias = Plain | ", "Form: TypeAlias = Plain | Vast | "),
        ),
    ),
    Edit(
        f"{_PACKAGE}/schema/value_shapes/derivation.py",
        (
            (
                "            case m.Integer(bits=bits, is_signed=signed):\n",
                """            case m.Integer(size=size, is_signed=signed) if size > 8:
                return Vast(size=size, is_signed=signed)
            case m.Integer(bits=bits, is_signed=signed):
""",
            ),
            ("    Uuid,\n", "    Uuid,\n    Vast,\n"),
        ),
    ),
    Edit(
        f"{_PACKAGE}/generate/views/serial/names.py",
        (
            ("value_shapes.shapes import ", "value_shapes.shapes import Vast, "),
            (
                "def sent(form: Form,",
                '''def vast_sent(form: Vast, value: str) -> str:
    """Return the expression of the bytes of an integer."""
    return f'{value}.to_bytes({form.size}, "big", signed={form.is_signed})'


def vast_received(form: Vast, value: str) -> str:
    """Return the expression of the integer that bytes are."""
    return f'int.from_bytes({value}, "big", signed={form.is_signed})'


def sent(form: Form,''',
            ),
            (
                '            return f"{value}.bytes"\n',
                """            return f"{value}.bytes"
        case Vast():
            return vast_sent(form, value)
""",
            ),
            (
                '.take"\n        case _ if isinstance(form, Plain | Compound):',
                '.take"\n        case _ if isinstance(form, Plain | Vast | Compound):',
            ),
            (
                "            return _is_number(form, value)\n",
                """            return _is_number(form, value)
        case Vast():
            return f"type({value}) is int"
""",
            ),
        ),
    ),
    Edit(
        f"{_PACKAGE}/generate/views/protobuf/parts.py",
        (
            ("import SerialNames, sent, taker", "import SerialNames, sent, taker, vast_received"),
            ("value_shapes.shapes import ", "value_shapes.shapes import Vast, "),
            (
                "case Octets() | String() | Uuid() | Raw():",
                "case Octets() | String() | Uuid() | Raw() | Vast():",
            ),
            (
                '            return f"{names.members(enum)}[{value}]"\n',
                """            return f"{names.members(enum)}[{value}]"
        case Vast():
            return vast_received(form, value)
""",
            ),
        ),
        target="protobuf",
    ),
    Edit(
        f"{_PACKAGE}/generate/views/msgpack/parts.py",
        (
            ("import SerialNames, sent, taker", "import SerialNames, sent, taker, vast_received, vast_sent"),
            ("value_shapes.shapes import ", "value_shapes.shapes import Vast, "),
            ("Octets | Uuid | Raw)", "Octets | Uuid | Raw | Vast)"),
            (
                "            return sent(form, value, names)\n",
                """            return sent(form, value, names)
        case Vast():
            return vast_sent(form, value)
""",
            ),
            (
                '        case Octets() | String():\n            return ("bytes",)',
                '        case Octets() | String() | Vast():\n            return ("bytes",)',
            ),
            (
                "        case _ if isinstance(form, Plain | Uuid | Raw | Compound):\n            return value\n",
                """        case Vast():
            return vast_received(form, value)
        case _ if isinstance(form, Plain | Uuid | Raw | Compound):
            return value
""",
            ),
        ),
        target="msgpack",
    ),
)
"""`u256` and `i256`: integers of 32 bytes."""

ABS: Final = (
    Edit(
        f"{_PACKAGE}/runtime/schema/literals.py",
        (('"remove", "index", "rank"\n', '"remove", "index", "rank", "abs"\n'),),
    ),
    Edit(
        f"{_PACKAGE}/runtime/reference/functions.py",
        (('    "count": len,\n', '    "abs": abs,\n    "count": len,\n'),),
    ),
    Edit(
        f"{_PACKAGE}/language/resolver/functions.py",
        (
            ('    "min": (2,', '    "abs": (1, "`abs(n)`"),\n    "min": (2,'),
            ('        case "min" | "max":\n', '        case "abs" | "min" | "max":\n'),
        ),
    ),
)
"""`abs(n)`: the absolute value of an integer."""

CARRIER: Final = (
    Edit(
        f"{_PACKAGE}/runtime/schema/literals.py",
        (
            ('Literal["zlib", "gzip", "deflate"]', 'Literal["zlib", "gzip", "deflate", "cobs"]'),
            ('"inflate_failed", ', '"inflate_failed", "unstuff_failed", '),
        ),
    ),
    Edit(
        f"{_PACKAGE}/runtime/codec/transforms.py",
        (
            (
                "TRANSFORMS: Final",
                '''def _stuff(data: bytes, _: int) -> bytes:
    """Return blocks without zero bytes: each begins with its size, and a zero follows it unless that is 255."""
    stuffed = bytearray()
    for run in data.split(b"\\0"):
        *full, last = (run[start : start + 254] for start in range(0, len(run) + 1, 254))
        stuffed += b"".join(b"\\xff" + block for block in full) + bytes((len(last) + 1,)) + last
    return bytes(stuffed[:-1] if run and not last else stuffed)  # a full block ends the last run


def _unstuff(data: bytes, _: int) -> bytes:
    content, at, size = bytearray(), 0, 0
    while at < len(data) or not at:
        before, size = size, data[at] if data else 0
        if size == 0 or (size == 1 and before == 255 and at == len(data) - 1):
            raise MalformedError("the size of a block", "none", at=at)
        block = data[at + 1 : at + size]
        if len(block) < size - 1 or b"\\0" in block:
            raise MalformedError("a block without zeros", "a part of one", at=at)
        content += block
        at += size
        if size < 255 and at < len(data):
            content.append(0)
    return bytes(content)


TRANSFORMS: Final''',
            ),
            (
                '    "deflate": _of_zlib("deflate", -15, 2),\n',
                """    "deflate": _of_zlib("deflate", -15, 2),
    "cobs": Transform(
        _unstuff,
        _stuff,
        is_compression=False,
        error="unstuff_failed",
        least=1,
        body="stuffing",
        done="unstuffed",
        reader="unstuff",
        writer="stuff",
    ),
""",
            ),
        ),
    ),
    Edit(
        f"{_PACKAGE}/runtime/codec/compression.py",
        (
            ('__all__ = ["deflate", "inflate"]', '__all__ = ["deflate", "inflate", "stuff", "unstuff"]'),
            (
                "def inflate(",
                '''def unstuff(data: bytes) -> bytes:
    """Return the content of stuffed bytes. Bad: they are not."""
    try:
        return TRANSFORMS["cobs"].decode(data, len(data))
    except MalformedError:
        raise Bad from None


def stuff(data: bytes) -> bytes:
    """Return content as stuffed bytes."""
    return TRANSFORMS["cobs"].encode(data, 0)


def inflate(''',
            ),
        ),
    ),
)
"""`in cobs[u16]`: consistent overhead byte stuffing (Cheshire and Baker, 1999): the bytes have no zeros."""
