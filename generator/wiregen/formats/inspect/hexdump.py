"""A hexdump in which each field has a colour, and its path next to the row where it begins."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from wiregen.formats.inspect.secrets import holds_secret
from wiregen.formats.inspect.values import HIDDEN, plural
from wiregen.language.terminal_text import visible
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.transforms import TRANSFORMS, Transform
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.elements import CompressedBody, JoinedBody

__all__ = ["dump_fault", "dump_frame"]

_ROW: Final = 16
_ROWS_BEFORE: Final = 8
_ROWS_BEHIND: Final = 2
"""The rows shown at the beginning and at the end of a long field."""

_COLOURS: Final = (
    "cyan",
    "green",
    "yellow",
    "magenta",
    "blue",
    "bright_cyan",
    "bright_green",
    "bright_magenta",
)
_FAULT: Final = "bold red"
_PIECES: Final = frozenset({"length", "count", "code", "delimiter", "tail"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    """Bytes of one field, counted from the first byte of the dump."""

    start: int
    end: int
    label: str
    style: str
    is_secret: bool = False


def dump_frame(
    raw: bytes, node: Node, offset: int, secrets: frozenset[str] = frozenset(), *, within: str = ""
) -> Iterator[Text]:
    """Yield the rows of a whole frame, then those of the inflated content of its compressed parts.

    `offset`: the offset of the frame in the numbers of the rows; the node's own positions may count from
    elsewhere. `within`: a path with which all others begin, and which is left out.
    """
    leaves = tuple(_leaves(node, secrets))
    yield from _rows(raw, _stretches(leaves, node.start, within), offset)
    for leaf, is_secret in leaves:
        if isinstance(leaf.type, CompressedBody) and not is_secret:
            transform = TRANSFORMS[leaf.type.algorithm]
            data = _content(raw[leaf.start - node.start : leaf.end - node.start], leaf, transform)
            yield from _dump_inner(data, leaf, transform.done, secrets)


def dump_fault(raw: bytes, error: DecodeError, offset: int, *, is_secret: bool = False) -> Iterator[Text]:
    """Yield the rows of undecodable bytes, with the byte at the error marked; `is_secret` hides the bytes."""
    at = min(max(error.at - offset, 0), len(raw))
    parts = (
        _Stretch(start=0, end=at, label="", style="", is_secret=is_secret),
        _Stretch(
            start=at, end=min(at + 1, len(raw)), label="", style=f"reverse {_FAULT}", is_secret=is_secret
        ),
        _Stretch(start=at + 1, end=len(raw), label="", style="dim", is_secret=is_secret),
    )
    stretches = tuple(stretch for stretch in parts if stretch.end > stretch.start)
    yield from _rows(raw, stretches, offset, mark=(at, visible(f"{error.path} {error.code}".strip())))


def _dump_inner(data: bytes, leaf: Node, done: str, secrets: frozenset[str]) -> Iterator[Text]:
    yield Text(f"  {visible(leaf.path)}, {done}, {plural(len(data), 'byte')}:", "dim")
    for content in leaf.children:
        for row in dump_frame(data, content, content.start, secrets, within=leaf.path):
            yield Text("  ").append_text(row)


def _content(data: bytes, leaf: Node, transform: Transform) -> bytes:
    """Return the content of a body; it was read within the limits before."""
    size = max((child.end for child in leaf.children), default=0)
    return transform.decode(data, size)[:size]


def _leaves(node: Node, secrets: frozenset[str], is_secret: bool = False) -> Iterator[tuple[Node, bool]]:
    """Yield the nodes that together cover each byte once, each with whether it is hidden."""
    is_secret = is_secret or node.name in secrets
    if isinstance(node.type, CompressedBody | JoinedBody):
        yield node, is_secret or holds_secret(node, secrets)
        return
    for child in node.children:
        yield from _leaves(child, secrets, is_secret)
    if not node.children:
        yield node, is_secret


def _stretches(leaves: tuple[tuple[Node, bool], ...], base: int, within: str) -> tuple[_Stretch, ...]:
    filled = sorted(
        (leaf.start, leaf.end, _path(leaf).removeprefix(within), is_secret)
        for leaf, is_secret in leaves
        if leaf.size > 0
    )
    return tuple(
        _Stretch(
            start=start - base,
            end=end - base,
            label=path,
            style=_COLOURS[index % len(_COLOURS)],
            is_secret=is_secret,
        )
        for index, (start, end, path, is_secret) in enumerate(filled)
    )


def _path(leaf: Node) -> str:
    """Return the path of a leaf; a part that is not a field adds its word after the field's path."""
    is_piece = leaf.part in _PIECES
    return visible(f"{leaf.path} {leaf.name}" if is_piece else leaf.path)


# ---- rows ----


def _rows(
    raw: bytes, stretches: tuple[_Stretch, ...], offset: int, mark: tuple[int, str] | None = None
) -> Iterator[Text]:
    """Yield the rows of a dump; the middle of a long stretch is one line with the number of bytes left out."""
    starts = [stretch.start for stretch in stretches]
    position = 0
    while position < len(raw):
        index = bisect_right(starts, position) - 1
        left_out = _left_out(stretches[index], position) if index >= 0 else 0
        if left_out:
            of = f" of {stretches[index].label}" if stretches[index].label else ""
            yield Text(f"          … {plural(left_out, 'more byte')}{of}", "dim")
            position += left_out
            continue
        end = min(position + _ROW, len(raw))
        yield _row(raw, position, end, _between(stretches, starts, position, end), offset)
        if mark is not None and position <= mark[0] < end:
            yield _mark(mark[0] - position, mark[1])
        position = end
    if mark is not None and mark[0] >= len(raw):
        yield from _mark_behind(len(raw), offset, mark[1])


def _left_out(stretch: _Stretch, position: int) -> int:
    """Return the number of bytes to leave out at the beginning of a row: whole rows in the middle of a stretch."""
    first = -(-stretch.start // _ROW) * _ROW + _ROWS_BEFORE * _ROW
    last = stretch.end // _ROW * _ROW - _ROWS_BEHIND * _ROW
    return last - position if position == first and last - first > _ROW else 0


def _between(
    stretches: tuple[_Stretch, ...], starts: list[int], start: int, end: int
) -> tuple[_Stretch, ...]:
    first = max(bisect_right(starts, start) - 1, 0)
    return stretches[first : bisect_right(starts, end - 1)]


def _row(raw: bytes, start: int, end: int, stretches: tuple[_Stretch, ...], offset: int) -> Text:
    row = Text(f"{offset + start:08x}  ")
    octets, characters = Text(), Text()
    for place in range(start, end):
        stretch = _at(stretches, place)
        style = stretch.style if stretch is not None else None
        is_hidden = stretch is not None and stretch.is_secret
        octets.append(HIDDEN if is_hidden else f"{raw[place]:02x}", style)
        octets.append(" ")
        characters.append("·" if is_hidden else _character(raw[place]), style)
    row.append_text(octets)
    row.append("   " * (_ROW - (end - start)) + " |")
    row.append_text(characters)
    row.append("|")
    row.append_text(_labels(stretches, start, end))
    return row


def _labels(stretches: tuple[_Stretch, ...], start: int, end: int) -> Text:
    """Return the paths of the stretches that begin in the row."""
    begun = [stretch for stretch in stretches if start <= stretch.start < end and stretch.label]
    labels = Text()
    for index, stretch in enumerate(begun):
        labels.append(", " if index else "  ")
        labels.append(stretch.label, stretch.style)
    return labels


def _at(stretches: tuple[_Stretch, ...], place: int) -> _Stretch | None:
    return next((stretch for stretch in stretches if stretch.start <= place < stretch.end), None)


def _character(octet: int) -> str:
    return chr(octet) if 0x20 <= octet < 0x7F else "."


def _mark(column: int, text: str) -> Text:
    return Text(" " * (10 + 3 * column)).append(f"^^ {text}", _FAULT)


def _mark_behind(size: int, offset: int, text: str) -> Iterator[Text]:
    """Mark the first missing byte, after the last one."""
    if size % _ROW == 0:
        yield Text(f"{offset + size:08x}")
    yield _mark(size % _ROW, text)
