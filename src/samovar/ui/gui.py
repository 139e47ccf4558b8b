"""`ti.GUI`: shapes and images are drawn in memory, and shown in a page or written by `show(file)`."""

from __future__ import annotations

from collections import deque

import numpy as np

from samovar import tools
from samovar.ui.key_names import KEYS, EType
from samovar.ui.picture import Picture, as_array
from samovar.ui.placement import open_screen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WHITE = 0xFFFFFF


class _WidgetValue:
    """The value of a slider or a label."""

    def __init__(self, value: Any = 0) -> None:
        self.value = value


class _Event:
    """A key, a mouse button, a movement of the mouse, or a button of the window."""

    def __init__(
        self, kind: EType = EType.Move, key: str = "", pos: Any = (0.5, 0.5), delta: Any = (0, 0), modifier: Any = ()
    ) -> None:
        self.type = kind
        self.key = key
        self.pos = pos
        self.delta = delta
        self.modifier = modifier


#: The types of events of a page.
_TYPES = {"press": EType.Press, "release": EType.Release, "move": EType.Move, "wheel": EType.Move}


class GUI:
    """A window for drawing in two dimensions, as in Taichi: `gui.circles(…)`, `gui.set_image(…)`, then `gui.show()`.

    It is shown as `sv.ui.Window` is: in a browser or a notebook, or off-screen.

    >>> import samovar as sv
    >>> gui = sv.ui.GUI("circle", res=(64, 64), show_gui=False)
    >>> gui.circle((0.5, 0.5), color=0xFF0000, radius=10)
    >>> gui.get_image()[32, 32].tolist()
    [1.0, 0.0, 0.0, 1.0]
    """

    __module__ = "samovar.ui"

    Event = _Event
    WidgetValue = _WidgetValue
    EXIT, MOVE, WHEEL = "WMClose", "Motion", "Wheel"
    MOTION, PRESS, RELEASE = EType.Move, EType.Press, EType.Release
    locals().update(KEYS)

    def __init__(
        self, name: str = "Taichi", res: Any = 512, background_color: int = 0, show_gui: bool = True,
        fullscreen: bool = False, fast_gui: bool = False,
    ) -> None:  # fmt: skip
        self.name = name
        width, height = (res, res) if isinstance(res, int) else map(int, res)
        self.res = width, height
        self.background_color = background_color
        self.fast_gui = fast_gui
        self.fps_limit: float | None = 60
        self.frame = 0
        self.event: Any = None
        self._screen = open_screen(name, self.res, show_gui)
        self._events: deque[_Event] = deque()
        #: Widgets in order: kind, name, text, value and range; the name of the event of a button.
        self._widgets: list[tuple[str, str, _WidgetValue, dict[str, Any]]] = []
        self._picture = Picture(width, height, background_color)

    def __enter__(self) -> GUI:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the window."""
        self._screen.close()

    @property
    def running(self) -> bool:
        """Whether the window is open."""
        return self._screen.is_open

    @running.setter
    def running(self, value: bool) -> None:
        self._screen.is_open = value

    @property
    def key_pressed(self) -> set[str]:
        """The keys and mouse buttons that are down."""
        return self._screen.pressed

    def show(self, file: str | None = None) -> None:
        """Finish the frame: show it, write it if a file is given, and begin the next one."""
        if file is not None:
            tools.imwrite(self._picture.painted(), file, xy=True)
        for kind, text, value, options in self._widgets:
            found = self._screen.widget(kind, text, text, value.value, **options)
            if kind == "slider":
                value.value = found
            elif kind == "button" and found:
                self._events.append(_Event(EType.Press, str(value.value), self._screen.cursor))
        self._screen.next(self._picture, file is not None, self.fps_limit)
        self.frame += 1
        self._picture.clear()

    def get_image(self) -> Any:
        """Return what was drawn in this frame."""
        return np.concatenate([self._picture.painted(), np.ones((*self.res, 1), np.float32)], axis=2)

    def clear(self, color: int | None = None) -> None:
        """Clear the frame."""
        self._picture.clear(self.background_color if color is None else color)

    def set_image(self, img: Any) -> None:
        """Draw an image over everything."""
        self._picture.image(img)

    def contour(self, scalar_field: Any, normalize: bool = False) -> None:
        """Draw numbers as shades."""
        values = as_array(scalar_field)
        if normalize:
            values = (values - values.min()) / max(float(np.ptp(values)), 1e-30)
        self._picture.image(values)

    def circles(
        self, pos: Any, radius: Any = 1, color: Any = _WHITE, palette: Any = None, palette_indices: Any = None
    ) -> None:
        """Draw filled circles, with one color, one per circle, or a palette."""
        if palette is not None:
            which = np.asarray(palette_indices.to_numpy() if hasattr(palette_indices, "to_numpy") else palette_indices)
            color = np.asarray(palette, np.int64)[which.astype(np.int64).reshape(-1)]
        self._picture.discs(pos, radius, color)

    def circle(self, pos: Any, color: int = _WHITE, radius: float = 1) -> None:
        """Draw a filled circle."""
        self._picture.discs([list(pos)], radius, color)

    def triangles(self, a: Any, b: Any, c: Any, color: Any = _WHITE) -> None:
        """Draw filled triangles, given three arrays of corners."""
        self._picture.triangles(a, b, c, color)

    def triangle(self, a: Any, b: Any, c: Any, color: int = _WHITE) -> None:
        """Draw a filled triangle."""
        self._picture.triangles([list(a)], [list(b)], [list(c)], color)

    def lines(self, begin: Any, end: Any, radius: float = 1, color: Any = _WHITE) -> None:
        """Draw lines, given two arrays of endpoints."""
        self._picture.lines(begin, end, radius, color)

    def line(self, begin: Any, end: Any, radius: float = 1, color: int = _WHITE) -> None:
        """Draw a line."""
        self._picture.lines([list(begin)], [list(end)], radius, color)

    def rect(self, topleft: Any, bottomright: Any, radius: float = 1, color: int = _WHITE) -> None:
        """Draw the edges of a rectangle."""
        (left, top), (right, bottom) = topleft, bottomright
        corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
        self._picture.lines(corners, corners[1:] + corners[:1], radius, color)

    def arrows(self, orig: Any, direction: Any, radius: float = 1, color: Any = _WHITE, **options: Any) -> None:
        """Draw arrows, given their origins and directions."""
        begin, along = as_array(orig, 2), as_array(direction, 2)
        end = begin + along
        self._picture.lines(begin, end, radius, color)
        across = np.stack([-along[:, 1], along[:, 0]], 1)
        for side in (-1, 1):
            self._picture.lines(end, end - 0.2 * along + side * 0.2 * across, radius, color)

    def arrow(self, orig: Any, direction: Any, radius: float = 1, color: int = _WHITE, **options: Any) -> None:
        """Draw an arrow."""
        self.arrows([list(orig)], [list(direction)], radius, color)

    def vector_field(self, vector_field: Any, arrow_spacing: int = 5, color: Any = _WHITE) -> None:
        """Draw arrows at regularly spaced elements of a vector field."""
        values = as_array(vector_field)
        places = np.stack(np.meshgrid(*(np.arange(0, n, arrow_spacing) for n in values.shape[:2]), indexing="ij"), -1)
        chosen = values[::arrow_spacing, ::arrow_spacing, :2].reshape(-1, 2)
        longest = max(float(np.abs(chosen).max(initial=0)), 1e-30)
        self.arrows(places.reshape(-1, 2) / values.shape[:2], chosen / longest * arrow_spacing / values.shape[:2], 1, color)

    def arrow_field(
        self, direction: Any, radius: float = 1, color: Any = _WHITE, bound: float = 0.5, **options: Any
    ) -> None:
        """Draw an arrow for each element of a vector field."""
        values = as_array(direction)
        self.arrows(_grid(values.shape[:2], bound), values.reshape(-1, values.shape[-1]), radius, color)

    def point_field(self, radius: Any, color: Any = _WHITE, bound: float = 0.5) -> None:
        """Draw a circle for each element of a field of radii."""
        values = as_array(radius)
        self._picture.discs(_grid(values.shape[:2], bound), values.reshape(-1), color)

    def text(self, content: str, pos: Any, font_size: float = 15, color: int = _WHITE) -> None:
        """Draw text, whose top left corner is at a position. It is shown in pages, and is not in images."""
        self._screen.text(content, pos, font_size, color)

    def slider(self, text: str, minimum: float, maximum: float, step: float = 1) -> _WidgetValue:
        """Create a slider, whose `value` is what the user has chosen."""
        made = _WidgetValue(minimum)
        self._widgets.append(("slider", text, made, {"minimum": minimum, "maximum": maximum, "step": step}))
        return made

    def label(self, text: str) -> _WidgetValue:
        """Create a label that shows a number, its `value`."""
        made = _WidgetValue()
        self._widgets.append(("label", text, made, {}))
        return made

    def button(self, text: str, event_name: str | None = None) -> str:
        """Create a button. Returns the key of the event that it causes."""
        name = event_name or f"WidgetButton_{text}"
        self._widgets.append(("button", text, _WidgetValue(name), {}))
        return name

    def get_event(self, *filters: Any) -> bool:
        """Whether there is an event that one of the filters names; `gui.event` is the first one. A filter is a type, a key,
        or both as a tuple."""
        while self.has_key_event():
            event = self._events.popleft()
            if not filters or any(_fits(event, each) for each in filters):
                self.event = event
                return True
        return False

    def get_events(self, *filters: Any) -> list[Any]:
        """Return the events that one of the filters names. `gui.event` is the last one."""
        found = []
        while self.get_event(*filters):
            found.append(self.event)
        return found

    def has_key_event(self) -> bool:
        """Whether there is an event."""
        for each in self._screen.take_events():
            event = _Event(_TYPES[each["kind"]], each["key"], each["at"], each["delta"], each["modifiers"])
            self._events.append(event)
        return bool(self._events)

    def get_key_event(self) -> Any:
        """Return the next event, or None."""
        return self._events.popleft() if self.has_key_event() else None

    def is_pressed(self, *keys: Any) -> bool:
        """Whether one of the keys or mouse buttons is down."""
        return self._screen.is_pressed(*keys)

    def get_cursor_pos(self) -> tuple[float, float]:
        """Return the position of the mouse, from 0 to 1, from the bottom left; the center if there is none."""
        return self._screen.cursor


def _fits(event: _Event, wanted: Any) -> bool:
    if isinstance(wanted, (tuple, list)):
        return bool(event.type == wanted[0] and event.key == wanted[1])
    return bool(wanted in (event.type, event.key))


def _grid(shape: tuple[int, ...], bound: float) -> Any:
    axes = (np.linspace(bound / n, 1 - bound / n, n) for n in shape)
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 2)
