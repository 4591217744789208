"""What the views of all serializations besides the native one share."""
