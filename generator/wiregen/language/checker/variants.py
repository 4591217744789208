"""Variants: other layouts of the same fields, with values that all layouts and serializations have in common."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.language.checker.inspection import MAX_VARIANTS, Inspection, Owner
from wiregen.language.checker.layout_equality import Shape, shape_of
from wiregen.language.checker.lookup import is_visible
from wiregen.schema.model import Field, Trailing, Variant
from wiregen.schema.value_shapes.choices import holds
from wiregen.schema.value_shapes.derivation import CarriedFields, Varied, fields_of_all, fields_of_layout
from wiregen.schema.value_shapes.shapes import AnyOf, CarriedField, Form, Member, Number
from wiregen.schema.walk import every_field

__all__ = ["RULES"]


def _variant_of_other_fields(inspection: Inspection) -> None:
    for other, own in _varied(inspection):
        theirs, ours = _visible(other), _visible(own)
        different = sorted(theirs.keys() ^ ours.keys())
        if different:
            owner, what = (other, "only here") if different[0] in theirs else (own, "only in the main layout")
            inspection.error(
                "WG3045",
                f"the layouts of `{own.name}` have different fields: `{different[0]}`",
                inspection.place((theirs.get(different[0]) or ours[different[0]]).path),
                what,
                inspection.also(other.path if owner is own else own.path, "the other layout", "name"),
                help_="use the same fields; only derived and constant fields may differ",
            )


def _variant_of_other_absences(inspection: Inspection) -> None:
    """Report `?=` fields that differ: a number of absent fields has to mean the same fields in each layout."""
    for other, own in _varied(inspection):
        theirs, ours = _trailing(other), _trailing(own)
        if [_absence(field) for field in theirs] == [_absence(field) for field in ours]:
            continue
        pairs = zip(theirs, ours, strict=False)
        place = next(
            (one for one, two in pairs if _absence(one) != _absence(two)), theirs[-1] if theirs else None
        )
        before = next(
            (field for field in ours if place is None or field.name == place.name), ours[-1] if ours else None
        )
        inspection.error(
            "WG3081",
            f"the layouts of `{own.name}` have different `?=` fields",
            inspection.place(other.path, "name") if place is None else inspection.place(place.path),
            "not as in the main layout",
            None if before is None else inspection.also(before.path, "the other layout"),
            help_="declare the same `?=` fields in the same order, with the same values and conditions",
        )


def _variant_of_other_values(inspection: Inspection) -> None:
    """Report fields whose values in a variant cannot be carried as those of the protocol's own layout are."""
    for other, own in _varied(inspection):
        if isinstance(other, Varied) and isinstance(own, Varied):
            theirs = fields_of_layout(inspection.protocol, other)
            ours = fields_of_layout(inspection.protocol, own)
            wide = {field.name: field for field in fields_of_all(inspection.protocol, own).fields}
            for field in theirs.fields:
                before = wide.get(field.name)
                difference = None if before is None else _difference(field, theirs, before, ours)
                if before is not None and difference is not None:
                    _report_values(inspection, own, field, before, difference)


def _difference(
    field: CarriedField, theirs: CarriedFields, before: CarriedField, ours: CarriedFields
) -> str | None:
    """Return how the values of a field in a variant differ from those of its own layout, or None."""
    if isinstance(field.form, AnyOf) and isinstance(before.form, AnyOf):
        is_alike = _kinds(field.form, theirs) <= _kinds(before.form, ours)
    else:
        is_alike = holds(before.form, field.form)
    if not is_alike:
        return "has values of another kind"
    return "may be absent" if (before.presence, field.presence) == ("always", "optional") else None


def _kinds(form: AnyOf, carried: CarriedFields) -> frozenset[Form | type[Number]]:
    """Return the kinds of values that a choice may hold, ignoring the width of its integers."""
    forms = (each for choice in carried.choices if choice.name == form.name for each in choice.forms)
    return frozenset(Number if isinstance(each, Number | Member) else each for each in forms)


def _report_values(
    inspection: Inspection, own: Owner, field: CarriedField, before: CarriedField, difference: str
) -> None:
    inspection.error(
        "WG3082",
        f"`{field.name}` in this layout of `{own.name}` {difference}, unlike in the main layout",
        inspection.place(field.path, "type"),
        "no common values",
        inspection.also(before.path, "the other layout", "type"),
        help_="use values of the same kind; integers may have another width",
    )


def _trailing(owner: Owner) -> list[Field]:
    return [field for field in every_field(owner.fields) if isinstance(field.value, Trailing)]


def _absence(field: Field) -> object:
    return field.name, field.value, field.condition


def _variant_without_difference(inspection: Inspection) -> None:
    for other, own in _varied(inspection):
        if shape_of(other.fields) == shape_of(own.fields):
            inspection.error(
                "WG3046",
                f"this layout of `{own.name}` equals its main layout",
                inspection.place(other.path, "name"),
                "no difference",
                inspection.also(own.path, "the same bytes", "name"),
                help_="remove it: declarations that a variant does not repeat keep their layout",
            )


def _variants_alike(inspection: Inspection) -> None:
    first: dict[Shape, Variant] = {}
    for variant in inspection.protocol.variants[:MAX_VARIANTS]:
        before = first.setdefault(shape_of(_layouts(variant)), variant)
        if before is not variant:
            inspection.error(
                "WG3046",
                f"variant `{variant.name}` has the same layouts as `{before.name}`",
                inspection.place(variant.path, "name"),
                "ambiguous",
                inspection.also(before.path, "the same layouts", "name"),
                help_="change a layout, or remove one of the variants",
            )


def _layouts(variant: Variant) -> tuple[tuple[str, str, tuple[Field, ...]], ...]:
    """Return the layouts of a variant's declarations, in an order that does not depend on the text."""
    owners: tuple[Owner, ...] = (*variant.frames, *variant.structs, *variant.messages, *variant.preambles)
    by_name = sorted(owners, key=lambda owner: (type(owner).__name__, owner.name))
    return tuple((type(owner).__name__, owner.name, owner.fields) for owner in by_name)


def _too_many_variants(inspection: Inspection) -> None:
    for variant in inspection.protocol.variants[MAX_VARIANTS:]:
        inspection.error(
            "WG3047",
            f"a protocol has at most {MAX_VARIANTS} variants",
            inspection.place(variant.path, "name"),
            "one too many",
        )


def _varied(inspection: Inspection) -> Iterator[tuple[Owner, Owner]]:
    """Yield each declaration of a variant with the one that it replaces."""
    records = (record for record in inspection.records if record.variant is None)
    own = {(type(record.owner), record.owner.name): record.owner for record in records}
    for variant in inspection.protocol.variants[:MAX_VARIANTS]:
        others: tuple[Owner, ...] = (*variant.frames, *variant.structs, *variant.messages, *variant.preambles)
        for owner in others:
            other = own.get((type(owner), owner.name))
            if other is not None:
                yield owner, other


def _visible(owner: Owner) -> dict[str, Field]:
    return {field.name: field for field in every_field(owner.fields) if is_visible(field)}


RULES = (
    _variant_of_other_fields,
    _variant_of_other_absences,
    _variant_of_other_values,
    _variant_without_difference,
    _variants_alike,
    _too_many_variants,
)
