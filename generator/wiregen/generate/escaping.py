"""Free text for its target: escapes for Python, comments, Markdown and pages.

Invariant: the output does not depend on the machine: the escaped characters are listed below, not taken from the
interpreter's Unicode tables.
"""

import re
from collections.abc import Mapping

__all__ = [
    "code",
    "comment",
    "dashes",
    "docstring",
    "harmless",
    "in_cell",
    "literal",
    "markdown",
    "proto_text",
    "slashes",
]

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


def proto_text(text: str) -> str:
    """Return `text` as a string literal of a .proto file; unsafe characters are octal escapes of their UTF-8."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + _UNSAFE.sub(lambda found: _octal(found[0]), quoted) + '"'


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


def _escape(text: str) -> str:
    return _UNSAFE.sub(lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode())


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
