"""Mutants against vectors: who noticed what.

    python -m tests.mutation.running lumberjack [PART OF AN ID]

prints the survivors of one protocol.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from wiregen.conformance.vectors.format import Invalid, Valid, read_vectors

from .judging import Judge, View
from .mutants import Mutant, Planting, mutants
from .outcomes import Hung, Outcome, guarded, in_time
from .touching import touched

__all__ = ["PROTOCOLS", "Found", "Hunt", "end_hunts", "hunt_of", "sampled"]

PROTOCOLS: Final = ("lumberjack", "geode", "pravega")
ROOT: Final = Path(__file__).resolve().parents[2]
_SECONDS: Final = 5.0
_NEAR: Final = 30 if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else 4
"""Vectors whose bytes are changed to try what lives: 1,600 forms of each."""
_FORMS: Final = 10


@dataclass(frozen=True, slots=True)
class Found:
    """The fate of a mutant.

    Attributes:
        vector: The one that distinguished it from the original, or None if it lives.
        is_slower: It lives: it calls the reference codec where the original does not, or the other way
            round, with the same verdict.
        hostile: It lives: bytes outside all vectors that distinguish it from the original, or None if the
            tried ones do not.
    """

    mutant: Mutant
    vector: str | None
    is_slower: bool = False
    hostile: str | None = None


class Hunt:
    """One protocol: its module, the views of its vectors, and which of them run which function."""

    def __init__(self, protocol: str) -> None:
        self.module: ModuleType = importlib.import_module(f"wireproto.{protocol}.messages")
        self.mutants = mutants(self.module)
        file = read_vectors((ROOT / "generated" / "vectors" / f"{protocol}.json").read_bytes())
        self._judge = Judge(self.module)
        self._vectors = {vector.id: vector for vector in file.vectors if isinstance(vector, Valid | Invalid)}
        self._nearby: dict[str, tuple[View, ...]] = {}
        self._expected: dict[int, tuple[Outcome, int]] = {}
        self._by_name: dict[str, list[View]] = defaultdict(list)
        views, ran = self._judge.views(file.vectors), dict[tuple[str, str], frozenset[str]]()
        with touched(self.module) as names:
            for view in views:
                call = (view.vector, view.kind)
                if call not in ran:
                    names.clear()
                    view.look()
                    ran[call] = frozenset(names)
                for name in ran[call]:
                    self._by_name[name].append(view)

    def close(self) -> None:
        """Leave the module as it was: other tests of this process use it."""
        self._judge.close()

    def run(self, chosen: Iterable[Mutant]) -> Iterator[Found]:
        """Yield what became of each."""
        for mutant in chosen:
            yield self._found(mutant, self._views(mutant))

    def _views(self, mutant: Mutant) -> list[View]:
        names = mutant.readers or (mutant.function,)
        seen = {id(view): view for name in names for view in self._by_name[name]}
        return sorted(seen.values(), key=lambda view: view.size)

    def _found(self, mutant: Mutant, views: Sequence[View]) -> Found:
        with guarded():
            killed, is_slower = self._told_by(mutant, views)
            if killed is not None:
                return Found(mutant, self._told(killed))
            shown, _ = self._told_by(mutant, self._hostile(views))
        return Found(mutant, None, is_slower, None if shown is None else shown.vector)

    def probed(self, mutant: Mutant) -> str | None:
        """Return bytes outside all vectors that distinguish a mutant from the original, or None if the
        tried ones do not.
        """
        with guarded():
            shown, _ = self._told_by(mutant, self._hostile(self._views(mutant)))
        return None if shown is None else shown.vector

    def _hostile(self, views: Sequence[View]) -> Iterator[View]:
        """Yield views of bytes near some of the vectors of these views."""
        near = [name for name in dict.fromkeys(view.vector for view in views) if name in self._vectors]
        for name in near[:: max(1, len(near) // _NEAR)]:
            if name not in self._nearby:
                self._nearby[name] = tuple(self._judge.hostile_views(self._vectors[name], _FORMS))
            yield from self._nearby[name]

    def _told_by(self, mutant: Mutant, views: Iterable[View]) -> tuple[View | None, bool]:
        """Return the view that tells a mutant from the original, and whether any saw the reference codec asked more or less often."""
        changed, is_slower = Planting(self.module, mutant), False
        for view in views:
            if id(view) not in self._expected:
                self._expected[id(view)] = self._judge.seen(view)
            verdict, n_asked = self._expected[id(view)]
            try:
                with changed, in_time(_SECONDS):
                    other, n_others = self._judge.seen(view)
            except (Hung, RecursionError, MemoryError):
                return view, is_slower
            if other != verdict:
                return view, is_slower
            is_slower |= n_others != n_asked
        return None, is_slower

    def _told(self, view: View) -> str:
        """Return the first view that differed, and try it first from now on: it often detects other faults
        of the function.
        """
        view.size = min(view.size, 0) - 1
        return view.vector


_HUNTS: Final[dict[str, Hunt]] = {}


def hunt_of(protocol: str) -> Hunt:
    """Return the one of a protocol, which lasts until `end_hunts`."""
    if protocol not in _HUNTS:
        _HUNTS[protocol] = Hunt(protocol)
    return _HUNTS[protocol]


def end_hunts() -> None:
    """Leave all modules as they were."""
    while _HUNTS:
        _HUNTS.popitem()[1].close()


def sampled(count: int, seed: int = 0) -> dict[str, list[Mutant]]:
    """Return that many mutants of all protocols, by protocol; 0: all."""
    everyone = [
        (protocol, mutant)
        for protocol in PROTOCOLS
        for mutant in mutants(importlib.import_module(f"wireproto.{protocol}.messages"))
    ]
    chosen = everyone if not count else random.Random(seed).sample(everyone, count)
    by_protocol: dict[str, list[Mutant]] = {protocol: [] for protocol in PROTOCOLS}
    for protocol, mutant in chosen:
        by_protocol[protocol].append(mutant)
    return by_protocol


def main() -> None:
    protocol, *parts = sys.argv[1:]
    hunt, asks_equivalent = Hunt(protocol), "equivalent" in parts
    words = [part for part in parts if part[0] != "%" and part != "equivalent"]
    chosen = [
        mutant
        for mutant in hunt.mutants
        if bool(mutant.equivalent) == asks_equivalent and all(word in mutant.id for word in words)
    ]
    step = next((int(part[1:]) for part in parts if part.startswith("%")), 1)
    chosen = random.Random(1).sample(chosen, len(chosen) // step)
    killed = 0
    for found in hunt.run(chosen):
        killed += found.vector is not None
        if (found.vector is None) != asks_equivalent or found.hostile is not None:
            print(f"{found.mutant.line}: {found.mutant.id}{_told(found)}", flush=True)
    print(f"{killed} of {len(chosen)}")


def _told(found: Found) -> str:
    if found.hostile is not None:
        return f" (shown by {found.hostile})"
    if found.vector is not None:
        return f" (shown by {found.vector})"
    return " (slower)" if found.is_slower else ""


if __name__ == "__main__":
    main()
