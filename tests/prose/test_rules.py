"""Each rule with sentences that break it and sentences that do not."""

from __future__ import annotations

import pytest
from tests.prose.paragraph import Kind, Line, Paragraph
from tests.prose.rules import LONG, MAX_WORDS, PATTERNS, RULES, SHORT_REASON, broken

BROKEN = {
    "'what' as a noun": ("Return what it takes.", "What a role sends first.", "Bytes, and what they are."),
    "'tell whether'": ("Tell whether it is read.",),
    "'behind', 'beside'": ("The length is behind the code.", "A test beside it."),
    "'stand(s)'": ("The code stands first.", "It stood there."),
    "'nobody', 'nothing', 'nowhere', 'none' as subject": (
        "Nothing follows the frame.",
        "It fails: nobody reads it.",
        "The field has none.",
        "None of the fields is optional.",
    ),
    "'is no X'": ("`0x10` is no number.",),
    "'mend', 'whoever', 'thereby'": ("Mend the line.", "Whoever reads it stops."),
    "metaphor": ("The fast road is compiled.", "There is room for one more."),
    "old term": ("The careful codec reads it.", "A specimen of each message.", "The bytes in their scene."),
    LONG: ("Read " + "one more byte " * 12 + "now.",),
}
KEPT = {
    "'what' as a noun": (
        "Return the size.",
        "What is a frame?",
        "Say what if it fails.",
        "Run `return what`.",
    ),
    "'tell whether'": ("Return whether it is read.",),
    "'behind', 'beside'": ("The length is after the code.", "It is read besides."),
    "'stand(s)'": ("The code is first.", "Each file must stand alone.", "The standard library."),
    "'nobody', 'nothing', 'nowhere', 'none' as subject": (
        "It adds nothing to the frame.",
        "Return the field, or None.",
        "The value is None.",
    ),
    "'is no X'": ("It is not a number.", "It is no longer read.", "There is no file of that name."),
    "'mend', 'whoever', 'thereby'": ("Fix the line.", "It recommends one."),
    "metaphor": ("The compiled codec is faster.", "The outdoor sensor."),
    "old term": ("The reference codec reads it.", "Read it carefully.", "scene: The frames sent before."),
    LONG: (
        "Read " + "one more byte " * 11 + "now.",
        "Read " + "`a b c` " * 30 + "now.",
        "Stop. " * MAX_WORDS,
    ),
}


def _rules(text: str, *, is_reason: bool = False) -> set[str]:
    paragraph = Paragraph(path="a.md", kind=Kind.WIRE, lines=(Line(1, text),), is_reason=is_reason)
    return {rule for rule, _ in broken(paragraph)}


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in BROKEN.items() for text in texts])
def test_a_sentence_that_breaks_a_rule(rule: str, text: str) -> None:
    assert rule in _rules(text)


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in KEPT.items() for text in texts])
def test_a_sentence_that_keeps_a_rule(rule: str, text: str) -> None:
    assert rule not in _rules(text)


def test_each_rule_has_its_sentences() -> None:
    assert BROKEN.keys() == KEPT.keys() == {*PATTERNS, LONG} == {*RULES} - {SHORT_REASON}


def test_a_reason_has_to_explain() -> None:
    assert _rules("as 11", is_reason=True) == {SHORT_REASON}
    assert _rules("Java's readUTF reads it so", is_reason=True) == set()
    assert _rules("as 11") == set()


def test_a_sentence_is_found_among_others() -> None:
    lines = (Line(3, "The first is read."), Line(4, "Return what follows. The end."))
    paragraph = Paragraph(path="a.md", kind=Kind.MARKDOWN, lines=lines)
    ((rule, sentence),) = broken(paragraph)
    assert (rule, sentence.line, sentence.text) == ("'what' as a noun", 4, "Return what follows.")
