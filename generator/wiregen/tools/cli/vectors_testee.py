"""`wiregen vectors testee`: generated code that speaks the exchange of `vectors run`, to try the exchange with."""

import sys
from importlib.util import find_spec
from typing import Final

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE

__all__ = ["verb"]

_LIBRARIES: Final = {"protobuf": "google.protobuf", "msgpack": "msgpack"}
"""The library that reads and writes each serialization."""


@click.command("testee")
@shared_options.protocol
@click.option("--careful", is_flag=True, help="Let the reference codec answer.")
def verb(protocol: str, careful: bool) -> int:
    """Answer the requests of `vectors run` and `fuzz` on stdin, for PROTOCOL (a name, or a path to a .wire file)."""
    from wiregen.conformance.judge import Implementation, ReferenceImplementation
    from wiregen.conformance.judge.generated_package import implementation_of
    from wiregen.conformance.vectors.adapters.serve import answers
    from wiregen.tools.cli.protocols import package_of

    package = package_of(protocol, () if careful else _serializations())
    implementation: Implementation = (
        ReferenceImplementation(package.schema) if careful else implementation_of(package)
    )
    for line in answers(implementation, sys.stdin.buffer):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    return DONE


def _serializations() -> tuple[str, ...]:
    """Return the serializations that the configuration builds and whose libraries are installed."""
    from wiregen.language.diagnostics import Report
    from wiregen.tools.cli.protocols import configuration

    built = configuration(Report()).backends
    return tuple(name for name, library in _LIBRARIES.items() if name in built and _is_installed(library))


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # the package that contains `library`
        return False
