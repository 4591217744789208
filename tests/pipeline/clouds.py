"""Stores that obstore opens: in the memory of this process, and in a soak servers of Azure's and Google's stores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import obstore
import pytest
from obstore.store import MemoryStore, ObjectStore
from tests.pipeline.azurite import served_azurite

from wirespark import cloud_stores

__all__ = ["KINDS", "CloudObjects", "served_cloud"]

KINDS = ("memory", "azurite", "google")
IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
CONTAINER = "tables"


@dataclass(frozen=True, slots=True)
class CloudObjects:
    """A container, and the environment of those who read it.

    `depth`: the number of parts of names that belong to the address of the store that is opened: one in memory has no folders.
    """

    root: str
    environment: Mapping[str, str]
    depth: int

    def names(self, folder: str) -> set[str]:
        """Return the names of the objects below a folder, relative to it."""
        store, own = self._divided(folder)
        found = (each["path"] for page in obstore.list(store, own or None) for each in page)
        return {name.removeprefix(own).removeprefix("/") for name in found}

    def put(self, key: str, data: bytes) -> str:
        """Write an object; return its path."""
        store, name = self._divided(key)
        obstore.put(store, name, data)
        return f"{self.root}{key}"

    def remove(self, key: str) -> None:
        store, name = self._divided(key)
        obstore.delete(store, name)

    def _divided(self, key: str) -> tuple[ObjectStore, str]:
        """Return a store, and a name in it."""
        parts = key.split("/")
        folder = "/".join(parts[: self.depth])
        return cloud_stores.store_of(f"{self.root}{folder}"), "/".join(parts[self.depth :])


@contextmanager
def served_cloud(kind: str, folder: Path, depth: int = 0) -> Iterator[CloudObjects]:
    """Serve an empty container, and set the environment of this process to it."""
    if kind == "memory":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cloud_stores, "store_of", cache(lambda address: MemoryStore()))
            yield CloudObjects(f"abfs://{CONTAINER}/", os.environ, depth)
        return
    if not IS_SOAK:
        pytest.skip("its server is built from hundreds of packages: `make soak` does")
    from tests.pipeline.google import served_google

    is_azure = kind == "azurite"
    served = served_azurite(folder, CONTAINER) if is_azure else served_google(folder, CONTAINER)
    with served as given, pytest.MonkeyPatch.context() as patch:
        for name, value in given.items():
            patch.setenv(name, value)
        cloud_stores.store_of.cache_clear()
        yield CloudObjects(f"{'abfs' if is_azure else 'gs'}://{CONTAINER}/", os.environ, depth)
        cloud_stores.store_of.cache_clear()
