"""Transforms of the content of a region: the bytes that carry it, and how they become it again.

A transform is defined only here. Codecs, vectors, fuzzing and pages use it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from ..schema.literals import Algorithm, Code

__all__ = ["TRANSFORMS", "MalformedError", "Transform"]


class MalformedError(Exception):
    """Bytes that a transform does not make of any content.

    `at`: the offset of the first wrong byte. `n_left`: the number of bytes after the end of the content, if they
    are the only ones that are wrong.
    """

    def __init__(self, expected: str, found: str, *, at: int = 0, n_left: int = 0) -> None:
        super().__init__(expected, found)
        self.expected = expected
        self.found = found
        self.at = at
        self.n_left = n_left


class Transform:
    """A way to carry content as other bytes.

    `is_compression`: content may be far longer than its bytes, so that `limits.inflated` bounds it, and a level
    chooses its bytes; otherwise it is never longer, and always has the same bytes.
    `error`: the code of malformed bytes. `least`: the size of the bytes of empty content.
    `body`: the word for the bytes. `done`: the word for content that was carried by them.
    `reader` and `writer`: the functions of `codec.compression` that compiled code calls.
    """

    __slots__ = ("body", "decode", "done", "encode", "error", "is_compression", "least", "reader", "writer")

    def __init__(
        self,
        decode: Callable[[bytes, int], bytes],
        encode: Callable[[bytes, int], bytes],
        *,
        is_compression: bool,
        error: Code,
        least: int,
        body: str,
        done: str,
        reader: str,
        writer: str,
    ) -> None:
        self.decode = decode
        """Return the content of bytes; more than the given number of bytes, if it is longer. MalformedError."""
        self.encode = encode
        """Return the bytes of content, with a level of compression."""
        self.is_compression = is_compression
        self.error = error
        self.least = least
        self.body = body
        self.done = done
        self.reader = reader
        self.writer = writer


def _of_zlib(algorithm: Algorithm, window_bits: int, least: int) -> Transform:
    def decode(data: bytes, most: int) -> bytes:
        import zlib

        stream = zlib.decompressobj(window_bits)
        try:
            content = stream.decompress(data, most + 1)
        except zlib.error:
            raise MalformedError(algorithm, "something else") from None
        if len(content) > most:
            return content
        if not stream.eof:
            raise MalformedError("a whole stream", "a part")
        if stream.unused_data:
            raise MalformedError("the end of the stream", "more", n_left=len(stream.unused_data))
        return content

    def encode(data: bytes, level: int) -> bytes:
        """Return one stream; a gzip header without a time, so that equal values have equal bytes."""
        import zlib

        stream = zlib.compressobj(level, zlib.DEFLATED, window_bits)
        return stream.compress(data) + stream.flush()

    return Transform(
        decode,
        encode,
        is_compression=True,
        error="inflate_failed",
        least=least,
        body="stream",
        done="inflated",
        reader="inflate",
        writer="deflate",
    )


TRANSFORMS: Final[dict[Algorithm, Transform]] = {
    "zlib": _of_zlib("zlib", 15, 8),
    "gzip": _of_zlib("gzip", 31, 20),
    "deflate": _of_zlib("deflate", -15, 2),
}
"""Sizes of the compressed empty string: RFC 1950, 1952, 1951."""
