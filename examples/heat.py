"""Heat spreads in a plate with one hot edge until it reaches a steady state.

Two kernels: one step of the heat equation, and a max-reduction of the change that decides when to stop.
"""

import samovar as sv

SIZE = 96
Plate = sv.types.NDArray[sv.f32, 2]


@sv.kernel
def heat_edge(plate: Plate) -> None:
    for j in range(plate.shape[1]):
        plate[0, j] = 100.0


@sv.kernel
def spread(plate: Plate, following: Plate) -> None:
    for i, j in sv.ndrange((1, plate.shape[0] - 1), (1, plate.shape[1] - 1)):
        following[i, j] = 0.25 * (plate[i - 1, j] + plate[i + 1, j] + plate[i, j - 1] + plate[i, j + 1])


@sv.kernel
def largest_change(plate: Plate, following: Plate, change: sv.types.NDArray[sv.f32, 0]) -> None:
    change[None] = 0.0
    for i, j in plate:
        sv.atomic_max(change[None], abs(following[i, j] - plate[i, j]))


def main() -> None:
    plate, following = sv.ndarray(sv.f32, (SIZE, SIZE)), sv.ndarray(sv.f32, (SIZE, SIZE))
    change = sv.ndarray(sv.f32, ())
    heat_edge(plate)
    heat_edge(following)
    sweeps = 0
    while sweeps == 0 or change[None] > 1e-3:
        for _ in range(50):
            spread(plate, following)
            spread(following, plate)
        largest_change(plate, following, change)
        sweeps += 100
    shades = " .:-=+*#%@"
    for i in range(0, SIZE, 6):
        print("".join(shades[min(9, int(plate[i, j] / 10))] for j in range(0, SIZE, 2)))
    print(f"steady after {sweeps} sweeps; center: {plate[SIZE // 2, SIZE // 2]:.1f} degrees")
    assert 20 < plate[SIZE // 2, SIZE // 2] < 30


if __name__ == "__main__":
    main()
