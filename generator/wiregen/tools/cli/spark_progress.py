"""Progress of a conversion, shown on stderr to a waiting user: read from the receipts that its tasks write."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wiregen.tools.cli.progress import progress

__all__ = ["watched"]

_INTERVAL = 0.5


@contextmanager
def watched(sources: tuple[str, ...], target: str) -> Iterator[None]:
    """Show a bar while the block runs, if the sources are large."""
    from wirespark import WireSparkError
    from wirespark.planning import files_of

    size = None
    with suppress(WireSparkError, OSError):  # the conversion itself reports it
        size = sum(Path(file).stat().st_size for file in files_of(sources))
    over = threading.Event()
    with progress(size, "converting", is_printed=False) as advance:
        thread = threading.Thread(target=_watch, args=(Path(target), advance, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _watch(target: Path, advance: object, over: threading.Event) -> None:
    from wirespark.receipts import receipts_in

    assert callable(advance)
    done = 0
    while not over.wait(_INTERVAL):
        now = sum(receipt.size for receipt in receipts_in(target))
        advance(max(0, now - done))
        done = max(done, now)
