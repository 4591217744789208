"""The kernels run as plain Python over arrays that are known: whatever address is in none of them is an error."""

from __future__ import annotations

import bisect
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wirespark.kernels
from wirespark.kernels import scanner

__all__ = ["Memory", "checked"]


class Memory:
    """Arrays by their addresses."""

    def __init__(self) -> None:
        self.n_touched = 0
        self._starts: list[int] = []
        self._arrays: dict[int, Any] = {}

    def address(self, array: Any) -> int:
        """Take an array in, and return where it lies; each is a place of its own, far from all others."""
        for start, known in self._arrays.items():
            if known is array:
                return start
        start = (self._starts[-1] if self._starts else 0) + (1 << 40)
        self._starts.append(start)
        self._arrays[start] = array
        return start

    def view(self, address: int, size: int) -> Any:
        """Return bytes of one array."""
        self.n_touched += 1
        index = bisect.bisect_right(self._starts, address) - 1
        start = self._starts[index]
        data = self._arrays[start].reshape(-1).view(np.uint8)
        offset = address - start
        assert size >= 0 and offset >= 0 and offset + size <= len(data), (offset, size, len(data))
        return data[offset : offset + size]

    def loader(self, size: int, *, is_signed: bool) -> Callable[[int], int]:
        return lambda address: int.from_bytes(self.view(address, size).tobytes(), "little", signed=is_signed)

    def storer(self, size: int) -> Callable[[int, int], None]:
        def store(address: int, value: int) -> None:
            assert -(1 << 63) <= value < 1 << 64
            data = (value % (1 << 8 * size)).to_bytes(size, "little")
            self.view(address, size)[:] = np.frombuffer(data, np.uint8)

        return store

    def copy(self, target: int, source: int, size: int) -> None:
        if size:
            self.view(target, size)[:] = self.view(source, size)


@contextmanager
def checked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """Let scanners use such kernels."""
    memory = Memory()
    fake: Any = ModuleType("wirespark.kernels.memory")
    fake.inlined = fake.kernel = lambda function: function
    fake.load8, fake.load64 = memory.loader(1, is_signed=False), memory.loader(8, is_signed=True)
    for size in (1, 2, 4, 8):
        setattr(fake, f"store{8 * size}", memory.storer(size))
    fake.copy = memory.copy
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "wirespark.kernels.memory", fake)
        _again("peeking", patch)
        scanning = _again("scanning", patch)
        filling = _again("filling", patch)
        patch.setattr(scanner, "scan", scanning.scan)
        patch.setattr(scanner, "measure", filling.measure)
        patch.setattr(scanner, "fill", filling.fill)
        patch.setattr(scanner, "_address", memory.address)
        yield memory


def _again(name: str, patch: pytest.MonkeyPatch) -> Any:
    """Return a module of the kernels once more, made of the same source."""
    module = f"wirespark.kernels.{name}"
    path = Path(wirespark.kernels.__path__[0]) / f"{name}.py"
    spec = importlib.util.spec_from_file_location(module, path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    patch.setitem(sys.modules, module, found)
    spec.loader.exec_module(found)
    return found
