"""`wiregen docs serve`: the site in a browser on this computer, rebuilt at every change."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import Failure
from wiregen.tools.cli.messages import tell
from wiregen.tools.cli.protocols import configuration

if TYPE_CHECKING:
    from wiregen.generate.writer import Output
    from wiregen.site.loopback import Reply, Request
    from wiregen.site.pages.playground_page import Transport

__all__ = ["KINDS", "Served", "verb"]

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "wasm": "application/wasm",
    "zip": "application/zip",
}
_RELOADER = b"""// Asks now and then whether the site was made again, and loads the page anew if it was; says when it could not be.
"use strict";
(() => {
  const own = document.currentScript.dataset.version;
  const version = new URL("version", document.currentScript.src);
  const sign = document.createElement("p");
  sign.setAttribute("class", "note warn broken");
  sign.setAttribute("role", "status");
  document.body.prepend(sign);
  setInterval(async () => {
    const reply = await fetch(version).catch(() => null);
    if (!reply || !reply.ok) return;
    const [now, wrong] = (await reply.text()).split(" ");
    if (now !== own) location.reload();
    sign.textContent = wrong ? "The source is wrong: this is the site as it was before. The terminal says more." : "";
  }, 700);
})();
"""


class Served:
    """The files that are served; another thread may replace them."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._version = 0
        self._is_wrong = False
        self._lock = threading.Lock()

    def put(self, outputs: "tuple[Output, ...]") -> bool:
        """Replace the files by those of a new site; return whether anything changed."""
        files = {str(output.path): output.content for output in outputs}
        with self._lock:
            is_new = files != self._files
            self._files = files
            self._version += is_new
            self._is_wrong = False
        return is_new

    def miss(self) -> None:
        """Record that the site cannot be built now: pages say so."""
        with self._lock:
            self._is_wrong = True

    def answer(self, request: "Request") -> "Reply":
        """Return a file; pages ask for the version by themselves."""
        from wiregen.site.loopback import Reply
        from wiregen.site.pages.page_paths import PLAYGROUND

        if request.method == "POST":
            return Reply(status=405, body=b"405\n")
        name = request.path or "index.html"
        with self._lock:
            content, version, is_wrong = self._files.get(name), self._version, self._is_wrong
        if name == "version":
            return Reply(body=f"{version}{' wrong' if is_wrong else ''}".encode())
        if name == "reload.js":
            return Reply(body=_RELOADER, kind=KINDS["js"])
        if content is None and is_wrong and not version:
            return Reply(status=503, body=b"the source is wrong: the terminal says more\n")
        if content is None:
            return Reply(status=404, body=b"there is no such page\n")
        suffix = name.rpartition(".")[2]
        if suffix == "html":
            root = "../" * name.count("/")
            script = f'<script src="{root}reload.js" data-version="{version}"></script>\n</body>'.encode()
            content = content.replace(b"</body>", script)
        compiles = name in (f"{PLAYGROUND}/index.html", f"{PLAYGROUND}/worker.js")
        return Reply(body=content, kind=KINDS.get(suffix, "application/octet-stream"), compiles=compiles)


@click.command("serve")
@shared_options.protocols
@shared_options.local_port
@shared_options.playground
def verb(names: tuple[str, ...], port: int, pyodide: Path | None) -> int:
    """Serve the site of the protocols NAME, or of all protocols, to a browser on this computer, until Ctrl-C.

    Pages reload when a source changes. Only requests with the printed address are answered. No file is
    written.
    """
    from wiregen.language.diagnostics import Report
    from wiregen.site.loopback import Loopback
    from wiregen.tools.cli.docs_build import site_of
    from wiregen.tools.cli.watch import watch_sources

    served = Served()
    playground: Transport = "none" if pyodide is None else "worker"

    def build() -> int:
        try:
            outputs = site_of(configuration(Report()), names, playground, pyodide)
        except (Failure, click.exceptions.Exit):
            served.miss()
            raise
        if served.put(outputs):
            tell("the site is built")
        return 0

    try:
        server = Loopback(served.answer, port=port)
    except OSError as error:
        raise Failure(
            f"cannot listen on port {port}: {error.strerror}", "give another port, or remove --port"
        ) from None
    with server:
        tell(f"the site is at {server.url}")
        return watch_sources(build)
