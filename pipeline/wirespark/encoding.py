"""Rows to bytes: messages from their columns, frames around them, in any of a protocol's serializations."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TypedDict

import pyarrow as pa

from wirespark.array_casting import fitted, plain
from wirespark.arrow_reading import Taker, Takers
from wirespark.columns import ERROR, header_type
from wirespark.decoders import Context, has_context
from wirespark.errors import WireSparkError
from wirespark.packages import Package, package_of
from wirespark.untyped import ArrowArray, Made, Values

__all__ = ["Encoder", "PartCell", "StreamEncoder", "encoder_of"]

_NO_BYTES = "`_error.raw` does not contain all of its bytes: read with a larger option `errorbytes`, or remove such rows"


class PartCell(TypedDict):
    """The value of the column `_part`."""

    join: str
    key: str
    index: int
    last: bool


class Encoder:
    """Writes the rows of one protocol; `role` is the sender of rows that do not name one."""

    def __init__(self, package: Package, backend: str, variant: str | None, role: str | None) -> None:
        self._package = package
        self._role = role
        self._backend = backend
        self._takers = Takers(package, variant)
        options = package.runtime("codec.options").Options(variant=variant)
        self._layout = package.runtime("reference.layout").Layout(package.schema, options)
        self._module = package.codec(backend)
        self._variant = variant
        self._arguments: dict[tuple[type, str | None], tuple[dict[str, object], bool]] = {}
        self._messages: dict[str, Taker] = {}
        self._error: type[Exception] = package.native.EncodeError

    # ---- columns to frames

    def messages(self, name: str, column: ArrowArray) -> Values:
        """Return the messages of that name from a column of structs, None for null.

        Raises:
            WireSparkError: The columns are not those of the message.
        """
        schema = self._package.messages[name]
        if not len(schema):
            made = self._takers.class_of(name)
            return [made() if is_set else None for is_set in plain(column.is_valid())]
        array = fitted(column, pa.struct(list(schema)), f"{name}.")
        if name not in self._messages:
            self._messages[name] = self._takers.named(name, schema)
        found = self._messages[name](array.flatten())
        if not array.null_count:
            return found
        return [each if is_set else None for each, is_set in zip(found, plain(array.is_valid()), strict=True)]

    def frames(self, rows: Mapping[str, ArrowArray], n_rows: int) -> Values:
        """Return the frame of each row of the wide table, or the bytes of a row that could not be decoded.

        Raises:
            WireSparkError: A row is not a message, or is an error whose bytes are missing.
        """
        names = self._names(rows, n_rows)
        frames: Values = [None] * n_rows
        roles = plain(rows["_from"]) if "_from" in rows else [None] * n_rows
        for name in dict.fromkeys(name for name in names if name is not None):
            own = [row for row, each in enumerate(names) if each == name]
            where = pa.array(own, pa.int32())
            column = (
                rows[name].take(where) if name in rows else pa.nulls(len(own), pa.bool_()).fill_null(True)
            )
            messages = self.messages(name, column)
            known = {role: self._frame_of(name, role) for role in {roles[row] for row in own}}
            kinds = [known[roles[row]] for row in own]
            classes = {kind: self._takers.class_of(kind) for kind in known.values() if kind is not None}
            headers = self._headers(rows.get("_header"), where, kinds)
            for row, message, kind, header in zip(own, messages, kinds, headers, strict=True):
                frames[row] = message if kind is None else classes[kind](message, **header)
        self._add_empty(frames, rows, names, roles)
        self._add_faults(frames, rows)
        return frames

    def _add_empty(
        self,
        frames: Values,
        rows: Mapping[str, ArrowArray],
        names: list[str | None],
        roles: list[str | None],
    ) -> None:
        """Add frames without a message for rows with neither message nor error, where the protocol has them."""
        errors = rows["_error"].is_valid().to_pylist() if "_error" in rows else [False] * len(names)
        own = [row for row, name in enumerate(names) if name is None and not errors[row]]
        kinds = [str(self._layout.frame_of(roles[row] or self._role)) for row in own]
        headers = self._headers(rows.get("_header"), pa.array(own, pa.int32()), list(kinds)) if own else []
        for row, kind, header in zip(own, kinds, headers, strict=True):
            if kind in self._layout.frames:
                frame = self._takers.class_of(kind)(None, **header)
                try:
                    frame.encode()
                except self._error:
                    continue  # no frame without a message: `_add_faults` says so
                frames[row] = frame

    def _names(self, rows: Mapping[str, ArrowArray], n_rows: int) -> list[str | None]:
        """Return the name of each row's message: the column `_message`, else the struct that is set."""
        known = self._package.messages
        if "_message" in rows:
            names = plain(rows["_message"])
            unknown = next((name for name in names if name is not None and name not in known), None)
            if unknown is not None:
                raise WireSparkError(f"there is no message {unknown!r}: the messages are {', '.join(known)}")
            return names
        found: list[str | None] = [None] * n_rows
        for name in known.keys() & rows.keys():
            for row, is_set in enumerate(plain(rows[name].is_valid())):
                if is_set:
                    found[row] = name
        return found

    def _frame_of(self, name: str, role: str | None) -> str | None:
        """Return the frame that carries a message, or None if it is not carried by one."""
        layout = self._layout
        if name in layout.preambles or (name in layout.frames and name not in layout.messages):
            return None
        divided = next((frame for (frame, _), piece in layout.divided.items() if piece == name), None)
        if divided is not None and name not in layout.messages:
            return str(divided)
        known = self._package.schema.messages.get(name)
        return str(layout.frame_of((known.role if known else None) or role or self._role))

    def _headers(
        self, column: ArrowArray | None, where: ArrowArray, kinds: list[str | None]
    ) -> list[dict[str, object]]:
        """Return the header arguments of each frame.

        Arguments that the row leaves out get their defaults.
        """
        type_ = header_type(self._package)
        if column is None or type_ is None or column.null_count == len(column):
            return [{}] * len(kinds)
        array = fitted(column.take(where), type_, "_header.")
        found: dict[str, list[dict[str, object]]] = {}
        for kind in {kind for kind in kinds if kind is not None}:
            schema = self._package.columns.HEADERS[kind]
            if len(schema):
                own = array if len(self._package.columns.HEADERS) == 1 else array.field(kind)
                found[kind] = self._takers.header(kind, schema)(own.flatten())
        return [found[kind][row] if kind in found else {} for row, kind in enumerate(kinds)]

    def _add_faults(self, frames: Values, rows: Mapping[str, ArrowArray]) -> None:
        """Add the raw bytes of rows that could not be decoded."""
        missing = [row for row, frame in enumerate(frames) if frame is None]
        if not missing:
            return
        if "_error" not in rows:
            raise WireSparkError("a row has no message: remove it, or write the column `_error` too")
        for row, error in zip(missing, _fitted_errors(rows["_error"], missing), strict=True):
            if error is None:
                raise WireSparkError("a row has neither a message nor an error: remove it")
            if error["raw_truncated"] or error["raw"] is None:
                raise WireSparkError(f"a row is an error instead of a message, and {_NO_BYTES}")
            frames[row] = error["raw"]

    # ---- frames to bytes

    def bytes_of(self, frame: Made, role: str | None, context: Context | None = None) -> bytes:
        """Return the bytes of a frame, or of a message in a frame with the default header.

        Raises:
            WireSparkError: The frame cannot be encoded.
        """
        if type(frame) is bytes:
            return self._bytes_as_they_were(frame)
        class_ = type(frame)
        known = self._arguments.get((class_, role))
        if known is None:
            known = self._arguments[class_, role] = self._known(class_, role or self._role)
        given, has_context = known
        if has_context and context is not None:
            given = {**given, "context": context}
        try:
            data: bytes = (
                frame.encode(**given) if self._backend == "native" else self._module.encode(frame, **given)
            )
        except self._error as error:
            raise WireSparkError(f"{class_.__name__} cannot be written: {error}") from None
        return data

    def _known(self, class_: type, role: str | None) -> tuple[dict[str, object], bool]:
        """Return the arguments for encoding a class (variant, role), and whether it takes a context."""
        owner: Made = class_ if self._backend == "native" else self._module
        names = inspect.signature(owner.encode).parameters
        given: dict[str, object] = {"from_role": role, "variant": self._variant}
        taken = {name: value for name, value in given.items() if name in names and value is not None}
        return taken, "context" in names

    def _bytes_as_they_were(self, data: bytes) -> bytes:
        if self._backend != "native":
            raise WireSparkError(f"an error row has no bytes in {self._backend}: remove the row")
        return data

    def stream(self, role: str | None) -> StreamEncoder:
        """Return the encoder of the consecutive frames of one direction."""
        context = self._package.native.Context() if has_context(self._package) else None
        return StreamEncoder(self, self._package, role or self._role, context)


class StreamEncoder:
    """Encodes the frames of one direction in order.

    It keeps their state for later ones, and writes fragments as fragments.
    """

    def __init__(self, encoder: Encoder, package: Package, role: str | None, context: Context | None) -> None:
        self._encoder = encoder
        self._package = package
        self._role = role
        self._context = context
        self._given: dict[tuple[str, str], int] = {}

    def bytes_of(self, frame: Made, part: PartCell | None = None) -> bytes:
        """Return the bytes of the next frame; `part`: the value of the column `_part`.

        Raises:
            WireSparkError: The frame cannot be encoded.
        """
        if part is not None and self._package.schema.joins[part["join"]].type is None:
            frame = self._piece(frame, part["join"], (part["join"], part["key"]), is_last=part["last"])
        data = self._encoder.bytes_of(frame, self._role, self._context)
        if self._context is not None and hasattr(frame, "message"):
            self._context.apply(frame, self._role)
        return data

    def _piece(self, frame: Made, join: str, key: tuple[str, str], *, is_last: bool) -> Made:
        """Return the frame of a fragment of a block.

        The row of the last one holds the whole block. Its frame gets the bytes that the earlier ones left.
        """
        class_: type[Made] = getattr(self._package.native, join)
        if isinstance(frame.message, class_):
            self._given[key] = self._given.get(key, 0) + len(frame.message.data)
            return frame
        n_given = self._given.pop(key, 0)
        if not is_last or not n_given:
            return frame
        block = self._package.schema.joins[join].block
        assert block is not None
        return frame.replace(message=class_(self._block(frame, block[1])[n_given:]))

    def _block(self, frame: Made, field: str) -> bytes:
        """Return the bytes of a block of a frame."""
        options = self._package.runtime("codec.options").Options(self._role, context=self._context)
        data = self._encoder.bytes_of(frame, self._role, self._context)
        node = self._package.runtime("reference.explain").explain(
            self._package.schema, data, 0, len(data), options
        )
        block = next(each for each in node.walk() if each.name == field and not each.inner)
        return data[block.start : block.end]


@cache
def encoder_of(
    protocol: str, backend: str = "native", variant: str | None = None, role: str | None = None
) -> Encoder:
    """Return an encoder.

    Raises:
        WireSparkError: The protocol is unknown, or does not have this backend.
    """
    return Encoder(package_of(protocol), backend, variant, role)


def _fitted_errors(column: ArrowArray, rows: Iterable[int]) -> Iterator[dict[str, Made] | None]:
    """Yield the errors of these rows."""
    yield from fitted(column.take(pa.array(rows, pa.int32())), ERROR, "_error.").to_pylist()
