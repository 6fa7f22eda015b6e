"""Naive Bayes in every world: what worlds share is done once.

Worlds with the same texts share reading and counting (the counts of a split are the total minus its test documents);
worlds with the same counts share the values of a score; a stop list and a cut of rare words only change which terms may
be ranked; and one sum along a ranking serves all readings of priors and denominators, and all numbers of terms.
Decisions are taken in floating point as they come: unlike `termsieve.curve`, documents between two classes to the last
bits are not asked again.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from termsieve._types import AnyArray, Array, BoolArray, Int32Array, Int64Array
from termsieve.classify.poisson import PoissonNB
from termsieve.classify.recipes import parse_recipe
from termsieve.classify.vocabulary_nb import VocabularyNB
from termsieve.counts.counts import Counts
from termsieve.errors import OptionError
from termsieve.files import write_atomically
from termsieve.ranking.ranking import score
from termsieve.reproduction import bayes_kernels
from termsieve.reproduction.grids import BayesModel, Grid, Preparation, TrialLayout
from termsieve.reproduction.setting import Setting, load_corpus
from termsieve.reproduction.worlds import Multiverse
from termsieve.study.corpus import Corpus
from termsieve.study.plan import Contender
from termsieve.study.split_data import count_training
from termsieve.study.splits import Split
from termsieve.table import ratio
from termsieve.tokens.analyzer import Analyzer

MEASURES = tuple(f"{name}_{how}" for how in ("macro", "micro") for name in ("precision", "recall", "f1", "f2"))
ENGINE = 1  # results of other versions of this module are not taken up


class BayesRunner(NamedTuple):
    """How grids are run: the folder of finished parts, where messages go, and the number of splits."""

    folder: Path
    notify: Callable[[str], None] = lambda _: None

    def run(self, multiverse: Multiverse, setting: Setting, splits: int | None = None) -> Grid:
        """Run the parts that the folder does not have, one corpus and split at a time, and return all."""
        layout = TrialLayout(multiverse, setting)
        n_splits = multiverse.splits if splits is None else splits
        shape = (len(layout.combinations), n_splits, len(layout.contenders), len(layout.models), len(MEASURES))
        values = np.zeros((*shape, len(layout.sizes)))
        seconds, test_ratio = 0.0, 0.0
        for places in group_by_corpus(layout):  # each is read once
            for fold in range(n_splits):
                part, taken, test_ratio = self._run_part(layout, places, fold)
                values[places, fold] = part
                seconds += taken
        return Grid(multiverse, setting, values, MEASURES, sampled=False, test_ratio=test_ratio, seconds=seconds)

    def _run_part(self, layout: TrialLayout, places: list[int], fold: int) -> tuple[Array, float, float]:
        prepared = [layout.prepare(layout.combinations[place]) for place in places]
        identity = [ENGINE, fold, layout.sizes, [one.settings for one in layout.contenders], layout.models]
        about = [[one.setting.data, *_limits(one)] for one in prepared]
        digest = hashlib.sha256(json.dumps([identity, about], sort_keys=True).encode()).hexdigest()
        path = self.folder / f"{layout.setting.name}-{fold}-{digest[:12]}.npy"
        if path.exists():
            saved = np.load(path, allow_pickle=False)
            return saved[2:].reshape(self._part_shape(layout, places)), float(saved[0]), float(saved[1])
        start = time.process_time()
        values, test_ratio = run_part(layout, prepared, fold)
        seconds = time.process_time() - start
        self.folder.mkdir(parents=True, exist_ok=True)
        content = np.concatenate([[seconds, test_ratio], values.ravel()]).astype(np.float32)
        write_atomically(path, [_to_npy(content)])
        self.notify(f"{layout.setting.title}, split {fold + 1}, {len(places)} preparations: {seconds:.0f} s")
        return values.astype(np.float32), seconds, test_ratio

    @staticmethod
    def _part_shape(layout: TrialLayout, places: list[int]) -> tuple[int, ...]:
        return len(places), len(layout.contenders), len(layout.models), len(MEASURES), len(layout.sizes)


def can_share_sums(setting: Setting) -> bool:
    """Tell whether all classifiers of a setting are naive Bayes models."""
    models = [parse_recipe(spelling).make() for spelling in setting.classifiers.values()]
    return all(isinstance(model, MultinomialNB | BernoulliNB | PoissonNB) for model in models)


def _to_npy(content: AnyArray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, content, allow_pickle=False)
    return buffer.getvalue()


def _limits(prepared: Preparation) -> tuple[str, int, int, bool]:
    """Return the stop list, the fewest documents and occurrences of a term, and whether each class has a list."""
    options = prepared.options
    return (
        options.get("without_words", ""), options.get("min_df", 1), options.get("min_tf", 1),
        bool(options.get("per_class", False)),
    )  # fmt: skip


def group_by_corpus(layout: TrialLayout) -> list[list[int]]:
    """Return the places of the preparations that have the same texts and tokens, together."""
    groups: dict[str, list[int]] = {}
    for place, numbers in enumerate(layout.combinations):
        key = json.dumps(layout.prepare(numbers).setting.data, sort_keys=True)
        groups.setdefault(key, []).append(place)
    return list(groups.values())


def run_part(layout: TrialLayout, prepared: Sequence[Preparation], fold: int) -> tuple[Array, float]:
    """Run all trials on one corpus and split: preparations x variants x models x measures x sizes."""
    setting = prepared[0].setting
    cached = load_corpus(setting, 1)
    split = setting.splits(cached)[fold]
    data = SplitCounts(cached.corpus, split)
    out = np.empty((len(prepared), len(layout.contenders), len(layout.models), len(MEASURES), len(layout.sizes)))
    for v, contender in enumerate(layout.contenders):
        values = ContenderValues(data.counts, contender)
        for p, one in enumerate(prepared):
            stop_list, _, _, per_class = _limits(one)
            among = np.flatnonzero(_find_allowed(data.counts, one, contender) & data.words(stop_list))
            lists = [(values.rank(c, layout.sizes[-1], among), classes) for c, classes in values.lists(per_class)]
            out[p, v] = _measure_lists(data, lists, layout, stop_list)
    return out, len(split.test) / len(split.train)


class ContenderValues:
    """The values of a contender, of all classes together (None) and of each: preparations share them."""

    def __init__(self, counts: Counts, contender: Contender) -> None:
        self.scores, self.aggregate = score(counts, contender.score), contender.aggregate
        self._found: dict[int | None, tuple[Array, Array | None]] = {}

    def lists(self, per_class: bool) -> Iterator[tuple[int | None, Int64Array]]:
        """Yield the lists of terms, with the classes that each is for: one for all, or one for each."""
        n_classes = self.scores.counts.n_classes
        if not per_class:
            yield None, np.arange(n_classes)
            return
        for c in range(n_classes):
            yield c, np.array([c])

    def rank(self, c: int | None, n: int, among: Int64Array) -> Int64Array:
        """Return the best terms of a list."""
        scores = self.scores
        if c not in self._found:
            self._found[c] = (
                (scores.overall(self.aggregate), scores.tie_break_of(self.aggregate))
                if c is None
                else (scores.of_class(c), scores.tie_break_of_class(c))
            )
        return scores.top_indices(*self._found[c], n, among)


class SplitCounts:
    """The counts of the training documents of a split, and its test documents by column."""

    def __init__(self, corpus: Corpus, split: Split) -> None:
        self.corpus = corpus
        self.counts = count_training(corpus, split)
        columns = sparse.csc_array(corpus.X[split.test])
        self.indptr = columns.indptr.astype(np.int64)
        self.documents = columns.indices.astype(np.int32)
        self.values = columns.data.astype(np.float64)
        self.ones = np.ones_like(self.values)
        places = [corpus.classes.index(name) for name in self.counts.classes.tolist()]
        self.members: Int32Array = corpus.Y[split.test].toarray()[:, places].astype(np.int32)
        self.tf, self.df = self.counts.tf.tocsc(), self.counts.df.tocsc()
        self._words: dict[str, BoolArray] = {}
        self._n_words: dict[str, int] = {}
        self._whole: dict[tuple[str, bool], tuple[Array, Array]] = {}

    def words(self, without: str) -> BoolArray:
        """Return a mask of the terms that are no stop words."""
        if without not in self._words:
            stops = Analyzer(stop_words=without).stop_set if without else frozenset()
            kept = [term not in stops for term in self.corpus.terms.to_pylist()]
            self._words[without] = np.array(kept)
        return self._words[without]

    def n_words(self, without: str) -> int:
        """Return the number of distinct training words that are no stop words."""
        if without not in self._n_words:
            self._n_words[without] = int((self.words(without) & (self.counts.term_df > 0)).sum())
        return self._n_words[without]

    def whole(self, without: str, presence: bool) -> tuple[Array, Array]:
        """Return the occurrences (or documents) of all words but stop words, in each class and in all others."""
        if (without, presence) not in self._whole:
            counts, words = self.counts, self.words(without)
            matrix, total = (self.df, counts.term_df) if presence else (self.tf, counts.term_tf)
            inside = np.asarray(matrix @ words.astype(np.float64))
            self._whole[without, presence] = inside, float(total[words].sum()) - inside
        return self._whole[without, presence]


def _find_allowed(counts: Counts, prepared: Preparation, contender: Contender) -> BoolArray:
    _, min_df, min_tf, _ = _limits(prepared)
    return (counts.term_df >= max(min_df, 1)) & (counts.term_tf >= min_tf) & contender.allows(counts)


def _measure_lists(
    data: SplitCounts, lists: Sequence[tuple[Int64Array, Int64Array]], layout: TrialLayout, stop_list: str
) -> Array:
    """Return the measures of all models: models x measures x sizes."""
    n_classes = data.counts.n_classes
    hits = np.zeros((len(layout.models), len(layout.sizes), n_classes), np.int64)
    alarms = np.zeros_like(hits)
    for order, classes in lists:
        train = TrainingSums(data, order, classes, layout.sizes, stop_list)
        for kind, at in _group_models(layout.models).items():
            weights = train.log_odds(kind)
            readings = [train.fixed_and_drift(layout.models[i], weights) for i in at]
            found = _count_decisions(train, weights, readings)
            for place, i in enumerate(at):
                hits[i][:, classes], alarms[i][:, classes] = found[0][place], found[1][place]
    return np.stack([_measures(hits[i], alarms[i], data.members.sum(axis=0)) for i in range(len(layout.models))])


class Kind(NamedTuple):
    """What models have in common that share their sums along a ranking."""

    name: str
    alpha: float
    beta: float
    absent_terms: bool
    presence: bool


def _group_models(models: Sequence[BayesModel]) -> dict[Kind, list[int]]:
    groups: dict[Kind, list[int]] = {}
    for i, model in enumerate(models):
        groups.setdefault(_kind_of(model), []).append(i)
    return groups


@cache
def _make_model(spelling: str) -> Any:
    return parse_recipe(spelling).make()


def _kind_of(model: BayesModel) -> Kind:
    made = _make_model(model.spelling)
    if isinstance(made, MultinomialNB):
        return Kind("multinomial", float(made.alpha), 0.0, True, model.presence)
    if isinstance(made, BernoulliNB):
        return Kind("bernoulli", float(made.alpha), 0.0, True, True)
    if isinstance(made, PoissonNB):
        return Kind("poisson", float(made.alpha), float(made.beta), made.absent_terms, model.presence)
    raise OptionError(f"{model.spelling} is no naive Bayes model: worlds of this kind share sums that it has not.")


class LogOdds(NamedTuple):
    """What an occurrence and the presence of each ranked term add to the log odds (terms x classes), and the rest.

    ``inside`` and ``outside`` are the occurrences (or documents) of the terms in the class and in all others.
    """

    kind: Kind
    per_occurrence: Array
    per_presence: Array
    fixed: Array
    inside: Array
    outside: Array


class TrainingSums:
    """The training counts of the terms of one list, for the classes that it is for."""

    def __init__(
        self, data: SplitCounts, order: Int64Array, classes: Int64Array, sizes: Sequence[int], stop_list: str
    ) -> None:
        self.data, self.order, self.classes, self.stop_list = data, order, classes, stop_list
        self.points = np.minimum(np.array(sizes), len(order))
        self.place = np.searchsorted(np.array(sizes), np.arange(1, len(order) + 1))
        self.n_inside = data.counts.class_sizes[classes].astype(np.float64)
        self.n_outside = data.counts.n_docs - self.n_inside

    def _sum_sides(self, *, presence: bool) -> tuple[Array, Array]:
        matrix, total = (
            (self.data.df, self.data.counts.term_df) if presence else (self.data.tf, self.data.counts.term_tf)
        )
        inside = matrix[:, self.order].toarray()[self.classes].T.astype(np.float64)
        return inside, total[self.order].astype(np.float64)[:, None] - inside

    def log_odds(self, kind: Kind) -> LogOdds:
        """Return the log odds of the terms under one kind of model."""
        inside, outside = self._sum_sides(presence=kind.presence)
        nothing = np.zeros_like(inside)
        a = kind.alpha
        if kind.name == "multinomial":
            return LogOdds(kind, np.log(inside + a) - np.log(outside + a), nothing, nothing, inside, outside)
        if kind.name == "bernoulli":
            one, two = (inside + a) / (self.n_inside + 2 * a), (outside + a) / (self.n_outside + 2 * a)
            absent = np.log1p(-one) - np.log1p(-two)
            return LogOdds(kind, nothing, np.log(one) - np.log(two) - absent, absent, inside, outside)
        one, two = (inside + a) / (self.n_inside + kind.beta), (outside + a) / (self.n_outside + kind.beta)
        lost, none = two - one, nothing
        per_presence, fixed = (none, lost) if kind.absent_terms else (lost, none)
        return LogOdds(kind, np.log(one) - np.log(two), per_presence, fixed, inside, outside)

    def fixed_and_drift(self, model: BayesModel, odds: LogOdds) -> tuple[Array, Array]:
        """Return what a reading adds to the log odds of every document, and subtracts for each occurrence."""
        made = _make_model(model.spelling)
        prior = np.log(self.n_inside) - np.log(self.n_outside) if made.fit_prior else np.zeros(len(self.classes))
        fixed = prior + np.cumsum(odds.fixed, axis=0)[self.points - 1]
        if odds.kind.name != "multinomial":
            return fixed, np.zeros_like(fixed)
        sides = [np.cumsum(side, axis=0)[self.points - 1] for side in (odds.inside, odds.outside)]
        added = made.alpha * self.points[:, None].astype(np.float64)
        if isinstance(made, VocabularyNB):
            added = np.full_like(added, made.alpha * self.data.n_words(self.stop_list))
            if made.total == "all":
                inside, outside = self.data.whole(self.stop_list, odds.kind.presence)
                sides = [np.broadcast_to(side[self.classes], sides[0].shape) for side in (inside, outside)]
        return fixed, np.log(sides[0] + added) - np.log(sides[1] + added)


def _count_decisions(
    train: TrainingSums, odds: LogOdds, readings: Sequence[tuple[Array, Array]]
) -> tuple[Int64Array, Int64Array]:
    """Return the documents rightly and wrongly put into each class: readings x sizes x classes."""
    data, n_points, n_classes = train.data, len(train.points), len(train.classes)
    n_docs = len(data.members)
    sums, lengths = np.zeros((n_docs, n_points, n_classes)), np.zeros((n_docs, n_points))
    values = data.ones if odds.kind.presence else data.values
    bayes_kernels.add_up(
        indptr=data.indptr, documents=data.documents, values=values, columns=train.order, point=train.place,
        per_occurrence=odds.per_occurrence, per_presence=odds.per_presence, sums=sums, lengths=lengths,
    )  # fmt: skip
    fixed, drift = (np.ascontiguousarray(np.stack(part)) for part in zip(*readings, strict=True))
    hits = np.zeros((len(readings), n_points, n_classes), np.int64)
    alarms = np.zeros_like(hits)
    members = np.ascontiguousarray(data.members[:, train.classes])
    bayes_kernels.decide(
        sums=sums, lengths=lengths, fixed=fixed, drift=drift, members=members, hits=hits, alarms=alarms
    )
    return hits, alarms


def _measures(hits: Int64Array, alarms: Int64Array, sizes: Int64Array) -> Array:
    """Return all `MEASURES` from the right and wrong decisions of each class: measures x sizes."""
    by_class = [np.asarray(part, np.float64) for part in (hits, alarms, np.broadcast_to(sizes, hits.shape))]
    rows = []
    for tp, fp, size in (by_class, [part.sum(axis=-1, keepdims=True) for part in by_class]):
        precision, recall = ratio(tp, tp + fp, empty=0.0), ratio(tp, size, empty=0.0)
        f1 = ratio(2.0 * tp, tp + fp + size, empty=0.0)
        f2 = ratio(5.0 * tp, tp + fp + 4.0 * size, empty=0.0)
        rows += [part.mean(axis=-1) for part in (precision, recall, f1, f2)]
    return np.stack(rows)
