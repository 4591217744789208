"""The target folder of a conversion: the record of its options, and the locking between runs that share it.

Invariant: bundles get their names and their receipts under a shared lock of the target, and it is cleaned under
an exclusive one. So a file without a receipt is never one that a run still needs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirespark.errors import WireSparkError
from wirespark.options import ReadOptions, has_numba
from wirespark.output import FileForm
from wirespark.planning import Part, grouped
from wirespark.receipts import (
    FOLDER,
    Receipt,
    bundle_name,
    clean,
    name_of,
    read_receipt,
    remove,
    way_of,
    write_receipt,
)
from wirespark.storage import disk_matches, is_remote
from wirespark.temporary_files import alone

__all__ = ["Target", "replaced", "target_of"]

_RECORD = "_target"
_BUNDLES = "_bundles"
Record = dict[str, dict[str, object]]


@dataclass(frozen=True, slots=True)
class Target:
    """A folder, and the options of the run that fills it.

    `has_kernels`: whether kernels cut its files, whatever a task has.
    """

    path: Path
    options: ReadOptions
    has_kernels: bool
    output: FileForm

    @property
    def _place(self) -> Path:
        return self.path / FOLDER / _RECORD

    @property
    def _bundles_place(self) -> Path:
        return self.path / FOLDER / _BUNDLES

    def begin(self, parts: Sequence[Part]) -> tuple[list[Receipt], list[tuple[Part, ...]]]:
        """Create the target, or check that it has this protocol and these options; then remove unused files.

        Return the receipts of the parts that are done, and bundles of the others. Bundles on which another run
        may be at work stay as they are, so that both write the same files.

        Raises:
            WireSparkError: It holds another conversion, or is not a writable folder.
        """
        try:
            self._place.parent.mkdir(parents=True, exist_ok=True)
            with alone(self._place):
                self._check(self._record())
                self._place.write_text(json.dumps(self._own(), sort_keys=True), encoding="utf-8")
                wanted = {name_of(part): way_of(part, self.options.wishes) for part in parts}
                done = clean(self.path, wanted, {part.path for part in parts})
                return done, self._bundled(parts, done)
        except OSError as error:
            raise self._unfit(error.strerror) from None

    def _bundled(self, parts: Sequence[Part], done: Iterable[Receipt]) -> list[tuple[Part, ...]]:
        """Return bundles of the parts that are not done, and note them."""
        wanted = {name_of(part): part for part in parts}
        finished = {name for receipt in done for name in receipt.ways}
        due = {name: part for name, part in wanted.items() if name not in finished}
        others, bundles = dict[str, list[str]](), list[tuple[Part, ...]]()
        for bundle, names in self._bundles().items():
            if due.keys() >= set(names):
                bundles.append(tuple(due.pop(name) for name in names))
            elif wanted.keys().isdisjoint(names):
                others[bundle] = names
        if due:
            bundles.extend(grouped(tuple(due.values()), self.output.file_size))
        named = [[name_of(part) for part in bundle] for bundle in bundles]
        noted = {bundle_name(names): names for names in named}
        self._bundles_place.write_text(json.dumps(others | noted), encoding="utf-8")
        return bundles

    def _bundles(self) -> dict[str, list[str]]:
        """Return the names of the parts in the bundles that runs have begun with."""
        try:
            found: dict[str, list[str]] = json.loads(self._bundles_place.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found

    def look(self) -> None:
        """Check that the target can be filled with these options, and change nothing.

        Raises:
            WireSparkError: It holds another conversion, or is not a writable folder.
        """
        there = next(path for path in (self.path, *self.path.parents) if path.exists())
        if not there.is_dir() or not os.access(there, os.W_OK):
            raise self._unfit("not a folder" if not there.is_dir() else "no right to")
        self._check(self._record())

    def publish(self, bundle: str, named: Callable[[], Receipt]) -> Receipt:
        """Rename the files of a bundle with `named`, and write the receipt that it returns.

        Raises:
            WireSparkError: Another run has started that cuts files elsewhere, or bundles them otherwise.
        """
        with alone(self._place, is_shared=True):
            is_ours = bundle in self._bundles() or read_receipt(self.path, bundle) is not None
            if self._record() != self._own() or not is_ours:
                raise WireSparkError(
                    f"another run converts into {self.path} with another `split` or other options or files: "
                    "wait for it to end"
                )
            receipt = named()
            write_receipt(self.path, receipt)
        return receipt

    def _unfit(self, why: str | None) -> WireSparkError:
        return WireSparkError(f"cannot write to {self.path} ({why}): give an existing or a new folder")

    def _own(self) -> Record:
        """Return the options that the rows of all parts share, and those that decide where files are cut."""
        wishes, options = self.options.wishes, self.options
        rows: dict[str, object] = {
            "protocol": wishes.package.schema.name,
            "backend": wishes.backend,
            "mode": "DROPMALFORMED" if wishes.mode == "DROPMALFORMED" else "PERMISSIVE",
            "strict": wishes.strict,
            "variant": wishes.variant,
            "errorbytes": wishes.error_bytes,
            "limits": dict(sorted(wishes.limits.items())),
            "frames": self.output.has_frames,
            "partition": self.output.partition,
        }
        cuts: dict[str, object] = {"split": options.split_size, "kernels": self.has_kernels}
        return {"rows": rows, "cuts": cuts}

    def _record(self) -> Record | None:
        try:
            found: Record = json.loads(self._place.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found

    def _check(self, record: Record | None) -> None:
        rows = (record or {}).get("rows", {})
        for name, value in self._own()["rows"].items():
            if name in rows and rows[name] != value:
                there, here = (f"{name} {_said(each)}" for each in (rows[name], value))
                raise WireSparkError(
                    f"{self.path} was filled with {there}, not with {here}: "
                    "give another target, or remove this one first"
                )


def replaced(target: Path, old: Sequence[Receipt], named: Callable[[], Receipt]) -> Receipt | None:
    """Put one receipt in the place of several below a target, with the files that `named` renames.

    Return None, with nothing changed, if the old ones have changed meanwhile.
    """
    with alone(target / FOLDER / _RECORD):
        if any(read_receipt(target, receipt.name) != receipt for receipt in old):
            return None
        receipt = named()
        write_receipt(target, receipt)
        for each in old:
            remove(target, each)
    return receipt


def _said(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={number}" for name, number in value.items()) or "as they are"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def target_of(folder: str, options: ReadOptions, output: FileForm | None = None) -> Target:
    """Return the target of a conversion: the folder that receives its tables.

    Raises:
        WireSparkError: It is not a folder on a disk, lies inside its source, or a message is selected.
    """
    if not folder or "://" in folder:
        raise WireSparkError("the target is missing: give a folder on a disk that all workers can write to")
    if options.message is not None:
        raise WireSparkError("a conversion includes all messages: remove the option `message`")
    has_kernels = options.wishes.kernel != "off" and has_numba()
    target = Target(Path(folder).absolute(), options, has_kernels, output or FileForm())
    for path in options.paths:
        for match in () if is_remote(path) else disk_matches(path):
            _check_apart(match, target.path)
    return target


def _check_apart(source: Path, target: Path) -> None:
    """Check that a later run would not read the tables as traffic."""
    if not source.is_dir() or not target.is_relative_to(source):
        return
    if not any(part.startswith((".", "_")) for part in target.relative_to(source).parts):
        raise WireSparkError(
            f"the target {target} is inside of the source {source}: give a folder next to it"
        )
