"""The failures of a probe: a line for people and a number for scripts.

Invariant: text from a peer goes through `shown` before it is displayed.
"""

from __future__ import annotations

from enum import IntEnum

from wireproto import pravega

__all__ = ["Exit", "Failure", "failure_of", "refusal", "shown"]


class Exit(IntEnum):
    """Exit codes."""

    NETWORK = 1
    """A host that does not answer, no TLS, a connection that ended too early; or the output could not be written."""
    ARGUMENTS = 2
    VERSION = 3
    """The store speaks other versions of the protocol."""
    NO_SUCH_SEGMENT = 4
    WRONG_HOST = 5
    TOKEN = 6
    OFFSET = 7
    """The segment does not have bytes there, or no longer has them."""
    REFUSED = 8
    """Any other error reply."""
    TIMEOUT = 9
    PROTOCOL = 10
    """The peer's bytes are not the protocol, break its rules, or answer another request."""
    INTERRUPTED = 130


class Failure(Exception):
    """The reason for the end of a probe; its text may hold words of the peer."""

    def __init__(self, exit_code: Exit, text: str) -> None:
        self.exit_code = exit_code
        super().__init__(text)


def shown(text: str, *, secret: str = "", longest: int = 500) -> str:
    """Return a text for a terminal: without the secret, shortened, and with escapes for unprintable characters."""
    clean = text.replace(secret, "…") if secret else text
    cut = clean if len(clean) <= longest else f"{clean[:longest]}…"
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in cut)


def refusal(reply: object) -> Failure | None:
    """Return the failure of a reply that is an error. The store's stack traces are left out."""
    match reply:
        case pravega.NoSuchSegment():
            return Failure(Exit.NO_SUCH_SEGMENT, "the segment does not exist")
        case pravega.WrongHost(correct_host=host):
            where = f": {host}" if host else ""
            return Failure(Exit.WRONG_HOST, f"the segment is served elsewhere{where}")
        case pravega.AuthTokenCheckFailed(error_code=pravega.AuthError.TOKEN_EXPIRED):
            return Failure(Exit.TOKEN, "the token has expired")
        case pravega.AuthTokenCheckFailed():
            return Failure(Exit.TOKEN, "the token does not allow this")
        case pravega.SegmentIsTruncated(start_offset=start):
            return Failure(Exit.OFFSET, f"the requested bytes were dropped: the segment begins at {start}")
        case pravega.OperationUnsupported(operation_name=name):
            return Failure(Exit.REFUSED, f"the store does not support {name}")
        case pravega.ErrorMessage(message_=text, error_code=code):
            return Failure(Exit.REFUSED, f"the store refuses ({_name(code)}): {text}")
        case _:
            return None


def failure_of(error: Exception) -> Failure:
    """Return the failure of an error in the connection, or of the machine."""
    match error:
        case Failure():
            return error
        case pravega.SessionError(violation="incompatible_version", frame=pravega.Frame(message=hello)):
            return Failure(Exit.VERSION, _versions(hello))
        case pravega.SessionError(detail=detail):
            return Failure(Exit.PROTOCOL, f"the store breaks the protocol: {detail}")
        case pravega.DecodeError(code="truncated"):
            return Failure(Exit.NETWORK, "the connection ended in the middle of a message")
        case pravega.DecodeError():
            return Failure(Exit.PROTOCOL, f"what came is not Pravega's protocol: {error}")
        case pravega.EncodeError():
            return Failure(Exit.ARGUMENTS, f"this cannot be asked: {error}")
        case TimeoutError():
            return Failure(Exit.TIMEOUT, "no answer in time")
        case _:
            return Failure(Exit.NETWORK, str(error) or type(error).__name__)


def _versions(theirs: object) -> str:
    ours = pravega.Hello()
    assert isinstance(theirs, pravega.Hello), "no other message is held against versions"
    return (
        f"the store speaks wire versions {theirs.low_version} to {theirs.high_version},"
        f" this probe {ours.low_version} to {ours.high_version}"
    )


def _name(code: object) -> str:
    """Return the name of an enum's member, or a number without a member."""
    return str(getattr(code, "name", code))
