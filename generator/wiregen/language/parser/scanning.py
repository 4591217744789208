"""A cheap scan of a text, apart from the grammar: brackets, starts of declarations, unexpected characters.

It recognises only literals and comments, and its cost is linear in the text.
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from wiregen.language.diagnostics import Report, Span

from .keywords import DECLARATION_WORDS

MAX_NESTING = 64
MAX_TOKENS = 250_000

_STRANGE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufffe\uffff]"
)
_START = rf"^[ \t]*(?:open[ \t]+enum|{'|'.join(DECLARATION_WORDS)})\b(?![ \t]*[:=])"
_STEP = re.compile(
    r"(?P<docs>^[ \t]*///[^\n]*)"
    r"|(?P<late_docs>///[^\n]*)"
    r"|(?P<skipped>//[^\n]*|x\"[\w \t]*(?:\r?\n[0-9A-Fa-f \t]*)*\"|\"[^\"\\\n]*(?:\\[^\n][^\"\\\n]*)*\"?|'(?:[^'\\\n]|\\[^\n])+')"
    r"|(?P<opening>[({\[])"
    r"|(?P<closing>[)}\]])"
    rf"|(?P<start>{_START})"
    r"|(?P<other>\w+|[^\s\w])",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A line that begins like a declaration; `offset` is that of its docs, if it has any."""

    offset: int
    word: int
    is_top: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """Offsets of brackets, of `///` after other text, and of the starts of declarations, each in text order."""

    brackets: tuple[int, ...]
    starts: tuple[Start, ...]
    late_docs: tuple[int, ...]
    deepest: int | None
    n_tokens: int

    def open_brackets(self, text: str, offset: int) -> list[int]:
        """Return the offsets of the brackets that are open before `offset`, outermost first."""
        stack: list[int] = []
        for place in self.brackets[: bisect_left(self.brackets, offset)]:
            if text[place] in "({[":
                stack.append(place)
            elif stack:
                stack.pop()
        return stack

    def start_at_or_before(self, offset: int) -> Start | None:
        """Return the declaration that contains an offset."""
        i = bisect_right(self.starts, offset, key=lambda start: start.word)
        return self.starts[i - 1] if i else None

    def next_start(self, offset: int, behind: int) -> Start | None:
        """Return where to resume after an error: a start at or after `offset` and after `behind`, the last one tried."""
        i = bisect_right(self.starts, offset - 1, key=lambda start: start.word)
        return next((s for s in self.starts[i:] if s.is_top and s.word > behind), None)


def outline(text: str) -> Outline:
    """Return the outline of a text, up to the point where it becomes too deep or too long."""
    scan = _Scan()
    for step in _STEP.finditer(text):
        scan.take(step)
        if scan.deepest is not None or scan.n_tokens > MAX_TOKENS:
            break
    return Outline(
        brackets=tuple(scan.brackets),
        starts=tuple(scan.starts),
        late_docs=tuple(scan.late_docs),
        deepest=scan.deepest,
        n_tokens=scan.n_tokens,
    )


class _Scan:
    """The outline of the text scanned so far; `docs` is where the docs before the next token begin."""

    __slots__ = ("brackets", "deepest", "depth", "docs", "late_docs", "n_tokens", "starts")

    def __init__(self) -> None:
        self.brackets: list[int] = []
        self.starts: list[Start] = []
        self.late_docs: list[int] = []
        self.deepest: int | None = None
        self.n_tokens = 0
        self.depth = 0
        self.docs: int | None = None

    def take(self, step: re.Match[str]) -> None:
        self.n_tokens += 1
        match step.lastgroup:
            case "docs":
                self.docs = step.start() if self.docs is None else self.docs
                return
            case "late_docs":
                self.late_docs.append(step.start())
            case "opening":
                self._open(step.start())
            case "closing":
                self.depth = max(self.depth - 1, 0)
                self.brackets.append(step.start())
            case "start":
                self._start(step)
        self.docs = None

    def _open(self, offset: int) -> None:
        self.depth += 1
        self.brackets.append(offset)
        if self.depth > MAX_NESTING:
            self.deepest = offset

    def _start(self, step: re.Match[str]) -> None:
        word = step.end() - len(step[0].lstrip())
        # At the margin a declaration is meant, even after a bracket that was never closed.
        is_top = self.depth == 0 or word == step.start()
        self.starts.append(Start(offset=word if self.docs is None else self.docs, word=word, is_top=is_top))


def report_obstacles(text: str, seen: Outline, source: str, report: Report) -> bool:
    """Report the features that make a text unfit for the grammar, and return whether there are any."""
    is_strange = _report_strange(text, source, report)
    if seen.deepest is not None:
        report.error(
            "WG1109",
            f"brackets nested deeper than {MAX_NESTING} levels",
            Span(source=source, start=seen.deepest, end=seen.deepest + 1),
            help="declare inner blocks under names of their own, with struct, type or const",
        )
    elif seen.n_tokens > MAX_TOKENS:
        report.error(
            "WG1119",
            f"more than {MAX_TOKENS} words and signs in one file",
            None,
            help="divide the file, and connect the files with `import`",
        )
    return is_strange or seen.deepest is not None or seen.n_tokens > MAX_TOKENS


def _report_strange(text: str, source: str, report: Report) -> bool:
    match = None
    for match in _STRANGE.finditer(text):
        if report.is_full:
            break
        report.error(
            "WG1101",
            f"the character U+{ord(match[0]):04X} is not allowed in a .wire file",
            Span(source=source, start=match.start(), end=match.end()),
            help="remove it; in a text write its escape, such as \\u200b",
        )
    return match is not None


def report_late_docs(seen: Outline, source: str, report: Report) -> None:
    """Report `///` after other text on its line: it would document the next node, which is never meant."""
    for offset in seen.late_docs:
        report.error(
            "WG1115",
            "`///` needs a line of its own, before the element that it documents",
            Span(source=source, start=offset, end=offset + 3),
            help="move it to the line before, or write a plain comment with `//`",
        )
