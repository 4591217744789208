"""The exchange between wiregen and a plug-in: one JSON document each way, both with a published schema."""

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model, with_config

from wiregen.schema import model as m
from wiregen.schema.json_form import as_json
from wiregen.schema.json_schema import protocol_model

__all__ = ["Answer", "AnsweredError", "AnsweredFile", "read_answer", "schemas", "write_request"]

VERSION = 1
_SHOWN = 3  # errors of an answer; the others follow from the same mistake


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredFile:
    """A file to be: a relative path below the output folder, with slashes, and its whole text."""

    path: str
    content: str


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredError:
    """Something that a plug-in cannot do. `path` is that of a node in the model, or "" without a place."""

    message: str
    path: str = ""


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a plug-in; with an error in it, no file is written, and the files may be left out."""

    files: tuple[AnsweredFile, ...] | None = None
    errors: tuple[AnsweredError, ...] = ()


def write_request(package: str, protocols: tuple[m.Protocol, ...]) -> bytes:
    """Return the document for a plug-in."""
    request = {"version": VERSION, "package": package, "protocols": [as_json(each) for each in protocols]}
    # Text of a protocol may hold lone surrogates, which only an escape can carry.
    return json.dumps(request, ensure_ascii=True).encode()


def read_answer(data: bytes) -> Answer:
    """Return the answer of a plug-in.

    Raises:
        ValueError: It is not the expected JSON; the text names the place.
    """
    try:
        answer = TypeAdapter(Answer).validate_json(data)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)[:_SHOWN]
        raise ValueError("; ".join(_sentence(fault["loc"], fault["msg"]) for fault in faults)) from None
    if answer.files is None and not answer.errors:
        raise ValueError("neither `files` nor `errors`; with nothing to give, `files` is []")
    return answer


def schemas() -> dict[str, str]:
    """Return the JSON Schema of each document as text, by the name of its file."""
    request = _request_model().model_json_schema(mode="serialization")
    answer = TypeAdapter(Answer).json_schema()
    return {
        "plugin-request.schema.json": json.dumps(request, indent=1) + "\n",
        "plugin-answer.schema.json": json.dumps(answer, indent=1) + "\n",
    }


def _request_model() -> type[BaseModel]:
    return create_model(
        "Request",
        __doc__="The request to a plug-in; `version` changes when a plug-in could no longer read it.",
        version=(int, VERSION),
        package=(str, ...),
        protocols=(tuple[protocol_model(), ...], ...),  # type: ignore[misc, arg-type]  # a class that is created here
    )


def _sentence(place: tuple[int | str, ...], message: str) -> str:
    where = ".".join(map(str, place))
    text = message[:1].lower() + message[1:]
    return (f"{where}: {text}" if where else text)[:200]
