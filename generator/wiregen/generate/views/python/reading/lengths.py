"""Numbers of several widths, bytes and text, and the lengths before them, as the templates of reading functions print them."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.generate.steps.step import (
    Chunk,
    Delimiter,
    Extent,
    GivenLength,
    Held,
    Rest,
    UnsupportedError,
    VariableNumber,
)
from wiregen.generate.views.python.checks import AnyCheck
from wiregen.generate.views.python.expressions import python_expression
from wiregen.generate.views.python.reading.names import ReadLookup, ReadNames
from wiregen.generate.views.python.reading.runs import RunReader, decoding
from wiregen.generate.views.python.reading.step_views import (
    ReadCall,
    ReadChunk,
    ReadMeasure,
    ReadRest,
    ReadSearch,
    ReadStep,
    ReadVarint,
)
from wiregen.schema import model as m

__all__ = ["LengthReader"]

LENIENT = "state is None or not state.strict"


class LengthReader:
    """Reads values that have a length, and the numbers that are lengths."""

    def __init__(self, names: ReadNames, runs: RunReader) -> None:
        self._names = names
        self._shared = names.shared
        self._runs = runs

    def number(self, step: VariableNumber) -> ReadVarint | ReadCall:
        names, target, at = self._names, self._names.locals.name(step.key), self._names.at
        checks = self._number_checks(step, target)
        type_ = step.type
        if isinstance(type_, m.EnumReference):
            declared = self._shared.enums[type_.name].type
            assert isinstance(declared, m.Varint)
            type_ = declared
        if isinstance(type_, m.CodingReference):
            names.arrive()
            call = f"{self._shared.inner_reader(type_.name)}({names.on.buffer}, {at})"
            return ReadCall(on=names.on, target=target, call=call, before=(), checks=checks)
        after = f"{names.base} + {names.added + 1}"
        names.arrive()
        self._shared.uses.add("read_varint")
        return ReadVarint(
            on=names.on,
            target=target,
            at=at,
            after=after,
            bits=type_.bits,
            lenient=f"({LENIENT})" if type_.is_lenient else "False",
            is_zigzag=type_.is_zigzag,
            checks=checks,
        )

    def _number_checks(self, step: VariableNumber, target: str) -> tuple[AnyCheck, ...]:
        if step.expected is not None:
            self._names.raws[step.key] = target
            return (f"{target} != {step.expected!r}",)
        if step.part == "length":
            self._names.raws[step.key] = target
            is_signed = isinstance(step.type, m.Varint) and step.type.is_zigzag
            if isinstance(step.type, m.CodingReference):
                is_signed = any(
                    width.wide is not None and width.wide.is_signed
                    for width in self._shared.codings[step.type.name].widths
                )
                return (f"{target} is not None and {target} < 0",) if is_signed else ()
            return (f"{target} < 0",) if is_signed else ()
        if isinstance(step.type, m.EnumReference):
            return self._runs.enum_value(step.key, step.type, target)
        self._names.give(step.key, target)
        return ()

    def chunk(self, step: Chunk) -> Iterator[ReadStep]:
        names = self._names
        is_skipped = step.field is not None and step.field.name == "_" and step.field.value is None
        target, at = names.locals.name(step.key), names.at
        unit = 2 if isinstance(step.type, m.Text) and step.type.encoding == "utf16" else 1
        length, null, before = self.length(step.key, step.extent, unit)
        yield from before
        names.counts[step.key] = length
        names.give(step.key, target)
        if null:
            names.optional.add(step.key)
            names.nullable.add(step.key)
        if isinstance(step.type, m.Text):
            names.texts.add(step.key)
        names.arrive()
        bytes_ = f"2 * {length}" if unit == 2 else length
        decode, exact, arguments = "", "", ""
        if isinstance(step.type, m.Text):
            decode, exact, arguments = decoding(step.type)
            self._shared.uses.add(exact)
        yield ReadChunk(
            on=names.on,
            target="" if is_skipped else target,
            length=bytes_,
            at=at,
            is_text=isinstance(step.type, m.Text),
            decode=decode,
            exact=f"_{exact}",
            arguments=arguments,
            null=null,
        )
        if isinstance(step.extent, Delimiter):
            names.added = len(step.extent.bytes)

    def length(self, key: str, extent: Extent, unit: int = 1) -> tuple[str, str, tuple[ReadStep, ...]]:
        """Return the length as an expression, the same if it may be None, and the steps that compute it."""
        names = self._names
        match extent:
            case Held(key=held, may_be_null=may_be_null):
                name = names.locals.name(held)
                return name, name if may_be_null else "", ()
            case GivenLength(value=value, prefix=prefix):
                text = python_expression(value, ReadLookup(names, prefix))
                if isinstance(value, m.Number) and value.value >= 0:
                    return text, "", ()
                name = names.locals.name(f"{key}#length")
                return name, "", (ReadMeasure(target=name, value=text),)
            case Rest():
                name = names.locals.name(f"{key}#length")
                return name, "", (ReadRest(on=names.on, target=name, at=names.at, unit=unit),)
            case Delimiter(bytes=delimiter) if unit == 1:
                name = names.locals.name(f"{key}#length")
                found = ReadSearch(on=names.on, target=name, at=names.at, delimiter=repr(delimiter))
                return name, "", (found,)
            case _:
                raise UnsupportedError(key, "such a length here")
