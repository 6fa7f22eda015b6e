"""A browser for the pages: Chromium, as the system has it."""

import os
import shutil
from contextlib import contextmanager

import pytest
from pages.samples import HOSTILE_CLASSES, hostile_result, pairs_result, plain_result

import termsieve as ts

# `make docs` builds the site, says where it is, and runs its tests: all others do without Sphinx
collect_ignore = [] if os.environ.get("SITE") else ["test_site.py"]
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="session")
def browser():
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


class Visit:
    """A page that is open, and all that it said and asked for meanwhile."""

    def __init__(self, page):
        self.page, self.said, self.asked, self.dialogs = page, [], [], []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def __getattr__(self, name):
        return getattr(self.page, name)

    def points(self):
        """Places and colours of the points of the map."""
        return self.page.locator("[data-chart=map] .mark-symbol path").evaluate_all(
            "all => all.map(one => one.getAttribute('transform') + one.getAttribute('fill'))"
        )


@pytest.fixture(scope="session")
def visit(browser):
    """Open a file in a new window."""

    @contextmanager
    def open_page(path, **how):
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **how})
        try:
            visited = Visit(context.new_page())
            visited.page.goto(path.as_uri())
            visited.page.wait_for_selector("html[data-ready=true]", timeout=30_000)
            yield visited
        finally:
            context.close()

    return open_page


@pytest.fixture(scope="session")
def plain_page(tmp_path_factory):
    return ts.report(plain_result(), tmp_path_factory.mktemp("plain") / "page.html", title="three topics")


@pytest.fixture(scope="session")
def pairs_page(tmp_path_factory):
    return ts.report(pairs_result(), tmp_path_factory.mktemp("pairs") / "page.html", title="words and pairs")


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory):
    return ts.report(hostile_result(), tmp_path_factory.mktemp("hostile") / "page.html", title=HOSTILE_CLASSES[0])


@pytest.fixture(scope="session")
def scores_page(tmp_path_factory):
    scores = ts.score(plain_result().counts, ["gu", "chi2"])
    return ts.report(scores, tmp_path_factory.mktemp("scores") / "page.html")


@pytest.fixture
def opened(visit, plain_page):
    with visit(plain_page) as page:
        yield page
