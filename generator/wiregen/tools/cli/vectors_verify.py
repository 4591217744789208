"""`wiregen vectors verify`: checks files of vectors, from any source, with the reference codec and generated code."""

from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options

if TYPE_CHECKING:
    from wiregen.conformance.judge import Implementation
    from wiregen.generate.packages import Package

__all__ = ["verb"]

_SERIALIZATIONS = ("protobuf", "msgpack")


@click.command("verify")
@shared_options.protocol
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--only", multiple=True, metavar="ID", help="Check only this vector. May be repeated.")
@shared_options.report_format
@click.option(
    "--thorough",
    is_flag=True,
    help="Also cut the bytes of each vector at every place, as `vectors run` does.",
)
@shared_options.large
def verb(
    protocol: str, files: tuple[str, ...], only: tuple[str, ...], format_: str, thorough: bool, large: bool
) -> int:
    """Check files of vectors of PROTOCOL (a name, or a path to a .wire file).

    The reference codec and generated code must give the results of each vector, in all its serializations. Without FILE, the
    vectors of `wiregen vectors build` are checked. Exits with 1 if a vector fails.
    """
    from wiregen.tools.cli.protocols import package_of
    from wiregen.tools.cli.verification import judged, report, vectors_of

    package = package_of(protocol, ())
    vectors = vectors_of(files, package.schema, only)
    carried = tuple(name for name in _SERIALIZATIONS if any(getattr(each, name, None) for each in vectors))
    if carried:
        package = package_of(protocol, carried)
    verdicts = judged(
        vectors, _implementations(package), is_thorough=thorough, with_large=large or bool(only)
    )
    return report(verdicts, {}, package.schema.name, format_)


def _implementations(package: "Package") -> "tuple[Implementation, ...]":
    from wiregen.conformance.judge import ReferenceImplementation
    from wiregen.conformance.judge.generated_package import implementation_of

    return ReferenceImplementation(package.schema), implementation_of(package)
