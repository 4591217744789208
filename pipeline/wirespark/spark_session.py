"""A Spark session that knows `format("wire")`, with the code that its workers need."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import struct
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from wirespark.errors import WireSparkError
from wirespark.java import provide_java
from wirespark.packages import SHIPPED, look_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["is_connect", "register", "session", "ship"]

_OWN = ("wirespark", "wiregen/__init__.py", "wiregen/formats/__init__.py", "wiregen/formats/capture")
_WORKERS = {"spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Memory that workers free returns to the system.

Arrow's own pools keep 50 MiB more, and are not faster for batches of this size.
"""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_PYC = struct.Struct("<4sIII")
"""The head of a file of byte code: the number of the format, flags, and by which it is known to be that of its source."""
_BY_TIME, _UNCHECKED = 0, 1
"""Flags: by the time and size of the source, or by its hash, which is not looked at."""


def session(
    name: str = "wiregen",
    *,
    packages: Iterable[str] = ("wireproto",),
    master: str | None = None,
    remote: str | None = None,
    config: Mapping[str, object] | None = None,
) -> SparkSession:
    """Return a session with `format("wire")`; `packages` are the trees of protocols that workers are to find.

    Java is found or brought, and workers run this very Python. `remote`: a Spark Connect address, in place of `master`.

    Raises:
        WireSparkError: pyspark or a Java is missing.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise WireSparkError("pyspark is missing: pip install 'wiregen[spark]'") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    if remote is not None:
        builder = builder.remote(remote)
    else:
        provide_java()
        builder = builder.master(master) if master is not None else builder
    for key, value in {**_WORKERS, **(config or {})}.items():
        builder = builder.config(key, value)
    code = _code(packages)
    with _on_the_path(code):
        spark = builder.getOrCreate()
    _ship(spark, code)
    register(spark)
    return spark


def ship(spark: SparkSession, packages: Iterable[str] = ("wireproto",)) -> None:
    """Give the workers of a session this package and the trees of protocols.

    The process that plans a stream is not a worker, and Spark sends it no files. If Java was not started by
    `session`, it must be started with the packages on PYTHONPATH, or they must be installed where streams are
    read.
    """
    _ship(spark, _code(packages))


def _ship(spark: SparkSession, path: Path) -> None:
    if is_connect(spark):
        spark.addArtifacts(str(path), pyfile=True)
    else:
        spark.sparkContext.addPyFile(str(path))


def register(spark: SparkSession) -> None:
    """Make `format("wire")`, and tables of targets, known to a session whose workers find the code: see `ship`."""
    from wirespark.source import PushingWireSource
    from wirespark.stored_tables import TableSource

    # Without it every read fails whose source takes filters.
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.dataSource.register(PushingWireSource)
    spark.dataSource.register(TableSource)


def is_connect(spark: SparkSession) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


# ---- the code that travels


def _code(packages: Iterable[str]) -> Path:
    """Return a zip of all modules that a worker imports.

    Its name has a hash of its content: Spark refuses different files of one name.
    """
    folder = Path(tempfile.mkdtemp(prefix="wirespark-"))
    trees = tuple(packages)
    look_in(trees)
    write_code(folder / "code.zip", trees)
    digest = hashlib.sha256((folder / "code.zip").read_bytes()).hexdigest()[:16]
    return (folder / "code.zip").rename(folder / f"wirespark-{digest}.zip")


@contextmanager
def _on_the_path(code: Path) -> Iterator[None]:
    """Make a Java that starts in this block give the code to every Python it starts, stream planners included."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (before, str(code))))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def write_code(path: Path, packages: Iterable[str]) -> None:
    """Write the zip of all modules that a worker imports.

    Modules that this Python has compiled are there as byte code too, which a worker with another Python leaves alone: each
    process of Spark would compile them again, in half a second. The same files, byte code included, give the same bytes.
    """
    trees = tuple(packages)
    files = {name: file for root in (*_roots(), *map(_root_of, trees)) for name, file in _files(*root)}
    # A package without an `__init__.py` is found in a zip by its folder alone, and only where that has an entry.
    folders = {f"{parent}/" for name in files for parent in PurePosixPath(name).parents[:-1]}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in sorted(folders):
            archive.writestr(zipfile.ZipInfo(folder, _EPOCH), b"")
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), files[name].read_bytes(), zipfile.ZIP_DEFLATED)
            code = None if "/kernels/" in name else _byte_code(files[name])  # numba looks for their sources
            if code is not None:
                archive.writestr(zipfile.ZipInfo(f"{name}c", _EPOCH), code, zipfile.ZIP_DEFLATED)
        told = f'"""Which trees came with this."""\n\nPACKAGES = {trees!r}\n'
        archive.writestr(zipfile.ZipInfo(f"{SHIPPED}.py", _EPOCH), told, zipfile.ZIP_DEFLATED)


def _byte_code(source: Path) -> bytes | None:
    """Return the byte code of a module as Python takes it without a look at the source, or None if it is not compiled."""
    try:
        code = Path(importlib.util.cache_from_source(str(source), optimization="")).read_bytes()
        text, status = source.read_bytes(), source.stat()
    except (OSError, NotImplementedError):  # NotImplementedError: this Python keeps no byte code
        return None
    state = _PYC.pack(
        importlib.util.MAGIC_NUMBER, _BY_TIME, int(status.st_mtime) & 0xFFFFFFFF, len(text) & 0xFFFFFFFF
    )
    if not code.startswith(state):
        return None
    hash_ = importlib.util.source_hash(text)
    return importlib.util.MAGIC_NUMBER + _UNCHECKED.to_bytes(4, "little") + hash_ + code[_PYC.size :]


def _roots() -> Iterable[tuple[str, Path]]:
    for name in _OWN:
        package, _, rest = name.partition("/")
        yield name, _root_of(package)[1] / rest


def _root_of(package: str) -> tuple[str, Path]:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise WireSparkError(
            f"package {package!r} for the workers is missing: build it, or put it on the path"
        )
    return package.replace(".", "/"), Path(next(iter(spec.submodule_search_locations)))


def _files(name: str, root: Path) -> Iterable[tuple[str, Path]]:
    if root.is_file():
        yield name, root
        return
    for file in root.rglob("*.py"):
        yield f"{name}/{file.relative_to(root).as_posix()}", file
