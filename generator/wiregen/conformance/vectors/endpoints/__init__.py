"""Conversation traces of a file of vectors, held with a live peer over TCP or TLS.

The runner plays one side of each trace, the peer the other. The peer chooses its own messages and values,
so bytes are not compared:

- The peer must accept a legal conversation.
- It must refuse a violation of the runner's side.
- Each of its own messages must be legal when it is sent.
"""

from wiregen.conformance.vectors.endpoints.conversation import Patience, talk
from wiregen.conformance.vectors.endpoints.live import Live
from wiregen.conformance.vectors.endpoints.network import AnswerCounts, Network, NetworkError, held
from wiregen.conformance.vectors.endpoints.script import Script, Side, Unfit, script_of

__all__ = [
    "AnswerCounts",
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
