"""The side of the playground that runs in a browser: it answers from an archive of wiregen's modules and of protocols.

Invariant: this module and all that it imports need the standard library alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from zipfile import ZipFile

from wiregen.schema import model as m
from wiregen.schema.json_reader import protocol_from_json
from wiregen.site.playground.json_answers import json_answer
from wiregen.site.playground.questions import Questions

__all__ = ["INDEX", "answers_of", "protocol_file"]

INDEX = "protocols.json"
"""The file of an archive with the answer about its protocols, and the package of their generated code."""


def protocol_file(name: str) -> str:
    """Return the name of the file that holds the model of a protocol, as `wiregen ir` prints it."""
    return f"protocols/{name}.json"


def answers_of(archive: str) -> Callable[[str], str]:
    """Return the function that answers questions about the protocols of an archive, given by its path: JSON text in and out."""
    with ZipFile(archive) as opened:
        index = json.loads(opened.read(INDEX))
    names = tuple(each["name"] for each in index["protocols"])

    def load(name: str) -> m.Protocol:
        with ZipFile(archive) as opened:
            return protocol_from_json(json.loads(opened.read(protocol_file(name))))

    questions = Questions(names, load, index["package"], facts=tuple(index["protocols"]))
    return lambda asked: json_answer(questions.answer, asked)
