"""Rules of the grammar to contexts, joins, sessions, rules, the ledger and examples."""

from typing import Literal, cast

from wiregen.language import syntax

from .declarations import role_of, source_setting
from .expressions import expressions, references
from .parts import Listed, Parts

RemarkKind = Literal["document", "peers", "decision", "reason"]


def member_path(parts: Parts) -> syntax.Path:
    owner, field = parts.all(syntax.Name)
    return syntax.Path(owner=owner, field=field, span=parts.span)


def set_(parts: Parts) -> syntax.Set:
    return syntax.Set(
        docs=parts.docs, path=parts.one(syntax.Path), when=parts.expression("when"), span=parts.span
    )


def part(parts: Parts) -> syntax.Part:
    return syntax.Part(
        docs=parts.docs, path=parts.one(syntax.Path), when=parts.expression("when"), span=parts.span
    )


def last(parts: Parts) -> syntax.Last:
    return syntax.Last(
        docs=parts.docs, path=parts.one(syntax.Path), when=parts.expression("when"), span=parts.span
    )


def clear(parts: Parts) -> syntax.Clear:
    return syntax.Clear(docs=parts.docs, names=parts.names(), when=parts.expression("when"), span=parts.span)


def context(parts: Parts) -> syntax.Context:
    name, type_ = references(parts)
    return syntax.Context(
        docs=parts.docs,
        name=cast(syntax.Name, name),
        type=type_,
        keys=parts.names("per"),
        role=role_of(parts),
        lines=tuple(line for line in parts.children if isinstance(line, syntax.Set | syntax.Clear)),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def join(parts: Parts) -> syntax.Join:
    name, type_ = references(parts)
    lines = (line for line in parts.children if isinstance(line, syntax.Part | syntax.Last | syntax.Clear))
    return syntax.Join(
        docs=parts.docs,
        name=cast(syntax.Name, name),
        type=type_,
        keys=parts.names("per"),
        lines=tuple(lines),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


_SESSION_LINES = (syntax.SessionRoles, syntax.Var, syntax.Option, syntax.State)


def session(parts: Parts) -> syntax.Session:
    return syntax.Session(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        keys=parts.names("per"),
        lines=tuple(line for line in parts.children if isinstance(line, _SESSION_LINES)),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def session_roles(parts: Parts) -> syntax.SessionRoles:
    return syntax.SessionRoles(docs=parts.docs, names=parts.names(), span=parts.span)


def var(parts: Parts) -> syntax.Var:
    name, type_, value = expressions(parts)
    return syntax.Var(
        docs=parts.docs,
        name=cast(syntax.Name, name),
        type=cast(syntax.Ref, type_),
        value=value,
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def option(parts: Parts) -> syntax.Option:
    name, type_, value = expressions(parts)
    return syntax.Option(
        docs=parts.docs,
        name=cast(syntax.Name, name),
        type=cast(syntax.Ref, type_),
        value=value,
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def state(parts: Parts) -> syntax.State:
    return syntax.State(
        docs=parts.docs,
        names=parts.maybe(syntax.Wildcard) or parts.names(),
        rows=tuple(row for row in parts.children if isinstance(row, syntax.Row | syntax.Timer)),
        span=parts.span,
    )


def row(parts: Parts) -> syntax.Row:
    heads = [c for c in parts.children if isinstance(c, syntax.Name | syntax.Wildcard)]
    return syntax.Row(
        docs=parts.docs,
        role=heads[0],
        messages=parts.names() or cast(syntax.Wildcard, heads[1]),
        when=parts.expression("when"),
        effect=_effect_of(parts),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def timer(parts: Parts) -> syntax.Timer:
    (duration,) = expressions(parts)
    return syntax.Timer(
        docs=parts.docs,
        duration=duration,
        effect=_effect_of(parts),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def _effect_of(parts: Parts) -> syntax.Effect:
    return next(c for c in parts.children if isinstance(c, syntax.Go | syntax.Stay | syntax.Violates))


def go(parts: Parts) -> syntax.Go:
    return syntax.Go(state=parts.one(syntax.Name), updates=_updates_of(parts), span=parts.span)


def stay(parts: Parts) -> syntax.Stay:
    return syntax.Stay(updates=_updates_of(parts), span=parts.span)


def violates(parts: Parts) -> syntax.Violates:
    return syntax.Violates(name=parts.one(syntax.Name), lenient=parts.place("LENIENT"), span=parts.span)


def updates(parts: Parts) -> Listed:
    return Listed(items=parts.all(syntax.Update), span=parts.span)


def _updates_of(parts: Parts) -> tuple[syntax.Update, ...]:
    listed = parts.maybe(Listed)
    return () if listed is None else cast(tuple[syntax.Update, ...], listed.items)


def update(parts: Parts) -> syntax.Update:
    name, value = expressions(parts)
    return syntax.Update(name=cast(syntax.Name, name), value=value, span=parts.span)


def rule(parts: Parts) -> syntax.Rule:
    sources = (source.text for source in parts.all(syntax.SourceSetting))
    return syntax.Rule(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        text=parts.one(syntax.String),
        sources=tuple(sources),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def ledger(parts: Parts) -> syntax.Ledger:
    return syntax.Ledger(
        docs=parts.docs,
        id=parts.maybe(syntax.Integer) or parts.one(syntax.Name),
        title=parts.one(syntax.String),
        entries=tuple(e for e in parts.children if isinstance(e, syntax.Remark | syntax.About)),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def remark(parts: Parts) -> syntax.Remark:
    kind = cast(RemarkKind, str(parts.children[0]))
    return syntax.Remark(kind=kind, text=parts.one(syntax.String), span=parts.span)


def about(parts: Parts) -> syntax.About:
    return syntax.About(subjects=references(parts), span=parts.span)


def example(parts: Parts) -> syntax.Example:
    name, given, *outcome = expressions(parts)
    return syntax.Example(
        docs=parts.docs,
        name=cast(syntax.String, name),
        given=given,
        outcome=outcome[0] if outcome else parts.one(syntax.Violates),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def with_option(parts: Parts) -> syntax.ConversationOption:
    name, value = expressions(parts)
    return syntax.ConversationOption(name=cast(syntax.Name, name), value=value, span=parts.span)


def step(parts: Parts) -> syntax.ConversationStep:
    role, value = expressions(parts)
    return syntax.ConversationStep(
        role=cast(syntax.Name, role), value=value, violation=parts.maybe(syntax.Violates), span=parts.span
    )


def pause(parts: Parts) -> syntax.ConversationPause:
    return syntax.ConversationPause(
        duration=parts.one(syntax.Quantity), violation=parts.maybe(syntax.Violates), span=parts.span
    )


_LINES = (syntax.ConversationOption, syntax.ConversationStep, syntax.ConversationPause)


def conversation(parts: Parts) -> syntax.Conversation:
    return syntax.Conversation(
        docs=parts.docs,
        name=parts.one(syntax.String),
        lines=tuple(line for line in parts.children if isinstance(line, _LINES)),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


RULES = {
    "member_path": member_path,
    "set": set_,
    "part": part,
    "last": last,
    "clear": clear,
    "context": context,
    "join": join,
    "session": session,
    "session_roles": session_roles,
    "var": var,
    "option": option,
    "state": state,
    "row": row,
    "timer": timer,
    "go": go,
    "stay": stay,
    "violates": violates,
    "violation": violates,
    "updates": updates,
    "update": update,
    "rule": rule,
    "rule_source": source_setting,
    "ledger": ledger,
    "remark": remark,
    "about": about,
    "example": example,
    "with_option": with_option,
    "step": step,
    "pause": pause,
    "conversation": conversation,
}
