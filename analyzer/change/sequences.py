"""Pairing the items of two sequences or sets, the same way whichever comes first."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence

from analyzer.change.limits import spend

#: Above this many cells the table of a longest common subsequence takes too long.
CELLS = 1_000_000


def lcs(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Indices of a longest common subsequence; ties are broken the same way whichever comes first."""
    start = 0
    while start < len(a) and start < len(b) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    head = [(i, i) for i in range(start)]
    tail = [(len(a) - end + i, len(b) - end + i) for i in range(end)]
    x, y = list(a[start : len(a) - end]), list(b[start : len(b) - end])
    swapped = (len(x), x) > (len(y), y)
    if swapped:
        x, y = y, x
    middle = _longest(x, y) if len(x) * len(y) <= CELLS else _anchored(x, y)
    pairs = [((j, i) if swapped else (i, j)) for i, j in middle]
    return head + [(i + start, j + start) for i, j in pairs] + tail


def _longest(x: Sequence[Hashable], y: Sequence[Hashable]) -> list[tuple[int, int]]:
    """A longest common subsequence by the table of all prefixes."""
    spend(len(x) * len(y))
    table = [[0] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i in range(len(x) - 1, -1, -1):
        row, below = table[i], table[i + 1]
        for j in range(len(y) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if x[i] == y[j] else max(below[j], row[j + 1])
    i = j = 0
    found = []
    while i < len(x) and j < len(y):
        if x[i] == y[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _anchored(x: Sequence[Hashable], y: Sequence[Hashable]) -> list[tuple[int, int]]:
    """A long common subsequence of two that are too long for a table: the n-th of each item is paired with the n-th.

    Of what is paired, the longest run in the order of both is kept.
    """
    places = {key: j for j, key in enumerate(_numbered(y))}
    pairs = [(i, places[key]) for i, key in enumerate(_numbered(x)) if key in places]
    ends: list[int] = []  # the smallest last place of an increasing run of each length
    chain: list[int] = []  # the index of its pair
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(chain[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        chain[length : length + 1] = [index]
    found = []
    index = chain[-1] if chain else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def _numbered(items: Sequence[Hashable]) -> Iterator[tuple[Hashable, int]]:
    """Each item with the number of the same before it."""
    seen: Counter[Hashable] = Counter()
    for item in items:
        yield item, seen[item]
        seen[item] += 1


def greedy(candidates: Mapping[tuple[int, int], float]) -> list[tuple[int, int]]:
    """Pairs in falling order of score, no index twice; equal scores fall to the nearest, then the first."""
    used_a: set[int] = set()
    used_b: set[int] = set()
    found = []
    for (i, j), _ in sorted(
        candidates.items(), key=lambda item: (-item[1], abs(item[0][0] - item[0][1]), min(item[0]), max(item[0]))
    ):
        if i not in used_a and j not in used_b:
            used_a.add(i)
            used_b.add(j)
            found.append((i, j))
    return sorted(found)


def similarity(a: Counter, b: Counter) -> float:
    """Shared share of two multisets: 1 where they are equal, 0 where nothing is shared."""
    total = sum(a.values()) + sum(b.values())
    return 2 * sum((a & b).values()) / total if total else 1.0
