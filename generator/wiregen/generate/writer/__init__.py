"""Output files to disk, all or nothing, inside one folder; and the comparison that `--check` makes.

Invariant: an interrupted build leaves the old tree or the new one.

- A new tree is staged beside its folder and moved there by a single rename.
- In a tree that exists, everything new is staged first and a second link is made to everything that will be replaced or deleted;
  then a journal names the changes, then the renames follow one by one, and removing the journal commits them. An exception
  among the renames (an interrupt, a full disk) rolls back at once. After a kill the journal still lies there, and `recover`,
  which every build calls first, rolls back: for that while the tree may hold files of both.
- One process at a time writes a tree (`exclusive`), so that a journal that is found is never that of a build under way.

No power cut is provided for: nothing is flushed to the device, as a build can be repeated. Manifest and journal are
input like any other: they name only paths inside the folder, and a file is deleted only if its hash is the manifest's.
"""

from wiregen.generate.writer.journal import recover
from wiregen.generate.writer.paths import WriteError, check_paths, holds, is_regular
from wiregen.generate.writer.writing import Difference, Output, Written, compare, contents_of_build, write

__all__ = [
    "Difference",
    "Output",
    "WriteError",
    "Written",
    "check_paths",
    "compare",
    "contents_of_build",
    "holds",
    "is_regular",
    "recover",
    "write",
]
