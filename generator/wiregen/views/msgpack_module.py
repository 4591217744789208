"""A protocol's `msgpack.py`, as the template prints it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wiregen import model as m
from wiregen.carried import Carried
from wiregen.views.msgpack_builder import MsgpackBuilder
from wiregen.views.msgpack_parts import CodedView, ConversionView, VarietiesView
from wiregen.views.msgpack_sizes import ItemSize, item_size
from wiregen.views.serial_doors import DoorsView, doors_view
from wiregen.views.serial_names import class_of

__all__ = ["MsgpackView", "msgpack_view"]

_RUNTIME = {
    "absent_of": "serial_msgpack",
    "any_of": "serial_msgpack",
    "coded": "serial_msgpack",
    "fields_of": "serial_msgpack",
    "items": "serial_msgpack",
    "plain_items": "serial_msgpack",
    "put_coded": "serial_msgpack",
    "variety": "serial_msgpack",
    "wrong": "serial",
    "inside": "serial",
    "take_uuid": "serial",
    "LeftOver": "serial",
    "Misfit": "serial",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MsgpackView:
    """The module; `frames` are class and stem, `size` that of the largest item."""

    doors: DoorsView
    functions: tuple[ConversionView, ...]
    coded: tuple[CodedView, ...]
    varieties: tuple[VarietiesView, ...]
    frames: tuple[tuple[str, str], ...]
    used: frozenset[str]
    size: ItemSize

    @property
    def imports(self) -> tuple[str, ...]:
        """The lines that import from the runtime."""
        names = [(module, name) for name, module in _RUNTIME.items() if name in self.used]
        return self.doors.imports([*names, ("serial_msgpack", "MsgpackFormat")])

    @property
    def uses_uuid(self) -> bool:
        return self.doors.uses_uuid or "UUID" in self.used


def msgpack_view(protocol: m.Protocol, carried: Carried, source: str) -> MsgpackView:
    """Return the view of a protocol's module.

    Raises:
        UnsupportedError: A construct that Python does not say in straight lines.
    """
    builder = MsgpackBuilder(protocol, carried)
    builder.build()
    return MsgpackView(
        doors=doors_view(protocol, carried, builder.names, source, "msgpack"),
        functions=tuple(builder.functions),
        coded=tuple(builder.coded),
        varieties=tuple(builder.varieties),
        frames=tuple((class_of(frame), builder.names.function(frame.name)) for frame in carried.frames),
        used=frozenset(_used(builder)),
        size=item_size(carried),
    )


def _used(builder: MsgpackBuilder) -> set[str]:
    """Return what the functions call, without the underscore before it."""
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
