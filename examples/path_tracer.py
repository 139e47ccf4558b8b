"""A path tracer: two balls in a Cornell box.

A path starts at the camera and is scattered at each surface. Diffuse surfaces also sample a point on the lamp directly
(next-event estimation), so a path that hits the lamp counts it only if it has hit nothing but mirrors so far.
"""

from __future__ import annotations

import pictures

import samovar as sv
from samovar.math import vec3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SIZE = 160
SAMPLES = 64
BOUNCES = 5
FAR = 1e9
NUDGE = 1e-3
EYE = (0.0, 1.0, 3.6)

# The lamp is a square in the ceiling.
LAMP_HEIGHT, LAMP_HALF = 1.999, 0.4
LAMP_LIGHT = (14.0, 11.5, 8.5)

# The box reaches from -1 to 1, from 0 to 2 and from -1 to 1. Its front is open.
WALLS = (  # normal, distance from the origin, color
    ((1.0, 0.0, 0.0), -1.0, (0.75, 0.13, 0.10)),
    ((-1.0, 0.0, 0.0), -1.0, (0.12, 0.45, 0.15)),
    ((0.0, 1.0, 0.0), 0.0, (0.75, 0.73, 0.70)),
    ((0.0, -1.0, 0.0), -2.0, (0.75, 0.73, 0.70)),
    ((0.0, 0.0, 1.0), -1.0, (0.75, 0.73, 0.70)),
)
BALLS = (  # center, radius, color, is it a mirror?
    ((-0.42, 0.42, -0.35), 0.42, (0.92, 0.90, 0.86), True),
    ((0.45, 0.32, 0.25), 0.32, (0.25, 0.42, 0.75), False),
)


@sv.func
def to_wall(start: vec3, direction: vec3, normal: vec3, distance: float) -> float:
    """The distance to a wall, or FAR if it is behind the ray or seen from its back."""
    facing = direction.dot(normal)
    way = (distance - start.dot(normal)) / facing if facing < 0.0 else FAR
    return way if way > NUDGE else FAR


@sv.func
def to_ball(start: vec3, direction: vec3, center: vec3, radius: float) -> float:
    """The distance to a ball, or FAR if the ray misses it or starts inside."""
    apart = start - center
    half = apart.dot(direction)
    rest = half * half - apart.norm_sqr() + radius * radius
    way = -half - sv.sqrt(rest) if rest > 0.0 else FAR
    return way if way > NUDGE else FAR


@sv.func
def met(start: vec3, direction: vec3) -> tuple[float, vec3, vec3, bool]:
    """The first hit of a ray: distance, normal, color, and whether it is a mirror."""
    nearest, normal, color, is_mirror = FAR, vec3(0.0), vec3(0.0), False
    for wall in sv.static(WALLS):
        way = to_wall(start, direction, vec3(*wall[0]), wall[1])
        if way < nearest:
            nearest, normal, color = way, vec3(*wall[0]), vec3(*wall[2])
    for ball in sv.static(BALLS):
        way = to_ball(start, direction, vec3(*ball[0]), ball[1])
        if way < nearest:
            nearest, color, is_mirror = way, vec3(*ball[2]), ball[3]
            normal = (start + way * direction - vec3(*ball[0])) / ball[1]
    return nearest, normal, color, is_mirror


@sv.func
def scattered(normal: vec3) -> vec3:
    """A cosine-weighted direction in the hemisphere of a surface."""
    height, angle = 2.0 * sv.random() - 1.0, 2.0 * sv.math.pi * sv.random()
    around = sv.sqrt(1.0 - height * height)
    return (normal + vec3(around * sv.cos(angle), around * sv.sin(angle), height)).normalized(1e-6)


@sv.func
def lit(place: vec3, normal: vec3) -> vec3:
    """Direct light from one sampled point of the lamp."""
    point = vec3(LAMP_HALF * (2.0 * sv.random() - 1.0), LAMP_HEIGHT, LAMP_HALF * (2.0 * sv.random() - 1.0))
    apart = sv.math.distance(point, place)
    direction = (point - place) / apart
    strength = sv.max(normal.dot(direction), 0.0) * sv.max(direction.y, 0.0) / (sv.math.pi * apart * apart)
    is_seen = met(place, direction)[0] > apart - NUDGE
    return (4.0 * LAMP_HALF * LAMP_HALF * strength if is_seen else 0.0) * vec3(*LAMP_LIGHT)


@sv.func
def traced(start: vec3, direction: vec3) -> vec3:
    """The radiance along one path."""
    tint, light, is_direct = vec3(1.0), vec3(0.0), True
    for _ in range(BOUNCES):
        way, normal, color, is_mirror = met(start, direction)
        if way == FAR:
            break
        start += way * direction
        if start.y > LAMP_HEIGHT and abs(start.xz).max() < LAMP_HALF:
            if is_direct:
                light += tint * vec3(*LAMP_LIGHT)
            break
        tint *= color
        is_direct = is_direct and is_mirror
        if is_mirror:
            direction = sv.math.reflect(direction, normal)
        else:
            light += tint * lit(start, normal)
            direction = scattered(normal)
    return light


@sv.kernel
def render(light: pictures.Image) -> None:
    for i, j in light:
        total = vec3(0.0)
        for _ in range(SAMPLES):
            across, up = (j + sv.random()) / SIZE - 0.5, 0.5 - (i + sv.random()) / SIZE
            total += traced(vec3(*EYE), vec3(across, up, -1.1).normalized())
        light[i, j] = total / SAMPLES


def frames() -> Iterator[Any]:
    """Yield the image after each pass; each pass adds new paths."""
    light = pictures.image(SIZE, SIZE)
    while True:
        render(light)
        yield light


def main() -> None:
    pictures.save(next(frames()), "path_tracer")


if __name__ == "__main__":
    main()
