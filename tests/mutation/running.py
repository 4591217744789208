"""Mutants against vectors: who noticed what.

    python -m tests.mutation.running lumberjack [PART OF AN ID]

prints the survivors of one protocol.
"""

from __future__ import annotations

import importlib
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from wiregen.vectors.format import read_vectors

from .judging import Hung, Judge, View, in_time
from .mutants import Mutant, mutants, planted

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
    """One protocol: its module, what the vectors show of it as it is, and which of them run which function."""

    def __init__(self, protocol: str) -> None:
        self.module: ModuleType = importlib.import_module(f"wireproto.{protocol}.messages")
        self.mutants = mutants(self.module)
        file = read_vectors((ROOT / "generated" / "vectors" / f"{protocol}.json").read_bytes())
        judge = Judge(self.module)
        self._expected: dict[int, Any] = {}
        self._by_code: dict[CodeType, list[View]] = defaultdict(list)
        for view in judge.views(file.vectors):
            outcome, ran = judge.touched(view)
            self._expected[id(view)] = outcome
            for code in ran:
                self._by_code[code].append(view)
        self._codes = {
            name: _code(self.module, name) for name in {each.function for each in self.mutants if each.make}
        }

    def run(self, chosen: Sequence[Mutant]) -> Iterator[Found]:
        """Yield what became of each."""
        for mutant in chosen:
            views = self._views(mutant)
            with planted(self.module, mutant):
                yield Found(mutant, self._noticed(views))

    def _views(self, mutant: Mutant) -> list[View]:
        names = mutant.readers or (mutant.function,)
        seen = {id(view): view for name in names for view in self._by_code[self._code(name)]}
        return sorted(seen.values(), key=lambda view: view.size)

    def _code(self, name: str) -> CodeType:
        if name not in self._codes:
            self._codes[name] = _code(self.module, name)
        return self._codes[name]

    def _noticed(self, views: Sequence[View]) -> str | None:
        for view in views:
            try:
                with in_time(_SECONDS):
                    if view.look() != self._expected[id(view)]:
                        return view.vector
            except (Hung, RecursionError, MemoryError):
                return view.vector
        return None


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
    chosen = [mutant for mutant in hunt.mutants if all(part in mutant.id for part in parts)]
    killed = 0
    for found in hunt.run(chosen):
        killed += found.vector is not None
        if found.vector is None:
            print(f"{found.mutant.line}: {found.mutant.id}")
    print(f"{killed} of {len(chosen)}")


if __name__ == "__main__":
    main()
