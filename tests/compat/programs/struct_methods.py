"""A dataclass of kernels with methods: spheres and rays."""

import quadrants as qd

qd.init(arch=qd.cpu)
vec3 = qd.math.vec3


@qd.dataclass
class Ray:
    origin: vec3
    direction: vec3

    @qd.func
    def at(self, t):
        return self.origin + t * self.direction


@qd.dataclass
class Sphere:
    center: vec3
    radius: qd.f32

    @qd.func
    def area(self):
        return 4 * qd.math.pi * self.radius**2

    @qd.func
    def hit(self, ray):
        oc = ray.origin - self.center
        b = oc.dot(ray.direction)
        disc = b * b - oc.dot(oc) + self.radius**2
        return -b - qd.sqrt(disc) if disc > 0 else -1.0


n = 8
spheres = Sphere.field(shape=n)
hits = qd.field(qd.f32, n)
heights = qd.field(qd.f32, n)


@qd.kernel
def compute():
    for i in spheres:
        spheres[i].center = vec3(0.1 * i, 0, 5)
        spheres[i].radius = 0.3 + 0.05 * i
    for i in spheres:
        ray = Ray(origin=vec3(0), direction=vec3(0.05, 0.02, 1).normalized())
        hits[i] = spheres[i].hit(ray)
        heights[i] = ray.at(hits[i]).y + spheres[i].area()


compute()
results = {"hits": hits.to_numpy(), "heights": heights.to_numpy()}
