"""Double pendulums with other first angles, by the method of Runge and Kutta."""

import quadrants as qd

qd.init(arch=qd.cpu, default_fp=qd.f64)
n = 8
state = qd.Vector.field(4, qd.f64, n)


@qd.func
def derivative(y):
    d = y[0] - y[1]
    m = 3 - qd.cos(2 * d)
    first = -3 * 9.8 * qd.sin(y[0]) - 9.8 * qd.sin(y[0] - 2 * y[1])
    first -= 2 * qd.sin(d) * (y[3] ** 2 + y[2] ** 2 * qd.cos(d))
    second = 2 * qd.sin(d) * (2 * y[2] ** 2 + 2 * 9.8 * qd.cos(y[0]) + y[3] ** 2 * qd.cos(d))
    return qd.Vector([y[2], y[3], first / m, second / m])


@qd.kernel
def swing(dt: qd.f64, steps: int):
    for i in state:
        y = qd.Vector([0.5 + 0.05 * i, 0.3, 0.0, 0.0])
        for _ in range(steps):
            k1 = derivative(y)
            k2 = derivative(y + dt / 2 * k1)
            k3 = derivative(y + dt / 2 * k2)
            k4 = derivative(y + dt * k3)
            y += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        state[i] = y


swing(0.005, 200)
results = {"state": state.to_numpy()}
