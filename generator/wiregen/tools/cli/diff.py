"""`wiregen diff`: two recordings compared by the meaning of their messages."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS, Failure
from wiregen.tools.cli.messages import tell

if TYPE_CHECKING:
    from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings

__all__ = ["verb"]

Change: TypeAlias = Literal["added", "changed", "removed"]
_SIGNS: Final[dict[Change, str]] = {"added": "+", "changed": "~", "removed": "-"}
_MOST_MESSAGES: Final = 200_000
"""The most messages of one input, all of which are stored."""
_MOST_ALIGNED: Final = 2_000
"""The most messages of a direction that are aligned with each other exactly; of more, frequent ones are aligned last."""
_LONGEST: Final = 120
"""The most characters of a value that the text shows."""


@click.command("diff")
@shared_options.protocol
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "--from",
    "role",
    metavar="ROLE",
    help="Role that sent the bytes. Of captures, compare only what it sends.",
)
@shared_options.variant
@shared_options.capture
@shared_options.capture_port
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@shared_options.strict
@shared_options.limits
def verb(
    protocol: str,
    first: str,
    second: str,
    role: str | None,
    variant: str | None,
    pcap: bool | None,
    port: int | None,
    format_: str,
    strict: bool,
    limits: tuple[str, ...],
) -> int:
    """Compare the messages of PROTOCOL in A and B: which were added, removed, or have other fields.

    A and B are captures, or one direction of a connection each. Messages are compared by their values, whatever their offsets, times
    and non-canonical bytes. The connections of captures are paired in the order in which they begin. Exits with 1 if anything differs.
    """
    from wiregen.formats.inspect.secrets import secret_names
    from wiregen.schema.lowering import lower
    from wiregen.tools.cli.decoding_options import DecodingSettings
    from wiregen.tools.cli.input import refuse_stdin_twice
    from wiregen.tools.cli.protocol_options import limits_of, role_of, variant_of
    from wiregen.tools.cli.protocols import spoken

    refuse_stdin_twice(protocol, first, second)
    protocol_ = spoken(protocol).protocol
    schema = lower(protocol_)
    settings = DecodingSettings(
        schema=schema, variant=variant_of(schema, variant), limits=limits_of(schema, limits), is_strict=strict
    )
    sender, ports = role_of(schema, role), tuple(each.number for each in protocol_.ports)
    before, after = (_messages(name, settings, sender, pcap, port, ports) for name in (first, second))
    counts: Counter[Change] = Counter()
    secrets = secret_names(schema)
    for way in dict.fromkeys((*before, *after)):
        for difference in _differences(before.get(way, []), after.get(way, [])):
            counts[difference.change] += 1
            print(_text(difference, secrets) if format_ == "text" else json.dumps(_record(difference)))
    tell(", ".join(f"{counts[change]} {change}" for change in _SIGNS) if counts else "no differences")
    return FINDINGS if counts else DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """A direction of a connection: the number of the connection in its input, and the sender."""

    connection: int
    role: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """A decoded frame or an error. `key` is equal for those of equal content, `content` is the record."""

    role: str | None
    offset: int
    name: str
    content: dict[str, object]
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    """One difference; `first` or `second` is None for a message that only the other input has."""

    change: Change
    first: _Message | None
    second: _Message | None

    @property
    def message(self) -> _Message:
        message = self.first or self.second
        assert message is not None
        return message


def _messages(
    name: str,
    settings: "DecodingSettings",
    role: str | None,
    pcap: bool | None,
    port: int | None,
    ports: tuple[int, ...],
) -> dict[_Way, list[_Message]]:
    """Return the messages and errors of an input by their direction."""
    from wiregen.tools.cli.decoded_input import decoded_input
    from wiregen.tools.cli.input import open_bytes
    from wiregen.tools.cli.progress import progress

    found: dict[_Way, list[_Message]] = {}
    connections: dict[str | None, int] = {}
    n_messages = 0
    with open_bytes(name, is_capture=pcap) as source, progress(source.size) as advance:
        for decoded in decoded_input(source, settings, role, (), port, ports, advance):
            n_messages += 1
            if n_messages > _MOST_MESSAGES:
                raise Failure(
                    f"`{name}` has more than {_MOST_MESSAGES} messages",
                    "compare a part of it, or one role: --from",
                )
            number = connections.setdefault(decoded.flow, len(connections))
            way = _Way(connection=number, role=decoded.role)
            found.setdefault(way, []).append(_message(decoded, settings))
    return found


def _message(decoded: "Decoded", settings: "DecodingSettings") -> _Message:
    from wiregen.runtime.codec.errors import DecodeError
    from wiregen.runtime.records.frames import frame_record, part_record

    outcome = decoded.outcome
    if isinstance(outcome, DecodeError):
        name = f"error {outcome.code}"
        content: dict[str, object] = {"error": outcome.code, "path": outcome.path, "bytes": decoded.raw.hex()}
    else:
        record = frame_record(settings.schema, outcome.value, variant=settings.variant)
        name = str(record.get("message"))
        content = {**record, **part_record(settings.schema, outcome.value, variant=settings.variant)}
    key = json.dumps(content, sort_keys=True)
    return _Message(role=decoded.role, offset=decoded.offset, name=name, content=content, key=key)


def _differences(first: Sequence[_Message], second: Sequence[_Message]) -> Iterator[_Difference]:
    """Yield the differences of one direction in the order of its messages."""
    n_same = _common(first, second)
    first, second = first[n_same:], second[n_same:]
    n_same = _common(first[::-1], second[::-1])
    first, second = first[: len(first) - n_same], second[: len(second) - n_same]
    for is_equal, before, after in _aligned(
        first, second, [each.key for each in first], [each.key for each in second]
    ):
        if not is_equal:
            yield from _paired(before, after)


def _paired(first: Sequence[_Message], second: Sequence[_Message]) -> Iterator[_Difference]:
    """Yield the differences of messages none of which is equal to its neighbour: those of one name are a change."""
    names = [each.name for each in first], [each.name for each in second]
    for is_equal, before, after in _aligned(first, second, *names):
        if is_equal:
            for one, other in zip(before, after, strict=True):
                yield _Difference(change="changed", first=one, second=other)
            continue
        yield from (_Difference(change="removed", first=each, second=None) for each in before)
        yield from (_Difference(change="added", first=None, second=each) for each in after)


def _common(first: Sequence[_Message], second: Sequence[_Message]) -> int:
    """Return how many messages at the beginning are equal."""
    pairs = zip(first, second, strict=False)
    return next(
        (at for at, (one, other) in enumerate(pairs) if one.key != other.key), min(len(first), len(second))
    )


def _aligned(
    first: Sequence[_Message], second: Sequence[_Message], keys: list[str], other_keys: list[str]
) -> Iterator[tuple[bool, Sequence[_Message], Sequence[_Message]]]:
    """Yield runs of messages whose keys are equal, and the runs between them."""
    is_long = max(len(keys), len(other_keys)) > _MOST_ALIGNED
    matcher = SequenceMatcher(None, keys, other_keys, autojunk=is_long)
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        yield tag == "equal", first[start:end], second[other_start:other_end]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """A value that differs; a missing one is None. `names`: those of the fields on its path."""

    path: str
    names: tuple[str, ...]
    first: object
    second: object


def _fields(first: object, second: object, path: str = "", names: tuple[str, ...] = ()) -> Iterator[_Field]:
    """Yield the values that differ between two records, lists or values."""
    if isinstance(first, dict) and isinstance(second, dict):
        for name in dict.fromkeys((*first, *second)):
            yield from _fields(
                first.get(name), second.get(name), f"{path}.{name}".lstrip("."), (*names, name)
            )
    elif isinstance(first, list) and isinstance(second, list):
        for index, (one, other) in enumerate(zip_longest(first, second)):
            yield from _fields(one, other, f"{path}[{index}]", names)
    elif first != second:
        yield _Field(path=path.removeprefix("fields."), names=names, first=first, second=second)


def _changed(difference: _Difference) -> tuple[_Field, ...]:
    if difference.first is None or difference.second is None:
        return ()
    return tuple(_fields(difference.first.content, difference.second.content))


def _text(difference: _Difference, secrets: frozenset[str]) -> str:
    """Return a difference as a line; values of secret fields are hidden."""
    message = difference.message
    sender = "" if message.role is None else f" from {message.role}"
    changes = (
        f"{each.path}: {_value(each.first, each, secrets)} -> {_value(each.second, each, secrets)}"
        for each in _changed(difference)
    )
    return (
        f"{_SIGNS[difference.change]} @{message.offset}{sender} {message.name}  {', '.join(changes)}".rstrip()
    )


def _value(value: object, field: _Field, secrets: frozenset[str]) -> str:
    from wiregen.formats.inspect.values import HIDDEN

    if secrets.intersection(field.names):
        return HIDDEN
    text = "nothing" if value is None else json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _record(difference: _Difference) -> dict[str, object]:
    """Return a difference as an object of JSON."""
    message = difference.message
    record: dict[str, object] = {"change": difference.change, "from": message.role, "message": message.name}
    for name, side in (("a", difference.first), ("b", difference.second)):
        if side is not None:
            record[name] = {"offset": side.offset, **({} if difference.change == "changed" else side.content)}
    fields = [{"path": each.path, "a": each.first, "b": each.second} for each in _changed(difference)]
    return record | ({"fields": fields} if fields else {})
