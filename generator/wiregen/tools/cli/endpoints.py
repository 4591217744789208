"""The options of `vectors run` that check a live peer with conversation traces, and the verdicts on them."""

import asyncio
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wiregen.tools.cli.failure import USAGE, Failure
from wiregen.tools.cli.messages import tell
from wiregen.tools.cli.peer_addresses import address_of, peer_tls, reach

if TYPE_CHECKING:
    from wiregen.conformance.judge import Verdict
    from wiregen.conformance.judge.checks import AnyVector
    from wiregen.conformance.vectors.endpoints import AnswerCounts, Network, Patience, Side
    from wiregen.runtime.schema.protocol import Schema

__all__ = ["EndpointOptions", "verdicts_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """The options of the user, as typed. Exactly one of `connect` and `listen` is given."""

    connect: str | None
    listen: str | None
    role: str | None
    tls: bool
    ca: str | None
    cert: str | None
    key: str | None
    server_name: str | None
    strict: bool
    limits: tuple[str, ...]
    options: tuple[str, ...]
    without: tuple[str, ...]
    refusals: tuple[str, ...]
    quiet: float
    pause: float
    timeout: float
    at_once: int

    def name(self, side: "Side") -> str:
        """Return the name of the peer in reports."""
        return f"{side.peer} at {self.connect}" if self.connect else f"{side.peer} that connects"

    def notes(self, answers: "AnswerCounts") -> tuple[str, ...]:
        """Return notes for the report about a peer that never sent any bytes of the protocol."""
        if answers.n_heard or not (answers.n_tls or answers.n_closed or answers.n_quiet):
            return ()
        if not self.tls and answers.n_tls:
            return ("the peer answered with TLS records: it may expect TLS (--tls)",)
        said = "the peer never sent any bytes: the passed vectors do not need an answer"
        if not answers.n_closed or answers.n_quiet:
            return (said,)
        cause = "it may ask for a certificate (--cert, --key)" if self.tls else "it may expect TLS (--tls)"
        return (f"{said}; it closed every connection: {cause}",)

    def network(self) -> "Network":
        """Return the address and TLS settings of the peer; exit if they are invalid."""
        from wiregen.conformance.vectors.endpoints import Network

        host, port = address_of(self.connect or self.listen or "")
        return Network(
            host=host,
            port=port,
            is_listening=self.listen is not None,
            ssl=self._tls(),
            server_name=self.server_name,
            n_at_once=self.at_once,
            waiting=max(30.0, self.timeout),
        )

    def patience(self) -> "Patience":
        from wiregen.conformance.vectors.endpoints import Patience

        return Patience(refusal=self.timeout, quiet=self.quiet, pause=self.pause)

    def side(self, schema: "Schema", vectors: "tuple[AnyVector, ...]") -> "Side":
        """Return the runner's side: by convention the protocol's first role connects."""
        from wiregen.conformance.vectors.endpoints import Side
        from wiregen.tools.cli.protocol_options import limits_of, options_of, role_of

        roles = schema.roles
        if len(roles) < 2 or not schema.sessions:
            raise Failure(
                f"{schema.name} has no sessions of two roles",
                "only protocols with such sessions have conversation traces",
            )
        peer = role_of(schema, self.role) or roles[0 if self.listen is not None else 1]
        own = next(each for each in roles if each != peer)
        for name in (*self.without, *self.refusals):
            _known_message(schema, name)
        return Side(
            schema=schema,
            own=own,
            peer=peer,
            is_strict=self.strict,
            options=options_of(schema, self.options),
            limits=limits_of(schema, self.limits),
            without=frozenset(self.without),
            refusals=frozenset(self.refusals),
            samples=Side.samples_of(vectors, own),
            can_half_close=not self.tls,
            is_called=self.listen is not None,
        )

    def _tls(self) -> ssl.SSLContext | None:
        return peer_tls(
            is_tls=self.tls,
            is_server=self.listen is not None,
            ca=self.ca,
            cert=self.cert,
            key=self.key,
            server_name=self.server_name,
        )


def verdicts_of(
    endpoint: EndpointOptions,
    schema: "Schema",
    vectors: "tuple[AnyVector, ...]",
    side: "Side",
    answers: "AnswerCounts",
) -> "Iterator[Verdict]":
    """Yield the verdicts of all traces in the order of the file, without other vectors.

    `answers` counts the reactions of the peer.

    Raises:
        Failure: The peer does not accept connections, or it is not possible to listen at the address.
    """
    from wiregen.conformance.judge import Verdict
    from wiregen.conformance.vectors.endpoints import NetworkError, Script, Unfit, held, script_of
    from wiregen.conformance.vectors.format import Trace
    from wiregen.tools.cli.verification import progress_of_vectors

    traces = [vector for vector in vectors if isinstance(vector, Trace)]
    if not traces:
        raise Failure(
            _no_trace(schema, vectors), "give a file with conversation traces: vectors of the kind `trace`"
        )
    network, scripts, unfit = endpoint.network(), list[Script](), dict[str, Verdict]()
    for trace in traces:
        try:
            scripts.append(script_of(trace, side))
        except Unfit as error:
            unfit[trace.id] = Verdict(id=trace.id, outcome="skipped", reason=str(error))

    def listening(port: int) -> None:
        tell(f"listening on {network.host} port {port} for {side.peer}{reach(network.host)}")

    try:
        with progress_of_vectors(len(scripts), n_a_line=1) as advance:
            running = held(
                scripts,
                side,
                network,
                endpoint.patience(),
                listening=listening,
                told=advance,
                answers=answers,
            )
            found = asyncio.run(running)
    except NetworkError as error:
        way_out = "start the peer, and give its address as HOST:PORT"
        if endpoint.tls:
            way_out = (
                "check that the peer uses TLS at this port, and check its certificate; --tls requires TLS"
            )
        raise Failure(str(error), way_out, code=USAGE) from None
    return iter([(found | unfit)[trace.id] for trace in traces])


def _no_trace(schema: "Schema", vectors: "tuple[AnyVector, ...]") -> str:
    """Return the message that the vectors hold no trace."""
    if len(vectors) == 1:
        return f"vector `{vectors[0].id}` is of the kind `{vectors[0].kind}`, not a trace"
    return f"{schema.name} has {len(vectors)} vectors, but no conversation traces"


def _known_message(schema: "Schema", name: str) -> None:
    from wiregen.language.diagnostics import did_you_mean

    if name not in schema.messages:
        known = tuple(schema.messages)
        raise Failure(
            f"there is no message `{name}` in {schema.name}", did_you_mean(name, known) or ", ".join(known)
        )
