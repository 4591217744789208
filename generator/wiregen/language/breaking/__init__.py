"""Breaking changes: differences between two states of a protocol, for bytes, programs, sessions and settings."""

from wiregen.language.breaking.changes import LEVELS, Change, Level, level_of, report_changes
from wiregen.language.breaking.comparison import compare, compare_numbers
from wiregen.language.breaking.matching import renames_of
from wiregen.language.breaking.plain import Renames

__all__ = [
    "LEVELS",
    "Change",
    "Level",
    "Renames",
    "compare",
    "compare_numbers",
    "level_of",
    "renames_of",
    "report_changes",
]
