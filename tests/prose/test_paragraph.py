"""Sentences of a paragraph: where they end, on which line they begin, how many words they have."""

from __future__ import annotations

import pytest
from tests.prose.paragraph import Kind, Line, Paragraph, masked


def _paragraph(*lines: str) -> Paragraph:
    numbered = tuple(Line(number, line) for number, line in enumerate(lines, 7))
    return Paragraph(path="page.md", kind=Kind.MARKDOWN, lines=numbered)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Sizes are bytes, e.g. Four for an integer.", id="abbreviation"),
        pytest.param("The file wiregen.toml names it.", id="dot in a name"),
        pytest.param("Version 1.2 reads it.", id="dot in a number"),
        pytest.param("Call `a. B` first.", id="dot in code"),
        pytest.param("See section A. Then stop.", id="single letter"),
    ],
)
def test_a_dot_that_ends_no_sentence(text: str) -> None:
    assert [sentence.text for sentence in _paragraph(text).sentences] == [text]


def test_sentences_end_at_a_sign_that_a_capital_or_code_follows() -> None:
    text = 'One is read. `two` is written! (Three?) "Four" ends.'
    assert [sentence.text for sentence in _paragraph(text).sentences] == [
        "One is read.",
        "`two` is written!",
        "(Three?)",
        '"Four" ends.',
    ]


def test_a_sentence_has_the_line_on_which_it_begins() -> None:
    sentences = _paragraph("  The first one. The second", "  goes on here. The", "third.").sentences
    assert [(sentence.line, sentence.text) for sentence in sentences] == [
        (7, "The first one."),
        (7, "The second goes on here."),
        (8, "The third."),
    ]


def test_code_is_one_word_and_no_prose() -> None:
    (sentence,) = _paragraph(
        "Run `wiregen build what`, read [the page](docs/what.md) at https://a.b/what now."
    ).sentences
    assert "what" not in sentence.masked
    assert sentence.n_words == 8


def test_code_is_masked_without_moving_the_text() -> None:
    text = "a ``b ` c`` d"
    assert len(masked(text)) == len(text)
    assert masked(text).split() == ["a", "Xxxxxxxxx", "d"]


def test_code_alone_has_no_words() -> None:
    assert _paragraph("`a`, `b`").n_words == 0
