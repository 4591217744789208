"""The kernel that proves frames: it runs a program over them, and writes their values and places on a tape.

Invariants: a byte is read only after its place was compared with the existing bytes, in 64 bits. An entry
is written only if the tape has space. Places never go back, and negative lengths are refused. All arguments
are integers: addresses and sizes.
"""

# mypy: ignore-errors
# Reason: compiled by numba, which infers the types; all of them are 64-bit integers.

from __future__ import annotations

from wirespark.kernels import ops
from wirespark.kernels.memory import inlined, kernel, load8
from wirespark.kernels.peeking import cell, index_of, integer, is_text, put_cell

_MOST = 1 << 62
_POS, _END, _FRAME_END, _AVAILABLE, TAPE, _ITEMS, _MESSAGE, _NEEDED, _START = range(9)
N_STATE = 9
_FAILED, _CUT, _FULL = -1, -2, -3


@inlined
def _demand(state, size):
    """Return whether `size` more bytes are there; negative: the action instead."""
    if size < 0:
        return _FAILED
    stop = cell(state, _POS) + size
    if stop > cell(state, _END) or stop > cell(state, _FRAME_END):
        return _FAILED
    if stop > cell(state, _AVAILABLE):
        put_cell(state, _NEEDED, stop)
        return _CUT
    return 0


@inlined
def _emit(state, tape, limits, word, first, second):
    index = cell(state, TAPE)
    if index >= cell(limits, 3):
        return _FULL
    put_cell(tape, 3 * index, word)
    put_cell(tape, 3 * index + 1, first)
    put_cell(tape, 3 * index + 2, second)
    put_cell(state, TAPE, index + 1)
    return 0


# ---- numbers


@inlined
def _varint(state, data, registers, a, b, c):
    """Read a varint in its fewest bytes; numbers beyond 62 bits are left to the object path."""
    value = 0
    place = cell(state, _POS)
    for index in range(9):
        answer = _demand(state, index + 1)
        if answer < 0:
            return answer
        byte = load8(data + place + index)
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if (index > 0 and byte == 0) or value > _MOST or (b < 63 and value >> b):
                return _FAILED
            put_cell(registers, a, (value >> 1) ^ -(value & 1) if c else value)
            put_cell(state, _POS, place + index + 1)
            return 0
    return _FAILED


@inlined
def _calculated(operation, left, right):
    """Return the result of an operation, or a number beyond the range of registers if it has none."""
    if operation == ops.ADD:
        return left + right
    if operation == ops.SUB:
        return left - right
    if operation == ops.MUL:
        return left * right if abs(left) < 1 << 31 and abs(right) < 1 << 31 else _MOST + 1
    if operation == ops.DIV:
        return left // right if right != 0 else _MOST + 1
    if operation == ops.MOD:
        return left % right if right != 0 else _MOST + 1
    if operation == ops.MIN:
        return min(left, right)
    if operation == ops.MAX:
        return max(left, right)
    if operation == ops.NEG:
        return -left
    return 1 if _holds(operation, left, right) else 0


@inlined
def _holds(operation, left, right):
    if operation == ops.AND:
        return left != 0 and right != 0
    if operation == ops.OR:
        return left != 0 or right != 0
    if operation == ops.NOT:
        return left == 0
    if operation == ops.EQ:
        return left == right
    if operation == ops.NE:
        return left != right
    if operation == ops.LT:
        return left < right
    if operation == ops.LE:
        return left <= right
    if operation == ops.GT:
        return left > right
    return left >= right


# ---- operations


@inlined
def _step(state, data, op, a, b, c, d, numbers, registers, tape, limits):
    """Perform an operation after which the next row follows; negative: the action instead."""
    place = cell(state, _POS)
    if op == ops.NEED:
        return _demand(state, a)
    if op == ops.RUN:
        return _emit(state, tape, limits, ops.T_RUN, a, place)
    if op == ops.SKIP:
        put_cell(state, _POS, place + a)
        return 0
    if op == ops.LOAD:
        value = integer(data + place + b, c)
        if (c & 31 == 8 and value < 0) or value > _MOST or value < -_MOST:
            return _FAILED
        put_cell(registers, a, value)
        return 0
    if op == ops.SPAN:
        return _span(state, data, place, cell(registers, a), b, c, tape, limits)
    if op == ops.VARINT:
        return _varint(state, data, registers, a, b, c)
    if op == ops.VALUE:
        return _emit(state, tape, limits, ops.T_VALUE + (b << 8), cell(registers, a), 0)
    if op == ops.EMIT:
        return _emit(state, tape, limits, a + (b << 8), c, 0)
    if op == ops.MESSAGE:
        put_cell(state, _MESSAGE, a)
        return 0
    if op == ops.FLAG:
        return 0 if load8(data + place + a) <= 1 else _FAILED
    if op == ops.DEMAND:
        return 0 if cell(registers, a) != 0 else _FAILED
    if op == ops.MEMBER:
        return 0 if index_of(numbers, b, c, cell(registers, a)) >= 0 else _FAILED
    value = b if op == ops.SET else _calculated(b, cell(registers, c), cell(registers, d))
    put_cell(registers, a, value)
    return 0 if -_MOST <= value <= _MOST else _FAILED


@inlined
def _span(state, data, place, size, column, kind, tape, limits):
    answer = _demand(state, size)
    if answer < 0:
        return answer
    if kind != ops.NO_TEXT and not is_text(data + place, size, kind):
        return _FAILED
    put_cell(state, _POS, place + size)
    if column < 0:
        return 0
    return _emit(state, tape, limits, ops.T_SPAN + (column << 8), place, size)


@inlined
def _move(state, op, a, b, c, d, numbers, registers, tape, limits, here):
    """Perform an operation that selects the next row; negative: the action instead."""
    if op == ops.GO:
        return a
    if op == ops.UNLESS:
        return b if cell(registers, a) == 0 else here + 1
    if op == ops.CHOOSE:
        index = cell(registers, a) - d
        return cell(numbers, b + index) if 0 <= index < c else 0
    if op == ops.SEEK:
        return _sought(numbers, b, c, cell(registers, a))
    if op == ops.NEXT:
        left = cell(registers, a) - 1
        put_cell(registers, a, left)
        return b if left > 0 else here + 1
    if op == ops.MORE:
        return _more(state, cell(registers, a), b, tape, limits, here)
    answer = _place(state, op, a, b, c, d, registers, tape, limits)
    return answer if answer < 0 else here + 1


@inlined
def _sought(numbers, start, size, value):
    for index in range(start, start + 3 * size, 3):
        if cell(numbers, index) <= value <= cell(numbers, index + 1):
            return cell(numbers, index + 2)
    return 0


@inlined
def _more(state, index, behind, tape, limits, here):
    """Continue with items up to the region's end."""
    if cell(state, _POS) >= cell(state, _END):
        return behind
    count, left = cell(tape, 3 * index + 1), cell(state, _ITEMS)
    if count >= cell(limits, 1) or left <= 0:
        return _FAILED
    put_cell(state, _ITEMS, left - 1)
    put_cell(tape, 3 * index + 1, count + 1)
    return here + 1


@inlined
def _place(state, op, a, b, c, d, registers, tape, limits):
    """Perform an operation on regions, lists and bits."""
    position = cell(state, _POS)
    if op == ops.REST:
        put_cell(registers, a, cell(state, _END) - position)
    elif op == ops.HERE:
        put_cell(registers, a, position - cell(state, _START))
    elif op == ops.REGION:
        answer = _demand(state, cell(registers, a))
        if answer < 0:
            return answer
        put_cell(registers, b, cell(state, _END))
        put_cell(state, _END, position + cell(registers, a))
    elif op == ops.CLOSE:
        if position != cell(state, _END):
            return _FAILED
        put_cell(state, _END, cell(registers, a))
    elif op == ops.LIST:
        return _list(state, cell(registers, a), b, c, tape, limits)
    elif op == ops.OPEN:
        put_cell(registers, a, cell(state, TAPE))
        return _emit(state, tape, limits, ops.T_LIST + (b << 8), 0, 0)
    elif op == ops.BITS:
        put_cell(registers, a, cell(registers, b) >> c & ((1 << d) - 1))
    else:
        return _FAILED
    return 0


@inlined
def _list(state, count, column, smallest, tape, limits):
    """Begin a list of a known count, whose smallest encoding must be there."""
    left = cell(state, _ITEMS)
    if count < 0 or count > cell(limits, 1) or count > left or count > 1 << 40:
        return _FAILED
    answer = _demand(state, count * smallest)
    if answer < 0:
        return answer
    put_cell(state, _ITEMS, left - count)
    return _emit(state, tape, limits, ops.T_LIST + (column << 8), count, 0)


# ---- the scan


@inlined
def _frame(state, data, program, numbers, registers, tape, limits):
    """Run one frame; return 0 if it is proven."""
    here = 1
    while True:
        row = program + 40 * here
        op, a, b, c, d = cell(row, 0), cell(row, 1), cell(row, 2), cell(row, 3), cell(row, 4)
        if op >= ops.FIRST_MOVE:
            here = _move(state, op, a, b, c, d, numbers, registers, tape, limits, here)
            if here < 0:
                return here
        elif op > ops.END:
            answer = _step(state, data, op, a, b, c, d, numbers, registers, tape, limits)
            if answer < 0:
                return answer
            here += 1
        else:
            return 0 if op == ops.END else _FAILED


@inlined
def _begin(state, position, stop, limits):
    put_cell(state, _POS, position)
    put_cell(state, _START, position)
    put_cell(state, _END, _MOST)
    put_cell(state, _FRAME_END, position + cell(limits, 0))
    put_cell(state, _AVAILABLE, stop)
    put_cell(state, _ITEMS, cell(limits, 2))
    put_cell(state, _MESSAGE, 0)


@inlined
def _window(state, data, window, done, program, numbers, registers, limits, wanted, tape, frames):
    """Prove the frames of a window behind `done` others in `frames`, and write what was found to the window."""
    start, stop = cell(window, ops.W_START), cell(window, ops.W_STOP)
    n_frames = last_frames = done
    last_mark = cell(state, TAPE)
    position = last = start
    reason = ops.ALL
    while position < stop and reason == ops.ALL:
        if n_frames == cell(limits, 4):
            reason = ops.FULL
            break
        mark = cell(state, TAPE)
        _begin(state, position, stop, limits)
        result = _frame(state, data, program, numbers, registers, tape, limits)
        end = cell(state, _POS)
        if result < 0 or end <= position:
            reason = ops.CUT if result == _CUT else ops.FULL if result == _FULL and n_frames > 0 else ops.ODD
            put_cell(state, TAPE, mark)
            break
        last, last_frames, last_mark = position, n_frames, mark
        message = cell(state, _MESSAGE)
        if load8(wanted + message):
            put_cell(frames, 3 * n_frames, position)
            put_cell(frames, 3 * n_frames + 1, end)
            put_cell(frames, 3 * n_frames + 2, message)
            n_frames += 1
        else:
            put_cell(state, TAPE, mark)
        position = end
    if reason == ops.ALL and cell(window, ops.W_IS_OVER):
        last, last_frames, last_mark = position, n_frames, cell(state, TAPE)
    if reason == ops.FULL and last == start and done == 0:
        reason = ops.ODD
    put_cell(state, TAPE, last_mark)
    put_cell(window, ops.W_FOUND, last_frames - done)
    put_cell(window, ops.W_POSITION, last)
    put_cell(window, ops.W_REASON, reason)
    put_cell(window, ops.W_NEEDED, cell(state, _NEEDED) - last if reason == ops.CUT else 0)
    put_cell(window, ops.W_PROVEN, 1 if position > start else 0)


@kernel
def scan(data, windows, n_windows, program, numbers, registers, limits, wanted, state, tape, frames):
    """Prove the frames of windows, each from its start on; return the number of windows that are done.

    It is less than `n_windows` if the tape or `frames` is full: then the next window is partly done.

    `frames` gets (start, end, message) of each. `limits` are frame, count, messages, entries, frames. Frames with other
    messages than the wanted ones are proven without entries. The last frame of a window is proven and left: it is accepted
    only if another one follows, or if the stream is over.
    """
    put_cell(state, TAPE, 0)
    done = 0
    for index in range(n_windows):
        window = windows + 8 * ops.W_SIZE * index
        _window(state, data, window, done, program, numbers, registers, limits, wanted, tape, frames)
        done += cell(window, ops.W_FOUND)
        if cell(window, ops.W_REASON) == ops.FULL:
            return index
    return n_windows
