"""Terms, class names, titles and excerpts that want to run: in a real browser, nothing of them does."""

import pytest
from pages.samples import HOSTILE, HOSTILE_CLASSES, IMAGE, LONG, SCRIPT, TEMPLATE, TURNED


@pytest.fixture
def opened(visit, hostile_page):
    with visit(hostile_page) as page:
        yield page


def test_nothing_of_it_runs_whatever_is_done_with_the_page(opened):
    for choice in range(len(HOSTILE_CLASSES) + 1):
        opened.select_option("#map-class", index=choice)
        for button in opened.locator("#first button").all()[:12]:
            button.click()
    for term in HOSTILE:
        opened.fill("#search", term[:40])
        opened.press("#search", "Enter")
    box = opened.locator("[data-chart=map] svg").bounding_box()
    for step in range(40):
        opened.mouse.move(box["x"] + box["width"] * step / 40, box["y"] + box["height"] * (step % 7) / 7)
    opened.wait_for_timeout(300)
    assert opened.evaluate("window.hacked") is None
    assert opened.dialogs == []
    assert opened.said == []
    assert len(opened.asked) == 1
    assert opened.locator("img").count() == 0
    assert opened.locator("script").count() == 3


@pytest.mark.parametrize("term", [SCRIPT, IMAGE, TEMPLATE, "<!--", "__proto__", "constructor"])
def test_it_is_shown_as_it_is_written(opened, term):
    opened.fill("#search", term)
    assert opened.locator("#matches button").first.inner_text() == term
    opened.press("#search", "Enter")
    assert opened.locator("#term h3").inner_text() == term
    assert opened.locator("#term mark").first.inner_text() == term


def test_marks_that_turn_the_writing_are_written_out(opened):
    assert TURNED[0] not in opened.locator("body").inner_text()
    opened.fill("#search", "evil")
    assert opened.locator("#matches button").first.inner_text() == "\\u202eevil\\u2066"


def test_long_terms_are_cut_short(opened):
    opened.fill("#search", "xxxxxx")
    shown = opened.locator("#matches button").first.inner_text()
    assert shown == LONG[:59] + "…"


def test_the_title_is_text(opened):
    assert HOSTILE_CLASSES[0] in opened.locator(".brand").inner_text()
    assert opened.title().endswith(HOSTILE_CLASSES[0])


def test_a_script_that_got_in_would_not_be_run_either(opened):
    opened.evaluate("""() => {
        const script = document.createElement('script');
        script.textContent = 'window.hacked = 9';
        document.body.append(script);
        document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.hacked = 10">');
    }""")
    opened.wait_for_timeout(200)
    assert opened.evaluate("window.hacked") is None
    assert any("Content Security Policy" in said for said in opened.said)
    with pytest.raises(Exception, match=r"unsafe-eval|EvalError|Content Security Policy"):
        opened.add_script_tag(content="eval('window.hacked = 11')")
