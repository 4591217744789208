"""The errors of a capture with the path of its file, and a way to fix them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wiregen.formats.capture import CaptureError, CutHeaderError, NotCaptureError
from wirespark.errors import WireSparkError

__all__ = ["of_capture"]


@contextmanager
def of_capture(path: str) -> Iterator[None]:
    """Raise the errors of a capture in this block with its path, except that of a cut header.

    Raises:
        WireSparkError: The file is not a capture, or cannot be read.
    """
    try:
        yield
    except CutHeaderError:
        raise
    except NotCaptureError as error:
        what, _, why = str(error).partition(": ")
        way_out = "leave it out, or read it as a stream with `capture=false` (`--no-pcap`)"
        raise WireSparkError(f"{path} is {what} ({why}): {way_out}") from None
    except CaptureError as error:
        raise WireSparkError(f"{path} is not read, {error}") from None
