"""Conway's Game of Life on a plane of a million by a million cells, of which only blocks with live cells take memory.

A glider gun runs on a sparse field. Each generation has two launches: live cells count themselves to their neighbors, which
activates blocks, and cells of active blocks are updated. From time to time empty blocks are deactivated.
"""

import samovar as sv

SIZE, BLOCK = 1 << 20, 16
MIDDLE = SIZE // 2
GENERATIONS = 1200

GUN = """
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
"""

alive, neighbors = sv.field(sv.u8), sv.field(sv.u8)
blocks = sv.root.pointer(sv.ij, SIZE // BLOCK)
blocks.dense(sv.ij, BLOCK).place(alive, neighbors)


@sv.kernel
def count() -> None:
    for i, j in alive:
        if alive[i, j] == 1:
            for a, b in sv.static(sv.ndrange((-1, 2), (-1, 2))):
                if sv.static(a != 0 or b != 0):
                    neighbors[i + a, j + b] += sv.u8(1)


@sv.kernel
def update() -> None:
    for i, j in alive:
        lives = neighbors[i, j] == 3 or (neighbors[i, j] == 2 and alive[i, j] == 1)
        alive[i, j] = sv.u8(lives)
        neighbors[i, j] = sv.u8(0)


@sv.kernel
def tidy() -> None:
    for i, j in blocks:
        is_empty = True
        for a in range(BLOCK):
            for b in range(BLOCK):
                if alive[i * BLOCK + a, j * BLOCK + b] == 1:
                    is_empty = False
        if is_empty:
            sv.deactivate(blocks, [i, j])


@sv.kernel
def population() -> sv.i32:
    total = 0
    for i, j in alive:
        total += sv.i32(alive[i, j])
    return total


def main() -> None:
    for row, line in enumerate(GUN.split()):
        for column, mark in enumerate(line):
            if mark == "O":
                alive[MIDDLE + row, MIDDLE + column] = 1
    gun = population()
    for generation in range(GENERATIONS):
        count()
        update()
        if generation % 30 == 29:
            tidy()
    gliders = GENERATIONS // 30
    print(f"generation {GENERATIONS}: {population()} live cells in {blocks.active_count} blocks of {(SIZE // BLOCK) ** 2:,}")
    assert population() == gun + 5 * gliders


if __name__ == "__main__":
    main()
