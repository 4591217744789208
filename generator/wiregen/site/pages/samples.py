"""One sample frame of each message: from the file's examples, of values that a reader understands, or from its vectors.

Invariant: the reference codec decoded each sample while the page was made, as one whole frame of that
message. Bytes of secret fields are never shown: such a field is empty in the sample, or consists of x or
zeros where it cannot be empty.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from wiregen.conformance.samples import Choices, ReadableChoices, SampleBasis, grow
from wiregen.conformance.samples.choices import UngrownError
from wiregen.conformance.vectors.drafts import Draft, Drafting, message_of
from wiregen.conformance.vectors.format import Valid, VectorFile, octets
from wiregen.conformance.vectors.preceding_frames import GivenEntries, Scenery
from wiregen.conformance.vectors.reassembly_vectors import joined_drafts
from wiregen.conformance.vectors.reference_verdicts import ReferenceVerdicts, Scene
from wiregen.conformance.vectors.valid import Crop, valid_drafts
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import FrameValue, Node, Record, Variety
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.protocol import Schema
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.walk import every_field
from wiregen.site.pages.example_frames import ExampleFrame, ExampleFrames
from wiregen.site.pages.sample_frame import Sample

__all__ = ["Samples", "playground_state"]

_LONGEST: Final = 192
"""The longest vector that may be a sample, in bytes."""
_MOST_TRIES: Final = 24
"""The most values of one message that are tried, before the generator of all vectors is used."""


def playground_state(protocol: str, scene: Scene, data: bytes) -> str:
    """Return a frame in its scene, in the encoding of a link to the playground."""
    own = b"".join(sent for role, sent in scene.before if role == scene.role)
    state: dict[str, object] = {"p": protocol, "r": scene.role, "f": "hex", "t": data.hex()}
    state["b"] = [{"role": scene.role, "text": own.hex()}] if own else []
    state["o"] = [
        {"at": 0, "role": role, "text": sent.hex()} for role, sent in scene.before if role != scene.role
    ]
    text = json.dumps(state, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


class Samples:
    """Finds the samples of one protocol; `vectors`: the content of its file of vectors, if there is one."""

    def __init__(
        self, protocol: m.Protocol, schema: Schema, vectors: VectorFile | None, examples: ExampleFrames
    ) -> None:
        self._protocol = protocol
        self._schema = schema
        self._bench = ReferenceVerdicts(schema)
        self._vectors = _by_message(vectors)
        self._examples = examples

    def of(self, message: m.Message) -> Sample | None:
        """Return a sample of a message; None where no bytes can be made that decode as one."""
        for sample in self._found(message):
            shown = self._without_secrets(message, sample)
            if shown is not None:
                return shown
        return None

    def _found(self, message: m.Message) -> Iterator[Sample]:
        """Yield samples: those of examples as the file has them, others with the declared defaults in their headers."""
        for example in self._examples.of(message.name):
            scene = Scene(role=example.role, before=self._opened(example))
            sample = self._read(message, scene, example.data, example.origin)
            sample = None if sample is None else self._with_least_before(message, sample)
            if sample is not None and not self._has_secrets_before(sample.scene):
                yield sample
        for scene, data, origin in self._made(message):
            sample = self._read(message, scene, data, origin)
            if sample is not None:
                yield self._with_defaults(message, sample)

    def _opened(self, example: ExampleFrame) -> tuple[tuple[str | None, bytes], ...]:
        """Return the bytes sent before a frame of an example, with the preambles that the example leaves out."""
        speakers = dict.fromkeys((*(role for role, _ in example.before), example.role))
        missing = (role for role in speakers if role not in example.opened)
        return (*(sent for role in missing for sent in self._scenery.opening(role)), *example.before)

    def _with_least_before(self, message: m.Message, sample: Sample) -> Sample:
        """Return the sample without the bytes before it that do not change how the frame is decoded."""
        for at in reversed(range(len(sample.scene.before))):
            before = (*sample.scene.before[:at], *sample.scene.before[at + 1 :])
            fewer = self._read(message, replace(sample.scene, before=before), sample.data, sample.origin)
            if fewer is not None and fewer.tree.value == sample.tree.value:
                sample = fewer
        return sample

    def _has_secrets_before(self, scene: Scene) -> bool:
        """Return whether the bytes before a frame contain a non-empty secret field."""
        for at, (role, data) in enumerate(scene.before):
            items, _ = self._bench.read(replace(scene, role=role, before=scene.before[:at]), data)
            values = (node.value for _, _, node in items if isinstance(node, Node))
            if any(_has_any(value, self._secrets) for value in values):
                return True
        return False

    def _made(self, message: m.Message) -> Iterator[tuple[Scene, bytes, str]]:
        readable = self._grown(message, ReadableChoices)
        if readable is not None and len(readable[1]) <= _LONGEST:
            yield *readable, "sample values"
        for vector in self._vectors.get(message.name, ()):
            yield _scene_of(vector), octets(vector.bytes), f"vector {vector.id}"
        grown = self._grown(message, Choices)
        if grown is not None:
            yield *grown, "the plainest frame"
        for draft in self._explored.get(message.name, ()):
            yield draft.scene, draft.data, "the plainest frame"

    def _sender(self, message: m.Message) -> str | None:
        return message.role or (self._protocol.roles or (None,))[0]

    def _read(self, message: m.Message, scene: Scene, data: bytes, origin: str) -> Sample | None:
        """Return the sample of bytes that are exactly one frame of the message."""
        try:
            items, known = self._bench.read(scene, data)
        except DecodeError:
            return None
        if len(items) != 1 or not isinstance(items[0][2], Node) or items[0][1] != len(data):
            return None
        tree = items[0][2]
        is_meant = (
            isinstance(tree.value, FrameValue) and getattr(tree.value.message, "name", "") == message.name
        )
        is_plain = is_meant and isinstance(tree.value.message, Record) and not _left_over(tree.value)
        return Sample(scene=scene, data=data, tree=tree, origin=origin, known=known) if is_plain else None

    def _grown(self, message: m.Message, kind: type[Choices]) -> tuple[Scene, bytes] | None:
        """Return the first frame of a message by choices of a kind; where a value is refused, try the next option for that value."""
        sites = {} if message.code is None else dict.fromkeys(self._basis.code_sites, message.code)
        demands: dict[str, int] = {}
        for _ in range(_MOST_TRIES):
            choices = kind(by_site=sites, by_path=demands)
            try:
                return self._planted(choices, self._sender(message))
            except EncodeError as error:
                refused = next((each for each in choices.made if each.path == error.path), None)
            except UngrownError:
                return None
            if refused is None:
                return None
            demands = {**demands, refused.path: demands.get(refused.path, 0) + 1}
            if demands[refused.path] >= len(refused.options):
                return None
        return None

    def _planted(self, choices: Choices, role: str | None) -> tuple[Scene, bytes] | None:
        specimen = grow(self._basis, choices, role=role)
        options = Options(role, context=GivenEntries(specimen.scene))
        data = write_frame(self._schema, specimen.value, options, compression=0)
        before = self._scenery.before(specimen, role, None)
        return None if before is None else (Scene(role=role, before=before), data)

    @cached_property
    def _explored(self) -> dict[str, list[Draft]]:
        """Return a few frames of each message that needs a choice other than its code; computed once."""
        crop = Crop(self._basis, Drafting(self._schema))
        valid_drafts(crop)
        found: dict[str, list[Draft]] = {}
        for draft in crop.drafts:
            if draft.scene.variant is None and len(draft.data) <= _LONGEST:
                found.setdefault(message_of(draft), []).append(draft)
        return found

    def joined(self, name: str) -> Iterator[Draft]:
        """Yield frames made to show a join, reassembled at the end."""
        samples = [self.of(message) for message in self._protocol.messages]
        drafts = [
            Draft(scene=each.scene, data=each.data, trees=(each.tree,), error=None, known=each.known)
            for each in samples
            if each is not None
        ]
        for draft in joined_drafts(Drafting(self._schema), self._scenery, drafts):
            if draft.error is None and f"join {name}: three pieces" in draft.covers:
                yield draft

    @cached_property
    def _basis(self) -> SampleBasis:
        return SampleBasis(schema=self._schema)

    @cached_property
    def _scenery(self) -> Scenery:
        return Scenery(self._basis)

    def _with_defaults(self, message: m.Message, sample: Sample) -> Sample:
        """Return the sample with declared defaults in the headers of its frames, inner ones too, where it can be encoded."""
        frames = (each for each in _records(sample.tree.value) if isinstance(each, FrameValue))
        if not any(self._defaults[each.name] for each in frames):
            return sample
        changed = self._read(message, sample.scene, sample.data, sample.origin)
        assert changed is not None
        for record in _records(changed.tree.value):
            for name in self._defaults[record.name] if isinstance(record, FrameValue) else ():
                record.fields.pop(name, None)
        data = self._rewritten(changed)
        if data is None or data == sample.data:
            return sample
        return self._read(message, sample.scene, data, f"{sample.origin}, headers by default") or sample

    def _rewritten(self, sample: Sample) -> bytes | None:
        """Return the bytes of a sample's current value; None where it cannot be encoded."""
        before = self._bench.read(sample.scene, b"")[1]
        options = Options(sample.scene.role, context=before)
        try:
            return write_frame(self._schema, sample.tree.value, options, compression=0)
        except EncodeError:
            return None

    @cached_property
    def _defaults(self) -> dict[str, tuple[str, ...]]:
        """Return the fields of each frame that have a declared default."""
        return {
            frame.name: tuple(
                field.name for field in every_field(frame.fields) if isinstance(field.value, m.Default)
            )
            for frame in self._protocol.frames
        }

    def _without_secrets(self, message: m.Message, sample: Sample) -> Sample | None:
        """Return the sample with empty or meaningless values in its secret fields; None where there is no such frame."""
        if not self._secrets or not _has_any(sample.tree.value, self._secrets):
            return sample
        for blank, how in ((_emptied, "left empty"), (_filled, "replaced")):
            shown = self._read(message, sample.scene, sample.data, f"{sample.origin}, secrets {how}")
            blanked = None if shown is None else self._blanked(message, shown, blank)
            if blanked is not None:
                return blanked
        return None

    def _blanked(self, message: m.Message, sample: Sample, blank: Callable[[Any], Any]) -> Sample | None:
        value = sample.tree.value
        for record in _records(value):
            for name in self._secrets & record.fields.keys():
                record.fields[name] = blank(record.fields[name])
        data = self._rewritten(sample)
        return None if data is None else self._read(message, sample.scene, data, sample.origin)

    @cached_property
    def _secrets(self) -> frozenset[str]:
        protocol = self._protocol
        owners = [each.fields for each in protocol.structs]
        owners += [each.fields for each in protocol.messages]
        owners += [each.fields for each in protocol.frames]
        owners += [variety.fields for union in protocol.unions for variety in union.varieties]
        return frozenset(field.name for fields in owners for field in every_field(fields) if field.is_secret)


def _by_message(vectors: VectorFile | None) -> dict[str, list[Valid]]:
    """Return the vectors that may be shown; those that an encoder reproduces are first."""
    found: dict[str, list[Valid]] = {}
    for vector in vectors.vectors if vectors is not None else ():
        if not isinstance(vector, Valid) or vector.variant or vector.limits or len(vector.frames) != 1:
            continue
        if isinstance(vector.bytes, str) and len(vector.bytes) <= 2 * _LONGEST and not vector.strict:
            found.setdefault(str(vector.frames[0].get("message")), []).append(vector)
    return {name: sorted(some, key=lambda vector: vector.encodes != "exact") for name, some in found.items()}


def _scene_of(vector: Valid) -> Scene:
    before = tuple((sent.from_role, octets(sent.bytes)) for sent in vector.before)
    return Scene(role=vector.from_role, before=before)


def _left_over(frame: FrameValue) -> bool:
    return bool(frame.absent or frame.tail or frame.message.absent or frame.message.tail)


def _records(value: object) -> Iterator[Record | Variety | FrameValue]:
    """Yield every record below a value."""
    if isinstance(value, Record | Variety | FrameValue):
        yield value
        for part in value.fields.values():
            yield from _records(part)
        if isinstance(value, FrameValue):
            yield from _records(value.message)
    elif isinstance(value, list):
        for item in value:
            yield from _records(item)


def _has_any(frame: object, secrets: frozenset[str]) -> bool:
    found = (record.fields.get(name) for record in _records(frame) for name in secrets)
    return any(value not in ("", b"", None) for value in found)


def _emptied(value: object) -> object:
    return value[:0] if isinstance(value, str | bytes | list) else _filled(value)


def _filled(value: object) -> object:
    """Return a value of the same size without information."""
    match value:
        case str():
            return "x" * len(value)
        case bytes():
            return bytes(len(value))
        case list():
            return [_filled(item) for item in value]
        case UUID():
            return UUID(int=0)
        case None | Record() | Variety() | FrameValue():
            return value
        case _:
            return 0
