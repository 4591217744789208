"""Vector files as test cases: `pytest --wire-vectors FILE|DIR` checks your own codec (docs/vectors.md).

With `--wire-codec MODULE:OBJECT`, each vector is a test. Otherwise the codec is the value of the fixture
`wire_codec`, and every test that takes `wire_vector` runs for each vector.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from wiregen.conformance.judge.checks import AnyVector

__all__ = ["WireVector", "wire_codec", "wire_vector"]

_PATHS = "wire_vectors"
_NO_CODEC = "give the codec: --wire-codec MODULE:OBJECT, or a fixture `wire_codec` and a test that takes `wire_vector`"


class WireVector:
    """A vector and the codec that is checked against it."""

    def __init__(self, vector: AnyVector, codec: object, *, with_large: bool = False) -> None:
        self.vector = vector
        self._codec = codec
        self._with_large = with_large

    def check(self) -> None:
        """Fail, pass or skip the calling test, by the verdict of the vector."""
        from wiregen.conformance.judge import judge
        from wiregen.conformance.judge.python_codec import PythonCodec

        verdict = judge(self.vector, PythonCodec(self._codec), with_large=self._with_large)
        if verdict.outcome == "skipped":
            pytest.skip(verdict.reason)
        if verdict.findings:
            pytest.fail("\n".join(map(str, (self.vector.id, *verdict.findings))), pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("wire vectors")
    group.addoption(
        "--wire-vectors",
        action="append",
        default=[],
        metavar="PATH",
        help="a file of vectors, or a folder of them",
    )
    group.addoption("--wire-codec", metavar="MODULE:OBJECT", help="the codec that is checked with them")
    group.addoption(
        "--wire-expected-failures",
        metavar="FILE",
        help="vectors that are known to fail: one id a line, followed by `# reason`",
    )
    group.addoption("--wire-large", action="store_true", help="include vectors of more than 1 MiB")


def _with_large(config: pytest.Config) -> bool:
    return bool(config.getoption("wire_large"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise every test that takes `wire_vector` with all vectors; if there are none, pytest skips it."""
    if "wire_vector" in metafunc.fixturenames:
        known = _expected(metafunc.config)
        parameters = [
            pytest.param(vector, id=vector.id, marks=_marks(vector.id, known))
            for _, vectors in _files(metafunc.config)
            for vector in vectors
        ]
        metafunc.parametrize("wire_vector", parameters, indirect=True)


@pytest.fixture
def wire_codec(request: pytest.FixtureRequest) -> object:
    """The codec under test: that of `--wire-codec`, unless a test overrides this fixture."""
    return _named_codec(request.config)


@pytest.fixture
def wire_vector(request: pytest.FixtureRequest, wire_codec: object) -> WireVector:
    """A vector of `--wire-vectors`; `check()` checks the codec against it."""
    return WireVector(request.param, wire_codec, with_large=_with_large(request.config))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each vector where the codec is named."""
    if not config.getoption(_PATHS):
        return
    if config.getoption("wire_codec"):
        _named_codec(config)  # a name that leads nowhere is told once, not by every test
        items.extend(_items(session, config))
    elif not any("wire_vector" in getattr(item, "fixturenames", ()) for item in items):
        raise pytest.UsageError(_NO_CODEC)


class VectorsCollector(pytest.File):
    """A file of vectors."""

    def collect(self) -> list[pytest.Item]:
        return []


class VectorItem(pytest.Item):
    """One vector, checked against the codec of `--wire-codec`."""

    vector: AnyVector

    def runtest(self) -> None:
        WireVector(self.vector, _named_codec(self.config), with_large=_with_large(self.config)).check()

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def _items(session: pytest.Session, config: pytest.Config) -> Iterator[pytest.Item]:
    known = _expected(config)
    for path, vectors in _files(config):
        parent = VectorsCollector.from_parent(session, path=path)
        for vector in vectors:
            item = VectorItem.from_parent(parent, name=vector.id)
            item.vector = vector
            for mark in _marks(vector.id, known):
                item.add_marker(mark)
            yield item


def _files(config: pytest.Config) -> Iterator[tuple[Path, tuple[AnyVector, ...]]]:
    from wiregen.conformance.judge.vector_files import MOST_BYTES, read_file
    from wiregen.conformance.vectors.format import VectorsError
    from wiregen.language.regular_files import read_regular

    for name in config.getoption(_PATHS):
        given = (config.invocation_params.dir / name).resolve()
        paths = sorted(given.glob("*.json")) if given.is_dir() else [given]
        for path in paths:
            if path.name.endswith(".schema.json"):
                continue
            try:
                yield path, read_file(read_regular(path, MOST_BYTES)).vectors
            except (VectorsError, OSError) as error:
                raise pytest.UsageError(f"{path}: {error}") from None


def _expected(config: pytest.Config) -> dict[str, str]:
    from wiregen.conformance.judge.expected_failures import read_expected

    name = config.getoption("wire_expected_failures")
    if name is None:
        return {}
    try:
        return read_expected(config.invocation_params.dir / name)
    except OSError as error:
        raise pytest.UsageError(f"{name}: {error.strerror}") from None


def _marks(id_: str, known: dict[str, str]) -> list[pytest.MarkDecorator]:
    """Return the mark that makes a vector with an expected failure fail if it passes."""
    return [pytest.mark.xfail(reason=known[id_], strict=True)] if id_ in known else []


def _named_codec(config: pytest.Config) -> object:
    name = config.getoption("wire_codec")
    if not name:
        _refuse(_NO_CODEC)
    module, _, path = name.partition(":")
    here = str(config.invocation_params.dir)
    if here not in sys.path:  # as `python -m pytest` has it: a codec beside which pytest is called is found
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        _refuse(f"--wire-codec {name}: {error}")
    return found() if isinstance(found, type) else found


def _refuse(message: str) -> NoReturn:
    raise pytest.UsageError(message)
