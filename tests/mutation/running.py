"""Mutants against vectors: who noticed what.

    python -m tests.mutation.running lumberjack [PART OF AN ID]

prints the survivors of one protocol.
"""

from __future__ import annotations

import importlib
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from wiregen.vectors.format import read_vectors

from .judging import Hung, Judge, View, in_time
from .mutants import Mutant, Planting, mutants

__all__ = ["PROTOCOLS", "Found", "Hunt", "sampled"]

PROTOCOLS: Final = ("lumberjack", "geode", "pravega")
ROOT: Final = Path(__file__).resolve().parents[2]
_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Found:
    """A mutant, and the vector that told it from the original; None: it lives."""

    mutant: Mutant
    vector: str | None


class Hunt:
    """One protocol: its module, the views of its vectors, and which of them run which function."""

    def __init__(self, protocol: str) -> None:
        self.module: ModuleType = importlib.import_module(f"wireproto.{protocol}.messages")
        self.mutants = mutants(self.module)
        file = read_vectors((ROOT / "generated" / "vectors" / f"{protocol}.json").read_bytes())
        self._judge = Judge(self.module)
        self._expected: dict[int, Any] = {}
        self._by_code: dict[CodeType, list[View]] = defaultdict(list)
        ran: dict[tuple[str, str], set[CodeType]] = {}
        for view in self._judge.views(file.vectors):
            road = (view.vector, view.road)
            if road not in ran:
                ran[road] = self._judge.touched(view)
            for code in ran[road]:
                self._by_code[code].append(view)

    def run(self, chosen: Iterable[Mutant]) -> Iterator[Found]:
        """Yield what became of each."""
        for mutant in chosen:
            yield Found(mutant, self._noticed(mutant, self._views(mutant)))

    def _views(self, mutant: Mutant) -> list[View]:
        names = mutant.readers or (mutant.function,)
        seen = {id(view): view for name in names for view in self._by_code[_code(self.module, name)]}
        return sorted(seen.values(), key=lambda view: view.size)

    def _noticed(self, mutant: Mutant, views: Sequence[View]) -> str | None:
        changed = Planting(self.module, mutant)
        for view in views:
            if id(view) not in self._expected:
                self._expected[id(view)] = view.look()
            expected = self._expected[id(view)]
            try:
                with changed, in_time(_SECONDS):
                    if view.look() != expected:
                        return self._told(view)
            except (Hung, RecursionError, MemoryError):
                return self._told(view)
        return None

    def _told(self, view: View) -> str:
        """Return who noticed, and have it asked first from now on: what tells one fault of a function tells others."""
        view.size = min(view.size, 0) - 1
        return view.vector


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


def _code(module: ModuleType, name: str) -> CodeType:
    found: Any = module
    for part in name.split("."):
        found = vars(found)[part]
    code: CodeType = found.__code__
    return code


def main() -> None:
    protocol, *parts = sys.argv[1:]
    hunt = Hunt(protocol)
    chosen = [
        mutant
        for mutant in hunt.mutants
        if not mutant.equivalent and all(part in mutant.id for part in parts if not part.startswith("%"))
    ]
    step = next((int(part[1:]) for part in parts if part.startswith("%")), 1)
    chosen = random.Random(1).sample(chosen, len(chosen) // step)
    killed = 0
    for found in hunt.run(chosen):
        killed += found.vector is not None
        if found.vector is None:
            print(f"{found.mutant.line}: {found.mutant.id}", flush=True)
    print(f"{killed} of {len(chosen)}")


if __name__ == "__main__":
    main()
