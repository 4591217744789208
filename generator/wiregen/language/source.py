"""Source files: bounded reads, import lookup, conversion of offsets to lines and columns.

Imports never leave the source roots, and only regular files are read.
"""

import os
import re
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Final

from wiregen.language.diagnostics import Label, Report, Span, did_you_mean, suggest
from wiregen.language.regular_files import NotRegularError, TooLargeError, read_regular

MAX_SOURCE_SIZE: Final = 4 * 1024 * 1024
MAX_LISTED: Final = 1000
MAX_NAMED: Final = 12
SUFFIX: Final = ".wire"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text and its file; `name` is the name that diagnostics show, `line_end` that of the file's first line."""

    name: str
    path: Path
    text: str
    line_end: str = "\n"
    _starts: "array[int]" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sizes = (len(line) + 1 for line in self.text.split("\n")[:-1])
        object.__setattr__(self, "_starts", array("I", accumulate(sizes, initial=0)))

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1, in characters; an offset outside the text is moved to its nearest end."""
        inside = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, inside)
        return line, inside - self._starts[line - 1] + 1

    def line_bounds(self, line: int) -> tuple[int, int]:
        """Return the offsets of a line's first character and of its end.

        Return (0, 0) for a line before the first, and the text's end twice for one after the last.
        """
        if line < 1:
            return 0, 0
        if line > len(self._starts):
            return len(self.text), len(self.text)
        start = self._starts[line - 1]
        if line == len(self._starts):
            return start, len(self.text)
        end = self._starts[line] - 1
        return start, end - (self.text[start:end][-1:] == "\r")

    def line_text(self, line: int) -> str:
        """Return a line without its end; "" if it does not exist."""
        start, end = self.line_bounds(line)
        return self.text[start:end]


class Sources(Mapping[str, Source]):
    """The sources of one run by name, including those with errors, so that their diagnostics can show lines."""

    __slots__ = ("_sources", "unsaved")

    def __init__(self, *sources: Source, unsaved: Mapping[str, str] = MappingProxyType({})) -> None:
        """`unsaved`: texts that are read instead of the files of these names, as an editor has them."""
        self._sources = {source.name: source for source in sources}
        self.unsaved = unsaved

    def add(self, source: Source) -> None:
        self._sources[source.name] = source

    def __getitem__(self, name: str) -> Source:
        return self._sources[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def load(
    path: Path,
    sources: Sources,
    report: Report,
    *,
    roots: tuple[Path, ...] | None = None,
    imported_at: Span | None = None,
) -> Source | None:
    """Read a file into `sources`; report an error and return None if it cannot be read.

    Args:
        roots: Folders that the file must lie below, links followed, or None for a file that the user named.
        imported_at: The place of the import, for an error that has no place in the file itself.
    """
    name = path.as_posix()
    if roots is not None and not _is_below(path, roots):
        report.error("WG1007", f"`{name}` lies outside of the source roots", imported_at, help=_ROOTS_HELP)
        return None
    unsaved = sources.unsaved.get(name)
    data = _read(path, report, imported_at) if unsaved is None else unsaved.encode("utf-8", "replace")
    if data is None:
        return None
    return decode(name, path, data, sources, report)


_ROOTS_HELP: Final = "move the file below a source root, or add its folder to the source roots"

_LINK_HELP: Final = "correct the link, or remove it"


def _read(path: Path, report: Report, at: Span | None) -> bytes | None:
    name = path.as_posix()
    try:
        return read_regular(path, MAX_SOURCE_SIZE)
    except FileNotFoundError:
        if path.is_symlink():
            report.error("WG1001", f"`{name}` is a broken link", at, help=_LINK_HELP)
        else:
            report.error("WG1001", f"there is no file `{name}`", at, help=_near(path))
    except NotRegularError:
        report.error("WG1002", f"`{name}` is not a regular file", at)
    except TooLargeError:
        report.error(
            "WG1006", f"`{name}` is larger than 4 MiB", at, help="divide the file, and import the parts"
        )
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        report.error("WG1001", f"`{name}` cannot be read: {reason}", at)
    return None


def _near(path: Path) -> str:
    """Return the files in the folder of a missing one as text, the nearest name first."""
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder `{folder.as_posix()}` either"
    names = sorted(_listed(folder))
    if not names:
        return f"the folder has no {SUFFIX} file"
    files = ", ".join(f"{name}{SUFFIX}" for name in names[:MAX_NAMED])
    listed = f"the folder has: {files}{', …' if len(names) > MAX_NAMED else ''}"
    # Without the suffix, which all names share and which would make every name similar.
    nearest = suggest(path.stem, names)
    return f"did you mean `{nearest}{SUFFIX}`? {listed}" if nearest else listed


def decode(name: str, path: Path, data: bytes, sources: Sources, report: Report) -> Source | None:
    """Return the source with `\\n` as its only line end, so that a checkout's line ends change no output.

    Report an error and return None if the bytes are not those of a `.wire` file.
    """
    fault: UnicodeDecodeError | None = None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        fault = error
        text = data.decode(errors="replace")
    is_windows = text.partition("\n")[0].endswith("\r") and "\n" in text
    line_end = "\r\n" if is_windows else "\n"
    source = Source(name=name, path=path, text=text.replace("\r\n", "\n"), line_end=line_end)
    sources.add(source)
    if fault is not None:
        _report_not_utf8(name, data, fault.start, report)
        return None
    return None if _has_unwanted(source, data, report) else source


def _report_not_utf8(name: str, data: bytes, place: int, report: Report) -> None:
    offset = len(data[:place].decode().replace("\r\n", "\n"))
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    report.error(
        "WG1003",
        f"byte 0x{data[place]:02x} at offset {place} is not UTF-8",
        Span(source=name, start=offset, end=offset + 1),
        label="this byte",
        help="save the file as UTF-8" + ("; it looks like UTF-16" if utf16 else ""),
    )


def _has_unwanted(source: Source, data: bytes, report: Report) -> bool:
    if source.text.startswith(_BOM):
        span = Span(source=source.name, start=0, end=1)
        message = "the file begins with a byte order mark, at byte offset 0"
        report.error("WG1004", message, span, help="save the file as UTF-8 without a byte order mark")
    nul = source.text.find("\0")
    if nul >= 0:
        span = Span(source=source.name, start=nul, end=nul + 1)
        message = f"NUL character at byte offset {data.index(0)}"
        report.error("WG1005", message, span, help='write `\\x00` in a text, `x"00"` in bytes')
    return nul >= 0 or source.text.startswith(_BOM)


def find_import(
    name: str, importer: Source, roots: tuple[Path, ...], unsaved: Collection[str] = ()
) -> Path | None:
    """Return the file that `import name` means: next to the importing file, else in the first root that has it.

    Only regular files below a root, links followed, are found, and those that only an editor has. The folder of a file
    that the user named from elsewhere has to be among the roots.
    """
    if not _NAME.fullmatch(name):
        return None
    for path in _candidates(name, importer, roots):
        if (_is_regular(path) or path.as_posix() in unsaved) and _is_below(path, roots):
            return path
    return None


def require_import(
    name: str,
    span: Span,
    importer: Source,
    roots: tuple[Path, ...],
    report: Report,
    *,
    unsaved: Collection[str] = (),
    suggests: bool = True,
) -> Path | None:
    """Return the file that `find_import` finds, or report at `span` why it is missing.

    `suggests`: the report offers the nearest name.
    """
    found = find_import(name, importer, roots, unsaved)
    if found is not None:
        return found
    if _NAME.fullmatch(name) and any(map(_is_regular, _candidates(name, importer, roots))):
        message = f"import `{name}` leads out of the source roots"
        report.error("WG1007", message, span, label="imported here", help=_ROOTS_HELP)
        return None
    known = available((importer.path.parent, *roots)) if suggests else ()
    report.offer(span, known)
    help_ = did_you_mean(name, known) if suggests else None
    help_ = (
        help_ or f"an import looks for `{name}{SUFFIX}` in the folder of this file, then in the source roots"
    )
    report.error("WG1008", f"there is no protocol `{name}` to import", span, label="not found", help=help_)
    return None


def available(roots: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the sorted import names of files in these folders; at most 1000 entries of each are read."""
    names = {name for root in roots for name in _listed(root)}
    return tuple(sorted(name for name in names if _NAME.fullmatch(name)))


def report_cycle(steps: tuple[tuple[str, Span], ...], report: Report) -> None:
    """Report that imports form a cycle; a step is the imported name and the place of its import."""
    (first, span), *rest = steps
    if not rest:
        help_ = "remove the import: all names of a file are visible everywhere in it"
        report.error("WG1009", f"`{first}` imports itself", span, help=help_)
        return
    others = tuple(Label(span=place, text=f"which imports `{name}`") for name, place in rest)
    route = " -> ".join(f"`{name}`" for name, _ in (*steps, steps[0]))
    help_ = "move the shared declarations into a third file, and import it"
    message = f"the imports form a cycle: {route}"
    report.error("WG1009", message, span, label=f"imports `{first}`", others=others, help=help_)


def as_shown(path: Path) -> Path:
    """Return the path relative to the working folder if it lies below, so that diagnostics are short."""
    try:
        return path.absolute().relative_to(os.getcwd())
    except ValueError:
        return path


def _candidates(name: str, importer: Source, roots: tuple[Path, ...]) -> Iterator[Path]:
    return (folder / f"{name}{SUFFIX}" for folder in (importer.path.parent, *roots))


def _listed(root: Path) -> Iterator[str]:
    try:
        with os.scandir(root) as entries:
            for _, entry in zip(range(MAX_LISTED), entries, strict=False):
                if entry.name.endswith(SUFFIX):
                    yield entry.name.removesuffix(SUFFIX)
    except (OSError, ValueError):
        return


def _is_regular(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_below(path: Path, roots: tuple[Path, ...]) -> bool:
    try:
        real = path.resolve()
        return any(real.is_relative_to(root.resolve()) for root in roots)
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links that go round in a circle
        return False


def shipped_protocols() -> Path:
    """Return the folder of the protocols that come with wiregen: in the package in a wheel, `idl/` in a checkout."""
    here = Path(__file__).resolve().parents[1]
    shipped = here / "protocols"
    return shipped if shipped.is_dir() else here.parents[1] / "idl"
