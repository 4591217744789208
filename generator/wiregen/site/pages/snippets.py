"""Code that reproduces a sample: Python on the generated package, and the command."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from wiregen.formats.jsonl import LineError, dumps
from wiregen.formats.line_maker import LineMaker
from wiregen.generate.escaping import literal
from wiregen.generate.views.python.names import attribute, local_name
from wiregen.generate.views.python.text import class_name
from wiregen.runtime.reference.tree import FrameValue, Record, Variety
from wiregen.runtime.schema.protocol import Schema
from wiregen.schema import model as m
from wiregen.schema.naming import Namespace, python_name
from wiregen.schema.walk import every_field, is_compressed, nested_types
from wiregen.site.pages.sample_frame import Sample

__all__ = ["Snippets"]

_PACKAGE: Final = "wireproto"
_WIDTH: Final = 100
_HEX_WIDTH: Final = 64
_LONGEST: Final = 1200
"""The most characters of a snippet; a longer one is not shown."""


class _TooStrangeError(Exception):
    """A value that cannot be written as a constructor."""


class Snippets:
    """Writes the snippets of one protocol; `package`: the package of all generated protocols."""

    def __init__(self, protocol: m.Protocol, schema: Schema, package: str) -> None:
        self._protocol = protocol
        self._schema = schema
        self._package = package
        self._alias = python_name(protocol.name, Namespace.PACKAGE)
        self._enums = {enum.name: enum for enum in protocol.enums}
        self._unions = {union.name: union for union in protocol.unions}
        self._fields = _types_by_owner(protocol)

    # ---- the command

    def decode_command(self, sample: Sample) -> str:
        """Return the command that shows the sample as a tree."""
        words = ["wiregen", "decode", self._protocol.name, "--hex", sample.data.hex()]
        words += ["--from", sample.scene.role] if sample.scene.role else []
        for role, data in sample.scene.before:
            words += ["--before", f"{role}:{data.hex()}"]
        return shlex.join((*words, "--format", "tree"))

    def encode_command(self, sample: Sample) -> str:
        """Return the command that encodes the sample's bytes; "" where it needs more than one line."""
        if self._needs_scene(sample) or self._is_compressed(sample):
            return ""
        maker = LineMaker(self._schema)
        try:
            line = maker.decoded(sample.tree.value, sample.data, offset=0, role=sample.scene.role)
        except LineError:
            return ""
        kept = {key: line[key] for key in line if key in ("from", "message", "header", "fields")}
        text = (
            f"echo {shlex.quote(dumps(kept))} | wiregen encode {shlex.quote(self._protocol.name)} - | xxd -p"
        )
        return text if "raw" not in line and len(text) <= _LONGEST else ""

    def _needs_scene(self, sample: Sample) -> bool:
        return any(role not in self._schema.opens for role, _ in sample.scene.before) or (
            bool(self._protocol.contexts) and len(sample.scene.before) > len(self._schema.opens)
        )

    def _is_compressed(self, sample: Sample) -> bool:
        message = next(
            each for each in self._protocol.messages if each.name == sample.tree.value.message.name
        )
        return any(map(is_compressed, nested_types(*(field.type for field in message.fields))))

    # ---- Spark

    def spark(self, sample: Sample) -> str:
        """Return a program that reads the sample as a table; "" where only a capture has the bytes of the other role."""
        role, before = sample.scene.role, sample.scene.before
        if any(speaker != role for speaker, _ in before):
            return ""
        name = self._alias if self._package == _PACKAGE else f"{self._package}.{self._alias}"
        packages = "" if self._package == _PACKAGE else f"packages=[{literal(self._package.split('.')[0])}]"
        stream = b"".join(data for _, data in before) + sample.data
        file = f"{sample.tree.value.message.name}.bin"
        options = [("protocol", name), ("from", role), ("message", sample.tree.value.message.name)]
        # The bytes before may contain the message too: the sample's row is the one at its offset.
        chosen = f'.where("_offset = {len(stream) - len(sample.data)}")' if before else ""
        calls = "".join(f".option({literal(key)}, {literal(value)})" for key, value in options if value)
        text = (
            "from pathlib import Path\n\nimport wirespark\n\n"
            f'file = Path({literal(file)}).resolve()\nfile.write_bytes(bytes.fromhex("{stream.hex()}"))\n'
            f"spark = wirespark.session({packages})\n"
            f'reader = spark.read.format("wire"){calls}\n'
            f"table = reader.load(str(file)){chosen}\ntable.show(truncate=False)\n"
            "assert table.count() == 1\n"
        )
        return text if len(text) <= _LONGEST else ""

    # ---- Python

    def python(self, sample: Sample) -> str:
        """Return a program that encodes the sample and decodes it; "" where a value has no constructor."""
        try:
            frame = sample.tree.value
            message = self._value(frame.message, None)
            header = [
                f"{local_name(name)}={self._value(value, self._fields[frame.name].get(name))}"
                for name, value in frame.fields.items()
            ]
        except (_TooStrangeError, KeyError, TypeError):
            return ""
        lines = [f"from {self._package} import {self._alias}", "", *self._scene(sample)]
        lines += [f"message = {message}", f"data = {self._encoding(sample, header)}"]
        lines += [
            f"assert data == {_from_hex(sample.data)}",
            f"assert {self._decoding('data', sample.scene.role)}.message == message",
        ]
        if "UUID(" in message or any("UUID(" in each for each in header):
            lines.insert(0, "from uuid import UUID\n")
        text = "\n".join(lines) + "\n"
        return text if len(text) <= _LONGEST else ""

    def joining(self, said: Iterable[tuple[str | None, bytes]], n_joined: int) -> str:
        """Return a program that decodes a conversation and keeps `n_joined` reassembled messages."""
        alias, roles = self._alias, self._protocol.roles
        context = ["context=context"]
        made = _called(f"{alias}.Decoder", ["from_role=role", *context] if roles else context, 0)
        lines = [f"from {self._package} import {alias}", "", f"context = {alias}.Context()"]
        lines += [f"decoders = {{role: {made} for role in {literal(roles or (None,))}}}", "said = ["]
        lines += [f'    ({literal(role)}, "{data.hex()}"),' for role, data in said]
        lines += ["]", "joined = []", "for role, text in said:"]
        lines += ["    for frame in decoders[role].feed(bytes.fromhex(text)):"]
        lines += ['        part = getattr(frame, "part", None)', "        if part is not None and part.last:"]
        lines += [
            "            joined.append(part.joined)",
            f"assert len(joined) == {n_joined}",
            "print(joined)",
        ]
        text = "\n".join(lines) + "\n"
        return text if len(text) <= _LONGEST else ""

    def _scene(self, sample: Sample) -> list[str]:
        """Return the lines that decode the bytes sent before, to set the context; openings do not set any."""
        if not self._protocol.contexts:
            return []
        lines = [f"context = {self._alias}.Context()"]
        said = [each for each in sample.scene.before if not self._is_opening(*each)]
        lines += [self._decoding(_from_hex(data), role) for role, data in said]
        return lines

    def _is_opening(self, role: str | None, data: bytes) -> bool:
        return role in self._schema.opens and len(data) == len(self._opening_of(role))

    def _opening_of(self, role: str | None) -> bytes:
        name = self._schema.opens[role or ""]
        preamble = next(each for each in self._protocol.preambles if each.name == name)
        return bytes(self._sizes(preamble))

    def _sizes(self, preamble: m.Preamble) -> int:
        from wiregen.schema.sizes import smallest

        return smallest(preamble, self._protocol)

    def _encoding(self, sample: Sample, header: list[str]) -> str:
        extra = ["compression=0"] if self._is_compressed(sample) else []
        if self._protocol.contexts:
            extra += [f"from_role={literal(sample.scene.role)}", "context=context"]
        return _called(f"{self._alias}.encode", ["message", *header, *extra], 0)

    def _decoding(self, data: str, role: str | None) -> str:
        extra = [f"from_role={literal(role)}"] if role is not None else []
        extra += ["context=context"] if self._protocol.contexts else []
        return f"{self._alias}.decode({', '.join((data, *extra))})"

    def _value(self, value: object, type_: m.Type | None, depth: int = 0) -> str:
        """Return the constructor of a value, or its literal."""
        match value:
            case Record():
                return self._record(f"{self._alias}.{class_name(value.name)}", value, value.name, depth)
            case Variety():
                name = f"{self._alias}.{class_name(value.union)}.{class_name(value.name)}"
                code = self._code(value)
                return self._record(name, value, f"{value.union}.{value.name}", depth, *code)
            case FrameValue():
                if value.message is None or value.part is not None:
                    raise _TooStrangeError
                first = self._value(value.message, None, depth + 1)
                name = f"{self._alias}.{class_name(value.name)}"
                return self._record(name, value, value.name, depth, first)
            case list():
                return self._list(value, type_, depth)
            case UUID():
                return f'UUID("{value}")'
            case int() if not isinstance(value, bool):
                return self._number(value, type_)
            case _:
                return literal(value)

    def _code(self, variety: Variety) -> tuple[str, ...]:
        """Return the argument for the code of an alternative that has several codes."""
        declared = next(each for each in self._unions[variety.union].varieties if each.name == variety.name)
        has_one = len(declared.spans) == 1 and declared.spans[0].low == declared.spans[0].high
        if has_one or "code" in variety.fields:
            return ()
        return (f"code={variety.code}",)

    def _record(
        self, name: str, value: Record | Variety | FrameValue, owner: str, depth: int, *first: str
    ) -> str:
        if value.absent or (not isinstance(value, Variety) and value.tail):
            raise _TooStrangeError
        types = self._fields[owner]
        spell = local_name if isinstance(value, FrameValue) else attribute
        arguments = [
            f"{spell(field)}={self._value(part, types.get(field), depth + 1)}"
            for field, part in value.fields.items()
        ]
        positional = [each for each in first if not each.startswith("code=")]
        return _called(name, [*positional, *arguments, *first[len(positional) :]], depth)

    def _list(self, items: list[object], type_: m.Type | None, depth: int) -> str:
        inner = _content(type_)
        item = inner.item if isinstance(inner, m.List) else None
        return _bracketed("[", [self._value(each, item, depth + 1) for each in items], "]", depth)

    def _number(self, value: int, type_: m.Type | None) -> str:
        inner = _content(type_)
        if not isinstance(inner, m.EnumReference):
            return literal(value)
        members = self._enums[inner.name].members
        member = next((each.name for each in members if each.value == value), None)
        if member is None:
            return literal(value)
        return f"{self._alias}.{class_name(inner.name)}.{python_name(member, Namespace.ENUM_MEMBER)}"


def _content(type_: m.Type | None) -> m.Type | None:
    while isinstance(type_, m.Region):
        type_ = type_.content
    return type_


def _called(name: str, arguments: list[str], depth: int) -> str:
    return _bracketed(f"{name}(", arguments, ")", depth)


def _bracketed(opening: str, items: Iterable[str], closing: str, depth: int) -> str:
    """Return items in one line, or one on each line where they are too long."""
    listed = list(items)
    line = f"{opening}{', '.join(listed)}{closing}"
    if len(line) + 4 * depth <= _WIDTH and "\n" not in line:
        return line
    indent = " " * 4 * (depth + 1)
    return "\n".join((opening, *(f"{indent}{item}," for item in listed), " " * 4 * depth + closing))


def _types_by_owner(protocol: m.Protocol) -> dict[str, dict[str, m.Type]]:
    owners = {each.name: each.fields for each in protocol.structs}
    owners |= {each.name: each.fields for each in protocol.messages}
    owners |= {each.name: each.fields for each in protocol.frames}
    for union in protocol.unions:
        owners |= {f"{union.name}.{variety.name}": variety.fields for variety in union.varieties}
    return {
        name: {field.name: field.type for field in every_field(fields)} for name, fields in owners.items()
    }


def _from_hex(data: bytes) -> str:
    """Return the expression of bytes; long ones on several lines."""
    text = data.hex()
    if len(text) <= _HEX_WIDTH:
        return f'bytes.fromhex("{text}")'
    lines = (text[at : at + _HEX_WIDTH] for at in range(0, len(text), _HEX_WIDTH))
    return "".join(("bytes.fromhex(\n", *(f'    "{line}"\n' for line in lines), ")"))
