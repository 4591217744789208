"""The pages of conformance vectors, from their file alone: bytes with their parts, the result, the rule that breaks.

Invariant: nothing is decoded here; a vector says itself which bytes are which part.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from wiregen.conformance.vectors.coverage import fields_of
from wiregen.conformance.vectors.format import (
    AnyVector,
    Fault,
    Hex,
    Invalid,
    Line,
    Octets,
    Step,
    Trace,
    Unwritable,
    Valid,
    octets,
)
from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.conformance.vectors.repetition import octets_size
from wiregen.generate.escaping import harmless
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.samples import playground_state
from wiregen.site.pages.vector_places import (
    MOST_BYTES,
    MOST_STEPS,
    MOST_TEXT,
    VectorPage,
    declaration_of,
    rule_of,
)
from wiregen.site.pages.vector_views import (
    ChipView,
    CoverageView,
    StepView,
    TestedView,
    VectorsIndexView,
    VectorsPageView,
    VectorView,
)

__all__ = ["vectors_index", "vectors_page"]

_N_HUES: Final = 6
_MOST_BEFORE: Final = 3


def vectors_page(book: Book, page: VectorPage) -> VectorsPageView:
    """Return a page of vectors."""
    trail = (Linked(text="Vectors", url="coverage.html"), Linked(text=page.title))
    return VectorsPageView(
        shell=book.shell(f"Vectors: {page.title}", page.name, *trail),
        about=Linked(text=page.about, url=book.places.url(page.about)),
        vectors=tuple(_vector(book, each) for each in page.vectors),
    )


def _vector(book: Book, vector: AnyVector) -> VectorView:
    link = book.vector_places.link(vector.id)
    data: Octets = vector.bytes if isinstance(vector, Valid | Invalid) else ""
    size = octets_size(data)
    chips, said, fault = tuple(_chips(vector)), "", None
    if isinstance(vector, Valid | Unwritable):
        said = " ".join(map(_line_text, vector.frames))
    if isinstance(vector, Invalid | Unwritable):
        fault = vector.error
    before = () if isinstance(vector, Trace) else vector.before
    return VectorView(
        link=link,
        anchor=link.url.partition("#")[2],
        kind=vector.kind,
        role="" if isinstance(vector, Trace) else vector.from_role or "",
        terms=tuple(_terms(vector)),
        before=tuple(StepView(who=each.from_role or "", hex=_hex(each.bytes), found="") for each in before),
        size=size,
        chips=chips,
        n_hidden=max(size - MOST_BYTES, 0),
        says=said if len(said) <= MOST_TEXT else f"{said[:MOST_TEXT]}…",
        code=None if fault is None else book.code_link(fault.code),
        place="" if fault is None else harmless(_place(fault)),
        rule=book.rule_link(rule_of(vector)),
        steps=tuple(map(_step, vector.steps[:MOST_STEPS])) if isinstance(vector, Trace) else (),
        n_steps_left=max(len(vector.steps) - MOST_STEPS, 0) if isinstance(vector, Trace) else 0,
        covers=harmless(", ".join((*vector.covers[:_MOST_BEFORE], *((vector.note,) if vector.note else ())))),
        play=_play(book, vector) if 0 < size <= MOST_BYTES else "",
    )


def _play(book: Book, vector: AnyVector) -> str:
    """Return the bytes as a link to the playground has them; "" where it cannot read them as the vector does."""
    if not isinstance(vector, Valid | Invalid) or vector.variant or vector.limits or vector.strict:
        return ""
    is_own = [each.from_role == vector.from_role for each in vector.before]
    size = sum(octets_size(each.bytes) for each in vector.before)
    if (
        is_own != sorted(is_own, reverse=True) or size > MOST_BYTES
    ):  # a link has the bytes of the sender first
        return ""
    before = tuple((each.from_role, octets(each.bytes)) for each in vector.before)
    scene = Scene(role=vector.from_role, before=before)
    return playground_state(book.protocol.name, scene, _head(vector.bytes))


def _terms(vector: AnyVector) -> Iterator[str]:
    if vector.variant:
        yield f"variant {vector.variant}"
    if not isinstance(vector, Unwritable):
        yield from (f"limits.{name} = {value}" for name, value in vector.limits.items())
        if vector.strict:
            yield "strict"


def _head(data: Octets) -> bytes:
    """Return the first bytes, without writing out the repetitions that follow."""
    if isinstance(data, str):
        return bytes.fromhex(data[: 2 * MOST_BYTES])
    found = b""
    for piece in data:
        if len(found) >= MOST_BYTES:
            break
        unit, count = (piece.hex, 1) if isinstance(piece, Hex) else (piece.repeat, piece.count)
        found += bytes.fromhex(unit) * min(count, MOST_BYTES)
    return found[:MOST_BYTES]


def _hex(data: Octets) -> str:
    size = octets_size(data)
    return _head(data).hex(" ") + (f" … {size:,} bytes" if size > MOST_BYTES else "")


def _chips(vector: AnyVector) -> Iterator[ChipView]:
    """Yield the first bytes by part; of bytes that are refused, those before the error and those from it on."""
    match vector:
        case Valid(spans=spans):
            head = _head(vector.bytes)
            if head and not spans:
                yield ChipView(text=head.hex(" "), name="", hue=0)
            for number, (name, start, end) in enumerate(spans):
                if start < min(end, len(head)):
                    yield ChipView(text=head[start:end].hex(" "), name=harmless(name), hue=number % _N_HUES)
        case Invalid(error=error):
            head, at = _head(vector.bytes), error.at or 0
            if head[:at]:
                yield ChipView(text=head[:at].hex(" "), name="", hue=0)
            if at <= len(head):
                yield ChipView(text=head[at:].hex(" ") or "end", name=f"{error.code} at {at}", hue=-1)
        case Unwritable() | Trace():
            return


def _place(fault: Fault) -> str:
    parts = [fault.path] if fault.path else []
    parts += [f"byte {fault.at}"] if fault.at is not None else []
    parts += [f"byte {fault.inner_at} of the inflated bytes"] if fault.inner_at is not None else []
    parts += ["the next frame can be read"] if fault.recoverable else []
    return ", ".join(parts)


def _line_text(line: Line) -> str:
    """Return a decoded frame as text: its message, then its header and fields as JSON."""
    parts = (line.get(name) for name in ("header", "fields"))
    shown = " ".join(json.dumps(each, ensure_ascii=True) for each in parts if each)
    return f"{line.get('message', 'bytes')} {shown or '{}'}"


def _step(step: Step) -> StepView:
    moves = (f"{session}: {one} → {other}" for session, one, other in step.moves)
    refused = (f"breaks {name}" for name in step.violations)
    found = ", ".join((*((step.message,) if step.message else ()), *moves, *refused))
    what = (
        "stops sending" if step.eof else f"{step.at:g} s have passed" if not step.bytes else _hex(step.bytes)
    )
    return StepView(who=step.from_role or "", hex=what, found=harmless(found))


# ---- coverage


def vectors_index(book: Book) -> VectorsIndexView:
    """Return the page of the coverage."""
    places, vectors = book.vector_places, book.vectors
    refused: dict[str, list[str]] = {}
    for each in vectors:
        if isinstance(each, Invalid | Unwritable):
            refused.setdefault(each.error.code, []).append(each.id)

    def tested(what: Linked, ids: Sequence[str]) -> TestedView:
        return TestedView(what=what, count=len(ids), first=places.link(ids[0]) if ids else None)

    return VectorsIndexView(
        shell=book.shell("Vectors", "coverage", Linked(text="Vectors")),
        count=len(vectors),
        coverage=tuple(_coverage(book)),
        conversations=tuple(
            Linked(text=each.title, url=f"{each.name}.html")
            for each in places.pages
            if each.about == "Conversations"
        ),
        rules=tuple(
            tested(
                Linked(text=rule.name, url=book.places.rule_url(rule.name)), book.vectors_of_rule(rule).ids
            )
            for rule in book.protocol.rules
        ),
        codes=tuple(tested(book.code_link(code), ids) for code, ids in sorted(refused.items())),
    )


def _coverage(book: Book) -> Iterator[CoverageView]:
    kinds: dict[str, Counter[str]] = {}
    shown: set[str] = set()
    for page in book.vector_places.pages:
        kinds.setdefault(page.about, Counter()).update(each.kind for each in page.vectors)
    for each in book.vectors:
        if isinstance(each, Valid):
            name = declaration_of(each)
            shown.update(f"{name}.{key}" for line in each.frames for key in line.get("fields", ()))
            shown.update(
                span if span.startswith(f"{name}.") else f"{name}.{span}" for span, _, _ in each.spans
            )
    fields: dict[str, list[str]] = {}
    for path in fields_of(book.schema):
        fields.setdefault(path.partition(".")[0], []).append(path)
    first = {page.about: page.name for page in book.vector_places.pages if page.number == 1}
    messages = {each.name for each in book.protocol.messages}
    for about, counts in kinds.items():
        if about == "Conversations":
            continue
        own = fields.get(about, []) if about in messages else []
        yield CoverageView(
            about=Linked(text=about, url=f"{first[about]}.html"),
            valid=counts["valid"],
            invalid=counts["invalid"],
            unwritable=counts["unwritable"],
            fields=f"{sum(path in shown for path in own)} of {len(own)}" if own else "",
        )
