"""Sample values of any protocol: the plainest of each message, others that differ in one respect, random ones.

The generator runs the reference decoder over bytes that it makes up as the decoder asks for them.
Conditions, choices and computed lengths are therefore those of the schema. Each alternative is a choice
with a name. `explore` goes through the choices until no further sample would show a new one; `RandomChoices`
takes them by chance, and `ReadableChoices` prefers values that a reader understands.
"""

from wiregen.conformance.samples.basis import SampleBasis
from wiregen.conformance.samples.choices import Choices, MadeChoice
from wiregen.conformance.samples.exploration import Exploration, Planted, explore, try_frames, try_openings
from wiregen.conformance.samples.generation import SampleValue, grow
from wiregen.conformance.samples.random_choices import RandomChoices
from wiregen.conformance.samples.readable_choices import ReadableChoices

__all__ = [
    "Choices",
    "Exploration",
    "MadeChoice",
    "Planted",
    "RandomChoices",
    "ReadableChoices",
    "SampleBasis",
    "SampleValue",
    "explore",
    "grow",
    "try_frames",
    "try_openings",
]
