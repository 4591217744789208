"""Events to a Lumberjack receiver, at least once, over as many connections as it takes."""
