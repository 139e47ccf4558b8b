"""The kernels of `steam.py`: a fluid that flows around a samovar, and the rendering.

Row 0 is the top. Velocities are in cells per step: `u` to the right, `v` downwards. `space` is 1 in the fluid and 0 in
the samovar and the table. Picture coordinates have x = 0 in the middle, y = 0 at the bottom and the height of the picture as
the unit.
"""

from typing import Any

import samovar as sv

Grid = sv.types.NDArray[sv.f32, 2]
Picture = sv.types.NDArray[sv.u8, 3]

TABLE = 0.05
MOUTH = 0.50


@sv.func
def half_width(y: Any) -> Any:
    """The profile of the samovar: its radius at height y, or 0."""
    width = 0.0
    if y < TABLE:
        width = 0.0
    elif y < 0.07:
        width = 0.125
    elif y < 0.13:
        width = 0.105 - 0.9 * (y - 0.07)
    elif y < 0.40:
        part = (y - 0.13) / 0.27
        width = 0.05 + 0.09 * sv.sin(3.14159 * (0.12 + 0.68 * part))
    elif y < 0.42:
        width = 0.115
    elif y < 0.46:
        width = 0.085 - 1.2 * (y - 0.42)
    elif y < MOUTH:
        width = 0.033 + 0.25 * (y - 0.46)
    return width


@sv.func
def handle(x: Any, y: Any) -> Any:
    """The distance to the ring of the nearer handle."""
    dx, dy = abs(x) - 0.155, y - 0.32
    return abs(sv.sqrt(dx * dx + dy * dy) - 0.033)


@sv.func
def bilinear(field: sv.Template, x: Any, y: Any) -> Any:
    """Bilinear interpolation; x and y must be inside the grid."""
    j, i = int(x), int(y)
    fx, fy = x - j, y - i
    above = field[i, j] * (1.0 - fx) + field[i, j + 1] * fx
    below = field[i + 1, j] * (1.0 - fx) + field[i + 1, j + 1] * fx
    return above * (1.0 - fy) + below * fy


@sv.kernel
def place_samovar(space: Grid) -> None:
    for i, j in space:
        height = space.shape[0]
        x = (j + 0.5 - 0.5 * space.shape[1]) / height
        y = (height - i - 0.5) / height
        solid = y < TABLE or abs(x) < half_width(y) or handle(x, y) < 0.008
        space[i, j] = 0.0 if solid else 1.0


@sv.kernel
def boil(u: Grid, v: Grid, steam: Grid, time: sv.f32) -> None:
    """Emit steam at the mouth of the chimney, with a slight sway."""
    for i, j in steam:
        height = steam.shape[0]
        x = (j + 0.5 - 0.5 * steam.shape[1]) / height
        y = (height - i - 0.5) / height
        if abs(x) < 0.035 and MOUTH <= y < MOUTH + 0.02:
            steam[i, j] = 0.75 + 0.25 * sv.sin(0.31 * time + 60.0 * x)
            v[i, j] = -1.3 - 0.3 * sv.sin(0.11 * time)
            u[i, j] = 0.35 * sv.sin(0.043 * time) + 0.15 * sv.sin(0.171 * time)


@sv.kernel
def curl_of(u: Grid, v: Grid, curl: Grid) -> None:
    for i, j in sv.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        curl[i, j] = 0.5 * (v[i, j + 1] - v[i, j - 1] - u[i + 1, j] + u[i - 1, j])


@sv.kernel
def swirl_and_rise(u: Grid, v: Grid, steam: Grid, curl: Grid, space: Grid, swirl: sv.f32, lift: sv.f32) -> None:
    """Vorticity confinement and buoyancy."""
    for i, j in sv.ndrange((2, u.shape[0] - 2), (2, u.shape[1] - 2)):
        gx = 0.5 * (abs(curl[i, j + 1]) - abs(curl[i, j - 1]))
        gy = 0.5 * (abs(curl[i + 1, j]) - abs(curl[i - 1, j]))
        scale = swirl * curl[i, j] / (sv.sqrt(gx * gx + gy * gy) + 1e-5)
        u[i, j] = space[i, j] * (u[i, j] + scale * gy)
        v[i, j] = space[i, j] * (v[i, j] - scale * gx - lift * steam[i, j])


@sv.kernel
def divergence_of(u: Grid, v: Grid, divergence: Grid) -> None:
    for i, j in sv.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        divergence[i, j] = 0.5 * (u[i, j + 1] - u[i, j - 1] + v[i + 1, j] - v[i - 1, j])


@sv.kernel
def relax(pressure: Grid, result: Grid, divergence: Grid, space: Grid) -> None:
    """One Jacobi sweep of the pressure equation, with zero gradient at walls."""
    for i, j in sv.ndrange((1, pressure.shape[0] - 1), (1, pressure.shape[1] - 1)):
        left, right, above, below = space[i, j - 1], space[i, j + 1], space[i - 1, j], space[i + 1, j]
        sides = left * pressure[i, j - 1] + right * pressure[i, j + 1]
        ends = above * pressure[i - 1, j] + below * pressure[i + 1, j]
        around = left + right + above + below
        result[i, j] = space[i, j] * (sides + ends - divergence[i, j]) / (around + 1e-6)


@sv.kernel
def project(u: Grid, v: Grid, pressure: Grid, space: Grid) -> None:
    """Subtract the pressure gradient, which makes the velocity divergence-free."""
    for i, j in sv.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        here = pressure[i, j]
        left = here + space[i, j - 1] * (pressure[i, j - 1] - here)
        right = here + space[i, j + 1] * (pressure[i, j + 1] - here)
        above = here + space[i - 1, j] * (pressure[i - 1, j] - here)
        below = here + space[i + 1, j] * (pressure[i + 1, j] - here)
        u[i, j] = space[i, j] * (u[i, j] - 0.5 * (right - left))
        v[i, j] = space[i, j] * (v[i, j] - 0.5 * (below - above))


@sv.kernel
def advect(
    u: Grid, v: Grid, steam: Grid, space: Grid, new_u: Grid, new_v: Grid, new_steam: Grid, keep: sv.f32, fade: sv.f32
) -> None:
    """Semi-Lagrangian advection, with a slight decay of speed and steam."""
    for i, j in sv.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        x = sv.min(sv.max(j - u[i, j], 0.5), u.shape[1] - 1.5)
        y = sv.min(sv.max(i - v[i, j], 0.5), u.shape[0] - 1.5)
        new_u[i, j] = space[i, j] * keep * bilinear(u, x, y)
        new_v[i, j] = space[i, j] * keep * bilinear(v, x, y)
        new_steam[i, j] = space[i, j] * fade * bilinear(steam, x, y)


@sv.func
def byte(value: Any) -> Any:
    """A brightness from 0 to 1 as a gamma-corrected byte."""
    bounded = sv.min(sv.max(value, 0.0), 1.0)
    return sv.cast(255.0 * sv.sqrt(bounded) + 0.5, sv.u8)


@sv.func
def brass(x: Any, y: Any, reach: Any) -> Any:
    """The brightness of the metal: a cylinder lit from the left, with highlights and engraved rings."""
    side = x / reach
    front = sv.sqrt(sv.max(1.0 - side * side, 0.0))
    light = sv.max(-0.55 * side + 0.8 * front, 0.0)
    gleam = sv.exp(-60.0 * (side + 0.55) * (side + 0.55)) + 0.4 * sv.exp(-90.0 * (side - 0.7) * (side - 0.7))
    rings = sv.exp(-4e5 * (y - 0.37) * (y - 0.37)) + sv.exp(-4e5 * (y - 0.16) * (y - 0.16))
    return (0.06 + 0.5 * light * light + 0.7 * gleam) * (1.0 - 0.6 * rings)


@sv.kernel
def paint(picture: Picture, steam: Grid, detail: sv.i32) -> None:
    """Render dusk, a table, the samovar and the steam, with `detail` pixels along each cell."""
    for i, j in sv.ndrange(picture.shape[0], picture.shape[1]):
        height = picture.shape[0]
        x = (j + 0.5 - 0.5 * picture.shape[1]) / height
        y = (height - i - 0.5) / height
        warmth = sv.exp(-7.0 * (x * x + (y - 0.25) * (y - 0.25)))
        red, green, blue = 0.02 + 0.16 * warmth, 0.025 + 0.07 * warmth, 0.07 + 0.05 * warmth
        reach = half_width(y)
        if y < TABLE:
            grain = 0.8 + 0.2 * sv.sin(400.0 * y + 3.0 * sv.sin(9.0 * x))
            red, green, blue = 0.10 * grain + 0.12 * warmth, 0.045 * grain + 0.04 * warmth, 0.02 * grain
        elif abs(x) < reach:
            light = brass(x, y, reach)
            red, green, blue = light, 0.62 * light, 0.22 * light
        elif handle(x, y) < 0.008:
            light = 0.1 + 40.0 * (0.008 - handle(x, y)) * sv.max(0.4 - 3.0 * x, 0.3)
            red, green, blue = light, 0.6 * light, 0.2 * light
        tap_x, tap_y = x, y - 0.20
        if sv.sqrt(tap_x * tap_x + tap_y * tap_y) < 0.016 or (abs(tap_x) < 0.004 and 0.0 < tap_y < 0.035):
            light = 0.1 + 45.0 * sv.max(0.016 - abs(tap_x + 0.006), 0.0)
            red, green, blue = light, 0.62 * light, 0.22 * light
        row = sv.min(sv.max((i + 0.5) / detail - 0.5, 0.0), steam.shape[0] - 1.001)
        column = sv.min(sv.max((j + 0.5) / detail - 0.5, 0.0), steam.shape[1] - 1.001)
        veil = 1.0 - sv.exp(-2.2 * bilinear(steam, column, row))
        glow = 0.75 + 0.25 * warmth
        picture[i, j, 0] = byte(red * (1.0 - veil) + veil * 0.80 * glow)
        picture[i, j, 1] = byte(green * (1.0 - veil) + veil * 0.82 * glow)
        picture[i, j, 2] = byte(blue * (1.0 - veil) + veil * 0.90 * glow)


@sv.kernel
def touch(few: sv.types.NDArray[sv.f32, 1]) -> None:
    """Almost no work, to measure the overhead of a launch."""
    for i in range(few.shape[0]):
        few[i] = few[i] + 1.0
