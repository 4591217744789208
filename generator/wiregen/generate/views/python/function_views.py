"""Reading and writing functions as the templates print them."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.generate.views.python.checks import joined_pieces
from wiregen.generate.views.python.reading.step_views import ReadStep
from wiregen.generate.views.python.traits import Traits
from wiregen.generate.views.python.writing.step_views import WriteStep

__all__ = ["CodecView", "ReadFunction", "WriteFunction", "handed_on", "refused_reader"]


def handed_on(parameters: str) -> str:
    """Return parameters as the arguments of a call that passes them on."""
    return "".join(f"{part.split(':')[0].strip()}, " for part in parameters.split(", ") if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFunction:
    """A reading function; `state` says when it makes a state: `never`, for `large` frames, or `always`."""

    name: str
    result: str
    asks_context: bool
    """Whether it always needs a state, which a type checker does not see."""
    has_last: bool
    must_be_last: bool
    is_refused: bool
    refuses_strict: bool
    """Whether it keeps unknown messages, which a strict reader refuses."""
    state: str
    enters: bool
    steps: tuple[ReadStep, ...]
    end: str
    beyond: str
    """The condition of a frame that ends after its region, or is larger than its limit."""
    budget: int
    """The most items of one frame; each takes a byte, so only a `large` frame, with more bytes, has to be counted."""
    class_: str
    """The class of the result; "" if it returns `target` unchanged."""
    target: str
    values: tuple[tuple[str, str], ...]

    @property
    def has_prologue(self) -> bool:
        return self.state != "never" or self.must_be_last or self.enters or self.refuses_strict


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteFunction:
    """A writing function; without `pieces`, `parts` are filled step by step."""

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
    """The most bytes of a frame, if its layout does not ensure them."""
    has_compression: bool
    again: str
    """The function that writes a `large` frame with a state."""
    budget: int
    """The most items of one frame; each takes a byte, so only a `large` frame, with more bytes, has to be counted."""
    is_method: bool
    """Whether it is the body of a method, which has no state."""
    given: tuple[tuple[str, str], ...] = ()
    """Local variables, each with a parameter that may be None.

    They are read only if it is not None, which a type checker does not see.
    """

    @property
    def joined(self) -> str:
        """Return the expression of the bytes."""
        return 'b"".join(parts)' if self.pieces is None else joined_pieces(self.pieces)

    @property
    def is_returned(self) -> bool:
        """Whether the bytes are returned without further tests."""
        return self.limit is None and self.state != "large"

    @property
    def has_prologue(self) -> bool:
        return self.state == "always" or self.must_be_last or self.enters or self.n_trailing > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecView:
    """The functions that read and write one declaration."""

    reads: tuple[ReadFunction, ...]
    writes: tuple[WriteFunction, ...]


def refused_reader(traits: Traits, class_: str) -> ReadFunction:
    """Return a function that leaves its work to the reference codec."""
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
