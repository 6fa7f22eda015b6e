"""Figures: well-formed, everything named, nothing run."""

from xml.etree import ElementTree as ET

import pytest

from termsieve.errors import OutputError
from termsieve.evaluate.significance import Diagram
from termsieve.reporting.figures import draw_critical_difference, write_figures

SVG = "{http://www.w3.org/2000/svg}"


def test_the_diagram_names_every_method_with_its_rank():
    drawn = ET.fromstring(draw_critical_difference(Diagram(("gu", "chi2", "bns"), (1.0, 2.2, 2.8), 1.1, ((1, 2),))))
    texts = [element.text for element in drawn.iter(f"{SVG}text")]
    assert {"gu (1.00)", "chi2 (2.20)", "bns (2.80)", "CD = 1.10"} <= set(texts)
    assert "gu 1.00" in drawn.find(f"{SVG}title").text


def test_names_are_escaped():
    drawn = draw_critical_difference(Diagram(('<script>"', "b"), (1.0, 2.0), 0.5, ()))
    assert "<script>" not in drawn
    assert ET.fromstring(drawn) is not None


def test_bars_join_what_does_not_differ():
    with_bar, without = (
        draw_critical_difference(Diagram(("a", "b"), (1.4, 1.6), 0.9, bars)) for bars in (((0, 1),), ())
    )
    assert with_bar.count('stroke-width="3"') == 1
    assert without.count('stroke-width="3"') == 0


def test_long_names_make_the_diagram_wider_and_none_is_cut():
    names = ("a" * 40, "b" * 30, "c")
    drawn = ET.fromstring(draw_critical_difference(Diagram(names, (1.0, 2.0, 3.0), 0.5, ()), width=300))
    width = float(drawn.get("width"))
    assert width > 600
    assert all(-1 <= float(line.get(x)) <= width + 1 for line in drawn.iter(f"{SVG}line") for x in ("x1", "x2"))


def test_figures_are_written_in_three_formats(tmp_path):
    bars = {"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": {"x": {"field": "a", "type": "quantitative"}}}
    svg = draw_critical_difference(Diagram(("a", "b"), (1.0, 2.0), 0.5, ()))
    written = write_figures({"bars": {**bars, "width": "container"}, "ranks": svg}, tmp_path / "deep" / "folder")
    starts = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<svg"}
    assert {path.name for path in written} == {f"{name}{end}" for name in ("bars", "ranks") for end in starts}
    assert all(path.read_bytes().startswith(starts[path.suffix]) for path in written)
    assert (tmp_path / "deep" / "folder" / "ranks.svg").read_text() == svg


def test_a_file_is_no_folder_for_figures(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(OutputError, match="is not a folder"):
        write_figures({}, tmp_path / "x")
