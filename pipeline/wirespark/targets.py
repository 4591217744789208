"""The target of a conversion: which parts are done, how the others are bundled, and the options that it was filled with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespark.errors import WireSparkError
from wirespark.options import ReadOptions, has_numba
from wirespark.output import DAY, FileForm
from wirespark.packages import Package
from wirespark.planning import Part, size_of
from wirespark.receipts import Receipt, bundle_name, name_of, way_of
from wirespark.rewriting import Rewrite
from wirespark.storage import FileState, folder_around
from wirespark.target_storage import Bundle, Contents, Plan, Record, TargetStorage, target_storage_of
from wirespark.task_groups import packed_if_many

__all__ = ["SharedFilesError", "Target", "target_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """A part of a run, its way (see `Receipt`) and about its size in bytes."""

    part: Part
    way: str
    size: int


class SharedFilesError(WireSparkError):
    """Rows that are to be replaced share files with rows of sources that are absent.

    `rewrites`: they take these rows out.
    """

    def __init__(self, address: str, rewrites: Sequence[Rewrite], files: Collection[str]) -> None:
        [receipt] = rewrites[0].old
        absent = next(file for file in receipt.sources.values() if file not in files)
        super().__init__(
            f"sources change, or another run changes {address}, where rows to be replaced share files with those of "
            f"{absent}, which is absent: wait for it to end, and start this one again"
        )
        self.rewrites = tuple(rewrites)


@dataclass(frozen=True, slots=True)
class Target:
    """The storage of a target, and the options of the run that fills it.

    `has_kernels`: whether kernels cut its files, whatever a task has.
    """

    storage: TargetStorage
    options: ReadOptions
    has_kernels: bool
    output: FileForm

    def begin(self, parts: Iterable[Part], files: Mapping[str, FileState]) -> Plan:
        """Create the target, or check that it has this protocol and these options; then remove unused files.

        `files`: the states of the files of the parts, by path.

        Raises:
            SharedFilesError: See `_plan`; nothing was changed.
            WireSparkError: It holds another conversion, or cannot be written to.
        """
        wanted = {
            name: self._wanted(part, name, files[part.path]) for part in parts if (name := name_of(part))
        }

        def planned(contents: Contents) -> Plan:
            self._check(contents.record)
            return self._plan(wanted, contents)

        return self.storage.begin(planned)

    def _wanted(self, part: Part, name: str, state: FileState) -> _Wanted:
        way = way_of(part, name, self.options.wishes, state)
        return _Wanted(part=part, way=way, size=size_of(part, state.size))

    def look(self) -> None:
        """Check that the target can be filled with these options, and change nothing.

        Raises:
            WireSparkError: It holds another conversion, or cannot be written to.
        """
        self.storage.check()
        self._check(self.storage.record())

    def _plan(self, wanted: Mapping[str, _Wanted], contents: Contents) -> Plan:
        """Return the plan of a run.

        Raises:
            SharedFilesError: Rows that are to be replaced share files with rows that cannot be made again.
        """
        files = frozenset(each.part.path for each in wanted.values())
        counting = {receipt.name for receipt in contents.counting}
        kept, done, gone, shared = list[Receipt](), list[Receipt](), list[Receipt](), list[Rewrite]()
        for receipt in contents.receipts:
            own = frozenset(receipt.sources.values())
            renewed = _renewed(receipt, wanted, files, is_whole=contents.is_whole(receipt))
            if receipt.name not in counting or (renewed and own <= files):
                gone.append(receipt)
            elif renewed:
                there = tuple(file for file in receipt.files if file in contents.files)
                shared.append(Rewrite(old=(receipt,), sources=own - renewed, files=there))
            else:
                kept.append(receipt)
                if not own.isdisjoint(files):
                    done.append(receipt)
        if shared:
            raise SharedFilesError(self.storage.address, shared, files)
        finished = {name for receipt in done for name in receipt.ways}
        due = {name: each for name, each in wanted.items() if name not in finished}
        return Plan(
            record=self.own(),
            files=files,
            kept=tuple(kept),
            gone=tuple(gone),
            done=tuple(done),
            bundles=tuple(_bundle(names, wanted) for names in self._bundled(due, contents.bundles)),
            others={name: own for name, own in contents.bundles.items() if wanted.keys().isdisjoint(own)},
            replaced=sum(
                receipt.total.rows
                for receipt in gone
                if receipt.name in counting and contents.is_whole(receipt)
            ),
        )

    def _bundled(
        self, due: Mapping[str, _Wanted], noted: Mapping[str, Collection[str]]
    ) -> Iterator[tuple[str, ...]]:
        """Yield the names of the parts of each bundle; those that runs have begun with are taken as they are."""
        left = dict.fromkeys(due)
        for names in noted.values():
            if left.keys() >= set(names):
                for name in names:
                    del left[name]
                yield tuple(names)
        if left:
            sizes = [due[name].size for name in left]
            yield from packed_if_many(tuple(left), sizes, self.output.file_size)

    def own(self) -> Record:
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

    def _check(self, record: Record | None) -> None:
        rows = (record or {}).get("rows", {})
        for name, value in self.own()["rows"].items():
            if name in rows and rows[name] != value:
                there, here = (f"{name} {_said(each)}" for each in (rows[name], value))
                raise WireSparkError(
                    f"{self.storage.address} was filled with {there}, not with {here}: "
                    "give another target, or remove this one first"
                )


def _renewed(
    receipt: Receipt, wanted: Mapping[str, _Wanted], files: Collection[str], *, is_whole: bool
) -> frozenset[str]:
    """Return the files of this run whose parts in a receipt are converted again."""
    return frozenset(
        receipt.sources[part]
        for part, way in receipt.ways.items()
        if receipt.sources[part] in files and (not is_whole or part not in wanted or wanted[part].way != way)
    )


def _bundle(names: tuple[str, ...], wanted: Mapping[str, _Wanted]) -> Bundle:
    return Bundle(
        name=bundle_name(names),
        parts=tuple(wanted[name].part for name in names),
        ways={name: wanted[name].way for name in names},
    )


def _said(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={number}" for name, number in value.items()) or "as they are"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def target_of(folder: str, options: ReadOptions, output: FileForm | None = None) -> Target:
    """Return the target of a conversion: the folder that receives its tables.

    Raises:
        WireSparkError: It is missing, lies inside its source, a message is selected, or a column would be lost.
    """
    storage = target_storage_of(folder)
    if options.message is not None:
        raise WireSparkError("a conversion includes all messages: remove the option `message`")
    if output is not None and output.partition == DAY:
        _check_days(options.wishes.package)
    has_kernels = options.wishes.kernel != "off" and has_numba()
    target = Target(storage, options, has_kernels, output or FileForm())
    for path in options.paths:
        source = folder_around(storage.address, path)
        if source is not None:  # a later run would read the tables as traffic
            raise WireSparkError(
                f"the target {storage.address} is inside of the source {source}: give a folder next to it"
            )
    return target


def _check_days(package: Package) -> None:
    """Check that no column has the name of the folders of days: Spark, which ignores case, would show the day in its place.

    Raises:
        WireSparkError: One has it.
    """
    for message, schema in package.messages.items():
        for name in schema.names:
            if name.lower() == DAY:
                raise WireSparkError(
                    f"the message {message} has a field {name!r}, which folders of days would hide: "
                    "convert with partition=message"
                )
