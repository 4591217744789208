"""The keys of a configuration, as a pydantic model: the type and default of each, and the JSON Schema for editors."""

import json
import keyword
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from wiregen.language.config_defaults import DEFAULTS
from wiregen.language.proto_settings import ProtobufTable

__all__ = ["Settings", "UnknownKey", "faults_of", "schema", "schema_text", "unknown_keys"]

JsonSchema: TypeAlias = dict[str, Any]
_MAX_ITEMS: Final = 100
_PACKAGE_WORDS: Final = (
    "names of lower-case letters, digits and _, separated by dots, and not keywords of Python"
)


def _without_keywords(package: str) -> str:
    if any(map(keyword.iskeyword, package.split("."))):
        raise ValueError("a keyword of Python")
    return package


def _without_repeats(items: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


Folder = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00]+$", max_length=1000),
    Field(description="the path of a folder"),
]
Name = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64),
    Field(description="a name of lower-case letters, digits and _"),
]
Command = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00\r\n]+$", max_length=1000),
    Field(description="a command line"),
]
Package = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$", max_length=200),
    AfterValidator(_without_keywords),
]
Names = Annotated[
    tuple[Name, ...],
    Field(min_length=1, max_length=_MAX_ITEMS, strict=False),
    AfterValidator(_without_repeats),
]


class Settings(BaseModel):
    """What `wiregen.toml`, or `[tool.wiregen]` of a pyproject.toml, may say."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, title="wiregen.toml")

    sources: Annotated[
        tuple[Folder, ...],
        Field(min_length=1, max_length=_MAX_ITEMS, strict=False),
        AfterValidator(_without_repeats),
    ] = Field(
        DEFAULTS["sources"],
        title="Folders of .wire files, below the folder of the configuration. If two have a file of one name, the first one is used.",
        examples=['a list of folders: sources = ["idl"]'],
    )
    output: Folder = Field(
        DEFAULTS["output"],
        title="The folder of the generated files. It contains no other files.",
        examples=['a folder: output = "generated"'],
    )
    package: Package = Field(
        DEFAULTS["package"],
        title="The Python package that contains the protocols as modules.",
        description=_PACKAGE_WORDS,
        examples=['a Python package in lower case: package = "wireproto"'],
    )
    backends: Names = Field(
        DEFAULTS["backends"],
        title="The serializations that are generated. The native classes are always included.",
        examples=['a list of names: backends = ["native"]'],
    )
    plugins: Annotated[
        tuple[Command, ...],
        Field(max_length=_MAX_ITEMS, strict=False),
        AfterValidator(_without_repeats),
    ] = Field(
        DEFAULTS["plugins"],
        title="Programs that generate further files. They run only with `--allow-plugins`.",
        examples=['a list of command lines: plugins = ["python tools/tables.py"]'],
    )
    plugin_time: Annotated[
        str, StringConstraints(pattern=r"^[1-9][0-9]{0,5} ?(ms|s|min)$", max_length=12)
    ] = Field(
        DEFAULTS["plugin_time"],
        title="The time that a plug-in may run.",
        description="a time",
        examples=['a time: plugin_time = "5 min"'],
    )
    plugin_output: Annotated[
        str, StringConstraints(pattern=r"^[1-9][0-9]{0,5} ?(KiB|MiB|GiB)$", max_length=12)
    ] = Field(
        DEFAULTS["plugin_output"],
        title="The number of bytes that a plug-in may write to stdout, and to stderr.",
        description="a size",
        examples=['a size: plugin_output = "256 MiB"'],
    )
    protocols: Names | None = Field(
        DEFAULTS["protocols"],
        title="The protocols to build. Without this key, all protocols of the sources.",
        examples=['a list of protocols: protocols = ["tide"]'],
    )
    formatter: Literal["ruff", "black"] = Field(
        DEFAULTS["formatter"],
        title="The formatter of the generated Python. ruff is fast, and black must be installed.",
        description="`ruff` or `black`",
        examples=['a formatter: formatter = "black"'],
    )
    sessions: bool = Field(
        DEFAULTS["sessions"],
        title="Whether packages contain `Connection`, `Session` and `aio`. Without them the runtime is smaller.",
        description="`true` or `false`",
        examples=["true or false: sessions = false"],
    )
    runtime: Package | None = Field(
        DEFAULTS["runtime"],
        title="The installed package from which the protocols import the runtime. Without this key, each output has a copy.",
        description=_PACKAGE_WORDS,
        examples=['a Python package in lower case: runtime = "acme_runtime"'],
    )
    runtime_package: Package | None = Field(
        DEFAULTS["runtime_package"],
        title="Builds the whole runtime as this Python package, for projects that set `runtime`, and no protocol.",
        description=_PACKAGE_WORDS,
        examples=['a Python package in lower case: runtime_package = "acme_runtime"'],
    )
    protobuf: ProtobufTable | None = Field(
        DEFAULTS["protobuf"],
        title="Options of the .proto files: `options` of all, and `protocols.NAME` of one, which replace those of all.",
        description="a table with `options`, `protocols`, or both",
        examples=['an option: protobuf.options.go_package = "example.com/gen/{protocol}"'],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownKey:
    """A key that a configuration cannot have; `key` contains it, or is it; `known` are the names that its place allows."""

    key: str
    place: str
    name: str
    known: tuple[str, ...]


def unknown_keys(error: ValidationError) -> tuple[UnknownKey, ...]:
    """Return the keys that are not in the model, at the top and in tables."""
    document = schema()
    return tuple(
        UnknownKey(
            key=str(place[0]),
            place=_shown(place).removeprefix("."),
            name=str(place[-1]),
            known=tuple(_wanted(document, place[:-1])["properties"]),
        )
        for fault in error.errors(include_url=False, include_context=False, include_input=False)
        if fault["type"] == "extra_forbidden"
        for place in [fault["loc"]]
    )


def faults_of(error: ValidationError) -> dict[str, list[tuple[str, str]]]:
    """Return for each invalid known key the places below it (`[2]`, or "" for itself), and the expected values."""
    document = schema()
    found: dict[str, dict[str, str]] = {}
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        key, *below = fault["loc"]
        if fault["type"] in ("extra_forbidden", "none_required"):  # TOML has no null
            continue
        wanted = _wanted(document, fault["loc"])
        if wanted.get("type") == "array":
            words = f"a list of {wanted.get('minItems', 0)} to {wanted['maxItems']} items"
        else:
            words = str(wanted["description"])
        named = below[:-1] if below and below[-1] == "[key]" else below
        found.setdefault(str(key), {})[_shown(named)] = words
    # A list whose items are all wrong is also too short for pydantic.
    return {
        key: [(place, words) for place, words in places.items() if place or len(places) == 1]
        for key, places in found.items()
    }


def _wanted(document: JsonSchema, place: tuple[str | int, ...]) -> JsonSchema:
    """Return the part of the JSON Schema that describes a place; pydantic adds `[key]` to a place for the name of a key."""
    if len(place) > 1 and place[-1] == "[key]":  # which may be a key's own name too
        table = _wanted(document, place[:-2])
        if "propertyNames" in table:
            names: JsonSchema = table["propertyNames"]
            return names
    node = document
    for part in place:
        if isinstance(part, int):
            node = node["items"]
        elif "properties" in node:
            node = node["properties"][part]
        else:
            (node,) = node["patternProperties"].values()
        if "$ref" in node:
            node = document["$defs"][node["$ref"].rpartition("/")[2]] | node
    return node


def _shown(place: Iterable[str | int]) -> str:
    """Return a place below a key as a user would write it, such as `.options.go_package` or `[2]`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)


def schema() -> JsonSchema:
    """Return the JSON Schema of the model, by which editors complete and check a configuration."""
    document = Settings.model_json_schema()
    for key in document["properties"].values():  # TOML has no null: a key is left out instead
        if "anyOf" in key:
            (value,) = (each for each in key.pop("anyOf") if each != {"type": "null"})
            del key["default"]
            key |= value
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **document}


def schema_text() -> str:
    """Return the schema as the file that is published."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
