"""What compiled codecs stand on: errors, options, shared base classes, text and numbers."""
