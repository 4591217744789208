"""Conversation traces of a file of vectors, held with a live peer over TCP or TLS.

One side of each trace is the runner's, the other one the peer's. The peer chooses its own messages and values, so nothing is compared
byte by byte: a legal conversation must be accepted, a violation of the runner's side must be refused, and all that the peer says
must be legal when it says it.
"""

from wiregen.conformance.vectors.endpoints.conversation import Patience, talk
from wiregen.conformance.vectors.endpoints.live import Live
from wiregen.conformance.vectors.endpoints.network import Answers, Network, NetworkError, held
from wiregen.conformance.vectors.endpoints.script import Script, Side, Unfit, script_of

__all__ = [
    "Answers",
    "Live",
    "Network",
    "NetworkError",
    "Patience",
    "Script",
    "Side",
    "Unfit",
    "held",
    "script_of",
    "talk",
]
