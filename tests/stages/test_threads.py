"""Work on several threads: the first error ends it, and no loop is compiled while threads work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import ThreadpoolController, threadpool_info

from termsieve import threads
from termsieve._kernels import use_way
from termsieve.counts.counting import count
from termsieve.counts.tally import Tally, load_kernels
from termsieve.tokens.analyzer import Analyzer


def test_results_come_in_the_order_of_the_items():
    assert threads.work_on_each(lambda x: x * x, range(50), 4) == [x * x for x in range(50)]


def test_the_seconds_of_other_threads_count_for_the_one_that_they_work_for():
    def work(seconds):
        start = time.thread_time()
        while time.thread_time() - start < seconds:
            pass

    start = threads.measure_cpu()
    threads.work_on_each(lambda _: threads.work_on_each(work, [0.02, 0.02], 2), [0, 1], 2)
    assert threads.measure_cpu() - start >= 0.08


@pytest.mark.parametrize("run", [threads.work_on_each, threads.work_on_stream])
def test_the_first_error_ends_the_work_even_while_an_earlier_item_never_ends(run):
    """The first item waits for ever; the second fails. Who waits for the first future waits for ever too."""
    released, waited_in_vain = threading.Event(), threading.Event()

    def work(i):
        if i == 0 and not released.wait(60):
            waited_in_vain.set()
        if i == 1:
            raise MemoryError

    try:
        with pytest.raises(MemoryError):
            run(work, list(range(100)), 2)
        assert not waited_in_vain.is_set()
    finally:
        released.set()


def test_what_has_not_begun_is_cancelled_after_an_error():
    begun = []

    def work(i):
        begun.append(i)
        if i == 0:
            raise ValueError("first")
        time.sleep(0.05)

    with pytest.raises(ValueError, match="first"):
        threads.work_on_each(work, range(1000), 2)
    time.sleep(0.2)
    assert len(begun) < 20


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_memory_that_runs_out_in_one_thread_ends_counting(monkeypatch, n_threads):
    monkeypatch.setattr("termsieve.counts.counting.CHUNK_BYTES", 100)
    add, calls = Tally.add, []

    def fail(self, *chunk):
        calls.append(chunk)
        if len(calls) > 5:
            raise MemoryError
        add(self, *chunk)

    monkeypatch.setattr(Tally, "add", fail)
    with use_way("compiled"), pytest.raises(MemoryError):
        count(["some words of a text"] * 1000, ["a", "b"] * 500, threads=n_threads)
    assert len(calls) < 5 + 10 * n_threads  # of 200 and more


COMPILING = """
    import sys, threading
    from numba.core import event

    others = []

    class Listener(event.Listener):
        def on_start(self, _):
            if threading.current_thread() is not threading.main_thread():
                frame, names = sys._getframe(), []
                while frame and len(names) < 12:
                    names.append(frame.f_code.co_name)
                    frame = frame.f_back
                others.append(names)

        def on_end(self, _):
            pass

    event.register("numba:compiler_lock", Listener())
    import numpy as np
    import termsieve as ts
    from termsieve import Analyzer
    from termsieve.counts import counting, tally
    from termsieve.counts import rows
    from termsieve.tokens import strings, vocabulary

    counting.CHUNK_BYTES = rows.CHUNK_CHARACTERS = 300
    strings._SMALL_SIZE = 0  # as with many terms
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(3000)] + ["a" * 40, "\\u03a3\\u03b1\\u03a3", "Stra\\u00dfe"]
    texts = [" ".join(rng.choice(words, 60)) for _ in range(300)]
    labels = ["a", "b", "c"] * 100
    {run}
    assert not others, others
    print("fine")
"""
RUNS = {
    "count": "ts.count(texts, labels, threads=3)",
    "long documents": "vocabulary.PIECE = 50; ts.count(texts, labels, threads=3)",
    "many terms": "tally.MIN_CELLS = tally.HELD_TERMS = 10; "
    "ts.count([t + u for t in texts for u in texts[:9]], ['x'] * 2700, threads=3, "
    "analyzer=Analyzer(ngram_range=(1, 2)))",
    "n-grams, stems": "ts.count(texts, labels, threads=3, analyzer=Analyzer(ngram_range=(1, 3), stemmer='english'))",
    "accents, stop words": "ts.count(texts, labels, threads=3, analyzer=Analyzer(strip_accents='unicode', "
    "stop_words='english'))",
    "folds": "ts.count_folds(texts, labels, threads=3)",
    "vectorizer": "v = ts.TermVectorizer(threads=3, k=20, score_func='gu').fit(texts, labels); v.transform(texts)",
    "compare": "ts.compare(texts[:60], labels[:60], cv=3, scores=['gu', 'info_gain', 'fisher_exact', 'bns', "
    "'fisher(on=\"tf\")'], "
    "classifiers=['multinomial_nb', 'bernoulli_nb', 'poisson_nb', 'linear_svm', 'probit'], ks=[5, 20], threads=3)",
    "train": "from termsieve.model import train; train(texts[:60], labels[:60], threads=3)",
}


@pytest.mark.parametrize("way", ["by size", "compiled"])
@pytest.mark.parametrize("name", RUNS)
def test_threads_never_load_or_compile_a_loop(name, way):
    """A thread that fails while it compiles may keep the lock of the compiler: the others would wait for ever."""
    script = textwrap.dedent(COMPILING).replace("{run}", RUNS[name])
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"TERMSIEVE_LOOPS": way},
    )
    assert done.stdout == "fine\n", done.stderr[-3000:]


@pytest.mark.parametrize(
    "options",
    [
        {"min_length": 9},
        {"ngram_range": (4, 5), "token_pattern": "[x]+"},
        {"stop_words": ["ab", "cd"]},
        {"token_pattern": "[0-9]{3,}"},
        {"analyzer": "char", "ngram_range": (1, 2)},
    ],
)
def test_loops_are_loaded_for_any_analyzer(options):
    load_kernels(Analyzer(**options))


def test_a_tokenizer_of_the_user_is_not_called_to_load_loops():
    load_kernels(Analyzer(tokenizer=refuse))


def refuse(text):
    raise AssertionError(text)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as Linux has them")
@pytest.mark.parametrize("megabytes", [1100, 1500, 1900])
def test_a_process_without_enough_memory_ends(megabytes, tmp_path):
    """Whatever it is that finds no memory; libraries in C++ may abort or write to nothing, which nobody can catch.

    Nor can anybody catch GNU's C library, which exits with 127 where it finds none for what a thread keeps for itself.
    """
    import resource

    path = tmp_path / "many.csv"
    path.write_text(
        "text,label\n" + "".join(f"{' '.join(f'w{i}x{j}' for j in range(500))},{i % 3}\n" for i in range(4000))
    )
    done = subprocess.run(
        [sys.executable, "-m", "termsieve", "count", str(path), "-o", str(tmp_path / "x.counts"), "--threads", "4"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1, -signal.SIGABRT, -signal.SIGSEGV, 127), done.stderr
    assert done.returncode != 127 or "cannot allocate memory" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "x.counts").exists() == (done.returncode == 0)


def test_a_thread_that_cannot_be_started_is_a_lack_of_memory(monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(MemoryError):
        threads.work_on_each(abs, range(5), 2)


# Linear algebra


def count_blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def in_a_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


@pytest.fixture
def two_blas_threads():
    scipy.linalg.inv(np.eye(2))  # its library is loaded
    limit = in_a_thread(lambda: ThreadpoolController().limit(limits=2, user_api="blas"))
    yield
    in_a_thread(limit.restore_original_limits)


def test_linear_algebra_is_limited_whichever_thread_was_the_first(two_blas_threads):
    """It was not, in other threads, once the main thread had set the limit: fits took twenty times as long."""

    def count_within():
        with threads.limit_blas():
            return count_blas_threads(), in_a_thread(count_blas_threads)

    for _ in range(2):
        assert count_within() == ({1}, {1})
        assert count_blas_threads() == {2}
        assert in_a_thread(count_within) == ({1}, {1})
        assert count_blas_threads() == {2}


def test_the_limit_of_linear_algebra_is_lifted_by_the_last_user(two_blas_threads):
    entered, left = threading.Event(), threading.Event()

    def stay():
        with threads.limit_blas():
            entered.set()
            left.wait(30)
            return count_blas_threads()

    with ThreadPoolExecutor(1) as pool:
        with threads.limit_blas():
            other = pool.submit(stay)
            assert entered.wait(30)
        left.set()
        assert other.result() == {1}
        assert count_blas_threads() == {2}
