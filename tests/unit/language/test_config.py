from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from wiregen.language.config import Config, load_config
from wiregen.language.diagnostics import Report, explanation
from wiregen.language.settings import schema_text


def load(start: Path) -> tuple[Config, list[str]]:
    report = Report()
    config = load_config(start, report)
    return config, [diagnostic.code for diagnostic in report.diagnostics]


def check_defaults(config: Config, root: Path, protocols: tuple[str, ...] | None = None) -> None:
    assert (config.root, config.sources, config.output) == (root, (root / "idl",), root / "generated")
    assert (config.package, config.backends, config.protocols) == ("wireproto", ("native",), protocols)


def test_without_a_configuration_all_is_default(tmp_path: Path) -> None:
    config, codes = load(tmp_path)
    check_defaults(config, tmp_path)
    assert (config.file, codes) == (None, [])


def test_a_configuration_says_it_all(tmp_path: Path) -> None:
    (tmp_path / "wiregen.toml").write_text(
        'sources = ["a", "b/c"]\noutput = "out"\npackage = "acme.wire"\n'
        'backends = ["native", "msgpack", "native"]\nprotocols = ["tide"]\n'
    )
    config, codes = load(tmp_path)
    assert codes == []
    assert config == Config(
        root=tmp_path,
        file=tmp_path / "wiregen.toml",
        sources=(tmp_path / "a", tmp_path / "b/c"),
        output=tmp_path / "out",
        package="acme.wire",
        backends=("native", "msgpack"),
        protocols=("tide",),
    )
    with pytest.raises(FrozenInstanceError):
        config.package = "x"  # type: ignore[misc]


def test_the_nearest_wins_and_wiregen_toml_before_pyproject(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    (inner / "deep").mkdir(parents=True)
    (tmp_path / "wiregen.toml").write_text('package = "outer"')
    assert load(inner / "deep")[0].package == "outer"
    (inner / "pyproject.toml").write_text("[tool.other]\n")
    assert load(inner / "deep")[0].package == "outer"
    (inner / "pyproject.toml").write_text('[tool.wiregen]\npackage = "project"\n')
    assert load(inner / "deep")[0].package == "project"
    (inner / "wiregen.toml").write_text('package = "own"')
    assert load(inner / "deep")[0] == load(inner)[0]
    assert load(inner)[0].package == "own"


@pytest.mark.parametrize(
    ("content", "code", "help_"),
    [
        pytest.param(b"package = '\xff'", "WG6001", None, id="not UTF-8"),
        pytest.param(b"sources = [idl]", "WG6002", "write it as TOML: texts in quotes, a key and its value joined by `=`", id="not TOML"),
        pytest.param(b"x = " + b"[" * 5000, "WG6002", "write it as TOML: texts in quotes, a key and its value joined by `=`", id="nested"),
        pytest.param(b'packge = "x"', "WG6003", "did you mean `package`?", id="misspelt key"),
        pytest.param(b"colour = 1", "WG6003", "the known keys are sources, output, package, backends, plugins, plugin_time, plugin_output, protocols, formatter, sessions, runtime, runtime_package, protobuf", id="foreign key"),
        pytest.param(b'protobuf.options.go_pakage = "x"', "WG6003", "did you mean `go_package`?", id="misspelt option"),
        pytest.param(b'protobuf.options.colour = "x"', "WG6003", "the known keys are cc_enable_arenas, csharp_namespace, deprecated, go_package, java_multiple_files, java_outer_classname, java_package, objc_class_prefix, optimize_for, php_class_prefix, php_metadata_namespace, php_namespace, ruby_package, swift_prefix", id="foreign option"),
        pytest.param(b'protobuf.go_package = "x"', "WG6003", "the known keys are options, protocols", id="an option at the wrong place"),
        pytest.param(b'protobuf.options.go_package = "x"', "WG6009", 'build these files too: backends = ["native", "protobuf"]', id="an option without its backend"),
        pytest.param(b'sources = "idl"', "WG6004", 'a list of folders: sources = ["idl"]', id="wrong type"),
        pytest.param(b"sources = []", "WG6004", 'a list of folders: sources = ["idl"]', id="empty"),
        pytest.param(b'package = "Wire-Proto"', "WG6004", 'a Python package in lower case: package = "wireproto"', id="no package"),
        pytest.param(b'package = "acme.class"', "WG6004", 'a Python package in lower case: package = "wireproto"', id="a word of Python"),
        pytest.param(b"plugin_time = 5", "WG6004", 'a time: plugin_time = "5 min"', id="a time without a unit"),
        pytest.param(b'plugin_time = "0 s"', "WG6004", 'a time: plugin_time = "5 min"', id="no time at all"),
        pytest.param(b'plugin_output = "64 MB"', "WG6004", 'a size: plugin_output = "256 MiB"', id="another unit"),
        pytest.param(b'formatter = "yapf"', "WG6004", 'a formatter: formatter = "black"', id="another formatter"),
        pytest.param(b'runtime = "Acme"', "WG6004", 'a Python package in lower case: runtime = "acme_runtime"', id="no package of a runtime"),
        pytest.param(b'runtime = "wireproto.shared"', "WG6009", 'name a package of another project: runtime = "acme_runtime"', id="a runtime in the package"),
        pytest.param(b'runtime_package = "acme"\nsessions = true', "WG6009", "build the runtime in a project of its own, with its own wiregen.toml", id="a runtime and more"),
        pytest.param(b'protocols = ["Tide"]', "WG6004", 'a list of protocols: protocols = ["tide"]', id="no protocol's name"),
        pytest.param(b'backends = ["native", "../x"]', "WG6004", 'a list of names: backends = ["native"]', id="no name"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported_and_its_default_taken(
    tmp_path: Path, content: bytes, code: str, help_: str | None
) -> None:
    (tmp_path / "wiregen.toml").write_bytes(content)
    report = Report()
    config = load_config(tmp_path, report)
    check_defaults(config, tmp_path)
    assert [(found.code, found.help) for found in report.diagnostics] == [(code, help_)]


@pytest.mark.parametrize("key", ["sources", "output"])
@pytest.mark.parametrize("place", ["..", "/etc", "a/../../b", "link"])
def test_no_folder_leaves_the_project(tmp_path: Path, key: str, place: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "link").symlink_to("/etc")
    (root / "wiregen.toml").write_text(f'{key} = ["{place}"]' if key == "sources" else f'{key} = "{place}"')
    config, codes = load(root)
    check_defaults(config, root)
    assert codes == ["WG6005"]


@pytest.mark.parametrize("output", [".", "idl", "idl/out", "a"])
def test_the_output_folder_is_one_of_its_own(tmp_path: Path, output: str) -> None:
    (tmp_path / "wiregen.toml").write_text(f'sources = ["idl", "a/b"]\noutput = "{output}"')
    assert load(tmp_path)[1] == ["WG6006"]


def test_the_own_options_of_a_protocol_replace_those_of_all(tmp_path: Path) -> None:
    (tmp_path / "wiregen.toml").write_text(
        'backends = ["protobuf"]\n[protobuf.options]\ngo_package = "a/{protocol}"\ndeprecated = true\n'
        '[protobuf.protocols.tide]\ndeprecated = false\nruby_package = "Tide"\n'
    )
    config, codes = load(tmp_path)
    assert codes == []
    assert [(each.name, each.value) for each in config.proto_options.of("tide")] == [
        ("deprecated", False),
        ("go_package", "a/{protocol}"),
        ("ruby_package", "Tide"),
    ]
    assert [each.name for each in config.proto_options.of("ebb")] == ["deprecated", "go_package"]


def test_one_run_shows_all_that_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "wiregen.toml").write_text('packge = "x"\nsources = 1\noutput = ".."\n')
    assert load(tmp_path)[1] == ["WG6003", "WG6004", "WG6005"]


def test_a_strange_pyproject_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff not toml")
    config, codes = load(tmp_path)
    assert (config.file, codes) == (None, [])


def test_other_backends_stand_on_the_native_one(tmp_path: Path) -> None:
    (tmp_path / "wiregen.toml").write_text('backends = ["msgpack"]')
    assert load(tmp_path)[0].backends == ("native", "msgpack")


@pytest.mark.parametrize("number", range(6001, 6010))
def test_every_code_has_a_page(number: int) -> None:
    assert explanation(f"WG{number}") is not None


def test_the_projects_own_configuration_is_the_default_but_for_its_backends() -> None:
    root = Path(__file__).resolve().parents[3]
    config, codes = load(root / "tests")
    assert config.backends == ("native", "protobuf", "msgpack", "columns", "wireshark", "kaitai")
    check_defaults(replace(config, backends=("native",)), root)
    assert (config.file, codes) == (root / "wiregen.toml", [])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param('sources = ["a", 1]', "`sources[1]` in `{}` must be the path of a folder", id="item"),
        pytest.param("sources = []", "`sources` in `{}` must be a list of 1 to 100 items", id="list"),
        pytest.param("protocols = 1", "`protocols` in `{}` must be a list of 1 to 100 items", id="no list"),
        pytest.param('output = ""', "`output` in `{}` must be the path of a folder", id="text"),
        pytest.param('formatter = "yapf"', "`formatter` in `{}` must be `ruff` or `black`", id="choice"),
        pytest.param("protobuf = 1", "`protobuf` in `{}` must be a table with `options`, `protocols`, or both", id="no table"),
        pytest.param("protobuf.options = 1", "`protobuf.options` in `{}` must be a table of options", id="no options"),
        pytest.param('protobuf.options.go_package = "a/{name}"', "`protobuf.options.go_package` in `{}` must be a text, with no braces except in `{{protocol}}` and `{{Protocol}}`", id="placeholder"),
        pytest.param('protobuf.options.go_package = "a}"', "`protobuf.options.go_package` in `{}` must be a text, with no braces except in `{{protocol}}` and `{{Protocol}}`", id="brace"),
        pytest.param("protobuf.options.java_package = true", "`protobuf.options.java_package` in `{}` must be a text, with no braces except in `{{protocol}}` and `{{Protocol}}`", id="no text of an option"),
        pytest.param('protobuf.options.deprecated = "true"', "`protobuf.options.deprecated` in `{}` must be `true` or `false`", id="no Boolean"),
        pytest.param('protobuf.options.optimize_for = "SIZE"', "`protobuf.options.optimize_for` in `{}` must be `SPEED`, `CODE_SIZE` or `LITE_RUNTIME`", id="word of an option"),
        pytest.param("protobuf.protocols = []", "`protobuf.protocols` in `{}` must be a table with a table of options for each protocol", id="no protocols"),
        pytest.param("protobuf.protocols.tide = 1", "`protobuf.protocols.tide` in `{}` must be a table of options", id="no options of a protocol"),
        pytest.param("protobuf.protocols.Tide = {}", "`protobuf.protocols.Tide` in `{}` must be the name of a protocol", id="name of a protocol"),
        pytest.param('"[key]" = 1', "unknown key `[key]` in `{}`", id="the mark of names as a key"),
        pytest.param('protobuf.protocols."[key]" = {}', "`protobuf.protocols.[key]` in `{}` must be the name of a protocol", id="the mark of names as a protocol"),
    ],
)  # fmt: skip
def test_a_fault_names_the_place_and_what_should_be_there(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "wiregen.toml"
    file.write_text(content)
    report = Report()
    load_config(tmp_path, report)
    assert [found.message for found in report.diagnostics] == [message.format(file)]


def test_the_published_schema_is_that_of_the_model() -> None:
    published = Path(__file__).resolve().parents[3] / "docs" / "schemas" / "wiregen-toml.schema.json"
    assert published.read_text(encoding="utf-8") == schema_text()
