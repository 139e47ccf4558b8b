"""A water surface: the wave equation with damping, on two fields that change places."""

import quadrants as qd

qd.init(arch=qd.cpu)
shape = 40, 30
height = qd.field(dtype=qd.f32, shape=shape)
velocity = qd.field(dtype=qd.f32, shape=shape)
acceleration = qd.field(dtype=qd.f32, shape=shape)


@qd.func
def laplacian(i, j):
    return (
        -4 * height[i, j] + height[i, j - 1] + height[i, j + 1] + height[i + 1, j] + height[i - 1, j]
    ) / 4


@qd.kernel
def drop(amplitude: qd.f32, x: qd.f32, y: qd.f32):
    for i, j in qd.ndrange((1, shape[0] - 1), (1, shape[1] - 1)):
        r2 = (i - x) ** 2 + (j - y) ** 2
        height[i, j] = height[i, j] + amplitude * qd.exp(-0.1 * r2)


@qd.kernel
def update():
    for i, j in qd.ndrange((1, shape[0] - 1), (1, shape[1] - 1)):
        acceleration[i, j] = laplacian(i, j) - 0.02 * velocity[i, j]
    for i, j in qd.ndrange((1, shape[0] - 1), (1, shape[1] - 1)):
        velocity[i, j] = velocity[i, j] + 0.3 * acceleration[i, j]
        height[i, j] = height[i, j] + 0.3 * velocity[i, j]


drop(1.5, 20.0, 14.0)
for _ in range(40):
    update()
results = {"height": height.to_numpy(), "velocity": velocity.to_numpy()}
