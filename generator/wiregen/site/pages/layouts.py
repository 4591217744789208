"""Layouts as views: a picture, notations and a table of the same cells."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.generate.escaping import harmless
from wiregen.language.spelling import expression_text
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.field_facts import condition_text
from wiregen.schema.offsets import Offset, offsets_of
from wiregen.schema.walk import shapes
from wiregen.site.diagrams.layout_drawings import ascii_of, diagram_of
from wiregen.site.pages.chapter import Book, notes_of
from wiregen.site.pages.decode_errors import conditions_of
from wiregen.site.pages.layout_cells import LayoutCell
from wiregen.site.pages.legends import byte_order, legend_of
from wiregen.site.pages.notation import notation_of
from wiregen.site.pages.numbers import number_text
from wiregen.site.pages.page_paths import Linked, anchor
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.views import LayoutView, RowView

__all__ = ["constraint_text", "default_text", "layout_of", "rows_of", "size_text"]


def layout_of(
    book: Book, name: str, cells: tuple[LayoutCell, ...], *, frame: m.Frame | None = None
) -> LayoutView:
    """Return the layout of a declaration.

    `frame`: the frame around it, if its own fields are among the cells.
    """
    every = (*cells, *(inner for cell in cells for inner in _inside(book, cell)))
    return LayoutView(
        uid=name,
        diagram=diagram_of(f"Layout of {name}", cells),
        notation=notation_of(name, cells),
        ascii=ascii_of(cells),
        rows=tuple(rows_of(book, cells, frame)),
        size=size_text(book, cells),
        byte_order=byte_order(book.protocol.endian, every),
        legend=tuple(Prose(text=each) for each in legend_of(every, book.protocol, frame, name)),
    )


def rows_of(book: Book, cells: tuple[LayoutCell, ...], frame: m.Frame | None = None) -> Iterator[RowView]:
    """Yield the rows of a table, each followed by those of its items.

    A letter is the size of one field alone.
    """
    named = sum(not cell.is_fixed for cell in cells)
    offsets = offsets_of(cell.bits for cell in cells)
    for cell, offset in zip(cells, offsets, strict=True):
        row = _row(book, cell, offset, is_header=frame is not None and cell.owner == frame.name)
        yield row
        inner = _inside(book, cell)
        yield from _items(book, row, inner, named)
        named += sum(not each.is_fixed for each in inner)


def _row(book: Book, cell: LayoutCell, offset: Offset, *, is_header: bool) -> RowView:
    field = cell.field
    constraint = constraint_text(field, cell.constant, _needed(cell))
    about = book.protocol.about[field.path] if field is not None else m.About()
    return RowView(
        key=cell.key,
        anchor=anchor(cell.key),
        offset=_offset_text(cell, offset),
        size=_own_size(cell, offset.size),
        name=cell.label,
        owner=cell.owner,
        type=book.places.linked(harmless(cell.type)),
        constraint=harmless(constraint),
        default=harmless(default_text(field)),
        doc=Prose(text=about.doc),
        notes=notes_of(about.notes, is_part=True),
        is_header=is_header,
        rules=_rules_of(book, field),
    )


def _rules_of(book: Book, field: m.Field | None) -> tuple[Linked, ...]:
    """Return the rules that a field and its conditions name."""
    if field is None:
        return ()
    names = dict.fromkeys((*(each.rule or field.rule for each in conditions_of(field)), field.rule))
    return tuple(link for link in map(book.rule_link, names) if link is not None)


def _inside(book: Book, cell: LayoutCell) -> tuple[LayoutCell, ...]:
    """Return the cells of an item of a list, where that is a struct."""
    struct = book.cells.struct(cell.link, 0) if cell.is_list else None
    return () if struct is None else book.cells.of(struct.name, struct.fields)


def _items(book: Book, row: RowView, cells: tuple[LayoutCell, ...], named: int) -> Iterator[RowView]:
    """Yield the rows of a list's items where they are structs; offsets count from the start of an item.

    `named`: how many sizes have a letter already.
    """
    offsets = offsets_of((cell.bits for cell in cells), first=named)
    for inner, offset in zip(cells, offsets, strict=True):
        each = _row(book, inner, offset, is_header=False)
        yield replace(
            each,
            key=f"{row.key}[].{each.key.partition('.')[2]}",
            anchor=f"{row.anchor}.{each.anchor}",
            offset=f"item + {each.offset}",
            name=f"{row.name}[].{each.name}",
            is_header=True,
            owner=inner.owner,
        )


def _offset_text(cell: LayoutCell, offset: Offset) -> str:
    """Return the offset of a cell; of bits, also their place in the byte, where 0 is the highest bit."""
    if not cell.is_bit:
        return offset.text
    first = offset.bits % 8
    last = first + (cell.bits or 1) - 1
    bits = f"bit {first}" if first == last else f"bits {first}–{last}"
    return f"{offset.text}, {bits}"


def _own_size(cell: LayoutCell, size: str) -> str:
    if cell.bits is None:
        return _range(size, cell)
    if cell.bits % 8:
        return _counted(cell.bits, "bit")
    return _counted(cell.bits // 8, "byte")


def _range(size: str, cell: LayoutCell) -> str:
    """Return the name of a size and its bounds."""
    low, high = cell.least if cell.is_optional else cell.low, cell.high
    if high is not None and high == low:
        return f"{size}: 0 or {number_text(high)}" if cell.is_optional else f"{size} = {high}"
    most = "" if high is None or high >= 2**24 else f" to {number_text(high)}"
    least = number_text(low) if low or most else ""
    if cell.is_optional and low:
        return f"{size}: 0 or {least}{most}" if most else f"{size}: 0 or ≥ {least}"
    return f"{size}: {least}{most}" if most else f"{size} ≥ {least}" if least else size


def _needed(cell: LayoutCell) -> str:
    """Return how many bytes must remain for an optional trailing field."""
    return _counted(cell.high, "byte") if cell.high is not None and cell.least == cell.high else "1 byte"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def constraint_text(field: m.Field | None, constant: str = "", needed: str = "its size") -> str:
    """Return the constraints of a field, in the words of the language.

    `constant`: the value of a derived field, where it is known; `needed`: how many bytes an optional trailing
    field needs.
    """
    if field is None:
        return ""
    parts: list[str] = []
    match field.value:
        case m.Constant(value=value):
            parts.append(f"== {expression_text(value)}")
        case m.Derived(value=value, is_lenient=lenient):
            text = f"== {constant}" if constant else f":= {expression_text(value)}"
            parts.append(f"{text} lenient" if lenient else text)
        case _:
            pass
    if field.condition is not None:
        parts.append(f"if {expression_text(field.condition)}")
    elif isinstance(field.value, m.Trailing):
        parts.append(f"if at least {needed} {'is' if needed in ('1 byte', 'its size') else 'are'} left")
    if field.where is not None:
        parts.append(f"where {condition_text(field) or expression_text(field.where)}")
    parts += [f"each item: {text}" for text in _of_items(field.type)]
    return " ".join(" ".join(parts).split())


def _of_items(type_: m.Type) -> Iterator[str]:
    """Yield the conditions of list items, as the file has them."""
    for each in shapes(type_):
        if isinstance(each, m.List) and each.where is not None:
            yield each.where.text


def default_text(field: m.Field | None) -> str:
    """Return the default of a field as the file has it; "" where it has no default."""
    match field.value if field is not None else None:
        case m.Default(value=value, others=others):
            texts = (f"{expression_text(each.value)} with {each.message}" for each in others)
            return ", ".join((expression_text(value), *texts))
        case m.Trailing(value=value):
            return expression_text(value)
        case _:
            return ""


def size_text(book: Book, cells: tuple[LayoutCell, ...]) -> str:
    """Return the smallest and the largest size.

    The limit of a frame bounds the largest, where the layout allows more.
    """
    bits = sum(cell.bits or 0 for cell in cells)
    low = bits // 8 + sum(cell.low for cell in cells if cell.bits is None)
    highs = [cell.high for cell in cells if cell.bits is None]
    limit = book.named.bounds["frame"]
    assert limit is not None  # a frame always has one
    high = None if None in highs else bits // 8 + sum(each or 0 for each in highs)
    if high is None or high > limit:
        return f"{number_text(low)} to {number_text(limit)} bytes (limits.frame)"
    if high == low:
        return _counted(low, "byte") if low < 1000 else f"{number_text(low)} bytes"
    return f"{number_text(low)} to {number_text(high)} bytes"
