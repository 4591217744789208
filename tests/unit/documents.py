"""Quotes checked against documents that are not in the repository: hashes of each document's words represent its text.

A quote is found if every run of three of its words (all of them, where there are fewer) is a run of the document's. Punctuation, markup and
case do not count. `python -m tests.unit.documents FILE NAME` writes the hashes of a document.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

__all__ = ["is_quoted"]

FOLDER = Path(__file__).resolve().parents[1] / "conformance" / "data" / "documents"
RUN = 3
SIZE = 4
"""Bytes of a hash: of some 8,000 runs in a document, one in a million quotes is found by mistake."""
PER_LINE = 24


def words(text: str) -> list[str]:
    """Return the words of a text in lower case.

    An apostrophe of any form belongs to its word. Words in camel case are several: tables lose the space between two cells.
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text.replace("\u2019", "'").replace("_", " "))
    return re.findall(r"\w+(?:'\w+)*", apart.lower())


def hashes(text: str, sizes: range) -> Iterator[str]:
    """Yield a hash of each run of words of these sizes."""
    found = words(text)
    for size in sizes:
        for start in range(len(found) - size + 1):
            run = " ".join(found[start : start + size])
            yield blake2b(run.encode(), digest_size=SIZE).hexdigest()


@cache
def kept(name: str) -> frozenset[str]:
    """Return the hashes of a document."""
    return frozenset((FOLDER / f"{name}.txt").read_text(encoding="ascii").split())


def is_quoted(quote: str, name: str) -> bool:
    """Return whether a document has the words of a quote, in their order."""
    size = min(RUN, len(words(quote)))
    return size > 0 and kept(name).issuperset(hashes(quote, range(size, size + 1)))


def main(file: str, name: str) -> None:
    every = sorted(set(hashes(Path(file).read_text(encoding="utf-8"), range(1, RUN + 1))))
    rows = (" ".join(every[at : at + PER_LINE]) for at in range(0, len(every), PER_LINE))
    (FOLDER / f"{name}.txt").write_text("".join(f"{row}\n" for row in rows), encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
