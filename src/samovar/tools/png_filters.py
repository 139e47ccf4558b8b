"""Reconstructs the rows of a PNG file: each byte was stored as its difference from a prediction."""

# mypy: disable-error-code="no-untyped-def, misc, untyped-decorator, type-arg, valid-type"
from __future__ import annotations

import samovar as sv


@sv.kernel(serial=True)
def reconstruct(
    stored: sv.types.NDArray[sv.u8, 2], rows: sv.types.NDArray[sv.u8, 2], step: sv.i32, wrong: sv.types.NDArray[sv.i32, 0]
):
    """Compute `rows` from `stored`, whose rows begin with the number of their filter. `step` is the bytes of a pixel."""
    for y in range(rows.shape[0]):
        filter = sv.i32(stored[y, 0])
        if filter > 4:
            wrong[None] = 1
        for x in range(rows.shape[1]):
            left, above, corner = 0, 0, 0
            if x >= step:
                left = sv.i32(rows[y, x - step])
            if y > 0:
                above = sv.i32(rows[y - 1, x])
                if x >= step:
                    corner = sv.i32(rows[y - 1, x - step])
            predicted = 0
            if filter == 1:
                predicted = left
            elif filter == 2:
                predicted = above
            elif filter == 3:
                predicted = (left + above) // 2
            elif filter == 4:  # Paeth: the neighbor that is nearest to left + above - corner
                from_left, from_above = sv.abs(above - corner), sv.abs(left - corner)
                from_corner = sv.abs(left + above - 2 * corner)
                if from_left <= from_above and from_left <= from_corner:
                    predicted = left
                elif from_above <= from_corner:
                    predicted = above
                else:
                    predicted = corner
            rows[y, x] = sv.u8((sv.i32(stored[y, x + 1]) + predicted) & 255)
