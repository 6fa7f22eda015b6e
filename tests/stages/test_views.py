"""Views for notebooks: the facts, well-formed, and nothing that runs."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages.samples import HOSTILE, hostile_result, plain_result

import termsieve as ts
from termsieve import views


def tree(html):
    return ET.fromstring(html)


def cells(html):
    return [["".join(cell.itertext()) for cell in row.iter("td")] for row in tree(html).find("table/tbody").iter("tr")]


def head(html):
    return ["".join(cell.itertext()) for cell in tree(html).find("table/thead").iter("th")]


COUNTS = ts.count(["good film", "good play", "bad film"], ["pos", "pos", "neg"])
SHOWN = {
    "counts": COUNTS,
    "scores": ts.score(COUNTS, "chi2"),
    "ranking": ts.score(COUNTS, "chi2").top(3),
    "selection": ts.select(COUNTS, "top(2)", "chi2"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_each_has_a_view_that_is_well_formed(name):
    assert tree(SHOWN[name]._repr_html_()).tag == "div"


def test_counts_show_their_classes():
    assert cells(COUNTS._repr_html_()) == [["pos", "2", "67 %"], ["neg", "1", "33 %"]]
    assert "Counts of 4 terms in 2 classes, from 3 documents" in COUNTS._repr_html_()


def test_a_ranking_shows_the_shares_of_documents():
    html = SHOWN["ranking"]._repr_html_()
    assert head(html) == ["rank", "term", "chi2", "class", "in the class", "elsewhere", "documents"]
    assert cells(html)[0] == ["1", "bad", "3", "neg", "100 %", "0 %", "1"]


def test_scores_show_their_best_terms():
    assert [row[1] for row in cells(SHOWN["scores"]._repr_html_())] == ["bad", "good", "film", "play"]


def test_a_selection_says_why_it_stopped():
    html = SHOWN["selection"]._repr_html_()
    assert [row[1] for row in cells(html)] == ["bad", "good"]
    assert SHOWN["selection"].reason in html


def test_a_comparison_shows_the_best_of_each_score_and_what_is_recommended():
    html = plain_result()._repr_html_()
    rows = cells(html)
    assert len(rows) == len(plain_result().scores) * len(plain_result().classifiers)
    values = [float(row[3]) for row in rows]
    assert values == sorted(values, reverse=True)
    assert "standard error" in html


def test_long_tables_are_cut_and_say_so():
    counts = ts.count([f"word{i:03d} x{i % 2}" for i in range(100)], [str(i % 40) for i in range(100)])
    assert len(cells(counts._repr_html_())) == views.MAX_ROWS
    assert "... 20 more classes" in counts._repr_html_()
    assert "... 80 more terms" in ts.select(counts, 100, "gu")._repr_html_()


def test_hostile_names_are_text():
    result = hostile_result()
    for one in (result, result.counts, ts.score(result.counts, "gu"), ts.select(result.counts, 20, "gu")):
        html = one._repr_html_()
        tags = {element.tag for element in tree(html).iter()}
        assert tags <= {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "bdi"}
    shown = [row[1] for row in cells(ts.score(result.counts, "gu")._repr_html_())]
    assert set(HOSTILE) & set(shown)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")))
def test_any_text_comes_back_from_a_cell(text):
    assert cells(views.render_table(text, [text], [[text]], notes=[text])) == [[text]]
