"""`wiregen shrink`: the smallest bytes found that still have the same error."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS, Failure
from wiregen.tools.cli.messages import tell

if TYPE_CHECKING:
    from wiregen.conformance.fuzz import Trial
    from wiregen.conformance.judge import CodecSetting, DecodedFrames, ReferenceImplementation
    from wiregen.runtime.codec.errors import DecodeError
    from wiregen.runtime.reference.tree import Node
    from wiregen.tools.cli.decoding_options import Decoded

__all__ = ["verb"]

_MOST_BYTES: Final = 64 << 20


@click.command("shrink")
@shared_options.protocol
@click.argument("file", required=False)
@click.option("--hex", "digits", metavar="HEX", help="Shrink these bytes instead of a file.")
@click.option(
    "--error",
    "code",
    metavar="CODE",
    help="Code of the error to keep. Default: the first error of the input.",
)
@click.option("--from", "role", metavar="ROLE", help="Role that sent the bytes.")
@shared_options.preceding
@shared_options.variant
@shared_options.strict
@shared_options.limits
@click.option(
    "--tries",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="End after this number of tries, with the smallest bytes so far.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="Write the bytes to FILE. Default: hexadecimal digits on stdout."
)
def verb(
    protocol: str,
    file: str | None,
    digits: str | None,
    code: str | None,
    role: str | None,
    before: tuple[str, ...],
    variant: str | None,
    strict: bool,
    limits: tuple[str, ...],
    tries: int,
    output: str | None,
) -> int:
    """Make FILE, one direction of a connection of PROTOCOL, as small as possible with the same error.

    Frames, items and bytes are removed while the error keeps its code, its rule and its path. Enclosing lengths and counts are
    adjusted. The digits on stdout are an argument for `wiregen decode --hex`. Exits with 1 if the input has no such error.
    """
    from wiregen.conformance.judge import CodecSetting, ReferenceImplementation
    from wiregen.schema.lowering import lower
    from wiregen.tools.cli.decoding_options import DecodingSettings
    from wiregen.tools.cli.input import refuse_stdin_twice
    from wiregen.tools.cli.output import destination
    from wiregen.tools.cli.preceding_bytes import context_after, direction, said
    from wiregen.tools.cli.protocol_options import limits_of, role_of, variant_of
    from wiregen.tools.cli.protocols import spoken

    if digits is None:
        refuse_stdin_twice(protocol, file or "-")
    schema = lower(spoken(protocol).protocol)
    settings = DecodingSettings(
        schema=schema, variant=variant_of(schema, variant), limits=limits_of(schema, limits), is_strict=strict
    )
    sender = role_of(schema, role) or schema.roles[0]
    data = _bytes(file, digits)
    context, ways = context_after(before, settings)
    way = ways.get(sender) or direction(settings, sender, context)
    items = [*way.feed(data), *way.finish()]
    number, error = _wanted(items, code)
    setting = CodecSetting(
        role=sender,
        before=tuple(said(before, schema)),
        variant=settings.variant,
        limits=settings.limits,
        is_strict=strict,
    )
    small = _smallest(
        ReferenceImplementation(schema), setting, list(_windows(items, number, data)), error.code, tries
    )
    if small is None:
        raise Failure(
            f"the error {error.code} depends on all bytes before it", "give --before for them", code=FINDINGS
        )
    tell(f"{len(small.data)} of {len(data)} bytes: {error.code} at {error.path or 'the frame'}")
    if output is None:
        print(small.data.hex())
        return DONE
    with destination(output) as out:
        out.write(small.data)
    return DONE


def _bytes(file: str | None, digits: str | None) -> bytes:
    """Return the input, which must fit into memory many times."""
    from contextlib import nullcontext

    from wiregen.tools.cli.input import from_hex, open_bytes

    if digits is not None and file is not None:
        raise Failure("--hex and a file are both given", "give only one of them")
    with nullcontext(from_hex(digits)) if digits is not None else open_bytes(file, is_capture=None) as source:
        if source.path is not None:
            raise Failure(
                f"`{file or '-'}` is a capture, but shrink takes bytes of one direction",
                "give the `bytes` of an error: `wiregen decode PROTOCOL FILE --where '@error != null'` shows them, and --hex takes them",
            )
        data = bytearray()
        for chunk in source.chunks:
            data += chunk
            if len(data) > _MOST_BYTES:
                raise Failure(f"the input is longer than {_MOST_BYTES >> 20} MiB", "give a part of it")
    return bytes(data)


def _wanted(items: "list[Decoded]", code: str | None) -> "tuple[int, DecodeError]":
    """Return the first error of that code, or the first of all, with its place among the items."""
    from wiregen.runtime.codec.errors import DecodeError

    outcomes = ((number, item.outcome) for number, item in enumerate(items))
    errors = [(number, outcome) for number, outcome in outcomes if isinstance(outcome, DecodeError)]
    for number, error in errors:
        if code in (None, error.code):
            return number, error
    codes = sorted({error.code for _, error in errors})
    found = f"the errors are {', '.join(codes)}" if codes else "all bytes are valid"
    what = "no error" if code is None else f"no error {code}"
    raise Failure(f"the input has {what}: {found}", "give bytes that `wiregen decode` refuses", code=FINDINGS)


def _windows(items: "list[Decoded]", number: int, data: bytes) -> Iterator[bytes]:
    """Yield the bytes of the item with the error, then with more and more items before it."""
    end = items[number].offset + items[number].size
    n_before = 0
    while n_before < 2 * number + 1:
        yield data[items[max(0, number - n_before)].offset : end]
        n_before = 2 * n_before + 1


def _smallest(
    reference: "ReferenceImplementation", setting: "CodecSetting", windows: list[bytes], code: str, tries: int
) -> "Trial | None":
    """Return the smallest bytes found whose first error is that of the first window with that code."""
    from wiregen.conformance.fuzz import Trial
    from wiregen.conformance.fuzz.shrinking import shrunk

    def key(trial: Trial) -> _Key | None:
        return _key(reference.decode(trial.setting, [trial.data]))

    def nodes(trial: Trial) -> "tuple[Node, ...]":
        return reference.nodes(trial.setting, trial.data)

    trials = (Trial(setting=setting, data=window) for window in windows)
    for trial, wanted in ((trial, key(trial)) for trial in trials):
        if wanted is not None and wanted.code == code:
            return shrunk(trial, partial(_has, key, wanted), nodes, tries)
    return None


def _has(key: "Callable[[Trial], _Key | None]", wanted: "_Key", trial: "Trial") -> bool:
    return key(trial) == wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """The facts about an error that stay while its input shrinks; the indexes in its path may change."""

    code: str
    rule: str | None = None
    path: str = ""


def _key(answer: "DecodedFrames") -> _Key | None:
    """Return the key of the first error; None without an error."""
    from wiregen.conformance.fuzz.comparison import without_indexes

    if answer.fault is None:
        return _Key(code="truncated") if answer.is_incomplete or answer.is_unfinished else None
    path = without_indexes(answer.fault.path or "")
    return _Key(code=answer.fault.code, rule=answer.fault.rule, path=path)
