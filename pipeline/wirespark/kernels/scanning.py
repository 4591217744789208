"""The kernel that proves: it runs a program over frames, and writes on a tape what they hold and where.

Invariants: a byte is read only after its place was compared with what is there, in 64 bits; an entry is written only where the
tape has room. Places never go back, and lengths are refused where they are negative. All arguments are integers: addresses and sizes.
"""

# mypy: ignore-errors
# Reason: compiled by numba, which infers the types; all of them are 64-bit integers.

from __future__ import annotations

from wirespark.kernels.memory import inlined, kernel, load8, load64, store64
from wirespark.kernels.ops import *  # noqa: F403

_MOST = 1 << 62
_POS, _END, _FRAME_END, _AVAILABLE, _TAPE, _ITEMS, _MESSAGE, _NEEDED, _START = range(9)
N_STATE = 9
_FAILED, _CUT, _FULL = -1, -2, -3


@inlined
def _get(table, index):
    return load64(table + 8 * index)


@inlined
def _set(table, index, value):
    store64(table + 8 * index, value)


@inlined
def _integer(data, form):
    """Return the integer of a form; unsigned ones of eight bytes as if signed."""
    size = form & 15
    value = 0
    if form & LITTLE:
        for index in range(size - 1, -1, -1):
            value = value << 8 | load8(data + index)
    elif size == 1:
        value = load8(data)
    elif size == 2:
        value = load8(data) << 8 | load8(data + 1)
    elif size == 4:
        value = load8(data) << 24 | load8(data + 1) << 16 | load8(data + 2) << 8 | load8(data + 3)
    else:
        for index in range(size):
            value = value << 8 | load8(data + index)
    if form & SIGNED and size < 8 and value >> (8 * size - 1):
        value -= 1 << (8 * size)
    return value


@inlined
def _demand(state, size):
    """Say whether `size` more bytes are there; negative: what is to happen instead."""
    if size < 0:
        return _FAILED
    stop = _get(state, _POS) + size
    if stop > _get(state, _END) or stop > _get(state, _FRAME_END):
        return _FAILED
    if stop > _get(state, _AVAILABLE):
        _set(state, _NEEDED, stop)
        return _CUT
    return 0


@inlined
def _emit(state, tape, limits, word, first, second):
    index = _get(state, _TAPE)
    if index >= _get(limits, 3):
        return _FULL
    _set(tape, 3 * index, word)
    _set(tape, 3 * index + 1, first)
    _set(tape, 3 * index + 2, second)
    _set(state, _TAPE, index + 1)
    return 0


# ---- text


@inlined
def _is_plain(data, size):
    """Say whether all bytes are ASCII without NUL."""
    seen = 0
    zeros = 0
    for index in range(size):
        byte = load8(data + index)
        seen |= byte
        zeros += byte == 0
    return seen < 0x80 and zeros == 0


@inlined
def _is_text(data, size, kind):
    """Say whether bytes are text that Arrow takes as it is."""
    if _is_plain(data, size):
        return True
    place = 0
    while place < size:
        byte = load8(data + place)
        if byte < 0x80:
            if byte == 0 and kind == MUTF8:
                return False
            place += 1
            continue
        length = _sequence(data + place, size - place)
        if length == 0 or kind == ASCII or (length == 4 and kind == MUTF8):
            return False
        place += length
    return True


@inlined
def _sequence(data, size):
    """Return how long the UTF-8 sequence is that begins here; 0: it is none (Source: Unicode, table 3-7)."""
    first = load8(data)
    length = 2 if 0xC2 <= first <= 0xDF else 3 if 0xE0 <= first <= 0xEF else 4 if 0xF0 <= first <= 0xF4 else 0
    if length == 0 or length > size:
        return 0
    second = load8(data + 1)
    low = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
    high = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
    if second < low or second > high:
        return 0
    for index in range(2, length):
        if load8(data + index) & 0xC0 != 0x80:
            return 0
    return length


# ---- numbers


@inlined
def _varint(state, data, registers, a, b, c):
    """Read a varint in its fewest bytes; numbers beyond 62 bits are left to the object path."""
    value = 0
    place = _get(state, _POS)
    for index in range(9):
        answer = _demand(state, index + 1)
        if answer < 0:
            return answer
        byte = load8(data + place + index)
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if (index > 0 and byte == 0) or value > _MOST or (b < 63 and value >> b):
                return _FAILED
            _set(registers, a, (value >> 1) ^ -(value & 1) if c else value)
            _set(state, _POS, place + index + 1)
            return 0
    return _FAILED


@inlined
def _calculated(operation, left, right):
    """Return the value of an operation; beyond the range of registers where there is none."""
    if operation == ADD:
        return left + right
    if operation == SUB:
        return left - right
    if operation == MUL:
        return left * right if abs(left) < 1 << 31 and abs(right) < 1 << 31 else _MOST + 1
    if operation == DIV:
        return left // right if right != 0 else _MOST + 1
    if operation == MOD:
        return left % right if right != 0 else _MOST + 1
    if operation == MIN:
        return min(left, right)
    if operation == MAX:
        return max(left, right)
    if operation == NEG:
        return -left
    return 1 if _holds(operation, left, right) else 0


@inlined
def _holds(operation, left, right):
    if operation == AND:
        return left != 0 and right != 0
    if operation == OR:
        return left != 0 or right != 0
    if operation == NOT:
        return left == 0
    if operation == EQ:
        return left == right
    if operation == NE:
        return left != right
    if operation == LT:
        return left < right
    if operation == LE:
        return left <= right
    if operation == GT:
        return left > right
    return left >= right


@inlined
def _index_of(numbers, start, size, value):
    """Return where among sorted numbers a value is; negative: nowhere."""
    low, high = start, start + size
    while low < high:
        middle = (low + high) >> 1
        if _get(numbers, middle) < value:
            low = middle + 1
        else:
            high = middle
    return low - start if low < start + size and _get(numbers, low) == value else -1


# ---- operations


@inlined
def _step(state, data, op, a, b, c, d, numbers, registers, tape, limits):
    """Do an operation behind which the next one follows; negative: what is to happen instead."""
    place = _get(state, _POS)
    if op == NEED:
        return _demand(state, a)
    if op == RUN:
        return _emit(state, tape, limits, T_RUN, a, place)
    if op == SKIP:
        _set(state, _POS, place + a)
        return 0
    if op == LOAD:
        value = _integer(data + place + b, c)
        if (c & 31 == 8 and value < 0) or value > _MOST or value < -_MOST:
            return _FAILED
        _set(registers, a, value)
        return 0
    if op == SPAN:
        return _span(state, data, place, _get(registers, a), b, c, tape, limits)
    if op == VARINT:
        return _varint(state, data, registers, a, b, c)
    if op == VALUE:
        return _emit(state, tape, limits, T_VALUE + (b << 8), _get(registers, a), 0)
    if op == EMIT:
        return _emit(state, tape, limits, a + (b << 8), c, 0)
    if op == MESSAGE:
        _set(state, _MESSAGE, a)
        return 0
    if op == FLAG:
        return 0 if load8(data + place + a) <= 1 else _FAILED
    if op == DEMAND:
        return 0 if _get(registers, a) != 0 else _FAILED
    if op == MEMBER:
        return 0 if _index_of(numbers, b, c, _get(registers, a)) >= 0 else _FAILED
    value = b if op == SET else _calculated(b, _get(registers, c), _get(registers, d))
    _set(registers, a, value)
    return 0 if -_MOST <= value <= _MOST else _FAILED


@inlined
def _span(state, data, place, size, column, kind, tape, limits):
    answer = _demand(state, size)
    if answer < 0:
        return answer
    if kind != NO_TEXT and not _is_text(data + place, size, kind):
        return _FAILED
    _set(state, _POS, place + size)
    if column < 0:
        return 0
    return _emit(state, tape, limits, T_SPAN + (column << 8), place, size)


@inlined
def _move(state, op, a, b, c, d, numbers, registers, tape, limits, here):
    """Do an operation that says which row is next; negative: what is to happen instead."""
    if op == GO:
        return a
    if op == UNLESS:
        return b if _get(registers, a) == 0 else here + 1
    if op == CHOOSE:
        index = _get(registers, a) - d
        return _get(numbers, b + index) if 0 <= index < c else 0
    if op == SEEK:
        return _sought(numbers, b, c, _get(registers, a))
    if op == NEXT:
        left = _get(registers, a) - 1
        _set(registers, a, left)
        return b if left > 0 else here + 1
    if op == MORE:
        return _more(state, _get(registers, a), b, tape, limits, here)
    answer = _place(state, op, a, b, c, d, registers, tape, limits)
    return answer if answer < 0 else here + 1


@inlined
def _sought(numbers, start, size, value):
    for index in range(start, start + 3 * size, 3):
        if _get(numbers, index) <= value <= _get(numbers, index + 1):
            return _get(numbers, index + 2)
    return 0


@inlined
def _more(state, index, behind, tape, limits, here):
    """Go on with items up to the region's end."""
    if _get(state, _POS) >= _get(state, _END):
        return behind
    count, left = _get(tape, 3 * index + 1), _get(state, _ITEMS)
    if count >= _get(limits, 1) or left <= 0:
        return _FAILED
    _set(state, _ITEMS, left - 1)
    _set(tape, 3 * index + 1, count + 1)
    return here + 1


@inlined
def _place(state, op, a, b, c, d, registers, tape, limits):
    """Do an operation about regions, lists and bits."""
    position = _get(state, _POS)
    if op == REST:
        _set(registers, a, _get(state, _END) - position)
    elif op == HERE:
        _set(registers, a, position - _get(state, _START))
    elif op == REGION:
        answer = _demand(state, _get(registers, a))
        if answer < 0:
            return answer
        _set(registers, b, _get(state, _END))
        _set(state, _END, position + _get(registers, a))
    elif op == CLOSE:
        if position != _get(state, _END):
            return _FAILED
        _set(state, _END, _get(registers, a))
    elif op == LIST:
        return _list(state, _get(registers, a), b, c, tape, limits)
    elif op == OPEN:
        _set(registers, a, _get(state, _TAPE))
        return _emit(state, tape, limits, T_LIST + (b << 8), 0, 0)
    elif op == BITS:
        _set(registers, a, _get(registers, b) >> c & ((1 << d) - 1))
    else:
        return _FAILED
    return 0


@inlined
def _list(state, count, column, smallest, tape, limits):
    """Begin a list of a known count, whose smallest encoding has to be there."""
    left = _get(state, _ITEMS)
    if count < 0 or count > _get(limits, 1) or count > left or count > 1 << 40:
        return _FAILED
    answer = _demand(state, count * smallest)
    if answer < 0:
        return answer
    _set(state, _ITEMS, left - count)
    return _emit(state, tape, limits, T_LIST + (column << 8), count, 0)


# ---- the scan


@inlined
def _frame(state, data, program, numbers, registers, tape, limits):
    """Go through one frame; 0: it is proven."""
    here = 1
    while True:
        row = program + 40 * here
        op, a, b, c, d = _get(row, 0), _get(row, 1), _get(row, 2), _get(row, 3), _get(row, 4)
        if op >= FIRST_MOVE:
            here = _move(state, op, a, b, c, d, numbers, registers, tape, limits, here)
            if here < 0:
                return here
        elif op > END:
            answer = _step(state, data, op, a, b, c, d, numbers, registers, tape, limits)
            if answer < 0:
                return answer
            here += 1
        else:
            return 0 if op == END else _FAILED


@inlined
def _begin(state, position, stop, limits):
    _set(state, _POS, position)
    _set(state, _START, position)
    _set(state, _END, _MOST)
    _set(state, _FRAME_END, position + _get(limits, 0))
    _set(state, _AVAILABLE, stop)
    _set(state, _ITEMS, _get(limits, 2))
    _set(state, _MESSAGE, 0)


@kernel
def scan(data, start, stop, program, numbers, registers, limits, wanted, state, tape, frames, answer):
    """Prove frames from `start` on; `frames` gets (start, end, message) of each, `answer` what ops.FOUND and so on say.

    `limits` are frame, count, messages, entries, frames. Frames whose message is not wanted are proven, and no more is said of them.
    The last one is proven and left: it is believed only where another one follows.
    """
    n_frames = last_frames = last_mark = 0
    position = last = start
    reason = ALL
    _set(state, _TAPE, 0)
    while position < stop and reason == ALL:
        if n_frames == _get(limits, 4):
            reason = FULL
            break
        mark = _get(state, _TAPE)
        _begin(state, position, stop, limits)
        result = _frame(state, data, program, numbers, registers, tape, limits)
        end = _get(state, _POS)
        if result < 0 or end <= position:
            reason = CUT if result == _CUT else FULL if result == _FULL and n_frames > 0 else ODD
            _set(state, _TAPE, mark)
            break
        last, last_frames, last_mark = position, n_frames, mark
        message = _get(state, _MESSAGE)
        if load8(wanted + message):
            _set(frames, 3 * n_frames, position)
            _set(frames, 3 * n_frames + 1, end)
            _set(frames, 3 * n_frames + 2, message)
            n_frames += 1
        else:
            _set(state, _TAPE, mark)
        position = end
    _set(answer, FOUND, last_frames)
    _set(answer, TAPE, last_mark)
    _set(answer, POSITION, last)
    _set(answer, REASON, ODD if reason == FULL and last == start else reason)
    _set(answer, NEEDED, _get(state, _NEEDED) - last if reason == CUT else 0)
    _set(answer, PROVEN, 1 if position > start else 0)
