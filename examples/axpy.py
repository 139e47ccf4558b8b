"""A first kernel: y ← a·x + y, on NumPy arrays and on Samovar arrays."""

import numpy as np

import samovar as sv

Vector = sv.types.NDArray[sv.f32, 1]


@sv.kernel
def axpy(a: sv.f32, x: Vector, y: Vector) -> None:
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]


def main() -> None:
    x = np.arange(1_000_000, dtype=np.float32)
    y = np.ones(1_000_000, dtype=np.float32)
    axpy(2.0, x, y)
    assert np.array_equal(y, 2 * x + 1)
    print("NumPy arrays:", y[:5], "…")

    own_x, own_y = sv.ndarray(sv.f32, 5), sv.ndarray(sv.f32, 5)
    own_x.fill(3.0)
    axpy(a=0.5, x=own_x, y=own_y)
    print("Samovar arrays:", [own_y[i] for i in range(5)])
    assert own_y[4] == 1.5


if __name__ == "__main__":
    main()
