"""The examples of a `.wire` file are among its vectors, each once, and name their source."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiregen.conformance.vectors.building import Built, build_vectors
from wiregen.conformance.vectors.example_vectors import ExampleBytes
from wiregen.conformance.vectors.format import Invalid, Valid, octets, read_vectors
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.examples.checking import examples_in_bytes
from wiregen.language.source import Sources
from wiregen.schema.lowering import lower
from wiregen.schema.model import Protocol

ROOT = Path(__file__).resolve().parents[3]
PROTOCOLS = sorted(path.stem for path in (ROOT / "idl").glob("*.wire"))
TEXT = """wire 1
protocol tide { source "no document"  roles a, b }
enum Greeting : u8 { HELLO = 9 }
preamble Opening from a { greeting : Greeting }
frame Frame { type : u8 := code(body)  body : match type }
message Size 1 from a { key : u8  size : u8 }
message Item 2 from b { key : u8  item : bytes[size[key]] }
message Word 3 { word : utf8[u8] lenient }
message Gone 4 from a { key : u8 }
context size : u8 per key from a { set Size.size  clear Gone }

example "a word" Word("hi") = x"03 02 6869"
example "no text" x"03 01 ff" = Word("\\udcff")
example "an item of a size" [Size(7, 2), Item(7, x"0102")] = x"02 07 0102"
example "an item of no size" x"02 07 0102" violates missing_context
example "the opening" Opening(HELLO) = x"09"
"""


def protocol_of(path: Path) -> Protocol:
    subject = load_protocol(path, Sources(), Report(), (path.parent,))
    assert subject is not None
    return subject.protocol


def built(protocol: Protocol) -> Built:
    given = tuple(ExampleBytes(**each) for each in examples_in_bytes(protocol))
    return build_vectors(lower(protocol), examples=given)


@pytest.fixture(scope="module")
def tide(tmp_path_factory: pytest.TempPathFactory) -> Built:
    path = tmp_path_factory.mktemp("tide") / "tide.wire"
    path.write_text(TEXT)
    return built(protocol_of(path))


def test_each_example_is_a_vector_unless_another_has_its_bytes(tide: Built) -> None:
    told = {vector.covers[0]: vector for vector in tide.file.vectors if vector.source == "example"}
    # The opening has one member, and exploring shows it first.
    assert list(told) == [
        "example a word",
        "example no text",
        "example an item of a size",
        "example an item of no size",
    ]
    measures = {each.what: (each.n_all, each.missing) for each in tide.coverage.measures}
    assert measures["examples"] == (5, ())


def test_an_example_keeps_its_scene_and_what_it_violates(tide: Built) -> None:
    told = {vector.covers[0]: vector for vector in tide.file.vectors if vector.source == "example"}
    item, refused = told["example an item of a size"], told["example an item of no size"]
    assert isinstance(item, Valid)
    assert [(said.from_role, octets(said.bytes).hex()) for said in item.before] == [
        ("a", "09"),
        ("a", "010702"),
    ]
    assert item.from_role == "b"
    assert isinstance(refused, Invalid)
    assert (refused.from_role, refused.error.code) == ("b", "missing_context")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_examples_of_what_is_shipped_are_in_its_file(name: str) -> None:
    protocol = protocol_of(ROOT / "idl" / f"{name}.wire")
    file = read_vectors((ROOT / "generated" / "vectors" / f"{name}.json").read_bytes())
    known = {octets(each.bytes) for each in file.vectors if isinstance(each, Valid | Invalid)}
    assert [each["name"] for each in examples_in_bytes(protocol) if each["data"] not in known] == []
