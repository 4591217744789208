"""Adapter for generated code: a package that was built in memory, or one that is installed."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from wiregen.conformance.judge.implementation import (
    CAPABILITIES,
    NATIVE,
    TOLD,
    Capability,
    CodecSetting,
    DecodedFrames,
    ImplementationError,
    Line,
    Step,
    Traced,
    WrittenFrames,
)
from wiregen.conformance.judge.stream_answers import collected
from wiregen.generate.packages import Package
from wiregen.runtime.records.frames import frame_from_record, frame_record, part_record
from wiregen.runtime.reference.objects import build
from wiregen.runtime.schema.protocol import Schema

__all__ = ["GeneratedPackage", "implementation_of"]

_KEYS: Final = ("message", "code", "header", "fields")


class GeneratedPackage:
    """The modules of one generated package: `modules` by serialization, the native one included."""

    def __init__(self, schema: Schema, modules: dict[str, Any], name: str = "generated code") -> None:
        self.name = name
        self.tells = TOLD
        self.serializations = frozenset(modules)
        self.can: frozenset[Capability] = frozenset(
            name for name in CAPABILITIES if name != "trace" or schema.sessions
        )
        self._schema = schema
        self._modules = modules
        self._native: Any = modules[NATIVE]

    def decode(self, setting: CodecSetting, chunks: Sequence[bytes]) -> DecodedFrames:
        context, decoders = self._connection(setting)
        decoder = decoders.get(setting.role) if setting.serialization == NATIVE else None
        decoder = decoder or self._decoder(setting.serialization, setting.role, setting, context)
        return collected(decoder, chunks, lambda frame: self._line(frame, setting))

    def encode(self, setting: CodecSetting, frames: Sequence[Line]) -> WrittenFrames:
        context, _ = self._connection(setting)
        encode = self._modules[setting.serialization].encode
        try:
            return WrittenFrames(
                data=b"".join(self._written(encode, line, setting, context) for line in frames)
            )
        except ValueError as error:
            if not hasattr(error, "code"):
                raise
            return WrittenFrames(code=error.code)

    def trace(self, setting: CodecSetting, steps: Sequence[Step], options: Mapping[str, object]) -> Traced:
        wishes = {"strict": setting.is_strict, "limits": self._limits(setting), "variant": setting.variant}
        known = inspect.signature(self._native.Session).parameters
        named = {f"{name}_" if f"{name}_" in known else name: value for name, value in options.items()}
        session = _call(self._native.Session, wishes | named)
        for step in steps:
            broken = next(filter(None, map(_broken, _events(session, step))), None)
            if broken is not None:
                return Traced(violation=broken)
        return Traced()

    def _connection(self, setting: CodecSetting) -> tuple[object, dict[str | None, object]]:
        """Return the context of a new connection, and the native decoders of the roles that sent bytes earlier."""
        context = self._context(setting)
        made: dict[str | None, Any] = {}
        for role, data in setting.before:
            made[role] = made.get(role) or self._decoder(NATIVE, role, setting, context)
            said = collected(made[role], [data], lambda frame: {}, is_all=False)
            if said.fault is not None or said.is_incomplete:
                raise ImplementationError(
                    "failed", f"the earlier bytes of {role} do not conform: {said.fault}"
                )
        return context, made

    def _decoder(
        self, serialization: str, role: str | None, setting: CodecSetting, context: object
    ) -> object:
        wishes = {"context": context, "strict": setting.is_strict, "variant": setting.variant}
        wishes |= {"limits": self._limits(setting)}
        module: Any = self._modules[serialization]
        return _call(module.Decoder, wishes, role, errors="yield")

    def _context(self, setting: CodecSetting) -> object:
        if not hasattr(self._native, "Context"):
            return None
        return _call(self._native.Context, {"limits": self._limits(setting)})

    def _limits(self, setting: CodecSetting) -> Any:
        return self._native.Limits(**setting.limits) if setting.limits else None

    def _line(self, frame: object, setting: CodecSetting) -> Line:
        record = frame_record(self._schema, frame, variant=setting.variant)
        return record | part_record(self._schema, frame, variant=setting.variant)

    def _written(
        self, encode: Callable[..., bytes], line: Line, setting: CodecSetting, context: Any
    ) -> bytes:
        frame = self._frame(line, setting)
        wishes = {"from_role": setting.role, "context": context, "variant": setting.variant, "compression": 0}
        data: bytes = _call(encode, wishes, frame)
        joined = line.get("joined")
        for said in (frame, *([self._frame(joined, setting)] if isinstance(joined, dict) else [])):
            if context is not None and hasattr(said, "message"):
                context.apply(said, setting.role)
        return data

    def _frame(self, line: Line, setting: CodecSetting) -> object:
        record = {key: line[key] for key in _KEYS if key in line}
        value = frame_from_record(self._schema, record, role=setting.role, variant=setting.variant)
        return build(self._schema, value, vars(self._native))


def _call(
    function: Callable[..., object], wishes: dict[str, object], *arguments: object, **fixed: object
) -> Any:
    """Call a generated function with those of the keyword arguments `wishes` that it has for this protocol."""
    known = inspect.signature(function).parameters
    return function(*arguments, **fixed, **{name: wish for name, wish in wishes.items() if name in known})


def _events(session: Any, step: Step) -> Iterator[object]:
    if step.is_end:
        yield from session.eof(step.role, step.at)
    elif step.data:
        yield from session.observe(step.role, step.data, step.at)
    else:
        yield from session.tick(step.at)


def _broken(event: Any) -> str | None:
    """Return the name of a violation that is not lenient, or the code of an error; None for any other event."""
    match type(event).__name__:
        case "Violation" if not event.lenient:
            return str(event.name)
        case "Fault":
            return str(event.error.code)
        case _:
            return None


def implementation_of(package: Package) -> GeneratedPackage:
    """Return the adapter for a package that was built in memory."""
    modules: dict[str, object] = {
        name: importlib.import_module(f"{package.name}.{name}") for name in package.backends[1:]
    }
    return GeneratedPackage(package.schema, {NATIVE: package.native, **modules})
