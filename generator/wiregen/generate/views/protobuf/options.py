"""The options of a .proto file, with their numbers and values in the descriptor.

Source: google/protobuf/descriptor.proto, message FileOptions.
"""

from collections.abc import Mapping
from typing import Final

from wiregen.generate.escaping import proto_text
from wiregen.generate.views.protobuf.schema import ProtoOption
from wiregen.language.proto_options import CAPITALIZED, NAMED, FileOption
from wiregen.schema.naming import camel_case

__all__ = ["NUMBERS", "OPTIMIZE_MODES", "proto_option"]

NUMBERS: Final[Mapping[str, int]] = {
    "java_package": 1, "java_outer_classname": 8, "optimize_for": 9, "java_multiple_files": 10, "go_package": 11,
    "deprecated": 23, "cc_enable_arenas": 31, "objc_class_prefix": 36, "csharp_namespace": 37, "swift_prefix": 39,
    "php_class_prefix": 40, "php_namespace": 41, "php_metadata_namespace": 44, "ruby_package": 45,
}  # fmt: skip
OPTIMIZE_MODES: Final[Mapping[str, int]] = {"SPEED": 1, "CODE_SIZE": 2, "LITE_RUNTIME": 3}


def proto_option(option: FileOption, protocol: str) -> ProtoOption:
    """Return an option with the placeholders of its value replaced by the name of the protocol."""
    value, name = option.value, option.name
    if isinstance(value, bool):
        return _option(name, int(value), "true" if value else "false")
    if name == "optimize_for":
        return _option(name, OPTIMIZE_MODES[value], value)
    text = value.replace(NAMED, protocol).replace(CAPITALIZED, camel_case(protocol))
    return _option(name, text, proto_text(text))


def _option(name: str, value: str | int, shown: str) -> ProtoOption:
    return ProtoOption(name=name, number=NUMBERS[name], value=value, shown=shown)
