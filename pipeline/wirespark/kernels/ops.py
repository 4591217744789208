"""The operations of a program, which `compiling` writes and `scan` runs, and the entries of the tape, which `fill` reads.

A program is rows of (operation, a, b, c, d). Registers hold integers within ±2**62. A number outside that
range, or any frame that is not certainly valid, is left to the object path.
"""

from __future__ import annotations

# ---- operations of a program; STOP is row 0, where jumps without a target lead ----

STOP = 0  # the frame is left to the object path
END = 1  # the frame is whole and right
NEED = 2  # a bytes have to be there
LOAD = 3  # register a: the integer at b after the position, of form c
FLAG = 4  # the byte at a after the position is 0 or 1
RUN = 5  # the fields of run a are here
SKIP = 6  # the position moves by a
VARINT = 7  # register a: a varint of at most b bits, zigzag if c
SPAN = 8  # register a is the number of bytes of column b, of text kind c
VALUE = 9  # register a is a value of column b
EMIT = 10  # tape entry a for column b, with c
MESSAGE = 11  # the frame carries message a
SET = 12  # register a: b
MATH = 13  # register a: operation b of registers c and d
DEMAND = 14  # register a is not 0
MEMBER = 15  # register a is among c numbers from b on
UNLESS = 16  # go to row b if register a is 0
GO = 17  # go to row a
CHOOSE = 18  # go to the row of register a in a table of c rows: targets from number b on, for a - d
SEEK = 19  # the same with c triples (low, high, row) from number b on
REST = 20  # register a: the bytes up to the region's end
HERE = 21  # register a: the position, from the frame's first byte
REGION = 22  # the next `register a` bytes are a region; register b keeps the former one's end
CLOSE = 23  # the region is at its end; register a has the former one's
LIST = 24  # register a items of at least c bytes begin, column b's
NEXT = 25  # register a counts down; go to row b while it is not 0
OPEN = 26  # items up to the region's end begin, column b's; register a: their place on the tape
MORE = 27  # go to row b if the region is at its end, else count one more in register a, of column c
BITS = 28  # register a: of register b the bits c to d
FIRST_MOVE = UNLESS
"""Operations from here on may jump to a row other than the next one."""

# ---- forms of integers: size + these ----

SIGNED = 16
LITTLE = 32

# ---- kinds of text ----

NO_TEXT, UTF8, MUTF8, ASCII = 0, 1, 2, 3

# ---- arithmetic ----

ADD, SUB, MUL, DIV, MOD, EQ, NE, LT, LE, GT, GE, AND, OR, NOT, NEG, MIN, MAX = range(17)

# ---- entries of the tape: (entry + 256 * column, first, second) ----

T_RUN = 0  # run, position
T_VALUE = 1  # value
T_SPAN = 2  # position, size
T_LIST = 3  # items
T_NULL = 4  # the column and its inner columns have no value
T_PRESENT = 5  # a struct is there
T_CONST = 6  # number of a text

# ---- kinds of columns ----

C_INT = 0  # of `width` bytes; 16: a decimal
C_FLAG = 1
C_BYTES = 2
C_UUID = 3
C_LIST = 4
C_STRUCT = 5  # with validity of its own
C_NOTHING = 6  # takes no space: always null, or as valid as its holder
C_MIRROR = 7  # the same of a list whose offsets are those of another one

# ---- kinds of fields in a run ----

F_INT, F_FLAG, F_UUID, F_ENUM = 0, 1, 2, 3

# ---- the windows of a scan ----

ALL, CUT, ODD, FULL = 0, 1, 2, 3
"""All bytes are in frames; the last frame is cut off; the object path must decode the next frame; the tape is full."""
W_START, W_STOP, W_IS_OVER, W_POSITION, W_REASON, W_NEEDED, W_PROVEN, W_FOUND = range(8)
"""The columns of a window. Given: its bytes, and whether the stream ends there. Found: the end of its frames and the
reason, the needed bytes, whether there was a valid frame, and the number of frames.
"""
W_SIZE = 8
