"""Parts that the views of all serializations other than the native one share."""
