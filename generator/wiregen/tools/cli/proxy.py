"""`wiregen proxy`: sits between two real peers, and shows their messages while they are relayed."""

import asyncio
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.clock import TIME_FORMS, Clock, TimeForm
from wiregen.tools.cli.failure import DONE, FINDINGS, USAGE, Failure
from wiregen.tools.cli.messages import is_terminal, tell

if TYPE_CHECKING:
    from ssl import SSLContext

    from wiregen.formats.capture import Endpoint
    from wiregen.runtime.schema.protocol import Schema
    from wiregen.tools.cli.proxying.recording import CaptureRecording
    from wiregen.tools.cli.proxying.relay import ProxyServer
    from wiregen.tools.cli.proxying.totals import Totals

__all__ = ["verb"]

_MOST_DIGITS = 8


@click.command("proxy")
@shared_options.protocol
@click.option(
    "--listen",
    required=True,
    metavar="[HOST:]PORT",
    help="Address to which one peer connects. Without HOST: only this computer. 0 is any free port.",
)
@click.option("--to", "target", required=True, metavar="[HOST:]PORT", help="Address of the other peer.")
@click.option(
    "--from",
    "role",
    metavar="ROLE",
    help="Role of the peer that connects. Default: the first role of the protocol.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["tree", "hex", "jsonl"]),
    help="Output format. Default: tree on a terminal, otherwise jsonl.",
)
@click.option(
    "--time",
    "time_form",
    type=click.Choice(TIME_FORMS),
    default="iso",
    show_default=True,
    help="Times as seconds since 1970, as ISO 8601 in UTC, or in seconds since the first frame.",
)
@click.option(
    "--record",
    metavar="FILE",
    help="Write a capture (pcap) that only you may read: it has secret fields too.",
)
@click.option("--force", is_flag=True, help="Overwrite the FILE of --record.")
@click.option(
    "--close-on-error",
    "closes_on_error",
    is_flag=True,
    help="Close a connection after bytes that cannot be decoded, or a violation. Default: relay everything.",
)
@click.option(
    "--connections",
    type=click.IntRange(1, 4096),
    default=64,
    show_default=True,
    help="Maximum number of connections at the same time.",
)
@click.option(
    "--backlog",
    type=click.IntRange(1, 1024),
    default=8,
    show_default=True,
    metavar="MIB",
    help="MiB of one connection that may wait to be decoded; further bytes are relayed and recorded only.",
)
@click.option(
    "--delay",
    "delays",
    multiple=True,
    metavar="ROLE:MS",
    help="Delay the bytes of a role by so many milliseconds. May be repeated.",
)
@click.option(
    "--cut",
    multiple=True,
    metavar="EXPR",
    help="Close a connection before a message for which EXPR, as in `decode --where`, is true. May be repeated.",
)
@click.option(
    "--drop",
    multiple=True,
    metavar="EXPR",
    help="Do not forward messages for which EXPR is true. May be repeated.",
)
@click.option(
    "--change",
    multiple=True,
    nargs=2,
    metavar="EXPR FIELD=EXPR",
    help="Change a field of messages for which the first EXPR is true. May be repeated.",
)
@click.option("--tls", "is_tls", is_flag=True, help="Use TLS 1.2 or later with the peer that connects.")
@click.option("--cert", type=shared_options.PEM, help="PEM file of the certificate that this peer sees.")
@click.option("--key", type=shared_options.PEM, help="PEM file of the key of --cert.")
@click.option(
    "--client-ca",
    type=shared_options.PEM,
    help="PEM file of the authority that signed this peer's certificate.",
)
@click.option("--to-tls", is_flag=True, help="Use TLS 1.2 or later with the peer of --to.")
@click.option(
    "--to-ca", type=shared_options.PEM, help="PEM file of the authority that signed the certificate of --to."
)
@click.option(
    "--to-cert", type=shared_options.PEM, help="PEM file of the certificate that the peer of --to sees."
)
@click.option("--to-key", type=shared_options.PEM, help="PEM file of the key of --to-cert.")
@click.option("--server-name", metavar="NAME", help="Name in the certificate of --to, if it is not HOST.")
@shared_options.strict
@shared_options.variant
@shared_options.limits
@shared_options.session_options
def verb(
    protocol: str,
    listen: str,
    target: str,
    role: str | None,
    format_: str | None,
    time_form: TimeForm,
    record: str | None,
    force: bool,
    closes_on_error: bool,
    connections: int,
    backlog: int,
    delays: tuple[str, ...],
    cut: tuple[str, ...],
    drop: tuple[str, ...],
    change: tuple[tuple[str, str], ...],
    is_tls: bool,
    cert: str | None,
    key: str | None,
    client_ca: str | None,
    to_tls: bool,
    to_ca: str | None,
    to_cert: str | None,
    to_key: str | None,
    server_name: str | None,
    strict: bool,
    variant: str | None,
    limits: tuple[str, ...],
    options: tuple[str, ...],
) -> int:
    """Relay connections between two peers of PROTOCOL (a name, or a path to a .wire file), and show their messages.

    Bytes are relayed unchanged and at once, unless faults are asked for. The messages of both directions are decoded, and checked
    against the sessions. Ends with a summary after Ctrl-C. Exits with 1 if a rule was broken, or any bytes could not be decoded.
    """
    from wiregen.runtime.sessions.table import Program
    from wiregen.schema.lowering import lower
    from wiregen.tools.cli.decoding_options import DecodingSettings
    from wiregen.tools.cli.protocol_options import limits_of, options_of, variant_of
    from wiregen.tools.cli.protocols import native_of, spoken
    from wiregen.tools.cli.proxying.faults import FaultOptions, faults_of
    from wiregen.tools.cli.proxying.observing import Observation
    from wiregen.tools.cli.proxying.relay import ProxyServer
    from wiregen.tools.cli.proxying.relay_settings import RelaySettings
    from wiregen.tools.cli.proxying.screen import Screen
    from wiregen.tools.cli.proxying.totals import Totals
    from wiregen.tools.cli.proxying.work import SharedWork

    ends = _endpoint(listen), _endpoint(target)
    server = _server_tls(is_tls, cert, key, client_ca)
    client = _client_tls(to_tls, to_ca, to_cert, to_key, server_name)
    subject = spoken(protocol)
    assert subject.workspace is not None  # of a .wire file
    schema = lower(subject.protocol)
    opener, other = _sides(schema, role)
    shape = format_ or ("tree" if is_terminal(sys.stdout) else "jsonl")
    has_faults = bool(cut or drop or change)
    settings = DecodingSettings(
        schema=schema,
        variant=variant_of(schema, variant),
        limits=limits_of(schema, limits),
        is_strict=strict,
        compiled=native_of(subject) if shape == "jsonl" and not has_faults else None,
    )
    observation = Observation(
        settings=settings,
        program=Program(schema) if schema.sessions else None,
        options=options_of(schema, options),
        closes=schema.on_error == "close",
    )
    faults = faults_of(FaultOptions(cut=cut, drop=drop, change=change), settings, subject.workspace)
    totals = Totals(schema.roles)
    shared = SharedWork(observation, Screen(shape, settings, Clock(time_form)), totals, faults)
    relayed = RelaySettings(
        listen=ends[0],
        target=ends[1],
        opener=opener,
        other=other,
        most_connections=connections,
        backlog=backlog << 20,
        closes_on_error=closes_on_error,
        listen_tls=server,
        target_tls=client,
        server_name=server_name,
        delays=_delays(delays, schema),
    )
    recording = _recording(record, is_forced=force)
    return _run(lambda: ProxyServer(relayed, shared, recording), relayed.opener, ends, recording, totals)


def _endpoint(text: str) -> "Endpoint":
    from wiregen.formats.capture import Endpoint
    from wiregen.tools.cli.peer_addresses import address_of

    host, port = address_of(text)
    return Endpoint(address=host, port=port)


def _sides(schema: "Schema", role: str | None) -> tuple[str, str]:
    """Return the role that connects, and the other one."""
    from wiregen.tools.cli.protocol_options import role_of

    roles = schema.roles
    if len(roles) != 2:
        raise Failure(f"{schema.name} does not have two roles", "only two peers can be relayed")
    opener = role_of(schema, role) or roles[0]
    return opener, next(each for each in roles if each != opener)


def _delays(texts: tuple[str, ...], schema: "Schema") -> dict[str, float]:
    """Return the seconds by which bytes of roles are delayed."""
    from wiregen.tools.cli.protocol_options import role_of

    delays = {}
    for text in texts:
        role, _, amount = text.rpartition(":")
        if not (amount.isascii() and amount.isdecimal() and len(amount) <= _MOST_DIGITS):
            raise Failure(f"--delay {text} is not ROLE:MS", f"write it like --delay {schema.roles[0]}:200")
        delays[role_of(schema, role) or role] = int(amount) / 1000
    return delays


def _server_tls(is_tls: bool, cert: str | None, key: str | None, ca: str | None) -> "SSLContext | None":
    from wiregen.tools.cli.peer_addresses import refuse_tls_options, tls_from, tls_server

    if not is_tls:
        refuse_tls_options("--tls", {"--cert": cert, "--key": key, "--client-ca": ca})
        return None
    if cert is None or key is None:
        raise Failure("--tls needs --cert and --key", "give both as PEM files")
    return tls_from((cert, key, ca), lambda: tls_server(cert, key, ca))


def _client_tls(
    is_tls: bool, ca: str | None, cert: str | None, key: str | None, name: str | None
) -> "SSLContext | None":
    from wiregen.tools.cli.peer_addresses import refuse_tls_options, tls_client, tls_from

    if not is_tls:
        refuse_tls_options(
            "--to-tls", {"--to-ca": ca, "--to-cert": cert, "--to-key": key, "--server-name": name}
        )
        return None
    return tls_from((ca, cert, key), lambda: tls_client(ca, cert, key))


def _recording(name: str | None, *, is_forced: bool) -> "CaptureRecording | None":
    from wiregen.tools.cli.proxying.recording import CaptureRecording, create_private

    if name is None:
        if is_forced:
            raise Failure("--force is for --record", "give --record FILE, or remove --force")
        return None

    def failed(error: OSError) -> None:
        tell(f"warning: the recording has ended, connections are still relayed: {error.strerror or error}")

    return CaptureRecording(create_private(name, is_forced=is_forced), failed)


def _run(
    make: "Callable[[], ProxyServer]",
    opener: str,
    ends: "tuple[Endpoint, Endpoint]",
    recording: "CaptureRecording | None",
    totals: "Totals",
) -> int:
    """Relay until the end of the run; print the summary and return the exit code."""
    from wiregen.tools.cli.peer_addresses import reach
    from wiregen.tools.cli.proxying.relay import ListenError

    listen, target = ends

    def listening(port: int) -> None:
        tell(
            f"listening on {listen.address} port {port} for {opener}, relaying to {target}{reach(listen.address)}"
        )

    async def relayed() -> None:
        await make().run(listening)

    try:
        asyncio.run(relayed())
    except ListenError as error:
        raise Failure(str(error), "choose another address or port", code=USAGE) from None
    except asyncio.CancelledError:  # the second Ctrl-C
        raise KeyboardInterrupt from None
    finally:
        if recording is not None:
            recording.close()
    tell(totals.text())
    is_incomplete = recording is not None and recording.error is not None
    return FINDINGS if totals.has_findings or is_incomplete else DONE
