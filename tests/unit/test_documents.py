"""The documents of the repository: links lead somewhere, the glossary is in order, the guide names each key of a configuration."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path.relative_to(ROOT)
    for pattern in ("*.md", "docs/**/*.md", "examples/*/README.md")
    for path in ROOT.glob(pattern)
)
FENCE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")


def prose(path: Path) -> str:
    """Return the text of a document without blocks of code and code spans."""
    return re.sub(r"`[^`\n]*`", "code", FENCE.sub("", (ROOT / path).read_text(encoding="utf-8")))


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_links_lead_to_files_and_headings(path: Path) -> None:
    for target in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        place = (ROOT / path.parent / name).resolve() if name else ROOT / path
        assert place.exists(), target
        assert not anchor or anchor in anchors(place), target


def test_the_glossary_is_in_order_and_brief() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = [" ".join(part.split()) for part in re.split(r"\n- ", text)[1:]]
    terms = [entry.split("**")[1] for entry in entries]
    assert terms == sorted(terms, key=str.lower) and len(set(terms)) == len(terms) > 50
    assert [entry for entry in entries if not 1 <= len(re.findall(r"\.(?= [A-Z`]|$)", entry)) <= 2] == []


def test_the_guide_names_each_key_of_a_configuration_with_its_default() -> None:
    schema = json.loads((ROOT / "docs" / "schemas" / "wiregen-toml.schema.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "guide" / "projects.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?) \| (.+?) \|", page, re.MULTILINE)
    named = {key for keys, _ in rows for key in re.findall(r"`(\w+)`", keys)}
    assert named == set(schema["properties"])
    for keys, default in rows:
        for key in re.findall(r"`(\w+)`", keys):
            value = schema["properties"][key].get("default")
            assert value in (None, []) or f"`{json.dumps(value)}`" in default, key
