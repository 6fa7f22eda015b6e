"""Documents that every engine is tried with, and what must come out."""

import json
import os
import random
import time

import termsieve as ts

WORDS = [f"w{i}" for i in range(400)] + ["Über", "İSTANBUL", "ship", "don't", "naïve", "北京", "x", ""]


def _make_records(n=200, seed=1):
    draw = random.Random(seed)
    return [
        {
            "id": i,
            "text": " ".join(draw.choices(WORDS, k=draw.randrange(30))),
            "labels": sorted(draw.sample(["sea", "sport", "money", "été"], draw.choice([0, 1, 1, 1, 2]))),
            "part": draw.choice(["a", "b", "c"]),
        }
        for i in range(n)
    ]


RECORDS = _make_records()


def columns(*names):
    """The columns of the records, in the order of the records."""
    return {name: [record[name] for record in RECORDS] for name in names}


def make_documents(**options):
    """Counts of the records, made here."""
    return ts.count(list(columns("text")["text"]), list(columns("labels")["labels"]), **options)


def check_same(count, data, **options):
    """The counts of an engine are those made here: bit for bit, with several labels, pruned, with another analyzer."""
    assert count(data, text="text", label="labels", **options) == make_documents()
    pairs = ts.Analyzer(ngram_range=(1, 2), stop_words="english")
    found = count(data, text="text", label="labels", analyzer=pairs, min_df=2, **options)
    assert found == make_documents(analyzer=pairs).prune(min_df=2)


def check_folds(count, data):
    """Folds are those made here, by the id of a document as by a column; the order of documents does not matter."""
    documents = ts.read(columns("text", "labels", "id", "part"))
    for options in (dict(folds=4, seed=7, id="id"), dict(folds="part")):
        here, there = ts.count_folds(documents, **options), count(data, text="text", label="labels", **options)
        assert there.names == here.names
        assert there.total == here.total
        assert there.join([0, 2]) == here.join([0, 2])
        for fold in range(len(here)):
            assert there.test(fold) == here.test(fold)
            assert there.training(fold) == here.training(fold)


def linger(record, folder):
    """Hand a record on; while one of some is being worked on, others can see that, and which process it is."""
    if record["id"] % 40 == 7:
        (folder / f"{os.getpid()}.at-work").write_text(json.dumps(record["id"]))
        time.sleep(0.3)
    return record
