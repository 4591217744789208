"""A file of vectors as values, and as text that is small and shows a change as a changed line.

Every vector begins at the start of a connection: `before`, then `bytes`, are all the bytes that were sent,
the preamble of a role included. The test of a codec creates a decoder for each role, all with one context,
and feeds them.

In addition to the original format there are

- the kind `unwritable`: a value that an encoder must refuse cannot be expressed in bytes (one above the
  largest u8, say);
- `{"*": [[what, count], …]}` in `frames`: texts, hexadecimal texts and lists that repeat themselves, put
  together again by `expanded`. A field cannot have this name, while one may be named `repeat`;
- of an error `rule`, `path` and `inner_at`, which are optional for an implementation; every implementation
  reports `code`, `at` and `recoverable`.

Defaults are left out. If the bytes of a vector are also read within limits or by a strict decoder, the
results are in its line, as `again`; each becomes a vector of its own when the file is read. Lines in
`frames` have no offset, size, sender or raw bytes: they are the vector's.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pydantic import TypeAdapter, ValidationError

from wiregen.conformance.vectors.repetition import (
    Hex,
    Octets,
    Repeat,
    VectorsError,
    compact,
    compacted,
    expanded,
    expanded_size,
    octets,
    octets_size,
)
from wiregen.conformance.vectors.vector import (
    SCHEMA,
    AnyVector,
    Encodes,
    Fault,
    Invalid,
    Limits,
    Line,
    Role,
    Sent,
    Step,
    Trace,
    Unwritable,
    Valid,
    Vector,
    VectorFile,
)

__all__ = [
    "SCHEMA",
    "AnyVector",
    "Encodes",
    "Fault",
    "Hex",
    "Invalid",
    "Limits",
    "Line",
    "Octets",
    "Repeat",
    "Role",
    "Sent",
    "Step",
    "Trace",
    "Unwritable",
    "Valid",
    "Vector",
    "VectorFile",
    "VectorsError",
    "compact",
    "compacted",
    "expanded",
    "octets",
    "octets_of",
    "read_vectors",
    "size_of",
    "slug",
    "write_vectors",
]

_NO_WORD: Final = re.compile(r"[^a-z0-9]+")
_SHOWN: Final = 3  # faults of a file; the rest mostly follow from the same mistake

# ---- text ----

_FILE: Final = TypeAdapter(VectorFile)
_VECTOR: Final[TypeAdapter[AnyVector]] = TypeAdapter(Vector)
_DENSE: Final[Line] = {"allow_nan": False, "separators": (",", ":")}


def read_vectors(text: str | bytes) -> VectorFile:
    """Return the vectors of a file; repetitions in its frames are kept.

    Raises:
        VectorsError: The text is not a file of vectors.
    """
    try:
        # Not `validate_json`: it refuses lone surrogates, which some texts may hold.
        file = _FILE.validate_python(json.loads(text))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)[:_SHOWN]
        raise VectorsError("; ".join(_told(fault["loc"], fault["msg"]) for fault in faults)) from None
    except (ValueError, RecursionError) as error:
        raise VectorsError(f"not JSON: {error}"[:200]) from None
    counts = Counter(vector.id for vector in file.vectors)
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        raise VectorsError(f"two vectors have the id {twice[:64]!r}")
    return file


def write_vectors(file: VectorFile) -> str:
    """Return the text of a file: one line for each vector, ASCII only."""
    head = f'{{"schema": {file.schema}, "protocol": {json.dumps(file.protocol)}, "vectors": [\n'
    lines = (json.dumps(_shown(vector), **_DENSE) for vector in file.vectors)
    return head + ",\n".join(f" {line}" for line in lines) + "\n]}\n"


def slug(text: str) -> str:
    """Return a text in the spelling of ids."""
    return _NO_WORD.sub("-", text.lower()).strip("-")


def _shown(vector: AnyVector) -> Line:
    """Return a vector without its defaults and without the parts that its id says, but with its kind."""
    if not isinstance(vector, Trace):
        unsaid = tuple(name for name in vector.covers if not _is_said(name, vector.id))
        vector = replace(vector, covers=unsaid)
    shown: Line = _VECTOR.dump_python(vector, mode="python", by_alias=True, exclude_defaults=True)
    for line in shown.get("frames", ()):
        _shorten(line, is_alone=len(vector.frames) == 1 if isinstance(vector, Valid) else False)
    return {"id": vector.id, "kind": vector.kind, **{key: shown[key] for key in shown if key != "id"}}


def _is_said(name: str, id_: str) -> bool:
    """Return whether an id names the coverage. That a field has its plain value need not be said."""
    return name.endswith(" marked") or id_.endswith(slug(name))


def _shorten(line: Line, *, is_alone: bool) -> None:
    """Remove the empty header from a line, which is the default, and the mark of non-canonical bytes, which
    `encodes` of one frame implies.
    """
    if line.get("header") == {}:
        del line["header"]
    if is_alone:
        line.pop("canonical", None)


def _told(place: tuple[int | str, ...], message: str) -> str:
    return f"{'.'.join(map(str, place))}: {message[:1].lower()}{message[1:]}"[:200]


# ---- how much it is ----


def octets_of(vector: AnyVector) -> Iterator[Octets]:
    """Yield all bytes of a vector."""
    if isinstance(vector, Trace):
        yield from (step.bytes for step in vector.steps)
        return
    yield from (said.bytes for said in vector.before)
    if isinstance(vector, Valid | Invalid):
        yield vector.bytes
    if isinstance(vector, Valid):
        yield from (each for each in (vector.protobuf, vector.msgpack) if each is not None)


def size_of(vector: AnyVector) -> int:
    """Return the number of bytes, characters and items in a vector, its repetitions written out.

    Raises:
        VectorsError: A repetition is malformed.
    """
    lines = vector.frames if isinstance(vector, Valid | Unwritable) else ()
    return sum(map(octets_size, octets_of(vector))) + expanded_size(lines)
