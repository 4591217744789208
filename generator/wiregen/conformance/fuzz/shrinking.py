"""Find smaller inputs with the same difference: remove nodes of the tree, then bytes, then set bytes to zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, combinations, product
from typing import Final

from wiregen.conformance.fuzz.comparison import Trial
from wiregen.conformance.fuzz.edits import is_item, replaced, spots
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.elements import Data
from wiregen.schema.copies import replace

__all__ = ["shrunk"]

_SHORT: Final = 64
"""Most bytes of an input of which a few bytes are removed together with a change to one or two numbers."""
_WIDTHS: Final = (1, 2, 3, 4, 8)
"""The numbers of bytes that are removed so: an item of a list may be as small as these."""


def shrunk(
    trial: Trial,
    is_same: Callable[[Trial], bool],
    nodes: Callable[[Trial], tuple[Node, ...]],
    most_tries: int,
) -> Trial:
    """Return the smallest trial found that differs in the same way, after at most `most_tries` tries."""
    n_left = most_tries
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in _smaller(trial, nodes):
            n_left -= 1
            if n_left < 0:
                return trial
            if is_same(smaller):
                trial, is_smaller = smaller, True
                break
    return trial


def _smaller(trial: Trial, nodes: Callable[[Trial], tuple[Node, ...]]) -> Iterator[Trial]:
    """Yield simpler trials, the much simpler ones first."""
    if trial.cuts:
        yield replace(trial, cuts=())
    before = trial.setting.before
    for index in range(len(before)):
        less = before[:index] + before[index + 1 :]
        yield replace(trial, setting=replace(trial.setting, before=less))
    data = trial.data
    for other in chain(_without_parts(trial, nodes), _without_bytes(data), _zeroed(data), _tightened(data)):
        yield replace(trial, data=other, cuts=tuple(cut for cut in trial.cuts if cut < len(other)))


def _without_parts(trial: Trial, nodes: Callable[[Trial], tuple[Node, ...]]) -> Iterator[bytes]:
    roots = nodes(trial)
    for root in roots:
        yield trial.data[: root.start] + trial.data[root.end :]
    for spot in spots(trial.data, roots):
        if spot.node.size and (is_item(spot.node) or isinstance(spot.node.type, Data)):
            yield replaced(spot, b"", is_mended=True, n_items=-1 if is_item(spot.node) else 0)


def _without_bytes(data: bytes) -> Iterator[bytes]:
    size = len(data) // 2
    while size:
        for start in range(0, len(data), size):
            yield data[:start] + data[start + size :]
        size //= 2


def _zeroed(data: bytes) -> Iterator[bytes]:
    for at, byte in enumerate(data):
        if byte:
            yield data[:at] + b"\0" + data[at + 1 :]


def _tightened(data: bytes) -> Iterator[bytes]:
    """Yield the data without a few bytes, and with one or two earlier numbers decreased: they may be enclosing
    lengths, or the count of the items of which one is removed.

    Invalid bytes have no tree that would name the lengths.
    """
    if len(data) > _SHORT:
        return
    for width in _WIDTHS:
        for at in range(len(data) - width + 1):
            earlier = [place for place in range(at) if 0 < data[place] <= len(data)]
            for places in (*combinations(earlier, 1), *combinations(earlier, 2)):
                for amounts in product({width, 1}, repeat=len(places)):
                    buffer = bytearray(data)
                    for place, amount in zip(places, amounts, strict=True):
                        buffer[place] = max(0, buffer[place] - amount)
                    del buffer[at : at + width]
                    yield bytes(buffer)
