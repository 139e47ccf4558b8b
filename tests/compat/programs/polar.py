"""Polar decompositions and singular values of matrices that are rotated and stretched."""

import quadrants as qd

qd.init(arch=qd.cpu)
n = 12
F = qd.Matrix.field(2, 2, qd.f32, n)
sigma = qd.Vector.field(2, qd.f32, n)
rotation = qd.Matrix.field(2, 2, qd.f32, n)
rebuilt = qd.Matrix.field(2, 2, qd.f32, n)


@qd.kernel
def decompose():
    for i in F:
        angle = 0.3 * i
        R = qd.Matrix([[qd.cos(angle), -qd.sin(angle)], [qd.sin(angle), qd.cos(angle)]])
        F[i] = R @ qd.Matrix([[1.0 + 0.1 * i, 0.2], [0.0, 0.7]])
        U, S, V = qd.svd(F[i])
        r, s = qd.polar_decompose(F[i])
        sigma[i] = qd.Vector([qd.max(S[0, 0], S[1, 1]), qd.min(S[0, 0], S[1, 1])])
        rotation[i] = r
        rebuilt[i] = U @ S @ V.transpose() - r @ s


decompose()
results = {"sigma": sigma.to_numpy(), "rotation": rotation.to_numpy(), "difference": rebuilt.to_numpy() + 1}
