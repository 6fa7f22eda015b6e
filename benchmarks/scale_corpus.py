"""Generated text whose vocabulary grows as that of real text does, by Heaps' law; with the counts of some terms.

The rank of a word is drawn from a power law (Zipf, exponent 1.27), so that n words have about n ** 0.79 different ones.
A word is its rank in syllables. What is drawn of every hundredth rank is kept: the counts that a counter must find.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit

from termsieve.counts.cells import Cells, TermBlock
from termsieve.counts.storage import save

EXPONENT = 1.27
N_CLASSES = 100
WORDS = 170  # of a document
BATCH = 20_000  # documents that are made at a time
_TERMS = 1 << 16  # of a block of a counts file
SAMPLED = 100  # of so many ranks, one is counted beside
_CONSONANTS = np.frombuffer(b"bcdfghjklmnprstv", np.uint8)
_VOWELS = np.frombuffer(b"aeio", np.uint8)


# ruff: noqa: NPY002 - numba knows generators of this kind only
@njit(nogil=True, cache=True)
def _write_words(seed, labels, n_words, exponent, text, offsets, sample_rank, sample_doc, consonants, vowels):  # type: ignore[no-untyped-def]
    np.random.seed(seed)
    at, n_sampled = 0, 0
    for doc in range(labels.shape[0]):
        for _ in range(n_words):
            rank = np.int64(min((1.0 - np.random.random()) ** (-1.0 / (exponent - 1.0)), 1e15))
            if 50 <= rank < 5000 and np.random.random() < 0.2:  # words that a class has more of
                rank = rank * 100 + labels[doc]
            if rank % SAMPLED == 7:
                sample_rank[n_sampled], sample_doc[n_sampled] = rank, doc
                n_sampled += 1
            syllables, left = 0, rank
            while left > 0 or syllables < 2:
                text[at], text[at + 1] = consonants[left & 15], vowels[(left >> 4) & 3]
                at += 2
                left >>= 6
                syllables += 1
            text[at] = 32
            at += 1
        offsets[doc + 1] = at
    return at, n_sampled


def spell(rank: int) -> str:
    """Return the word of a rank."""
    word = b""
    while rank > 0 or len(word) < 4:
        word += bytes([_CONSONANTS[rank & 15], _VOWELS[(rank >> 4) & 3]])
        rank >>= 6
    return word.decode()


class Sample(NamedTuple):
    """Occurrences of the sampled ranks: rank, class and number of the document."""

    ranks: np.ndarray[Any, Any]
    classes: np.ndarray[Any, Any]
    documents: np.ndarray[Any, Any]


def make_batches(
    n_bytes: int, seed: int, classes: int = N_CLASSES, exponent: float = EXPONENT
) -> Iterator[tuple[pa.RecordBatch, Sample]]:
    """Yield so many bytes of text with labels, and what is in them of the sampled ranks."""
    rng, made, n_docs = np.random.default_rng(seed), 0, 0
    names = np.array([f"class{c:03}" for c in range(classes)])
    while made < n_bytes:
        n = min(BATCH, int((n_bytes - made) / (WORDS * 5.4)) + 1)
        labels = rng.integers(0, classes, n)
        text, offsets = np.empty(n * WORDS * 19, np.uint8), np.zeros(n + 1, np.int64)
        ranks, docs = np.empty(n * WORDS, np.int64), np.empty(n * WORDS, np.int64)
        word_seed = int(rng.integers(2**31))
        size, found = _write_words(word_seed, labels, WORDS, exponent, text, offsets, ranks, docs, _CONSONANTS, _VOWELS)
        texts = pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(text[:size].copy()))
        batch = pa.RecordBatch.from_pydict({"text": texts, "label": pa.array(names[labels])})
        yield batch, Sample(ranks[:found].copy(), labels[docs[:found]], docs[:found] + n_docs)
        made, n_docs = made + size, n_docs + n


def write_corpus(folder: Path, n_bytes: int, *, seed: int = 0, files: int = 1, **shape: Any) -> None:
    """Write Arrow files, and beside them the counts of the sampled terms (``sample.npz``)."""
    folder.mkdir(parents=True, exist_ok=True)
    samples, before = [], 0
    for number in range(files):
        writer, n_docs = None, before
        for batch, sample in make_batches(n_bytes // files, seed * 1000 + number, **shape):
            if writer is None:
                writer = pa.ipc.new_file(str(folder / f"part{number:03}.arrow"), batch.schema)
            writer.write_batch(batch)
            samples.append(sample._replace(documents=sample.documents + before))
            n_docs += batch.num_rows
        if writer is not None:
            writer.close()
        before = n_docs
        samples = [_compact(samples)]
    np.savez(folder / "sample.npz", *_count_sample(samples[0]))


def _compact(samples: list[Sample]) -> Sample:
    return Sample(*(np.concatenate(parts) for parts in zip(*samples, strict=True)))


def _count_sample(sample: Sample) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return (rank, class) pairs and (df, tf, tf2) of each, by sorting: documents first, then classes."""
    order = np.lexsort([sample.documents, sample.classes, sample.ranks])
    keys = np.stack([sample.ranks, sample.classes, sample.documents])[:, order]
    starts = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)]))
    times = np.diff(np.append(starts, keys.shape[1]))
    pairs = keys[:2, starts]
    first = np.flatnonzero(np.concatenate([[True], (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)]))
    sums = [np.add.reduceat(x, first) for x in (np.ones_like(times), times, times * times)]
    return pairs[:, first], np.stack(sums)


def write_counts_file(path: Path, n_terms: int, *, seed: int = 0, classes: int = N_CLASSES) -> None:
    """Write a counts file of so many terms, in 8.6 classes each in the mean; most are in few, some are in all."""
    facts = {
        "classes": [f"class{c:03}" for c in range(classes)],
        "class_sizes": np.full(classes, 1_000_000),
        "n_docs": classes * 1_000_000,
        "n_multilabel": 0,
        "settings": None,
        "fixed": False,
        "pruned": "",
    }
    starts = range(0, n_terms, _TERMS)
    save(path, facts, (_draw_block(start, min(_TERMS, n_terms - start), seed, classes) for start in starts))


def _draw_block(start: int, n: int, seed: int, classes: int) -> TermBlock:
    rng = np.random.default_rng([seed, start])
    numbers = (start + np.arange(n)) << 20 | rng.integers(0, 1 << 20, n)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)[numbers[:, None] >> np.arange(48, -1, -4) & 15]
    terms = pa.LargeStringArray.from_buffers(
        n, pa.py_buffer(np.arange(n + 1) * digits.shape[1]), pa.py_buffer(digits.tobytes())
    )
    lengths = np.minimum((1 - rng.random(n)) ** -1.25, classes).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    step, place = np.repeat([classes / lengths, rng.random(n)], lengths, axis=1)
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    df = np.minimum((1 - rng.random(indptr[-1])) ** -1.0, 100_000).astype(np.int64)
    times = rng.integers(1, 3, indptr[-1])  # in each of these documents
    cells = Cells(indptr, ((within + place) * step).astype(np.int32), np.stack([df, df * times, df * times**2]))
    return TermBlock(terms, cells, cells.totals())
