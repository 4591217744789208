"""Streams of frames: chunks of any size, contexts, reassembly."""
