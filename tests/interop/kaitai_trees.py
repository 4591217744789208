"""Trees of Kaitai Struct's Python against those of the reference codec, over the bytes of one side of a connection."""

from __future__ import annotations

import importlib.util
import io
import math
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any  # classes that Kaitai generates have no types
from uuid import UUID

from kaitaistruct import KaitaiStream, KaitaiStruct
from tests.interop.dissected_vectors import Case, Compared, read_side

from wiregen.generate.views.kaitai.module import KaitaiView
from wiregen.generate.views.kaitai.parts import field_ids
from wiregen.runtime.codec.fragment import Part
from wiregen.runtime.reference.scope import ABSENT
from wiregen.runtime.reference.tree import FrameValue, Node, Record, Variety
from wiregen.runtime.schema.declarations import Field
from wiregen.runtime.schema.elements import CompressedBody, JoinedBody, PreambleReference, UnknownMessage
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import (
    Block,
    Chunks,
    Compressed,
    FrameReference,
    List,
    MessageReference,
    Region,
    StructReference,
    Text,
    UnionReference,
)

__all__ = ["compare_side", "load_parser"]

_MISSING = object()


class _LeftOutError(Exception):
    """Raised at the first value that the file cannot say; holds its name."""


class _DifferentError(Exception):
    """Raised at the first difference."""


def load_parser(folder: Path, view: KaitaiView) -> Any:
    """Return the class that Kaitai compiled from a file."""
    name = "".join(word.capitalize() for word in view.id.split("_"))
    spec = importlib.util.spec_from_file_location(f"{folder.name}_{view.id}", folder / f"{view.id}.py")
    assert spec is not None and spec.loader is not None
    module = types.ModuleType(spec.name)
    spec.loader.exec_module(module)
    return getattr(module, name)


def compare_side(schema: Schema, view: KaitaiView, parser: Any, case: Case, compared: Compared) -> None:
    """Compare the frames of one role, up to the first one that cannot be compared."""
    data = b"".join(data for sender, data in case.turns if sender == view.role)
    if not data:
        return
    nodes, error = read_side(schema, case, view.role)
    stream, refused = _parse(parser, data)
    trees = _Trees(schema, view, compared)
    theirs = [getattr(stream, "preamble", _MISSING)] if view.role in schema.opens else []
    theirs += getattr(stream, "frames", [])
    where = f"{schema.name} {case.name}, from {view.role}"
    for i, node in enumerate(nodes):
        if isinstance(node.value, FrameValue) and isinstance(node.value.part, Part):
            compared.left_out["fragments"] += 1
            return
        try:
            if i >= len(theirs) or theirs[i] is _MISSING:
                raise _failure(refused, is_foreign=_is_foreign(schema, node, view.role))
            trees.check(node, theirs[i], "")
        except _LeftOutError as reason:
            compared.left_out[str(reason)] += 1
            return
        except _DifferentError as difference:
            compared.wrong.append(f"{where}, frame {i}: {difference} ({refused!r})")
            return
        compared.counts["frames"] += 1
    if error is not None:
        compared.counts["refused frames"] += refused is not None
        compared.left_out["refused frames that the file describes"] += refused is None
    elif len(theirs) > len(nodes) or refused is not None:
        rest = data[nodes[-1].end :] if nodes else data
        if rest:
            compared.left_out["incomplete frames"] += 1
        else:
            compared.wrong.append(f"{where}: {len(theirs)} frames for {len(nodes)} ({refused!r})")


def _is_foreign(schema: Schema, node: Node, role: str) -> bool:
    """Return whether a frame carries a message that only the other role may send."""
    message = node.value.message if isinstance(node.value, FrameValue) else None
    return isinstance(message, Record) and message.name not in schema.codes.get(role, {}).values()


def _failure(error: Exception | None, *, is_foreign: bool) -> Exception:
    if is_foreign:
        return _LeftOutError("messages that only the other role sends")
    if isinstance(error, UnicodeError):
        return _LeftOutError("text in other bytes than its encoding's")
    return _DifferentError("no frame")


def _parse(parser: Any, data: bytes) -> tuple[Any, Exception | None]:
    """Return the object of a stream, with the frames before an error, and the error."""
    made = parser.__new__(parser)
    KaitaiStruct.__init__(made, KaitaiStream(io.BytesIO(data)))
    made._parent, made._root = None, made
    try:
        made._read()
    except Exception as error:  # noqa: BLE001 - of as many classes as there are ways to be wrong
        return made, error
    return made, None


class _Trees:
    """Compares nodes with objects; `view` tells how they are named."""

    def __init__(self, schema: Schema, view: KaitaiView, compared: Compared) -> None:
        self._schema = schema
        self._compared = compared
        self._wrappers = {_class(each.name) for each in view.types if each.is_wrapper}
        self._cuts = {(each.owner, each.field): each.construct for each in view.cuts}

    def check(self, node: Node, theirs: Any, owner: str) -> None:
        """Compare a node; `owner`: the declaration that it is a field of."""
        if node.note == ABSENT:
            self._same(node, None, None if theirs is _MISSING else theirs)
            return
        if theirs is _MISSING:
            raise _DifferentError(f"{node.path} is missing")
        while isinstance(theirs, KaitaiStruct) and type(theirs).__name__ in self._wrappers:
            theirs = theirs.value
        if isinstance(theirs, bytes) and (owner, node.name) in self._cuts:
            raise _LeftOutError(f"{owner}.{node.name}: {self._cuts[owner, node.name]}")
        match node.type:
            case StructReference(name):
                self._fields(node.children, self._schema.structs[name], theirs, name)
            case MessageReference() if isinstance(theirs, bytes):
                raise _LeftOutError("messages that only the other role sends")
            case MessageReference(name):
                self._fields(node.children, self._schema.messages[name].fields, theirs, name)
            case FrameReference(name):
                self._fields(node.children, self._schema.frames[name].fields, theirs, name)
            case PreambleReference(name):
                self._fields(node.children, self._schema.preambles[name].fields, theirs, name)
            case Block(fields):
                self._fields(node.children, fields, theirs, owner)
            case UnionReference(name):
                self._union(node, theirs, name)
            case List():
                self._list(node, theirs, owner)
            case Region():
                self._region(node, theirs, owner)
            case UnknownMessage():
                self._same(node, True, isinstance(theirs, bytes) and len(theirs) == node.size)
            case _:
                self._scalar(node, theirs)

    def _fields(self, children: Iterable[Node], fields: tuple[Field, ...], theirs: Any, owner: str) -> None:
        ids = field_ids(fields)
        for child in children:
            if (owner, child.name) in self._cuts and not child.is_part:
                raise _LeftOutError(f"{owner}.{child.name}: {self._cuts[owner, child.name]}") from None
            if child.is_part or child.name == "_":
                continue
            self.check(child, getattr(theirs, ids[child.name], _MISSING), owner)

    def _union(self, node: Node, theirs: Any, name: str) -> None:
        assert isinstance(node.value, Variety)
        code, *fields = node.children
        self.check(code, theirs.code, name)
        alternative = next(
            each for each in self._schema.unions[name].varieties if each.name == node.value.name
        )
        self._fields(fields, alternative.fields, theirs.value, f"{name}.{alternative.name}")

    def _list(self, node: Node, theirs: Any, owner: str) -> None:
        items = [child for child in node.children if not child.is_part]
        self._same(node, len(items), len(theirs))
        for child, item in zip(items, theirs, strict=True):
            self.check(child, item, owner)

    def _region(self, node: Node, theirs: Any, owner: str) -> None:
        assert isinstance(node.type, Region)
        carrier = node.type.carrier
        if isinstance(carrier, Chunks):
            chunks = [child for child in node.children if child.name.startswith("[")]
            self._same(node, len(chunks), len(theirs))
            for child, chunk in zip(chunks, theirs, strict=True):
                self.check(child, chunk, owner)
            self._compared.left_out["what chunks make together"] += 1
            return
        if isinstance(carrier, Compressed) and carrier.algorithm != "zlib":
            self._compared.left_out[f"the content of {carrier.algorithm}"] += 1
            return
        for child in node.children:
            inside = child.children if isinstance(child.type, CompressedBody | JoinedBody) else (child,)
            for each in inside:
                if not each.is_part:
                    self.check(each, theirs, owner)

    def _scalar(self, node: Node, theirs: Any) -> None:
        value: object = node.value
        if isinstance(theirs, KaitaiStruct):
            theirs = None if value is None and theirs.is_null else theirs.value
        if isinstance(node.type, Text) and isinstance(theirs, bytes):
            if node.type.encoding != "mutf8":
                raise _DifferentError(f"{node.path}: bytes for text")
            if not theirs.isascii() or b"\0" in theirs:
                self._compared.left_out["mutf8 beyond ASCII"] += 1
                return
            theirs = theirs.decode("ascii")
        if isinstance(value, UUID):
            value = value.bytes
        if isinstance(value, bool):
            theirs = bool(theirs)
        if value is None and theirs in (b"", ""):
            theirs = None
        if isinstance(value, float) and math.isnan(value):
            self._same(node, True, math.isnan(theirs))
            return
        self._same(node, value, theirs)
        self._compared.counts["values"] += 1

    @staticmethod
    def _same(node: Node, ours: object, theirs: object) -> None:
        if ours != theirs:
            raise _DifferentError(f"{node.path}: {theirs!r:.200} for {ours!r:.200}")


def _class(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
