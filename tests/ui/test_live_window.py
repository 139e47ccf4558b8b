"""A window that is a page: frames go to it, and input and widgets come back."""

import contextlib
import time

import pytest

import samovar as sv
from ui.browserless import PageClient, answer


@pytest.fixture(autouse=True)
def in_a_page(monkeypatch):
    monkeypatch.setenv("SAMOVAR_WINDOW", "page")
    monkeypatch.delenv("DISPLAY", raising=False)


@pytest.fixture
def window():
    made = sv.ui.Window("</script> & more", (3, 2))
    yield made
    made.destroy()


@pytest.fixture
def client(window):
    made = PageClient(window.address)
    yield made
    made.close()


def until(true):
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_frames_arrive(window, client):
    image = sv.field(sv.math.vec3, (3, 2))
    image[2, 1] = [1, 0.5, 0]  # the top right
    window.get_canvas().set_image(image)
    window.show()
    about, pixels = client.frame()
    assert about["texts"] == []
    assert len(pixels) == 3 * 2 * 4
    assert list(pixels[8:12]) == [255, 128, 0, 255]
    assert list(pixels[:4]) == [0, 0, 0, 255]


def test_the_page_says_what_the_window_is(window):
    status, _, text = answer(window.address)
    assert status == 200
    assert '{"title": "\\u003c/script> & more", "width": 3, "height": 2}' in text


def test_input_arrives(window, client):
    client.say(kind="press", key="a", at=[0.25, 0.75])
    client.say(kind="press", key="LMB", at=[0.25, 2])
    until(lambda: window.is_pressed("LMB"))
    assert window.is_pressed("b", "a")
    assert window.get_cursor_pos() == (0.25, 1.0)
    client.say(kind="release", key="a", at=[0.5, 0.5])
    until(lambda: not window.is_pressed("a"))
    assert window.get_event("release")
    assert (window.event.key, window.event.type) == ("a", "release")
    assert [(each.key, each.type) for each in window.get_events()] == [("a", "press"), ("LMB", "press")]
    assert not window.get_event()
    client.say(kind="blur")
    until(lambda: not window.is_pressed("LMB"))


def widgets(gui, values):
    with gui.sub_window("box", 0, 0, 1, 1):
        gui.text("hello")
        values["on"] = gui.checkbox("on", values["on"])
        values["n"] = gui.slider_int("n", values["n"], 0, 10)
        values["x"] = gui.slider_float("x", values["x"], -1, 1)
        values["color"] = gui.color_edit_3("color", values["color"])
        values["pressed"] += gui.button("go")


def test_widgets_are_shown_and_changed(window, client):
    values = {"on": False, "n": 3, "x": 0.5, "color": (0.0, 0.0, 1.0), "pressed": 0}
    widgets(window.get_gui(), values)
    window.show()
    shown = client.frame()[0]["widgets"]
    assert [(each["kind"], each["group"]) for each in shown if each["kind"] != "button"] == [
        (kind, "box") for kind in ("text", "checkbox", "slider", "slider", "color")
    ]
    for name, value in (("on", True), ("n", 7), ("x", 5), ("color", [1, 0, 0]), ("go", 1)):
        client.say(kind="value", key=f"box/{name}", value=value)
    client.say(kind="press", key="end", at=[0, 0])
    until(lambda: window.is_pressed("end"))
    for _ in range(2):
        widgets(window.get_gui(), values)
        window.show()
    assert values == {"on": True, "n": 7, "x": 1.0, "color": (1.0, 0.0, 0.0), "pressed": 1}
    about, _ = client.frame()
    assert [each.get("value") for each in about["widgets"]][1:4] == [True, 7, 5]


def test_closing_the_page_ends_the_loop(window, client, monkeypatch):
    monkeypatch.setattr("samovar.ui.live_page._GRACE", 0.05)
    window.show()
    assert window.running
    client.close()
    until(lambda: window.show() or not window.running)


def test_a_page_that_is_loaded_again_goes_on(window, client):
    window.show()
    client.frame()
    client.close()
    with contextlib.closing(PageClient(window.address)) as again:
        again.say(kind="press", key="here", at=[0, 0])
        until(lambda: window.is_pressed("here"))
        window.show()
        assert again.frame()[1]
        assert window.running


def test_a_page_that_is_slow_gets_the_latest_frames_only(window, client):
    for shade in range(20):
        image = sv.field(sv.f32, (3, 2))
        image.fill(shade / 19)
        window.get_canvas().set_image(image)
        window.show()
        time.sleep(0.01)
    client.socket.settimeout(0.3)
    heard = []
    with pytest.raises(TimeoutError):
        heard += iter(client.hear, None)
    assert len([each for each in heard if isinstance(each, bytes)]) <= 3


@pytest.mark.parametrize(
    "message", ["[]", "{}", '{"kind": "press", "at": "x"}', '{"kind": "move", "at": [1]}', "x", "[" * 5000]
)
def test_what_no_page_of_ours_says_ends_the_connection(window, client, message):
    content, mask = message.encode(), b"\0\0\0\0"
    length = bytes([0x80 | len(content)]) if len(content) < 126 else b"\xfe" + len(content).to_bytes(2, "big")
    client.socket.sendall(b"\x81" + length + mask + content)
    assert client.hear() is None
    assert window.running


def test_numbers_that_are_none_are_ignored(window, client):
    client.say(kind="value", key="/x", value=float("nan"))
    client.say(kind="value", key="/x", value="text")
    client.say(kind="press", key="end", at=[0, 0])
    until(lambda: window.is_pressed("end"))
    assert window.get_gui().slider_float("x", 0.5, 0, 1) == 0.5


def test_a_gui_of_taichi_in_a_page():
    import samovar.compat.taichi as ti

    gui = ti.GUI("gui", res=(4, 4))
    client = PageClient(gui._screen.address)
    slider, label, name = gui.slider("speed", 1, 5, step=1), gui.label("energy"), gui.button("reset")
    label.value = 2.5
    gui.text("hello", (0, 1), font_size=12, color=0xFF0000)
    gui.circle((0.5, 0.5), color=0x00FF00, radius=8)
    gui.show()
    about, pixels = client.frame()
    assert about["texts"] == [{"text": "hello", "at": [0.0, 1.0], "size": 12, "color": 0xFF0000}]
    assert [each["kind"] for each in about["widgets"]] == ["slider", "label", "button"]
    assert set(pixels[1::4]) == {255}
    client.say(kind="value", key="speed", value=4)
    client.say(kind="value", key="reset", value=1)
    client.say(kind="wheel", key="Wheel", at=[0.5, 0.5], delta=[0, 3])
    client.say(kind="press", key=ti.GUI.ESCAPE, at=[0.5, 0.5], modifiers=["Shift"])
    until(lambda: gui.is_pressed(ti.GUI.ESCAPE))
    assert gui.key_pressed == {"Escape"}
    gui.show()
    assert slider.value == 4
    assert gui.get_event((ti.GUI.PRESS, ti.GUI.ESCAPE))
    assert gui.event.modifier == ("Shift",)
    assert gui.get_event(name) is False, "an event that was not asked for is gone"
    client.say(kind="value", key="reset", value=1)
    client.say(kind="release", key=ti.GUI.ESCAPE, at=[0.5, 0.5])
    until(lambda: not gui.is_pressed(ti.GUI.ESCAPE))
    gui.show()
    assert gui.get_event(name)
    gui.close()
    client.close()
    assert not gui.running


def test_a_camera_follows_keys_and_mouse(window, client):
    camera = sv.ui.Camera()
    camera.position(0, 0, 0)
    camera.lookat(0, 0, -1)
    camera.track_user_inputs(window)
    client.say(kind="press", key="w", at=[0.5, 0.5])
    until(lambda: window.is_pressed("w"))
    until(lambda: camera.track_user_inputs(window, movement_speed=100) or camera.curr_position[2] < -1)
    assert camera.curr_lookat[2] == pytest.approx(camera.curr_position[2] - 1)
    client.say(kind="press", key="LMB", at=[0.5, 0.5])
    until(lambda: window.is_pressed("LMB"))
    camera.track_user_inputs(window)
    client.say(kind="move", at=[0.6, 0.5])
    until(lambda: window.get_cursor_pos()[0] > 0.55)
    camera.track_user_inputs(window)
    assert camera.curr_lookat[0] > camera.curr_position[0], "to the right"


def test_a_window_that_says_headless_is(monkeypatch):
    assert sv.ui.Window("a", (2, 2), show_window=False).address is None
    monkeypatch.setenv("SAMOVAR_WINDOW", "headless")
    assert sv.ui.Window("a", (2, 2)).address is None
    monkeypatch.setenv("SAMOVAR_WINDOW", "pgae")
    with pytest.raises(sv.SamovarError, match=r"SAMOVAR_WINDOW.*'page'"):
        sv.ui.Window("a", (2, 2))
    monkeypatch.delenv("SAMOVAR_WINDOW")
    assert sv.ui.Window("a", (2, 2)).address is None, "no display"
