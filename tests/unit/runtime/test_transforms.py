"""Transforms of the content of regions: each is described once, and each table has them all."""

from __future__ import annotations

import sys
from typing import get_args

import pytest

from wiregen.runtime.codec import compression
from wiregen.runtime.codec.transforms import TRANSFORMS, MalformedError, Transform
from wiregen.runtime.schema.literals import Algorithm, Code

CONTENTS = (b"", b"a", b"\0", b"\0\0", b"a\0b\0", bytes(range(256)) * 4, b"a" * 253, b"a" * 254, b"a" * 255)
each_transform = pytest.mark.parametrize(
    "transform", [pytest.param(transform, id=name) for name, transform in TRANSFORMS.items()]
)


def test_each_word_is_described() -> None:
    place = "runtime/codec/transforms.py and the words in runtime/schema/literals.py"
    assert set(TRANSFORMS) == set(get_args(Algorithm)), place


@each_transform
def test_an_error_is_one_of_the_closed_list(transform: Transform) -> None:
    assert transform.error in get_args(Code), "runtime/schema/literals.py"


@each_transform
def test_compiled_code_has_its_functions(transform: Transform) -> None:
    assert {transform.reader, transform.writer} <= set(compression.__all__), "runtime/codec/compression.py"


@each_transform
@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: f"{len(content)}-{content[:2].hex()}")
def test_content_comes_back_from_its_bytes(transform: Transform, content: bytes) -> None:
    for level in (0, -1, 9):
        data = transform.encode(content, level)
        assert transform.decode(data, len(content)) == content
        assert len(data) >= transform.least
        assert transform.is_compression or len(data) >= len(content)


@each_transform
def test_a_part_of_the_bytes_does_not_have_the_content(transform: Transform) -> None:
    for content in CONTENTS:
        data = transform.encode(content, 9)
        for end in range(min(len(data), 300)):
            assert _content(transform, data[:end]) != content
    assert _content(transform, b"") is None


def _content(transform: Transform, data: bytes) -> bytes | None:
    try:
        return transform.decode(data, sys.maxsize - 1)
    except MalformedError:
        return None


@each_transform
def test_the_least_size_is_that_of_empty_content(transform: Transform) -> None:
    assert min(len(transform.encode(b"", level)) for level in range(-1, 10)) == transform.least


@each_transform
def test_longer_content_is_not_made_as_a_whole(transform: Transform) -> None:
    data = transform.encode(bytes(1 << 20), 9)
    assert len(transform.decode(data, 10)) == 11 if transform.is_compression else len(data) > 1 << 20
