"""Every score in 50-digit arithmetic, straight from its defining formula, sharing nothing with the package.

Each function takes the cells of one table and returns the value, or the value and the size of the largest
addend of its formula where the result may cancel: errors are measured against that.
"""

from collections.abc import Callable
from types import SimpleNamespace

from mpmath import erfinv, exp, expm1, inf, ln, log, log1p, loggamma, mp, mpf, sqrt

mp.dps = 50

ORACLES: dict[str, Callable] = {}
GAMMA_LIKE = {"pip", "pip_log_odds", "pip_poisson", "fisher_exact", "bns", "lrc"}


def oracle(function):
    ORACLES[function.__name__] = function
    return function


def cells(row: dict[str, float]) -> SimpleNamespace:
    """Name the cells as the papers do, exactly."""
    t = SimpleNamespace(**{k: mpf(int(v)) for k, v in row.items()})
    t.A, t.B, t.C, t.D = t.tp, t.fp, t.fn, t.tn
    t.nc, t.nnc, t.nt, t.nnt = t.A + t.C, t.B + t.D, t.A + t.B, t.C + t.D
    t.N = t.nc + t.nnc
    t.p, t.q, t.P = t.A / t.nc, t.B / t.nnc, t.nt / t.N
    return t


def div(x, y, empty=0):
    if y == 0:
        return mpf(empty) if x == 0 else inf * (1 if x > 0 else -1)
    return x / y


def xlog(x, y):
    return mpf(0) if x == 0 else x * ln(y)


def minus(x, y):
    return mpf(0) if x == y else x - y


@oracle
def chi2(t):
    return div(t.N * (t.A * t.D - t.B * t.C) ** 2, t.nc * t.nnc * t.nt * t.nnt)


@oracle
def ngl(t):
    return div(sqrt(t.N) * (t.A * t.D - t.B * t.C), sqrt(t.nc * t.nnc * t.nt * t.nnt))


@oracle
def gss(t, form="probabilities"):
    delta = t.A * t.D - t.B * t.C
    return delta if form == "counts" else delta / t.N**2


def mutual(t, cells):
    return sum(xlog(x, x * t.N / (row * col) if x else 1) for x, row, col in cells)


@oracle
def g_test(t):
    return 2 * t.N * info_gain_binary(t)


@oracle
def info_gain_binary(t):
    four = ((t.A, t.nt, t.nc), (t.B, t.nt, t.nnc), (t.C, t.nnt, t.nc), (t.D, t.nnt, t.nnc))
    return mutual(t, four) / t.N


@oracle
def info_gain(t):
    return mutual(t, ((t.A, t.nt, t.nc), (t.C, t.nnt, t.nc))) / t.N


def entropy(t, parts):
    return -sum(xlog(x / t.N, x / t.N if x else 1) for x in parts)


@oracle
def gain_ratio(t):
    return div(info_gain_binary(t), entropy(t, (t.nt, t.nnt)))


@oracle
def symmetrical_uncertainty(t):
    return div(2 * info_gain_binary(t), entropy(t, (t.nt, t.nnt)) + entropy(t, (t.nc, t.nnc)))


@oracle
def cross_entropy(t):
    return mutual(t, ((t.A, t.nt, t.nc),)) / t.N


@oracle
def pmi(t, floor=0.5, log=True):
    if t.nt == 0:
        return mpf(0)
    a = t.A if t.A else mpf(floor)
    value = a * t.N / (t.nc * t.nt)
    if not log:
        return value
    return ln(value) if value else -inf


def log_factorial(n):
    return loggamma(n + 1)


@oracle
def fisher_exact(t):
    low, high = max(mpf(0), t.nt - t.nnc), min(t.nt, t.nc)
    if low == t.A:
        return mpf(0)
    f = log_factorial
    first = f(t.nc) + f(t.nnc) + f(t.nt) + f(t.nnt) - f(t.N) - f(t.A) - f(t.B) - f(t.C) - f(t.D)
    mode = (t.nt + 1) * (t.nc + 1) / (t.N + 2)
    rest = t.nnc - t.nt
    a, term, total = t.A, mpf(1), mpf(1)
    if mode < t.A:
        while a < high and term > mpf(10) ** -25 * total:
            term *= (t.nc - a) * (t.nt - a) / ((a + 1) * (rest + a + 1))
            total += term
            a += 1
        return -(first + ln(total)) / ln(10)
    total = mpf(0)
    while a > low and (total == 0 or term > mpf(10) ** -25 * total):
        term *= a * (rest + a) / ((t.nc - a + 1) * (t.nt - a + 1))
        total += term
        a -= 1
    return -log1p(-exp(first) * total) / ln(10)


@oracle
def z_counts(t):
    return mpf(0) if t.P in (0, 1) else (t.A - t.B) / sqrt(t.P * (1 - t.P) * (1 / t.nc + 1 / t.nnc))


@oracle
def gu(t, z="rates", floor=0.5):
    if t.P in (0, 1):
        return mpf(0)
    top = t.p - t.q if z == "rates" else t.A - t.B
    deviate = abs(top / sqrt(t.P * (1 - t.P) * (1 / t.nc + 1 / t.nnc)))
    if deviate == 0 or t.A == 0:
        return mpf(0)
    return deviate * div(t.p, (t.B if t.B else mpf(floor)) / t.nnc)


@oracle
def odds_ratio(t, smoothing=0.1):
    s = mpf(smoothing)
    return div((t.A + s) * (t.D + s), (t.B + s) * (t.C + s))


def log_odds(t, s):
    top, bottom = (t.A + s) * (t.D + s), (t.B + s) * (t.C + s)
    if top == 0 or bottom == 0:
        return mpf(0) if top == bottom else (inf if top else -inf)
    return ln(top / bottom)


@oracle
def log_odds_ratio(t, smoothing=0.1):
    return log_odds(t, mpf(smoothing))


@oracle
def mor(t, smoothing=0.5):
    return abs(log_odds(t, mpf(smoothing)))


@oracle
def cdm(t, prior=1):
    k = mpf(prior)
    here, there = (t.A + k * t.P) / (t.nc + k), (t.B + k * t.P) / (t.nnc + k)
    if here == there:
        return mpf(0)
    return abs(ln(here / there)) if here and there else inf


@oracle
def odds_numerator(t):
    return t.p * (1 - t.q)


@oracle
def prob_ratio(t):
    return div(t.p, t.q)


@oracle
def relevance_freq(t):
    return log(2 + t.A / max(mpf(1), t.B), 2)


@oracle
def distinction(t, smoothing=0.5):
    a, b, c, d = (x + mpf(smoothing) for x in (t.A, t.B, t.C, t.D))
    first, second = div(a * a, b * c), div(b * b, a * d)
    return minus(first, second), max(first, second)


@oracle
def strong_class(t, smoothing=0.5):
    value, scale = distinction(t, smoothing)
    return (t.P * value, t.P * scale) if t.P else (mpf(0), mpf(0))


@oracle
def weight_of_evidence(t, smoothing=0.5):
    s = mpf(smoothing)
    a, b, nc, nt, n = t.A + s, t.B + s, t.nc + 2 * s, t.nt + 2 * s, t.N + 4 * s
    if nt == 0:
        return mpf(0)
    given, prior = a / nt, nc / n
    top, bottom = given * (1 - prior), prior * (b / nt)
    if top == 0 or bottom == 0:
        return mpf(0) if top == bottom else inf
    return nt / n * prior * abs(ln(top / bottom))


@oracle
def log_odds_dirichlet(t, prior="corpus", weight=1):
    w, occurrences = mpf(weight), t.tf_c + t.tf_nc
    a, a0 = (w, w * t.n_terms) if prior == "flat" else (w * occurrences, w * (t.tokens_c + t.tokens_nc))
    if a == 0:
        return mpf(0), mpf(1)
    one = ln((t.tf_c + a) / (t.tokens_c + a0 - t.tf_c - a))
    two = ln((t.tf_nc + a) / (t.tokens_nc + a0 - t.tf_nc - a))
    error = sqrt(1 / (t.tf_c + a) + 1 / (t.tf_nc + a))
    return (one - two) / error, max(abs(one), abs(two)) / error


def quantile(x):
    return sqrt(mpf(2)) * erfinv(2 * x - 1)


@oracle
def bns(t, floor=0.0005):
    low = mpf(floor)
    one, two = (quantile(min(max(x, low), 1 - low)) for x in (t.p, t.q))
    return abs(one - two), max(abs(one), abs(two))


@oracle
def ifs(t):
    p, q = t.p, t.q
    return log(abs(p * (1 - q) - q * (1 - p)) * abs(p - q) / (min(p, q) + 1) + 1, 2)


@oracle
def accuracy(t):
    return t.A - t.B


@oracle
def balanced_accuracy(t):
    return abs(t.p - t.q)


@oracle
def f1(t):
    return 2 * t.A / (t.nc + t.nt)


@oracle
def power(t, k=5):
    one, two = (1 - t.q) ** mpf(k), (1 - t.p) ** mpf(k)
    return one - two, max(one, two)


@oracle
def dfs(t):
    return div(t.A, t.nt) / (1 - t.p + t.q + 1)


@oracle
def gini(t):
    return (t.p * div(t.A, t.nt)) ** 2


@oracle
def cmfs(t):
    return t.p * div(t.A, t.nt)


@oracle
def ndm(t, floor=0.5):
    smaller = min(t.p, t.q)
    return div(abs(t.p - t.q), smaller if smaller else mpf(floor) / t.N)


@oracle
def mmr(t, floor=0.5):
    larger = max(t.p, t.q)
    return larger * ndm(t, floor) if larger else mpf(0)


def moments(t, on):
    if on == "presence":
        return t.A, t.A, t.B, t.B
    return t.tf_c, t.tf2_c, t.tf_nc, t.tf2_nc


def squares(t, on):
    s1, q1, s2, q2 = moments(t, on)
    m1, m2, m = s1 / t.nc, s2 / t.nnc, (s1 + s2) / t.N
    between = t.nc * (m1 - m) ** 2 + t.nnc * (m2 - m) ** 2
    return m1, m2, between, q1 - t.nc * m1**2, q2 - t.nnc * m2**2


@oracle
def fisher(t, on="presence"):
    m1, m2, _, w1, w2 = squares(t, on)
    return div((m1 - m2) ** 2, w1 / t.nc + w2 / t.nnc)


@oracle
def bss_wss(t, on="tf"):
    _, _, between, w1, w2 = squares(t, on)
    return div(between, w1 + w2)


@oracle
def ocfs(t, on="tf"):
    return squares(t, on)[2] / t.N


def log_beta(a, b):
    return loggamma(a) + loggamma(b) - loggamma(a + b)


@oracle
def pip_log_odds(t, alpha=0.2, beta=0.08, alpha_class=0.1, beta_class=0.04):
    a, b, ac, bc = (mpf(x) for x in (alpha, beta, alpha_class, beta_class))
    zero = log_beta(t.A + ac, t.C + bc) + log_beta(t.B + ac, t.D + bc) - 2 * log_beta(ac, bc)
    one = log_beta(t.nt + a, t.nnt + b) - log_beta(a, b)
    return zero - one, max(mpf(1), abs(zero - one))


def expit(x):
    return 1 / (1 + exp(-x))


@oracle
def pip(t, **priors):
    return expit(pip_log_odds(t, **priors)[0])


def poisson_log_odds(t, param="scale", alpha=0.2, beta=0.08, alpha_class=0.1, beta_class=0.04, exponents="occurrences"):
    def marginal(total, documents, n, a, b):
        a, b = mpf(a), mpf(b)
        b = b if param == "scale" else 1 / b
        power = total if exponents == "occurrences" else documents
        return loggamma(total + a) - loggamma(a) - a * ln(b) + (power + a) * ln(b / (n * b + 1))

    here = marginal(t.tf_c, t.A, t.nc, alpha_class, beta_class)
    there = marginal(t.tf_nc, t.B, t.nnc, alpha_class, beta_class)
    return here + there - marginal(t.tf_c + t.tf_nc, t.nt, t.N, alpha, beta)


@oracle
def pip_poisson(t, **given):
    value = expit(poisson_log_odds(t, **given))
    if given.get("exponents") != "documents":
        return value
    # the misprint adds to the log odds what may nearly cancel them
    added = ((t.tf_c - t.A) * ln(t.nc / t.N), (t.tf_nc - t.B) * ln(t.nnc / t.N))
    coherent = poisson_log_odds(t, **{**given, "exponents": "occurrences"})
    return value, value * max(mpf(1), *map(abs, (coherent, *added)))


@oracle
def word_freq(t):
    return t.A


@oracle
def doc_freq(t):
    return t.nt


@oracle
def dficf(t):
    spread = (t.A > 0) + (t.B > 0)
    return t.nt * ln(mpf(2) / spread) if spread else mpf(0)


@oracle
def poisson_deviation(t):
    rate = (t.tf_c + t.tf_nc) / t.N
    present, absent = -expm1(-rate), exp(-rate)
    total = scale = mpf(0)
    for seen, expected in (
        (t.A, t.nc * present),
        (t.C, t.nc * absent),
        (t.B, t.nnc * present),
        (t.D, t.nnc * absent),
    ):
        total += div((seen - expected) ** 2, expected)
        scale = max(scale, div(seen**2, expected), seen, expected)
    return total, scale


def frequencies(t, on="tf"):
    return (t.A, t.nc, t.B, t.nnc) if on == "presence" else (t.tf_c, t.tokens_c, t.tf_nc, t.tokens_nc)


@oracle
def log_ratio(t, on="tf", floor=0.5):
    a, n, b, m = frequencies(t, on)
    if a == b == 0:
        return mpf(0)
    here, there = (a or mpf(floor)) / n, (b or mpf(floor)) / m
    if here == 0 or there == 0:
        return inf if here else -inf
    return log(here / there, 2)


def lower_share(a, b, tail):
    """The probability p at which a or more of a + b have the probability `tail`: a root of the incomplete beta."""
    if b == 0:
        return exp(ln(tail) / a)
    with mp.workdps(25):
        goal, low, high = ln(tail), mpf(0), a / (a + b)
        p, width = high, high
        log_constant = loggamma(a + b + 1) - loggamma(a) - loggamma(b + 1)
        while width > mpf(10) ** -19 * p:
            log_density = log_constant + (a - 1) * ln(p) + b * log1p(-p)
            log_tail = log_density + ln(p * upper_tail_ratio(a, b, p))
            low, high = (p, high) if log_tail < goal else (low, p)
            step = p - (log_tail - goal) / exp(log_density - log_tail)
            new = step if low < step < high else (low + high) / 2
            p, width = new, abs(new - p)
        return p


def upper_tail_ratio(a, b, p):
    """P(X >= a) over p times the density of the beta distribution at p: a sum of falling terms, as a <= mean."""
    term = total = 1 / a
    k, odds = a, p / (1 - p)
    while k < a + b and term > mpf(10) ** -24 * total:
        term *= (a + b - k) / (k + 1) * odds
        k += 1
        total += term
    return total


@oracle
def lrc(t, on="tf", level=0.95, corrected=True):
    a, n, b, m = frequencies(t, on)
    if a == b == 0:
        return mpf(0)
    more = a * m >= b * n
    sign, a, n, b, m = (1, a, n, b, m) if more else (-1, b, m, a, n)
    tail = (1 - mpf(level)) / 2 / (t.n_terms if corrected else 1)
    p = lower_share(a, b, tail)
    value = log(m / n * p / (1 - p), 2)
    return sign * max(value, mpf(0)), abs(log(m / n, 2)) + abs(log(p / (1 - p), 2))


@oracle
def simple_maths(t, on="tf", add=1):
    a, n, b, m = frequencies(t, on)
    return div(10**6 * a / n + mpf(add), 10**6 * b / m + mpf(add), empty=1)


@oracle
def percent_diff(t, on="tf", floor=0.5):
    a, n, b, m = frequencies(t, on)
    if a == b == 0:
        return mpf(0)
    there = (b or mpf(floor)) / m
    return 100 * div(a / n - there, there)


@oracle
def log_likelihood(t, cells="four"):
    a, n, b, m = frequencies(t)
    present, whole = a + b, n + m
    two = xlog(a, a * whole / (present * n) if a else 1) + xlog(b, b * whole / (present * m) if b else 1)
    if cells == "two":
        return 2 * two
    c, d, absent = n - a, m - b, whole - present
    return 2 * (two + xlog(c, c * whole / (absent * n) if c else 1) + xlog(d, d * whole / (absent * m) if d else 1))


@oracle
def bic(t):
    first, second = log_likelihood(t, "two"), ln(t.tokens_c + t.tokens_nc)
    return first - second, max(first, second)


@oracle
def jensen_shannon(t, on="tf"):
    a, n, b, m = frequencies(t, on)
    x, y = a / n, b / m
    middle = (x + y) / 2
    return (xlog(x, x / middle if x else 1) + xlog(y, y / middle if y else 1)) / 2 / ln(2)


@oracle
def welch_t(t, on="tf"):
    m1, m2, _, w1, w2 = squares(t, on)
    if t.nc == 1 or t.nnc == 1:
        return mpf(0)
    return div(m1 - m2, sqrt(w1 / (t.nc - 1) / t.nc + w2 / (t.nnc - 1) / t.nnc))
