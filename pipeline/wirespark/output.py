"""The options of the files that a conversion writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from wirespark.errors import WireSparkError
from wirespark.options import amount, truth

__all__ = ["DAY", "Compression", "FileForm", "Partition", "divided"]

Compression: TypeAlias = Literal["snappy", "zstd", "gzip", "lz4", "none"]
Partition: TypeAlias = Literal["message", "date"]
DAY: Final = "date"
"""The name of that partition, which is also that of the column that Spark reads from folders such as `date=2026-11-29`."""

_NAMES = ("compression", "frames", "partition", "filesize")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileForm:
    """The form of the files.

    Attributes:
        has_frames: Whether the table `_frames` is written, which has all frames and errors in order.
        partition: `message` for a folder for each message; `date` for folders of days (UTC) in it.
        file_size: The bytes of files that share an output file, about.
    """

    compression: Compression = "snappy"
    has_frames: bool = True
    partition: Partition = "message"
    file_size: int = 128 << 20


def divided(given: Mapping[str, str]) -> tuple[FileForm, dict[str, str]]:
    """Return the options of the output, and the other ones, which are those of the read.

    Raises:
        WireSparkError: A value is invalid.
    """
    chosen = {name.lower(): text for name, text in given.items() if name.lower() in _NAMES}
    rest = {name: text for name, text in given.items() if name.lower() not in _NAMES}
    size = amount("filesize", chosen.get("filesize", "128MiB"))
    if size < 1 << 20:
        raise WireSparkError(f"filesize is 1MiB or more, not {chosen['filesize']!r}")
    compression = chosen.get("compression", "snappy").lower()
    partition = chosen.get("partition", "message").lower()
    for name, word, words in (
        ("compression", compression, get_args(Compression)),
        ("partition", partition, get_args(Partition)),
    ):
        if word not in words:
            raise WireSparkError(f"{name} is one of {', '.join(words)}, not {word!r}")
    output = FileForm(
        compression=compression,  # type: ignore[arg-type]  # compared above
        has_frames=truth("frames", chosen.get("frames", "true")),
        partition=partition,  # type: ignore[arg-type]  # compared above
        file_size=size,
    )
    return output, rest
