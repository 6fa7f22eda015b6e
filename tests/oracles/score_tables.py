"""A seeded generator of tables: degenerate, small, nearly independent, huge, with occurrences to match."""

import numpy as np


def tables(n: int, largest: float = 1e9, seed: int = 0) -> dict[str, np.ndarray]:
    """Make n tables with non-empty class and complement, cells up to `largest`; arrays by name."""
    rng = np.random.default_rng(seed)
    kinds = [_small, _degenerate, _near, _independent, _huge]
    parts = [kind(rng, -(-n // len(kinds)), largest) for kind in kinds]
    cells = np.concatenate(parts, axis=1)[:, rng.permutation(-(-n // len(kinds)) * len(kinds))][:, :n]
    tp, fp, fn, tn = np.rint(cells)
    fn += tp + fn == 0
    tn += fp + tn == 0
    return _with_occurrences(rng, tp, fp, fn, tn)


def _log_uniform(rng, n, largest):
    return np.floor(np.exp(rng.uniform(0, np.log(largest), n)))


def _small(rng, n, largest):
    return rng.integers(0, 15, (4, n)).astype(float)


def _degenerate(rng, n, largest):
    cells = np.array([_log_uniform(rng, n, largest) for _ in range(4)])
    return cells * rng.integers(0, 2, (4, n))


def _near(rng, n, largest):
    n_c, n_nc = _log_uniform(rng, n, largest), _log_uniform(rng, n, largest)
    p = np.where(rng.random(n) < 0.5, rng.random(n), 10 ** rng.uniform(-6, -1, n))
    tp = np.clip(np.rint(n_c * p) + rng.integers(-2, 3, n), 0, n_c)
    fp = np.clip(np.rint(n_nc * p) + rng.integers(-2, 3, n), 0, n_nc)
    return np.array([tp, fp, n_c - tp, n_nc - fp])


def _independent(rng, n, largest):
    a, b, c, d = (_log_uniform(rng, n, np.sqrt(largest)) for _ in range(4))
    return np.array([a * c, b * c, a * d, b * d])


def _huge(rng, n, largest):
    return np.array([_log_uniform(rng, n, largest) for _ in range(4)])


def _with_occurrences(rng, tp, fp, fn, tn):
    rows = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    for side, present in (("c", tp), ("nc", fp)):
        burst = rng.choice([0.0, 0.01, 0.5, 2.0], tp.size)
        tf = present + np.floor(present * burst * rng.random(tp.size))
        rest = tf - present
        # the rest spread evenly, and then some: at least what Cauchy-Schwarz asks for
        squares = (
            present + 2 * rest + np.ceil(rest * rest / np.maximum(present, 1)) + rest * rng.integers(0, 3, tp.size)
        )
        rows |= {
            f"tf_{side}": tf,
            f"tf2_{side}": squares,
            f"tokens_{side}": tf + rng.integers(1, 10**6, tp.size),
        }
    return rows | {"n_terms": np.full(tp.size, 1000.0)}
