"""A picture of two spheres on a plane, found by marching along rays."""

import quadrants as qd

qd.init(arch=qd.cpu)
width, height = 48, 32
picture = qd.Vector.field(3, float, (width, height))
vec3 = qd.math.vec3


@qd.func
def distance(p):
    sphere = qd.min((p - vec3(0, 0, 3)).norm() - 1.0, (p - vec3(1.2, -0.5, 2.4)).norm() - 0.4)
    return qd.min(sphere, p.y + 1)


@qd.func
def normal(p):
    d = distance(p)
    n = vec3(0)
    for i in qd.static(range(3)):
        step = vec3(0)
        step[i] = 1e-2
        n[i] = distance(p + step) - d
    return n.normalized()


@qd.kernel
def render():
    light = vec3(1, 2, -1).normalized()
    for i, j in picture:
        ray = vec3((i + 0.5) / height - 0.75, (j + 0.5) / height - 0.5, 1.0).normalized()
        t, hit = 0.0, False
        for _ in range(60):
            d = distance(ray * t)
            t += d
            if d < 1e-3:
                hit = True
                break
            if t > 20:
                break
        color = vec3(0.4, 0.6, 0.9)
        if hit:
            n = normal(ray * t)
            shade = qd.math.clamp(n.dot(light), 0.0, 1.0) * 0.8 + 0.2
            color = shade * vec3(1.0, 0.7, 0.5)
        picture[i, j] = color


render()
results = {"picture": picture.to_numpy()}
