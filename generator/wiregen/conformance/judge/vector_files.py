"""Read files of vectors for one protocol; the roles, variants and limits that they name must exist.

Invariant: a file cannot use more memory than a bound, however often its bytes and lines are repeated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from wiregen.conformance.vectors.format import (
    AnyVector,
    Trace,
    Unwritable,
    Valid,
    VectorFile,
    VectorsError,
    expanded,
    read_vectors,
    size_of,
)
from wiregen.language.regular_files import read_regular
from wiregen.runtime.schema.protocol import Schema

__all__ = ["MOST_BYTES", "load_files", "read_file", "schema"]

MOST_BYTES: Final = 256 << 20
"""Largest size of a file, and of one vector once its repetitions are written out."""


def load_files(paths: Iterable[Path], schema: Schema) -> tuple[AnyVector, ...]:
    """Return the vectors of files, in their order.

    Raises:
        VectorsError: A file does not hold vectors of this protocol, or two vectors have the same id. The
            text begins with the path.
    """
    found: dict[str, AnyVector] = {}
    for path in paths:
        try:
            vectors = read_file(read_regular(path, MOST_BYTES), schema).vectors
        except OSError as error:
            raise VectorsError(f"{path}: {(error.strerror or str(error)).lower()}") from None
        except VectorsError as error:
            raise VectorsError(f"{path}: {error}") from None
        for vector in vectors:
            if vector.id in found:
                raise VectorsError(f"{path}: another file has a vector {vector.id[:64]!r} too")
            found[vector.id] = vector
    return tuple(found.values())


def read_file(data: bytes, schema: Schema | None = None) -> VectorFile:
    """Return the file of vectors in a text; without a schema, the names in it are not checked.

    Raises:
        VectorsError: The text is not a file of vectors, or not of this protocol.
    """
    if len(data) > MOST_BYTES:
        raise VectorsError(f"longer than {MOST_BYTES} bytes")
    file = read_vectors(data)
    if schema is not None and file.protocol != schema.name:
        raise VectorsError(f"protocol: these are vectors of {file.protocol[:64]!r}, not of {schema.name!r}")
    for index, vector in enumerate(file.vectors):
        for fault in (*(_strangers(vector, schema) if schema is not None else ()), *_excesses(vector)):
            raise VectorsError(f"vectors.{index} ({vector.id[:64]}): {fault}")
    return file


def schema() -> str:
    """Return the JSON Schema of a file of vectors as text."""
    return json.dumps(TypeAdapter(VectorFile).json_schema(), indent=1) + "\n"


def _strangers(vector: AnyVector, schema: Schema) -> Iterator[str]:
    """Yield an error for each name in a vector that the protocol does not have."""
    roles = {*schema.roles}
    for role in _roles(vector):
        if role is not None and role not in roles:
            yield f"from: no role {role[:64]!r}; there are {', '.join(schema.roles)}"
    if vector.variant is not None and vector.variant not in schema.variants:
        yield f"variant: no variant {vector.variant[:64]!r}"
    for name in () if isinstance(vector, Unwritable) else vector.limits:
        if name not in schema.limits:
            yield f"limits: no limit {name[:64]!r}; there are {', '.join(schema.limits)}"


def _roles(vector: AnyVector) -> Iterator[str | None]:
    if isinstance(vector, Trace):
        yield from (step.from_role for step in vector.steps)
    else:
        yield vector.from_role
        yield from (said.from_role or "" for said in vector.before)


def _excesses(vector: AnyVector) -> Iterator[str]:
    """Yield an error for each repetition of a vector that is invalid or too large."""
    size = 0
    try:
        size = size_of(vector)
        if size <= MOST_BYTES:
            expanded(list(vector.frames if isinstance(vector, Valid | Unwritable) else ()))
    except VectorsError as error:
        yield f"frames: {error}"
    if size > MOST_BYTES:
        yield f"its repetitions come to more than {MOST_BYTES} bytes"
