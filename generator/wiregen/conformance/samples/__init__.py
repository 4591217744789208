"""Sample values of any protocol, made without chance: the plainest of each message, and others that differ
in one respect.

The generator runs the reference decoder over bytes that it makes up as the decoder asks for them.
Conditions, choices and computed lengths are therefore those of the schema. Each alternative is a choice
with a name. `explore` goes through the choices until no further sample would show a new one.
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
