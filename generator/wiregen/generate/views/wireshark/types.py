"""Types of a schema as Lua source text: calls of the dissector's functions that make readers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, assert_never

from wiregen.generate.steps.step import UnsupportedError
from wiregen.generate.views.wireshark.expressions import lua_function, lua_number, lua_string
from wiregen.runtime.reference.layout import Layout, as_octets, fixed_size
from wiregen.schema import model as m
from wiregen.schema.naming import snake_case

__all__ = ["LuaTypes", "declared", "flag", "words"]

_FLOATS: Final = {4: "float", 8: "double"}
"""Those that Lua reads and Wireshark shows, by size."""
_LENIENT: Final = {False: "false", True: "true", "padded": "true"}


def flag(is_set: object) -> str:
    """Return a Boolean of Lua."""
    return "true" if is_set else "false"


def words(names: Iterable[str] | None) -> str:
    """Return a set of names as a table, or nil."""
    return "nil" if names is None else "{" + ", ".join(f"[{lua_string(name)}] = true" for name in names) + "}"


class LuaTypes:
    """Spells the types of one layout; `left_out` collects what Lua shows as bytes, in the words of the file."""

    def __init__(self, layout: Layout, left_out: list[str]) -> None:
        self._layout = layout
        self._schema = layout.schema
        self._left_out = left_out
        self._frame = ""

    def reaches_end(self, fields: tuple[m.Field, ...]) -> bool:
        """Return whether one of the fields takes all bytes left in its region."""
        return self._layout.fields_reach_end(fields)

    # ---- the fields of Wireshark

    @staticmethod
    def shown(abbreviation: str, kind: str, label: str, names: str = "nil", mask: str = "nil") -> str:
        """Return a field of Wireshark: its filter name behind that of the protocol, its type, its label."""
        parts = [lua_string(abbreviation), lua_string(kind), lua_string(label), names, mask]
        while parts[-1] == "nil":
            parts.pop()
        return f"P({', '.join(parts)})"

    # ---- expressions

    def function(self, expression: m.Expression) -> str:
        """Return an expression as a Lua function; one that only a session can calculate fails, which is noted."""
        try:
            return lua_function(expression)
        except UnsupportedError as error:
            construct = error.unsupported.construct
            self._left_out.append(construct)
            return f"function() fail({lua_string('needs ' + construct)}) end"

    # ---- rows of fields

    def row(self, fields: tuple[m.Field, ...], owner: str) -> str:
        """Return a row of fields; `owner`: the filter name of the declaration."""
        return f"row({self.fields(fields, owner)})"

    def fields(self, fields: tuple[m.Field, ...], owner: str) -> str:
        """Return the fields of a declaration or block as a table."""
        parts: list[str] = []
        run: list[m.Field] = []
        for field in (*fields, None):
            if field is not None and isinstance(field.type, m.Bits):
                run.append(field)
                continue
            if run:
                parts.append(self._run(run, owner))
                run = []
            if field is not None:
                parts.append(self._field(field, owner))
        return "{" + "".join(f"\n    {part}," for part in parts) + ("\n  }" if parts else "}")

    def _run(self, run: list[m.Field], owner: str) -> str:
        first, parts = 0, []
        is_msb = False
        for field in run:
            assert isinstance(field.type, m.Bits)
            width, is_msb = field.type.bits, field.type.order == "msb"
            shift = first % 8
            is_masked = shift + width <= 8
            mask = (1 << width) - 1 << (8 - shift - width if is_msb else shift) if is_masked else 0
            shown = self.shown(
                abbreviation(owner, field.name),
                "bool" if field.type.is_flag else "uint8" if is_masked else "uint16",
                field.name,
                mask=f"0x{mask:02x}" if is_masked else "nil",
            )
            facts = [
                f"name = {lua_string(field.name)}", f"pf = {shown}", f"first = {first}", f"width = {width}",
                f"is_secret = {flag(field.is_secret)}", f"is_flag = {flag(field.type.is_flag)}", f"is_masked = {flag(is_masked)}",
                f"check = checks({{{', '.join(self._checks(field))}}})",
            ]  # fmt: skip
            parts.append("{ " + ", ".join(facts) + " }")
            first += width
        inner = ", ".join(parts)
        return f"{{ run = bit_run({-(-first // 8)}, {flag(is_msb)}, {{ {inner} }}) }}"

    def _field(self, field: m.Field, owner: str) -> str:
        name = abbreviation(owner, field.name)
        read = self._divided(field, name) or self.type(field.type, name, field.name, owner)
        facts = [f"name = {lua_string(field.name)}", f"read = {read}"]
        if field.condition is not None:
            facts.append(f"condition = {self.function(field.condition)}")
        if isinstance(field.value, m.Trailing):
            facts.append(f"trailing = {fixed_size(self._layout, field.type) or 1}")
            facts.append(f"default = {self.function(field.value.value)}")
        if isinstance(field.type, m.Block):
            names = ", ".join(f"{{ name = {lua_string(each.name)} }}" for each in field.type.fields)
            facts.append(f"block = {{ {names} }}")
        if field.is_secret:
            facts.append("is_secret = true")
        facts += self._checks(field)
        return "{ " + ", ".join(facts) + " }"

    def _checks(self, field: m.Field) -> list[str]:
        facts = []
        if isinstance(field.value, m.Constant):
            facts.append(f"constant = {self.function(field.value.value)}")
        if isinstance(field.value, m.Derived):
            facts.append(f"derived = {self.function(field.value.value)}")
            facts.append(f"is_lenient = {flag(field.value.is_lenient)}")
        if field.where is not None:
            facts.append(f"where = {self.function(field.where)}")
        return facts

    def in_frame(self, name: str, fields: tuple[m.Field, ...], owner: str) -> str:
        """Return the row of a frame, whose blocks may come in pieces."""
        self._frame = name
        text = self.row(fields, owner)
        self._frame = ""
        return text

    def _divided(self, field: m.Field, name: str) -> str:
        """Return a block that may come in pieces, or "" for another field."""
        join_name = self._layout.divided.get((self._frame, field.name))
        if join_name is None:
            return ""
        join = self._schema.joins[join_name]
        content = field.type.content if isinstance(field.type, m.Region) else field.type
        lenient = field.type.lenient if isinstance(field.type, m.Region) else False
        owner = name.rpartition(".")[0]
        settings = [
            "{" + ", ".join("function() return true end" if each.when is None else self.function(each.when) for each in some) + "}"
            for some in (join.parts, join.lasts)
        ]  # fmt: skip
        arguments = [
            lua_string(join_name),
            "{" + ", ".join(map(lua_string, join.keys)) + "}",
            *settings,
            self.type(field.type, name, field.name, owner),
            self.type(as_octets(field.type), f"{name}.piece", "piece", owner),
            self.type(content, name, field.name, owner),
            _LENIENT[lenient],
            self.shown(f"{name}.tail", "bytes", "tail"),
        ]
        return f"divided({', '.join(arguments)})"

    # ---- types

    def type(self, type_: m.Type, name: str, label: str, owner: str) -> str:
        """Return the reader of a type; `name`: the filter name of its field, `owner`: of the declaration that it is in."""
        match type_:
            case m.Integer():
                return self._integer(type_, name, label)
            case m.Float():
                return self._float(type_, name, label)
            case m.Boolean(is_lenient=is_lenient):
                return f"bool({self.shown(name, 'bool', label)}, {flag(is_lenient)})"
            case m.Uuid():
                return f"guid({self.shown(name, 'guid', label)})"
            case m.Varint():
                return self._varint(type_, name, label)
            case m.EnumReference(name=enum, only=only, is_lenient=is_lenient):
                return self._enum(enum, None if is_lenient else only, name, label)
            case m.CodingReference(name=coding):
                return self._coding(coding, name, label)
            case m.Bytes(length=length):
                return f"bytes({self.shown(name, 'bytes', label)}, {self._length(length, name)})"
            case m.Text(encoding=encoding, length=length, is_lenient=is_lenient, endian=endian):
                unit = 2 if encoding == "utf16" else 1
                arguments = [
                    self.shown(name, "string", label), self._length(length, name, unit), lua_string(encoding),
                    flag(is_lenient), flag(endian == "little"),
                ]  # fmt: skip
                return f"text({', '.join(arguments)})"
            case m.List():
                return self._list(type_, name, label, owner)
            case m.StructReference(name=struct):
                return f"struct({lua_string(struct)})"
            case m.MessageReference(name=message):
                return f"message({lua_string(message)})"
            case m.FrameReference(name=frame, only=only, is_lenient=is_lenient):
                allowed = words(None if is_lenient else only)
                return f"frame({lua_string(frame)}, {allowed}, {flag(not name.endswith('.item'))})"
            case m.UnionReference(name=union, only=only, is_lenient=is_lenient):
                shown = self.shown(declared(union), "none", union)
                return f"union({lua_string(union)}, {shown}, {words(None if is_lenient else only)})"
            case m.MessageMatch(subject=subject, only=only, is_lenient=is_lenient):
                unknown = self.shown(f"{name}.unknown", "bytes", label)
                return (
                    f"any_message({self.function(subject)}, {words(None if is_lenient else only)}, {unknown})"
                )
            case m.Match(subject=subject, arms=arms):
                texts = [
                    f"{{ {{ {_spans(arm.spans)} }}, {self.type(arm.type, name, label, owner)} }}"
                    for arm in arms
                ]
                return f"match({self.function(subject)}, {{ {', '.join(texts)} }})"
            case m.Block(fields=fields):
                return f"block({self.fields(fields, owner)})"
            case m.Region():
                return self._region(type_, name, label, owner)
            case m.Bits():
                raise AssertionError("bits are read in runs")
            case _:
                assert_never(type_)

    def _float(self, type_: m.Float, name: str, label: str) -> str:
        if not type_.letter or type_.size not in _FLOATS:
            self._left_out.append(f"`{type_.format}`")
            return f"bytes({self.shown(name, 'bytes', label)}, sized(function() return {type_.size} end))"
        shown = self.shown(name, _FLOATS[type_.size], label)
        return f"float({shown}, {type_.size}, {flag(type_.endian == 'little')})"

    def _integer(self, type_: m.Integer, name: str, label: str, names: str = "nil") -> str:
        bits = 8 * type_.size if type_.size <= 4 else 64
        shown = self.shown(name, f"{'' if type_.is_signed else 'u'}int{bits}", label, names)
        return f"int({shown}, {type_.size}, {flag(type_.is_signed)}, {flag(type_.endian == 'little')})"

    def _varint(self, type_: m.Varint, name: str, label: str, names: str = "nil") -> str:
        shown = self.shown(name, "int64" if type_.is_zigzag else "uint64", label, names)
        return f"varint({shown}, {type_.bits}, {flag(type_.is_zigzag)}, {flag(type_.is_lenient)})"

    def _enum(self, enum: str, only: tuple[str, ...] | None, name: str, label: str) -> str:
        declared_ = self._schema.enums[enum]
        names = f"ENUMS[{lua_string(enum)}]"
        inner = (
            self._integer(declared_.type, name, label, names)
            if isinstance(declared_.type, m.Integer)
            else self._varint(declared_.type, name, label, names)
        )
        is_open = declared_.is_open or any(abs(member.value) > 2**53 for member in declared_.members)
        return f"enum({inner}, {names}, {flag(is_open)}, {words(only)})"

    def _coding(self, coding: str, name: str, label: str) -> str:
        declared_ = self._schema.codings[coding]
        first = self._integer(declared_.type, f"{name}.code", "code")
        integers = [declared_.type, *(width.wide for width in declared_.widths if width.wide is not None)]
        kind = "int64" if any(each.is_signed for each in integers) else "uint64"
        widths = []
        for width in declared_.widths:
            wide = "nil" if width.wide is None else self._integer(width.wide, f"{name}.value", "value")
            low, high = (width.low, width.high) if width.wide is None else width.wide.bounds
            code, value = (
                ", ".join(map(lua_number, each)) for each in ((width.low, width.high), (low, high))
            )
            widths.append(f"{{ {code}, {wide}, {flag(width.is_null)}, {value} }}")
        return f"coding({self.shown(name, kind, label)}, {first}, {{ {', '.join(widths)} }}, {flag(kind == 'int64')})"

    def _prefix(self, length: m.Prefix, name: str, part: str) -> str:
        return f"prefix({self.type(length.type, f'{name}.{part}', part, name)})"

    def _length(self, length: m.ByteLength, name: str, unit: int = 1) -> str:
        match length:
            case m.Prefix():
                return self._prefix(length, name, "length")
            case m.Computed(value=value):
                return f"sized({self.function(value)})"
            case m.ToEnd():
                return "to_end" if unit == 1 else "to_end_in_units"
            case m.Delimited(delimiter=digits):
                return f"delimited({lua_string(bytes.fromhex(digits))}, {unit})"
            case _:
                assert_never(length)

    def _list(self, type_: m.List, name: str, label: str, owner: str) -> str:
        count, is_over = "nil", "nil"
        match type_.length:
            case m.Prefix():
                count = self._prefix(type_.length, name, "count")
            case m.Computed(value=value):
                count = f"sized({self.function(value)})"
            case m.ToEnd():
                is_over = "is_at_end"
            case m.Until(condition=condition):
                is_over = f"until_item({self.function(condition)})"
        where = "nil" if type_.where is None else self.function(type_.where.condition)
        item = self.type(type_.item, f"{name}.item", "item", owner)
        shown = self.shown(name, "none", label)
        return f"items({shown}, {item}, {type_.smallest_item}, {count}, {is_over}, {where})"

    def _region(self, type_: m.Region, name: str, label: str, owner: str) -> str:
        content = self.type(type_.content, name, label, owner)
        lenient, tail = _LENIENT[type_.lenient], self.shown(f"{name}.tail", "bytes", "tail")
        match type_.carrier:
            case m.InSize(size=size):
                return f"region(sized({self.function(size)}), {content}, {lenient}, {tail})"
            case m.Prefix() as carrier:
                return f"region({self._prefix(carrier, name, 'length')}, {content}, {lenient}, {tail})"
            case m.Compressed(algorithm=algorithm, length=length):
                body = self.shown(f"{name}.{algorithm}", "bytes", algorithm)
                if algorithm not in ("zlib", "gzip"):
                    self._left_out.append(f"`in {algorithm}`")
                measured = self._length(length, name)
                return (
                    f"compressed({lua_string(algorithm)}, {measured}, {content}, {lenient}, {tail}, {body})"
                )
            case m.Chunks(struct=struct, data=data, until=until):
                chunk = f"struct({lua_string(struct)}), {lua_string(data)}, {self.function(until)}"
                shown = self.shown(f"{name}.chunks", "none", "chunks")
                return f"chunks({chunk}, {content}, {lenient}, {tail}, {shown})"
            case _:
                assert_never(type_.carrier)


def declared(name: str) -> str:
    """Return the filter name of a declaration."""
    return snake_case(name)


def abbreviation(owner: str, field: str) -> str:
    """Return the filter name of a field; one without a name is `reserved`."""
    return f"{owner}.{'reserved' if field == '_' else field}"


def _spans(spans: tuple[m.Span, ...]) -> str:
    return ", ".join(f"{lua_number(span.low)}, {lua_number(span.high)}" for span in spans)
