"""`sv.ui.Window`: drawing in two and three dimensions, with widgets and input, in a page of a browser or off-screen."""

from __future__ import annotations

import contextlib

import numpy as np

from samovar import tools
from samovar.ui.picture import Picture, as_array, as_colors
from samovar.ui.placement import open_screen
from samovar.ui.scenes import Scene, indices_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from samovar.ui.frames import Screen

_GRAY = (0.5, 0.5, 0.5)
PRESS, RELEASE = "press", "release"


class Canvas:
    """The drawing area of a window, `window.get_canvas()`. Positions are from 0 to 1, from the bottom left.

    >>> import samovar as sv
    >>> canvas = sv.ui.Window("circles", (64, 64), show_window=False).get_canvas()
    >>> canvas.set_background_color((1, 1, 1))
    >>> canvas.circles(sv.ndarray(sv.math.vec2, 10), radius=0.01, color=(1, 0, 0))
    """

    __module__ = "samovar.ui"

    def __init__(self, picture: Picture) -> None:
        self._picture = picture

    def set_background_color(self, color: Any) -> None:
        """Set the background color."""
        self._picture.background = color

    def set_image(self, img: Any) -> None:
        """Draw an image over everything."""
        self._picture.image(img)

    def contour(self, scalar_field: Any, cmap_name: str = "plasma", normalize: bool = False) -> None:
        """Draw numbers as shades."""
        values = as_array(scalar_field)
        self._picture.image((values - values.min()) / max(float(np.ptp(values)), 1e-30) if normalize else values)

    def circles(
        self, centers: Any, radius: float, color: Any = _GRAY, per_vertex_color: Any = None, per_vertex_radius: Any = None
    ) -> None:
        """Draw filled circles; the radius is relative to the height."""
        radii = as_array(radius if per_vertex_radius is None else per_vertex_radius) * self._picture.height
        self._picture.discs(centers, radii, color if per_vertex_color is None else per_vertex_color)

    def lines(
        self, vertices: Any, width: float, indices: Any = None, color: Any = _GRAY, per_vertex_color: Any = None
    ) -> None:
        """Draw lines between pairs of points."""
        places = as_array(vertices, 2)
        ends = places[(indices_of(indices) if indices is not None else np.arange(len(places))).reshape(-1, 2)]
        self._picture.lines(ends[:, 0], ends[:, 1], max(width * self._picture.height / 2, 0.5), color)

    def triangles(self, vertices: Any, color: Any = _GRAY, indices: Any = None, per_vertex_color: Any = None) -> None:
        """Draw filled triangles."""
        places = as_array(vertices, 2)
        which = (indices_of(indices) if indices is not None else np.arange(len(places))).reshape(-1, 3)
        corners = places[which]
        if per_vertex_color is not None:
            color = as_colors(per_vertex_color, len(places))[which].mean(axis=1)
        self._picture.triangles(corners[:, 0], corners[:, 1], corners[:, 2], color)

    def vector_field(self, vector_field: Any, *rest: Any, **options: Any) -> None:
        """Draw the lengths of vectors as shades."""
        self._picture.image(np.linalg.norm(as_array(vector_field), axis=-1))

    def scene(self, scene: Scene) -> None:
        """Draw a scene."""
        scene.paint(self._picture)


class Gui:
    """The widgets of a window, `window.get_gui()`: each call shows one in this frame, and returns its value.

    Without a user, a widget returns the value that it is given.

    >>> import samovar as sv
    >>> gui = sv.ui.Window("widgets", (64, 64), show_window=False).get_gui()
    >>> gui.slider_float("speed", 0.5, 0, 1), gui.button("reset")
    (0.5, False)
    """

    __module__ = "samovar.ui"

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._group = ""
        self._lines = 0

    @contextlib.contextmanager
    def sub_window(self, name: str, x: float = 0, y: float = 0, width: float = 0, height: float = 0) -> Iterator[Gui]:
        """A group of widgets, with a title. Groups appear next to the picture; their position is ignored."""
        self.begin(name, x, y, width, height)
        try:
            yield self
        finally:
            self.end()

    def begin(self, name: str, x: float = 0, y: float = 0, width: float = 0, height: float = 0) -> None:
        """Begin a group."""
        self._group, self._lines = name, 0

    def end(self) -> None:
        """End a group."""
        self._group = ""

    def text(self, text: str, color: Any = None) -> None:
        """Show a line of text."""
        self._lines += 1
        self._widget("text", str(text), None, key=f"{self._group}/text {self._lines}")

    def checkbox(self, text: str, old_value: bool) -> bool:
        """Show a checkbox."""
        return bool(self._widget("checkbox", text, bool(old_value)))

    def slider_int(self, text: str, old_value: int, minimum: int, maximum: int) -> int:
        """Show a slider for an integer."""
        value = self._widget("slider", text, int(old_value), minimum=int(minimum), maximum=int(maximum), step=1)
        return min(max(round(value), minimum), maximum) if value != old_value else old_value

    def slider_float(self, text: str, old_value: float, minimum: float, maximum: float) -> float:
        """Show a slider for a number."""
        step = (maximum - minimum) / 1000
        value = self._widget("slider", text, float(old_value), minimum=float(minimum), maximum=float(maximum), step=step)
        return float(min(max(value, minimum), maximum)) if value != old_value else old_value

    def color_edit_3(self, text: str, old_value: Any) -> Any:
        """Show a color."""
        given = tuple(float(part) for part in old_value)
        value = self._widget("color", text, given)
        return old_value if tuple(value) == given else value

    def button(self, text: str) -> bool:
        """Show a button. Whether it was pressed since the last frame."""
        return bool(self._widget("button", text, False))

    def _widget(self, kind: str, text: str, value: Any, key: str = "", **options: Any) -> Any:
        key = key or f"{self._group}/{text}"
        return self._screen.widget(kind, key, text, value, group=self._group, **options)


class _Event:
    def __init__(self, kind: str = PRESS, key: str = "") -> None:
        self.type = kind
        self.key = key


class Window:
    """A window for drawing, `window.get_canvas()`, with widgets, `window.get_gui()`, and input.

    It is a page in a browser tab, or a cell of a notebook. Without a display, it is drawn in memory only and closes itself
    after some frames; `SAMOVAR_WINDOW=page` prints the address of a page there, too. See
    [windows](pictures.md#windows).

    >>> import samovar as sv
    >>> window = sv.ui.Window("gradient", (64, 48), show_window=False)
    >>> image = sv.field(sv.f32, (64, 48))
    >>> while window.running:
    ...     image.fill(0.5)
    ...     window.get_canvas().set_image(image)
    ...     window.show()
    """

    __module__ = "samovar.ui"

    def __init__(
        self, name: str, res: Any, vsync: bool = False, show_window: bool = True, fps_limit: int = 1000,
        pos: tuple[int, int] = (100, 100),
    ) -> None:  # fmt: skip
        self.name = name
        width, height = map(int, res)
        self.res = width, height
        self.event = _Event()
        self.fps_limit = 60 if vsync else fps_limit
        self._screen = open_screen(name, self.res, show_window)
        self._events: list[_Event] = []
        self._picture = Picture(width, height)
        self._canvas, self._scene, self._gui = Canvas(self._picture), Scene(), Gui(self._screen)

    @property
    def running(self) -> bool:
        """Whether the window is open."""
        return self._screen.is_open

    @running.setter
    def running(self, value: bool) -> None:
        self._screen.is_open = value

    @property
    def address(self) -> str | None:
        """The address of its page; None if it is drawn in memory only."""
        return getattr(self._screen, "address", None)

    @property
    def GUI(self) -> Gui:
        """The widgets."""
        return self._gui

    def get_gui(self) -> Gui:
        """Return the widgets."""
        return self._gui

    def get_canvas(self) -> Canvas:
        """Return the drawing area."""
        return self._canvas

    def get_scene(self) -> Scene:
        """Return the 3-D scene."""
        return self._scene

    def show(self) -> None:
        """Finish the frame, show it, and begin the next one."""
        self._screen.next(self._picture, False, self.fps_limit)
        self._picture.clear()

    def save_image(self, filename: str) -> None:
        """Write the frame to a file."""
        tools.imwrite(self._picture.painted(), filename, xy=True)

    def get_image_buffer_as_numpy(self) -> Any:
        """Return the frame as RGBA, indexed by x and y from the bottom left."""
        return np.concatenate([self._picture.painted(), np.ones((*self.res, 1), np.float32)], axis=2)

    def get_window_shape(self) -> tuple[int, ...]:
        """Return its size in pixels."""
        return self.res

    def get_event(self, tag: Any = None) -> bool:
        """Whether a key or mouse button was pressed or released since the last call; `window.event` is which. `tag`
        limits it to `"press"` or `"release"`."""
        self._take()
        for at, event in enumerate(self._events):
            if tag is None or event.type == tag:
                self.event = self._events.pop(at)
                return True
        return False

    def get_events(self, tag: Any = None) -> list[Any]:
        """Return all such events since the last call."""
        self._take()
        found = [event for event in self._events if tag is None or event.type == tag]
        self._events = [event for event in self._events if event not in found]
        return found

    def _take(self) -> None:
        taken = self._screen.take_events()
        self._events += [_Event(each["kind"], each["key"]) for each in taken if each["kind"] in (PRESS, RELEASE)]

    def is_pressed(self, *keys: Any) -> bool:
        """Whether one of the keys is down: `"a"`, `" "`, `"Left"`, `"Escape"`, `"Shift"`, or the mouse buttons `"LMB"`,
        `"MMB"` and `"RMB"`."""
        return self._screen.is_pressed(*keys)

    def get_cursor_pos(self) -> tuple[float, float]:
        """Return the position of the mouse, from 0 to 1, from the bottom left; the center if there is none."""
        return self._screen.cursor

    def destroy(self) -> None:
        """Close the window."""
        self._screen.close()
