"""`wiregen spark decode`, `check`, `pairs`, `profile` …: jobs on traffic, as lines of JSON or as Parquet."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS
from wiregen.tools.cli.spark_session import Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["jobs"]

_DOCS = {
    "check": "Check the connections in SOURCE against the sessions of their protocol. Exits with 1 if a rule was broken.",
    "coverage": "Count the elements of the protocol that occur in SOURCE: messages, fields, enum members, alternatives, transitions, violations.",
    "decode": "Print the frames in SOURCE, each with its fields.",
    "levels": "Print the windows, credits and waiting lists of the sessions in SOURCE over time.",
    "pairs": "Print each request in SOURCE with its answer and the time between them.",
    "profile": "Print the number and size of the messages in SOURCE over time.",
}
_OF_THE_TABLE = ("profile",)
_FAILING = ("check",)


def _verb(name: str) -> click.Command:
    @click.command(name, cls=Job, help=_DOCS[name])
    @click.argument("source", nargs=-1, required=True)
    @shared_options.spark_protocol
    @shared_options.spark_role
    @shared_options.variant
    @shared_options.capture_port
    @shared_options.strict
    @click.option(
        "-o", "--output", metavar="FOLDER", help="Write Parquet to FOLDER. Default: JSON lines to stdout."
    )
    @shared_options.spark_master
    @shared_options.spark_remote
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
