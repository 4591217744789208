"""Options that several verbs have with the same meaning: each has one name and one text."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import click

from wiregen.tools.cli.protocols import completions

__all__ = [
    "capture",
    "capture_port",
    "large",
    "limits",
    "live_connect",
    "live_listen",
    "local_port",
    "only_check",
    "output_file",
    "output_format",
    "playground",
    "preceding",
    "protocol",
    "protocols",
    "report_format",
    "session_options",
    "spark_master",
    "spark_protocol",
    "spark_remote",
    "spark_role",
    "strict",
    "tls",
    "tls_ca",
    "tls_name",
    "variant",
]

Command = TypeVar("Command", bound=Callable[..., object])
BACKENDS: Final = "native, protobuf, msgpack, or another installed backend"
PEM: Final = click.Path(exists=True, dir_okay=False)
"""The type of options that name a PEM file."""

capture = click.option(
    "--pcap/--no-pcap",
    default=None,
    help="Treat the input as a capture, or not. Default: decided by the first bytes of each file.",
)
capture_port = click.option(
    "--port", type=click.IntRange(1, 65535), help="In a capture, use only connections with this port."
)
large = click.option("--large", is_flag=True, help="Include vectors of more than 1 MiB, which take longer.")
limits = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a limit, for example `frame=1MiB` or `count=1000`. May be repeated.",
)
local_port = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port on this computer. Default: any free port.",
)
only_check = click.option(
    "--check",
    is_flag=True,
    help="Write no files. List stale, missing and extra files, and exit with 1 if there are any.",
)
output_file = click.option(
    "-o", "--output", metavar="FILE", help="Write to FILE, completely or not at all. Default: stdout."
)
playground = click.option(
    "--playground",
    "pyodide",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Include a playground that decodes in the browser. FOLDER is the unpacked package `pyodide` of npm.",
)
preceding = click.option(
    "--before",
    multiple=True,
    metavar="ROLE:HEX|ROLE:@FILE",
    help="Whole frames, of the same serialization, that a role sent before; the output does not contain them. May be repeated.",
)
protocol = click.argument("protocol", shell_complete=completions)
protocols = click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completions)
report_format = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "junit"]),
    default="text",
    show_default=True,
    help="Output format.",
)
session_options = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set an option of the sessions, for example `ack_value=COUNT`. May be repeated.",
)
spark_master = click.option(
    "--master", metavar="URL", default="local[*]", show_default=True, help="Spark master to run on."
)
spark_protocol = click.option(
    "--protocol", required=True, metavar="PROTOCOL", help="Protocol: a name, or a path to a .wire file."
)
spark_remote = click.option(
    "--remote", metavar="URL", help="Spark Connect server to use instead of --master, for example sc://host."
)
spark_role = click.option(
    "--from",
    "role",
    metavar="ROLE",
    help="Role that sent the bytes, if the names of the files do not show it.",
)
strict = click.option(
    "--strict", is_flag=True, help="Refuse deviations that the protocol declares as lenient."
)
live_connect = click.option("--connect", metavar="[HOST:]PORT", help="Connect to the peer at this address.")
live_listen = click.option(
    "--listen",
    metavar="[HOST:]PORT",
    help="Wait for the peer at this address. Without HOST: only this computer. 0 is any free port.",
)
tls = click.option("--tls", is_flag=True, help="Use TLS 1.2 or later.")
tls_ca = click.option("--ca", type=PEM, help="PEM file of the authority that signed the peer's certificate.")
tls_name = click.option(
    "--server-name", metavar="NAME", help="Name in the certificate of the peer, if it is not HOST."
)
variant = click.option("--variant", metavar="NAME", help="Layout variant of the protocol to use.")


def output_format(command: Command) -> Command:
    """Add the option of a verb that prints diagnostics, which few verbs need to import."""
    from wiregen.language.diagnostics import OUTPUT_FORMATS

    kinds = click.Choice(OUTPUT_FORMATS)
    return click.option(
        "--output-format", type=kinds, default="full", show_default=True, help="Output format."
    )(command)
