"""`wiregen spark`: the pipeline's jobs. Spark and Java are needed only when one of them runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS
from wiregen.tools.cli.spark_jobs import jobs
from wiregen.tools.cli.spark_options import of_reading, of_spark
from wiregen.tools.cli.spark_session import Job

if TYPE_CHECKING:
    from wirespark.conversion import Summary

__all__ = ["print_summary", "verb"]


_Command = TypeVar("_Command", bound=Callable[..., object])


def _of_files(command: _Command) -> _Command:
    """Add the options of Parquet files to a command."""
    command = click.option(
        "--compression",
        type=click.Choice(["snappy", "zstd", "gzip", "lz4", "none"]),
        default="snappy",
        show_default=True,
        help="Compression of the Parquet files.",
    )(command)
    return click.option(
        "--filesize",
        metavar="SIZE",
        default="128MiB",
        show_default=True,
        help="Size up to which small inputs or files share files, in bytes.",
    )(command)


@click.group("spark", subcommand_metavar="JOB [ARGUMENTS]...")
def verb() -> None:
    """Convert captured traffic to tables, with Spark. Install the extra `spark`, and `spark-java` if Java is missing."""


@verb.command("convert", cls=Job)
@click.argument("source", nargs=-1, required=True)
@click.argument("target")
@of_reading
@shared_options.capture
@click.option(
    "--mode",
    type=click.Choice(["permissive", "dropmalformed", "failfast"]),
    default="permissive",
    show_default=True,
    help="Bytes that cannot be decoded: write a row with the error, drop the row, or stop.",
)
@shared_options.limits
@_of_files
@click.option(
    "--frames/--no-frames",
    default=True,
    help="Write the table `_frames`, which has all frames and errors in order, or not. Default: write it.",
)
@click.option(
    "--partition",
    type=click.Choice(["message", "date"]),
    default="message",
    show_default=True,
    help="Folders of the tables: one for each message, or in it also one for each day.",
)
@of_spark
def convert(
    source: tuple[str, ...],
    target: str,
    protocol: str,
    limits: tuple[str, ...],
    master: str,
    remote: str | None,
    **wishes: object,
) -> int:
    """Write one Parquet table per message below TARGET, from the captures and streams of SOURCE.

    An interrupted run is resumed, and finished parts are not converted again. Exits with 1 if any bytes could
    not be decoded.
    """
    from wiregen.tools.cli.spark_session import opened

    wishes |= {"from": wishes.pop("role"), "capture": wishes.pop("pcap"), "limits": ",".join(limits) or None}
    with opened(protocol, None if remote else master, remote, source, wishes, target) as (spark, name, given):
        from wiregen.tools.cli.spark_progress import watched
        from wirespark import convert as run

        with watched(source, target):
            summary = run(spark, source, target, protocol=name, **given)
    print_summary(summary)
    return FINDINGS if summary.errors else DONE


@verb.command("compact", cls=Job)
@click.argument("target")
@_of_files
@of_spark
def compact(target: str, master: str, remote: str | None, **wishes: object) -> int:
    """Merge the small files of the tables in TARGET, which `wiregen spark convert` wrote.

    The tables keep their rows, and a later conversion still knows what is done.
    """
    from wiregen.tools.cli.spark_session import bare

    with bare(None if remote else master, remote) as spark:
        from wirespark import compact as run

        done = run(spark, target, **wishes)
    sys.stdout.write(f"{done.before:,} files became {done.after:,}\n")
    return DONE


for _job in jobs:
    verb.add_command(_job)


def print_summary(summary: Summary) -> None:
    """Print the summary of a conversion."""
    rows = [("bytes", f"{summary.size:,}"), ("frames and errors", f"{summary.rows:,}")]
    if summary.size and not summary.rows and not summary.dropped:
        rows.append(("no frames", "try another --port or --protocol"))
    rows += [(f"  {name}", f"{count:,}") for name, count in summary.messages.items()]
    rows += [(f"  {name} (inner)", f"{count:,}") for name, count in summary.inner.items()]
    rows += [("left out", f"{summary.dropped:,}")] if summary.dropped else []
    rows += [(f"  error {code}", f"{count:,}") for code, count in summary.errors.items()]
    rows += [("missing", _losses(summary))] if summary.missing or summary.issues else []
    rows += [("parts", f"{summary.parts:,}, of which {summary.resumed:,} were done before")]
    rows += [("replaced", _replaced(summary))] if summary.replaced else []
    rows += [("time", f"{summary.seconds:.1f} s, {summary.mb_per_second:.1f} MB/s")]
    width = max(len(name) for name, _ in rows)
    sys.stdout.write("".join(f"{name:<{width}}  {text}\n" for name, text in rows))


def _replaced(summary: Summary) -> str:
    """Return how many rows of earlier runs are no more there, and why."""
    reason = "their files have changed, or were read with other options"
    return f"{summary.replaced:,} frames and errors of earlier runs: {reason}"


def _losses(summary: Summary) -> str:
    """Return what the captures lack, in one line."""
    issues = ", ".join(f"{name} {count:,}" for name, count in summary.issues.items())
    return f"{summary.missing:,} bytes in captures" + (f" ({issues})" if issues else "")
