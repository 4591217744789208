"""Columns without objects: a program made of the plan, run over the bytes by kernels that numba compiles once for all protocols.

Frames that are not plainly right, or hold what the kernels do not know, are the object path's.
"""
