"""The interface of compiled code that makes lines."""

from collections.abc import Callable, Mapping
from typing import Protocol

from wiregen.formats.jsonl import Carrier
from wiregen.runtime.codec.options import Options

__all__ = ["CompiledCodec"]


class CompiledCodec(Carrier, Protocol):
    """Compiled code that writes the frames that it read."""

    @property
    def classes(self) -> Mapping[str, object]:
        """The names of its package with their values, its classes among them."""

    def encoder(self, options: Options) -> Callable[[object], bytes]:
        """Return a function that returns the bytes of a frame of the package; it may raise EncodeError."""
