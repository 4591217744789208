"""The results of `--select`, `--count` and `--group-by`: chosen values, and numbers of frames."""

from collections import Counter
from typing import Final

from wiregen.formats.jsonl import dumps
from wiregen.tools.cli.decoding_options import Decoded
from wiregen.tools.cli.failure import Failure
from wiregen.tools.cli.frame_query import Answers
from wiregen.tools.cli.row_printers import CsvTable, JsonArray, JsonLines, RowPrinter
from wiregen.tools.cli.sinks import Sink

__all__ = ["answer_sink"]

COUNT: Final = "count"
_MOST_GROUPS: Final = 100_000


def answer_sink(answers: Answers, format_: str | None) -> Sink:
    """Return the sink of the chosen values or numbers, writing to stdout."""
    if format_ in ("tree", "hex"):
        way_out = "choose --format jsonl, json or csv"
        raise Failure(f"--format {format_} shows whole frames, not chosen values", way_out)
    if not answers.names:
        return Count()
    printer = _printer(answers, format_)
    return Groups(answers, printer) if answers.is_counted else Selected(answers, printer)


def _printer(answers: Answers, format_: str | None) -> RowPrinter:
    if format_ == "csv":
        return CsvTable((COUNT, *answers.names) if answers.is_counted else answers.names)
    return JsonArray() if format_ == "json" else JsonLines()


class Selected:
    """Prints the chosen values of each frame."""

    def __init__(self, answers: Answers, printer: RowPrinter) -> None:
        self._answers = answers
        self._printer = printer
        self.close = printer.close

    def write(self, decoded: Decoded) -> None:
        self._printer.row(self._answers.values(decoded))


class Count:
    """Prints the number of frames at the end."""

    def __init__(self) -> None:
        self._n_frames = 0

    def write(self, decoded: Decoded) -> None:
        self._n_frames += 1

    def close(self) -> None:
        print(self._n_frames)


class Groups:
    """Prints the number of frames for each combination of values at the end, the most frequent first."""

    def __init__(self, answers: Answers, printer: RowPrinter) -> None:
        self._answers = answers
        self._printer = printer
        self._counts: Counter[str] = Counter()
        self._values: dict[str, dict[str, object]] = {}

    def write(self, decoded: Decoded) -> None:
        values = self._answers.values(decoded)
        key = dumps(values)
        if key not in self._values and len(self._values) >= _MOST_GROUPS:
            way_out = "group by values that repeat, or select the values and count them elsewhere"
            raise Failure(f"there are more than {_MOST_GROUPS} groups", way_out)
        self._values.setdefault(key, values)
        self._counts[key] += 1

    def close(self) -> None:
        for key, count in self._counts.most_common():
            self._printer.row({COUNT: count, **self._values[key]})
        self._printer.close()
