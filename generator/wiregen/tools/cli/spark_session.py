"""A Spark session for one job, and the package of the protocol that the user named, which its workers get."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from wiregen.tools.cli.failure import Failure
from wiregen.tools.cli.protocols import configuration, stop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Job", "bare", "check_output", "opened"]

_PACKAGE: Final = "wiregen_built"
_QUIET: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_LOG: Final = """
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n%ex
# What Spark takes for a shell says what its level is if that is not the root's; what fails in a worker is said once, by the command.
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = error
logger.executor.name = org.apache.spark.executor
logger.executor.level = off
logger.tasks.name = org.apache.spark.scheduler
logger.tasks.level = off
"""
_LIBRARIES: Final = ("pyspark", "pyarrow", "pandas")
"""Modules of the extra `spark` that every job imports; numba only makes some jobs faster."""


@contextmanager
def opened(
    protocol: str,
    master: str | None,
    remote: str | None,
    source: tuple[str, ...],
    wishes: Mapping[str, object],
    target: str | None = None,
    settings: str = "",
) -> Iterator[tuple[SparkSession, str, dict[str, str]]]:
    """Open a session with the protocol, after its options are checked; it ends with the block.

    `settings` are the options of the protocol's sessions: `ack_reach=WINDOW,…`.
    The session comes with the protocol's name in it and the options of a read. Errors of workers are reported
    in their own words.
    """
    _check_installed()
    with tempfile.TemporaryDirectory(prefix="wiregen-spark-") as folder, _failures():
        name = _build(protocol, Path(folder))
        sys.path.insert(0, str(Path(folder, "python")))
        try:
            given = _looked_at(name, source, wishes, target, is_here=remote is None)
            _check_settings(name, settings)
            spark = _session(master, remote, Path(folder))
            try:
                with _as_it_was_said():
                    yield spark, name, given
            finally:
                spark.stop()
        finally:
            sys.path.remove(str(Path(folder, "python")))
            _forget()


@contextmanager
def bare(master: str | None, remote: str | None) -> Iterator[SparkSession]:
    """Open a session without a protocol; it ends with the block."""
    _check_installed()
    with tempfile.TemporaryDirectory(prefix="wiregen-spark-") as folder, _failures(), _as_it_was_said():
        spark = _session(master, remote, Path(folder), ())
        try:
            yield spark
        finally:
            spark.stop()


def check_output(folder: str) -> None:
    """Check that Spark may write to a folder, if it is on a disk of this computer."""
    from wirespark.disk_targets import DiskTarget
    from wirespark.storage import is_remote

    if not is_remote(folder):
        with _failures():
            DiskTarget(Path(folder.removeprefix("file:")).absolute()).check()


class Job(click.Command):
    """A command that checks for its libraries before it parses its options."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if not context.resilient_parsing and not set(args) & set(context.help_option_names):
            _check_installed()
        return super().parse_args(context, args)


def _check_installed() -> None:
    """Raise a Failure that names the extra if one of its libraries is missing."""
    missing = [f"`{name}`" for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise Failure(
            f"`wiregen spark` needs {', '.join(missing)}",
            "pip install 'wiregen[spark]', or 'wiregen[spark,spark-java]' if Java 17 or newer is missing",
        )


def _forget() -> None:
    """Remove the imported modules of the built package: the next package has the same name."""
    from wirespark.packages import forget

    for module in [each for each in sys.modules if each.partition(".")[0] == _PACKAGE]:
        del sys.modules[module]
    forget()


@contextmanager
def _failures() -> Iterator[None]:
    """Show errors of the pipeline as failures of the command."""
    from wirespark.errors import WireSparkError

    try:
        yield
    except WireSparkError as error:
        message, _, way_out = str(error).partition(": ")
        verb = click.get_current_context().info_name
        raise Failure(message, way_out or f"`wiregen spark {verb} --help` lists the options") from None


@contextmanager
def _as_it_was_said() -> Iterator[None]:
    from wirespark.errors import as_it_was_said

    with as_it_was_said():
        yield


def _looked_at(
    name: str, source: tuple[str, ...], wishes: Mapping[str, object], target: str | None, *, is_here: bool
) -> dict[str, str]:
    """Return the options of a read, after they are checked."""
    from wirespark.conversion import look, sources, texts

    given = texts(dict(wishes))
    look(given | sources(source) | {"protocol": name}, target, is_here=is_here)
    return given


def _check_settings(name: str, settings: str) -> None:
    """Check the options of the protocol's sessions."""
    from wirespark.jobs import session_wishes

    session_wishes(name, {"options": settings})


def _session(
    master: str | None, remote: str | None, folder: Path, packages: tuple[str, ...] = (_PACKAGE,)
) -> SparkSession:
    from wirespark import session

    quiet = folder / "log4j2.properties"
    quiet.write_text(_LOG, encoding="utf-8")
    java = f"-XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile={quiet.as_uri()}"
    return session(
        "wiregen",
        packages=packages,
        master=master,
        remote=remote,
        config=_QUIET | {"spark.driver.extraJavaOptions": java} if remote is None else {},
    )


def _build(protocol: str, folder: Path) -> str:
    """Write the package of a protocol below a folder, and return its import name; exit if its file has errors."""
    from wiregen.generate.build import build
    from wiregen.generate.protocol_files import find_protocol
    from wiregen.generate.writer import write
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Sources

    report, sources = Report(), Sources()
    config = configuration(report)
    path = find_protocol(protocol, config, report)
    if path is None:
        stop(report, sources)
    config = replace(
        config,
        sources=(path.resolve().parent,),
        output=folder,
        package=_PACKAGE,
        backends=("native", "columns"),
        protocols=None,
        plugins=(),
    )
    outputs = build(config, (path.stem,), sources, report)
    if report.has_errors:
        stop(report, sources)
    write(outputs, folder)
    name = next((output.path.parent.name for output in outputs if output.path.name == "_plan.py"), path.stem)
    return f"{_PACKAGE}.{name}"
