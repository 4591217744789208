"""The list of sentences about which the checker is wrong, each with its reason."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .paragraph import Sentence

__all__ = ["Exceptions", "ExceptionsError", "KnownException", "load"]

_KEYS: Final = {"path", "rule", "text", "reason"}


class ExceptionsError(ValueError):
    """An entry of the list lacks a key, has another one, or an empty text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownException:
    """A sentence that may break a rule.

    Attributes:
        text: A part of the sentence.
        reason: Why the rule does not apply to it.
    """

    path: str
    rule: str
    text: str
    reason: str


class Exceptions:
    """The entries, with a count of the sentences that each of them excused."""

    def __init__(self, entries: Collection[KnownException]) -> None:
        self._entries = entries
        self._uses: Counter[KnownException] = Counter()

    def excuse(self, path: str, rule: str, sentence: Sentence) -> bool:
        """Return whether the sentence is on the list for this rule; its entry counts as used."""
        for entry in self._entries:
            if (entry.path, entry.rule) == (path, rule) and entry.text in sentence.text:
                self._uses[entry] += 1
                return True
        return False

    def stale(self, read: Collection[str], all_paths: Collection[str]) -> Iterator[KnownException]:
        """Yield the entries of files that were read, or that are no longer there, which excused no sentence."""
        for entry in self._entries:
            if not self._uses[entry] and (entry.path in read or entry.path not in all_paths):
                yield entry


def load(path: Path) -> Exceptions:
    """Return the list of a file.

    Raises:
        ExceptionsError: An entry is not complete.
    """
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("exception", [])
    for entry in entries:
        if set(entry) != _KEYS or not all(isinstance(value, str) and value for value in entry.values()):
            raise ExceptionsError(f"{path}: expected {', '.join(sorted(_KEYS))} with a text each: {entry}")
    return Exceptions([KnownException(**entry) for entry in entries])
