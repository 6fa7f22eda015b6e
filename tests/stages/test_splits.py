"""Splits: every document is tested once, groups stay together, and what cannot be split is told in our words."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from termsieve.errors import InputError, OptionError
from termsieve.study.splits import MIN_CLASS_SIZE, Split, least_class_size, make_splits

LABELS = np.repeat(["ham", "spam"], [12, 8])


def all_tested(splits: list[Split]) -> list[int]:
    return sorted(np.concatenate([split.test for split in splits]).tolist())


@pytest.mark.parametrize("labels", [LABELS, None])
@pytest.mark.parametrize("cv", [2, 4])
def test_each_document_is_tested_once_in_each_repetition(labels, cv):
    splits = make_splits(cv, labels, 20, repeats=3)
    assert [(split.repeat, split.fold) for split in splits] == [(r, f) for r in range(3) for f in range(cv)]
    for repeat in range(3):
        assert all_tested([split for split in splits if split.repeat == repeat]) == list(range(20))
    assert all(not set(split.train) & set(split.test) and len(split.train) + len(split.test) == 20 for split in splits)


def test_each_fold_has_its_share_of_each_class():
    for split in make_splits(4, LABELS, 20):
        assert (LABELS[split.test] == "spam").sum() == 2


def test_the_seed_and_the_repetition_decide_the_folds():
    def test_parts(**options):
        return [split.test.tolist() for split in make_splits(4, LABELS, 20, **options)]

    first, second = (test_parts(repeats=2, seed=5)[part] for part in (slice(4), slice(4, 8)))
    assert first == test_parts(seed=5)
    assert second == test_parts(seed=6)
    assert first != second


@pytest.mark.parametrize("labels", [LABELS, None])
def test_groups_stay_together(labels):
    groups = np.arange(20) % 7
    splits = make_splits(3, labels, 20, groups=groups)
    assert all_tested(splits) == list(range(20))
    assert [split.fold for split in splits] == [0, 1, 2]
    assert all(not set(groups[split.train]) & set(groups[split.test]) for split in splits)
    others = make_splits(3, labels, 20, groups=groups, seed=1)
    assert [split.test.tolist() for split in splits] != [split.test.tolist() for split in others]


def test_a_splitter_is_called_for_each_repetition():
    splitter = ShuffleSplit(2, test_size=5, random_state=0)
    splits = make_splits(splitter, LABELS, 20, repeats=2)
    assert [(split.repeat, split.fold, len(split.test)) for split in splits] == [
        (0, 0, 5),
        (0, 1, 5),
        (1, 0, 5),
        (1, 1, 5),
    ]


def test_a_column_gives_one_split_and_leaves_the_rest_out():
    (split,) = make_splits(np.array(["test", "train", "", "train"]), None, 4)
    assert (split.repeat, split.fold, split.train.tolist(), split.test.tolist()) == (0, 0, [1, 3], [0])
    with pytest.raises(InputError, match=r"its values are '0', '1', '2', '3', '4', '5'[.]"):
        make_splits(np.arange(9).astype(str), None, 9)


@pytest.mark.parametrize(
    ("cv", "labels", "groups", "told"),
    [
        (13, LABELS, None, "13 folds are too many for 12 documents in the largest class. With 13 documents of each"),
        (2, LABELS[:0], None, "2 folds are too many for 0 documents in the largest class. With 10 documents of each"),
        (21, None, None, "21 folds are too many for 20 documents. With 21 documents of each class there would be an"),
        (6, LABELS, np.arange(20) % 5, "6 folds are too many for 5 groups.$"),
        (3, np.arange(20), None, "There are 20 classes for 20 documents: the label column may be the wrong one.$"),
        (3, np.arange(20) % 10, None, "With 10 documents of each class there would be an answer.$"),
        (True, LABELS, None, "a number of folds, 2 or more, a column, or a splitter, not True"),
        (1, LABELS, None, "a number of folds, 2 or more, a column, or a splitter, not 1"),
        ("x", LABELS, None, "a number of folds, 2 or more, a column, or a splitter, not 'x'"),
        (2.0, LABELS, None, "a number of folds, 2 or more, a column, or a splitter, not 2.0"),
    ],
)
def test_what_cannot_be_split_is_told(cv, labels, groups, told):
    with pytest.raises(OptionError, match=told):
        make_splits(cv, labels, 20, groups=groups)


def test_one_document_cannot_be_split_whatever_its_group_is():
    with pytest.raises(OptionError, match="2 folds are too many for 1 groups"):
        make_splits(2, None, 1, groups=["a"])


def test_a_class_that_some_folds_miss_is_no_warning_of_scikit_learn():
    labels = np.repeat(["ham", "spam"], [12, 1])
    assert len(make_splits(4, labels, 13)) == 4  # a warning would be an error here


def test_other_warnings_come_through():
    class WarningSplitter(ShuffleSplit):
        def split(self, X, y=None, groups=None):
            warnings.warn("mind the gap", UserWarning, stacklevel=2)
            return super().split(X, y, groups)

    with pytest.warns(UserWarning, match="mind the gap"):
        make_splits(WarningSplitter(2, random_state=0), LABELS, 20)


def test_as_many_folds_as_documents_or_groups_will_do():
    assert len(make_splits(20, None, 20)) == 20
    assert len(make_splits(5, LABELS, 20, groups=np.arange(20) % 5)) == 5


def test_a_class_needs_some_documents_and_one_for_each_fold():
    assert [least_class_size(cv) for cv in (2, 10, 25, "split")] == [MIN_CLASS_SIZE, MIN_CLASS_SIZE, 25, MIN_CLASS_SIZE]


@pytest.mark.parametrize("repeats", [0, -1, 1.0])
def test_repetitions_are_a_whole_number(repeats):
    with pytest.raises(OptionError, match="repeats must be a whole number, 1 or more"):
        make_splits(2, LABELS, 20, repeats=repeats)


@pytest.mark.parametrize(("seed", "repeats"), [(-1, 1), (2**32, 1), (2**32 - 1, 2), (0.5, 1), (True, 1), ("a", 1)])
def test_seeds_are_those_that_splitters_take(seed, repeats):
    with pytest.raises(OptionError, match="seed must be a whole number from 0 to 4,294,967,29"):
        make_splits(2, LABELS, 20, repeats=repeats, seed=seed)
    assert len(make_splits(2, LABELS, 20, seed=2**32 - 1)) == 2


def test_groups_of_any_kind_stay_together_and_none_may_be_missing():
    numbers = np.arange(20) % 5
    for kind in (str, lambda n: n if n % 2 else f"g{n}", lambda n: ["a"] * int(n)):
        groups = np.fromiter(map(kind, numbers.tolist()), dtype=object)
        for split in make_splits(5, LABELS, 20, groups=groups):
            assert not set(numbers[split.train]) & set(numbers[split.test])
    for missing in (None, np.nan):
        groups = np.array([missing if i % 4 == 0 else f"g{i % 5}" for i in range(20)], dtype=object)
        with pytest.raises(InputError, match="groups is missing for 5 of 20 documents"):
            make_splits(5, LABELS, 20, groups=groups)


class Given:
    """A splitter that gives these splits."""

    def __init__(self, *splits):
        self.splits = splits

    def split(self, *_):
        return self.splits


def test_a_splitter_may_give_lists_or_marks():
    expected = make_splits(Given((np.arange(12), np.arange(12, 20))), None, 20)
    for train, test in ((list(range(12)), tuple(range(12, 20))), (np.arange(20) < 12, np.arange(20) >= 12)):
        (found,) = make_splits(Given((train, test)), None, 20)
        assert [part.tolist() for part in found[2:]] == [part.tolist() for part in expected[0][2:]]


@pytest.mark.parametrize(
    ("splits", "told"),
    [
        ([], "it makes no split"),
        ([([0, 1],)], "not enough values"),
        ([([0, 1], [20])], "the document 20, but they are 0 to 19"),
        ([([0, 1], [-1])], "but they are 0 to 19"),
        ([([0, 1], [-1, 19])], "but they are 0 to 19"),
        ([([0, 1], [])], "2 training and 0 test documents"),
        ([([], [1])], "0 training and 1 test documents"),
        ([([0.5], [1])], "in place of numbers of documents"),
        ([5], "cannot split these documents"),
    ],
)
def test_what_a_splitter_must_not_give(splits, told):
    with pytest.raises(OptionError, match=told):
        make_splits(Given(*splits), None, 20)
