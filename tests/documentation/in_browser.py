"""The site in a browser: pages load, search finds, pictures are there, nothing is cut off, text is legible.

`make test-site` installs what these tests need. CHROMIUM names another browser than the one of playwright.
"""

import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="make test-site has playwright")

ROOT = Path(__file__).parents[2]
LAPTOP, PHONE = 1280, 390
#: Ratio of luminances that WCAG 2 asks of text.
LEGIBLE = 4.5

CONTRAST = """selector => {
    const numbers = color => color.match(/[0-9.]+/g).map(Number);
    const light = ([r, g, b]) => {
        const part = x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
        return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    };
    const element = document.querySelector(selector);
    let below = element;
    const clear = element => (numbers(getComputedStyle(element).backgroundColor)[3] ?? 1) < 1;
    while (below.parentElement && clear(below)) below = below.parentElement;
    const back = numbers(getComputedStyle(below).backgroundColor), text = numbers(getComputedStyle(element).color);
    const alpha = text[3] ?? 1, mixed = [0, 1, 2].map(i => alpha * text[i] + (1 - alpha) * back[i]);
    const [low, high] = [light(mixed), light(back)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}"""
CUT_OFF = """() => [...document.querySelectorAll('article pre > code, article table')].filter(box => {
    let scrolls = box;
    while (scrolls !== document.body && !['auto', 'scroll'].includes(getComputedStyle(scrolls).overflowX))
        scrolls = scrolls.parentElement;
    return scrolls === document.body && box.getBoundingClientRect().right > window.innerWidth;
}).map(box => box.textContent.slice(0, 60))"""
# Printed output in the gallery scrolls.
TOO_LONG = """() => [...document.querySelectorAll('article pre > code')]
    .filter(box => !box.closest('.gallery') && box.scrollWidth > box.clientWidth + 1)
    .map(box => box.textContent.split('\\n').sort((a, b) => b.length - a.length)[0])"""
PICTURES = """async () => {
    const missing = [];
    for (const picture of document.querySelectorAll('article img')) {
        picture.loading = 'eager';
        await picture.decode().catch(() => missing.push(picture.src));
    }
    return missing;
}"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built and served: its directory and its address."""
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--quiet", "--site-dir", str(built)]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(built)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield built, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, site):
    """Opens pages of the site, and notes errors on the way."""
    opened = []

    def open_one(width, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("response", lambda response: page.errors.append(response.url) if response.status >= 400 else None)
        opened.append(context)
        return page

    yield open_one
    for context in opened:
        context.close()


def pages(site):
    built, address = site
    return [f"{address}/{path.relative_to(built)}" for path in sorted(built.rglob("*.html")) if path.name != "404.html"]


@pytest.mark.parametrize("width", [LAPTOP, PHONE])
@pytest.mark.timeout(900)
def test_every_page_is_whole(site, open_page, width):
    page = open_page(width)
    problems = {}
    for address in pages(site):
        page.goto(address)
        found = [*page.errors, *page.evaluate(CUT_OFF), *page.evaluate(PICTURES)]
        if page.evaluate("() => document.documentElement.scrollWidth > window.innerWidth"):
            found.append("wider than the window")
        if found:
            problems[address] = found
        page.errors.clear()
    assert problems == {}


@pytest.mark.timeout(900)
def test_code_fits_on_a_laptop(site, open_page):
    page = open_page(LAPTOP)
    long = {}
    for address in pages(site):
        if "/reference/" not in address:
            page.goto(address)
            if found := page.evaluate(TOO_LONG):
                long[address.rpartition("/")[2]] = found
    assert long == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "selector",
    ["article p", "article p a", "article h1", "article blockquote li", "article pre code", "article pre .c1"],
)
def test_text_is_legible(site, open_page, scheme, selector):
    page = open_page(LAPTOP, scheme)
    page.goto(f"{site[1]}/getting-started.html")
    assert page.evaluate(CONTRAST, selector) >= LEGIBLE


def test_search_finds(site, open_page):
    page = open_page(LAPTOP)
    page.goto(f"{site[1]}/index.html")
    page.locator("input.md-search__input").fill("histogram")
    page.locator(".md-search-result__item").first.wait_for()
    assert "cookbook.html" in " ".join(
        link.get_attribute("href") or "" for link in page.locator(".md-search-result__item a").all()
    )


def test_pages_lead_to_each_other(site, open_page):
    page = open_page(LAPTOP)
    page.goto(f"{site[1]}/getting-started.html")
    page.locator("a.md-footer__link--next").click()
    page.wait_for_url("**/tutorial.html")
    page.locator("a.md-footer__link--prev").click()
    page.wait_for_url("**/getting-started.html")
