"""The whole build: .wire files in, a tree of output files out; files are written only without errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from wiregen import __version__
from wiregen.generate.backends import BESIDE, Backend, Page, Subject, blamed, load_backends, pages_of
from wiregen.generate.emitter import COPIED_RUNTIME, as_laid_out, render, rendered_text, target_suffix
from wiregen.generate.frontend import as_shown, load_protocol
from wiregen.generate.protocol_files import protocol_files
from wiregen.generate.python_layout import blackened, lay_out
from wiregen.generate.runtime_features import features_of
from wiregen.generate.runtime_files import FOLDER, runtime_files, whole_runtime
from wiregen.generate.writer import Output
from wiregen.language.config import Config
from wiregen.language.diagnostics import Report, did_you_mean
from wiregen.language.source import SUFFIX, Sources, shipped_protocols
from wiregen.schema.lowering import lower

if TYPE_CHECKING:
    from wiregen.generate.plugins import Plugin

__all__ = ["TreeView", "build"]

_DISTRIBUTIONS: Final = {"wiregen.runtime": "wiregen"}
"""The distributions of runtimes whose names differ from their packages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeView:
    """The content of the files around the protocols' packages."""

    package: str
    version: str
    protocols: tuple[str, ...]
    extras: tuple[tuple[str, str], ...]
    """Each backend that needs a library, with that library."""
    requires: str = ""
    """The distribution of the runtime that the packages share, or "" if the tree has its own copy."""


def build(
    config: Config,
    names: tuple[str, ...],
    sources: Sources,
    report: Report,
    *,
    at_page: Callable[[PurePosixPath], None] = lambda path: None,
    at_lock: Callable[[Path, bytes], None] = lambda path, content: None,
    plugins: tuple[Plugin, ...] = (),
) -> tuple[Output, ...]:
    """Return the files of the generated tree, to be written only if the report holds no error.

    `names`: only these protocols, or all of the configuration if it is empty. `at_page` is called with the
    path of each page before it is printed, which takes a while for a large protocol. `at_lock` is called with
    each lock to be written next to the .wire files. The plug-ins run after everything else has succeeded.
    """
    if config.runtime_package is not None:
        return _shared_runtime(config.runtime_package, names, report)
    backends = load_backends(config.backends, report)
    _need_formatter(config, report)
    subjects = _subjects(config, names, sources, report)
    pages = tuple(_pages(subjects, backends, report))
    if report.has_errors:
        return ()
    files = {path.stem: path for path in protocol_files(config)}
    built = {PurePosixPath(subject.source).stem: subject.protocol.name for subject in subjects}
    tree = TreeView(
        package=config.package,
        version=__version__,
        protocols=tuple(built.get(stem, stem) for stem in files),
        extras=tuple((backend.name, backend.requires) for backend in backends if backend.requires),
        requires=_DISTRIBUTIONS.get(config.runtime or "", config.runtime or ""),
    )
    root = PurePosixPath("python", *config.package.split("."))
    wires = {name: files[stem] for stem, name in built.items()}
    for backend, page in pages:
        if page.place == BESIDE:
            for lock in _finished(_printed(backend, page, root, at_page, report, config.runtime), report):
                at_lock(wires[page.path.stem].with_suffix(page.path.suffix), lock.content)
    rendered = tuple(
        each
        for backend, page in pages
        if page.place != BESIDE
        for each in _printed(backend, page, root, at_page, report, config.runtime)
    )
    lay_out(each.text for each in rendered if each.suffix == ".py")
    printed = tuple(_finished(rendered, report))
    outputs = (
        Output(path=PurePosixPath("pyproject.toml"), content=_text("python/tree/pyproject.toml.jinja", tree)),
        Output(path=root / "__init__.py", content=_text("python/tree/__init__.py.jinja", tree)),
        Output(path=root / "py.typed", content=b""),
        *(() if config.runtime else _runtime(root / FOLDER, printed, subjects, config)),
        *printed,
    )
    if config.formatter == "black":
        outputs = tuple(map(_blackened, outputs))
    return (*outputs, *_plugged(plugins, subjects, outputs, config.package, report))


def _need_formatter(config: Config, report: Report) -> None:
    """Report a formatter that is not installed."""
    if config.formatter == "black" and find_spec("black") is None:
        way_out = "run `pip install black`, or remove `formatter` from the configuration"
        message = 'the configuration sets `formatter = "black"`, but black is not installed'
        report.error("WG6008", message, None, help=way_out)


def _shared_runtime(package: str, names: tuple[str, ...], report: Report) -> tuple[Output, ...]:
    """Return the tree of the whole runtime as a package of its own."""
    if names:
        help_ = "build protocols in a project without `runtime_package`"
        report.error(
            "WG5003", f"a project with `runtime_package` has no protocol `{names[0]}`", None, help=help_
        )
        return ()
    root = PurePosixPath("python", *package.split("."))
    tree = TreeView(package=package, version=__version__, protocols=(), extras=())
    return (
        Output(path=PurePosixPath("pyproject.toml"), content=_text("python/tree/pyproject.toml.jinja", tree)),
        Output(path=root / "py.typed", content=b""),
        *(Output(path=root / path, content=content) for path, content in whole_runtime()),
    )


def _blackened(output: Output) -> Output:
    """Return a file as black formats it; files other than Python are unchanged."""
    if output.path.suffix not in {".py", ".pyi"}:
        return output
    text = blackened(output.content.decode(), is_stub=output.path.suffix == ".pyi")
    return replace(output, content=text.encode())


def _plugged(
    plugins: tuple[Plugin, ...],
    subjects: tuple[Subject, ...],
    outputs: tuple[Output, ...],
    package: str,
    report: Report,
) -> tuple[Output, ...]:
    if not plugins:
        return ()
    from wiregen.generate.plugins import files_of

    return files_of(plugins, subjects, outputs, package, report)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rendered:
    """The text of a page before Python is formatted, and its place in the tree."""

    backend: Backend
    page: Page
    path: PurePosixPath
    text: str

    @property
    def suffix(self) -> str:
        return target_suffix(self.page.template)


def _printed(
    backend: Backend,
    page: Page,
    root: PurePosixPath,
    at_page: Callable[[PurePosixPath], None],
    report: Report,
    runtime: str | None,
) -> Iterator[_Rendered]:
    """Yield the text of a page, unless the backend's template fails."""
    path = root / page.path if page.place is None else PurePosixPath(page.place) / page.path
    at_page(path)
    with blamed(backend, str(page.path), report):
        text = rendered_text(page.template, page.view, page.templates, runtime or COPIED_RUNTIME)
        yield _Rendered(backend=backend, page=page, path=path, text=text)


def _finished(rendered: Iterable[_Rendered], report: Report) -> Iterator[Output]:
    """Yield the files of pages, unless a text that should be Python is not."""
    for each in rendered:
        with blamed(each.backend, str(each.page.path), report):
            yield Output(path=each.path, content=as_laid_out(each.page.template, each.text).encode())


def _subjects(
    config: Config, names: tuple[str, ...], sources: Sources, report: Report
) -> tuple[Subject, ...]:
    files = {path.stem: path for path in protocol_files(config)}
    for name in dict.fromkeys((*(config.protocols or ()), *names, *config.proto_options.protocols)):
        if name not in files:
            help_ = did_you_mean(name, files) or f"protocols here: {', '.join(files) or 'none'}"
            if (shipped_protocols() / f"{name}{SUFFIX}").is_file():
                help_ = f'to build the one that wiregen ships, write `protocols = ["{name}"]` in wiregen.toml'
            report.error("WG5003", f"there is no protocol `{name}`", None, help=help_)
    chosen = [path for name, path in files.items() if not names or name in names]
    found = (load_protocol(as_shown(path), sources, report, config.sources) for path in chosen)
    return tuple(
        replace(
            subject,
            package=config.package,
            has_connections=config.sessions,
            proto_options=config.proto_options.of(PurePosixPath(subject.source).stem),
        )
        for subject in found
        if subject is not None
    )


def _pages(
    subjects: tuple[Subject, ...], backends: tuple[Backend, ...], report: Report
) -> Iterator[tuple[Backend, Page]]:
    for subject in (each for each in subjects if each.protocol.frames):
        for backend in backends:
            yield from ((backend, page) for page in pages_of(backend, subject, report))


def _runtime(
    folder: PurePosixPath, printed: tuple[Output, ...], subjects: tuple[Subject, ...], config: Config
) -> Iterator[Output]:
    """Yield unchanged copies of the runtime's modules that the printed code needs."""
    texts = [output.content.decode() for output in printed if output.path.suffix == ".py"]
    features = {feature for subject in subjects for feature in features_of(lower(subject.protocol))}
    for path, content in runtime_files(texts, features, has_columns="columns" in config.backends):
        yield Output(path=folder / path, content=content)


def _text(template: str, view: object) -> bytes:
    return render(template, view).encode()
