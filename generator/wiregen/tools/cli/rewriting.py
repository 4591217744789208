"""A `.wire` file and its new text: the difference to show, or the file to write."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wiregen.language.source import Source

__all__ = ["Rewritten"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A source and its new text, both with `\\n` as line end; `path` is None for stdin."""

    source: "Source"
    path: Path | None
    text: str

    @property
    def is_changed(self) -> bool:
        return self.text != self.source.text

    def diff(self) -> str:
        """Return the changes as a unified diff; "" without changes."""
        from difflib import unified_diff

        old, new = self.source.text.splitlines(keepends=True), self.text.splitlines(keepends=True)
        lines = unified_diff(old, new, self.source.name, self.source.name)
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        )

    def write(self) -> None:
        """Replace the file if its text changes, or write that of stdin; line ends stay `\\r\\n` if the first one is."""
        from wiregen.tools.cli.output import destination

        data = self.text.replace("\n", self.source.line_end).encode()
        if self.path is None:
            sys.stdout.buffer.write(data)
        elif self.is_changed:
            with destination(str(self.path)) as file:
                file.write(data)
