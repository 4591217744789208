"""Values of any protocol, made without chance: the plainest of each message, and those that differ from it in one respect.

A specimen is grown by a careful reading over bytes that are made up as it asks for them, so that conditions, choices and
computed lengths are the plan's own. Whatever can be one way or another is a choice with a name; `explore` goes through the
choices until no specimen is left that would show a new one.
"""

from wiregen.conformance.samples.basis import SampleBasis
from wiregen.conformance.samples.choices import Choice, Choices
from wiregen.conformance.samples.exploration import Exploration, explore, try_openings
from wiregen.conformance.samples.generation import SampleValue, grow

__all__ = [
    "Choice",
    "Choices",
    "Exploration",
    "SampleBasis",
    "SampleValue",
    "explore",
    "grow",
    "try_openings",
]
