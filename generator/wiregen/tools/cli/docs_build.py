"""`wiregen docs build`: the site of the project's protocols, written into one folder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, USAGE, Failure
from wiregen.tools.cli.messages import tell
from wiregen.tools.cli.protocols import configuration, stop

if TYPE_CHECKING:
    from wiregen.conformance.vectors.format import VectorFile
    from wiregen.generate.backends import Subject
    from wiregen.generate.writer import Output
    from wiregen.language.config import Config
    from wiregen.language.source import Sources
    from wiregen.site.pages.chapter import Carry, Chapter
    from wiregen.site.pages.playground_page import Transport
    from wiregen.site.pages.sample_frame import Sample

__all__ = ["site_of", "verb"]

_FOLDER = "site"
_VECTORS = "vectors"


@click.command("build")
@shared_options.protocols
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    help=f"Output folder of the site. Default: `{_FOLDER}` next to the configuration.",
)
@shared_options.playground
def verb(names: tuple[str, ...], output: str | None, pyodide: Path | None) -> int:
    """Build the site of the protocols NAME. Without NAME, build that of all protocols of the configuration.

    Open its index.html: it works without a server and loads nothing from other computers. Files of an earlier run that
    are no longer needed are deleted.
    """
    from wiregen.generate.freshness import built_site, is_fresh, remember
    from wiregen.language.diagnostics import Report

    config = configuration(Report())
    folder = config.root / _FOLDER if output is None else Path(output)
    tree, inputs = built_site(config, folder), None if names else _inputs(config, pyodide)
    if is_fresh(tree, inputs):
        return _say_fresh(folder)
    left_out: list[Path] = []
    playground: Transport = "none" if pyodide is None else "worker"
    code = _written(site_of(config, names, playground, pyodide, at_left_out=left_out.append), folder)
    # Otherwise a message has to be repeated, or an input changed.
    if not left_out and inputs == _inputs(config, pyodide):
        remember(tree, inputs)
    return code


def _inputs(config: "Config", pyodide: Path | None) -> str | None:
    """Return the hash of all inputs of the site of all protocols, or None if it cannot be determined."""
    from wiregen.generate.freshness import inputs_of_site
    from wiregen.site.pages.guide_files import guide_files
    from wiregen.site.playground.pyodide_package import package_files

    vectors = sorted((config.output / _VECTORS).glob("*.json"))
    package = () if pyodide is None else package_files(pyodide)
    return inputs_of_site(config, (*guide_files().values(), *vectors, *package))


def site_of(
    config: "Config",
    names: tuple[str, ...],
    playground: "Transport" = "none",
    pyodide: Path | None = None,
    *,
    at_left_out: Callable[[Path], None] = lambda path: None,
) -> "tuple[Output, ...]":
    """Return the files of the site; exit if a protocol has errors. `at_left_out` is called with each file that is not valid."""
    from wiregen.language.source import Sources
    from wiregen.site.pages.site import build_site
    from wiregen.site.playground.pyodide_package import VERSION, PackageError
    from wiregen.tools.cli.progress import progress_of_pages

    sources = Sources()
    subjects = _subjects(config, names, sources)
    chapters = [_chapter(subject, config, sources, at_left_out) for subject in subjects]
    with progress_of_pages() as at_page:
        try:
            return build_site(
                chapters, at_page=at_page, has_guide=True, playground=playground, pyodide=pyodide
            )
        except PackageError as error:
            way_out = f"npm pack pyodide@{VERSION}, unpack the archive, and give its folder `package`"
            raise Failure(str(error), way_out, code=USAGE) from None


def _subjects(config: "Config", names: tuple[str, ...], sources: "Sources") -> "list[Subject]":
    from wiregen.generate.protocol_files import protocol_files
    from wiregen.language.diagnostics import Report
    from wiregen.tools.cli.protocols import chosen_names, load

    report = Report()
    chosen = names or chosen_names(protocol_files(config), config)
    found = [load(name, config, sources, report) for name in dict.fromkeys(chosen)]
    if report.has_errors:
        stop(report, sources)
    return [subject for subject in found if subject is not None]


def _chapter(
    subject: "Subject", config: "Config", sources: "Sources", at_left_out: Callable[[Path], None]
) -> "Chapter":
    from wiregen.site.pages.chapter import Chapter
    from wiregen.site.pages.declarations import wire_text

    def text_of(path: str) -> str:
        span = subject.origins.get(path)
        return "" if span is None else wire_text(sources[span.source].text, span.start, span.end)

    vectors, text = _vectors(subject.protocol.name, config, at_left_out)
    return Chapter(
        protocol=subject.protocol,
        text_of=text_of,
        package=config.package,
        has_columns="columns" in config.backends,
        vectors=vectors,
        vectors_text=text,
        carry=_carry(subject, config, sources),
    )


def _vectors(
    name: str, config: "Config", at_left_out: Callable[[Path], None]
) -> "tuple[VectorFile | None, bytes]":
    """Return the vectors that `wiregen vectors build` wrote for a protocol, if it did, and the bytes of the file."""
    from wiregen.conformance.judge.vector_files import MOST_BYTES
    from wiregen.conformance.vectors.format import VectorsError, read_vectors
    from wiregen.language.regular_files import read_regular
    from wiregen.language.source import as_shown

    path = config.output / _VECTORS / f"{name}.json"
    try:
        content = read_regular(path, MOST_BYTES, follow_links=False)
    except OSError:
        return None, b""
    try:
        return read_vectors(content), content
    except VectorsError as error:
        tell(f"{as_shown(path)}: left out, because it is not a valid file of vectors: {error}")
        at_left_out(path)
        return None, b""


def _carry(subject: "Subject", config: "Config", sources: "Sources") -> "Carry":
    """Return a function that encodes a sample in the configuration's other serializations."""
    from wiregen.generate.packages import make
    from wiregen.generate.serialization import NATIVE
    from wiregen.language.diagnostics import Report

    others = tuple(name for name in config.backends if name != NATIVE)
    if not others or not subject.protocol.frames:
        return lambda sample: {}
    report = Report()
    package = make(subject, others, report)
    if package is None:
        stop(report, sources)
    try:
        ways = package.carriers()
    except ImportError as error:
        message, _, way_out = str(error).partition(": ")
        raise Failure(
            message, way_out or "the pages show the bytes of every backend of the configuration"
        ) from None

    def carry(sample: "Sample") -> Mapping[str, bytes]:
        from wiregen.runtime.codec.errors import EncodeError
        from wiregen.runtime.codec.options import Options

        carried = {}
        for way in ways:
            options = Options(sample.scene.role, context=sample.known, variant=sample.scene.variant)
            try:
                carried[way.name] = way.write(sample.tree.value, options)
            except EncodeError:  # a sample that cannot be carried is not shown
                continue
        return carried

    return carry


def _written(outputs: "tuple[Output, ...]", folder: Path) -> int:
    from wiregen.generate.writer import WriteError, write
    from wiregen.language.source import as_shown

    try:
        written = write(outputs, folder, at_wait=tell)
    except WriteError as error:
        raise Failure(
            str(error), "remove the obstacle that the message names; no file was changed", code=USAGE
        ) from None
    if not (written.changed or written.deleted):
        return _say_fresh(folder)
    tell(f"{as_shown(folder)}: {len(written.changed)} files written, {len(written.deleted)} deleted")
    return DONE


def _say_fresh(folder: Path) -> int:
    from wiregen.language.source import as_shown

    tell(f"{as_shown(folder)}: up to date")
    return DONE
