"""Figures: well-formed, everything named, nothing run."""

from xml.etree import ElementTree as ET

from termsieve.figures import critical_difference
from termsieve.significance import Diagram

SVG = "{http://www.w3.org/2000/svg}"


def test_the_diagram_names_every_method_with_its_rank():
    drawn = ET.fromstring(critical_difference(Diagram(("gu", "chi2", "bns"), (1.0, 2.2, 2.8), 1.1, ((1, 2),))))
    texts = [element.text for element in drawn.iter(f"{SVG}text")]
    assert {"gu (1.00)", "chi2 (2.20)", "bns (2.80)", "CD = 1.10"} <= set(texts)
    assert "gu 1.00" in drawn.find(f"{SVG}title").text


def test_names_are_escaped():
    drawn = critical_difference(Diagram(('<script>"', "b"), (1.0, 2.0), 0.5, ()))
    assert "<script>" not in drawn
    assert ET.fromstring(drawn) is not None


def test_bars_join_what_does_not_differ():
    with_bar, without = (critical_difference(Diagram(("a", "b"), (1.4, 1.6), 0.9, bars)) for bars in (((0, 1),), ()))
    assert with_bar.count('stroke-width="3"') == 1
    assert without.count('stroke-width="3"') == 0
