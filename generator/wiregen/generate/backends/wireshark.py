"""The Wireshark backend: a dissector in Lua for each protocol."""

from __future__ import annotations

from pathlib import PurePosixPath

from wiregen.generate.backends import Page, Subject
from wiregen.generate.views.wireshark.module import wireshark_view
from wiregen.language.diagnostics import Report

__all__ = ["WiresharkBackend"]


class WiresharkBackend:
    """Prints `wireshark/<protocol>.lua`, one file that needs no other."""

    name = "wireshark"
    requires = ""

    def pages(self, subject: Subject, report: Report) -> tuple[Page, ...]:
        """Return the page; parts that Lua cannot read are shown as bytes and listed at the head of the file."""
        view = wireshark_view(subject.protocol, subject.source)
        return (
            Page(
                path=PurePosixPath(f"{view.name}.lua"),
                template="wireshark/protocol.lua.jinja",
                view=view,
                place="wireshark",
            ),
        )
