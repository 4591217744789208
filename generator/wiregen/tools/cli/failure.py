"""The end of a run: the exit codes, and the one exception that carries a message and the way out."""

import click

from wiregen.tools.cli.messages import tell_error

__all__ = ["BUG", "DONE", "FINDINGS", "INTERRUPTED", "PIPE_CLOSED", "USAGE", "Failure"]

DONE = 0
FINDINGS = 1
USAGE = 2
BUG = 3
# The exit code that a shell reports for a process ended by the signal.
INTERRUPTED = 130
PIPE_CLOSED = 141


class Failure(click.ClickException):
    """An error that the user can fix: `way_out` says how."""

    def __init__(self, message: str, way_out: str, *, code: int = USAGE) -> None:
        super().__init__(message)
        self.way_out = way_out
        self.code = code

    def show(self, file: object = None) -> None:
        """Print the message and the way out on stderr."""
        tell_error(self.message, self.way_out)
