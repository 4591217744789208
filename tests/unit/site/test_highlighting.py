"""Code with marks is the same code; each language marks its comments, texts and words, and nothing becomes markup."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.docs_sites import ROOT

from wiregen.site.pages.highlighting import highlighted

LANGUAGES = ("wire", "python", "sh", "json", "toml", "text")


def plain(html: str) -> str:
    return unescape(re.sub(r"</?[ibu]>", "", html))


@given(st.text(alphabet="ab0 \n\"'`\\/#<>&@-|x:{}[]", max_size=60), st.sampled_from(LANGUAGES))
def test_any_text_stays_the_same_text(text: str, language: str) -> None:
    html = str(highlighted(text, language))
    assert plain(html) == text
    assert re.sub(r"</?[ibu]>", "", html).count("<") == 0


@pytest.mark.parametrize("path", sorted((ROOT / "idl").glob("*.wire")), ids=lambda path: path.stem)
def test_files_stay_the_same(path: object) -> None:
    text = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert plain(str(highlighted(text, "wire"))) == text


@pytest.mark.parametrize(
    ("language", "text", "marked"),
    [
        ("wire", '/// What\nmessage M 1 from a { type : u8 where type != x"00" @rule(r) }', ["i:/// What", "b:message", "b:from", "b:where", 'u:x"00"']),
        ("wire", "  frame : Frame\n  rule : u8", []),
        ("python", "from a import b  # said\nx.import_ = b'\\x00'", ["b:from", "b:import", "i:# said", "u:b'\\x00'"]),
        ("sh", "wiregen decode p --hex 'a b' | xxd -p", ["b:wiregen", "b:--hex", "u:'a b'", "b:xxd", "b:-p"]),
        ("json", '{"a": true}', ['u:"a"', "b:true"]),
        ("toml", "[tool]\na = 'x' # y", ["b:[tool]", "u:'x'", "i:# y"]),
        ("text", "from a", []),
    ],
)  # fmt: skip
def test_marks_of_a_language(language: str, text: str, marked: list[str]) -> None:
    found = re.findall(r"<([ibu])>(.*?)</\1>", str(highlighted(text, language)))
    assert [f"{mark}:{unescape(words)}" for mark, words in found] == marked
