"""The page of a join: its fragments, the reassembled message, its bounds, and an example from the first fragment to the last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wiregen.conformance.judge.implementation import Line
from wiregen.conformance.vectors.format import Trace, Valid, octets
from wiregen.generate.escaping import harmless
from wiregen.runtime.codec.errors import DecodeError
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.site.diagrams.sequence_drawings import ladder_of
from wiregen.site.pages.behaviour_views import LackView, RememberedPageView
from wiregen.site.pages.chapter import Book, notes_of
from wiregen.site.pages.context_texts import (
    clearings_of,
    lack,
    limit_text,
    readers_of,
    remembered_views,
    scope_text,
    settings_of,
)
from wiregen.site.pages.exchanges import (
    DecodedFrame,
    Exchange,
    decoded_frames,
    example_frame_views,
    joined_view,
)
from wiregen.site.pages.numbers import limit_phrase
from wiregen.site.pages.page_paths import Linked, join_page_name
from wiregen.site.pages.session_pages import conversation_lines, conversation_views

__all__ = ["join_page"]


def join_page(book: Book, join: m.Join) -> RememberedPageView:
    """Return the page of a join."""
    name = join.name
    legal = book.conversations.legal.get(name)
    doings = (
        *settings_of(book, "a piece", join.parts),
        *settings_of(book, "the last piece", join.lasts),
        *clearings_of(book, "drops the pieces", join.clearings),
    )
    page = RememberedPageView(
        shell=book.shell(name, join_page_name(name), Linked(text=name)),
        remembered=next(each for each in remembered_views(book.protocol) if each.name == name),
        notes=notes_of(join.notes),
        facts=tuple(_facts(book, join)),
        doings=doings,
        readers=readers_of(book, join),
        lacks=tuple(_lacks(book, join)),
        wire=book.wire(join.path),
        conversations=conversation_views(book, book.conversations.of(name)),
        ladder=None if legal is None else ladder_of(f"A conversation with {name}", legal),
        told=() if legal is None else conversation_lines(legal),
    )
    return _with_example(book, join, page)


def _facts(book: Book, join: m.Join) -> Iterator[tuple[str, tuple[Linked, ...]]]:
    yield "Gives", tuple(_given(book, join))
    yield "Kept", (Linked(text=scope_text(join)),)
    most = limit_text(book, _size_limit(book), "bytes together")
    yield "At most", (*most, Linked(text=", "), *limit_text(book, "open", "open at a time"))


def _size_limit(book: Book) -> str:
    """Return the limit of all fragments together: that of a frame where the file does not name another."""
    return "frame" if book.named.bounds.get("joined") is None else "joined"


def _given(book: Book, join: m.Join) -> Iterator[Linked]:
    match join.type:
        case None:
            frame, field = join.block or ("", "")
            yield Linked(text=f"the block {field} of ")
            yield Linked(text=frame, url=book.places.url(frame))
            yield Linked(
                text=", which is read in the frame of the last piece. "
                f"The frames before that hold {join.name}(data), the bytes of one piece."
            )
        case m.FrameReference(name=name):
            yield Linked(text="a ")
            yield Linked(text=name, url=book.places.url(name))
            yield Linked(text=", which is then handled like one that came whole")
        case _:
            yield Linked(text="bytes, which are handed out with the last piece")


def _lacks(book: Book, join: m.Join) -> Iterator[LackView]:
    name, limit = join.name, _size_limit(book)
    most, rule = limit_phrase(limit, book.named.bounds), book.named.limits.get(limit) or None
    yield lack(book, "truncated", "the stream ends before the last piece", path=name)
    yield lack(book, "limit_exceeded", f"the pieces together are beyond {most}", path="", rule=rule)
    open_ = limit_phrase("open", book.named.bounds)
    yield lack(book, "limit_exceeded", f"more are begun than {open_}", path=name)
    yield lack(book, "incomplete_join", "bytes between the pieces were lost or refused", path=name)
    if isinstance(join.type, m.Reference):
        yield lack(
            book, "too_deep", "the reassembled message is the last piece of another one, and so on", path=name
        )


# ---- the example


def _with_example(book: Book, join: m.Join, page: RememberedPageView) -> RememberedPageView:
    for exchange in _exchanges(book, join.name):
        try:
            frames = decoded_frames(book.schema, exchange)
        except DecodeError:
            continue
        pieces = _pieces(join.name, frames)
        if len(pieces) > 1:
            views = example_frame_views(book, ((each, _about(join, each.part)) for each in pieces))
            together = _together(join, pieces)
            joined = joined_view(book, join.name, together, views)
            return replace(
                page,
                origin=harmless(exchange.origin),
                heard=(*views, *((joined,) if joined is not None else ())),
                together=together.hex(" "),
                python=_program(book, exchange, frames),
            )
    return page


def _program(book: Book, exchange: Exchange, frames: tuple[DecodedFrame, ...]) -> str:
    if exchange.variant is not None or exchange.limits:
        return ""
    n_joined = sum(each.part is not None and each.part.last for each in frames)
    return book.snippets.joining(exchange.said, n_joined)


def _exchanges(book: Book, name: str) -> Iterator[Exchange]:
    """Yield exchanges that may show a join: its legal conversation, other vectors, frames made for it."""
    file = book.chapter.vectors
    legal = book.conversations.legal.get(name)
    for vector in file.vectors if file is not None else ():
        if isinstance(vector, Trace) and legal is not None and vector.id == legal.id:
            said = tuple((step.from_role, octets(step.bytes)) for step in vector.steps if step.bytes)
            yield Exchange(
                origin=f"vector {vector.id}", said=said, variant=vector.variant, limits=vector.limits
            )
    for vector in file.vectors if file is not None else ():
        if isinstance(vector, Valid) and any(_completes(line, name) for line in vector.frames):
            before = tuple((sent.from_role, octets(sent.bytes)) for sent in vector.before)
            said = (*before, (vector.from_role, octets(vector.bytes)))
            yield Exchange(
                origin=f"vector {vector.id}", said=said, variant=vector.variant, limits=vector.limits
            )
    for draft in book.samples.joined(name):
        said = (*draft.scene.before, (draft.scene.role, draft.data))
        yield Exchange(origin="the plainest pieces", said=said)


def _completes(line: Line, name: str) -> bool:
    part = line.get("part", {})
    return part.get("join") == name and bool(part.get("last")) and part.get("index", 0) > 0


def _pieces(name: str, frames: tuple[DecodedFrame, ...]) -> list[DecodedFrame]:
    """Return the fragments of the first reassembled message."""
    some = [each for each in frames if each.part is not None and each.part.join == name]
    last = next((each for each in some if each.part.last and each.part.index), None)
    if last is None:
        return []
    own = [each for each in some if each.part.key == last.part.key and each.role == last.role]
    return own[: own.index(last) + 1]


def _about(join: m.Join, part: Any) -> str:
    keys = ", ".join(f"{name} {value}" for name, value in zip(join.keys, part.key, strict=True))
    number = f"{'the last piece' if part.last else f'piece {part.index + 1}'}"
    return harmless(f"{number} of {keys}" if keys else number)


def _together(join: m.Join, pieces: list[DecodedFrame]) -> bytes:
    return b"".join(_data_of(join, each) for each in pieces)


def _data_of(join: m.Join, piece: DecodedFrame) -> bytes:
    fields = {each.target: each.field for each in (*join.parts, *join.lasts)}
    if join.type is not None:
        name = next(fields[name] for name in piece.names if name in fields)
        return bytes(piece.node.value.message.fields[name])
    if not piece.part.last:
        return bytes(piece.node.value.message.fields["data"])
    return bytes(next(each.value for each in piece.node.walk() if each.name == "piece"))
