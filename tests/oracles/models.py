"""Small corpora of three classes, and the options of models that are trained on them."""

import numpy as np

WORDS = {
    "sea": ["ship", "crew", "storm", "harbour", "sail", "wave"],
    "sport": ["team", "goal", "match", "score", "league", "win"],
    "money": ["bank", "market", "rate", "gold", "share", "bond"],
}
SHARED = ["the", "of", "today", "new", "said", "year"]
LINEAR = ["multinomial_nb", "bernoulli_nb", "poisson_nb", "probit", "linear_svm", "logistic_regression"]


def documents(n=90, *, seed=0, several=False):
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n):
        mine = [list(WORDS)[i % 3]]
        if several and i % 5 == 0:
            mine.append(list(WORDS)[(i + 1) % 3])
        words = [word for name in mine for word in rng.choice(WORDS[name], 3)]
        noise = rng.choice([word for some in WORDS.values() for word in some], 1)
        texts.append(" ".join([*words, *noise, *rng.choice(SHARED, 4)]))
        labels.append(mine if several else mine[0])
    return texts, labels


def fixed(classifier, **others):
    return {"scores": "chi2", "ks": 12, "classifiers": classifier, "cv": 0, "calibrate": 0, **others}
