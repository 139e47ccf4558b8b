"""Fields: the layout is part of the key and the address is not, in one process and between two."""

from __future__ import annotations

import pytest
from changes import Change, check_between_processes, check_in_one_process

KERNEL = """
def made(field):
    field.from_numpy(np.arange(1, field.size + 1, dtype=np.float32).reshape(field.shape))
    return field

def placed(*levels, offset=None):
    field = sv.field(sv.f32)
    node = sv.root
    for axes, extents in levels:
        node = node.dense(axes, extents)
    node.place(field, offset=offset)
    return made(field)

f = {made}

@sv.kernel
def k({parameter}) -> float:
    s = 0.0
    for i, j in {field}:
        s += {field}[i, j] * (i + 10 * j)
    return s
"""
IMPORT = "import numpy as np\n"
MADE = "made(sv.field(sv.f32, (4, 6)))"
GLOBAL = IMPORT + KERNEL.format(made=MADE, parameter="", field="f")
ARGUMENT = IMPORT + KERNEL.format(made=MADE, parameter="f: sv.Template", field="f")
MEMBER = IMPORT + KERNEL.format(made=MADE, parameter="box: sv.Template", field="box.f").replace(
    "@sv.kernel", "@sv.data_oriented\nclass Box: pass\nbox = Box()\nbox.f = f\n\n@sv.kernel"
)


def result(rows: int, columns: int, first: tuple[int, int] = (0, 0)) -> float:
    return float(
        sum(
            (row * columns + column + 1) * (row + first[0] + 10 * (column + first[1]))
            for row in range(rows)
            for column in range(columns)
        )
    )


OTHERS = {
    "another shape": ("made(sv.field(sv.f32, (6, 4)))", result(6, 4)),
    "another order": ("made(sv.field(sv.f32, (4, 6), order='ji'))", result(4, 6)),
    "an offset": ("made(sv.field(sv.f32, (4, 6), offset=(-1, 2)))", result(4, 6, (-1, 2))),
    "blocks": ("placed((sv.ij, 2), (sv.ij, (2, 3)))", result(4, 6)),
    "other blocks": ("placed((sv.ij, (1, 3)), (sv.ij, (4, 2)))", result(4, 6)),
    "a gradient": ("made(sv.field(sv.f32, (4, 6), needs_grad=True))", result(4, 6)),
    "another dtype": ("made(sv.field(sv.f64, (4, 6)))", result(4, 6)),
    "an array": ("made(sv.ndarray(sv.f32, (5, 6)))", result(5, 6)),
}
CHANGES = {
    f"{name} of {kind}": Change(source, f"{target} = {made}", result(4, 6), after, call)
    for name, (made, after) in OTHERS.items()
    for kind, source, target, call in (
        ("a global", GLOBAL, "f", "k()"),
        ("an argument", ARGUMENT, "f", "k(f)"),
        ("a member", MEMBER, "box.f", "k(box)"),
    )
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_field_is_seen_by_the_next_launch(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_another_field_is_seen_by_another_process(tmp_path):
    # One kind of each: those between which nothing differs here are told apart above.
    chosen = [*list(CHANGES)[:: len(CHANGES) // len(OTHERS)], "blocks of a member", "an array of an argument"]
    check_between_processes(tmp_path, {name: CHANGES[name] for name in chosen})


def test_an_equal_field_at_another_address_is_no_other_kernel(tmp_path):
    import samovar as sv

    before = sv.compile_count()
    for source, target, call in ((GLOBAL, "f", "k()"), (ARGUMENT, "f", "k(f)"), (MEMBER, "box.f", "k(box)")):
        check_in_one_process(tmp_path, Change(source, f"old = f; {target} = {MADE}", result(4, 6), result(4, 6), call))
    assert sv.compile_count() == before + 3
