"""Sessions: state machines over the messages of a connection, and sans-IO connections."""
