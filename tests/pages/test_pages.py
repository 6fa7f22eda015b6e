"""The page in a real browser: what it shows, what can be done with it, and what it never does."""

import re
from importlib.resources import files

import numpy as np
import pytest
from playwright.sync_api import expect

from termsieve.reporting.style import MAP_EXPONENT
from termsieve.views import format_percent

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def color(page, selector, what="color"):
    found = page.locator(selector).first.evaluate(f"one => getComputedStyle(one)['{what}']")
    return [int(part) for part in re.findall(r"\d+", found)[:3]]


def is_dark(rgb):
    return sum(rgb) < 3 * 128


def column(page, place):
    return page.locator(f"#results tbody tr td:nth-child({place})").evaluate_all(
        "all => all.map(one => one.dataset.value)"
    )


@pytest.mark.parametrize("which", ["plain_page", "hostile_page", "scores_page"])
def test_it_loads_without_an_error_and_asks_the_network_for_nothing(visit, request, which):
    path = request.getfixturevalue(which)
    with visit(path) as page:
        assert page.said == []
        assert page.asked == [path.as_uri()]
        charts = page.locator("[data-chart]")
        assert charts.count() == page.locator("[data-chart] svg").count() >= 5


def test_the_finding_comes_first(opened):
    headline = opened.locator("h1").inner_text()
    assert re.fullmatch(r"[\d,]+ terms by [\w -]+ (are|are probably|may be) enough: macro F1 [01]\.\d+", headline)
    assert opened.locator("h1").bounding_box()["y"] < 200


def test_lines_are_no_longer_than_can_be_read(opened):
    assert opened.viewport_size["width"] > 1120 >= opened.locator("main").bounding_box()["width"]


def test_every_section_of_the_report_is_there(opened):
    ids = opened.locator("main section[id]").evaluate_all("all => all.map(one => one.id)")
    found = ["corpus", "curves", "difference", "vocabulary", "top", "groups", "agreement", "energy", "timings", "again"]
    assert ids == found
    links = opened.locator("nav a").evaluate_all("all => all.map(one => one.hash.slice(1))")
    assert links == ids


def test_the_recommended_choice_is_marked_with_its_reason(opened):
    texts = opened.locator("#figure-f1_1_multinomial_nb svg text").all_text_contents()
    assert any(re.fullmatch(r"[\w -]+?\d+ terms: [01]\.\d{3}", text) for text in texts)
    assert "standard error" in opened.locator(".reason").inner_text()


def test_the_search_box_finds_a_term(opened):
    opened.fill("#search", "HARB")
    assert opened.locator("#matches button").all_inner_texts() == ["harbour"]
    assert "1 found" in opened.locator("#said").inner_text()
    opened.press("#search", "Enter")
    described = opened.locator("#term").inner_text()
    assert described.startswith("harbour")
    assert "sea" in described
    assert opened.locator("#term mark").first.inner_text().lower() == "harbour"


def test_terms_that_begin_with_what_is_searched_come_first(opened):
    opened.fill("#search", "de")
    found = opened.locator("#matches button").all_inner_texts()
    assert found[:2] == ["debt", "deck"]
    assert "trade" in found


def test_a_search_for_what_is_not_there_says_so(opened):
    opened.fill("#search", "nothing like it")
    assert "0 found" in opened.locator("#said").inner_text()
    assert opened.locator("#matches button").count() == 0


@pytest.mark.parametrize(
    ("control", "choice"), [("#map-class", "money"), ("#map-score", "GU metric"), ("#map-k", "first 10 terms")]
)
def test_what_is_chosen_changes_the_map(opened, control, choice):
    before = opened.points()
    opened.select_option(control, label=choice)
    assert len(before) > 30
    assert sorted(opened.points()) != sorted(before)


def test_choosing_a_class_lists_its_terms(opened):
    opened.select_option("#map-class", label="money")
    assert "for money" in opened.locator("#first-h").inner_text()
    first = opened.locator("#first button").all_inner_texts()[:5]
    assert set(first) & {"bank", "rate", "market", "shares", "profit", "trade", "economy", "bonds", "debt", "growth"}


def test_a_point_tells_its_counts_under_the_pointer_and_all_when_it_is_clicked(opened):
    opened.fill("#search", "harbour")
    opened.locator("#figure-map").scroll_into_view_if_needed()
    box = opened.locator("[data-chart=map] .layer_2_marks path").last.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    opened.mouse.move(x, y)
    tip = opened.locator("#tip")
    assert tip.is_visible()
    assert re.search(r"% of \w+ \(\d+ of 40\)", tip.inner_text())
    opened.mouse.click(x, y)
    assert opened.locator("#term h3").inner_text() in tip.inner_text()


@pytest.mark.parametrize("label", ["all: each term at its own class", "money"])
def test_points_lie_where_the_axes_say(opened, label):
    opened.select_option("#map-class", label=label)
    marked = opened.evaluate("""() => {
        const middle = (one) => { const box = one.getBoundingClientRect(); return box.top + box.height / 2; };
        const groups = [...document.querySelectorAll("[data-chart=map] .role-axis-label")];
        const columns = groups.map(one => [...one.querySelectorAll("text")]);
        const upright = columns.find(texts => texts.every(one => one.getAttribute("text-anchor") === "end"));
        return upright.map(one => [parseFloat(one.textContent) / 100, middle(one)]);
    }""")
    ticks = sorted((rate**MAP_EXPONENT, y) for rate, y in marked)
    points = opened.locator("[data-chart=map] .layer_1_marks path").evaluate_all("""all => all.map(one => {
        const box = one.getBoundingClientRect();
        return [one.__data__.datum.inside, box.top + box.height / 2];
    })""")
    assert len(ticks) >= 6
    found = {}
    for told, y in points:
        found.setdefault(re.search(r"\((\d+) of (\d+)\)", told).groups(), []).append(y)
    for (within, size), places in found.items():
        expected = np.interp((int(within) / int(size)) ** MAP_EXPONENT, *zip(*ticks, strict=True))
        # terms of the same counts are spread around their place, but not below the axis
        assert abs(np.median(places) - expected) < 4 or within == "0", (within, size)


def test_a_term_of_a_list_is_shown_on_the_map(opened):
    opened.locator("#top button.term", has_text="harbour").first.click()
    assert opened.locator("#term h3").inner_text() == "harbour"


@pytest.mark.parametrize(("name", "place"), [("best macro F1", 3), ("with terms", 5)])
def test_the_table_sorts_numbers(opened, name, place):
    head = opened.locator("#results th button", has_text=name)
    head.click()
    falling = [float(value) for value in column(opened, place)]
    assert falling == sorted(falling, reverse=True)
    head.click()
    rising = [float(value) for value in column(opened, place)]
    assert rising == sorted(falling)
    assert opened.locator("#results th[aria-sort=ascending]").inner_text().startswith(name)


def test_the_table_sorts_names(opened):
    opened.locator("#results th button", has_text="score").click()
    assert column(opened, 1) == sorted(column(opened, 1))


def test_a_dark_system_has_a_dark_page_and_charts_to_fit(visit, plain_page):
    with visit(plain_page, color_scheme="dark") as page:
        assert is_dark(color(page, "body", "background-color"))
        ink = color(page, "body")
        assert not is_dark(ink)
        assert color(page, "#figure-energy svg .mark-text text", "fill") == ink


def test_the_switch_makes_it_dark_and_light_again(opened):
    assert not is_dark(color(opened, "body", "background-color"))
    opened.click("#theme")
    assert is_dark(color(opened, "body", "background-color"))
    assert color(opened, "#figure-energy svg .mark-text text", "fill") == color(opened, "body")
    opened.click("#theme")
    assert not is_dark(color(opened, "body", "background-color"))


@pytest.mark.parametrize("which", ["plain_page", "hostile_page", "scores_page"])
@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_scrolls_in_one_direction_only(visit, request, which, width):
    how = {**PHONE, "viewport": {"width": width, "height": 844}}
    with visit(request.getfixturevalue(which), **how) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.documentElement.clientWidth") == width
        sizes = page.locator("p, li, td, dd").evaluate_all(
            "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
        )
        assert min(sizes) >= 12


def test_a_term_that_does_not_come_again_has_a_dotted_line_and_others_have_none(opened):
    terms = opened.locator("button.term").evaluate_all("""all => all.map(one => {
        const line = getComputedStyle(one);
        return [one.classList.contains("unsure"), line.textDecorationLine, line.textDecorationStyle];
    })""")
    assert {(unsure, line, style) for unsure, line, style in terms} == {
        (True, "underline", "dotted"),
        (False, "none", "solid"),
    }


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_the_longest_name_of_a_legend_is_whole(visit, pairs_page, width):
    with visit(pairs_page, **{**PHONE, "viewport": {"width": width, "height": 844}}) as page:
        beyond = page.locator(".role-legend-label text").evaluate_all("""all => all.map(one =>
            one.getBoundingClientRect().right - one.closest("svg").getBoundingClientRect().right)""")
        lines = page.locator(".role-legend-label text").all_text_contents()
    assert any(line.endswith("on words and pairs") for line in lines)
    assert max(beyond) <= 0


def test_on_a_phone_the_map_does_not_slide_over_the_term_below_it(visit, plain_page):
    with visit(plain_page, **PHONE, reduced_motion="reduce") as page:  # scrolls at once
        page.evaluate("document.querySelector('aside').scrollIntoView()")
        assert page.evaluate("window.scrollY") > 1000
        chart, term = page.locator("#figure-map").bounding_box(), page.locator("aside").bounding_box()
        assert chart["y"] + chart["height"] <= term["y"]


def test_printed_it_is_light_whole_and_without_controls(visit, plain_page):
    with visit(plain_page, color_scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        assert color(page, "body", "background-color") == [255, 255, 255]
        assert color(page, "#figure-energy svg .mark-text text", "fill") == [0, 0, 0]
        for hidden in ("nav", ".controls", "#theme", ".copy"):
            assert not page.locator(hidden).first.is_visible()
        page.locator("details").first.evaluate("one => { one.open = false }")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open])").count() == 0
        assert page.page.pdf().startswith(b"%PDF")


def test_everything_can_be_reached_and_used_with_the_keyboard(opened):
    wanted = {"theme", "map-class", "map-score", "map-k", "search"}
    reached, kinds = set(), set()
    for _ in range(400):
        opened.keyboard.press("Tab")
        focus = opened.evaluate(
            "[document.activeElement.id, document.activeElement.className || document.activeElement.tagName]"
        )
        reached.add(focus[0])
        kinds.add(focus[1])
    assert wanted <= reached
    assert {"term", "copy", "skip", "SUMMARY", "PRE"} <= kinds
    opened.locator("#results th button").nth(2).focus()
    opened.keyboard.press("Enter")
    assert opened.locator("#results th[aria-sort=descending]").count() == 1
    opened.locator("#first button").nth(3).focus()
    chosen = opened.locator("#first button").nth(3).inner_text()
    opened.keyboard.press("Enter")
    assert opened.locator("#term h3").inner_text() == chosen


def test_charts_and_controls_say_what_they_are(opened):
    described = opened.locator("[data-chart]").evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label') || '')"
    )
    assert all(len(words) > 25 for words in described)
    unnamed = opened.evaluate(
        "[...document.querySelectorAll('input, select')].filter(one => !one.labels.length).map(one => one.id)"
    )
    assert unnamed == []
    diagrams = opened.locator(".diagram svg[role=img] title").all_text_contents()
    assert diagrams
    assert all("Mean ranks" in words for words in diagrams)
    levels = opened.locator("h1, h2, h3, h4").evaluate_all("all => all.map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1


def test_text_stands_out_from_its_paper(visit, plain_page):
    for scheme in ("light", "dark"):
        with visit(plain_page, color_scheme=scheme) as page:
            paper = luminance(color(page, "body", "background-color"))
            for selector in ("body", ".lead", ".note", "nav a", "#top .muted"):
                text = luminance(color(page, selector))
                assert (max(paper, text) + 0.05) / (min(paper, text) + 0.05) >= 4.5, (scheme, selector)


def luminance(rgb):
    linear = [c / 12.92 if (c := part / 255) <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for part in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_code_can_be_copied(opened):
    opened.locator(".copy").first.click()
    expect(opened.locator(".copy").first).to_have_text(re.compile("Copied|Selected"))


def test_scores_alone_have_no_curves_but_all_else(visit, scores_page):
    with visit(scores_page) as page:
        ids = page.locator("main section[id]").evaluate_all("all => all.map(one => one.id)")
        assert ids == ["corpus", "vocabulary", "top", "agreement", "energy", "again"]
        page.fill("#search", "harb")
        assert page.locator("#matches button").all_inner_texts() == ["harbour"]


def test_the_page_writes_per_cent_as_python_does(browser):
    page = browser.new_page()
    script = (files("termsieve.reporting") / "templates" / "page.js").read_text(encoding="utf-8")
    function = re.search(r"^function percent\(share\) \{.*?^\}", script, re.M | re.S)[0]
    shares = [0, 1e-7, 9.9e-6, 1e-5, 0.00031, 0.003, 0.0123, 0.0994, 0.0996, 0.1, 0.5, 0.99, 0.991, 0.9985, 0.99901, 1]
    shares += [n / 5574 for n in (1, 2, 7, 51, 553, 556, 5573, 5569, 5500)]
    shares += [n / 200 for n in range(201)] + [n / 800 for n in range(100)] + [n / 3200 for n in range(99)]  # halves
    assert page.evaluate(f"(shares) => {{ {function} return shares.map(percent); }}", shares) == [
        format_percent(share) for share in shares
    ]
