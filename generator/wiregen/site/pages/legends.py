"""Facts of a layout that its table does not show: byte order, the meaning of `lenient`, the presence of trailing fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from wiregen.language.spelling import type_text
from wiregen.runtime.reference.reading.records import measures
from wiregen.schema import model as m
from wiregen.schema.walk import inner_types, nested_expressions, nested_types
from wiregen.site.pages.layout_cells import LayoutCell
from wiregen.site.pages.remaining_bytes import fills, takes_all

__all__ = ["byte_order", "is_filled", "keeps_unknown", "legend_of", "region_of"]

_TAKEN: Final = {
    "bool": "any number but 0 is true; a strict reader takes 0 and 1 alone (`invalid_value`)",
    "varint": "a number in more bytes than it needs is taken; a strict reader refuses it (`not_canonical`)",
    "text": "bytes that are not of the encoding are taken, as lone surrogates; a strict reader refuses them (`invalid_text`)",
    "mutf8": "a raw 00 and forms longer than needed are taken; a strict reader refuses them (`not_canonical`)",
    "region": "bytes that are left over at its end are passed over; a strict reader refuses them (`trailing_bytes`)",
    "measured": "any value is taken; a strict reader refuses what is not the derived one (`length_mismatch`)",
    "derived": "any value is taken; a strict reader refuses what is not the derived one (`constraint`)",
    "only": "a value outside the list is accepted; a strict reader refuses it (`constraint`)",
}
"""The meaning of `lenient`, by the type that it is written at."""
_OTHER: Final = {"big": "little", "little": "big"}


def byte_order(endian: str, cells: Iterable[LayoutCell]) -> str:
    """Return the byte order of numbers, and the exceptions to it; "" where no number of several bytes has an order."""
    cells = tuple(cells)
    types = _types(_fields(cells).values())
    orders = {each for type_ in types if (each := _endian(type_)) is not None}
    # The length in front of a field is a number too, and so are the codes of other declarations.
    has_number = any(cell.field is None and (cell.bits or 0) > 8 for cell in cells)
    if not orders and not has_number and not any(isinstance(type_, m.Reference) for type_ in types):
        return ""
    if _OTHER[endian] not in orders:
        return f"{endian}-endian"
    return f"{endian}-endian; types {'with' if endian == 'big' else 'without'} le: {_OTHER[endian]}-endian"


def _endian(type_: m.Type) -> str | None:
    match type_:
        case m.Integer(bits=bits, endian=endian) if bits > 8:
            return endian
        case m.Float(endian=endian) | m.Text(encoding="utf16", endian=endian):
            return endian
        case _:
            return None


def legend_of(
    cells: tuple[LayoutCell, ...],
    protocol: m.Protocol,
    frame: m.Frame | None = None,
    message: str = "",
) -> tuple[str, ...]:
    """Return the facts in sentences; `frame`: the one around, if the cells are of a message."""
    region = None if frame is None else region_of(frame, message)
    fields = _fields(cells)
    fields |= {field.name: field for field in (frame.fields if frame is not None else ())}
    bits = ("Bit 0 is the highest of its byte.",) if any(cell.is_bit for cell in cells) else ()
    tails = tuple(_tails(cells, region))
    around = region[1] if region is not None else None
    # The sentence on trailing fields covers the region around. A region that its content fills needs no sentence.
    is_explained = bool(tails) or is_filled(protocol, message)
    explained = around if is_explained else None
    counts = tuple(_counts(cells))
    return (
        *bits,
        *_varints(fields.values()),
        *_texts(fields.values()),
        *_leniences(fields, explained, protocol),
        *counts,
        *tails,
    )


def _fields(cells: Iterable[LayoutCell]) -> dict[str, m.Field]:
    return {cell.label: cell.field for cell in cells if cell.field is not None}


def _types(fields: Iterable[m.Field]) -> tuple[m.Type, ...]:
    return tuple(nested_types(*(field.type for field in fields)))


def region_of(frame: m.Frame, message: str) -> tuple[str, m.Region] | None:
    """Return the region that contains a message, and the path of its field; None where the frame has no such region."""
    for field in frame.fields:
        region = _around(field.type, message, None)
        if region is not None:
            return f"{frame.name}.{field.name}", region
    return None


def keeps_unknown(fields: tuple[m.Field, ...], *, end_region: bool = False) -> bool:
    """Return whether a message whose code is unknown is kept as its bytes: they are all that is left of a region.

    `end_region`: the fields are the last ones of a region.
    """
    return any(_keeps_unknown(field.type, end_region and field is fields[-1]) for field in fields)


def _keeps_unknown(type_: m.Type, ends_region: bool) -> bool:
    if isinstance(type_, m.MessageMatch):
        return ends_region
    if isinstance(type_, m.List):
        return False
    if isinstance(type_, m.Block):
        return keeps_unknown(type_.fields, end_region=ends_region)
    here = ends_region or isinstance(type_, m.Region)
    return any(_keeps_unknown(each, here) for each in inner_types(type_))


def is_filled(protocol: m.Protocol, message: str) -> bool:
    """Return whether a message fills the region that contains it."""
    fields = next((each.fields for each in protocol.messages if each.name == message), ())
    return takes_all(fields, protocol)


def _around(type_: m.Type, message: str, region: m.Region | None) -> m.Region | None:
    """Return the innermost region around a message that is not in a list; `region`: the one around the type."""
    if isinstance(type_, m.MessageMatch) or type_ == m.MessageReference(name=message):
        return region
    if isinstance(type_, m.List):
        return None
    here = type_ if isinstance(type_, m.Region) else region
    found = (_around(each, message, here) for each in inner_types(type_))
    return next((each for each in found if each is not None), None)


# ---- numbers


def _varints(fields: Iterable[m.Field]) -> Iterator[str]:
    varints = [type_ for type_ in _types(fields) if isinstance(type_, m.Varint)]
    if varints:
        yield (
            "A `varint` has seven bits in each byte, the lowest seven first; the highest bit of a byte is 1 where another follows. "
            f"{_refused(varints)}"
        )
    if any(type_.is_zigzag for type_ in varints):
        yield "A `zigzag` is a varint of 2n where n is not negative, of −2n − 1 where it is."


def _texts(fields: Iterable[m.Field]) -> Iterator[str]:
    if any(isinstance(type_, m.Text) and type_.encoding == "mutf8" for type_ in _types(fields)):
        yield (
            "`mutf8` is Java's modified UTF-8: U+0000 is `c0 80`, and a character above U+FFFF is two surrogates of three bytes each. "
            "Its length counts bytes."
        )


def _counts(cells: Iterable[LayoutCell]) -> Iterator[str]:
    """Yield a sentence for each optional field that begins with a number without a line of its own."""
    for cell in cells:
        type_ = cell.field.type if cell.field is not None and cell.is_optional else None
        if isinstance(type_, m.Counted) and isinstance(type_.length, m.Prefix):
            word = "count" if isinstance(type_, m.List) else "length"
            yield f"`{cell.label}` begins with its {word}, in `{type_text(type_.length.type)}`, where it is there."


def _refused(varints: list[m.Varint]) -> str:
    """Return which varints are refused."""
    bits = " or ".join(str(each) for each in sorted({type_.bits for type_ in varints}))
    if all(type_.is_lenient for type_ in varints):
        return f"More than {bits} bits are refused (`invalid_value`)."
    return f"More than {bits} bits are refused (`invalid_value`), and so is one in more bytes than it needs (`not_canonical`)."


# ---- leniences


def _is_code(value: m.Expression) -> bool:
    """Return whether a field selects the message: another value is another message, and is never tolerated."""
    return isinstance(value, m.Call) and value.function == "code"


def _leniences(
    fields: Mapping[str, m.Field], explained: m.Region | None, protocol: m.Protocol
) -> Iterator[str]:
    """Yield the meaning of `lenient` at the fields that have it.

    `explained`: a region that another sentence covers.
    """
    names: dict[str, dict[str, None]] = {}
    for name, field in fields.items():
        if isinstance(field.value, m.Derived) and field.value.is_lenient and not _is_code(field.value.value):
            names.setdefault("measured" if measures(field.value.value) else "derived", {})[name] = None
        for type_ in nested_types(field.type):
            is_silent = type_ is explained or (isinstance(type_, m.Region) and fills(type_, protocol))
            what = "" if is_silent else _lenience(type_)
            if what:
                names.setdefault(what, {})[name] = None
    for what, some in names.items():
        yield f"`lenient` ({', '.join(f'`{name}`' for name in some)}): {_TAKEN[what]}."


def _lenience(type_: m.Type) -> str:
    """Return the kind of lenience of a type itself; "" where it is not lenient."""
    match type_:
        case m.Boolean(is_lenient=True):
            return "bool"
        case m.Varint(is_lenient=True):
            return "varint"
        case m.Text(is_lenient=True, encoding=encoding):
            return "mutf8" if encoding == "mutf8" else "text"
        case m.Region(lenient=True):
            return "region"
    return "only" if isinstance(type_, m.Restrictable) and type_.is_lenient else ""


# ---- optional trailing fields


def _tails(cells: tuple[LayoutCell, ...], region: tuple[str, m.Region] | None) -> Iterator[str]:
    """Yield when the optional trailing fields are present, and to which field the remaining bytes belong."""
    tails = [cell for cell in cells if cell.is_trailing]
    if not tails:
        return
    names = ", ".join(f"`{cell.label}`" for cell in tails)
    place = "the region around" if region is None else f"`{region[0]}`"
    sentences = [
        f"{names} may be missing at the end of {place}: there if the column “Must be” says so, else absent with the default"
    ]
    sentences[0] += ", and so are all optional fields after it." if len(tails) > 1 else "."
    fields = [cell.field for cell in tails if cell.field is not None]
    if any(_asks_for_the_rest(field) for field in fields):
        sentences.append("`remaining` is the number of bytes left there.")
    if any(field.condition is not None for field in fields) or any(cell.least != cell.high for cell in tails):
        sentences.append("A field that is present must be whole (`truncated`).")
    yield " ".join((*sentences, _left_over(region)))


def _asks_for_the_rest(field: m.Field) -> bool:
    parts = () if field.condition is None else tuple(nested_expressions(field.condition))
    return any(isinstance(part, m.Position) and part.what == "remaining" for part in parts)


def _left_over(region: tuple[str, m.Region] | None) -> str:
    which = "Bytes that are then left over, too few for the next field or after the last one,"
    if region is None:
        return f"{which} are passed over where the region is `lenient`, else refused, as by any strict reader (`trailing_bytes`)."
    if region[1].lenient:
        return f"{which} are the tail of `{region[0]}`: passed over, and refused by a strict reader alone (`trailing_bytes`)."
    return f"{which} are refused (`trailing_bytes`)."
