"""Bytes and integers at addresses, for the kernels: no bounds checks, and no counting of references, which would cost most of the time.

Tests run the same kernels as plain Python, with functions in place of these that check every access.
"""

# mypy: ignore-errors
# Reason: numba's intrinsics are typed by numba.

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["copy", "inlined", "kernel", "load8", "load64", "store8", "store16", "store32", "store64"]

_WORD = ir.IntType(64)

inlined = njit(forceinline=True, error_model="numpy")
kernel = njit(cache=True, nogil=True, error_model="numpy")


def _pointer(builder, address, bits):
    return builder.inttoptr(address, ir.IntType(bits).as_pointer())


def _load(builder, address, bits):
    value = builder.load(_pointer(builder, address, bits), align=1)
    return value if bits == 64 else builder.zext(value, _WORD)


def _store(context, builder, address, value, bits):
    narrow = value if bits == 64 else builder.trunc(value, ir.IntType(bits))
    builder.store(narrow, _pointer(builder, address, bits), align=1)
    return context.get_dummy_value()


@intrinsic
def load8(typing, address):
    return types.int64(types.int64), lambda context, builder, _, given: _load(builder, given[0], 8)


@intrinsic
def load64(typing, address):
    return types.int64(types.int64), lambda context, builder, _, given: _load(builder, given[0], 64)


@intrinsic
def store8(typing, address, value):
    return types.void(types.int64, types.int64), lambda context, builder, _, given: _store(
        context, builder, *given, 8
    )


@intrinsic
def store16(typing, address, value):
    return types.void(types.int64, types.int64), lambda context, builder, _, given: _store(
        context, builder, *given, 16
    )


@intrinsic
def store32(typing, address, value):
    return types.void(types.int64, types.int64), lambda context, builder, _, given: _store(
        context, builder, *given, 32
    )


@intrinsic
def store64(typing, address, value):
    return types.void(types.int64, types.int64), lambda context, builder, _, given: _store(
        context, builder, *given, 64
    )


@intrinsic
def copy(typing, target, source, size):
    def written(context, builder, _, given):
        target, source = (_pointer(builder, each, 8) for each in given[:2])
        cgutils.raw_memcpy(builder, target, source, given[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), written
