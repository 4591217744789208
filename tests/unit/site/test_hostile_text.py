"""Characters that hide or turn text reach no file of a build raw: written as entities, as escapes of texts, percent-encoded."""

import html
import json
import re
from pathlib import Path

import pytest
from tests.property.schemas import outputs_of
from tests.unit.docs_sites import Page, site_of_text
from tests.unit.site.test_docs_site import hostile_text

from wiregen.generate.escaping import harmless
from wiregen.site.pages.page_paths import GUIDE
from wiregen.site.pages.prose import Prose, inline, prose

# One of each kind: bidirectional override and isolate, zero width, soft hyphen, separator, control, filler, selector, tag, byte order mark.
HIDDEN = "\u202e\u2066\u200b\u00ad\u2028\x1b\x9b\u3164\U000e0101\U000e0041\ufeff\u034f"
ENTITIES = "".join(f"&#x{ord(each):x};" for each in HIDDEN)
NUMBERS = "".join(f"&#{ord(each)};" for each in HIDDEN)
NAMED = "&ZeroWidthSpace;&rlm;&lrm;&shy;&NoBreak;&Tab;&ApplyFunction;&ic;"
PERCENT = "%E2%80%AE%E2%80%8B"
TEXTS = {
    "entities": f"safe {ENTITIES} text",
    "decimal entities": f"safe {NUMBERS} text",
    "named entities": f"safe {NAMED} text",
    "in emphasis": f"*{ENTITIES}*",
    "in code": f"`{ENTITIES}`",
    "in a fence": f"```{ENTITIES}\n{ENTITIES}\n```",
    "in the title of a link": f'[text](https://example.org/ "{ENTITIES}")',
    "in the way of a link": f"[text](https://example.org/{ENTITIES})",
    "in the text of a link": f"[{ENTITIES}](https://example.org/)",
    "in an address": f"<https://example.org/{PERCENT}>",
    "in a reference": f'[{ENTITIES}][a]\n\n[a]: https://example.org/ "{ENTITIES}"',
    "in a list": f"- {ENTITIES}\n- {NUMBERS}",
    "in a quotation": f"> {ENTITIES}",
    "as a heading": f"# {ENTITIES}",
    "doubly escaped": f"&amp;#x202e; &amp;amp;#x202e; {ENTITIES}",
}
RAW = re.compile(f"[{HIDDEN}\u200e\u200f\u2060\u2061\u2063\t]")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_no_entity_becomes_a_character_that_hides_text(text: str) -> None:
    for shown in (prose(text), inline(text), Prose(text=text).brief):
        assert not RAW.search(shown)
        assert not RAW.search(html.unescape(shown))


@pytest.mark.parametrize("text", [TEXTS["entities"], TEXTS["decimal entities"]])
def test_an_entity_is_shown_as_the_escape_of_its_character(text: str) -> None:
    assert "\\u202e" in inline(text)
    assert "safe" in inline(text)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_who_renders_a_markdown_twin_meets_no_such_entity(text: str) -> None:
    from markdown_it import MarkdownIt

    for written in (Prose(text=text).md, Prose(text=text).cell):
        rendered = MarkdownIt("commonmark").render(written)
        visible = re.sub(r'<code class="language-[^"]*"', "<code", rendered)
        assert not RAW.search(visible.replace("\t", " "))


@pytest.mark.parametrize("character", HIDDEN)
def test_each_of_them_is_shown_as_an_escape(character: str) -> None:
    assert harmless(f"a{character}b").isascii()
    assert harmless(f"a{character}b").isprintable()


@pytest.mark.parametrize(
    "text", ["zażółć 日本語 😀", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "❤\ufe0f", "👩\u200d💻"]
)
def test_words_and_signs_of_living_languages_are_left(text: str) -> None:
    assert harmless(text) == text


def test_no_file_of_a_site_or_of_a_package_holds_such_a_character(tmp_path: Path) -> None:
    text = hostile_text([line for each in TEXTS.values() for line in each.split("\n") if line])
    package = outputs_of(text, tmp_path / "package", backends=("native", "protobuf", "msgpack"))
    files = {
        **site_of_text(text, tmp_path),
        **{str(output.path): output.content for output in package if "_runtime" not in output.path.parts},
    }
    checked = dict.fromkeys(("html", "md", "json", "js", "py", "proto"), 0)
    for path, content in files.items():
        suffix = path.rpartition(".")[2]
        if suffix not in checked or path.startswith(GUIDE):
            continue
        checked[suffix] += 1
        shown = content.decode().replace("\t", " ")
        assert not RAW.search(shown), path
        if suffix == "html":
            assert not RAW.search(" ".join(attributes_of(shown))), path
            assert not RAW.search(Page(shown).text), path
        if suffix == "json":
            assert not RAW.search(" ".join(texts_of(json.loads(shown)))), path
    assert all(checked.values()), checked


def attributes_of(page: str) -> list[str]:
    """Every attribute's value as a browser has it; ways that a browser decodes itself stay percent-encoded."""
    return [value or "" for _, attributes in Page(page).elements for value in attributes.values()]


def texts_of(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    return [text for item in items for text in texts_of(item)] if isinstance(items, list) else []
