"""Scenes in three dimensions, painted in memory.

Scenes are painted from back to front (painter's algorithm): particles as discs, meshes as triangles that are brighter where
they face the camera. Lights have no effect.
"""

from __future__ import annotations

import enum
from time import monotonic

import numpy as np

from samovar.ui.picture import Picture, as_array, as_colors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_GRAY = (0.5, 0.5, 0.5)


class ProjectionMode(enum.IntEnum):
    """The projection of a camera.

    >>> import samovar as sv
    >>> sv.ui.ProjectionMode.Orthogonal.value
    1
    """

    __module__ = "samovar.ui"

    Perspective = 0
    Orthogonal = 1


class Camera:
    """The viewpoint of a scene: where it is, where it looks, and what is up.

    >>> import samovar as sv
    >>> camera = sv.ui.Camera()
    >>> camera.position(0, 1, 5)
    >>> camera.lookat(0, 0, 0)
    """

    __module__ = "samovar.ui"

    def __init__(self) -> None:
        self.curr_position = np.array([0.0, 0.0, 0.0])
        self.curr_lookat = np.array([0.0, 0.0, 1.0])
        self.curr_up = np.array([0.0, 1.0, 0.0])
        self._cursor: Any = None
        self._tracked_at = 0.0
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

    def track_user_inputs(
        self, window: Any, movement_speed: float = 1.0, yaw_speed: float = 2.0, pitch_speed: float = 2.0,
        hold_key: str | None = None,
    ) -> None:  # fmt: skip
        """Move with the keys W, A, S, D, Q and E, and turn with the mouse while a button (`hold_key`, or the left one) is
        down. Without a user, the camera stays where it is."""
        cursor = np.array(window.get_cursor_pos())
        moved = cursor - (cursor if self._cursor is None else self._cursor)
        self._cursor = cursor
        now = monotonic()
        seconds, self._tracked_at = min(now - (self._tracked_at or now), 0.1), now
        ahead = _unit(self.curr_lookat - self.curr_position)
        side = _unit(np.cross(ahead, self.curr_up))
        step = np.zeros(3)
        for key, direction in zip("wsdaeq", (ahead, -ahead, side, -side, self.curr_up, -self.curr_up), strict=True):
            if window.is_pressed(key):
                step = step + direction
        self.curr_position = self.curr_position + step * movement_speed * seconds
        if window.is_pressed(hold_key or "LMB") and moved.any():
            # The distances that the mouse moves are parts of the window: across all of it is half a turn per unit of speed.
            yaw, pitch = -moved[0] * yaw_speed * np.pi / 2, moved[1] * pitch_speed * np.pi / 2
            ahead = ahead * np.cos(yaw) + np.cross(self.curr_up, ahead) * np.sin(yaw)
            turned = ahead * np.cos(pitch) + np.cross(side, ahead) * np.sin(pitch)
            if np.linalg.norm(np.cross(turned, self.curr_up)) > 0.05:  # not beyond the poles
                ahead = turned
        self.curr_lookat = self.curr_position + ahead

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
    """A 3-D scene: `window.get_scene()`, or one of its own, which `canvas.scene` draws.

    >>> import samovar as sv
    >>> scene = sv.ui.Scene()
    >>> scene.set_camera(sv.ui.Camera())
    >>> scene.particles(sv.ndarray(sv.math.vec3, 10), radius=0.1, color=(1, 0, 0))
    """

    __module__ = "samovar.ui"

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
        ends = (indices_of(indices) if indices is not None else np.arange(len(places))).reshape(-1, 2)
        self._things.append(("lines", (places[ends], width, color)))

    def mesh(
        self, vertices: Any, indices: Any = None, normals: Any = None, color: Any = _GRAY, per_vertex_color: Any = None,
        *rest: Any, **options: Any,
    ) -> None:  # fmt: skip
        """Draw triangles."""
        places = as_array(vertices, 3)
        corners = (indices_of(indices) if indices is not None else np.arange(len(places))).reshape(-1, 3)
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


def _unit(vector: Any) -> Any:
    return vector / max(float(np.linalg.norm(vector)), 1e-30)


def indices_of(values: Any) -> Any:
    """Copy indices, an array or a field into a flat array."""
    found = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    return found.astype(np.int64).reshape(-1)
