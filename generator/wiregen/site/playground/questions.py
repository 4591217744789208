"""Checks and answers the questions of the page."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.formats.capture import CaptureError
from wiregen.formats.jsonl import Line, LineError
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.lowering import lower
from wiregen.site.pages.snippets import Snippets
from wiregen.site.playground.answers import PlaygroundReader, fault_of
from wiregen.site.playground.both_directions import Aside
from wiregen.site.playground.connections import MOST_TURNS, connections_of
from wiregen.site.playground.pasted_text import TextError, bytes_of, pasted

__all__ = ["Load", "Questions", "described"]

Load: TypeAlias = Callable[[str], m.Protocol]
"""Returns a protocol by its name."""
_MOST_BEFORE: Final = 8


def described(protocol: m.Protocol) -> Line:
    """Return the facts of a protocol that the page shows before it asks about bytes."""
    role, example = _example(protocol)
    return {
        "name": protocol.name,
        "roles": list(protocol.roles),
        "example": example,
        "example_role": role,
        "needs_other": _needs_other(protocol),
    }


def _example(protocol: m.Protocol) -> tuple[str | None, str]:
    """Return the first example that needs no earlier bytes but a preamble, and who sends it; empty if there is none."""
    schema = lower(protocol)
    reader = PlaygroundReader(schema, Snippets(protocol, schema, ""), protocol.name)
    whole = [each for each in protocol.examples if each.form == "both" and each.hex and not each.scene]
    openings = [each.hex for each in whole if each.value is not None and each.value.what == "preamble"]
    for each in whole:
        for opening in ("", *openings):
            for role in protocol.roles or (None,):
                if reader.is_sent_by(Scene(role=role), bytes.fromhex(opening + each.hex)):
                    return role, opening + each.hex
    return None, ""


def _needs_other(protocol: m.Protocol) -> bool:
    """Return whether frames of one side decide how those of the other are read."""
    return any(context.role is not None for context in protocol.contexts)


class _QuestionError(Exception):
    """A question that cannot be answered; the text says why."""


class Questions:
    """Answers questions about the named protocols; `package`: of their generated code.

    `facts`: those of `described` for each protocol, where they are known without loading it.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        load: Load,
        package: str = "wireproto",
        facts: tuple[Line, ...] | None = None,
    ) -> None:
        self._names, self._load, self._package, self._facts = names, load, package, facts
        self._readers: dict[str, tuple[m.Protocol, PlaygroundReader]] = {}

    def answer(self, question: object) -> Line:
        """Return the answer to a question; for a malformed question, an answer that names the error."""
        try:
            if not isinstance(question, dict):
                raise _QuestionError("no question")
            kind = question.get("kind")
            if kind == "protocols":
                facts = self._facts or [described(self._reader(name)[0]) for name in self._names]
                return {"protocols": list(facts)}
            if kind == "capture":
                return connections_of(_from_base64(_text(question, "data")))
            return self._about_bytes(question, kind)
        except TextError as error:
            return {"wrong": str(error)} | _given("fitting_form", error.fitting_form)
        except (_QuestionError, LineError, CaptureError) as error:
            return {"wrong": str(error)}
        except EncodeError as error:
            return {"wrong": str(error)}
        except DecodeError as error:
            return {
                "wrong": "the frames sent before do not conform",
                "fault": fault_of(error, is_hidden=True),
            }

    def _about_bytes(self, question: Mapping[str, object], kind: object) -> dict[str, object]:
        protocol, reader = self._reader(_text(question, "protocol"))
        scene, asides = _scene(protocol, question), _asides(protocol, question)
        text = pasted(_text(question, "text"), _text(question, "form", "auto"))
        data = text.data
        if kind == "edit":
            number = question.get("frame")
            if not isinstance(number, int) or isinstance(number, bool):
                raise _QuestionError("which frame?")
            data = reader.edited(
                scene, data, asides, number, _text(question, "path"), _text(question, "value")
            )
        elif kind != "look":
            raise _QuestionError("no question")
        answer = reader.look(scene, data, asides, is_connection=question.get("is_connection") is True)
        answer |= _given("read_as", text.read_as if kind == "look" else None)
        is_alone = not scene.before and not (asides and _needs_other(protocol))
        fitting = self._fitting_role(protocol, reader, scene, data) if is_alone else None
        return answer | _given("fitting_role", fitting)

    def _fitting_role(
        self, protocol: m.Protocol, reader: PlaygroundReader, scene: Scene, data: bytes
    ) -> str | None:
        """Return the other role that may have sent the stream, where the given role may not."""
        if reader.is_sent_by(scene, data):
            return None
        others = (role for role in protocol.roles if role != scene.role)
        return next((role for role in others if reader.is_sent_by(replace(scene, role=role), data)), None)

    def _reader(self, name: str) -> tuple[m.Protocol, PlaygroundReader]:
        if name not in self._names:
            raise _QuestionError("there is no such protocol")
        if name not in self._readers:
            protocol = self._load(name)
            schema = lower(protocol)
            self._readers[name] = protocol, PlaygroundReader(
                schema, Snippets(protocol, schema, self._package), name
            )
        return self._readers[name]


def _given(key: str, value: str | None) -> Line:
    """Return a part of an answer; nothing where there is no value."""
    return {} if value is None else {key: value}


def _scene(protocol: m.Protocol, question: Mapping[str, object]) -> Scene:
    before = question.get("before", [])
    if not isinstance(before, list) or len(before) > _MOST_BEFORE:
        raise _QuestionError("expected a list of the frames sent before")
    try:
        said = tuple(
            (_role(protocol, each), bytes_of(_text(each, "text")))
            for each in before
            if isinstance(each, dict)
        )
    except TextError as error:
        raise _QuestionError(f"frames sent before: {error}") from None
    return Scene(role=_role(protocol, question), before=tuple((role, data) for role, data in said if data))


def _asides(protocol: m.Protocol, question: Mapping[str, object]) -> tuple[Aside, ...]:
    """Return the bytes of the other side: each with its role, and how many bytes were sent before."""
    listed = question.get("asides", [])
    if not isinstance(listed, list) or len(listed) > MOST_TURNS:
        raise _QuestionError("expected a list of the frames of the other side")
    return tuple(_aside(protocol, each) for each in listed)


def _aside(protocol: m.Protocol, said: object) -> Aside:
    if not isinstance(said, dict) or not isinstance(at := said.get("at"), int):
        raise _QuestionError("expected a list of the frames of the other side")
    return Aside(at=at, role=_role(protocol, said), data=bytes_of(_text(said, "text"), "hex"))


def _role(protocol: m.Protocol, question: Mapping[str, object]) -> str | None:
    role = question.get("role")
    if role is not None and role not in protocol.roles:
        raise _QuestionError("unknown role")
    return role if role is not None else (protocol.roles or (None,))[0]


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise _QuestionError("data: expected Base64") from None


def _text(question: Mapping[str, object], key: str, default: str | None = None) -> str:
    value = question.get(key, default)
    if not isinstance(value, str):
        raise _QuestionError(f"{key}: expected a text")
    return value
