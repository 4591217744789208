"""The error of a message that a session does not allow."""

from __future__ import annotations

from ..codec.errors import restore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["SessionError"]


class SessionError(RuntimeError):
    """A message that may not be sent at this moment, or another event that ended a session.

    Attributes:
        violation: The protocol's name of the violation.
        local: Whether this side caused the violation, or waited in vain; otherwise the peer caused it.
        frame: The forbidden frame that the peer sent, if it is known.
        frame_offset: Where that frame begins in the peer's stream, if it is known.
    """

    def __init__(
        self,
        violation: str,
        *,
        local: bool,
        detail: str = "",
        frame: Any = None,
        frame_offset: int | None = None,
    ) -> None:
        self.violation = violation
        self.local = local
        self.detail = detail
        self.frame = frame
        self.frame_offset = frame_offset
        who = ("local" if local else "remote") + (
            "" if frame_offset is None else f", frame at {frame_offset}"
        )
        super().__init__(f"{violation} ({who})" + (f": {detail}" if detail else ""))

    def __reduce__(self) -> tuple[object, ...]:
        return restore, (type(self), self.args, self.__dict__)
