"""The slow and obvious way from texts to counts: document by document, in plain Python and by scikit-learn.

Each way gives the same plain facts: a dict that two ways must agree on. Nothing here uses termsieve.
"""

import re
import unicodedata
import warnings
from collections import Counter

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

NOTHING = (0, 0, 0)


def terms(
    text,
    *,
    lowercase=True,
    token_pattern=r"(?u)\b\w\w+\b",
    ngram_range=(1, 1),
    strip_accents=None,
    stop_words=None,
    min_length=1,
    stemmer=None,
    segmenter=None,
):
    """The terms of a text, one plain step after the other."""
    if lowercase:
        text = text.lower()
    if strip_accents:
        text = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in text if (ord(c) < 128 if strip_accents == "ascii" else not unicodedata.combining(c)))
    if segmenter:
        import jieba

        text = " ".join(jieba.cut(text))
    stopped = ENGLISH_STOP_WORDS if stop_words == "english" else stop_words or ()
    words = [word for word in re.findall(token_pattern, text) if word not in stopped]
    if min_length > 1:  # a pattern may match nothing: scikit-learn counts the empty term, and so do we
        words = [word for word in words if len(word) >= min_length]
    if stemmer:
        import Stemmer

        words = [stem for stem in Stemmer.Stemmer(stemmer).stemWords(words) if stem]
    least, most = ngram_range
    return [" ".join(words[i : i + n]) for n in range(least, most + 1) for i in range(len(words) - n + 1)]


def labels_of(label):
    """The set of a document's labels, as strings."""
    if isinstance(label, (list, tuple, set, frozenset)):
        return {str(one) for one in label}
    return {str(label)}


def count(texts, labels, analyze):
    """The facts of labelled texts."""
    return count_bags([Counter(analyze(text)) for text in texts], labels)


def count_bags(bags, labels):
    """The facts of labelled bags of terms: a dict from term to occurrences for each document."""
    label_sets = [labels_of(label) for label in labels]
    cells, totals = {}, {}
    for bag, own in zip(bags, label_sets, strict=True):
        for term, n in bag.items():
            totals[term] = _plus(totals.get(term), n)
            for label in own:
                cells[label, term] = _plus(cells.get((label, term)), n)
    sizes = Counter(label for own in label_sets for label in own)
    return {
        "terms": sorted(totals),
        "classes": sorted(sizes),
        "class_sizes": dict(sizes),
        "n_docs": len(label_sets),
        "n_multilabel": sum(len(own) > 1 for own in label_sets),
        "cells": cells,
        "totals": totals,
    }


def count_matrix(rows, labels, names):
    """The facts of a matrix, given as a list of rows: its columns all stay, in their order."""
    facts = count_bags([{t: n for t, n in zip(names, row, strict=True) if n} for row in rows], labels)
    return facts | {
        "terms": list(names),
        "totals": {name: facts["totals"].get(name, NOTHING) for name in names},
    }


def only(facts, names):
    """The facts of these terms only, in this order."""
    return facts | {
        "terms": list(names),
        "totals": {name: facts["totals"].get(name, NOTHING) for name in names},
        "cells": {key: cell for key, cell in facts["cells"].items() if key[1] in set(names)},
    }


def _plus(cell, n):
    df, tf, tf2 = cell or NOTHING
    return df + 1, tf + n, tf2 + n * n


def vectorizer(**options):
    """scikit-learn's own, for the options that it has."""
    stop_words = options.pop("stop_words", None)
    if stop_words is not None and not isinstance(stop_words, str):
        stop_words = sorted(stop_words)
    return CountVectorizer(stop_words=stop_words, dtype=np.int64, **options)


def vocabulary(texts, **options):
    """The terms that CountVectorizer keeps, sorted; it does not like to keep none."""
    try:
        return sorted(vectorizer(**options).fit(texts).vocabulary_)
    except ValueError as error:
        if any(said in str(error) for said in ("no terms remain", "empty vocabulary", "max_df corresponds")):
            return []
        raise


def count_by_scikit_learn(texts, labels, **options):
    """The facts as CountVectorizer finds them."""
    fitted = vectorizer(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # stop words that the pattern would cut
        try:
            matrix = fitted.fit_transform(texts).tocsr()
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            return count_bags([{} for _ in texts], labels)
    names = fitted.get_feature_names_out().tolist()
    bags = []
    for i in range(matrix.shape[0]):
        start, stop = matrix.indptr[i : i + 2]
        bags.append(
            {names[j]: n for j, n in zip(matrix.indices[start:stop], matrix.data[start:stop].tolist(), strict=True)}
        )
    return count_bags(bags, labels)


def facts(counts):
    """The same facts of a `Counts`, read from its public attributes."""
    kinds = [matrix.tocoo() for matrix in (counts.df, counts.tf, counts.tf2)]
    places = [(counts.classes[i], counts.terms[j]) for i, j in zip(*kinds[0].coords, strict=True)]
    values = zip(*(kind.data.tolist() for kind in kinds), strict=True)
    totals = zip(counts.term_df.tolist(), counts.term_tf.tolist(), counts.term_tf2.tolist(), strict=True)
    return {
        "terms": counts.terms.tolist(),
        "classes": counts.classes.tolist(),
        "class_sizes": dict(zip(counts.classes.tolist(), counts.class_sizes.tolist(), strict=True)),
        "n_docs": counts.n_docs,
        "n_multilabel": counts.n_multilabel,
        "cells": dict(zip(places, values, strict=True)),
        "totals": dict(zip(counts.terms.tolist(), totals, strict=True)),
    }
