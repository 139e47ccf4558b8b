"""Windows in Chromium: frames arrive, widgets and the mouse change the simulation, closing the tab ends the loop.

`make test-pages` installs what these tests need. CHROMIUM names the browser, by default Debian's.
"""

import os
import shutil
import subprocess
import sys
import time

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="make test-pages has playwright")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("Chromium is not installed", allow_module_level=True)

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync"
).split()
#: Prints what the user does to it, and ends when the window is closed.
PROGRAM = """
import samovar as sv
window = sv.ui.Window("waves <b>", (512, 512), fps_limit=60)
image = sv.field(sv.math.vec3, (512, 512))

@sv.kernel
def paint(t: sv.f32, blue: sv.f32, x0: sv.f32, y0: sv.f32):
    for x, y in image:
        near = sv.sqrt((x / 512 - x0) ** 2 + (y / 512 - y0) ** 2) < 0.05
        image[x, y] = [1.0 if near else 0.5 + 0.5 * sv.sin(t + 0.05 * x), y / 512, blue]

blue, frame, on = 0.0, 0, False
while window.running:
    frame += 1
    with window.get_gui().sub_window("controls", 0, 0, 1, 1) as gui:
        blue = gui.slider_float("blue", blue, 0, 1)
        on = gui.checkbox("on", on)
        if gui.button("report"):
            print("blue", round(blue, 3), on, flush=True)
    paint(0.1 * frame, blue, *window.get_cursor_pos())
    window.get_canvas().set_image(image)
    window.show()
    for event in window.get_events():
        print(event.type, event.key, *(round(each, 2) for each in window.get_cursor_pos()), flush=True)
print("closed", flush=True)
"""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def program(tmp_path):
    (tmp_path / "waves.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "waves.py")]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env={**os.environ, "SAMOVAR_WINDOW": "page", "DISPLAY": ""}, **options) as running:
        running.address = running.stderr.readline().split()[-1]
        yield running
        running.kill()


def shown(page):
    return page.evaluate("frames_shown")


def wait(true):
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.timeout(180)
def test_a_window(browser, program):
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(program.address)
    wait(lambda: shown(page) > 30)
    assert page.title() == "waves <b>"
    start, before = time.monotonic(), shown(page)
    time.sleep(3)
    print(f"{(shown(page) - before) / (time.monotonic() - start):.1f} frames per second")  # shown by pytest -s

    page.locator("input[type=range]").fill("0.75")
    page.locator("input[type=checkbox]").click()
    wait(
        lambda: (
            page.evaluate("() => document.querySelector('canvas').getContext('2d').getImageData(9, 9, 1, 1).data[2]") == 191
        )
    )
    page.locator("button").click()
    assert program.stdout.readline() == "blue 0.75 True\n"
    assert page.locator("input[type=checkbox]").is_checked()

    box = page.locator("canvas").bounding_box()
    page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 0.25 * box["height"])
    assert program.stdout.readline().startswith("press LMB 0.25 0.75")
    assert program.stdout.readline().startswith("release LMB 0.25 0.75")
    pixel = "() => document.querySelector('canvas').getContext('2d').getImageData(128, 128, 1, 1).data[0]"
    wait(lambda: page.evaluate(pixel) == 255)
    page.keyboard.press("ArrowLeft")
    assert program.stdout.readline().startswith("press Left")

    page.reload()
    wait(lambda: shown(page) > 5)
    assert page.locator("input[type=range]").input_value() == "0.75"
    page.close()
    assert program.stdout.read().endswith("closed\n")
    assert program.wait(20) == 0
    assert problems == []
