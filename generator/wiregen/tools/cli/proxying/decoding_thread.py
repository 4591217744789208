"""The thread that decodes what is relayed, and how the event loop gives it work."""

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from wiregen.tools.cli.proxying.work import Forwarded

__all__ = ["DecodingError", "DecodingThread"]

_SWITCHING: Final = 0.0005
"""Seconds after which the thread gives up the interpreter, which the event loop needs for each chunk; Python's 0.005 have the relay wait
ten times as long.
"""


class DecodingError(Exception):
    """The thread has failed, and the run ends."""


class DecodingThread:
    """Does one piece of work after the other; `failed` is called after one that raises.

    Attributes:
        failure: The first error. Those that follow from it are dropped.
    """

    def __init__(self, failed: Callable[[], None]) -> None:
        sys.setswitchinterval(_SWITCHING)
        self.failure: BaseException | None = None
        self._failed = failed
        self._executor = ThreadPoolExecutor(1, "decoding")
        self._pending: set[asyncio.Future[bool]] = set()

    @property
    def is_busy(self) -> bool:
        """Return whether submitted work is left."""
        return bool(self._pending)

    def submit(self, work: Callable[[], bool], done: Callable[[bool], None]) -> None:
        """Have the thread do something, and call `done` with its result in this one."""

        def finished(future: asyncio.Future[bool]) -> None:
            self._pending.discard(future)
            if future.cancelled():
                return
            error = future.exception()
            if error is None:
                done(future.result())
            else:
                self._fail(error)

        future = asyncio.get_running_loop().run_in_executor(self._executor, work)
        self._pending.add(future)
        future.add_done_callback(finished)

    async def finished(self, work: Callable[[], Forwarded]) -> Forwarded:
        """Have the thread do something, and return its result.

        Raises:
            DecodingError: The work raised an error.
        """
        future = asyncio.get_running_loop().run_in_executor(self._executor, work)
        await asyncio.wait([future])
        error = future.exception()
        if error is not None:
            self._fail(error)
            raise DecodingError
        return future.result()

    async def drain(self) -> None:
        """Wait until all submitted work is done."""
        await asyncio.gather(*self._pending, return_exceptions=True)

    def close(self) -> None:
        """Drop the work that has not begun."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _fail(self, error: BaseException) -> None:
        self.failure = self.failure or error
        self._failed()
