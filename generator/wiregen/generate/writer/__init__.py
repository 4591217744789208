"""Output files to disk, all or nothing, inside one folder; and the comparison that `--check` makes.

Invariant: an interrupted build leaves the old tree or the new one.

- A new tree is staged next to its folder and moved there by a single rename.
- In an existing tree all new contents are staged first, and each file that will be replaced or deleted gets a
  second link. Then a journal names the changes, the renames follow one by one, and removing the journal commits them.
- An exception during the renames (an interrupt, a full disk) rolls back at once. After a kill the journal is still
  there, and `recover`, which every build calls first, rolls back. Until then the tree may hold files of both builds.
- One process at a time writes a tree (`exclusive`), so that a journal that is found never belongs to a running build.

A power cut may lose data: contents are not flushed to the device, as a build can be repeated. Manifest and
journal are untrusted input: they name only paths inside the folder, and a file is deleted only if its hash is
the manifest's.
"""

from wiregen.generate.writer.journal import recover
from wiregen.generate.writer.paths import WriteError, check_paths, holds, is_regular
from wiregen.generate.writer.writing import (
    Output,
    TreeDifference,
    WrittenTree,
    compare,
    contents_of_build,
    write,
)

__all__ = [
    "Output",
    "TreeDifference",
    "WriteError",
    "WrittenTree",
    "check_paths",
    "compare",
    "contents_of_build",
    "holds",
    "is_regular",
    "recover",
    "write",
]
