"""The pages of messages, structs, frames and preambles; of enums, unions and codings."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from wiregen.generate.escaping import harmless
from wiregen.language.spelling import span_text, type_text
from wiregen.schema import model as m
from wiregen.schema.walk import every_field, references
from wiregen.site.pages.annotated_bytes import anatomy_of
from wiregen.site.pages.chapter import Book, notes_of
from wiregen.site.pages.decode_errors import PossibleError, faults_of
from wiregen.site.pages.layout_cells import LayoutCell, frame_around
from wiregen.site.pages.layouts import layout_of, size_text
from wiregen.site.pages.legends import is_filled, keeps_unknown, region_of
from wiregen.site.pages.numbers import forms_text, spans_text
from wiregen.site.pages.page_paths import Linked, anchor, session_page_name
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.protocol_pages import rule_view
from wiregen.site.pages.sample_frame import Sample
from wiregen.site.pages.samples import playground_state
from wiregen.site.pages.types_inside import holds_of, inside_of, width_text
from wiregen.site.pages.usage import TransitionUse
from wiregen.site.pages.views import (
    CarriedView,
    DeclarationView,
    FaultView,
    InsideViews,
    LayoutView,
    MemberView,
    MessageView,
    RowView,
    RuleView,
    SaidView,
    SampleView,
    SnippetView,
    TypeView,
    UnknownCodesView,
)

__all__ = ["code_of", "direction_text", "fields_page", "kind_of", "message_page", "type_page"]

_MOST_DRAWN: Final = 4
"""The most alternatives of a union that are drawn; of a union with more, each is a row of the table alone."""
_NO_SAMPLE: Final = (
    "It has no example: wiregen found no value that keeps the rules and shows no secret. An `example` of the file would be one."
)

Fields: TypeAlias = m.Struct | m.Frame | m.Preamble
Named: TypeAlias = m.Message | Fields | m.Enum | m.Union | m.Coding


def message_page(book: Book, message: m.Message) -> MessageView:
    """Return the page of a message, with the frame around it."""
    frame = frame_around(book.protocol, message)
    if frame is None:
        cells = book.cells.of(message.name, message.fields)
    else:
        cells = book.cells.of_message(frame, message)
    sample = book.samples.of(message) if frame is not None else None
    return _page(book, message, cells, frame=frame, sample=sample)


def fields_page(book: Book, declaration: Fields) -> MessageView:
    """Return the page of any other declaration of fields."""
    cells = book.cells.of(declaration.name, declaration.fields)
    return _page(book, declaration, cells, frame=None, sample=None)


def _page(
    book: Book,
    declaration: m.Message | Fields,
    cells: tuple[LayoutCell, ...],
    *,
    frame: m.Frame | None,
    sample: Sample | None,
) -> MessageView:
    name = declaration.name
    layout = layout_of(book, name, cells, frame=frame)
    faults = _faults(book, declaration, frame, {row.anchor for row in layout.rows})
    said = book.usage.rows(name)
    return MessageView(
        shell=book.shell(name, book.places.slugs[name], Linked(text=name)),
        declaration=_declared(book, declaration, frame),
        direction=direction_text(book.protocol, declaration),
        code=code_of(declaration) if isinstance(declaration, m.Message) else "",
        unknown=_unknown_codes(book, declaration),
        frame=None if frame is None else Linked(text=frame.name, url=book.places.url(frame.name)),
        layout=layout,
        inside=_inside(book, declaration, frame, layout),
        sample=None if sample is None else _sample_view(book, sample, layout.rows),
        no_sample="" if sample is not None or frame is None else _NO_SAMPLE,
        faults=faults,
        also=_inner(book, declaration.fields),
        rules=_rules(book, declaration, faults, said),
        said=tuple(_said_view(book, each) for each in said),
    )


def _unknown_codes(book: Book, declaration: m.Message | Fields) -> UnknownCodesView | None:
    """Return the treatment of unknown codes in a frame that carries messages."""
    if not isinstance(declaration, m.Frame) or declaration.message is None:
        return None
    return UnknownCodesView(
        are_kept=keeps_unknown(declaration.fields), refusal=book.code_link("unknown_code")
    )


def _inside(
    book: Book, declaration: m.Message | Fields, frame: m.Frame | None, layout: LayoutView
) -> InsideViews:
    if isinstance(declaration, m.Message):
        return inside_of(book, declaration, frame, layout)
    return InsideViews(shown=(), others=())


def _declared(book: Book, declaration: Named, frame: m.Frame | None = None) -> DeclarationView:
    found = (
        *book.usage.uses(declaration.name),
        *(book.usage.of_frame(frame.name) if frame is not None else ()),
    )
    uses = (
        Linked(text=use.how, url=f"{use.page}.html" if use.page else book.places.url(use.owner))
        for use in found
    )
    return DeclarationView(
        name=declaration.name,
        kind=kind_of(declaration),
        doc=Prose(text=declaration.doc),
        notes=notes_of(declaration.notes),
        wire=book.wire(declaration.path),
        uses=tuple(uses),
    )


def kind_of(declaration: Named) -> str:
    return type(declaration).__name__.lower()


def direction_text(protocol: m.Protocol, declaration: m.Message | Fields) -> str:
    """Return who sends the declaration to whom; "" where that does not apply."""
    if isinstance(declaration, m.Struct):
        return ""
    role = declaration.role
    if role is None or len(protocol.roles) != 2:
        return "either direction" if role is None and protocol.roles else role or ""
    other = next((each for each in protocol.roles if each != role), role)
    return f"{role} → {other}"


def code_of(message: m.Message) -> str:
    """Return the code of a message as a page shows it; "" where it has no code."""
    return "" if message.code is None else forms_text(message.code, is_character=message.is_character)


# ---- the example


def _sample_view(book: Book, sample: Sample, rows: tuple[RowView, ...]) -> SampleView:
    python, decode = book.snippets.python(sample), book.snippets.decode_command(sample)
    encode = book.snippets.encode_command(sample)
    snippets = [SnippetView(title="Python", text=python, language="python")] if python else []
    command = "\n".join(part for part in (decode, encode) if part)
    snippets.append(SnippetView(title="Command line", text=f"{command}\n", language="sh"))
    spark = book.snippets.spark(sample) if book.chapter.has_columns else ""
    snippets += [SnippetView(title="PySpark", text=spark, language="python")] if spark else []
    carried = book.chapter.carry(sample)
    return SampleView(
        origin=harmless(sample.origin),
        role=sample.scene.role or "",
        size=len(sample.data),
        before=tuple((role or "", data.hex(" ")) for role, data in sample.scene.before),
        anatomy=anatomy_of(sample.data, sample.tree, [row.key for row in rows]),
        hex=sample.data.hex(),
        play=playground_state(book.protocol.name, sample.scene, sample.data),
        carried=tuple(
            CarriedView(name=name, size=len(data), hex=data.hex(" ")) for name, data in carried.items()
        ),
        snippets=tuple(snippets),
    )


# ---- errors and rules


def _faults(
    book: Book, declaration: m.Message | Fields, frame: m.Frame | None, anchors: set[str]
) -> tuple[FaultView, ...]:
    found = list(faults_of(declaration.name, declaration.fields, book.named))
    if frame is not None:
        found += [
            fault
            for fault in faults_of(frame.name, frame.fields, book.named)[1:]
            if fault.code != "trailing_bytes" or fault.path != _filled(book, declaration.name, frame)
        ]
    return tuple(_fault_view(book, fault, declaration.name, anchors) for fault in found)


def _filled(book: Book, message: str, frame: m.Frame) -> str:
    """Return the path of the region around a message that fills it; "" where bytes can be left over."""
    region = region_of(frame, message)
    return region[0] if region is not None and is_filled(book.protocol, message) else ""


def _fault_view(book: Book, fault: PossibleError, owner: str, anchors: set[str]) -> FaultView:
    key = next((each for each in (anchor(fault.path), *_beside(fault.path)) if each in anchors), "")
    vectors, n_more = book.vectors_of_fault(fault.path or owner, fault.code, fault.rule)
    return FaultView(
        code=book.code_link(fault.code),
        place=Linked(text=fault.path or owner, url=f"#{key}" if key else ""),
        when=harmless(" ".join(fault.when.split())),
        rule=book.rule_link(fault.rule),
        is_strict=fault.strict,
        vectors=vectors,
        n_more=n_more,
    )


def _beside(path: str) -> tuple[str, ...]:
    return tuple(f"{path}-{word}" for word in ("length", "count", "code"))


def _inner(book: Book, fields: tuple[m.Field, ...]) -> tuple[Linked, ...]:
    """Return the declarations inside of the fields, whose errors can occur too."""
    found = references(*(field.type for field in every_field(fields)))
    names = dict.fromkeys(each.name for each in found if not isinstance(each, m.EnumReference))
    return tuple(Linked(text=name, url=book.places.url(name)) for name in names)


def _rules(
    book: Book, declaration: m.Message | Fields, faults: Iterable[FaultView], said: Iterable[TransitionUse]
) -> tuple[RuleView, ...]:
    names = [declaration.notes.rule, *(fault.rule.text for fault in faults if fault.rule is not None)]
    names += [each.violation for each in said]
    names += book.rules_of_codes(fault.code.text for fault in faults)
    chosen = [name for name in dict.fromkeys(names) if name in book.rules]
    return tuple(rule_view(book, book.rules[name]) for name in chosen if name is not None)


def _said_view(book: Book, said: TransitionUse) -> SaidView:
    return SaidView(
        session=Linked(text=said.session, url=f"{session_page_name(said.session)}.html"),
        states=said.states,
        role=said.role,
        when=harmless(said.when),
        comes_to=said.comes_to,
        violation=book.rule_link(said.violation),
        note=Prose(text=said.note),
    )


# ---- types


def type_page(book: Book, declaration: m.Enum | m.Union | m.Coding) -> TypeView:
    """Return the page of a type that is chosen by a number."""
    name = declaration.name
    is_enum = isinstance(declaration, m.Enum)
    return TypeView(
        shell=book.shell(name, book.places.slugs[name], Linked(text=name)),
        declaration=_declared(book, declaration),
        base=type_text(declaration.type),
        is_open=isinstance(declaration, m.Enum) and declaration.is_open,
        refusal=_refusal(book, declaration),
        members=tuple(_members(book, declaration)),
        reserved=reserved_of(declaration.reserved) if is_enum and isinstance(declaration, m.Enum) else (),
        rule=book.rule_link(declaration.notes.rule),
    )


def _refusal(book: Book, declaration: m.Enum | m.Union | m.Coding) -> Linked | None:
    """Return the code with which a receiver refuses a number without a meaning, or None if each number has one."""
    match declaration:
        case m.Enum(is_open=False):
            return book.code_link("invalid_enum")
        case m.Union():
            return book.code_link("unknown_code")
        case _:
            return None


def reserved_of(reserved: Iterable[m.Reserved]) -> tuple[tuple[str, Prose], ...]:
    """Return the numbers that must not be used, each with the reason."""
    return tuple((spans_text(each.spans), Prose(text=each.why)) for each in reserved)


def _members(book: Book, declaration: m.Enum | m.Union | m.Coding) -> Iterator[MemberView]:
    match declaration:
        case m.Enum(members=members):
            for member in members:
                yield MemberView(
                    name=member.name,
                    anchor=member.name,
                    number=forms_text(member.value, is_character=member.is_character),
                    doc=Prose(text=member.doc),
                    notes=notes_of(member.notes, is_part=True),
                )
        case m.Union(varieties=varieties):
            for variety in varieties:
                yield _variety(book, declaration, variety)
        case m.Coding(widths=widths):
            for width in widths:
                yield _width(width)


def _variety(book: Book, union: m.Union, variety: m.Variety) -> MemberView:
    name = f"{union.name}.{variety.name}"
    cells = book.cells.of(name, variety.fields)
    return MemberView(
        name=variety.name,
        anchor=variety.name,
        number=spans_text(variety.spans, is_character=variety.is_character),
        doc=Prose(text=variety.doc),
        notes=notes_of(variety.notes, is_part=True),
        layout=layout_of(book, name, cells) if cells and len(union.varieties) <= _MOST_DRAWN else None,
        size=size_text(book, cells),
        holds=holds_of(book, variety.fields),
    )


def _width(width: m.Width) -> MemberView:
    first = span_text(m.Span(low=width.low, high=width.high))
    empty = notes_of(m.Notes())
    return MemberView(
        name=first, anchor="", number=first, doc=Prose(text=""), notes=empty, text=width_text(width)
    )


def wire_text(text: str, start: int, end: int) -> str:
    """Return a declaration's text with the docs before it, without its indentation."""
    begin = text.rfind("\n", 0, start) + 1
    while begin:
        above = text.rfind("\n", 0, begin - 1) + 1
        if not text[above : begin - 1].lstrip().startswith("///"):
            break
        begin = above
    return textwrap.dedent(text[begin:end])
