"""Columns without objects: a program made of the schema, run over the bytes by kernels that numba compiles
once for all protocols.

Frames that are not certainly valid, or hold types unknown to the kernels, are left to the object path.
"""
