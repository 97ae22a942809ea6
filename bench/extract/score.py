"""The metrics of the two benchmarks, and the bootstrap of a difference."""

import random
import re
from collections import Counter

TOKEN = re.compile(r"\w+", re.UNICODE)


def bag_f1(gold: str, text: str) -> float:
    """WCXB: F1 of bags of lower-cased tokens."""
    want, got = Counter(TOKEN.findall(gold.lower())), Counter(TOKEN.findall(text.lower()))
    if not want and not got:
        return 1.0
    shared = (want & got).total()
    if not shared:
        return 0.0
    precision, recall = shared / got.total(), shared / want.total()
    return 2 * precision * recall / (precision + recall)


def shingles(text: str, length: int = 4) -> Counter:
    tokens = TOKEN.findall(text)
    return Counter(tuple(tokens[at : at + length]) for at in range(max(1, len(tokens) - length + 1)))


def shingle_counts(gold: str, text: str) -> tuple[float, float, float]:
    """Scrapinghub: true and false positives and false negatives of a page, as shares of their sum."""
    want, got = shingles(gold), shingles(text)
    true = (want & got).total()
    counts = true, got.total() - true, want.total() - true
    whole = sum(counts)
    return tuple(count / whole for count in counts) if whole else (0.0, 0.0, 0.0)


def shingle_f1(counts: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """F1, precision and recall over the sums of all pages."""
    true, false, missed = (sum(column) for column in zip(*counts))
    precision = true / (true + false) if true + false else 0.0
    recall = true / (true + missed) if true + missed else 0.0
    both = precision + recall
    return (2 * precision * recall / both if both else 0.0), precision, recall


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def interval(ours: list, theirs: list, statistic, rounds: int = 2000, seed: int = 7) -> tuple[float, float]:
    """The 95 % interval of the difference of a statistic, by drawing pages anew."""
    chance = random.Random(seed)
    differences = []
    for _ in range(rounds):
        drawn = chance.choices(range(len(ours)), k=len(ours))
        differences.append(statistic([ours[at] for at in drawn]) - statistic([theirs[at] for at in drawn]))
    differences.sort()
    return differences[int(rounds * 0.025)], differences[int(rounds * 0.975) - 1]
