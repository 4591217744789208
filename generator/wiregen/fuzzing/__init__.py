"""Bytes that two codecs read differently: searched for by mutations that know the grammar, shrunk, and kept as vectors."""

from wiregen.fuzzing.differing import Differing, Trial, differing
from wiregen.fuzzing.saving import save, vector_of
from wiregen.fuzzing.search import Bounds, Finding, Search
from wiregen.fuzzing.seeds import seeds_of

__all__ = ["Bounds", "Differing", "Finding", "Search", "Trial", "differing", "save", "seeds_of", "vector_of"]
