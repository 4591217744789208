"""Options of a configuration in the .proto files: protoc reads what was set, and text is never code."""

import json
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet, FileOptions

from wiregen.generate.build import build
from wiregen.generate.views.protobuf.options import NUMBERS, OPTIMIZE_MODES
from wiregen.language.config import load_config
from wiregen.language.diagnostics import Report
from wiregen.language.settings import schema
from wiregen.language.source import Sources

TIDE = """protocol NAME { source "Tide" endian big  roles ship, port }
frame Frame { type : u8 := code(body)  body : match type }
message A 1 from ship { n : u8 }
"""
ALL = """
cc_enable_arenas = true
csharp_namespace = "Acme.{Protocol}"
deprecated = false
go_package = "example.com/gen/{protocol};{protocol}pb"
java_multiple_files = true
java_outer_classname = "{Protocol}Protos"
java_package = "com.example.{protocol}"
objc_class_prefix = "ACM"
optimize_for = "CODE_SIZE"
php_class_prefix = "Acm"
php_metadata_namespace = 'Acme\\Meta\\{Protocol}'
php_namespace = 'Acme\\{Protocol}'
ruby_package = "Acme::{Protocol}"
swift_prefix = "Acm"
"""
HOSTILE = [
    pytest.param('x"; option deprecated = true; //', id="quote"),
    pytest.param("x\\", id="backslash"),
    pytest.param('\\"; option deprecated = true; //', id="escaped quote"),
    pytest.param("a\nb\rc\td\x00e\x7f7\x1b[31m", id="control characters"),
    pytest.param("*/ \u2028 \u202e \ufeff Ä 汉 \U0001f600", id="beyond ASCII"),
    pytest.param("\\n\\101\\x41\\u0041", id="escapes"),
    pytest.param("", id="empty"),
]


def built(folder: Path, settings: str, *names: str) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of a project of these protocols, by their paths, and the diagnostics."""
    (folder / "idl").mkdir()
    for name in names:
        (folder / "idl" / f"{name}.wire").write_text(TIDE.replace("NAME", name))
    (folder / "wiregen.toml").write_text(f'backends = ["native", "protobuf"]\n{settings}', encoding="utf-8")
    report = Report()
    outputs = build(load_config(folder, report), (), Sources(), report)
    errors = [f"{one.code} {one.message} | {one.help}" for one in report.diagnostics]
    return {output.path.as_posix(): output.content for output in outputs}, errors


def by_protoc(files: dict[str, bytes], name: str, folder: Path) -> FileDescriptorProto:
    """Return protoc's descriptor of a .proto file."""
    from grpc_tools import protoc

    (folder / f"{name}.proto").write_bytes(files[f"proto/{name}.proto"])
    written = folder / f"{name}.set"
    assert protoc.main(["protoc", f"-I{folder}", f"--descriptor_set_out={written}", f"{name}.proto"]) == 0
    [file] = FileDescriptorSet.FromString(written.read_bytes()).file
    return file


def own_descriptor(files: dict[str, bytes], name: str) -> FileDescriptorProto:
    """Return the descriptor in the Python package."""
    names: dict[str, bytes] = {}
    exec(files[f"python/wireproto/{name}/_descriptor.py"], names)  # noqa: S102 - it is what was built
    return FileDescriptorProto.FromString(names["DESCRIPTOR"])


def test_protoc_and_the_package_read_every_option(tmp_path: Path) -> None:
    files, errors = built(tmp_path, f"[protobuf.options]{ALL}", "block_store")
    assert errors == []
    options = by_protoc(files, "block_store", tmp_path).options
    assert {field.name: value for field, value in options.ListFields()} == {
        "cc_enable_arenas": True,
        "csharp_namespace": "Acme.BlockStore",
        "deprecated": False,
        "go_package": "example.com/gen/block_store;block_storepb",
        "java_multiple_files": True,
        "java_outer_classname": "BlockStoreProtos",
        "java_package": "com.example.block_store",
        "objc_class_prefix": "ACM",
        "optimize_for": FileOptions.CODE_SIZE,
        "php_class_prefix": "Acm",
        "php_metadata_namespace": "Acme\\Meta\\BlockStore",
        "php_namespace": "Acme\\BlockStore",
        "ruby_package": "Acme::BlockStore",
        "swift_prefix": "Acm",
    }
    assert own_descriptor(files, "block_store").options == options


@pytest.mark.parametrize("text", HOSTILE)
def test_the_text_of_an_option_is_never_code(tmp_path: Path, text: str) -> None:
    # A string of JSON without surrogates is one of TOML too, but for U+007F.
    literal = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    files, errors = built(tmp_path, f"[protobuf.options]\ngo_package = {literal}\n", "tide")
    assert errors == []
    [line] = [each for each in files["proto/tide.proto"].decode().split("\n") if each.startswith("option")]
    assert line.isprintable()
    options = by_protoc(files, "tide", tmp_path).options
    assert options == FileOptions(go_package=text) == own_descriptor(files, "tide").options


def test_a_protocol_has_its_own_options_and_those_of_all(tmp_path: Path) -> None:
    settings = '[protobuf.options]\nruby_package = "A"\n[protobuf.protocols.tide]\nruby_package = "B"\nswift_prefix = "T"\n'
    files, _ = built(tmp_path, settings, "ebb", "tide")
    lines = {
        name: [
            each for each in files[f"proto/{name}.proto"].decode().splitlines() if each.startswith("option")
        ]
        for name in ("ebb", "tide")
    }
    assert lines == {
        "ebb": ['option ruby_package = "A";'],
        "tide": ['option ruby_package = "B";', 'option swift_prefix = "T";'],
    }


def test_options_of_a_protocol_that_is_not_there_are_an_error(tmp_path: Path) -> None:
    _, errors = built(tmp_path, '[protobuf.protocols.tied]\nswift_prefix = "T"\n', "tide")
    assert errors == ["WG5003 there is no protocol `tied` | did you mean `tide`?"]


def test_the_options_and_their_numbers_are_those_of_protobuf() -> None:
    assert set(schema()["$defs"]["ProtobufOptions"]["properties"]) == set(NUMBERS)
    fields = FileOptions.DESCRIPTOR.fields_by_name
    assert {name: fields[name].number for name in NUMBERS} == NUMBERS
    assert dict(FileOptions.OptimizeMode.items()) == OPTIMIZE_MODES
