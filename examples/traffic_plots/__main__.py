"""Three pictures of a capture: messages over time, how long answers took, how full the window was.

PYTHONPATH=.:../generated/python python -m traffic_plots captures/golumber-async-pipelined.pcap lumberjack pictures/
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from traffic_plots.pictures import bars, steps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_N_BARS = 24


def draw(table: DataFrame, protocol: str, folder: Path) -> None:
    """Draw the pictures of a table of `format("wire")`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in (
        ("messages", messages(table)),
        ("latency", latency(table, protocol)),
        ("window", window(table, protocol)),
    ):
        (folder / f"{name}.svg").write_text(picture, encoding="utf-8")


def messages(table: DataFrame) -> str:
    rows = table.selectExpr("cast(_time as double) as at", "coalesce(_message, 'fault') as name").collect()
    begin, end = min(row["at"] for row in rows), max(row["at"] for row in rows)
    width = (end - begin) / _N_BARS or 1.0
    counted = Counter((row["name"], min(int((row["at"] - begin) / width), _N_BARS - 1)) for row in rows)
    names = sorted({name for name, _ in counted})
    stacks = {name: [float(counted[name, place]) for place in range(_N_BARS)] for name in names}
    labels = [f"{place * width * 1000:.3g}" for place in range(_N_BARS)]
    return bars("Messages over time", "milliseconds", "messages", labels, stacks)


def latency(table: DataFrame, protocol: str) -> str:
    import wirespark

    answered = wirespark.pairs(table, protocol).select("latency").where("latency is not null")
    found = [row["latency"] * 1000 for row in answered.collect()]
    width = (max(found, default=0) / _N_BARS) or 1.0
    counted = Counter(min(int(value / width), _N_BARS - 1) for value in found)
    labels = [f"{place * width:.2g}" for place in range(_N_BARS)]
    heights = [float(counted[place]) for place in range(_N_BARS)]
    return bars("From a message to its answer", "milliseconds", "answers", labels, {"answers": heights})


def window(table: DataFrame, protocol: str) -> str:
    """Return a picture of the messages that wait for an answer, connection by connection."""
    import wirespark

    found = wirespark.levels(table, protocol).where("name = 'outstanding'")
    rows = found.selectExpr("_flow", "cast(_time as double) as at", "_from", "_offset", "level").collect()
    begin = min((row["at"] for row in rows), default=0.0)
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in sorted(rows, key=lambda row: (row["at"], row["_from"], row["_offset"])):
        lines.setdefault(row["_flow"], []).append(((row["at"] - begin) * 1000, float(row["level"])))
    named = {f"connection {number}": line for number, line in enumerate(lines.values(), 1)}
    return steps("Window use", "milliseconds", "events not acknowledged", named)


def main() -> None:
    import wirespark

    source, protocol, folder = sys.argv[1:]
    spark = wirespark.session("traffic plots", master="local[*]")
    table = spark.read.format("wire").option("protocol", protocol).load(source).cache()
    draw(table, protocol, Path(folder))
    spark.stop()


if __name__ == "__main__":
    main()
