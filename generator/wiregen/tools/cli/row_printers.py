"""Output of objects for programs: JSON lines, one JSON array, CSV."""

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol

from wiregen.formats.json_text import compact_checked

__all__ = ["CsvTable", "JsonArray", "JsonLines", "RowPrinter"]

Row = Mapping[str, object]


class RowPrinter(Protocol):
    """Prints objects one by one, and stores none of them."""

    def row(self, row: Row) -> None: ...

    def close(self) -> None:
        """Print the end of the output."""


class JsonLines:
    """A line for every object."""

    def row(self, row: Row) -> None:
        self.text(compact_checked(row))

    def text(self, text: str) -> None:
        """Print an object that is JSON already."""
        sys.stdout.write(f"{text}\n")

    def close(self) -> None:
        pass


class JsonArray:
    """One array with the same objects."""

    def __init__(self) -> None:
        self._is_empty = True

    def row(self, row: Row) -> None:
        self.text(compact_checked(row))

    def text(self, text: str) -> None:
        """Print an object that is JSON already."""
        print(f"{'[' if self._is_empty else ','}\n{text}", end="")
        self._is_empty = False

    def close(self) -> None:
        print("[]" if self._is_empty else "\n]")


class CsvTable:
    """A line of names, then a line for every object; a missing value is an empty cell, a list or an object JSON."""

    def __init__(self, names: Sequence[str]) -> None:
        self._writer = csv.writer(sys.stdout, lineterminator="\n")
        self._writer.writerow(names)

    def row(self, row: Row) -> None:
        self._writer.writerow(map(_cell, row.values()))

    def close(self) -> None:
        pass


def _cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, list | dict | bool) else value
