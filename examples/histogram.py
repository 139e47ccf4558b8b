"""A histogram in three lines: iterations add to shared bins, atomically and still fast.

The compiler privatizes small arrays: each thread adds to its own copy, and the copies are summed at the end.
"""

import numpy as np

import samovar as sv

BINS = 40


@sv.kernel
def count(values: sv.types.NDArray[sv.f32, 1], counts: sv.types.NDArray[sv.i32, 1], low: sv.f32, high: sv.f32) -> None:
    for i in range(values.shape[0]):
        if low <= values[i] < high:
            counts[int((values[i] - low) / (high - low) * counts.shape[0])] += 1


def main() -> None:
    values = np.random.default_rng(1).normal(size=2_000_000).astype(np.float32)
    counts = np.zeros(BINS, dtype=np.int32)
    count(values, counts, -4.0, 4.0)
    assert counts.sum() == np.count_nonzero((values >= -4) & (values < 4))
    tallest = counts.max()
    for place in range(0, BINS, 2):
        print(f"{-4 + 8 * place / BINS:5.1f} {'█' * int(60 * counts[place] / tallest)}")


if __name__ == "__main__":
    main()
