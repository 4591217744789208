"""The fragments that wait for the last one of their message, by join, direction and key.

Invariant: fragments are copied only when the last one has arrived, so each fragment takes constant time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ..codec.compiled import BRIEF_REFERENCE
from ..codec.errors import DecodeError, within
from ..schema.protocol import Schema
from .snapshots import Key, plain, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..reference.expressions import Value

__all__ = ["Joins", "Mark", "OpenJoin", "limit_of_joins"]

Owner: TypeAlias = tuple[str | None, Key]
"""The sender of the fragments, and their key."""


Mark: TypeAlias = "tuple[str, str | None, Key, Value, Value, bool]"
"""The state of one key for `undo`: join, direction, key, its open reassembly with the sizes, and whether the direction had refused fragments."""


def limit_of_joins(schema: Schema) -> str:
    """Return the name of the limit on reassembled data: `joined`, or `frame` if the file does not declare it."""
    return "frame" if schema.limits.get("joined") is None else "joined"


BRIEF_JOINED = 16 * 1024
"""The most bytes of earlier fragments that are reassembled and decoded without a thread, even by the reference codec."""


class OpenJoin:
    """The fragments of one reassembly; `n_damages`: how often bytes of the direction were lost before its first fragment."""

    __slots__ = ("n_damages", "n_pieces", "pieces", "size")

    def __init__(self, n_damages: int) -> None:
        self.n_damages = n_damages
        self.n_pieces = 0
        self.pieces: list[bytes] = []
        self.size = 0


class Joins:
    """The open reassemblies of one connection."""

    def __init__(self, schema: Schema, most_open: int) -> None:
        self._most_open = most_open
        self._limit = limit_of_joins(schema)
        self._rules = schema.limit_rules
        self._open: dict[str, dict[Owner, OpenJoin]] = {name: {} for name in schema.joins}
        self.journal: list[Mark] | None = None
        """If set, it receives a mark before each change, so that the caller can undo the changes."""
        self._n_damages: dict[str | None, int] = {}
        self._refused: set[tuple[str, str | None]] = set()
        self._indices: dict[tuple[str, tuple[int, ...]], dict[Owner, dict[Key, None]]] = {}

    def find(self, name: str, direction: str | None, key: Key) -> OpenJoin | None:
        """Return the fragments so far, or None."""
        return self._open[name].get((direction, key))

    def may_take_long(self, n_more: int) -> bool:
        """Return whether reading `n_more` bytes may complete data that takes long to decode."""
        if not any(self._open.values()):
            return False
        return n_more > BRIEF_REFERENCE or any(
            open_.size > BRIEF_JOINED for entries in self._open.values() for open_ in entries.values()
        )

    def is_open(self, name: str) -> bool:
        return bool(self._open[name])

    def is_damaged(self, name: str, direction: str | None, open_: OpenJoin | None) -> bool:
        """Return whether a fragment may be missing: bytes of the direction were lost, or fragments were refused."""
        if open_ is None:
            return (name, direction) in self._refused
        return open_.n_damages != self._n_damages.get(direction, 0)

    def add(self, name: str, direction: str | None, key: Key, data: bytes, most_bytes: int) -> int:
        """Add a fragment that is not the last; return its index.

        Raises:
            DecodeError: `limit_exceeded`; the reassembly of the key is then damaged.
        """
        if self.journal is not None:
            self.journal.append(self.mark(name, direction, key))
        open_ = self.find(name, direction, key)
        if open_ is None:
            open_ = self._begin(name, direction, key)
        index = open_.n_pieces
        open_.n_pieces += 1
        if open_.size + len(data) > most_bytes:
            open_.n_damages, open_.size = -1, 0
            open_.pieces = []
            raise self.too_long(name, most_bytes)
        if data:  # empty ones count against no limit of bytes, so they may not take memory
            open_.pieces.append(data)
        open_.size += len(data)
        return index

    def whole(
        self, name: str, open_: OpenJoin | None, data: bytes, most_bytes: int, *, is_damaged: bool
    ) -> tuple[bytes, int]:
        """Return the reassembled bytes, and the number of fragments before the last one.

        Raises:
            DecodeError: `incomplete_join`, `limit_exceeded`.
        """
        pieces, index = self.pieces(name, open_, data, most_bytes, is_damaged=is_damaged)
        return b"".join(pieces), index

    def pieces(
        self, name: str, open_: OpenJoin | None, data: bytes, most_bytes: int, *, is_damaged: bool
    ) -> tuple[tuple[bytes, ...], int]:
        """Return the fragments themselves, and the number of fragments before the last one.

        Raises:
            DecodeError: `incomplete_join`, `limit_exceeded`.
        """
        if is_damaged:
            raise DecodeError(
                "incomplete_join", path=name, expected="all pieces", found="a loss between them"
            )
        size, pieces = (0, []) if open_ is None else (open_.size, open_.pieces)
        if size + len(data) > most_bytes:
            raise self.too_long(name, most_bytes)
        return (*pieces, data), 0 if open_ is None else open_.n_pieces

    def too_long(self, name: str, most_bytes: int) -> DecodeError:
        expected, rule = within(f"at most {most_bytes} bytes", self._limit), self._rules.get(self._limit)
        return DecodeError("limit_exceeded", rule=rule, path=name, expected=expected, found="more")

    def _begin(self, name: str, direction: str | None, key: Key) -> OpenJoin:
        entries = self._open[name]
        if len(entries) >= self._most_open:
            self._refused.add((name, direction))
            expected = within(f"at most {self._most_open} open keys", "open")
            raise DecodeError("limit_exceeded", rule=self._rules.get("open"), path=name, expected=expected)
        made = OpenJoin(self._n_damages.get(direction, 0))
        self._enter(name, direction, key, made)
        return made

    def _enter(self, name: str, direction: str | None, key: Key, open_: OpenJoin) -> None:
        self._open[name][direction, key] = open_
        for positions, index in self._indices_of(name):
            index.setdefault((direction, _at(key, positions)), {})[key] = None

    def close(self, name: str, direction: str | None, key: Key) -> None:
        """Drop the fragments of a key, if there are any."""
        if self.journal is not None:
            self.journal.append(self.mark(name, direction, key))
        if self._open[name].pop((direction, key), None) is None:
            return
        for positions, index in self._indices_of(name):
            owner = (direction, _at(key, positions))
            index[owner].pop(key)
            if not index[owner]:
                del index[owner]

    def clear(self, name: str, direction: str | None, known: Mapping[int, object]) -> None:
        """Drop the fragments of all keys that have these values at these positions."""
        if not self._open[name]:
            return
        positions = tuple(known)
        index = self._indices.get((name, positions))
        if index is None:
            index = self._indices[name, positions] = {}
            for sender, key in self._open[name]:
                index.setdefault((sender, _at(key, positions)), {})[key] = None
        for key in tuple(index.get((direction, tuple(known.values())), ())):
            self.close(name, direction, key)

    def _indices_of(self, name: str) -> Iterator[tuple[tuple[int, ...], dict[Owner, dict[Key, None]]]]:
        return ((positions, index) for (owner, positions), index in self._indices.items() if owner == name)

    def damage(self, direction: str | None) -> None:
        """Record that bytes of a direction were lost: its open reassemblies may lack a fragment."""
        self._n_damages[direction] = self._n_damages.get(direction, 0) + 1

    def first_open(self, direction: str | None) -> tuple[str, Key] | None:
        """Return the join and key of an open reassembly of a direction: the oldest one of the first join that has any."""
        for name, entries in self._open.items():
            for sender, key in entries:
                if sender == direction:
                    return name, key
        return None

    def mark(self, name: str, direction: str | None, key: Key) -> Mark:
        """Return the state of a key, for `undo`."""
        open_ = self.find(name, direction, key)
        kept = (
            None
            if open_ is None
            else (open_.pieces, len(open_.pieces), open_.n_pieces, open_.size, open_.n_damages)
        )
        return name, direction, key, open_, kept, (name, direction) in self._refused

    def undo(self, mark: Mark) -> None:
        """Restore the fragments of a key as they were when they were marked."""
        name, direction, key, open_, kept, was_refused = mark
        if not was_refused:
            self._refused.discard((name, direction))
        if open_ is None or kept is None:
            self.close(name, direction, key)
            return
        if self.find(name, direction, key) is not open_:
            self._enter(name, direction, key, open_)
        open_.pieces, n_kept, open_.n_pieces, open_.size, open_.n_damages = kept
        del open_.pieces[n_kept:]

    # ---- snapshots ----

    def snapshot(self) -> dict[str, list[dict[str, Value]]]:
        """Return the open reassemblies as JSON data, by join."""
        return {name: [self._row(name, *owner) for owner in entries] for name, entries in self._open.items()}

    def _row(self, name: str, direction: str | None, key: Key) -> dict[str, object]:
        open_ = self._open[name][direction, key]
        return {
            "from": direction,
            "key": [plain(part) for part in key],
            "pieces": open_.n_pieces,
            "data": b"".join(open_.pieces).hex(),
            "damaged": self.is_damaged(name, direction, open_),
        }

    def restore(self, rows: Mapping[str, list[dict[str, Value]]]) -> None:
        """Replace the open reassemblies by those of a snapshot.

        Raises:
            ValueError: It is not a snapshot of open reassemblies.
        """
        self._n_damages, self._refused, self._indices = {}, set(), {}
        self._open = {name: dict(map(_restored, rows.get(name, ()))) for name in self._open}


def _restored(row: dict[str, Value]) -> tuple[Owner, OpenJoin]:
    try:
        open_ = OpenJoin(-1 if row["damaged"] else 0)
        open_.pieces, open_.n_pieces = [bytes.fromhex(row["data"])], int(row["pieces"])
        open_.size = len(open_.pieces[0])
        return (row["from"], tuple(value_of(part) for part in row["key"])), open_
    except (KeyError, TypeError, ValueError):
        raise ValueError("not a snapshot of this protocol's joins") from None


def _at(key: Key, positions: tuple[int, ...]) -> Key:
    return tuple(key[position] for position in positions)
