"""The registry: spellings, parameters, errors, and what every record must say."""

import re
from pathlib import Path
from unittest import mock

import mpmath
import numpy as np
import pytest

from termsieve.errors import OptionError
from termsieve.scores import SCORES, catalogue, parse_score, registry
from termsieve.scores.numerics import stirling_remainder
from termsieve.scores.parsing import AMBIGUOUS_NAMES
from termsieve.scores.registry import score
from termsieve.table import Table

ALL = [spelling for name, s in SCORES.items() for spelling in (name, *s.variants)]
PAPERS = 24
BEYOND = 29


@pytest.mark.parametrize("spelling", ALL)
def test_canonical_spelling_round_trips(spelling):
    s = parse_score(spelling)
    assert parse_score(s.spelling) == s
    assert parse_score(s.spelling).spelling == s.spelling
    assert parse_score(s) is s


@pytest.mark.parametrize(("written", "canonical"), [
    ("bns", "bns"),
    (" bns( floor = 1e-3 ) ", "bns(floor=0.001)"),
    ("bns(floor=0.0005)", "bns"),
    ("power(k=3)", "power(k=3)"),
    ("pmi(log=False, floor=0)", "pmi(floor=0, log=False)"),
    ("gu(z='counts')", 'gu(z="counts")'),
    ("pip_poisson", 'pip_poisson(param="scale")'),
    ("gu()", "gu"),
])  # fmt: skip
def test_canonical_spelling(written, canonical):
    assert parse_score(written).spelling == canonical


@pytest.mark.parametrize(("written", "message"), [
    ("bms", "Unknown score 'bms'. Did you mean 'bns'? Known scores: accuracy,"),
    ("BNS", "Did you mean 'bns'"),
    ("xyzzy", "Unknown score 'xyzzy'. Known scores:"),
    ("mi", "'mi' is not a score of termsieve: it means two things"),
    ("mutual_info", "info_gain_binary"),
    ("or", "log_odds_ratio"),
    ("IG", "info_gain_binary"),
    ("bns(flor=1)", "Unknown parameter 'flor' of 'bns'. Did you mean 'floor'? Its parameters: floor."),
    ("chi2(x=1)", "Its parameters: none."),
    ("bns(floor=0.7)", "The parameter 'floor' of 'bns' must be a number in [1e-12, 0.5); it was given 0.7."),
    ("bns(floor=True)", "must be a number"),
    ("bns(floor='a')", "must be a number in [1e-12, 0.5); it was given 'a'"),
    ("power(k=1e999)", "must be a number in [1e-6, 1e6]; it was given inf"),
    ('gu(z="text")', """must be one of "rates", "counts"; it was given 'text'"""),
    ("pmi(log=1)", "The parameter 'log' of 'pmi' must be True or False; it was given 1."),
    ("bns(floor=__import__('os'))", "is not understood"),
    ("bns(**{})", "has no name"),
    ("bns(0.001)", "must be named"),
    ("bns(", "is not the spelling of a score"),
    ("a.b(c=1)", "is not the spelling of a score"),
    ("", "is not the spelling of a score"),
    ("bns; 1", "is not the spelling of a score"),
])  # fmt: skip
def test_errors_say_what_would_work(written, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        parse_score(written)


@pytest.mark.parametrize("deep", ["-" * 2000 + "1", "not " * 2000 + "1", "1" + "+1" * 2000, "a" + ".b" * 2000])
def test_deep_spellings_are_told(deep):
    with pytest.raises(OptionError, match="is not understood") as caught:
        parse_score(f"bns(floor={deep})")
    assert len(str(caught.value)) < 1000


def test_ambiguous_names_offer_real_ones():
    for name, text in AMBIGUOUS_NAMES.items():
        assert name not in SCORES
        assert any(offered in SCORES for offered in re.findall(r"'(\w+)'", text))


def test_the_catalogue_is_complete():
    beyond = [name for name, s in SCORES.items() if s.confidence]
    assert len(beyond) == BEYOND
    assert len(SCORES) == PAPERS + BEYOND


@pytest.mark.parametrize("name", SCORES)
def test_every_record_says_what_a_user_needs(name):
    s = SCORES[name]
    for fact in (s.title, s.formula, s.about, s.prefers, s.source, s.warning, s.example, s.range):
        assert fact
    assert s.papers or s.confidence or s.source == "yang1997"
    assert (s.aggregation == "global") == (s.overall is not None)


def test_sources_are_in_the_bibliography():
    bib = (Path(__file__).parents[2] / "references.bib").read_text(encoding="utf-8")
    keys = set(re.findall(r"@\w+\{(\w+),", bib))
    assert {s.source for s in SCORES.values()} <= keys


@pytest.fixture
def harmonic():
    """A new score takes one decorated function in one place."""
    with mock.patch.dict(registry._SCORES):

        @score(
            title="Harmonic rate", source="forman2003", null=None,
            example=dict(tp=30, fp=10, fn=20, tn=140, value=0.685714),
        )  # fmt: skip
        def harmonic(t: Table, *, weight: float = 1.0) -> np.ndarray:
            """Harmonic mean of recall and specificity."""
            specificity = 1.0 - t.fpr
            return (1 + weight) * t.tpr * specificity / (weight * t.tpr + specificity)

        yield harmonic


def test_a_new_score_is_found_everywhere(harmonic):
    assert parse_score("harmonic(weight=2)").spelling == "harmonic(weight=2)"
    assert "harmonic" in [row.name for row in catalogue.make_catalogue_rows()]
    assert "Harmonic mean of recall and specificity." in catalogue.describe("harmonic")
    t = Table.of(tp=30, fp=10, fn=20, tn=140)
    assert parse_score("harmonic").evaluate(t) == pytest.approx(2 * 0.6 * (14 / 15) / (0.6 + 14 / 15))


def test_two_scores_of_one_name_are_refused(harmonic):
    with pytest.raises(ValueError, match="already"):
        score(title="Again", source="forman2003")(harmonic)


def test_positional_parameters_are_refused():
    def wrong(t: Table, floor: float = 1.0) -> np.ndarray:
        return t.tp

    with pytest.raises(TypeError, match="keyword-only"):
        registry.make_score(wrong)


@pytest.mark.parametrize("name", SCORES)
def test_descriptions_of_the_catalogue(name):
    text = catalogue.describe(name)
    assert SCORES[name].title in text
    assert SCORES[name].warning.split(".")[0][:40] in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100


def test_descriptions_tell_the_limits_of_parameters():
    assert "smoothing=0.1 (0 or in [1e-9, 1e9]); min_df=5 (in [1, 1e9])" in catalogue.describe("odds_ratio")
    assert "floor=0.0005 (in [1e-12, 0.5))" in catalogue.describe("bns")


def test_a_score_is_called_by_its_title():
    assert [SCORES[name].title for name in ("chi2", "gu", "bns")] == ["Chi-square", "GU metric", "Bi-normal separation"]


def test_equal_scores_are_one_in_a_set():
    assert {SCORES["bns"], parse_score("bns"), parse_score("bns(floor=0.0005)")} == {SCORES["bns"]}
    assert len({parse_score("bns"), parse_score("bns(floor=0.001)")}) == 2


@pytest.mark.parametrize("name", ["ngl", "gu"])
@pytest.mark.parametrize("cells", [(30, 10, 20, 140), (5, 40, 45, 110), (12, 30, 38, 120)])
def test_signed_roots_of_chi_square_have_its_p_value(name, cells):
    table = Table.of(**dict(zip(("tp", "fp", "fn", "tn"), cells, strict=True)))
    of_root, of_square = (SCORES[one].pvalue(table, SCORES[one].evaluate(table)) for one in (name, "chi2"))
    assert of_root == pytest.approx(of_square, rel=1e-9)


@pytest.mark.parametrize("x", [0.5, 1.0, 11.9, 12.0, 13.5, 40.0, 1e4])
def test_what_stirlings_formula_leaves_has_all_its_digits(x):
    with mpmath.workdps(50):
        left = mpmath.loggamma(x) - ((x - mpmath.mpf(0.5)) * mpmath.log(x) - x + mpmath.log(2 * mpmath.pi) / 2)
    assert stirling_remainder(np.array([x]))[0] == pytest.approx(float(left), rel=1e-12, abs=0)
