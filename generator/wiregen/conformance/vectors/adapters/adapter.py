"""A program under test as an implementation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from wiregen.conformance.judge.implementation import (
    UNTOLD,
    Capability,
    CodecSetting,
    DecodedFrames,
    ImplementationError,
    Line,
    Refused,
    SkippedError,
    Step,
    Traced,
    WrittenFrames,
)
from wiregen.conformance.vectors.adapters.exchange import (
    Answer,
    AnsweredError,
    Decode,
    Encode,
    GarbageError,
    Hello,
    Said,
    Trace,
    read_answer,
    write,
)
from wiregen.conformance.vectors.adapters.exchange import Step as AskedStep
from wiregen.conformance.vectors.adapters.process import AdapterBounds, Process, StartError

__all__ = ["AdapterProgram"]


class AdapterProgram:
    """Asks a program; after a question without an answer, the program is started again.

    Raises:
        StartError: The program does not start, or does not answer the first request.
    """

    def __init__(
        self, arguments: tuple[str, ...], protocol: str, bounds: AdapterBounds | None = None
    ) -> None:
        self._arguments = arguments
        self._protocol = protocol
        self._bounds = bounds or AdapterBounds()
        self._process: Process | None = None
        self._n_asked = 0
        self._n_troubles = self._n_late = 0
        try:
            hello = self._start()
        except ImplementationError as error:
            raise StartError(str(error)) from None
        self.name = hello.name
        self.can: frozenset[Capability] = frozenset(hello.can)
        self.tells = frozenset[str](hello.tells)
        self.serializations = frozenset(hello.serializations)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the program."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def decode(self, setting: CodecSetting, chunks: Sequence[bytes]) -> DecodedFrames:
        answer = self._ask(
            Decode(id=self._next(), chunks=tuple(chunk.hex() for chunk in chunks), **_setting(setting))
        )
        if answer.frames is None:
            raise ImplementationError("garbage", "an answer to decode without frames")
        return DecodedFrames(
            frames=answer.frames,
            fault=self._fault(answer.error),
            is_incomplete=answer.incomplete,
            is_unfinished=answer.unfinished,
        )

    def encode(self, setting: CodecSetting, frames: Sequence[Line]) -> WrittenFrames:
        answer = self._ask(Encode(id=self._next(), frames=tuple(frames), **_setting(setting)))
        if answer.error is not None:
            return WrittenFrames(code=self._code(answer.error))
        if answer.bytes is None:
            raise ImplementationError("garbage", "an answer to encode without bytes")
        return WrittenFrames(data=bytes.fromhex(answer.bytes))

    def trace(self, setting: CodecSetting, steps: Sequence[Step], options: Mapping[str, object]) -> Traced:
        asked = tuple(
            AskedStep(from_role=each.role, bytes=each.data.hex(), at=each.at, eof=each.is_end)
            for each in steps
        )
        answer = self._ask(
            Trace(
                id=self._next(),
                steps=asked,
                options=dict(options),
                variant=setting.variant,
                limits=dict(setting.limits),
                strict=setting.is_strict,
            )
        )
        return Traced(violation=answer.violation)

    def _next(self) -> int:
        self._n_asked += 1
        return self._n_asked

    def _start(self) -> Answer:
        try:
            self._process = Process(self._arguments, self._bounds)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StartError(f"`{self._arguments[0]}` cannot be started: {reason.lower()}") from None
        return self._answer(Hello(id=self._next(), protocol=self._protocol), self._bounds.starting_seconds)

    def _ask(self, request: Decode | Encode | Trace) -> Answer:
        if self._n_troubles >= self._bounds.most_troubles:
            raise ImplementationError(
                "failed", f"not asked: no answer came {self._n_troubles} times in a row"
            )
        if self._n_late >= self._bounds.most_late:
            raise ImplementationError("failed", f"not asked: {self._n_late} answers never came in time")
        try:
            if self._process is None:
                self._start()
            answer = self._answer(request, self._bounds.seconds)
        except (ImplementationError, StartError) as error:
            self._n_troubles += 1
            self._n_late += isinstance(error, ImplementationError) and error.trouble == "hung"
            raise (
                error
                if isinstance(error, ImplementationError)
                else ImplementationError("crashed", str(error))
            ) from None
        self._n_troubles = 0
        if answer.skip is not None:
            raise SkippedError(answer.skip)
        if answer.failed is not None:
            raise ImplementationError("failed", answer.failed)
        return answer

    def _answer(self, request: Hello | Decode | Encode | Trace, seconds: float) -> Answer:
        process = self._process
        assert process is not None
        self._process = None  # only a program that answered correctly is asked again
        line = process.ask(write(request), seconds)
        try:
            answer = read_answer(line)
            if answer.id != request.id:
                raise GarbageError(f"the id is {answer.id}, and {request.id} was asked")
        except GarbageError as error:
            process.kill()
            raise ImplementationError("garbage", str(error)) from None
        self._process = process
        return answer

    def _fault(self, error: AnsweredError | None) -> Refused | None:
        if error is None:
            return None
        return Refused(
            code=self._code(error),
            at=error.at,
            recoverable=error.recoverable,
            rule=error.rule,
            path=error.path,
            inner_at=error.inner_at,
        )

    def _code(self, error: AnsweredError) -> str:
        if error.code is None and "code" in self.tells:
            raise ImplementationError("garbage", "an error without a code, though `tells` has `code`")
        return error.code or UNTOLD


def _setting(setting: CodecSetting) -> Line:
    said = tuple(Said(from_role=role, bytes=data.hex()) for role, data in setting.before)
    return {
        "from_role": setting.role,
        "before": said,
        "variant": setting.variant,
        "limits": dict(setting.limits),
        "strict": setting.is_strict,
        "serialization": setting.serialization,
    }
