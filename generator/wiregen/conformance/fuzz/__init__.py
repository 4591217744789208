"""Search for bytes that two codecs decode differently: mutate by the grammar, shrink, and save as vectors."""

from wiregen.conformance.fuzz.comparison import Differing, Trial, differing
from wiregen.conformance.fuzz.saved_findings import save, vector_of
from wiregen.conformance.fuzz.search import FuzzFinding, FuzzSearch, SearchBounds
from wiregen.conformance.fuzz.seeds import seeds_of

__all__ = [
    "Differing",
    "FuzzFinding",
    "FuzzSearch",
    "SearchBounds",
    "Trial",
    "differing",
    "save",
    "seeds_of",
    "vector_of",
]
