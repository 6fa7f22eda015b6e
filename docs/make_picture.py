"""Make the picture of the report, docs/results/figures/report.png, from the page of ``make demo``.

``python docs/make_picture.py termsieve-demo.html`` needs Chromium; ``CHROMIUM`` names another than Debian's.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent / "results" / "figures" / "report.png"
WIDTH, HEIGHT = 1200, 1000
SHOWN, MARGIN = ".first-screen", 24  # the picture ends below the telling words and the curve
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
COLORS = 256  # with fewer, those of the curves are not their own any more


def main() -> None:
    page_file = Path(sys.argv[1] if len(sys.argv) > 1 else "termsieve-demo.html").resolve()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=OPTIONS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.wait_for_selector("svg, canvas")
        bottom = page.locator(SHOWN).evaluate("part => part.getBoundingClientRect().bottom")
        taken = page.screenshot(clip={"x": 0, "y": 0, "width": WIDTH, "height": bottom + MARGIN})
        browser.close()
    picture = Image.open(io.BytesIO(taken)).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
    picture.save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
