"""The totals of a proxy's run."""

from collections import Counter

from wiregen.formats.inspect.values import plural
from wiregen.runtime.codec.errors import DecodeError
from wiregen.tools.cli.replayed import Replayed

__all__ = ["Totals"]


class Totals:
    """Counts connections, messages, errors, violations and bytes; its size does not depend on their number."""

    def __init__(self, roles: tuple[str, ...]) -> None:
        self.n_connections = 0
        self.n_refused = 0
        self.n_skipped = 0
        self.n_errors = 0
        self.n_bytes: Counter[str] = Counter(dict.fromkeys(roles, 0))
        self.n_messages: Counter[str | None] = Counter()
        self.violations: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.actions: Counter[str] = Counter()

    def add(self, replayed: Replayed, actions: tuple[str, ...] = ()) -> None:
        """Count a frame, an error or a timer, and the faults that were made of it."""
        self.actions.update(action.partition(":")[0] for action in actions)
        for violation in replayed.violations:
            (self.notes if violation.lenient else self.violations)[violation.name] += 1
        if replayed.decoded is None:
            return
        if isinstance(replayed.decoded.outcome, DecodeError):
            self.n_errors += 1
        else:
            self.n_messages[replayed.decoded.role] += 1

    @property
    def has_findings(self) -> bool:
        return bool(self.n_errors or self.violations)

    def text(self) -> str:
        """Return the totals in a line."""
        sent = (
            f"{role} {plural(self.n_messages[role], 'message')} of {plural(n_bytes, 'byte')}"
            for role, n_bytes in self.n_bytes.items()
        )
        counts = (
            plural(self.n_errors, "error"),
            f"{plural(self.violations.total(), 'violation')}{_listed(self.violations)}",
            f"{plural(self.notes.total(), 'note')}{_listed(self.notes)}",
        )
        more = [f"{name} {count:,}" for name, count in sorted(self.actions.items())]
        if self.n_refused:
            more.append(f"refused {plural(self.n_refused, 'connection')}")
        if self.n_skipped:
            more.append(f"not decoded {plural(self.n_skipped, 'byte')}")
        return f"{plural(self.n_connections, 'connection')}: {', '.join((*sent, *counts, *more))}"


def _listed(count: Counter[str]) -> str:
    return f" ({', '.join(f'{name} {number}' for name, number in sorted(count.items()))})" if count else ""
