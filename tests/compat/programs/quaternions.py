"""Bodies that spin: quaternions, and rotations of vectors by them."""

import quadrants as qd

qd.init(arch=qd.cpu)
n = 16
q = qd.Vector.field(4, qd.f32, n)
tip = qd.Vector.field(3, qd.f32, n)
vec3, vec4 = qd.types.vector(3, qd.f32), qd.types.vector(4, qd.f32)


@qd.func
def product(a, b):
    return vec4(
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@qd.func
def rotated(v: vec3, r: vec4) -> vec3:
    u = vec3(r[1], r[2], r[3])
    t = 2.0 * u.cross(v)
    return v + r[0] * t + u.cross(t)


@qd.kernel
def spin(dt: qd.f32, steps: qd.i32):
    for i in q:
        q[i] = [1, 0, 0, 0]
        omega = vec3(0.1 * i, 1.0, -0.05 * i)
        for _ in range(steps):
            q[i] += 0.5 * dt * product(q[i], vec4(0.0, omega))
            q[i] = q[i].normalized()
        tip[i] = rotated(vec3(1, 0, 0), q[i])


spin(0.01, 100)
results = {"q": q.to_numpy(), "tip": tip.to_numpy()}
