"""The .wire files of a configuration, and the file of a protocol's name."""

from pathlib import Path

from wiregen.language.config import Config
from wiregen.language.diagnostics import Report, did_you_mean
from wiregen.language.source import MAX_NAMED, SUFFIX, available, shipped_protocols

__all__ = ["find_protocol", "protocol_files", "protocol_path", "source_files"]


def source_files(config: Config) -> tuple[Path, ...]:
    """Return the .wire files of the configuration's sources by name; of equal names, that of the first source."""
    files = {path.stem: path for folder in reversed(config.sources) for path in folder.glob(f"*{SUFFIX}")}
    return tuple(files[name] for name in sorted(files))


def protocol_files(config: Config) -> tuple[Path, ...]:
    """Return the files of the protocols that the configuration selects for a build, or all of its sources by default.

    A name that the sources lack is that of a protocol shipped with wiregen.
    """
    files = {path.stem: path for path in source_files(config)}
    names = tuple(files) if config.protocols is None else config.protocols
    shipped = shipped_protocols()
    chosen = (files.get(name, shipped / f"{name}{SUFFIX}") for name in names)
    found = files.values()  # an unreadable file is an error, and never left out
    return tuple(path for path in chosen if path in found or path.is_file())


def protocol_path(name: str, sources: tuple[Path, ...]) -> Path | None:
    """Return the file of a name, or None if the source folders and those shipped with wiregen lack it."""
    if name.endswith(SUFFIX):
        return Path(name)
    paths = (folder / f"{name}{SUFFIX}" for folder in (*sources, shipped_protocols()))
    return next((path for path in paths if path.is_file()), None)


def find_protocol(name: str, config: Config, report: Report) -> Path | None:
    """Return the file of a name: a path to a .wire file, a protocol of the sources, or one shipped with wiregen."""
    found = protocol_path(name, config.sources)
    if found is not None:
        return found
    if Path(name).is_dir():
        help_ = "give files or names: " + (", ".join(available((Path(name),))[:MAX_NAMED]) or "it has none")
        report.error("WG5003", f"`{name}` is a folder, not a protocol", None, help=help_)
        return None
    folders = (*config.sources, shipped_protocols())
    known = sorted({path.stem for folder in folders for path in folder.glob(f"*{SUFFIX}")})
    help_ = did_you_mean(name, known) or f"known here: {', '.join(known)}; or give a path to a .wire file"
    report.error("WG5003", f"there is no protocol `{name}`", None, help=help_)
    return None
