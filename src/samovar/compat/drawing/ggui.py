"""`ti.ui` without a window: canvases and scenes are drawn in memory, and there is no input.

Scenes are painted from back to front (painter's algorithm): particles as discs, meshes as triangles that are brighter where
they face the camera. Lights have no effect.
"""

from __future__ import annotations

import contextlib
import enum

import numpy as np

from samovar.compat.drawing.frames import Frames
from samovar.compat.drawing.image_files import imwrite
from samovar.compat.drawing.keys import KEYS
from samovar.compat.drawing.picture import Picture, as_array, as_colors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_GRAY = (0.5, 0.5, 0.5)
PRESS, RELEASE = "press", "release"


class ProjectionMode(enum.IntEnum):
    """The projection of a camera."""

    Perspective = 0
    Orthogonal = 1


class Camera:
    """The viewpoint of a scene."""

    def __init__(self) -> None:
        self.curr_position = np.array([0.0, 0.0, 0.0])
        self.curr_lookat = np.array([0.0, 0.0, 1.0])
        self.curr_up = np.array([0.0, 1.0, 0.0])
        self._set: dict[str, Any] = {"fov": 45.0, "z_near": 0.1, "z_far": 1000.0}

    def position(self, x: float, y: float, z: float) -> None:
        """Set the position."""
        self.curr_position = np.array([x, y, z], float)

    def lookat(self, x: float, y: float, z: float) -> None:
        """Set the point to look at."""
        self.curr_lookat = np.array([x, y, z], float)

    def up(self, x: float, y: float, z: float) -> None:
        """Set the up direction."""
        self.curr_up = np.array([x, y, z], float)

    def projection_mode(self, mode: ProjectionMode) -> None:
        """Set the projection: perspective or orthogonal."""
        self._set["mode"] = mode

    def fov(self, fov: float) -> None:
        """Set the field of view in degrees."""
        self._set["fov"] = fov

    def left(self, left: float) -> None:
        """Set an edge of an orthogonal view."""
        self._set["left"] = left

    def right(self, right: float) -> None:
        """Set an edge of an orthogonal view."""
        self._set["right"] = right

    def top(self, top: float) -> None:
        """Set an edge of an orthogonal view."""
        self._set["top"] = top

    def bottom(self, bottom: float) -> None:
        """Set an edge of an orthogonal view."""
        self._set["bottom"] = bottom

    def z_near(self, z_near: float) -> None:
        """Set the near clipping distance."""
        self._set["z_near"] = z_near

    def z_far(self, z_far: float) -> None:
        """Set the far clipping distance."""
        self._set["z_far"] = z_far

    def track_user_inputs(self, window: Any, *speeds: Any, **options: Any) -> None:
        """Do nothing: there is no input."""

    def get_view_matrix(self) -> Any:
        """Return the matrix from scene to camera coordinates, for row vectors."""
        forward = self.curr_lookat - self.curr_position
        forward = forward / max(float(np.linalg.norm(forward)), 1e-30)
        side = np.cross(forward, self.curr_up)
        side = side / max(float(np.linalg.norm(side)), 1e-30)
        found = np.eye(4)
        found[:3, 0], found[:3, 1], found[:3, 2] = side, np.cross(side, forward), -forward
        found[3, :3] = -self.curr_position @ found[:3, :3]
        return found

    def get_projection_matrix(self, aspect: float) -> Any:
        """Return the matrix from camera to image coordinates, for row vectors."""
        near, far = self._set["z_near"], self._set["z_far"]
        scale = 1 / np.tan(np.radians(self._set["fov"]) / 2)
        found = np.zeros((4, 4))
        found[0, 0], found[1, 1] = scale / aspect, scale
        found[2, 2], found[2, 3], found[3, 2] = far / (near - far), -1, near * far / (near - far)
        return found

    def seen(self, places: Any, aspect: float) -> tuple[Any, Any, Any]:
        """Return positions in the image, their depths, and the size of one unit there."""
        before = np.c_[places, np.ones(len(places))] @ self.get_view_matrix()
        depth = -before[:, 2]
        scale = 0.5 / np.tan(np.radians(self._set["fov"]) / 2) / np.maximum(depth, 1e-6)
        flat = 0.5 + np.stack([before[:, 0] * scale / aspect, before[:, 1] * scale], 1)
        flat[depth < self._set["z_near"]] = np.nan
        return flat, depth, scale


def make_camera() -> Camera:
    """Create a camera."""
    return Camera()


class Scene:
    """A 3-D scene."""

    def __init__(self) -> None:
        self._camera = Camera()
        self._things: list[tuple[str, tuple[Any, ...]]] = []

    def set_camera(self, camera: Camera) -> None:
        """Set the camera."""
        self._camera = camera

    def ambient_light(self, color: Any) -> None:
        """Add ambient light, which has no effect."""

    def point_light(self, pos: Any, color: Any) -> None:
        """Add a point light, which has no effect."""

    def particles(
        self, centers: Any, radius: float, color: Any = _GRAY, per_vertex_color: Any = None, per_vertex_radius: Any = None,
        index_offset: int = 0, index_count: int | None = None,
    ) -> None:  # fmt: skip
        """Draw spheres."""
        places = as_array(centers, 3)
        chosen = slice(index_offset, None if index_count is None else index_offset + index_count)
        colors = as_colors(color if per_vertex_color is None else per_vertex_color, len(places))
        radii = np.broadcast_to(as_array(radius if per_vertex_radius is None else per_vertex_radius).ravel(), len(places))
        self._things.append(("particles", (places[chosen], radii[chosen].copy(), colors[chosen].copy())))

    def lines(
        self, vertices: Any, width: float, indices: Any = None, color: Any = _GRAY, *rest: Any, **options: Any
    ) -> None:
        """Draw lines between pairs of points."""
        places = as_array(vertices, 3)
        ends = (_indices(indices) if indices is not None else np.arange(len(places))).reshape(-1, 2)
        self._things.append(("lines", (places[ends], width, color)))

    def mesh(
        self, vertices: Any, indices: Any = None, normals: Any = None, color: Any = _GRAY, per_vertex_color: Any = None,
        *rest: Any, **options: Any,
    ) -> None:  # fmt: skip
        """Draw triangles."""
        places = as_array(vertices, 3)
        corners = (_indices(indices) if indices is not None else np.arange(len(places))).reshape(-1, 3)
        colors = as_colors(color if per_vertex_color is None else per_vertex_color, len(places))
        self._things.append(("mesh", (places[corners], colors[corners].mean(axis=1))))

    def mesh_instance(self, vertices: Any, indices: Any = None, *rest: Any, transforms: Any = None, **options: Any) -> None:
        """Draw the same triangles at several positions."""
        corners, colors = Scene.mesh_of(vertices, indices, *rest, **options)
        for matrix in [np.eye(4)] if transforms is None else as_array(transforms).reshape(-1, 4, 4):
            moved = np.concatenate([corners, np.ones((*corners.shape[:2], 1))], axis=2) @ np.asarray(matrix).T
            self._things.append(("mesh", (moved[:, :, :3], colors)))

    @staticmethod
    def mesh_of(*arguments: Any, **options: Any) -> tuple[Any, Any]:
        """Return the corners and colors of a mesh."""
        alone = Scene()
        alone.mesh(*arguments, **options)
        corners, colors = alone._things[0][1]
        return corners, colors

    def paint(self, picture: Picture) -> None:
        """Paint the scene into a picture, and clear it."""
        aspect = picture.width / picture.height
        ways: dict[str, Any] = {"particles": self._paint_particles, "lines": self._paint_lines, "mesh": self._paint_mesh}
        for kind, thing in self._things:
            ways[kind](picture, aspect, *thing)
        self._things = []

    def _paint_particles(self, picture: Picture, aspect: float, places: Any, radii: Any, colors: Any) -> None:
        flat, depth, scale = self._camera.seen(places, aspect)
        order = np.argsort(-depth)
        picture.discs(flat[order], (radii * scale * picture.height)[order], colors[order])

    def _paint_lines(self, picture: Picture, aspect: float, ends: Any, width: float, color: Any) -> None:
        first, _, _ = self._camera.seen(ends[:, 0], aspect)
        last, _, _ = self._camera.seen(ends[:, 1], aspect)
        shown = np.isfinite(first).all(axis=1) & np.isfinite(last).all(axis=1)
        picture.lines(first[shown], last[shown], max(width / 2, 0.5), color)

    def _paint_mesh(self, picture: Picture, aspect: float, corners: Any, colors: Any) -> None:
        flat, depth, _ = self._camera.seen(corners.reshape(-1, 3), aspect)
        flat, depth = flat.reshape(-1, 3, 2), depth.reshape(-1, 3).mean(axis=1)
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        view = corners.mean(axis=1) - self._camera.curr_position
        size = np.linalg.norm(normal, axis=1) * np.linalg.norm(view, axis=1)
        facing = np.abs((normal * view).sum(axis=1)) / np.maximum(size, 1e-30)
        order = np.argsort(-depth)
        shaded = (colors * (0.3 + 0.7 * facing[:, None]))[order]
        picture.triangles(flat[order, 0], flat[order, 1], flat[order, 2], shaded)


class Canvas:
    """The drawing area of a window."""

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
        ends = places[(_indices(indices) if indices is not None else np.arange(len(places))).reshape(-1, 2)]
        self._picture.lines(ends[:, 0], ends[:, 1], max(width * self._picture.height / 2, 0.5), color)

    def triangles(self, vertices: Any, color: Any = _GRAY, indices: Any = None, per_vertex_color: Any = None) -> None:
        """Draw filled triangles."""
        places = as_array(vertices, 2)
        which = (_indices(indices) if indices is not None else np.arange(len(places))).reshape(-1, 3)
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
    """Widgets without a user: each returns the value that it is given."""

    @contextlib.contextmanager
    def sub_window(self, name: str, x: float, y: float, width: float, height: float) -> Iterator[Gui]:
        """A group of widgets."""
        yield self

    def begin(self, name: str, x: float, y: float, width: float, height: float) -> None:
        """Begin a group."""

    def end(self) -> None:
        """End a group."""

    def text(self, text: str, color: Any = None) -> None:
        """Ignore text, which is not drawn."""

    def checkbox(self, text: str, old_value: bool) -> bool:
        """Return the unchanged state of a checkbox."""
        return old_value

    def slider_int(self, text: str, old_value: int, minimum: int, maximum: int) -> int:
        """Return the unchanged value of a slider."""
        return old_value

    def slider_float(self, text: str, old_value: float, minimum: float, maximum: float) -> float:
        """Return the unchanged value of a slider."""
        return old_value

    def color_edit_3(self, text: str, old_value: Any) -> Any:
        """Return the unchanged color."""
        return old_value

    def button(self, text: str) -> bool:
        """Return False: the button is never pressed."""
        return False


class _Event:
    key = ""
    type = PRESS


class Window:
    """A headless window for 2-D and 3-D drawing."""

    def __init__(
        self, name: str, res: Any, vsync: bool = False, show_window: bool = True, fps_limit: int = 1000,
        pos: tuple[int, int] = (100, 100),
    ) -> None:  # fmt: skip
        self.name = name
        self.res = tuple(map(int, res))
        self.event = _Event()
        self._frames = Frames()
        self._picture = Picture(*self.res)
        self._canvas, self._scene, self._gui = Canvas(self._picture), Scene(), Gui()

    @property
    def running(self) -> bool:
        """Whether the window is open."""
        return self._frames.is_open

    @running.setter
    def running(self, value: bool) -> None:
        self._frames.is_open = value

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
        """Finish the frame."""
        self._frames.next(is_kept=False)
        self._picture.clear()

    def save_image(self, filename: str) -> None:
        """Write the frame to a file."""
        imwrite(self._picture.painted(), filename)

    def get_image_buffer_as_numpy(self) -> Any:
        """Return the frame as RGBA."""
        return np.concatenate([self._picture.painted(), np.ones((*self.res, 1), np.float32)], axis=2)

    def get_window_shape(self) -> tuple[int, ...]:
        """Return its size in pixels."""
        return self.res

    def get_event(self, tag: Any = None) -> bool:
        """Return False: there are no events."""
        return False

    def get_events(self, tag: Any = None) -> list[Any]:
        """Return no events."""
        return []

    def is_pressed(self, *keys: Any) -> bool:
        """Return False: no key is pressed."""
        return False

    def get_cursor_pos(self) -> tuple[float, float]:
        """Return the center: there is no mouse."""
        return (0.5, 0.5)

    def destroy(self) -> None:
        """Close the window."""
        self._frames.is_open = False


def _indices(values: Any) -> Any:
    found = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    return found.astype(np.int64).reshape(-1)


WINDOW_NAMES: dict[str, Any] = {
    **KEYS,
    **{each.__name__: each for each in (Camera, Canvas, Gui, ProjectionMode, Scene, Window, make_camera)},
    "PRESS": PRESS,
    "RELEASE": RELEASE,
    "check_ggui_availability": lambda: None,
}
