"""`wiregen spark decode`, `check`, `pairs`, `profile` …: jobs on traffic, as lines of JSON or as Parquet."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli.failure import DONE, FINDINGS
from wiregen.tools.cli.spark_session import Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["jobs"]

_DOCS = {
    "check": "Hold the connections in SOURCE to the sessions of their protocol; exits with 1 if a rule was broken.",
    "coverage": "Count what of the protocol's model SOURCE shows: messages, fields, enum members, varieties, steps, violations.",
    "decode": "Print the frames in SOURCE, each with its fields.",
    "levels": "Print how windows, credits and waiting lists of the sessions in SOURCE change.",
    "pairs": "Print which message in SOURCE answers which, and how long that took.",
    "profile": "Print which messages SOURCE holds over time, how many, and how large.",
}
_OF_THE_TABLE = ("profile",)
_FAILING = ("check",)


def _verb(name: str) -> click.Command:
    @click.command(name, cls=Job, help=_DOCS[name])
    @click.argument("source", nargs=-1, required=True)
    @click.option("--protocol", required=True, metavar="PROTOCOL", help="A name, or a path to a .wire file.")
    @click.option(
        "--from", "role", metavar="ROLE", help="Who sent the bytes, where their files do not say it."
    )
    @click.option("--variant", metavar="NAME", help="Another layout that the protocol declares.")
    @click.option(
        "--port", type=click.IntRange(1, 65535), help="Of captures, only connections with that port."
    )
    @click.option("--strict", is_flag=True, help="Refuse what the protocol tolerates.")
    @click.option("-o", "--output", metavar="FOLDER", help="Write Parquet there; else JSON lines to stdout.")
    @click.option(
        "--master", metavar="URL", default="local[*]", show_default=True, help="The Spark to run on."
    )
    @click.option("--remote", metavar="URL", help="A Spark Connect server, in place of --master.")
    def verb(
        source: tuple[str, ...],
        protocol: str,
        output: str | None,
        master: str,
        remote: str | None,
        role: str | None,
        **wishes: object,
    ) -> int:
        return _run(
            name, source, protocol, output, None if remote else master, remote, wishes | {"from": role}
        )

    return verb


def _run(
    name: str,
    source: tuple[str, ...],
    protocol: str,
    output: str | None,
    master: str | None,
    remote: str | None,
    wishes: dict[str, object],
) -> int:
    from wiregen.tools.cli.spark_session import opened

    given = {key: value for key, value in wishes.items() if value is not False}
    with opened(protocol, master, remote, source, given) as (spark, package, options):
        import wirespark

        reader = spark.read.format("wire").option("protocol", package).options(**options)
        table = reader.load(source[0] if len(source) == 1 else list(source))
        job: Callable[..., DataFrame] = getattr(wirespark, name)
        told = {key: options[key] for key in ("variant",) if key in options}
        found = job(table) if name in _OF_THE_TABLE else job(table, package, **told)
        n_rows = _write(found, output)
    return FINDINGS if n_rows and name in _FAILING else DONE


def _write(found: DataFrame, output: str | None) -> int:
    """Write the rows; return their number, or at least a positive number if there were any."""
    if output is not None:
        found = found.cache()
        found.write.mode("overwrite").parquet(output)
        return found.count()
    n_rows, has_fields = 0, "fields" in found.columns
    for (line,) in found.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))").toLocalIterator():
        sys.stdout.write(f"{_opened(line) if has_fields else line}\n")
        n_rows += 1
    return n_rows


def _opened(line: str) -> str:
    """Return a line with its fields as an object instead of JSON in a text."""
    found = json.loads(line)
    if found["fields"] is not None:
        found["fields"] = json.loads(found["fields"])
    return json.dumps(found)


jobs = tuple(map(_verb, _DOCS))
