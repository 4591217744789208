"""The page of the playground, with its scripts; for a site without a server, also the codec as files for the browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal, TypeAlias

from wiregen.generate.own_files import templates_folder
from wiregen.generate.writer import Output
from wiregen.site.pages.page_paths import PLAYGROUND, Linked
from wiregen.site.pages.views import Shell
from wiregen.site.playground.pyodide_package import VERSION

__all__ = ["PlaygroundView", "Transport", "playground_page", "playground_scripts"]

Transport: TypeAlias = Literal["none", "server", "worker"]
"""How the page asks: not at all, a server by HTTP, or a worker of the browser that runs the codec."""
_FORM: Final = ("play.js", "play.css")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaygroundView:
    """The page of the playground; `version`: of Pyodide."""

    shell: Shell
    transport: Transport
    version: str = VERSION

    @property
    def is_here(self) -> bool:
        """Return whether the page reads bytes itself."""
        return self.transport != "none"

    @property
    def is_static(self) -> bool:
        """Return whether the codec runs in the browser."""
        return self.transport == "worker"


def playground_page(transport: Transport) -> PlaygroundView:
    """Return the page."""
    shell = Shell(
        title="Playground",
        root="../",
        here="index",
        crumbs=(Linked(text="Protocols", url="../index.html"), Linked(text="Playground")),
        sections=(),
    )
    return PlaygroundView(shell=shell, transport=transport)


def playground_scripts(transport: Transport) -> Iterator[Output]:
    """Yield the scripts and styles that the page loads."""
    names = {"none": (), "server": _FORM, "worker": (*_FORM, "worker.js")}[transport]
    for name in names:
        content = (templates_folder() / "play" / name).read_bytes()
        yield Output(path=PurePosixPath(PLAYGROUND, name), content=content)
