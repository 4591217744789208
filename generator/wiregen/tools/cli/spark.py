"""`wiregen spark`: the pipeline's jobs. Spark and Java are needed only when one of them runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS
from wiregen.tools.cli.spark_jobs import jobs
from wiregen.tools.cli.spark_session import Job

if TYPE_CHECKING:
    from wirespark.conversion import Summary

__all__ = ["verb"]


@click.group("spark", subcommand_metavar="JOB [ARGUMENTS]...")
def verb() -> None:
    """Convert captured traffic to tables, with Spark. Install the extra `spark`, and `spark-java` if Java is missing."""


@verb.command("convert", cls=Job)
@click.argument("source", nargs=-1, required=True)
@click.argument("target")
@shared_options.spark_protocol
@shared_options.spark_role
@shared_options.variant
@shared_options.capture
@shared_options.capture_port
@click.option(
    "--mode",
    type=click.Choice(["permissive", "dropmalformed", "failfast"]),
    default="permissive",
    show_default=True,
    help="Bytes that cannot be decoded: write a row with the error, drop the row, or stop.",
)
@shared_options.strict
@shared_options.limits
@click.option(
    "--split",
    metavar="SIZE",
    default="64MiB",
    show_default=True,
    help="Size of the part of a file that one task reads.",
)
@shared_options.spark_master
@shared_options.spark_remote
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
    _print(summary)
    return FINDINGS if summary.errors else DONE


for _job in jobs:
    verb.add_command(_job)


def _print(summary: Summary) -> None:
    """Print the summary of a conversion."""
    rows = [("bytes", f"{summary.size:,}"), ("frames and errors", f"{summary.rows:,}")]
    rows += [(f"  {name}", f"{count:,}") for name, count in summary.messages.items()]
    rows += [("left out", f"{summary.dropped:,}")] if summary.dropped else []
    rows += [(f"  error {code}", f"{count:,}") for code, count in summary.errors.items()]
    rows += [("parts", f"{summary.parts:,}, of which {summary.resumed:,} were done before")]
    rows += [("time", f"{summary.seconds:.1f} s, {summary.mb_per_second:.1f} MB/s")]
    width = max(len(name) for name, _ in rows)
    sys.stdout.write("".join(f"{name:<{width}}  {text}\n" for name, text in rows))
