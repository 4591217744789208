"""`wiregen spark`: the pipeline's jobs. Spark and Java are needed only when one of them runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

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
@click.option(
    "--protocol", required=True, metavar="PROTOCOL", help="Protocol: a name, or a path to a .wire file."
)
@click.option("--from", "role", metavar="ROLE", help="Role that sent the bytes, if the files do not tell it.")
@click.option("--variant", metavar="NAME", help="Layout variant of the protocol to use.")
@click.option(
    "--pcap/--no-pcap",
    "capture",
    default=None,
    help="Treat the files as captures, or not. Default: decided by their first bytes.",
)
@click.option(
    "--port", type=click.IntRange(1, 65535), help="In captures, use only connections with this port."
)
@click.option(
    "--mode",
    type=click.Choice(["permissive", "dropmalformed", "failfast"]),
    default="permissive",
    show_default=True,
)
@click.option("--strict", is_flag=True, help="Refuse deviations that the protocol declares as lenient.")
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a limit, for example `frame=1MiB` or `count=1000`. May be repeated.",
)
@click.option(
    "--split",
    metavar="SIZE",
    default="64MiB",
    show_default=True,
    help="Size of the part of a file that one task reads, in bytes.",
)
@click.option(
    "--master", metavar="URL", default="local[*]", show_default=True, help="Spark master to run on."
)
@click.option(
    "--remote", metavar="URL", help="Spark Connect server to use instead of --master, for example sc://host."
)
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

    wishes |= {"from": wishes.pop("role"), "limits": ",".join(limits) or None}
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
    rows = [("bytes", f"{summary.size:,}"), ("frames and faults", f"{summary.rows:,}")]
    rows += [(f"  {name}", f"{count:,}") for name, count in summary.messages.items()]
    rows += [("left out", f"{summary.dropped:,}")] if summary.dropped else []
    rows += [(f"  error {code}", f"{count:,}") for code, count in summary.errors.items()]
    rows += [("parts", f"{summary.parts:,}, of which {summary.resumed:,} were done before")]
    rows += [("time", f"{summary.seconds:.1f} s, {summary.mb_per_second:.1f} MB/s")]
    width = max(len(name) for name, _ in rows)
    sys.stdout.write("".join(f"{name:<{width}}  {text}\n" for name, text in rows))
