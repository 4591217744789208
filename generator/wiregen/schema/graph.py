"""Groups of nodes that reach each other: one iterative pass over a graph of any depth."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

__all__ = ["components"]

_Node = TypeVar("_Node", bound=Hashable)


def components(
    roots: Iterable[_Node], successors: Callable[[_Node], Iterable[_Node]]
) -> Iterator[tuple[_Node, ...]]:
    """Yield the strongly connected components below `roots`, each after all those that it leads to (Tarjan's order)."""
    numbers: dict[_Node, int] = {}
    lowest: dict[_Node, int] = {}
    waiting: dict[_Node, None] = {}
    for root in roots:
        if root in numbers:
            continue
        path = [(root, _enter(root, numbers, lowest, waiting, successors))]
        while path:
            node, rest = path[-1]
            following = next(
                (other for other in rest if _is_new(node, other, numbers, lowest, waiting)), None
            )
            if following is not None:
                path.append((following, _enter(following, numbers, lowest, waiting, successors)))
                continue
            path.pop()
            if path:
                lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
            if lowest[node] == numbers[node]:
                yield _leave(node, waiting)


def _enter(
    node: _Node,
    numbers: dict[_Node, int],
    lowest: dict[_Node, int],
    waiting: dict[_Node, None],
    successors: Callable[[_Node], Iterable[_Node]],
) -> Iterator[_Node]:
    numbers[node] = lowest[node] = len(numbers)
    waiting[node] = None
    return iter(tuple(successors(node)))


def _is_new(
    node: _Node, other: _Node, numbers: dict[_Node, int], lowest: dict[_Node, int], waiting: dict[_Node, None]
) -> bool:
    if other not in numbers:
        return True
    if other in waiting:
        lowest[node] = min(lowest[node], numbers[other])
    return False


def _leave(node: _Node, waiting: dict[_Node, None]) -> tuple[_Node, ...]:
    group: list[_Node] = []
    while node in waiting:
        group.append(waiting.popitem()[0])
    return tuple(group)
