"""Files that a checker must refuse, each with both places and a way out; and that no protocol's words are
in the generator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "cases"
REFUSALS = {
    "overlapping arms": ("WG3001", "layout/arms_overlap"),
    "arms behind the rest, and numbers that never come": ("WG3002", "layout/arms_unreachable"),
    "overlapping codes of varieties": ("WG3003", "layout/variety_codes_overlap"),
    "a field after the rest of the region": ("WG3010", "layout/after_the_rest"),
    "a length that cannot cover its field": ("WG3033", "layout/length_too_narrow"),
    "a recursive type without an end": ("WG3020", "layout/contains_itself"),
    "an unbounded count": ("WG3022", "layout/items_of_no_size"),
    "a discriminator set by hand and by the message": ("WG3034", "layout/discriminator_by_hand"),
    "a discriminator derived twice": ("WG3035", "layout/code_twice"),
    "a context nobody sets": ("WG4001", "behaviour/context_never_set"),
    "a context that only the other side sets": ("WG4003", "behaviour/context_not_known"),
    "variants that cannot be told apart": ("WG3046", "layout/variant_same"),
    "bytes without meaning of a type without zeros": ("WG3036", "layout/nothing_to_write"),
    "a value of what only a reader knows": ("WG3037", "layout/remaining_in_a_value"),
}
WITHOUT_A_WAY_OUT = {"WG3046"}
"""The only fix is to remove it."""


@pytest.mark.parametrize(("code", "case"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_shows_both_places(code: str, case: str) -> None:
    report = Report()
    load_protocol(CASES / f"{case}.wire", Sources(), report, roots=(CASES,))
    found = [diagnostic for diagnostic in report.diagnostics if diagnostic.code == code]
    assert found
    for diagnostic in found:
        assert diagnostic.span is not None
        assert diagnostic.label
        assert [other.text for other in diagnostic.others]
        assert all(other.span != diagnostic.span for other in diagnostic.others)
        assert diagnostic.help or code in WITHOUT_A_WAY_OUT


# ---- whose words these are

COMMON = frozenset(
    "Ack Cancel Chunk Compressed Data Entry Event Goodbye Hello Json Pair Padding Request Response Status Text Version Window"
    " Frame Connection Value Key Kind Message Name Size Code Error Part Id Long Int".split()
)
"""Names of declarations that are words of the trade as well."""


def protocol_words() -> Iterator[str]:
    """Yield the names of the shipped protocols, and those of their messages that nothing else is called."""
    for path in sorted((ROOT / "idl").glob("*.wire")):
        text = path.read_text(encoding="utf-8")
        yield from (path.stem, path.stem.replace("_", " "), *path.stem.split("_")[:1])
        names = re.findall(r"^(?:message|union|coding|context|session|join|rule)\s+(\w+)", text, re.MULTILINE)
        yield from (name for name in names if name not in COMMON and _is_distinctive(name))


def _is_distinctive(name: str) -> bool:
    """Return whether a name consists of several words, unlike any word of a compiler."""
    return len(re.findall(r"[A-Z][a-z]+|_", name)) > 1


OWN = frozenset("partial_inner inflate_error inflate_trailing frame_too_large reactive ClassName".split())
"""Rules that share their name with an error of every decoder, a plain adjective, and an attribute of JUnit."""


def sources() -> list[Path]:
    generator = ROOT / "generator" / "wiregen"
    found = [*generator.rglob("*.py"), *generator.rglob("*.lark"), *(ROOT / "templates").rglob("*.jinja")]
    return sorted(found)


def test_no_protocol_is_named_outside_its_own_file() -> None:
    words = sorted({word for word in protocol_words() if word not in OWN}, key=str.lower)
    assert {"lumberjack", "pravega", "geode", "reactive_streams"} <= set(words)
    assert len(words) > 60
    pattern = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(map(re.escape, words))})(?![A-Za-z])", re.IGNORECASE)
    found = {
        f"{path.relative_to(ROOT)}:{number}": match.group(0)
        for path in sources()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := pattern.search(line))
    }
    assert found == {}
