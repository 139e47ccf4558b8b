"""An array without axes in a nest of loops that runs in lanes: the planner asks how its index moves, and there is none."""

import numpy as np

import samovar as sv


def test_a_single_number_in_a_nest_with_a_decomposition():
    x, total = sv.field(sv.f64, 9), sv.field(sv.f64, ())
    x.from_numpy(np.linspace(0.1, 0.9, 9))

    @sv.kernel
    def run():
        for _ in range(1):
            a = sv.Matrix([[x[0] + 2, x[1], x[2]], [x[3], x[4] - 1, x[5]], [x[6], x[7], x[8] + 4]])
            _, s, _ = sv.svd(a)
            total[None] += s[0, 0] + s[1, 1] + s[2, 2]

    run()
    matrix = x.to_numpy().reshape(3, 3) + np.diag([2, -1, 4])
    np.testing.assert_allclose(total[None], np.linalg.svd(matrix, compute_uv=False).sum(), rtol=1e-12)
