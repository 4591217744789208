"""From the model to the schema that codecs and sessions interpret."""

from wiregen.schema.lowering.idle_limits import idle_limits
from wiregen.schema.lowering.protocol import limits_of, lower

__all__ = ["idle_limits", "limits_of", "lower"]
