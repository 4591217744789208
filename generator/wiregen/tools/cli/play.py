"""`wiregen play`: bytes as coloured trees in a browser on this computer."""

import functools
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, Failure
from wiregen.tools.cli.messages import tell
from wiregen.tools.cli.protocols import configuration, load

if TYPE_CHECKING:
    from wiregen.schema import model as m
    from wiregen.site.loopback import Reply, Request

__all__ = ["answer_of", "pages", "questions_of", "verb"]


@click.command("play")
@shared_options.protocols
@shared_options.local_port
def verb(names: tuple[str, ...], port: int) -> int:
    """Serve a playground for the protocols NAME, or for all, until Ctrl-C: paste bytes, see their fields, edit a field.

    It includes their documentation, which is built when it is first opened. Its examples link to the playground.

    Only requests from this computer with the printed address are answered. Their bytes are not stored.
    """
    from wiregen.generate.protocol_files import protocol_files
    from wiregen.language.diagnostics import Report
    from wiregen.site.loopback import Loopback
    from wiregen.site.playground.worker import Workshop

    config = configuration(Report())
    chosen = names or tuple(path.stem for path in protocol_files(config)) or _shipped()
    for name in chosen:
        _protocol(name)
    workshop = Workshop(functools.partial(questions_of, chosen))
    try:
        server = Loopback(answer_of(workshop.ask, _Site(chosen)), port=port)
    except OSError as error:
        raise Failure(
            f"cannot listen on port {port}: {error.strerror}", "give another port, or remove --port"
        ) from None
    with server:
        tell(f"the playground is at {server.url}")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return DONE
        finally:
            workshop.close()
    return DONE


def _shipped() -> tuple[str, ...]:
    from wiregen.language.source import shipped_protocols

    return tuple(sorted(path.stem for path in Path(shipped_protocols()).glob("*.wire")))


def questions_of(names: tuple[str, ...]) -> Callable[[object], dict[str, object]]:
    """Return the function that answers the page's questions; it is made in a process of its own."""
    from wiregen.language.diagnostics import Report
    from wiregen.site.playground.questions import Questions

    return Questions(names, _protocol, configuration(Report()).package).answer


def _protocol(name: str) -> "m.Protocol":
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Sources
    from wiregen.tools.cli.protocols import stop

    report, sources = Report(), Sources()
    subject = load(name, configuration(report), sources, report)
    if subject is None or report.has_errors:
        stop(report, sources)
    return subject.protocol


class _Site:
    """The documentation of the protocols; its pages are built when one of them is first requested."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._first = pages()
        self._files: dict[str, bytes] | None = None
        self._lock = threading.Lock()

    def __call__(self, name: str) -> bytes | None:
        """Return a file, or None if it does not exist.

        Raises:
            Failure, SystemExit: The site cannot be built.
        """
        from wiregen.language.diagnostics import Report
        from wiregen.tools.cli.docs_build import site_of

        if name in self._first:
            return self._first[name]
        with self._lock:
            if self._files is None:
                outputs = site_of(configuration(Report()), self._names, "server")
                self._files = {str(output.path): output.content for output in outputs}
        return self._files.get(name)


def answer_of(
    ask: Callable[[object], dict[str, object]], site: Callable[[str], bytes | None]
) -> "Callable[[Request], Reply]":
    """Return the function that answers a browser: with the files of the site, and its playground's questions as JSON."""
    from wiregen.site.loopback import Reply
    from wiregen.site.pages.page_paths import PLAYGROUND

    def answer(request: "Request") -> "Reply":
        if request.method == "POST":
            if request.path != f"{PLAYGROUND}/ask":
                return Reply(status=404, body=b"404\n")
            try:
                question = json.loads(request.body)
            except (ValueError, RecursionError):
                return Reply(status=400, body=b"400\n")
            return Reply(body=json.dumps(ask(question)).encode(), kind="application/json")
        if not request.path:
            return Reply(status=302, body=b"", location=f"{PLAYGROUND}/index.html")
        return _page_of(site, request.path)

    return answer


def _page_of(site: Callable[[str], bytes | None], name: str) -> "Reply":
    """Return a file of the documentation."""
    from wiregen.site.loopback import Reply
    from wiregen.tools.cli.docs_serve import KINDS

    try:
        content = site(name)
    except (Failure, SystemExit):
        return Reply(status=503, body=b"the documentation cannot be made: wiregen docs build says why\n")
    if content is None:
        return Reply(status=404, body=b"there is no such page\n")
    return Reply(body=content, kind=KINDS.get(name.rpartition(".")[2], "application/octet-stream"))


def pages() -> dict[str, bytes]:
    """Return the files that the playground needs, by name."""
    from wiregen.site.pages.site import playground_files

    return {str(output.path): output.content for output in playground_files("server")}
