"""Choices of which some arms are blocks, fields of one name in several arms, and choices in arms of choices."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.once import mypy_cache
from tests.property.any_values import AnyValues
from tests.property.schemas import built
from tests.property.test_serialization_constructs import serializations

from wiregen.conformance.vectors.building import build_vectors
from wiregen.formats.jsonl import LineEncoder, dumps, loads
from wiregen.formats.line_maker import LineMaker

CASES = Path(__file__).resolve().parents[1] / "cases" / "constructs"
ALL = ("native", "protobuf", "msgpack")
NAMES = ("choices_with_blocks", "names_in_arms", "choices_nested", "frame_choices_nested")


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    with _built("choices_with_blocks", tmp_path_factory.mktemp("blocks")) as codecs:
        yield codecs.module, codecs.schema


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with _built("names_in_arms", tmp_path_factory.mktemp("arms")) as codecs:
        yield codecs.module


def _built(name: str, folder: Path) -> Any:
    return built((CASES / f"{name}.wire").read_text(encoding="utf-8"), folder, f"built_{name}", ALL)


def test_the_value_of_a_choice_with_a_block_comes_back(blocks: tuple[Any, Any]) -> None:
    p, plan = blocks
    value, block = p.Plain(0, 0x1234), p.Plain(1, first=5, second=6)
    for message, octets in ((value, "0100030012 34"), (block, "010003010506")):
        data = bytes.fromhex(octets)
        assert message.encode() == data
        assert p.decode_message(data) == message
        line = LineMaker(plan).decoded(p.decode(data), data, offset=0)
        assert "raw" not in line
        assert LineEncoder(plan).encode(loads(dumps(line))) == data
        for module in serializations("built_choices_with_blocks"):
            assert module.decode_message(module.encode(message)) == message
    assert (value.value, value.first, block.value, block.second) == (0x1234, None, None, 6)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"kind": 1, "value": 5, "first": 1, "second": 2}, "Plain.value"),
        ({"kind": 0, "value": 5, "first": 1}, "Plain.first"),
        ({"kind": 0}, "Plain.value"),
        ({"kind": 1, "first": 1}, "Plain.second"),
    ],
)
def test_only_the_fields_of_the_arm_may_be_given(
    blocks: tuple[Any, Any], fields: dict[str, int], path: str
) -> None:
    p, _ = blocks
    with pytest.raises(p.EncodeError) as raised:
        p.Plain(**fields).encode()
    assert raised.value.path == path


def test_none_stands_for_the_default_of_a_field_in_an_arm(blocks: tuple[Any, Any]) -> None:
    p, plan = blocks
    message = p.Typed(2, items=[], number=3)
    assert message.flag is None
    data = message.encode()
    assert p.decode_message(data) == p.Typed(2, items=[], number=3, flag=True)
    line = {"message": "Typed", "header": {}, "fields": {"kind": 2, "items": [], "number": 3}}
    assert LineEncoder(plan).encode(line) == data
    for module in serializations("built_choices_with_blocks"):
        assert p.encode(module.decode_message(module.encode(message))) == data


def test_an_absent_choice_among_blocks_is_written_again(blocks: tuple[Any, Any]) -> None:
    p, plan = blocks
    message = p.Conditional(False, 0, last=3)
    data = message.encode()
    assert p.decode_message(data) == message
    assert LineEncoder(plan).encode(LineMaker(plan).decoded(p.decode(data), data, offset=0)) == data


def test_fields_of_arms_need_not_be_given_and_are_typed_as_optional(blocks: tuple[Any, Any]) -> None:
    p, _ = blocks
    parameters = inspect.signature(p.Plain).parameters
    assert [(name, each.default) for name, each in parameters.items()] == [
        ("kind", inspect.Parameter.empty),
        ("value", None),
        ("first", None),
        ("second", None),
    ]
    assert parameters["first"].annotation == "int | None"


def test_fields_of_one_name_in_different_arms_are_one_attribute(arms: Any) -> None:
    names = list(inspect.signature(arms.Inline).parameters)
    assert names == ["kind", "part", "id", "x", "name", "more", "later"]
    first = arms.Inline(0, id=7, x=1, name="ab", later=5)
    second = arms.Inline(1, id=3, name="ab", more=[1, 2])
    third = arms.Inline(2, part=[9])
    for message in (first, second, third):
        assert arms.decode_message(message.encode()) == message
        for module in serializations("built_names_in_arms"):
            assert module.decode_message(module.encode(message)) == message
    assert third.id is None
    with pytest.raises(arms.EncodeError, match=r"Inline\.id"):
        arms.Inline(2, part=[9], id=1).encode()


@pytest.mark.parametrize("name", NAMES)
def test_vectors_show_every_field_of_an_arm(name: str, tmp_path: Path) -> None:
    with _built(name, tmp_path) as codecs:
        measures = {each.what: each for each in build_vectors(codecs.schema).coverage.measures}
    assert measures["fields"].missing == ()


def test_code_of_choices_is_typed(tmp_path: Path) -> None:
    folders = []
    for name in (*NAMES, "conditions_typed"):
        with _built(name, tmp_path / name):
            folders.append(str(tmp_path / name / "generated" / "python" / f"built_{name}" / "p"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", mypy_cache(), "-p", "w"],
        cwd=_one_tree(tmp_path, folders),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def _one_tree(folder: Path, packages: list[str]) -> Path:
    """Return a folder in which all packages share one runtime with all modules that any of them needs,
    type-checked once.
    """
    tree = folder / "tree" / "w"
    for package in packages:
        shutil.copytree(Path(package).parent, tree, ignore=shutil.ignore_patterns("p"), dirs_exist_ok=True)
        shutil.copytree(package, tree / Path(package).parent.name)
    return tree.parent


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("choices_with_blocks", {"value", "first", "second", "choice", "a", "b"}),
        ("names_in_arms", {"part", "id", "x", "more"}),
        ("choices_nested", set()),
        ("frame_choices_nested", {"y"}),
    ],
)
def test_values_are_made_of_every_arm(name: str, shown: set[str], tmp_path: Path) -> None:
    """Blocks and values are mixed in one choice: what is laid has its value, the rest None."""
    with _built(name, tmp_path) as codecs:
        p, n_written, names = codecs.module, 0, set()
        made = AnyValues(p, codecs.schema)
        for seed in range(40):
            for _, frame in made.frames(seed):
                try:
                    data = frame.encode()
                except p.EncodeError:
                    continue
                n_written += 1
                found = p.decode(data)
                assert found.encode() == data
                message = found.message
                names |= {each for each in message.__match_args__ if getattr(message, each) is not None}
        assert n_written > 12
        assert names >= shown
