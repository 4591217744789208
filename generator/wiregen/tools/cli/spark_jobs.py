"""`wiregen spark decode`, `check`, `pairs`, `profile` …: jobs on traffic, as lines of JSON or as Parquet."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS
from wiregen.tools.cli.messages import tell
from wiregen.tools.cli.spark_options import of_reading, of_spark
from wiregen.tools.cli.spark_session import Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["jobs"]

_DOCS = {
    "check": "Check the connections in SOURCE against the sessions of their protocol. Exits with 1 if a rule was broken.",
    "coverage": "Count the elements of the protocol that occur in SOURCE: messages, fields, enum members, alternatives, transitions, violations.",
    "decode": "Print the frames in SOURCE, each with its fields.",
    "latencies": "Print how long answers took in SOURCE: percentiles in seconds by request and answer.",
    "levels": "Print the windows, credits and waiting lists of the sessions in SOURCE over time.",
    "pairs": "Print each request in SOURCE with its answer and the seconds between them, or without one and with its age.",
    "profile": "Print the number and size of the messages in SOURCE over time.",
}
_JSON: Final = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
"""The options of Spark's JSON; its own form of times ends at milliseconds."""
_OF_THE_TABLE = ("profile",)
_OF_SESSIONS: Final = ("check", "coverage", "latencies", "levels", "pairs")
_OWN: Final = dict.fromkeys(_OF_SESSIONS, (shared_options.session_options,)) | {
    "profile": (
        click.option(
            "--seconds", type=float, default=1.0, show_default=True, help="Length of an interval of time."
        ),
        click.option(
            "--by",
            multiple=True,
            type=click.Choice(["file", "flow"]),
            help="Count each file or connection by itself. May be repeated.",
        ),
    )
}
"""The options of single jobs; these are the arguments of their functions."""


def _verb(name: str) -> click.Command:
    own = _OWN.get(name, ())

    @click.command(name, cls=Job, help=_DOCS[name])
    @click.argument("source", nargs=-1, required=True)
    @of_reading
    @click.option(
        "-o", "--output", metavar="FOLDER", help="Write Parquet to FOLDER. Default: JSON lines to stdout."
    )
    @of_spark
    def verb(
        source: tuple[str, ...],
        protocol: str,
        output: str | None,
        master: str,
        remote: str | None,
        role: str | None,
        options: tuple[str, ...] = (),
        **wishes: object,
    ) -> int:
        arguments: dict[str, object] = {key: wishes.pop(key) for key in ("seconds", "by") if key in wishes}
        given = wishes | {"from": role}
        settings = ",".join(options)
        return _run(
            name, source, protocol, output, None if remote else master, remote, given, arguments, settings
        )

    for option in reversed(own):
        option(verb)
    return verb


def _run(
    name: str,
    source: tuple[str, ...],
    protocol: str,
    output: str | None,
    master: str | None,
    remote: str | None,
    wishes: dict[str, object],
    arguments: dict[str, object],
    settings: str,
) -> int:
    from wiregen.tools.cli.spark_session import check_output, opened

    given = {key: value for key, value in wishes.items() if value is not False}
    if output is not None and remote is None:
        check_output(output)
    with opened(protocol, master, remote, source, given, settings=settings) as (spark, package, options):
        import wirespark

        reader = spark.read.format("wire").option("protocol", package).options(**options)
        table = reader.load(source[0] if len(source) == 1 else list(source))
        chosen = {key: options[key] for key in ("variant",) if key in options}
        chosen |= {"options": settings} if settings else {}
        if name == "check":
            return _check(table, package, chosen, output)
        job: Callable[..., DataFrame] = getattr(wirespark, name)
        found = job(table, **arguments) if name in _OF_THE_TABLE else job(table, package, **chosen)
        _write(found, output)
    return DONE


def _check(table: DataFrame, package: str, options: dict[str, str], output: str | None) -> int:
    """Write the violations; without any, tell how much was checked."""
    from wirespark.jobs import checked_in, events, violations_in

    # The rows are decoded once for both results, and by all tasks at once.
    found = events(table, package, **options).where("kind in ('violation', 'rows')").cache()
    checked = checked_in(found)
    if _write(violations_in(found), output):
        return FINDINGS
    rows, files = (
        f"{number:,} {noun}{'' if number == 1 else 's'}"
        for number, noun in ((checked.n_rows, "row"), (checked.n_files, "file"))
    )
    tell(f"no rule was broken: {rows} of {files}")
    return DONE


def _write(found: DataFrame, output: str | None) -> int:
    """Write the rows; return their number, or at least a positive number if there were any."""
    if output is not None:
        found = found.cache()
        found.write.mode("overwrite").parquet(output)
        return found.count()
    from pyspark.sql import functions as F

    n_rows, has_fields = 0, "fields" in found.columns
    lines = _plain(found).select(F.to_json(F.struct("*"), _JSON))
    for (line,) in lines.toLocalIterator():
        sys.stdout.write(f"{_opened(line) if has_fields else line}\n")
        n_rows += 1
    return n_rows


def _plain(found: DataFrame) -> DataFrame:
    """Return the rows with their floats as decimals, which JSON shows without an exponent."""
    from pyspark.sql import functions as F

    floats = [name for name, type_ in found.dtypes if type_ == "double"]
    return found.withColumns({name: F.col(name).cast("decimal(38, 6)") for name in floats})


def _opened(line: str) -> str:
    """Return a line with its fields as an object instead of JSON in a text."""
    found = json.loads(line)
    if found["fields"] is not None:
        found["fields"] = json.loads(found["fields"])
    return json.dumps(found)


jobs = tuple(map(_verb, _DOCS))
