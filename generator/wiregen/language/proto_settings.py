"""The table `protobuf` of a configuration, as pydantic checks it.

The options are those of google.protobuf.FileOptions that matter to a file without services.
Source: google/protobuf/descriptor.proto.
"""

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, StringConstraints, with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

__all__ = ["ProtobufOptions", "ProtobufTable"]

_STRICT: Final = ConfigDict(extra="forbid", strict=True)
_Text = Annotated[
    str,
    StringConstraints(pattern=r"^([^{}]|\{[pP]rotocol\})*$", max_length=1000),
    Field(description="a text, with no braces except in `{protocol}` and `{Protocol}`"),
]
_Flag = Annotated[bool, Field(description="`true` or `false`")]
_ProtocolName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64),
    Field(description="the name of a protocol"),
]


@with_config(_STRICT)
class ProtobufOptions(TypedDict, total=False):
    """Options of a .proto file."""

    cc_enable_arenas: _Flag
    csharp_namespace: _Text
    deprecated: _Flag
    go_package: _Text
    java_multiple_files: _Flag
    java_outer_classname: _Text
    java_package: _Text
    objc_class_prefix: _Text
    optimize_for: Annotated[
        Literal["SPEED", "CODE_SIZE", "LITE_RUNTIME"],
        Field(description="`SPEED`, `CODE_SIZE` or `LITE_RUNTIME`"),
    ]
    php_class_prefix: _Text
    php_metadata_namespace: _Text
    php_namespace: _Text
    ruby_package: _Text
    swift_prefix: _Text


_OptionsTable = Annotated[ProtobufOptions, Field(description="a table of options")]


@with_config(_STRICT)
class ProtobufTable(TypedDict, total=False):
    """Options of the .proto files."""

    options: _OptionsTable
    protocols: Annotated[
        dict[_ProtocolName, _OptionsTable],
        Field(description="a table with a table of options for each protocol"),
    ]
