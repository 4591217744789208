"""Types of a schema as types and attributes of Kaitai Struct."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from wiregen.generate.steps.step import UnsupportedError
from wiregen.generate.views.kaitai.choices import choice
from wiregen.generate.views.kaitai.expressions import KaitaiExpressions, KaitaiPlace, KaitaiScope
from wiregen.generate.views.kaitai.file import KaitaiFile
from wiregen.generate.views.kaitai.numbers import is_built_in
from wiregen.generate.views.kaitai.parts import (
    Identifiers,
    KaitaiAttribute,
    KaitaiEntry,
    KaitaiInstance,
    KaitaiType,
    field_ids,
    quoted,
    type_entry,
)
from wiregen.generate.views.kaitai.scalars import (
    enum_shape,
    number_shape,
    prefix,
    scalar_shape,
    sized_shape,
    text_shape,
)
from wiregen.generate.views.kaitai.shapes import (
    TO_THE_END,
    KaitaiLevel,
    KaitaiShape,
    has_position,
    validity,
)
from wiregen.runtime.reference.layout import Layout, fixed_size
from wiregen.runtime.schema.node import nodes_in
from wiregen.schema import model as m

__all__ = ["KaitaiTypes"]


class KaitaiTypes:
    """Writes the types that the frames of one role need to `file`."""

    def __init__(self, layout: Layout, role: str, taken: str, cut: frozenset[str]) -> None:
        self.file = KaitaiFile(layout.schema, taken, cut)
        self._schema = layout.schema
        self._layout = layout
        self._role = role

    # ---- declarations

    def record(self, name: str, fields: tuple[m.Field, ...], frame: str | None = None) -> KaitaiShape:
        """Return the type of a declaration with fields; `frame`: its name if it is a frame."""
        made, is_new = self.file.named(name)
        if is_new:
            outer, self.file.owner = (self.file.owner, self.file.read), name
            self._record(made, name, fields, frame)
            self.file.owner, self.file.read = outer
        return KaitaiShape(entries=(type_entry(made),), is_cut=name in self.file.cut)

    def _record(self, made: str, name: str, fields: tuple[m.Field, ...], frame: str | None) -> None:
        self.file.types[made] = KaitaiType(name=made)  # its place, before the types in it
        scope = KaitaiScope(is_frame=frame is not None)
        level = KaitaiLevel(
            made, Identifiers(field_ids(fields).values()), KaitaiExpressions(self._schema, scope), scope
        )
        seq, is_cut = self._fields(fields, level, frame)
        self.file.types[made] = KaitaiType(name=made, comment=name, seq=seq, instances=tuple(level.instances))
        if is_cut:
            self.file.cut.add(name)

    def _union(self, name: str) -> KaitaiShape:
        made, is_new = self.file.named(name)
        union = self._schema.unions[name]
        if is_new:
            self.file.types[made] = KaitaiType(name=made)
            code = number_shape(self.file, union.type)
            on = KaitaiExpressions(self._schema, KaitaiScope(is_frame=False)).number_of(union.type, "code")
            arms = [(each.spans, self.record(f"{name}.{each.name}", each.fields)) for each in union.varieties]
            value = KaitaiAttribute(id="value", switch=choice(self.file, on, arms))
            self.file.types[made] = KaitaiType(
                name=made, comment=name, seq=(KaitaiAttribute(id="code", entries=code.entries), value)
            )
            if any(shape.is_cut for _, shape in arms):
                self.file.cut.add(name)
        return KaitaiShape(entries=(type_entry(made),), is_cut=name in self.file.cut)

    # ---- fields

    def _fields(
        self, fields: tuple[m.Field, ...], level: KaitaiLevel, frame: str | None = None
    ) -> tuple[tuple[KaitaiAttribute, ...], bool]:
        """Return the attributes of fields, and whether they are cut: fields after one that always is are left out."""
        seq: list[KaitaiAttribute] = []
        ids = field_ids(fields)
        for field in fields:
            id_ = ids.get(field.name) or level.identifiers.new("reserved")
            self.file.read, level.is_last = field.name, field is fields[-1]
            try:
                made, is_cut = self._field(field, id_, level, frame)
            except UnsupportedError as error:
                self.file.add_cut(error)
                made, is_cut = [KaitaiAttribute(id=id_, entries=TO_THE_END)], True
            seq += made
            if is_cut:
                return tuple(seq), True
        return tuple(seq), False

    def _field(
        self, field: m.Field, id_: str, level: KaitaiLevel, frame: str | None
    ) -> tuple[list[KaitaiAttribute], bool]:
        conditions = [] if field.condition is None else [level.spell.truth(field.condition)]
        if isinstance(field.value, m.Trailing) and not conditions:
            conditions.append(f"_io.size - _io.pos >= {fixed_size(self._layout, field.type) or 1}")
        pieces: list[KaitaiAttribute] = []
        joined = self._layout.divided.get((frame or "", field.name))
        if joined is not None:
            is_part = self._is_part(joined, level)
            pieces.append(self._piece(field, id_, is_part, level))
            conditions.append(f"(not {is_part})")
        chain = (*level.scope.chain, id_)
        shape = self._shape(field.type, id_, level)
        if field.name != "_":
            level.scope.places[field.name] = KaitaiPlace(
                chain=chain, type=field.type, is_optional=bool(conditions) and joined is None
            )
        entries = (*shape.entries, *validity(shape, self._checks(field, id_, level)))
        condition = " and ".join(conditions)
        if shape.before and (isinstance(field.value, m.Trailing) or has_position(field.condition)):
            # The length in front moves the position: the instance keeps what the condition was before it.
            level.instances.append(
                KaitaiInstance(id=level.identifiers.new(f"has_{id_}"), value=quoted(condition))
            )
            condition = level.instances[-1].id
        presence = [KaitaiEntry(key="if", value=quoted(condition))] if conditions else []
        before = [replace(each, entries=(*each.entries, *presence)) for each in shape.before]
        own = KaitaiAttribute(id=id_, entries=(*entries, *presence), switch=shape.switch)
        return [*before, own, *pieces], shape.is_cut and not conditions

    def _is_part(self, joined: str, level: KaitaiLevel) -> str:
        whens = [setting.when for setting in self._schema.joins[joined].parts]
        if any(when is None for when in whens):
            return "true"
        return f"({' or '.join(level.spell.truth(when) for when in whens if when is not None)})"

    def _piece(self, field: m.Field, id_: str, is_part: str, level: KaitaiLevel) -> KaitaiAttribute:
        """Return the attribute for the bytes of a fragment."""
        if not isinstance(field.type, m.Region) or not isinstance(field.type.carrier, m.InSize):
            raise UnsupportedError("", f"the fragments of `{field.name}`")
        size = KaitaiEntry(key="size", value=quoted(level.spell.number(field.type.carrier.size)))
        presence = KaitaiEntry(key="if", value=quoted(is_part))
        return KaitaiAttribute(id=level.identifiers.new(f"{id_}_piece"), entries=(size, presence))

    def _checks(self, field: m.Field, id_: str, level: KaitaiLevel) -> list[str]:
        """Return the conditions on a field's value that Kaitai can test; the others are left out."""
        found = []
        if isinstance(field.value, m.Constant):
            found.append(self._constant(field.value.value, field.name))
        if field.where is not None:
            found.append(field.where)
        checks = []
        for condition in found:
            try:
                if isinstance(field.type, m.List):
                    raise UnsupportedError("", "a condition on a list")
                if field.name == "_":
                    level.scope.places["_"] = KaitaiPlace(chain=(*level.scope.chain, id_), type=field.type)
                checks.append(level.spell.truth(condition))
            except UnsupportedError:
                self.file.left_out.append(f"the condition on `{self.file.owner}.{field.name}` is not tested")
        return checks

    @staticmethod
    def _constant(value: m.Expression, name: str) -> m.Expression:
        return m.Operation(operator="==", left=m.FieldReference(path=(name,)), right=value)

    # ---- types

    def _shape(self, type_: m.Type, id_: str, level: KaitaiLevel) -> KaitaiShape:
        match type_:
            case m.Integer() | m.Varint() | m.CodingReference():
                return number_shape(self.file, type_)
            case m.Float() | m.Boolean() | m.Bits() | m.Uuid():
                return scalar_shape(self.file, type_, id_)
            case m.EnumReference():
                return enum_shape(self.file, type_, id_, level)
            case m.Bytes(length=length):
                return sized_shape(self.file, length, id_, level, 1)
            case m.Text():
                return text_shape(self.file, type_, id_, level)
            case m.List():
                return self._list(type_, id_, level)
            case m.StructReference(name=name):
                return self.record(name, self._layout.structs[name])
            case m.MessageReference(name=name):
                return self.record(name, self._layout.messages[name].fields)
            case m.FrameReference(name=name):
                return self.record(name, self._layout.frames[name].fields, name)
            case m.UnionReference(name=name):
                return self._union(name)
            case m.MessageMatch():
                return self._message(type_, id_, level)
            case m.Match():
                return self._match(type_, id_, level)
            case m.Block(fields=fields):
                return self._block(fields, id_, level)
            case m.Region():
                return self._region(type_, id_, level)
            case _:
                assert_never(type_)

    def _message(self, type_: m.MessageMatch, id_: str, level: KaitaiLevel) -> KaitaiShape:
        """Return the choice of a message of the sender. The bytes of one with an unknown code are shown at the end of a region."""
        arms = [
            ((m.Span(low=code, high=code),), self._shape(m.MessageReference(name=name), id_, level))
            for code, name in self._schema.codes.get(self._role, {}).items()
            if type_.only is None or type_.is_lenient or name in type_.only
        ]
        on = level.spell.number(type_.subject)
        is_bounded = level.ends_region and level.is_last
        return KaitaiShape(
            entries=TO_THE_END if is_bounded else (),
            switch=choice(self.file, on, arms, has_others=is_bounded),
            is_cut=any(each.is_cut for _, each in arms),
        )

    def _match(
        self, type_: m.Match, id_: str, level: KaitaiLevel, *, is_bounded: bool = False
    ) -> KaitaiShape:
        """Return the choice of an arm; `is_bounded`: in a region, which only types of the file have.

        C++ has no choice between those, one of which refuses other numbers, and integers of its own.
        """
        on = self._subject(type_.subject, level)
        are_built_in = all(isinstance(arm.type, m.Integer) and is_built_in(arm.type) for arm in type_.arms)
        is_bounded |= not are_built_in or all(arm.spans for arm in type_.arms)
        arms = [
            (arm.spans, self._wrapped(arm.type, id_, level, f"arm_{i + 1}", is_bounded=is_bounded))
            for i, arm in enumerate(type_.arms)
        ]
        return KaitaiShape(switch=choice(self.file, on, arms), is_cut=any(each.is_cut for _, each in arms))

    def _subject(self, subject: m.Expression, level: KaitaiLevel) -> str:
        try:
            return level.spell.number(subject)
        except UnsupportedError:
            return f"({level.spell.truth(subject)}).to_i"

    def _list(self, type_: m.List, id_: str, level: KaitaiLevel) -> KaitaiShape:
        before: tuple[KaitaiAttribute, ...] = ()
        more: tuple[KaitaiEntry, ...] = ()
        match type_.length:
            case m.Prefix():
                count, number = prefix(self.file, type_.length, f"{id_}_count", level)
                before, repeat = (count,), ("expr", number)
            case m.Computed(value=value):
                repeat = ("expr", level.spell.number(value))
            case m.ToEnd():
                repeat = ("eos", "")
            case m.Until():
                repeat = ("until", "")
        item = self._wrapped(type_.item, id_, level, "item", is_alone=False)
        if item.is_cut:
            raise UnsupportedError("", "items whose ends are not known")
        if isinstance(type_.length, m.Until):
            of_items = level.spell.of_items(type_.item, "_.value" if self._is_wrapper(item) else "_")
            repeat = ("until", of_items.truth(type_.length.condition))
        kind, text = repeat
        if text:
            more = (KaitaiEntry(key=f"repeat-{kind}", value=quoted(text)),)
        entries = (*item.entries, KaitaiEntry(key="repeat", value=kind), *more)
        if type_.where is not None:
            self.file.left_out.append(
                f"the condition on the items of `{self.file.owner}.{self.file.read}` is not tested"
            )
        return KaitaiShape(entries=entries, switch=item.switch, before=before)

    def _is_wrapper(self, shape: KaitaiShape) -> bool:
        return any(
            each.key == "type" and each.value in self.file.types and self.file.types[each.value].is_wrapper
            for each in shape.entries
        )

    def _wrapped(
        self,
        type_: m.Type,
        id_: str,
        level: KaitaiLevel,
        part: str,
        *,
        is_alone: bool = True,
        is_bounded: bool = False,
    ) -> KaitaiShape:
        """Return a type as one attribute: itself if it is one, else a type of its own with the attribute `value`.

        `is_alone`: it must be the name of a type, as in the cases of a choice. `is_bounded`: it must be a type of the file.
        """
        if isinstance(type_, m.RecordReference | m.UnionReference):
            return self._shape(type_, id_, level)
        scope = level.scope
        chain = (*scope.chain, id_)
        scope.closed.add(chain)
        name = self.file.identifiers.new(f"{level.name}_{id_}_{part}")
        scope.chain = chain
        try:
            inner = KaitaiLevel(name, Identifiers(["value"]), level.spell, scope)
            inner.ends_region = is_alone and level.ends_region and level.is_last
            shape = self._shape(type_, "value", inner)
        except UnsupportedError as error:
            self.file.add_cut(error)
            shape = KaitaiShape(entries=TO_THE_END, is_cut=True)
        finally:
            scope.chain = chain[:-1]
        if _is_primitive(type_, shape) and not shape.checks:
            is_type = [each.key for each in shape.entries] == ["type"]
            if (is_type and not is_bounded) or not (is_alone or shape.before or shape.membership):
                return shape
        value = KaitaiAttribute(
            id="value", entries=(*shape.entries, *validity(shape, ())), switch=shape.switch
        )
        self.file.types[name] = KaitaiType(name=name, seq=(*shape.before, value), is_wrapper=True)
        return KaitaiShape(entries=(type_entry(name),), is_cut=shape.is_cut)

    def _block(self, fields: tuple[m.Field, ...], id_: str, level: KaitaiLevel) -> KaitaiShape:
        name = self.file.identifiers.new(f"{level.name}_{id_}")
        self.file.types[name] = KaitaiType(name=name)
        scope = level.scope
        inner = KaitaiLevel(name, Identifiers(field_ids(fields).values()), level.spell, scope)
        inner.ends_region = level.ends_region and level.is_last
        scope.chain = (*scope.chain, id_)
        seq, is_cut = self._fields(fields, inner)
        scope.chain = scope.chain[:-1]
        self.file.types[name] = KaitaiType(name=name, seq=seq, instances=tuple(inner.instances))
        return KaitaiShape(entries=(type_entry(name),), is_cut=is_cut)

    def _region(self, type_: m.Region, id_: str, level: KaitaiLevel) -> KaitaiShape:
        if isinstance(type_.carrier, m.Chunks):
            return self._chunks(type_.carrier, id_, level)
        bounds = sized_shape(self.file, type_.carrier.length, id_, level, 1)
        if isinstance(type_.carrier, m.Compressed):
            if type_.carrier.algorithm != "zlib":
                self.file.left_out.append(f"the content of `in {type_.carrier.algorithm}` is shown as bytes")
                return bounds
            process = KaitaiEntry(key="process", value="zlib")
            bounds = replace(bounds, entries=(*bounds.entries, process))
        level = replace(level, ends_region=True, is_last=True)
        match type_.content:
            case m.Bytes(length=m.ToEnd()):
                return bounds
            case m.Text(length=m.ToEnd(), encoding=encoding) if encoding != "mutf8":
                if not isinstance(type_.carrier, m.Compressed):
                    text = text_shape(self.file, type_.content, id_, level)
                    own = tuple(each for each in text.entries if each.key != "size-eos")
                    return replace(bounds, entries=(*own, *bounds.entries))
            case m.MessageMatch():
                return replace(bounds, switch=self._message(type_.content, id_, level).switch)
            case m.Match():
                return replace(bounds, switch=self._match(type_.content, id_, level, is_bounded=True).switch)
            case m.Block():
                block = self._block(type_.content.fields, id_, level)
                return replace(bounds, entries=(*block.entries, *bounds.entries))
        content = self._wrapped(type_.content, id_, level, "content", is_bounded=True)
        return replace(bounds, entries=(*content.entries, *bounds.entries))

    def _chunks(self, carrier: m.Chunks, id_: str, level: KaitaiLevel) -> KaitaiShape:
        """Return a list of chunks; their joined content is left out."""
        self.file.left_out.append(
            f"the chunks of `{self.file.owner}` are shown, but not what they make together"
        )
        of_items = level.spell.of_items(m.StructReference(name=carrier.struct), "_")
        chunk = self.record(carrier.struct, self._layout.structs[carrier.struct])
        until = quoted(of_items.truth(carrier.until))
        repeat = (KaitaiEntry(key="repeat", value="until"), KaitaiEntry(key="repeat-until", value=until))
        level.scope.closed.add((*level.scope.chain, id_))
        return KaitaiShape(entries=(*chunk.entries, *repeat), is_cut=chunk.is_cut)


def _is_primitive(type_: m.Type, shape: KaitaiShape) -> bool:
    """Return whether a type is one value, and no expression in it refers to a field."""
    is_one = shape.switch is None and not isinstance(type_, m.List | m.Block | m.Region)
    return is_one and not any(isinstance(each, m.FieldReference) for each in nodes_in(type_))
