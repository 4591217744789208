"""What a protocol is: the model, value shapes, sizes, names."""
