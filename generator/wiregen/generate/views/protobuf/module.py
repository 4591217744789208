"""A protocol's `protobuf.py`, `_descriptor.py` and `.proto`, as the templates print them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from wiregen.generate.views.protobuf.builder import ProtobufBuilder
from wiregen.generate.views.protobuf.descriptor import descriptor_pieces
from wiregen.generate.views.protobuf.parts import FunctionView, OneofView
from wiregen.generate.views.protobuf.schema import ProtoFile, ProtoOption
from wiregen.generate.views.serial.functions import FunctionsView, functions_view
from wiregen.generate.views.serial.names import class_of
from wiregen.schema import model as m
from wiregen.schema.value_shapes import Carried

__all__ = ["ProtobufView", "protobuf_view"]

_ALWAYS = tuple(("serial.protobuf", name) for name in ("ProtobufFormat", "put_oneof", "take_oneof"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtobufView:
    """The three pages; `frames` are class, stem, full protobuf name and constant, by role in `api`."""

    api: FunctionsView
    file: ProtoFile
    pieces: tuple[tuple[str, bytes], ...]
    functions: tuple[FunctionView, ...]
    tables: tuple[OneofView, ...]
    frames: tuple[tuple[str, str, str, str], ...]

    @property
    def imports(self) -> tuple[tuple[str, str], ...]:
        """The imports of the module from the runtime: module and name."""
        parts = [part for each in self.functions for part in each.parts]
        parts += [option.part for each in self.functions for option in each.options]
        texts = [text for part in parts for text in (part.put, part.take)]
        words = set(re.findall(r"\w+", " ".join(texts)))
        used = [
            ("serial.conversion", name)
            for name in ("each", "inside", "plain", "real", "take_uuid", "whole")
            if f"_{name}" in words
        ]
        used += [("serial.protobuf", "held")] if "_held" in words else []
        used += (
            [("serial.protobuf", "absent_of")]
            if any(len(each.trailing) > 1 for each in self.functions)
            else []
        )
        used += (
            [("serial.conversion", "Misfit")] if any(each.kind == "choice" for each in self.functions) else []
        )
        used += [("serial.conversion", "LeftOver")] if any(each.has_tail for each in self.functions) else []
        return self.api.imports((*used, *_ALWAYS))

    @property
    def uses_uuid(self) -> bool:
        texts = [option.test for each in self.functions for option in each.options]
        texts += [part.take for each in self.functions for part in each.parts]
        return self.api.uses_uuid or any("UUID(" in text or "UUID)" in text for text in texts)


def protobuf_view(
    protocol: m.Protocol,
    carried: Carried,
    numbers: Mapping[str, int],
    retired: Mapping[str, tuple[int, ...]],
    package: str,
    source: str,
    options: tuple[ProtoOption, ...] = (),
) -> ProtobufView:
    """Return the view of a protocol's three pages."""
    builder = ProtobufBuilder(protocol, carried, numbers, retired, package, source)
    file = builder.file(options)
    return ProtobufView(
        api=functions_view(protocol, carried, builder.names, source, "protobuf"),
        file=file,
        pieces=descriptor_pieces(file),
        functions=tuple(builder.functions),
        tables=tuple(builder.tables),
        frames=tuple(
            (
                class_of(frame),
                builder.names.function(frame.name),
                f"{file.package}.{frame.name}",
                builder.names.table("PB", frame.name),
            )
            for frame in carried.frames
        ),
    )
