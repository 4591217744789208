"""The text of a schema as parts and rows, a row to a line: the place of a diagnostic can be removed, and a
failing schema shrunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Part", "Schema", "shrunk"]


@dataclass(frozen=True, slots=True)
class Part:
    """A declaration: its head, and the content of its braces, a row to a line; without braces, `rows` is None."""

    head: str
    rows: tuple[str, ...] | None = None

    def lines(self) -> Iterator[str]:
        if self.rows is None:
            yield from self.head.split("\n")
            return
        yield from f"{self.head} {{".split("\n")
        yield from (f"  {row}" for row in self.rows)
        yield "}"


@dataclass(frozen=True, slots=True)
class Schema:
    """The declarations of a file; the first one, the protocol's own, cannot be left out."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for part in self.parts for line in part.lines())

    def without(self, lines: set[int]) -> Schema:
        """Return the schema without the rows, and without the declarations whose heads or braces, at these lines (from 1)."""
        kept, number = [], 1
        for part in self.parts:
            n_lines = sum(1 for _ in part.lines())
            n_before = part.head.count("\n") + 1
            own = {line - number - n_before for line in lines if number <= line < number + n_lines}
            number += n_lines
            if not own:
                kept.append(part)
            elif part.rows is not None and own <= set(range(len(part.rows))):
                rows = (row for index, row in enumerate(part.rows) if index not in own)
                kept.append(Part(part.head, tuple(rows)))
            elif part is self.parts[0]:
                kept.append(part)
        return Schema(tuple(kept))

    def smaller(self) -> Iterator[Schema]:
        """Yield the schemas that lack a declaration, then those that lack a row."""
        number = 1
        rows: list[int] = []
        for part in self.parts:
            n_lines = sum(1 for _ in part.lines())
            if part is not self.parts[0]:
                yield self.without({number})
                n_before = part.head.count("\n") + 1
                rows += range(number + n_before, number + n_lines - 1)
            number += n_lines
        yield from (self.without({line}) for line in reversed(rows))


def shrunk(schema: Schema, fails: Callable[[Schema], bool], most: int = 400) -> Schema:
    """Return a schema that still fails and of which no declaration or row can be left out, within `most` trials."""
    n_trials = 0
    found: Schema | None = schema
    while found is not None:
        schema, found = found, None
        for smaller in schema.smaller():
            n_trials += 1
            if n_trials > most:
                return schema
            if fails(smaller):
                found = smaller
                break
    return schema
