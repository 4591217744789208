"""Explanations of text whose brackets or order are wrong."""

from wiregen.language.diagnostics import Label

from .syntax_error import MisplacedToken

_PAIRS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = {"RPAREN": "(", "RSQUARE": "[", "RBRACE": "{"}


def unclosed(fault: MisplacedToken) -> bool:
    """The file ends, or a declaration begins at the margin, while a bracket is open."""
    at = len(fault.text) if fault.kind == "$END" else _start_on_line(fault)
    if at is None:
        return False
    opened = fault.seen.open_brackets(fault.text, at)
    if not opened:
        return False
    sign = fault.text[opened[-1]]
    if fault.kind == "$END":
        here = Label(span=fault.span(), text="the file ends here")
    else:
        behind = at + len(fault.text[at:].split(None, 1)[0])
        here = Label(span=fault.span(at, behind), text="a declaration begins here")
    return fault.error(
        "WG1107",
        f"`{sign}` is never closed",
        span=fault.span(opened[-1], opened[-1] + 1),
        label="opened here",
        others=(here,),
        way_out=f"add the missing `{_PAIRS[sign]}`",
    )


def _start_on_line(fault: MisplacedToken) -> int | None:
    """Return where a declaration begins at the margin of the fault's line, or None."""
    start = fault.seen.start_at_or_before(fault.start)
    if start is None or not start.is_top or "\n" in fault.text[start.word : fault.start]:
        return None
    return start.word


def unopened(fault: MisplacedToken) -> bool:
    if fault.kind not in _CLOSING or fault.open_brackets:
        return False
    return fault.error(
        "WG1108", f"{fault.found} has no opening bracket", way_out="remove it, or add the opening bracket"
    )


def mismatched(fault: MisplacedToken) -> bool:
    """A bracket is closed by a bracket of another kind."""
    opened = fault.open_brackets
    if fault.kind not in _CLOSING or fault.text[opened[-1]] == _CLOSING[fault.kind]:
        return False
    sign = fault.text[opened[-1]]
    return fault.error(
        "WG1107",
        f"`{sign}` is never closed",
        span=fault.span(opened[-1], opened[-1] + 1),
        label="opened here",
        others=(Label(span=fault.span(), text=f"expected `{_PAIRS[sign]}` before this"),),
        way_out=f"add the missing `{_PAIRS[sign]}`",
    )


def no_protocol(fault: MisplacedToken) -> bool:
    if "PROTOCOL" not in fault.accepts:
        return False
    return fault.error(
        "WG1116",
        f"expected `protocol` at the beginning of the file, found {fault.found}",
        way_out='begin the file with its protocol: `protocol NAME { source "the public document"  roles client, server }`',
    )


def second_protocol(fault: MisplacedToken) -> bool:
    if fault.kind != "PROTOCOL":
        return False
    return fault.error(
        "WG1116",
        "a second `protocol` in one file",
        way_out="give each protocol a file of its own, and connect the files with `import`",
    )


def late_version(fault: MisplacedToken) -> bool:
    if fault.kind != "WIRE":
        return False
    return fault.error(
        "WG1117", "`wire` comes too late", way_out="write the version once, on the first line of the file"
    )


def misplaced_docs(fault: MisplacedToken) -> bool:
    """`///` where no node can be documented, or without a node after it."""
    start = fault.start if fault.kind == "DOC" else _docs_before(fault)
    if start is None:
        return False
    return fault.error(
        "WG1115",
        "no element follows that `///` could document",
        span=fault.span(start, start + 3),
        way_out="write a plain comment with `//`; `///` comes before a declaration, field, member, state, transition or var",
    )


def _docs_before(fault: MisplacedToken) -> int | None:
    """Return where the line before a closing bracket or the end begins if it is a line of docs, or None."""
    if fault.kind not in ("$END", *_CLOSING):
        return None
    before = fault.text[: fault.start].rstrip()
    line = before.rfind("\n") + 1
    indent = len(before[line:]) - len(before[line:].lstrip())
    return line + indent if before[line:].lstrip().startswith("///") else None
