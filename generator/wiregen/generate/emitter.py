"""Views to text: the one Jinja environment.

Invariant: a view's free text never becomes code; it passes `docstring`, `comment`, `literal` or autoescape.
The output does not depend on the machine: the escaped characters are listed below, not taken from the
interpreter's Unicode tables.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from wiregen.generate.python_layout import laid_out

__all__ = [
    "COPIED_RUNTIME",
    "Emitter",
    "as_laid_out",
    "code",
    "comment",
    "dashes",
    "docstring",
    "harmless",
    "in_cell",
    "literal",
    "markdown",
    "render",
    "rendered_text",
    "slashes",
    "target_suffix",
    "templates_folder",
]

COPIED_RUNTIME = ".._runtime"
"""The package from which generated code imports a runtime that is copied into its own tree."""

_PYTHON = frozenset({".py", ".pyi"})
_MARKUP = frozenset({".html", ".svg", ".xml"})
_TEMPLATE = frozenset({".jinja", ".j2"})
# Control, line-ending, bidirectional and invisible characters (fillers, variation selectors of planes that no emoji needs),
# surrogates and noncharacters; the line feed is left to the caller. The joiners U+200C and U+200D spell words of several languages.
_UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000110bd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# In this order: escaped text, a code span (within its line, because a new block would end it), a fence, marks.
_ESCAPED_OR_CODE_OR_MARK = re.compile(
    r"(\\[!-/:-@\[-`{-~]|(`+)(?!`)[^\n]*?(?<!`)\2(?!`))|^[ \t]*(?:`{3,}|~{3,})|`+|[<>&]|\][(:]",
    re.MULTILINE,
)
_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_FENCE_END = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
_SHORT_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
# Comments that tools obey: PEP 263 (the encoding of the file), black, mypy, ruff and their like.
_DIRECTIVE = re.compile(
    r"coding(?=[:=])|\b(?:fmt|yapf|mypy|pyright|ruff|isort|flake8|pylint|pragma)(?=\s*:)|\btype(?=\s*:\s*ignore)|^\s*type(?=\s*:)"
    r"|\bno(?=qa\b)",
    re.IGNORECASE | re.MULTILINE,
)


class Emitter:
    """Renders the templates of folders, those of the first folder first.

    `runtime` in a template is the package from which generated code imports the runtime.
    """

    def __init__(self, *folders: Path, runtime: str = COPIED_RUNTIME) -> None:
        import jinja2  # not loaded by callers that only need the folder of the templates

        from wiregen.generate.compiled_templates import compiled_templates

        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folders),
            autoescape=_is_markup,
            undefined=jinja2.StrictUndefined,
            bytecode_cache=compiled_templates(),
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.filters.update(
            docstring=docstring,
            comment=comment,
            literal=literal,
            slashes=slashes,
            dashes=dashes,
            markdown=markdown,
            code=code,
        )
        self._environment.globals["runtime"] = runtime

    def render(self, template_name: str, view: object) -> str:
        """Return the text of a template with the variables `view` and `runtime`.

        Python (`….py`, `….py.jinja`) is formatted.

        Raises:
            jinja2.TemplateError: The template is missing, or names an attribute that the view does not have.
            ValueError: The text is not Python.
        """
        return as_laid_out(template_name, self.text(template_name, view))

    def text(self, template_name: str, view: object) -> str:
        """Return the text of a template before Python is formatted.

        Raises:
            jinja2.TemplateError: As for `render`.
        """
        return self._environment.get_template(template_name).render(view=view)


def render(
    template_name: str, view: object, templates: Path | None = None, runtime: str = COPIED_RUNTIME
) -> str:
    """Return the text of a template of the folder `templates`, or of wiregen's own; see `Emitter.render`."""
    return _emitter(templates, runtime).render(template_name, view)


def rendered_text(template_name: str, view: object, templates: Path | None, runtime: str) -> str:
    """Return the same before Python is formatted."""
    return _emitter(templates, runtime).text(template_name, view)


def as_laid_out(template_name: str, text: str) -> str:
    """Return the text that a template rendered, formatted if it is Python.

    Raises:
        ValueError: The text is not Python.
    """
    suffix = target_suffix(template_name)
    if suffix not in _PYTHON:
        return text
    try:
        return laid_out(text, is_stub=suffix == ".pyi")
    except ValueError as error:
        error.add_note(f"in the output of template {template_name}")
        raise


def templates_folder() -> Path:
    """Return the folder of wiregen's templates: in the package in a wheel, at the repository's root in a checkout.

    Raises:
        FileNotFoundError: Both folders are missing, so that the installation is incomplete.
    """
    here = Path(__file__).resolve().parents[1]
    candidates = (here / "templates", here.parents[1] / "templates")
    for folder in candidates:
        if folder.is_dir():
            return folder
    places = " or ".join(str(folder) for folder in candidates)
    raise FileNotFoundError(f"the templates of wiregen are missing, expected {places}: reinstall wiregen")


def docstring(text: str) -> str:
    r"""Return `text` escaped for a place between two `\"\"\"`: Python reads it unchanged, line feeds are kept."""
    # Only quotes that could close the docstring are escaped: a lone one reads better as it is.
    return re.sub(r'"(?="|\Z)', r"\"", _escape(text.replace("\\", "\\\\")))


def comment(text: str) -> str:
    """Return `text` for a place after `# `, so that no line of it is code or a directive for a tool."""
    harmless = _DIRECTIVE.sub(lambda found: f"{found[0]} ", text)
    return "\n# ".join(_escape(line) for line in harmless.split("\n"))


def slashes(text: str) -> str:
    """Return `text` for a place after `// `, so that every line of it is a comment."""
    return (
        "\n".join(_escape(line) for line in text.split("\n")).replace("\n", "\n// ").replace("// \n", "//\n")
    )


def dashes(text: str) -> str:
    """Return `text` for a place after `-- `, so that every line of it is a comment."""
    return "\n".join(_escape(line) for line in text.split("\n")).replace("\n", "\n-- ")


def harmless(text: str) -> str:
    """Return a text for a page, with control, bidirectional and invisible characters as escapes; line feeds are kept."""
    return _escape(text)


def markdown(text: str) -> str:
    """Return a text for a Markdown page: code is kept, and text that would act as HTML or as a link is escaped.

    Its blocks end inside it: a fence without an end is text, and so is a single backtick.
    """
    lines = harmless(text.strip()).split("\n")
    parts: list[str] = []
    start = 0
    for begin, end in _fenced(lines):
        parts += [_mute("\n".join(lines[start:begin]))] if start < begin else []
        parts.append("\n".join(lines[begin:end]))
        start = end
    parts += [_mute("\n".join(lines[start:]))] if start < len(lines) else []
    return "\n".join(parts)


def _fenced(lines: list[str]) -> list[tuple[int, int]]:
    """Return begin and end of each code block: from a fence at the margin to its end, if there is one."""
    ends = [found[1] if (found := _FENCE_END.fullmatch(line)) else "" for line in lines]
    longest = {"`": [0] * (len(lines) + 1), "~": [0] * (len(lines) + 1)}
    for (
        sign,
        lengths,
    ) in longest.items():  # the longest end from each line on, so that the search for an end never fails
        for at in range(len(lines) - 1, -1, -1):
            lengths[at] = max(lengths[at + 1], len(ends[at]) if ends[at].startswith(sign) else 0)
    found_blocks: list[tuple[int, int]] = []
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence is None or longest[fence[0][0]][at + 1] < len(fence[0]):
            at += 1
            continue
        end = next(each for each in range(at + 1, len(lines)) if ends[each].startswith(fence[0]))
        found_blocks.append((at, end + 1))
        at = end + 1
    return found_blocks


def _mute(text: str) -> str:
    return _ESCAPED_OR_CODE_OR_MARK.sub(_muted, text)


def in_cell(text: str) -> str:
    """Return a text of one line for a cell of a Markdown table: its bars do not end the cell."""
    return text.replace("\\|", "\\ |").replace("|", "\\|")


def code(text: str) -> str:
    """Return a text as a code span in a cell of a Markdown table; "" for an empty text."""
    shown = in_cell(harmless(" ".join(text.split())))
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else ""


def literal(value: object) -> str:
    """Return plain data as Python: None, bool, int, float, str, bytes, and tuples, lists and dicts of them.

    The formatter leaves it unchanged if it fits in a line.

    Raises:
        TypeError: A value of another type, also of a subclass, which may have a repr of its own.
    """
    kind = type(value)
    if isinstance(value, str) and kind is str:
        return _quoted(value, "")
    if isinstance(value, bytes) and kind is bytes:
        return _quoted(value.decode("latin-1"), "b")
    if isinstance(value, tuple | list | dict) and kind in {tuple, list, dict}:
        return _collection(value)
    if isinstance(value, float) and kind is float and repr(value) in {"nan", "inf", "-inf"}:
        return f'float("{value}")'
    if kind in {type(None), bool, int, float}:
        return repr(value)
    raise TypeError(f"{kind.__name__} is not plain data")


@cache
def _emitter(templates: Path | None, runtime: str) -> Emitter:
    return Emitter(*([] if templates is None else [templates]), templates_folder(), runtime=runtime)


def _is_markup(template_name: str | None) -> bool:
    return template_name is not None and target_suffix(template_name) in _MARKUP


def target_suffix(template_name: str) -> str:
    """Return the suffix of the file that a template renders."""
    path = PurePosixPath(template_name)
    return PurePosixPath(path.stem).suffix if path.suffix in _TEMPLATE else path.suffix


def _escape(text: str) -> str:
    return _UNSAFE.sub(lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _muted(found: re.Match[str]) -> str:
    mark = found[0]
    if found[1]:
        return mark
    return "".join(f"\\{sign}" if sign in "<>&[]`~" else sign for sign in mark)


def _collection(value: tuple[object, ...] | list[object] | Mapping[object, object]) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    items = ", ".join(literal(item) for item in value)
    if isinstance(value, list):
        return f"[{items}]"
    return f"({items},)" if len(value) == 1 else f"({items})"


def _quoted(text: str, prefix: str) -> str:
    quote = (
        "'" if text.count('"') > text.count("'") else '"'
    )  # the formatter's rule: the fewest escapes, then double
    body = text.replace("\\", "\\\\").replace(quote, "\\" + quote).replace("\n", "\\n")
    body = _escape(body) if not prefix else "".join(c if " " <= c <= "~" else _escaped(c) for c in body)
    return f"{prefix}{quote}{body}{quote}"
