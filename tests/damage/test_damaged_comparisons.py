"""Damaged files of comparisons: an error of ours, and never another result; with a new checksum, never a crash."""

from damage.damage import ERROR, damaged, outcomes
from pages.samples import plain_result

from termsieve.study.result_files import DIGITS, MARK, add_checksum
from termsieve.study.results import Comparison


def read(path):
    result = Comparison.load(path)
    counts = None if result.counts is None else result.counts.to_bytes()
    return result.table.to_pylist(), result.settings, result.seconds, result.excerpts, counts


def read_any(path):
    read(path)
    return "read"


def new_checksum(content):
    place = content.rfind(MARK) + len(MARK)
    if place < len(MARK):
        return content
    return add_checksum(content[:place] + b"0" * DIGITS + content[place + DIGITS :])


def test_damaged_comparisons_are_errors(tmp_path):
    path = tmp_path / "x.parquet"
    plain_result().save(path)
    data = path.read_bytes()
    found, bad = outcomes(list(damaged(data)), read, path, expected=read(path))
    print("\ncomparison:", dict(found))
    assert not bad
    assert found[ERROR] > 0.9 * found.total()


def test_damaged_comparisons_with_a_new_checksum_do_no_harm(tmp_path):
    path = tmp_path / "x.parquet"
    plain_result().save(path)
    files = [new_checksum(one) for one in damaged(path.read_bytes(), seed=1)]
    found, bad = outcomes(files, read_any, path, expected="read")
    print("\ncomparison with a new checksum:", dict(found))
    assert not bad
    assert found[ERROR]
