"""wiregen: a protocol's messages written once, codecs and everything else made from them."""

__all__ = ["__version__"]

__version__ = "0.1.0"
