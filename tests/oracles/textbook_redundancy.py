"""CMIM, JMI, mRMR and FCBF as the papers define them: dense, slow, in 50 digits, with every information from scratch.

Equal values (to 30 digits) are decided by I(X; Y), then by the number of the term.
"""

from collections import Counter
from functools import cmp_to_key

from mpmath import mp, mpf

DIGITS, SAME = 50, mpf(10) ** -30


def information(xs, ys, zs=None):
    """I(X; Y | Z), by the definition."""
    with mp.workdps(DIGITS):
        n = len(xs)
        zs = [0] * n if zs is None else zs
        xyz, xz = Counter(zip(xs, ys, zs, strict=True)), Counter(zip(xs, zs, strict=True))
        yz, z = Counter(zip(ys, zs, strict=True)), Counter(zs)
        parts = [
            mpf(m) / n * mp.log(mpf(m) * z[c] / (mpf(xz[a, c]) * yz[b, c])) for (a, b, c), m in sorted(xyz.items())
        ]
        return mp.fsum(parts)


def uncertainty(xs, ys):
    """2 I(X; Y) / (H(X) + H(Y)); 0 where both are constant."""
    with mp.workdps(DIGITS):
        whole = information(xs, xs) + information(ys, ys)
        return 2 * information(xs, ys) / whole if whole > SAME else mpf(0)


def compare(a, b):
    """1, 0 or -1, with equality to 30 digits, for numbers and tuples of them."""
    for x, y in zip(a, b, strict=True):
        if x != y and (mp.isinf(x) or mp.isinf(y) or abs(x - y) > SAME):
            return 1 if x > y else -1
    return 0


def first_best(candidates, value):
    best = None
    for j in candidates:
        if best is None or compare(value(j), value(best)) > 0:
            best = j
    return best


def rank(method, columns, y, k):
    """The first k terms by a method; `columns` has the presence of each term."""
    terms = [j for j, column in enumerate(columns) if any(column)]
    relevance = {j: information(columns[j], y) for j in terms}
    if method == "fcbf":
        return rank_by_fcbf(columns, y, terms, relevance)[:k]
    chosen = []
    while len(chosen) < min(k, len(terms)):
        left = [j for j in terms if j not in chosen]
        value = {j: score(method, columns, y, j, chosen, relevance) for j in left}
        chosen.append(first_best(left, lambda j: (*value[j], relevance[j])))  # noqa: B023
    return chosen


def score(method, columns, y, j, chosen, relevance):
    if not chosen:
        return (relevance[j],)
    with mp.workdps(DIGITS):
        if method in ("cmim", "jmi"):
            beside = [information(columns[j], y, columns[s]) for s in chosen]
            return (min([relevance[j], *beside]) if method == "cmim" else mp.fsum(beside) / len(chosen),)
        mean = mp.fsum(information(columns[j], columns[s]) for s in chosen) / len(chosen)
        if method == "mrmr":
            return (relevance[j] - mean,)
        if mean > SAME:
            return (relevance[j] / mean,)
        return (mp.inf if relevance[j] > SAME else mpf(0),)


def rank_by_fcbf(columns, y, terms, relevance):
    with_class = {j: uncertainty(columns[j], y) for j in terms}

    def ahead(a, b):
        return -compare((with_class[a], relevance[a]), (with_class[b], relevance[b])) or a - b

    left, chosen = sorted(terms, key=cmp_to_key(ahead)), []
    while left:
        best = left.pop(0)
        chosen.append(best)
        left = [j for j in left if compare((uncertainty(columns[j], columns[best]),), (with_class[j],)) < 0]
    return chosen


def rank_in_turn(method, columns, labels, classes, k):
    """Several labels: each class against the rest has its own order, and takes its first term that is left in turn."""
    orders = [rank(method, columns, [c in one for one in labels], len(columns)) for c in classes]
    taken = []
    while len(taken) < k and any(set(order) - set(taken) for order in orders):
        for order in orders:
            best = next((j for j in order if j not in taken), None)
            if best is not None and len(taken) < k:
                taken.append(best)
    return taken
