"""A protocol's `msgpack.py`, as the template prints it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wiregen.generate.views.msgpack.builder import MsgpackBuilder
from wiregen.generate.views.msgpack.parts import CodedView, ConversionView, VarietiesView
from wiregen.generate.views.msgpack.sizes import ItemSize, item_size
from wiregen.generate.views.serial.functions import FunctionsView, functions_view
from wiregen.generate.views.serial.names import class_of
from wiregen.schema import model as m
from wiregen.schema.value_shapes import Carried

__all__ = ["MsgpackView", "msgpack_view"]

_RUNTIME = {
    "absent_of": "serial.msgpack",
    "any_of": "serial.msgpack",
    "coded": "serial.msgpack",
    "fields_of": "serial.msgpack",
    "items": "serial.msgpack",
    "plain_items": "serial.msgpack",
    "put_coded": "serial.msgpack",
    "variety": "serial.msgpack",
    "wrong": "serial.conversion",
    "inside": "serial.conversion",
    "take_uuid": "serial.conversion",
    "real": "serial.conversion",
    "rounded": "serial.conversion",
    "whole": "serial.conversion",
    "LeftOver": "serial.conversion",
    "Misfit": "serial.conversion",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MsgpackView:
    """The module; `frames` are class and stem, `size` is that of the largest item."""

    api: FunctionsView
    functions: tuple[ConversionView, ...]
    coded: tuple[CodedView, ...]
    varieties: tuple[VarietiesView, ...]
    frames: tuple[tuple[str, str], ...]
    used: frozenset[str]
    size: ItemSize

    @property
    def imports(self) -> tuple[tuple[str, str], ...]:
        """The imports of the module from the runtime: module and name."""
        names = [(module, name) for name, module in _RUNTIME.items() if name in self.used]
        return self.api.imports([*names, ("serial.msgpack", "MsgpackFormat")])

    @property
    def uses_uuid(self) -> bool:
        return self.api.uses_uuid or "UUID" in self.used


def msgpack_view(protocol: m.Protocol, carried: Carried, source: str) -> MsgpackView:
    """Return the view of a protocol's module."""
    builder = MsgpackBuilder(protocol, carried)
    builder.build()
    return MsgpackView(
        api=functions_view(protocol, carried, builder.names, source, "msgpack"),
        functions=tuple(builder.functions),
        coded=tuple(builder.coded),
        varieties=tuple(builder.varieties),
        frames=tuple((class_of(frame), builder.names.function(frame.name)) for frame in carried.frames),
        used=frozenset(_used(builder)),
        size=item_size(carried),
    )


def _used(builder: MsgpackBuilder) -> set[str]:
    """Return the runtime functions that the module's functions call, without their leading underscore."""
    texts = [text for each in builder.functions for text in each.texts]
    found = {word.removeprefix("_") for word in re.findall(r"\w+", " ".join(texts))}
    kinds = {each.kind for each in builder.functions}
    may_lack = any(each.may_lack_message for each in builder.functions)
    found |= {"fields_of"} if may_lack or kinds - {"frame", "union", "choice"} else set()
    found |= {"wrong"} if any(part.check for each in builder.functions for part in each.parts) else set()
    found |= {"put_coded", "coded"} if kinds & {"frame", "messages"} else set()
    found |= {"put_coded", "variety"} if "union" in kinds else set()
    found |= {"any_of", "Misfit"} if "choice" in kinds else set()
    found |= {"LeftOver"} if any(each.has_tail for each in builder.functions) else set()
    found |= {"absent_of"} if any(len(each.trailing) > 1 for each in builder.functions) else set()
    return found
