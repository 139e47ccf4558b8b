"""Eigenvalues of a symmetric matrix by Jacobi rotations, in one kernel of a serial loop."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu, default_fp=qd.f64)
n = 5


@qd.kernel
def rotate(A: qd.types.ndarray(qd.f64, 2), sweeps: qd.i32):
    qd.loop_config(serialize=True)
    for _sweep in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if qd.abs(A[p, q]) > 1e-14:
                    theta = (A[q, q] - A[p, p]) / (2 * A[p, q])
                    t = 1.0 / (qd.abs(theta) + qd.sqrt(theta * theta + 1))
                    if theta < 0:
                        t = -t
                    c = 1 / qd.sqrt(t * t + 1)
                    s = t * c
                    for k in range(n):
                        akp, akq = A[k, p], A[k, q]
                        A[k, p] = c * akp - s * akq
                        A[k, q] = s * akp + c * akq
                    for k in range(n):
                        apk, aqk = A[p, k], A[q, k]
                        A[p, k] = c * apk - s * aqk
                        A[q, k] = s * apk + c * aqk


A = np.random.default_rng(9).random((n, n))
A = A + A.T
rotate(A, 10)
results = {"eigenvalues": np.sort(np.diag(A))}
