"""Reading and writing functions as the templates print them."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.generate.views.python.checks import joined_pieces
from wiregen.generate.views.python.reading.step_views import ReadStep
from wiregen.generate.views.python.writing.step_views import WriteStep

__all__ = ["CodecView", "ReadFunction", "Traits", "WriteFunction", "handed_on", "refused_reader"]


def handed_on(parameters: str) -> str:
    """Return parameters as they are handed on."""
    return "".join(f"{part.split(':')[0].strip()}, " for part in parameters.split(", ") if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFunction:
    """A reading function; `state` says when one is made: never, for `large` frames, or `always`."""

    name: str
    result: str
    asks_context: bool
    """It cannot do without a state, nor does a type checker see that it has one."""
    has_last: bool
    must_be_last: bool
    is_refused: bool
    refuses_strict: bool
    """It keeps what is not known, which is not strict."""
    state: str
    enters: bool
    steps: tuple[ReadStep, ...]
    end: str
    beyond: str
    """The condition of a frame that goes on behind its end, or is larger than its limit."""
    budget: int
    """Items that one frame may hold: as each takes a byte, a `large` frame is one of more bytes."""
    class_: str
    """What it makes; "": it returns `target` as it stands."""
    target: str
    values: tuple[tuple[str, str], ...]

    @property
    def has_prologue(self) -> bool:
        return self.state != "never" or self.must_be_last or self.enters or self.refuses_strict


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteFunction:
    """A writing function; `pieces` is None where `parts` are filled as it goes."""

    name: str
    owner: str
    class_: str
    annotation: str
    parameters: str
    asks_context: bool
    has_last: bool
    must_be_last: bool
    is_refused: bool
    state: str
    enters: bool
    n_trailing: int
    steps: tuple[WriteStep, ...]
    pieces: tuple[str, ...] | None
    limit: int | None
    """The most bytes of a frame, where its layout does not see to that."""
    has_compression: bool
    again: str
    """What writes a `large` frame with a state."""
    budget: int
    """Items that one frame may hold: as each takes a byte, a `large` frame is one of more bytes."""
    is_method: bool
    """It is the body of a method, which has no state."""
    given: tuple[tuple[str, str], ...] = ()
    """Local variables, each with the parameter that may be None: they are read only where it is not, which a type checker does not see."""

    @property
    def joined(self) -> str:
        """Return the expression of the bytes."""
        return 'b"".join(parts)' if self.pieces is None else joined_pieces(self.pieces)

    @property
    def is_returned(self) -> bool:
        """Whether nothing is asked of the bytes before they are returned."""
        return self.limit is None and self.state != "large"

    @property
    def has_prologue(self) -> bool:
        return self.state == "always" or self.must_be_last or self.enters or self.n_trailing > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a function is beside its steps."""

    name: str
    is_frame: bool
    owner: str = ""
    has_last: bool = False
    must_be_last: bool = False
    is_heavy: bool = False
    """It inflates, or can stand in itself: it always needs a state."""
    enters: bool = False
    """It counts as one level of nesting."""
    is_inside: bool = False
    """It can stand in what counts as a level of nesting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecView:
    """The functions that read and write one declaration."""

    reads: tuple[ReadFunction, ...]
    writes: tuple[WriteFunction, ...]


def refused_reader(traits: Traits, class_: str) -> ReadFunction:
    """Return a function of which the careful codec does the work."""
    return ReadFunction(
        name=traits.name,
        result=class_,
        asks_context=False,
        has_last=traits.has_last,
        must_be_last=False,
        is_refused=True,
        refuses_strict=False,
        state="never",
        enters=False,
        steps=(),
        end="",
        beyond="",
        budget=0,
        class_=class_,
        target="message",
        values=(),
    )
