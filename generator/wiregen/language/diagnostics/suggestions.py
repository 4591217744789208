"""The name that was probably meant; the work is bounded whatever the words are."""

from collections.abc import Iterable

_MAX_LENGTH = 48
_MAX_COMPARED = 300
_MAX_DISTANCE = 3


def suggest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the nearest candidate, or None if all are too far.

    A candidate that differs only in case or underscores comes first.
    """
    if not 0 < len(word) <= _MAX_LENGTH:
        return None
    folded = _fold(word)
    bound = min(_MAX_DISTANCE, max(len(folded) // 3, 1 if len(folded) > 1 else 0))
    near = sorted({name for name in candidates if name != word and abs(len(name) - len(word)) <= bound + 3})
    for name in near:
        if _fold(name) == folded:
            return name
    ranked = [(_distance(folded, _fold(name), bound), name) for name in near[:_MAX_COMPARED]]
    distance, best = min(ranked, default=(bound + 1, ""))
    return best if distance <= bound else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """Return the help line that offers the nearest candidate, or None if all are too far."""
    nearest = suggest(word, candidates)
    return None if nearest is None else f"did you mean `{nearest}`?"


def _fold(name: str) -> str:
    return name.casefold().replace("_", "")


def _distance(left: str, right: str, bound: int) -> int:
    """Return the edit distance, with a swap of neighbours counted as one; `bound + 1` for any larger distance."""
    if abs(len(left) - len(right)) > bound:
        return bound + 1
    far = bound + 1
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, a in enumerate(left, 1):
        current = [row] + [far] * len(right)
        # A path that leaves this band is already longer than the bound.
        for column in range(max(1, row - bound), min(len(right), row + bound) + 1):
            b = right[column - 1]
            cost = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (a != b))
            if row > 1 and column > 1 and a == right[column - 2] and left[row - 2] == b:
                cost = min(cost, before[column - 2] + 1)
            current[column] = cost
        if min(current) > bound:
            return far
        before, previous = previous, current
    return min(previous[-1], far)
