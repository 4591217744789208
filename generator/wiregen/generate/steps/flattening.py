"""Turns fields into steps, in wire order. A later pass merges neighbouring runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Literal, assert_never

from wiregen.generate.steps.bit_runs import bit_slot
from wiregen.generate.steps.extents import extent_of, length_steps
from wiregen.generate.steps.requirements import Asked, derived_elsewhere
from wiregen.generate.steps.step import (
    Carry,
    Case,
    Check,
    Choose,
    Chunk,
    CodeDispatch,
    Enter,
    Extent,
    Fixed,
    FixedRun,
    GivenLength,
    Held,
    Invoke,
    Leave,
    Make,
    OptionalField,
    RepeatedItems,
    Slot,
    Step,
    UnsupportedError,
    VariableNumber,
)
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.declared import index_of
from wiregen.schema.field_facts import (
    arm_of,
    as_item,
    bits_of,
    called_structs,
    expected_of,
    is_literal,
    is_padded,
    is_simple_padding,
    part_of,
)
from wiregen.schema.sizes import fixed_size, smallest
from wiregen.schema.walk import nested_expressions

__all__ = ["Flattener"]


class Flattener:
    """Flattens fields into steps; the fields of `message` take the place of the frame's match."""

    def __init__(self, protocol: m.Protocol, message: m.Message | None, *, n_regions: int = 0) -> None:
        self._protocol = protocol
        index = index_of(protocol)
        self._structs, self._enums, self._codings = index.structs, index.enums, index.codings
        self._message = message
        self._called = called_structs(protocol)
        self._n_regions = n_regions
        self._asked: list[Asked] = []
        self._n_unnamed = 0

    def fields(self, fields: tuple[m.Field, ...], prefix: str, *, is_last: bool = True) -> Iterator[Step]:
        """Yield the steps of a declaration whose keys begin with `prefix`; `is_last`: they are the last in their region.

        Checks that look ahead come after the last field.
        """
        elsewhere = derived_elsewhere(fields, self._structs, self._called)
        if elsewhere is not None:
            raise UnsupportedError(f"{prefix}{'.'.join(elsewhere.path)}", "a derived field of such a struct")
        self._asked.append(Asked(fields))
        yield from self._checked_late(self._row(fields, prefix, is_last=is_last), prefix)
        self._asked.pop()

    def _checked_late(self, steps: Iterable[Step], prefix: str) -> Iterator[Step]:
        """Yield steps; the checks that refer to fields which are not read yet come last."""
        asked, late = self._asked[-1], []
        for step in steps:
            if isinstance(step, Check) and step.prefix == prefix and asked.looks_ahead(step):
                late.append(step)
            else:
                yield step
        yield from late

    def _row(self, fields: tuple[m.Field, ...], prefix: str, *, is_last: bool) -> Iterator[Step]:
        """Yield the steps of successive fields; a run of bit fields is one slot, one of trailing fields one option."""
        index = 0
        while index < len(fields):
            field = fields[index]
            if isinstance(field.type, m.Bits):
                row = tuple(takewhile(lambda each: isinstance(each.type, m.Bits), fields[index:]))
                yield from self._bit_row(row, prefix)
            elif isinstance(field.value, m.Trailing):
                row = tuple(takewhile(lambda each: isinstance(each.value, m.Trailing), fields[index:]))
                yield from self._trailing(row, prefix, is_last=is_last and index + len(row) == len(fields))
            else:
                row = (field,)
                yield from self._field(field, prefix, is_last=is_last and index == len(fields) - 1)
            index += len(row)

    def _key_of(self, field: m.Field) -> str:
        """Return a field's own part of its key. It is unique, although several fields may be called `_`."""
        if field.name != "_":
            return field.name
        self._n_unnamed += 1
        return f"_#{self._n_unnamed}"

    def _field(self, field: m.Field, prefix: str, *, is_last: bool) -> Iterator[Step]:
        if field.name == "_" and not is_simple_padding(field):
            raise UnsupportedError(field.path, "such a field without a name")
        key = prefix + self._key_of(field)
        mark = self._asked[-1].mark(field, key, "start")
        yield from (mark,) if mark else ()
        steps = self._type(field.type, key, prefix, field, is_last=is_last)
        if field.condition is None:
            yield from steps
        else:
            yield OptionalField(
                key=key,
                field=field,
                prefix=prefix,
                condition=field.condition,
                is_trailing=False,
                size=None,
                steps=(*self._inside(steps, field, prefix), *self._inner_checks(field, key, prefix)),
            )
        yield from (replace(mark, edge="end"),) if mark else ()
        self._asked[-1].seen.add(field.name)
        if field.condition is None:
            yield from self._checks(field, key, prefix)

    def _inside(self, steps: Iterable[Step], field: m.Field, prefix: str) -> Iterator[Step]:
        """Yield the steps of a field that may be absent; its checks cannot wait for later fields."""
        for step in self._checked_late(steps, prefix):
            if isinstance(step, Check) and step.prefix == prefix and self._asked[-1].looks_ahead(step):
                raise UnsupportedError(field.path, "a check of an optional field that looks ahead")
            yield step

    def _inner_checks(self, field: m.Field, key: str, prefix: str) -> Iterator[Step]:
        """Yield the checks of a field that may be absent: they cannot wait for later fields."""
        self._asked[-1].seen.add(field.name)
        for check in self._checks(field, key, prefix):
            if isinstance(check, Check) and self._asked[-1].looks_ahead(check):
                raise UnsupportedError(field.path, "a check of an optional field that looks ahead")
            yield check

    def _trailing(self, row: tuple[m.Field, ...], prefix: str, *, is_last: bool) -> Iterator[Step]:
        field, rest = row[0], row[1:]
        key = prefix + field.name
        if self._asked[-1].mark(field, key, "start"):
            raise UnsupportedError(field.path, "the size of a trailing field")
        inside = list(self._type(field.type, key, prefix, field, is_last=is_last and not rest))
        self._asked[-1].seen.add(field.name)
        inside += self._inner_checks(field, key, prefix)
        if rest:
            inside += self._trailing(rest, prefix, is_last=is_last)
        yield OptionalField(
            key=key,
            field=field,
            prefix=prefix,
            condition=field.condition,
            is_trailing=True,
            size=fixed_size(field.type, self._protocol),
            steps=tuple(inside),
            row=row,
        )

    def _bit_row(self, row: tuple[m.Field, ...], prefix: str) -> Iterator[Step]:
        slot = bit_slot(row, prefix)
        self._asked[-1].seen.update(field.name for field in row)
        yield FixedRun(slots=(slot,), size=slot.size)
        for field in row:
            yield from self._checks(field, prefix + field.name, prefix)

    def _checks(self, field: m.Field, key: str, prefix: str) -> Iterator[Step]:
        match field.value:
            case m.Derived(value=value, is_lenient=lenient):
                if not self._asked[-1].is_certain(field):
                    what: Literal["derived", "tolerated"] = "tolerated" if lenient else "derived"
                    check = Check(key=key, expression=value, prefix=prefix, what=what, field=field)
                    if self._asked[-1].looks_ahead(check) and m.Position(what="offset") in nested_expressions(
                        value
                    ):
                        raise UnsupportedError(field.path, "`offset` together with later fields")
                    yield check
            case m.Constant(value=value):
                if not (self._is_slot(field.type) and is_literal(value)):
                    yield Check(key=key, expression=value, prefix=prefix, what="constant", field=field)
        if field.where is not None:
            yield Check(key=key, expression=field.where, prefix=prefix, what="where", field=field)

    def _is_slot(self, type_: m.Type) -> bool:
        is_number = isinstance(type_, m.Varint | m.CodingReference | m.EnumReference)
        return is_number or bits_of(self._enums, type_) is not None

    # ---- types

    def _type(self, type_: m.Type, key: str, prefix: str, field: m.Field, *, is_last: bool) -> Iterator[Step]:
        bits = bits_of(self._enums, type_)
        if bits is not None:
            assert isinstance(type_, Fixed)
            yield self._slot(type_, bits, key, prefix, field)
            return
        match type_:
            case m.Varint() | m.CodingReference() | m.EnumReference():
                yield self._number(type_, key, prefix, field)
            case m.Bytes(length=length) | m.Text(length=length):
                yield from length_steps(length, key, prefix, field)
                extent = extent_of(length, key, prefix, self._codings)
                yield Chunk(key=key, type=type_, extent=extent, field=field)
            case m.List():
                yield from length_steps(type_.length, key, prefix, field)
                yield self._repeat(type_, key, prefix, field, is_last=is_last)
            case m.Block():
                yield from self._row(type_.fields, prefix, is_last=is_last)
            case m.Region():
                yield from self._region(type_, key, prefix, field, is_last=is_last)
            case m.StructReference() if type_.name not in self._called:
                struct = self._structs[type_.name]
                yield from self.fields(struct.fields, f"{key}.", is_last=is_last)
                yield Make(key=key, struct=struct)
            case _ if isinstance(type_, m.RecordReference | m.UnionReference):
                yield self._invoke(type_, key, field, is_last=is_last)
            case m.Match():
                yield from self._match(type_, key, prefix, field, is_last=is_last)
            case m.MessageMatch():
                yield from self._dispatch(type_, key, prefix, field, is_last=is_last)
            case _ if isinstance(type_, m.FixedSize):
                raise UnsupportedError(field.path, "a scalar without whole bytes")
            case _:
                assert_never(type_)

    def _slot(self, type_: Fixed, bits: int, key: str, prefix: str, field: m.Field) -> FixedRun:
        expected, part = expected_of(field, self._message), part_of(field)
        slot = Slot(key=key, type=type_, bits=bits, field=field, part=part, prefix=prefix, expected=expected)
        return FixedRun(slots=(slot,), size=bits // 8)

    def _number(
        self,
        type_: m.Varint | m.CodingReference | m.EnumReference,
        key: str,
        prefix: str,
        field: m.Field,
    ) -> VariableNumber:
        expected, part = expected_of(field, self._message), part_of(field)
        assert expected is None or isinstance(expected, int)
        return VariableNumber(key=key, type=type_, field=field, part=part, prefix=prefix, expected=expected)

    def _repeat(
        self, type_: m.List, key: str, prefix: str, field: m.Field, *, is_last: bool
    ) -> RepeatedItems:
        item_key = f"{key}[]"
        item = list(self._type(type_.item, item_key, prefix, as_item(field), is_last=False))
        if type_.where is not None:
            item.append(
                Check(
                    key=item_key,
                    expression=type_.where.condition,
                    prefix=prefix,
                    what="where",
                    field=field,
                    item=item_key,
                )
            )
        return RepeatedItems(
            key=key,
            extent=extent_of(type_.length, key, prefix, self._codings),
            item=tuple(item),
            item_key=item_key,
            smallest=smallest(type_.item, self._protocol),
            field=field,
        )

    def _invoke(self, type_: m.Reference, key: str, field: m.Field, *, is_last: bool) -> Invoke:
        restricted = type_ if isinstance(type_, m.UnionReference | m.FrameReference) else None
        return Invoke(
            key=key,
            target=m.target_of(type_),
            name=type_.name,
            only=None if restricted is None else restricted.only,
            is_lenient=restricted is not None and restricted.is_lenient,
            is_last=is_last and self._n_regions > 0,
            field=field,
        )

    # ---- regions and choices

    def _region(
        self, type_: m.Region, key: str, prefix: str, field: m.Field, *, is_last: bool
    ) -> Iterator[Step]:
        region, carrier = f"{key}#region", type_.carrier
        if not isinstance(carrier, m.InSize | m.Prefix):
            yield from self._carried(type_, carrier, key, prefix, field)
            return
        yield from length_steps(carrier.length, region, prefix, field)
        extent = extent_of(carrier.length, region, prefix, self._codings)
        assert isinstance(extent, GivenLength | Held)
        yield Enter(key=region, extent=extent)
        self._n_regions += 1
        yield from self._type(type_.content, key, prefix, field, is_last=True)
        self._n_regions -= 1
        owner = self._tail_owner(type_.content, key, prefix) if type_.lenient else prefix
        is_made = isinstance(type_.content, m.Reference | m.Match) and owner == key
        yield Leave(
            key=region,
            is_lenient=bool(type_.lenient),
            owner=owner,
            is_made=is_made,
            is_padded=is_padded(type_, field.name, self._asked[-1].fields, self._protocol),
        )

    def _tail_owner(self, content: m.Type, key: str, prefix: str) -> str:
        """Return the key of the record that keeps trailing bytes, or the prefix of its fields' keys."""
        if isinstance(content, m.RecordReference):
            return key
        match content:
            case m.MessageMatch():
                return "" if self._message is not None else key
            case m.Match(arms=arms):
                arm = None if self._message is None else arm_of(content, self._message)
                owners = {self._tail_owner(each.type, key, prefix) for each in ((arm,) if arm else arms)}
                if len(owners) > 1:
                    raise UnsupportedError(
                        key, "left-over bytes of a choice between records and other values"
                    )
                return owners.pop()
            case _:
                return prefix

    def _carried(
        self, type_: m.Region, carrier: m.Compressed | m.Chunks, key: str, prefix: str, field: m.Field
    ) -> Iterator[Step]:
        extent: Extent | None = None
        chunk: tuple[Step, ...] = ()
        if isinstance(carrier, m.Compressed):
            region = f"{key}#region"  # a key of its own: region and content may both have a length
            yield from length_steps(carrier.length, region, prefix, field)
            extent = extent_of(carrier.length, region, prefix, self._codings)
        else:
            struct = self._structs[carrier.struct]
            chunk = tuple(self.fields(struct.fields, f"{key}[].", is_last=False))
        self._n_regions += 1
        content = tuple(self._type(type_.content, key, prefix, as_item(field), is_last=True))
        self._n_regions -= 1
        yield Carry(
            key=key,
            prefix=prefix,
            content=content,
            carrier=carrier,
            extent=extent,
            chunk=chunk,
            is_lenient=bool(type_.lenient),
            field=field,
        )

    def _match(
        self, type_: m.Match, key: str, prefix: str, field: m.Field, *, is_last: bool
    ) -> Iterator[Step]:
        if self._message is not None:
            arm = arm_of(type_, self._message)
            if arm is not None:
                yield from self._type(arm.type, key, prefix, field, is_last=is_last)
                return
        cases = tuple(
            Case(
                spans=arm.spans,
                steps=tuple(self._type(arm.type, f"{key}#arm{number}", prefix, field, is_last=is_last)),
                key=f"{key}#arm{number}",
                type=arm.type,
            )
            for number, arm in enumerate(type_.arms)
        )
        yield Choose(key=key, subject=type_.subject, prefix=prefix, cases=cases, field=field)

    def _dispatch(
        self, type_: m.MessageMatch, key: str, prefix: str, field: m.Field, *, is_last: bool
    ) -> Iterator[Step]:
        if self._message is not None:
            # Only the frame's own match is replaced, not a match of messages inside the message.
            message, self._message = self._message, None
            yield from self.fields(message.fields, "", is_last=is_last)
            self._message = message
            return
        yield CodeDispatch(
            key=key,
            subject=type_.subject,
            prefix=prefix,
            only=type_.only,
            is_lenient=type_.is_lenient,
            can_skip=is_last and self._n_regions > 0,
            field=field,
        )
