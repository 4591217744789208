"""The target of a conversion: which parts are done, how the others are bundled, and the options that it was filled with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wirespark.errors import WireSparkError
from wirespark.options import ReadOptions, has_numba
from wirespark.output import FileForm
from wirespark.planning import Part, grouped
from wirespark.receipts import Receipt, bundle_name, name_of, way_of
from wirespark.storage import folder_around
from wirespark.target_storage import Bundle, Contents, Plan, Record, TargetStorage, target_storage_of

__all__ = ["Target", "target_of"]


@dataclass(frozen=True, slots=True)
class Target:
    """The storage of a target, and the options of the run that fills it.

    `has_kernels`: whether kernels cut its files, whatever a task has.
    """

    storage: TargetStorage
    options: ReadOptions
    has_kernels: bool
    output: FileForm

    def begin(self, parts: Sequence[Part]) -> Plan:
        """Create the target, or check that it has this protocol and these options; then remove unused files.

        Raises:
            WireSparkError: It holds another conversion, or cannot be written to.
        """
        wanted = {name_of(part): part for part in parts}
        ways = {name: way_of(part, self.options.wishes) for name, part in wanted.items()}

        def planned(contents: Contents) -> Plan:
            self._check(contents.record)
            return self._plan(wanted, ways, contents)

        return self.storage.begin(planned)

    def look(self) -> None:
        """Check that the target can be filled with these options, and change nothing.

        Raises:
            WireSparkError: It holds another conversion, or cannot be written to.
        """
        self.storage.check()
        self._check(self.storage.record())

    def _plan(self, wanted: Mapping[str, Part], ways: Mapping[str, str], contents: Contents) -> Plan:
        files = frozenset(part.path for part in wanted.values())
        moved = {name for receipt in contents.receipts for name in receipt.replaces}
        kept, done, gone = list[Receipt](), list[Receipt](), list[Receipt]()
        for receipt in contents.receipts:
            is_ours = any(file in files for file in receipt.sources.values())
            is_stale = any(
                ways.get(part) != way for part, way in receipt.ways.items() if receipt.sources[part] in files
            )
            # `moved`: by a compaction that was killed before it removed them
            if receipt.name in moved or is_stale or (is_ours and not contents.is_whole(receipt)):
                gone.append(receipt)
                continue
            kept.append(receipt)
            if is_ours:
                done.append(receipt)
        finished = {name for receipt in done for name in receipt.ways}
        due = {name: part for name, part in wanted.items() if name not in finished}
        bundles = self._bundled(due, contents.bundles)
        return Plan(
            record=self.own(),
            files=files,
            kept=tuple(kept),
            gone=tuple(gone),
            done=tuple(done),
            bundles=tuple(_bundle(parts, ways) for parts in bundles),
            others={name: own for name, own in contents.bundles.items() if wanted.keys().isdisjoint(own)},
        )

    def _bundled(self, due: Mapping[str, Part], noted: Mapping[str, Iterable[str]]) -> list[tuple[Part, ...]]:
        """Return bundles of parts; those that runs have begun with are taken as they are."""
        left, bundles = dict(due), list[tuple[Part, ...]]()
        for names in noted.values():
            if left.keys() >= set(names):
                bundles.append(tuple(left.pop(name) for name in names))
        if left:
            bundles.extend(grouped(tuple(left.values()), self.output.file_size))
        return bundles

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


def _bundle(parts: tuple[Part, ...], ways: Mapping[str, str]) -> Bundle:
    names = [name_of(part) for part in parts]
    return Bundle(name=bundle_name(names), parts=parts, ways={name: ways[name] for name in names})


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
