"""Addresses of peers as typed, and TLS with the files that the user names."""

import re
import ssl
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from wiregen.language.regular_files import read_regular
from wiregen.tools.cli.failure import USAGE, Failure

__all__ = ["address_of", "peer_tls", "reach", "refuse_tls_options", "tls_client", "tls_from", "tls_server"]

_ADDRESS = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.%]+)\]:|(?P<host>[^:\[\]]*):)?(?P<port>[0-9]{1,5})")
_LOOPBACK: Final = "127.0.0.1"
_LARGEST_PEM: Final = 16 << 20


def address_of(text: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`, `[IPV6]:PORT` or `PORT`, which is one of this computer."""
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > 65535:
        raise Failure(
            f"`{text}` is not HOST:PORT", "write it like 127.0.0.1:5044, [::1]:5044 or 5044", code=USAGE
        )
    return match["v6"] or match["host"] or _LOOPBACK, int(match["port"])


def reach(host: str) -> str:
    """Return a warning if other computers can connect to a listener, or ""."""
    try:
        is_here = host == "localhost" or ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        is_here = False
    return "" if is_here else ": every host that reaches this computer can connect, not only the peer"


def peer_tls(
    *,
    is_tls: bool,
    is_server: bool,
    ca: str | None,
    cert: str | None,
    key: str | None,
    server_name: str | None,
) -> ssl.SSLContext | None:
    """Return the TLS settings in the options of a verb that connects or listens; exit if they do not fit together."""
    if not is_tls:
        given = {"--ca": ca, "--cert": cert, "--key": key, "--server-name": server_name}
        refuse_tls_options("--tls", given)
        return None
    if not is_server:
        return tls_from((ca, cert, key), lambda: tls_client(ca, cert, key))
    if not cert or not key:
        raise Failure("--listen with --tls needs --cert and --key", "give both as PEM files", code=USAGE)
    return tls_from((ca, cert, key), lambda: tls_server(cert, key, ca))


def refuse_tls_options(needed: str, options: Mapping[str, str | None]) -> None:
    """Refuse options of TLS where it is not used; `needed` is the option that turns it on."""
    given = next((name for name, value in options.items() if value), None)
    if given is not None:
        raise Failure(f"{given} is only for TLS", f"add {needed}", code=USAGE)


def tls_from(files: Iterable[str | None], make: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """Return the settings that `make` reads from PEM files; exit if one of them is not regular, or is wrong."""
    try:
        for name in filter(None, files):
            read_regular(Path(name), _LARGEST_PEM)  # the code that reads them later would wait for a pipe
        return make()
    except OSError as error:
        raise Failure(f"TLS cannot be set up: {error}", "check the PEM files", code=USAGE) from None


def tls_server(cert: str, key: str, ca: str | None) -> ssl.SSLContext:
    """Return TLS 1.2 or later of a listener; with `ca`, peers need certificates that this authority has signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(cert, key)
    if ca:
        context.load_verify_locations(ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def tls_client(ca: str | None, cert: str | None, key: str | None) -> ssl.SSLContext:
    """Return TLS 1.2 or later for connections to a peer, whose name and certificate are checked."""
    context = ssl.create_default_context(cafile=ca)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if cert:
        context.load_cert_chain(cert, key)
    return context
