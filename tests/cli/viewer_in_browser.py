"""The viewer in Chromium: every panel shows something, lines are linked, 200 kernels load fast, and a report is only text.

`make test-pages` installs what these tests need.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from samovar.cli.viewing import read_report, serve
from ui.in_browser import browser  # noqa: F401 — a fixture

ROBOT = Path(__file__).parents[2] / "examples" / "robot.py"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "report.json"
    subprocess.run(
        [sys.executable, "-m", "samovar", "view", "--output", str(path), str(ROBOT)], check=True, capture_output=True
    )
    return read_report(path)


@pytest.fixture
def opened(browser):  # noqa: F811
    servers, problems = [], []

    def open_report(report, scheme="light"):
        servers.append(serve(report))
        page = browser.new_page(viewport={"width": 1500, "height": 900}, color_scheme=scheme)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.goto(servers[-1].address)
        page.locator("nav button").first.wait_for()
        return page

    yield open_report
    for server in servers:
        server.close()
    assert problems == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_panel_shows_a_kernel_of_the_robot(opened, report, scheme):
    page = opened(report, scheme)
    page.locator(".column").nth(3).wait_for()
    assert page.locator(".column h2").all_text_contents() == ["Source", "Loops", "LLVM", "Assembly"]
    assert page.locator(".column").nth(0).locator("[data-hot]").count() > 0
    source = page.locator(".column").nth(0).locator("[data-line]").nth(3)
    source.click()
    line = source.get_attribute("data-line")
    for place in (1, 2, 3):
        assert page.locator(".column").nth(place).locator(f".linked[data-line='{line}']").count() > 0
    for tab, shows in (("Passes", "outline"), ("Facts", "self"), ("Graph", "task"), ("Cache", "robot_kernels.Robot")):
        page.get_by_role("tab", name=tab).click()
        assert shows in page.locator("#panel").text_content()
    page.get_by_role("tab", name="Passes").click()
    page.locator("details", has_text="outline").locator("summary").click()
    page.locator("details .plus").first.wait_for()
    page.get_by_role("tab", name="Timeline").click()
    page.locator("canvas").wait_for()
    assert "events on" in page.locator("#panel").text_content()
    page.locator("nav input").fill("sweep_dofs")
    page.locator("nav button").click()
    assert page.locator("nav button").count() == 1


@pytest.mark.timeout(120)
def test_200_kernels_are_listed(opened, report):
    many = {
        **report,
        "kernels": [{**each, "name": f"{each['name']} {copy}"} for copy in range(5) for each in report["kernels"]],
    }
    assert len(many["kernels"]) >= 200
    start = time.perf_counter()
    page = opened(many)
    page.locator(".column").nth(3).wait_for()
    print(f"{len(many['kernels'])} kernels in {time.perf_counter() - start:.2f} s")  # shown by pytest -s
    assert page.locator("nav button").count() == len(many["kernels"])


@pytest.mark.timeout(120)
def test_a_report_is_only_text(opened):
    evil = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    fact = {"path": evil, "question": evil, "answer": evil}
    stages = {"loops": evil, "llvm": 3, "asm": None, "graph": evil, "passes": [{"name": evil, "change": f"+{evil}"}, {}]}
    kernel = {
        "name": evil,
        "file": evil,
        "line": evil,
        "source": evil,
        "stages": stages,
        "facts": [fact, {}],
        "problem": evil,
    }
    wrong = {"name": {"a": 1}, "stages": "x", "facts": 7, "source": None}
    trace = {"traceEvents": [{"ph": "X", "ts": evil, "dur": "1", "tid": evil, "name": evil, "args": 1}, {"ph": "X"}, 3]}
    report = {"program": evil, "kernels": [kernel, wrong], "profile": {"kernels": [None, {"name": evil}]}, "trace": trace}
    report["cache"] = {"directory": evil, "entries": [{"name": evil, "key": 3, "reason": evil}]}
    page = opened(json.loads(json.dumps(report)))
    for number in range(2):
        page.locator("nav button").nth(number).click()
        for tab in ("Code", "Passes", "Facts", "Graph", "Timeline", "Cache"):
            page.get_by_role("tab", name=tab).click()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
