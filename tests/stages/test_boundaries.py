"""Text without spaces between words is noticed, and the note names what would do."""

from __future__ import annotations

import json
import logging
import re
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import termsieve as ts
from termsieve import _kernels
from termsieve.cli.messages import Messages
from termsieve.errors import TermsieveWarning
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.boundaries import describe_missing_boundaries, find_script_without_spaces

CHINESE = "今天天气很好，我们一起去公园散步吧。公司的股票价格昨天上涨了百分之三。"  # noqa: RUF001
JAPANESE = "今日はとても天気が良いので、公園まで散歩に行きましょう。株価は三パーセント上がりました。"
THAI = "วันนี้อากาศดีมากเราไปเดินเล่นที่สวนสาธารณะกันเถอะ ราคาหุ้นเมื่อวานนี้เพิ่มขึ้นสามเปอร์เซ็นต์"
KOREAN = "오늘은 날씨가 매우 좋으니 함께 공원에 산책하러 갑시다. 주가는 어제 삼 퍼센트 올랐습니다."
GREEK = "Σήμερα ο καιρός είναι πολύ καλός, πάμε μια βόλτα στο πάρκο."  # noqa: RUF001


@pytest.mark.parametrize(("text", "script"), [
    (CHINESE, "Chinese"), (JAPANESE, "Japanese"), (THAI, "Thai, Lao, Khmer or Burmese"), (KOREAN, None), (GREEK, None),
    ("A fine day for a walk in the park.", None), ("今天 天气 很 好 我们 一起 去 公园 散步 吧 ", None),
    ("The report says 中华人民共和国国家统计局 published new figures for the whole of the last year today. ", None),
])  # fmt: skip
def test_scripts(text, script):
    assert find_script_without_spaces([text] * 20) == script
    assert find_script_without_spaces([text]) is None  # too little to tell


def test_the_share_that_decides_is_one_half():
    run = "今天天气很好我们一起"
    for n, found in ((500, "Chinese"), (501, None)):
        rest = "a" * (n + 1 if found is None else n - 1)
        assert find_script_without_spaces([f"{run} " * (n // 10) + rest]) == found


@pytest.mark.parametrize("options", [
    {"segmenter": "jieba"}, {"analyzer": "char"}, {"analyzer": "char_wb", "ngram_range": (1, 2)},
    {"tokenizer": "builtins:list"}, {"token_pattern": r"\w|[a-z]+"},
])  # fmt: skip
def test_whoever_has_chosen_is_not_told(options):
    assert describe_missing_boundaries([CHINESE] * 20, Analyzer(**options)) is None


def test_the_library_warns_and_counts_the_same():
    texts, labels = [CHINESE, CHINESE[::-1]] * 20, ["a", "b"] * 20
    with pytest.warns(TermsieveWarning, match=r"most of the text is Chinese.*segmenter='jieba'"):
        counts = ts.count(texts, labels)
    assert counts.n_docs == 40
    with pytest.warns(TermsieveWarning, match="most of the text is Chinese"):
        ts.compare(texts, labels, scores=["chi2"], classifiers=["multinomial_nb"], ks=[2], cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ts.count(texts, labels, analyzer=Analyzer(analyzer="char_wb", ngram_range=(1, 2)))


@pytest.mark.parametrize("command", [
    ["rank"], ["count", "-o", "x.counts"], ["compare", "--score", "chi2", "-k", "5", "--classifier", "multinomial_nb"],
    ["train", "--score", "chi2", "-k", "5", "--classifier", "multinomial_nb", "-o", "x.skops"],
])  # fmt: skip
def test_commands_say_it_once(tmp_path, monkeypatch, typed, command):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [{"text": "".join(rng.permutation(list(CHINESE))), "label": "ab"[i % 2]} for i in range(60)]
    Path("x.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    code, _, err = typed(command[0], "x.jsonl", *command[1:])
    assert code == 0, err
    assert err.count("most of the text is Chinese") == 1
    assert "--segmenter jieba, or count characters with --characters --ngrams 2" in err
    assert "--tokenizer module:function" in err
    assert "most of the text" not in typed("rank", "x.jsonl", "--characters", "--ngrams", "2")[2]


# Text of other libraries


def test_messages_show_only_what_termsieve_says(capsys):
    with Messages():
        warnings.warn("of ours", TermsieveWarning, stacklevel=1)
        for category in (UserWarning, DeprecationWarning, FutureWarning, RuntimeWarning, ResourceWarning):
            warnings.warn("theirs", category, stacklevel=1)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("theirs", UserWarning, stacklevel=1)
        logging.getLogger("urllib3.connectionpool").warning("theirs: Retrying (Retry(total=0))")
    assert capsys.readouterr().err == "note: of ours\n"


def test_compiling_is_announced_and_timed(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "termsieve._numba", SimpleNamespace(can_keep_loops=lambda: True))
    monkeypatch.setattr(_kernels, "_loaded", set())
    monkeypatch.setattr(_kernels, "is_cache_warm", lambda _: False)
    group = _kernels.LoopGroup("tokens.kernels", "scan", ("time:time",))
    with Messages() as messages, messages.report_compiling():
        _kernels._compile_together(group)
        _kernels._compile_together(group)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("compiling loops for this machine")
    assert second == "compiled in 0 s; later runs begin at once"
    monkeypatch.setattr(_kernels, "_loaded", set())
    _kernels._compile_together(group)
    assert capsys.readouterr().err == ""


def test_every_warning_of_the_package_is_a_termsieve_warning():
    """Any other would not be seen on the command line."""
    package = Path(ts.__file__).parent
    for path in package.rglob("*.py"):
        for call in re.findall(r"warnings\.warn\((.*?)stacklevel", path.read_text("utf-8"), re.DOTALL):
            assert "TermsieveWarning" in call or "NotConvergedWarning" in call, (path, call)
