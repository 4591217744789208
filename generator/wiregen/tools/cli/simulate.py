"""`wiregen simulate`: a peer that behaves as its session allows, for tests of the other side."""

import asyncio
import sys
from random import Random
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.clock import Clock
from wiregen.tools.cli.failure import DONE, FINDINGS, USAGE, Failure
from wiregen.tools.cli.messages import is_terminal, tell, tell_error

if TYPE_CHECKING:
    from ssl import SSLContext

    from wiregen.conformance.traces import Trace
    from wiregen.conformance.vectors.endpoints import Side
    from wiregen.generate.backends import Subject
    from wiregen.tools.cli.proxying.work import SharedWork
    from wiregen.tools.cli.simulating import Bounds

__all__ = ["verb"]


@click.command("simulate")
@shared_options.protocol
@click.option("--as", "role", required=True, metavar="ROLE", help="Role to simulate.")
@shared_options.live_connect
@shared_options.live_listen
@click.option(
    "--conversation",
    metavar="NAME",
    help="Play this conversation of the .wire file. Default: messages by chance.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the choices. The same seed makes the same choices if the peer sends the same.",
)
@click.option(
    "--messages",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Number of messages to send by chance.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.05),
    default=10.0,
    show_default=True,
    help="Time for the connection, and for a message without which the run cannot continue, in seconds.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.01),
    help="End after this number of seconds, with fewer messages by chance. Default: no bound.",
)
@click.option(
    "--pause",
    type=click.FloatRange(0.001),
    default=0.05,
    show_default=True,
    help="Time for an answer of the peer after each message by chance, in seconds.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["tree", "hex", "jsonl"]),
    help="Output format. Default: tree on a terminal, otherwise jsonl.",
)
@shared_options.tls
@shared_options.tls_ca
@click.option("--cert", type=shared_options.PEM, help="PEM file of the simulated peer's own certificate.")
@click.option("--key", type=shared_options.PEM, help="PEM file of the key of --cert.")
@shared_options.tls_name
@shared_options.limits
@shared_options.session_options
def verb(
    protocol: str,
    role: str,
    connect: str | None,
    listen: str | None,
    conversation: str | None,
    seed: int,
    messages: int,
    timeout: float,
    seconds: float | None,
    pause: float,
    format_: str | None,
    tls: bool,
    ca: str | None,
    cert: str | None,
    key: str | None,
    server_name: str | None,
    limits: tuple[str, ...],
    options: tuple[str, ...],
) -> int:
    """Be a peer of PROTOCOL (a name, or a path to a .wire file) on one connection, and print both directions.

    Every message that it sends is one that the sessions allow at that moment. Exits with 1 if the other side breaks a rule, sends bytes
    that cannot be decoded, or ends or stops the run before its last message.
    """
    from wiregen.tools.cli.peer_addresses import address_of, peer_tls
    from wiregen.tools.cli.protocols import spoken
    from wiregen.tools.cli.simulating import Bounds

    if (connect is None) == (listen is None):
        raise Failure("give either --connect or --listen", "--connect 5044, or --listen 5044", code=USAGE)
    host, port = address_of(connect or listen or "")
    context = peer_tls(
        is_tls=tls, is_server=listen is not None, ca=ca, cert=cert, key=key, server_name=server_name
    )
    subject = spoken(protocol)
    trace = None if conversation is None else _trace(subject, conversation)
    side = _side(subject, role, limits, options, trace)
    shared = _shared(side, format_)
    bounds = Bounds(n_messages=messages, timeout=timeout, seconds=seconds, pause=pause)
    network = _Network(host, port, context, server_name, is_listening=listen is not None)
    reason = asyncio.run(_run(network, side, shared, bounds, trace, Random(seed)))
    if reason is not None:
        tell_error(reason)
    tell(shared.totals.text())
    return FINDINGS if reason is not None or shared.totals.has_findings else DONE


class _Network:
    """The address of the peer, or the one at which it is waited for."""

    def __init__(
        self, host: str, port: int, context: "SSLContext | None", name: str | None, *, is_listening: bool
    ) -> None:
        self._host = host
        self._port = port
        self._context = context
        self._name = (name or host) if context is not None else None
        self._is_listening = is_listening

    async def open(self, peer: str, timeout: float) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return the streams of one connection.

        Raises:
            OSError: The peer did not connect, or was not reached, within `timeout` seconds.
        """
        async with asyncio.timeout(timeout):
            if not self._is_listening:
                return await asyncio.open_connection(
                    self._host, self._port, ssl=self._context, server_hostname=self._name
                )
            return await self._accept(peer)

    async def _accept(self, peer: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        from wiregen.tools.cli.peer_addresses import reach

        came: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
        came = asyncio.get_running_loop().create_future()

        def admit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if came.done():
                writer.transport.abort()
            else:
                came.set_result((reader, writer))

        server = await asyncio.start_server(admit, self._host, self._port, ssl=self._context)
        try:
            port = server.sockets[0].getsockname()[1]
            tell(f"listening on {self._host} port {port} for {peer}{reach(self._host)}")
            return await came
        finally:
            server.close()


async def _run(
    network: _Network,
    side: "Side",
    shared: "SharedWork",
    bounds: "Bounds",
    trace: "Trace | None",
    chance: Random,
) -> str | None:
    """Hold the conversation within the time of the run; return the reason why it could not be held to its end, or None."""
    try:
        async with asyncio.timeout(bounds.seconds):
            return await _hold(network, side, shared, bounds, trace, chance)
    except TimeoutError:
        if shared.totals.n_connections == 0:
            return f"no connection of {side.peer} within {bounds.seconds:g} s"
        return None if trace is None else f"the conversation did not end within {bounds.seconds:g} s"


async def _hold(
    network: _Network,
    side: "Side",
    shared: "SharedWork",
    bounds: "Bounds",
    trace: "Trace | None",
    chance: Random,
) -> str | None:
    """Hold the conversation; return the reason why the peer ended it, or None."""
    import time

    from wiregen.tools.cli.proxying.work import ConnectionWork
    from wiregen.tools.cli.simulating import PeerError, SimulatedPeer

    try:
        reader, writer = await network.open(side.peer, bounds.timeout)
    except OSError as error:
        return f"no connection of {side.peer}: {error.strerror or str(error) or 'the time is over'}"
    shared.totals.n_connections += 1
    work = ConnectionWork(shared, f"{side.own}-{side.peer}", time.time())
    peer = SimulatedPeer(side, work, shared.totals, bounds, reader, writer)
    try:
        await (peer.wander(chance) if trace is None else peer.converse(trace))
    except PeerError as error:
        return str(error)
    finally:
        writer.close()
    return None


def _trace(subject: "Subject", name: str) -> "Trace":
    """Return the trace of a conversation of the file."""
    from wiregen.language.diagnostics import did_you_mean
    from wiregen.language.examples.conversations import told_conversations

    traces = {each.trace.title: each.trace for each in told_conversations(subject.protocol)}
    trace = traces.get(name)
    if trace is None:
        listed = ", ".join(f"`{title}`" for title in traces) or "the file has no conversations"
        raise Failure(
            f"there is no conversation `{name}` in {subject.protocol.name}",
            did_you_mean(name, tuple(traces)) or listed,
        )
    broken = next((each for step in trace.steps for each in step.violations), None)
    if broken is not None:
        raise Failure(
            f"the conversation `{name}` violates `{broken}`",
            "choose one that breaks no rule; `wiregen vectors run` plays the others",
        )
    return trace


def _side(
    subject: "Subject", role: str, limits: tuple[str, ...], options: tuple[str, ...], trace: "Trace | None"
) -> "Side":
    from wiregen.conformance.vectors.endpoints import Side
    from wiregen.schema.lowering import lower
    from wiregen.tools.cli.protocol_options import limits_of, options_of, role_of

    schema = lower(subject.protocol)
    if len(schema.roles) != 2 or not schema.sessions:
        raise Failure(f"{schema.name} has no sessions of two roles", "only such a protocol can be simulated")
    own = role_of(schema, role) or role
    told = {} if trace is None else dict(trace.options)
    return Side(
        schema=schema,
        own=own,
        peer=next(each for each in schema.roles if each != own),
        options=told | options_of(schema, options),
        limits=limits_of(schema, limits),
    )


def _shared(side: "Side", format_: str | None) -> "SharedWork":
    """Return the parts that show and judge both directions."""
    from wiregen.tools.cli.decoding_options import DecodingSettings
    from wiregen.tools.cli.proxying.faults import MessageFaults
    from wiregen.tools.cli.proxying.observing import Observation
    from wiregen.tools.cli.proxying.screen import Screen
    from wiregen.tools.cli.proxying.totals import Totals
    from wiregen.tools.cli.proxying.work import SharedWork

    settings = DecodingSettings(schema=side.schema, limits=side.limits)
    observation = Observation(
        settings=settings,
        program=side.setup.program,
        options=side.options,
        closes=side.schema.on_error == "close",
    )
    shape = format_ or ("tree" if is_terminal(sys.stdout) else "jsonl")
    no_faults = MessageFaults(settings=settings, cuts=(), drops=(), changes=())
    return SharedWork(
        observation, Screen(shape, settings, Clock("iso")), Totals(side.schema.roles), no_faults
    )
