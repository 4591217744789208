"""Connections without a network: bytes in and events out, messages in and bytes out, the time as an argument.

Invariant: no I/O, no waiting, no clock; a message that `send` refuses leaves the state unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..codec.errors import DecodeError, EncodeError
from ..codec.fragment import part_of
from ..codec.options import Options
from ..codec.values import check_role
from .base_connection import BaseConnection, ErrorAction
from .decisions import refuse
from .events import Event, Fault, Received, Violation
from .package import Package
from .session_error import SessionError

__all__ = ["Connection", "ErrorAction", "Session"]


_Buffer = bytes | bytearray | memoryview


class Connection(BaseConnection):
    """One side of a connection."""

    def __init__(
        self,
        package: Package,
        role: str,
        *,
        strict: bool = False,
        keep_going: bool = False,
        on_error: ErrorAction | None = None,
        limits: Any = None,
        context: Any = None,
        variant: str | None = None,
        options: Mapping[str, object] | None = None,
        now: float = 0.0,
    ) -> None:
        check_role(role, package.roles)
        super().__init__(
            package,
            strict=strict,
            keep_going=keep_going,
            on_error=on_error,
            limits=limits,
            context=context,
            variant=variant,
            options=options or {},
            now=now,
        )
        self._role = role
        self._writing = package.writing(role, self._context, limits, variant)
        self._peer = self._reading(package.program.other(role), shows_pieces=False)
        self._waiting: list[Event] = []
        self._failure: Violation | DecodeError | None = None
        self._is_closed = False

    @property
    def role(self) -> str:
        """The role of this side."""
        return self._role

    @property
    def keeps_going(self) -> bool:
        """Whether violations of the peer are only reported and do not end the connection."""
        return self._keep_going

    @property
    def failure(self) -> Violation | DecodeError | None:
        """The violation or error that ended the connection, or None while it continues."""
        return self._failure

    @property
    def is_closed(self) -> bool:
        """Whether the connection has ended: it was closed, or it failed."""
        return self._is_closed or self._failure is not None

    @property
    def has_more(self) -> bool:
        """Whether `receive` was stopped early, so that its bytes may still contain frames."""
        return self._peer.has_more and not self.is_closed

    @property
    def has_long(self) -> bool:
        """Whether `receive` with `is_brief` has stopped before a frame that may take long."""
        return self.has_more and self._peer.is_postponed

    @property
    def n_pending(self) -> int:
        """The number of bytes that were received and do not belong to a frame that was read."""
        return self._peer.n_pending

    def receive(
        self, chunk: _Buffer, now: float = 0.0, *, most: int | None = None, is_brief: bool = False
    ) -> list[Event]:
        """Return the events that the peer's bytes complete, in order; frames before an error or a violation are kept.

        `most`: the number of events after which the rest is left for the next call, whose chunk may be
        empty: `has_more` tells if there may be any. The events of one frame are not divided.

        `is_brief`: leave a frame that may take long for a call without it: `has_long` tells if there is
        one. Such a frame has, with the bytes after it, more than 128 KiB, inflates to more than 32 KiB, or
        needs the reference codec.

        A reassembled value is one event once it is whole: the reassembled frame, or the last fragment with
        `part.joined`.

        A violation comes before the frame that it is about. A violation of the peer that is not lenient is
        the last event and fails the connection. So does a Fault, unless the next frame can be found and the
        connection continues after errors (`on_error`). After a failure, and after `close`, events end. A
        protocol may answer such a peer: `send` accepts a message that the sessions allow if its parameter
        `despite` is the violation's name or the error's code.
        """
        events = self._passed(now)
        if self.is_closed:
            return events
        self._listen(self._peer)
        if is_brief:
            joins = None if self._context is None else self._context.joins
            return self._noted([*events, *self._peer.feed_briefly(chunk, now, most, joins)])
        return self._noted([*events, *self._peer.feed(chunk, now, most)])

    def tick(self, now: float) -> list[Event]:
        """Return the events of the timers that have run out."""
        return self._passed(now)

    def eof(self, now: float = 0.0) -> list[Event]:
        """Return the events that `receive` has left, and those of the end of the stream: a Fault if a frame
        is cut off, and Ended.
        """
        events = self.receive(b"", now) if self.has_more else self._passed(now)
        if self.is_closed:
            return events
        return self._noted([*events, *self._peer.end(now)])

    def close(self) -> None:
        """Close this side: it sends no more messages and reports no more events."""
        self._is_closed = True

    def next_timeout(self) -> float | None:
        """Return the time at which `tick` has an event, or None without a running timer."""
        return None if self.is_closed else super().next_timeout()

    def _send(
        self,
        message: object,
        now: float,
        header: Mapping[str, object],
        writing: Mapping[str, object],
        split: int | None = None,
        *,
        despite: str | None = None,
    ) -> bytes:
        """Return the bytes of a message, a frame or a preamble, and record that they are sent."""
        if not self.is_closed:
            self._waiting += self._noted(self._expired(now))
        self._refuse_closed(despite)
        frame = self._as_written(self._package.framed(self._role, message, header), writing)
        if split is not None:
            return self._send_split(frame, now, writing, split, despite)
        if self._engine.has_inner(self._role, frame):
            return self._send_nested(frame, now, writing, despite)
        if self._may_make_whole(frame):
            return self._send_last_piece(frame, now, writing, despite)
        try:
            decision = self._engine.decide(self._role, frame, now)
        except Exception:
            self._encoded(
                frame, writing
            )  # a value that no row can be asked about is one that cannot be written
            raise
        refuse(decision, despite)
        data = self._written(frame, writing)
        self._engine.commit(decision, now)
        return data

    def _send_nested(
        self, frame: object, now: float, writing: Mapping[str, object], despite: str | None
    ) -> bytes:
        """Send a frame that holds others: the sessions see each after the one before, and all are undone if
        one is refused.
        """
        package, role = self._package, self._role
        saved = self._engine.save()
        try:
            try:
                self._engine.see(
                    role, frame, now, despite=despite, framed=lambda each: package.framed(role, each, {})
                )
            except SessionError:
                raise
            except Exception:
                self._encoded(frame, writing)
                raise
            return self._written(frame, writing)
        except BaseException:
            self._engine.restore(saved)
            raise

    def _may_make_whole(self, frame: object) -> bool:
        context = self._context
        return context is not None and hasattr(frame, "message") and bool(context.may_make_whole(frame))

    def _send_last_piece(
        self, frame: object, now: float, writing: Mapping[str, object], despite: str | None
    ) -> bytes:
        """Send the last fragment; the sessions see the reassembled frame, if any, after it. Both are undone
        if one is refused.
        """
        saved = self._engine.save()
        try:
            data = self._encoded(frame, writing)
            self._remember(frame, lambda each, role: self._engine.see(role, each, now, despite=despite))
        except BaseException:
            self._engine.restore(saved)
            raise
        return data

    def _send_split(
        self, frame: object, now: float, writing: Mapping[str, object], size: int, despite: str | None
    ) -> bytes:
        """Send a frame in fragments; all of them are undone if one is refused."""
        from .fragmenting import Splitting

        package, engine = self._package, self._engine
        if engine.is_other(self._role, frame):
            raise SessionError("wrong_kind", local=True, detail="wrong_kind")
        saved, known = engine.save(), None if self._context is None else self._context.snapshot()
        divide = Splitting(package.schema, package.classes.by_name, self._options())
        sent = []
        try:
            for piece, seen in divide.pieces(
                frame,
                size,
                lambda each: self._encoded(each, writing),
                lambda each: engine.decide(self._role, each, now).refusal is None,
            ):
                for each in seen:
                    engine.see(self._role, each, now, despite=despite)
                sent.append(self._encoded(piece, writing))
                if piece is not frame and part_of(piece) is not None:
                    piece.part = None  # its note was for the encoder: what is sent is not reassembled here
                self._remember(seen[0])
        except BaseException as error:
            engine.restore(saved)
            if known is not None:
                self._context.restore(known)
            if isinstance(error, Exception) and not isinstance(error, (ValueError, SessionError)):
                self._encoded(frame, writing)  # a value that cannot be divided is one that cannot be written
            raise
        return b"".join(sent)

    def _as_written(self, frame: object, writing: Mapping[str, object]) -> object:
        """Return the frame, or the one in its bytes if it has values of a caller's own classes: the sessions see what the peer reads."""
        if self._package.classes.are_plain(frame):
            return frame
        return self._package.read_back(frame, self._encoded(frame, writing), self._options())

    def _options(self) -> Options:
        limits = {} if self._limits is None else self._limits.to_dict()
        return Options(self._role, context=self._context, limits=limits, variant=self._variant)

    def _written(self, frame: object, writing: Mapping[str, object]) -> bytes:
        data = self._encoded(frame, writing)
        self._remember(frame)
        return data

    def _encoded(self, frame: object, writing: Mapping[str, object]) -> bytes:
        return self._package.encode(frame, **writing, **self._writing)

    def _remember(self, frame: Any, listener: Callable[[object, str], None] | None = None) -> None:
        """Update the context with a frame that is sent; call `listener` with it, and with the frame that it completes.

        Raises:
            EncodeError: The context cannot take in more.
        """
        if self._context is None or not hasattr(frame, "message"):
            return
        context = self._context
        context.listener = listener
        known = context.mark(frame, self._role)
        try:
            context.take(frame, self._options())
        except BaseException as error:
            context.joins.journal = None
            context.undo(known)
            if isinstance(error, DecodeError):
                raise EncodeError(error.code, path=error.path, expected=error.expected) from None
            raise
        context.joins.journal = None

    def _refuse_closed(self, despite: str | None) -> None:
        if self._is_closed:
            raise SessionError("closed", local=True, detail="the connection is closed")
        match self._failure:
            case None:
                return
            case DecodeError(code=name) as failure:
                why, frame, offset, local = str(failure), None, failure.frame_offset, False
            case Violation(name=name, detail=why, frame=frame, role=role, offset=offset):
                local = role is None
        if name != despite:
            detail = f"the connection has failed: {why}; to send an answer before the close, pass despite={name!r} to `send`"
            at = None if local else offset
            raise SessionError(name, local=local, detail=detail, frame=frame, frame_offset=at)

    def _passed(self, now: float) -> list[Event]:
        """Return the events of the time that has passed."""
        events, self._waiting = self._waiting, []
        return events if self.is_closed else [*events, *self._noted(self._expired(now))]

    def _noted(self, events: list[Event]) -> list[Event]:
        """Record the event that ends the connection."""
        for event in events:
            if type(event) is Received:
                continue
            if isinstance(event, Violation) and not event.lenient and not self._keep_going:
                self._failure = event
            if isinstance(event, Fault) and not (event.error.recoverable and self._continues):
                self._failure = event.error
        return events


class Session(BaseConnection):
    """Both directions of a connection, as a passive observer sees them.

    Violations do not end a connection. If it closes after an error (`on_error`), a direction ends at its
    first Fault: its receiver reads no further, and neither do the sessions. The other direction goes on.
    """

    def __init__(
        self,
        package: Package,
        *,
        strict: bool = False,
        on_error: ErrorAction | None = None,
        limits: Any = None,
        context: Any = None,
        variant: str | None = None,
        options: Mapping[str, object] | None = None,
        now: float = 0.0,
    ) -> None:
        super().__init__(
            package,
            strict=strict,
            keep_going=True,
            on_error=on_error,
            limits=limits,
            context=context,
            variant=variant,
            options=options or {},
            now=now,
        )
        self._directions = {role: self._reading(role, shows_pieces=True) for role in package.roles}

    def observe(self, role: str, chunk: _Buffer, now: float = 0.0) -> list[Event]:
        """Return the events that the bytes of a role complete."""
        check_role(role, self._package.roles)
        events = self._expired(now)
        self._listen(self._directions[role])
        return [*events, *self._directions[role].feed(chunk, now)]

    def tick(self, now: float) -> list[Event]:
        """Return the events of the timers that have run out."""
        return self._expired(now)

    def eof(self, role: str, now: float = 0.0) -> list[Event]:
        """Return the events of the end of a role's direction."""
        check_role(role, self._package.roles)
        return [*self._expired(now), *self._directions[role].end(now)]
