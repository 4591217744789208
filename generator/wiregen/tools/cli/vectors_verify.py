"""`wiregen vectors verify`: checks files of vectors, from any source, with the reference codec and generated code."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wiregen.conformance.judge import Implementation
    from wiregen.generate.packages import Package

__all__ = ["verb"]

_SERIALIZATIONS = ("protobuf", "msgpack")


@click.command("verify")
@click.argument("protocol")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--only", multiple=True, metavar="ID", help="Check only this vector. May be repeated.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True
)
@click.option(
    "--thorough",
    is_flag=True,
    help="Also cut the bytes of each vector at every place, as `vectors run` does.",
)
@click.option("--large", is_flag=True, help="Include vectors of more than 1 MiB, which take longer.")
def verb(
    protocol: str, files: tuple[str, ...], only: tuple[str, ...], format_: str, thorough: bool, large: bool
) -> int:
    """Check files of vectors of PROTOCOL (a name, or a path to a .wire file).

    Each is held against the reference codec and against generated code, in all serializations that it gives. Without FILE, they
    are those that `wiregen vectors build` wrote. Exits with 1 if one does not hold.
    """
    from wiregen.tools.cli.protocols import package_of
    from wiregen.tools.cli.verification import judged, report, vectors_of

    package = package_of(protocol, ())
    vectors = vectors_of(files, package.plan, only)
    carried = tuple(name for name in _SERIALIZATIONS if any(getattr(each, name, None) for each in vectors))
    if carried:
        package = package_of(protocol, carried)
    verdicts = judged(vectors, _doors(package), is_thorough=thorough, with_large=large or bool(only))
    return report(verdicts, {}, package.plan.name, format_)


def _doors(package: "Package") -> "tuple[Implementation, ...]":
    from wiregen.conformance.judge import ReferenceImplementation
    from wiregen.conformance.judge.generated_package import implementation_of

    return ReferenceImplementation(package.plan), implementation_of(package)
