"""Values of any protocol, made without chance: the plainest of each message, and those that differ from it in one respect.

A specimen is grown by a careful reading over bytes that are made up as it asks for them, so that conditions, choices and
computed lengths are the plan's own. Whatever can be one way or another is a choice with a name; `explore` goes through the
choices until no specimen is left that would show a new one.
"""

from wiregen.specimens.choices import Choice, Choices
from wiregen.specimens.exploring import Exploration, explore, try_openings
from wiregen.specimens.growing import Specimen, grow
from wiregen.specimens.soil import Soil

__all__ = ["Choice", "Choices", "Exploration", "Soil", "Specimen", "explore", "grow", "try_openings"]
