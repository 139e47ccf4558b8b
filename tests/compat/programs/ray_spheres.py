"""Rays and spheres by formula, with a list of spheres that is known at compile time, and reflections."""

import quadrants as qd

qd.init(arch=qd.cpu)
width, height = 40, 30
picture = qd.field(qd.f32, shape=(width, height))
spheres = ((0.0, 0.0, 4.0, 1.0), (1.5, 0.5, 3.0, 0.5), (-1.0, -0.6, 2.5, 0.4))


@qd.func
def nearest(o, d):
    best, which = 1e9, -1
    for s in qd.static(range(len(spheres))):
        center = qd.Vector([spheres[s][0], spheres[s][1], spheres[s][2]])
        oc = o - center
        b = oc.dot(d)
        disc = b * b - oc.dot(oc) + spheres[s][3] ** 2
        if disc > 0:
            t = -b - qd.sqrt(disc)
            if 1e-3 < t < best:
                best, which = t, s
    return best, which


@qd.func
def center_of(which):
    c = qd.Vector([0.0, 0.0, 0.0])
    for s in qd.static(range(len(spheres))):
        if which == s:
            c = qd.Vector([spheres[s][0], spheres[s][1], spheres[s][2]])
    return c


@qd.kernel
def render():
    for i, j in picture:
        o = qd.Vector([0.0, 0.0, 0.0])
        d = qd.Vector([i / height - 0.66, j / height - 0.5, 1.0]).normalized()
        light, weight = 0.0, 1.0
        for _bounce in range(3):
            t, which = nearest(o, d)
            if which < 0:
                light += weight * (0.5 + 0.5 * d[1])
                break
            o += t * d
            n = (o - center_of(which)).normalized()
            light += weight * 0.3 * qd.max(0.0, -n[2])
            d = d - 2 * d.dot(n) * n
            weight *= 0.6
        picture[i, j] = light


render()
results = {"picture": picture.to_numpy()}
