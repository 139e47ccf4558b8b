"""Ordinary programs: `make lint` gives them to two type checkers, and `test_typing.py` runs them."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np
from numpy.typing import NDArray

import samovar as sv
from samovar.math import mat2, vec3

Numbers = sv.Array[sv.f32, 1]
Picture = sv.types.NDArray[sv.f32, 2]
Points = sv.types.NDArray[vec3, 1]
real = sv.f32
vec = sv.math.vec3


class Mode(enum.Enum):
    ADD = 1
    SCALE = 2


@dataclasses.dataclass
class Parameters:
    gravity: sv.f32
    steps: sv.i32
    positions: sv.types.NDArray[sv.f32, 1]


@sv.func
def square(x: sv.f32) -> sv.f32:
    return x * x


@sv.func
def first(a: Numbers) -> sv.f32:
    return a[0]


@sv.func(requires_top_level=True)
def clear(a: Numbers) -> None:
    for i in a:
        a[i] = 0.0


@sv.kernel
def axpy(a: sv.f32, x: sv.Array[sv.f32, 1], y: sv.Array[sv.f32, 1]) -> None:
    for i in range(x.shape[0]):
        y[i] += a * x[i] + square(sv.f32(i)) * 0.0


@sv.kernel
def total(x: Numbers) -> sv.f64:
    s = sv.f64(0.0)
    for i in x:
        s += sv.cast(x[i], sv.f64)
    return s


@sv.kernel(fastcache=True)
def blur(source: Picture, result: Picture, radius: sv.i32 = 1) -> None:
    for i, j in sv.ndrange((1, source.shape[0] - 1), (1, source.shape[1] - 1)):
        s: sv.f32 = 0.0
        for di, dj in sv.ndrange((-radius, radius + 1), (-radius, radius + 1)):
            s += source[i + di, j + dj]
        result[i, j] = s / (2 * radius + 1) ** 2


@sv.func
def shortened(v: vec, most: real) -> vec:
    return v * (most / v.norm()) if v.norm() > most else v


@sv.kernel
def longest(points: sv.types.NDArray[vec, 1], most: real) -> real:
    found: real = 0.0
    for i in points:
        found = sv.max(found, shortened(points[i], real(most)).norm())
    return found


@sv.kernel
def move(points: Points, by: vec3, turn: mat2, mode: sv.Template) -> None:
    for i in points:
        if sv.static(mode is Mode.ADD):
            points[i] += by
        else:
            p = points[i]
            flat = turn @ sv.Vector([p.x, p.y])
            points[i] = vec3(flat.x, flat.y, p.z).normalized() * sv.sqrt(by.norm())


@sv.kernel
def fall(p: Parameters, dt: sv.f32) -> None:
    for i in p.positions:
        p.positions[i] -= 0.5 * p.gravity * dt**2
        sv.atomic_add(p.positions[i], np.sin(0.0))


class Ray(sv.types.StructBase):
    origin: vec3
    length: sv.f32 = 1.0

    @sv.func
    def scaled(self, by: real) -> sv.f32:
        return self.length * by


@sv.kernel
def reach(rays: sv.Template, by: real) -> real:
    found: real = 0.0
    for i in rays:
        found += rays[i].scaled(by)
    return found


@sv.data_oriented
class Counter:
    def __init__(self, n: int) -> None:
        self.counts = sv.ndarray(sv.i32, n)
        self.step = 3

    @sv.func
    def increment(self, i: sv.i32) -> sv.i32:
        return self.step + i * 0

    @sv.kernel
    def count(self, times: sv.i32) -> None:
        for i in self.counts:
            self.counts[i] += self.increment(i) * times


def main() -> list[float]:
    sv.init(default_fp=sv.f32)
    x, y = np.ones(8, np.float32), sv.zeros(8)
    axpy(2.0, x, y)
    axpy(2, y, x)
    picture: NDArray[np.float32] = np.ones((4, 4), np.float32)
    blur(picture, sv.zeros_like(picture))
    blur(picture, picture.copy(), radius=1)
    points = sv.ndarray(sv.math.vec3, 4)
    move(points, sv.math.vec3(1.0, 2.0, 3.0), sv.math.mat2(1.0, 0.0, 0.0, 1.0), Mode.ADD)
    assert abs(longest(points, 2.0) - 2.0) < 1e-6
    fall(Parameters(9.8, 3, sv.zeros(4)), 0.1)
    counter = Counter(4)
    counter.count(2)
    counter.count(times=2)
    rays, one = Ray.field(shape=4), Ray(origin=sv.math.vec3(0.0), length=2.0)
    rays.fill(one)
    assert rays.shape == (4,)
    assert one.length == 2.0
    assert reach(rays, 0.5) == 4.0
    assert "axpy" in axpy.inspect("ir")
    f = sv.field(sv.f32, shape=(2, 2))
    f.fill(1)
    result: float = total(x)
    return [result, square(3.0), points[0].x, f.sum(), float(counter.counts[0]), *y.tolist()]
