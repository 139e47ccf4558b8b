"""Flow around a cylinder by the lattice Boltzmann method (D2Q9), in an object with kernels."""

import quadrants as qd

qd.init(arch=qd.cpu)


@qd.data_oriented
class Flow:
    def __init__(self, nx, ny, tau):
        self.nx, self.ny, self.tau = nx, ny, tau
        self.rho = qd.field(float, shape=(nx, ny))
        self.vel = qd.Vector.field(2, float, shape=(nx, ny))
        self.old = qd.Vector.field(9, float, shape=(nx, ny))
        self.new = qd.Vector.field(9, float, shape=(nx, ny))
        self.w = qd.types.vector(9, float)(4, 1, 1, 1, 1, 1 / 4, 1 / 4, 1 / 4, 1 / 4) / 9.0
        self.e = qd.types.matrix(9, 2, int)(
            [0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]
        )

    @qd.func
    def equilibrium(self, i, j):
        eu = self.e @ self.vel[i, j]
        uv = qd.math.dot(self.vel[i, j], self.vel[i, j])
        return self.w * self.rho[i, j] * (1 + 3 * eu + 4.5 * eu * eu - 1.5 * uv)

    @qd.kernel
    def start(self):
        for i, j in self.rho:
            self.rho[i, j] = 1
            self.vel[i, j] = [0.1, 0.02 * qd.sin(0.3 * i)]
            self.new[i, j] = self.old[i, j] = self.equilibrium(i, j)

    @qd.kernel
    def collide_and_stream(self):
        for i, j in qd.ndrange((1, self.nx - 1), (1, self.ny - 1)):
            for k in qd.static(range(9)):
                ip = i - self.e[k, 0]
                jp = j - self.e[k, 1]
                feq = self.equilibrium(ip, jp)
                self.new[i, j][k] = (1 - 1 / self.tau) * self.old[ip, jp][k] + feq[k] / self.tau

    @qd.kernel
    def macroscopic(self):
        for i, j in qd.ndrange((1, self.nx - 1), (1, self.ny - 1)):
            self.rho[i, j] = 0
            self.vel[i, j] = 0, 0
            for k in qd.static(range(9)):
                self.old[i, j][k] = self.new[i, j][k]
                self.rho[i, j] += self.new[i, j][k]
                self.vel[i, j] += qd.Vector([self.e[k, 0], self.e[k, 1]]) * self.new[i, j][k]
            self.vel[i, j] /= self.rho[i, j]


flow = Flow(24, 12, 0.8)
flow.start()
for _ in range(5):
    flow.collide_and_stream()
    flow.macroscopic()
results = {"rho": flow.rho.to_numpy(), "vel": flow.vel.to_numpy()}
