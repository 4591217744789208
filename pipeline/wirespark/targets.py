"""The target of a conversion: which parts are done, how the others are bundled, and the options that it was filled with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from wirespark.errors import WireSparkError
from wirespark.options import ReadOptions, has_numba
from wirespark.output import FileForm
from wirespark.planning import Part, size_of
from wirespark.receipts import Receipt, bundle_name, name_of, way_of
from wirespark.storage import FileState, folder_around
from wirespark.target_storage import Bundle, Contents, Plan, Record, TargetStorage, target_storage_of
from wirespark.task_groups import packed_if_many

__all__ = ["Target", "target_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """A part of a run, its way (see `Receipt`) and about its size in bytes."""

    part: Part
    way: str
    size: int


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
        files = frozenset(each.part.path for each in wanted.values())
        moved = {name for receipt in contents.receipts for name in receipt.replaces}
        kept, done, gone = list[Receipt](), list[Receipt](), list[Receipt]()
        for receipt in contents.receipts:
            is_ours = any(file in files for file in receipt.sources.values())
            is_stale = any(
                part not in wanted or wanted[part].way != way
                for part, way in receipt.ways.items()
                if receipt.sources[part] in files
            )
            # `moved`: by a compaction that was killed before it removed them
            if receipt.name in moved or is_stale or (is_ours and not contents.is_whole(receipt)):
                gone.append(receipt)
                continue
            kept.append(receipt)
            if is_ours:
                done.append(receipt)
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
        WireSparkError: It is missing, lies inside its source, or a message is selected.
    """
    storage = target_storage_of(folder)
    if options.message is not None:
        raise WireSparkError("a conversion includes all messages: remove the option `message`")
    has_kernels = options.wishes.kernel != "off" and has_numba()
    target = Target(storage, options, has_kernels, output or FileForm())
    for path in options.paths:
        source = folder_around(storage.address, path)
        if source is not None:  # a later run would read the tables as traffic
            raise WireSparkError(
                f"the target {storage.address} is inside of the source {source}: give a folder next to it"
            )
    return target
