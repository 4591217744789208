"""The protobuf backend: the same message classes on Google's runtime, and a .proto file for other languages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from wiregen.generate.backends import BESIDE, Page, Subject
from wiregen.generate.views.protobuf.lock import lock_view
from wiregen.generate.views.protobuf.module import ProtobufView, protobuf_view
from wiregen.generate.views.protobuf.options import proto_option
from wiregen.language.diagnostics import Report
from wiregen.schema.value_shapes import Carried, carry
from wiregen.schema.value_shapes.field_numbers import (
    NumberedPart,
    WrongNumber,
    faults,
    numbers_of,
    read_lock,
    retired,
)

__all__ = ["ProtobufBackend", "check_numbers"]


class ProtobufBackend:
    """Prints `protobuf.py` and `_descriptor.py` of a protocol's package, its .proto file, and the lock of its numbers."""

    name = "protobuf"
    requires = "protobuf>=5.26"

    def pages(self, subject: Subject, report: Report) -> tuple[Page, ...]:
        """Return the pages, or () and an error: a number would change."""
        carried = carry(subject.protocol)
        entries = numbers_of(carried)
        lock = _former(subject, report)
        if not _are_kept(entries, lock, subject, report):
            return ()
        return _pages(_view(subject, carried, entries, lock), subject.protocol.name, entries, lock)


def check_numbers(subject: Subject, report: Report) -> None:
    """Report the numbers of a protocol that differ from those in its lock."""
    if subject.protocol.frames:
        _are_kept(numbers_of(carry(subject.protocol)), _former(subject, report), subject, report)


def _are_kept(
    entries: tuple[NumberedPart, ...], lock: Mapping[str, int], subject: Subject, report: Report
) -> bool:
    """Return whether numbers are those of the lock; report others. `check` has refused equal ones."""
    found = tuple(faults(entries, lock))
    for fault in found:
        _report(fault, subject, report)
    return not found


def _view(
    subject: Subject, carried: Carried, entries: tuple[NumberedPart, ...], lock: Mapping[str, int]
) -> ProtobufView:
    numbers = {entry.name: entry.number for entry in entries}
    options = tuple(proto_option(each, subject.protocol.name) for each in subject.proto_options)
    return protobuf_view(
        subject.protocol, carried, numbers, retired(entries, lock), subject.package, subject.source, options
    )


def _pages(
    view: ProtobufView, name: str, entries: tuple[NumberedPart, ...], lock: Mapping[str, int]
) -> tuple[Page, ...]:
    folder = PurePosixPath(view.api.name)
    return (
        Page(path=folder / "protobuf.py", template="python/protobuf/protobuf.py.jinja", view=view),
        Page(path=folder / "_descriptor.py", template="python/protobuf/_descriptor.py.jinja", view=view),
        Page(
            path=PurePosixPath(view.file.name),
            template="proto/protocol.proto.jinja",
            view=view,
            place="proto",
        ),
        Page(
            path=PurePosixPath(f"{name}.lock"),
            template="proto/lock.jinja",
            view=lock_view(name, entries, lock),
            place=BESIDE,
        ),
    )


def _former(subject: Subject, report: Report) -> Mapping[str, int]:
    """Return the numbers that former builds assigned."""
    try:
        return read_lock(subject.lock)
    except ValueError as error:
        report.error(
            "WG5012",
            f"the lock of `{subject.protocol.name}` is damaged: {error}",
            None,
            help="restore it from version control; without it, numbers could change unnoticed",
        )
        return {}


def _report(fault: WrongNumber, subject: Subject, report: Report) -> None:
    entry, place = fault.entry, subject.origins.get(fault.entry.path)
    if fault.other == entry.name:
        message = f"the protobuf number of `{entry.name}` would change from {fault.locked} to {entry.number}"
        help_ = f"keep it with `@tag({fault.locked})`, or declare the new ones after the old ones"
    else:
        message = (
            f"`{entry.name}` would get the protobuf number {entry.number}, which belongs to `{fault.other}`"
        )
        help_ = "give it a number that was never used, with `@tag(n)`; if it was only renamed, change its line in the lock"
    report.error("WG5010", message, place, label="here", help=help_)
