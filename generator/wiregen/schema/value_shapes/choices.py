"""The arms of a choice as they are carried: identified by the kind of value, not by the arm that laid it out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from wiregen.runtime.schema.scalars import FLOATS
from wiregen.schema.value_shapes.shapes import Form, Many, Member, Nullable, Number, Real, String

__all__ = ["holds", "merged", "widened"]


def merged(forms: Iterable[Form]) -> tuple[Form, ...]:
    """Return the forms that a value can be distinguished as, in order: equal forms once, all integers as one, all floats as one.

    Only u64 next to a signed number stays apart, because no integer of 64 bits holds both.
    """
    given = tuple(dict.fromkeys(forms))
    distinct = tuple(dict.fromkeys(reduce(_with_floats_of, given, form) for form in given))
    numbers = tuple(dict.fromkeys(_number(form) for form in distinct if isinstance(form, Number | Member)))
    if sum(isinstance(form, Number | Member) for form in distinct) > 1:
        distinct = _with(distinct, _numbers(numbers))
    if sum(isinstance(form, String) for form in distinct) > 1:
        strings = (String(is_lenient=True),)
        distinct = tuple(dict.fromkeys(strings[0] if isinstance(each, String) else each for each in distinct))
    return distinct


def widened(form: Form, other: Form) -> Form:
    """Return a form whose integers also hold those of another layout, or the form itself if no common one exists."""
    match form, other:
        case Number(), Number() if form != other:
            numbers = _numbers((form, other))
            return numbers[0] if len(numbers) == 1 else form
        case Real(), Real():
            return _widest(form, other)
        case Many(item=item), Many(item=inner):
            return Many(item=widened(item, inner))
        case Nullable(value=value), Nullable(value=inner):
            return Nullable(value=widened(value, inner))
        case _:
            return form


def holds(form: Form, other: Form) -> bool:
    """Return whether each value of another form can be carried in this one."""
    match form, other:
        case (Many(item=item), Many(item=inner)) | (Nullable(value=item), Nullable(value=inner)):
            return holds(item, inner)
        case String(is_lenient=True), String():
            return True
        case (Number(), Number()) | (Real(), Real()):
            return widened(form, other) == form
        case _:
            return form == other


def _widest(*floats: Real) -> Real:
    return max(floats, key=lambda each: FLOATS[each.format].size)


def _with_floats_of(form: Form, other: Form) -> Form:
    """Return a form whose floats also hold those of another arm, which a value does not tell apart."""
    match form, other:
        case Real(), Real():
            return _widest(form, other)
        case Many(item=item), Many(item=inner):
            return Many(item=_with_floats_of(item, inner))
        case Nullable(value=value), Nullable(value=inner):
            return Nullable(value=_with_floats_of(value, inner))
        case _:
            return form


def _number(form: Number | Member) -> Number:
    return form.number if isinstance(form, Member) else form


def _numbers(numbers: tuple[Number, ...]) -> tuple[Number, ...]:
    is_signed = any(number.is_signed for number in numbers)
    is_unsigned = not all(number.is_signed for number in numbers)
    is_wide = any(number.is_wide for number in numbers)
    signed = Number(is_wide=is_wide or is_unsigned, is_signed=True)
    if not is_signed:
        return (Number(is_wide=is_wide, is_signed=False),)
    if any(number.is_wide and not number.is_signed for number in numbers):
        return (Number(is_wide=True, is_signed=False), signed)
    return (signed,)


def _with(forms: tuple[Form, ...], numbers: tuple[Number, ...]) -> tuple[Form, ...]:
    """Return the forms with these numbers in the place of the first one."""
    first = next(n for n, form in enumerate(forms) if isinstance(form, Number | Member))
    rest = [form for form in forms if not isinstance(form, Number | Member)]
    return (*rest[:first], *numbers, *rest[first:])
