"""The documents of the repository: links lead somewhere, the glossary is in order, the guide names each key of a configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path.relative_to(ROOT)
    for pattern in ("*.md", "docs/**/*.md", "examples/*/README.md")
    for path in ROOT.glob(pattern)
)
COMPILER = ROOT / "generator" / "wiregen"
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


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_are_named_are_there(document: str) -> None:
    """A path begins at the repository, at the compiler, or at a package or folder that is named; modules may lack `.py`."""
    text = FENCE.sub("", (ROOT / document).read_text(encoding="utf-8"))
    paths = re.findall(
        r"`(?!\S*nnnn)((?:\w[\w.-]*/)+(?:\w[\w.-]*)?|\w[\w-]*\.(?:py|md|jinja|lark|toml))`", text
    )
    roots = (ROOT, COMPILER, *(place.parent for place in COMPILER.glob("*/__init__.py")))
    places = {place for path in paths for place in places_of(path, roots)}
    folders = {place if place.is_dir() else place.parent for place in places}
    assert [path for path in paths if not places_of(path, (*roots, *folders))] == []
    assert len(places) > 20


def test_tests_of_the_rules_of_security_are_there() -> None:
    """A test may be named by its file or by its function."""
    named = re.findall(
        r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    )
    for path, function in named:
        assert f"def {function or 'test_'}" in (ROOT / path).read_text(encoding="utf-8")
    assert len(named) > 20


def places_of(path: str, bases: Iterable[Path]) -> list[Path]:
    """Return the files and folders that a path below one of the folders may be."""
    found = [base / name for base in bases for name in (path, f"{path}.py")]
    return [place for place in found if place.exists()]


def test_a_record_and_the_one_that_supersedes_it_name_each_other() -> None:
    named = {}
    for path in (ROOT / "docs" / "adr").glob("*.md"):
        status = path.read_text(encoding="utf-8").partition("\nStatus: ")[2].partition("\n\n")[0]
        named[path.name[:4]] = set(re.findall(r"\b00\d\d\b", status))
    pairs = {(one, other) for one, others in named.items() for other in others}
    assert pairs == {(other, one) for one, other in pairs} and len(pairs) > 10


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
