"""Annotations: each identified by its name, with the arguments that it takes."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from wiregen.language import syntax
from wiregen.language.resolver.state import MAX_ALIAS_CHAIN, Workspace
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model
from wiregen.schema.copies import replace

_Form: TypeAlias = Literal["texts", "text", "nothing", "tag", "name"]
FORMS: Final[Mapping[str, tuple[_Form, str]]] = {
    "source": ("texts", '`@source("where")`'),
    "assumed": ("text", '`@assumed("why")`'),
    "errata": ("text", '`@errata("the statement of the document")`'),
    "since": ("text", '`@since("version")`'),
    "deprecated": ("text", '`@deprecated("why")`'),
    "tag": ("tag", "`@tag(1)`, or on the frame `@tag(code)`"),
    "raw": ("nothing", "`@raw`"),
    "rule": ("name", "`@rule(name)`"),
    "secret": ("nothing", "`@secret`"),
}


NO_NOTES: Final = model.Notes()


def resolve_notes(
    work: Workspace, annotations: tuple[syntax.Annotation, ...], above: model.Notes = NO_NOTES
) -> model.Notes:
    """Return the annotations of one node; only `@source` may appear several times.

    A node without a source has those of the node that contains it, whose notes are `above`.
    """
    notes = NO_NOTES
    seen: set[str] = set()
    for annotation in annotations:
        name = annotation.name
        if name.text not in FORMS:
            report_unknown(name, "annotation", FORMS, work.report)
            continue
        if name.text in seen and name.text != "source":
            work.error("WG2401", f"`@{name.text}` occurs twice", annotation.span, label="second")
        seen.add(name.text)
        notes = _noted(work, notes, annotation)
    return notes if notes.sources else replace(notes, inherited=above.places)


def _noted(work: Workspace, notes: model.Notes, annotation: syntax.Annotation) -> model.Notes:
    form, example = FORMS[annotation.name.text]
    value = _value(work, form, annotation)
    if value is None:
        message = f"`@{annotation.name.text}` has wrong arguments"
        work.error("WG2401", message, annotation.span, help_=f"write {example}")
        return notes
    name = annotation.name.text
    if isinstance(value, tuple):
        return replace(notes, sources=(*notes.sources, value))
    return replace(notes, **{name: value})  # type: ignore[arg-type]


def _value(
    work: Workspace, form: _Form, annotation: syntax.Annotation
) -> str | int | bool | tuple[str, ...] | None:
    """Return the value of an annotation, or None if its arguments are wrong."""
    values = [argument.value for argument in annotation.arguments if argument.name is None]
    if len(values) != len(annotation.arguments):
        return None
    texts = tuple(value.value for value in values if isinstance(value, syntax.String))
    match form, values:
        case "nothing", []:
            return True
        case "texts", [_, *_] if len(texts) == len(values):
            return texts
        case "text", [syntax.String(value=text)]:
            return text
        case "tag", [syntax.Integer(value=number)] if number > 0:
            return number
        case "tag", [syntax.Name(text="code")]:
            return "code"
        case "name", [syntax.Name() as name]:
            return _rule(work, name)
        case _:
            return None


def doc_of_shape(work: Workspace, shape: syntax.Shape) -> str:
    """Return the documentation of the nearest documented alias that a shape is of, or ""."""
    core: object = shape.core
    for _ in range(MAX_ALIAS_CHAIN):
        alias = work.named(core.text, syntax.Alias) if isinstance(core, syntax.Name) else None
        if not isinstance(alias, syntax.Alias):
            break
        if alias.docs:
            return alias.docs
        core = alias.shape.core
    return ""


def rule_of_shape(work: Workspace, shape: syntax.Shape) -> str | None:
    """Return the rule of the alias that a whole shape is of."""
    is_whole = shape.carrier is None and not isinstance(shape.core, syntax.Match | syntax.Block)
    return rule_of_type(work, shape.core) if is_whole else None


def rule_of_type(work: Workspace, core: object) -> str | None:
    """Return the rule that an alias or a coding names, or that of an alias's type; errors are reported elsewhere."""
    for _ in range(MAX_ALIAS_CHAIN):
        if not isinstance(core, syntax.Name):
            return None
        alias = work.named(core.text, syntax.Alias)
        if not isinstance(alias, syntax.Alias):
            coding = work.named(core.text, syntax.Coding)
            return _named_rule(work, coding) if isinstance(coding, syntax.Coding) else None
        found = _named_rule(work, alias)
        if found is not None or alias.shape.carrier is not None:
            return found
        core = alias.shape.core
    return None


def _named_rule(work: Workspace, declared: syntax.Alias | syntax.Coding) -> str | None:
    names = (
        argument.value
        for annotation in declared.annotations
        if annotation.name.text == "rule"
        for argument in annotation.arguments
    )
    return next(
        (name.text for name in names if isinstance(name, syntax.Name) and name.text in work.rules), None
    )


def _rule(work: Workspace, name: syntax.Name) -> str:
    if name.text not in work.rules:
        help_ = f'declare it: `rule {name.text} "…"`'
        report_unknown(name, "rule", work.rules, work.report, help_=help_)
    work.refer(name, work.place_of_rule(name.text))
    return name.text
