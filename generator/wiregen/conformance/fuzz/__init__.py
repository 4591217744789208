"""Search for bytes that two codecs decode differently: mutate by the grammar, shrink, and save as vectors."""

from wiregen.conformance.fuzz.comparison import Differing, Trial, differing
from wiregen.conformance.fuzz.saved_findings import save, vector_of
from wiregen.conformance.fuzz.search import Bounds, Finding, Search
from wiregen.conformance.fuzz.seeds import seeds_of

__all__ = ["Bounds", "Differing", "Finding", "Search", "Trial", "differing", "save", "seeds_of", "vector_of"]
