"""The foundation of compiled codecs: errors, options, shared base classes, text and numbers."""
