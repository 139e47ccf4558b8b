"""Small things of Quadrants that programs use, under its name and ours."""

import enum
import os
import subprocess
import sys

import pytest

import samovar as sv
import samovar.compat.quadrants as qd


class Stage(enum.IntEnum):
    GROW = 1


def test_events_take_streams_by_the_name_of_quadrants():
    stream, event = qd.create_stream(), qd.create_event()
    event.record(qd_stream=stream)
    event.wait(qd_stream=stream)
    event.record(stream)
    event.wait(stream)


def test_a_checkpoint_takes_its_flag_by_position():
    @qd.kernel(graph=True, checkpoints=True)
    def step(x: qd.types.NDArray[qd.i32, 1], flag: qd.types.NDArray[qd.i32, 0]):
        with qd.checkpoint(Stage.GROW, flag):
            for i in range(4):
                x[i] += 1

    flag = qd.ndarray(qd.i32, ())
    flag.fill(1)
    assert step(qd.ndarray(qd.i32, (4,)), flag).checkpoint is Stage.GROW
    with qd.checkpoint(0, None):
        pass


@pytest.mark.parametrize(
    ("arguments", "message"), [("1, flag, flag", "a label and a flag"), ("1, flag, yield_on=flag", "two flags")]
)
def test_a_checkpoint_takes_one_label_and_one_flag(arguments, message, tmp_path):
    text = f"""
@sv.kernel(graph=True, checkpoints=True)
def step(x: sv.types.NDArray[sv.i32, 1], flag: sv.types.NDArray[sv.i32, 0]):
    with sv.checkpoint({arguments}):
        for i in range(4):
            x[i] += 1
"""
    path = tmp_path / "step.py"
    path.write_text(text)
    names = {"sv": sv}
    exec(compile(text, path, "exec"), names)
    with pytest.raises(sv.SamovarSyntaxError, match=message):
        names["step"](sv.ndarray(sv.i32, 4), sv.ndarray(sv.i32, ()))


def test_backends_are_numbers():
    assert (int(qd.Backend.FIELD), int(qd.Backend.NDARRAY)) == (0, 1)
    assert isinstance(qd.tensor(qd.f32, shape=(3,), backend=0), sv.Field)
    assert isinstance(qd.tensor(qd.f32, shape=(3,), backend=1), sv.Ndarray)
    for wrong in (2, "field", None):
        with pytest.raises(TypeError, match="backend must be"):
            qd.tensor(qd.f32, (3,), backend=wrong)


def test_the_type_of_views_is_a_class():
    assert isinstance(qd.BufferView[qd.f32], qd.types.BufferViewType)
    assert isinstance(qd.types.BufferViewType(qd.f32, "clamp"), qd.types.BufferViewType)
    assert not isinstance(qd.types.ndarray(qd.f32, 1), qd.types.BufferViewType)

    @qd.kernel
    def scale(v: qd.types.BufferViewType(qd.f32)):
        for i in range(v.size):
            v[i] *= 2

    a = qd.ndarray(qd.f32, (4,))
    a.fill(1)
    scale(a[1:3])
    assert a.to_numpy().tolist() == [1, 2, 2, 1]


def test_a_wrong_boundary_is_a_wrong_value():
    with pytest.raises(ValueError, match="boundary"):
        qd.types.ndarray(dtype=qd.f32, ndim=1, boundary="wrong")
    with pytest.raises(ValueError, match="boundary"):
        sv.types.buffer_view(sv.f32, "wrong")


def test_any_and_all_of_matrices():
    @qd.kernel
    def found(m: qd.types.matrix(2, 2, qd.i32)) -> qd.i32:
        result = 0
        for _ in range(1):
            if any(m):
                result += 1
            if all(m):
                result += 2
            if any(m + 0):
                result += 4
        return result

    assert found([[0, 1], [0, 0]]) == 5
    assert found([[1, 1], [2, 3]]) == 7
    assert found([[0, 0], [0, 0]]) == 0


def test_rows_and_columns_of_elements():
    x, y = qd.Vector.field(4, qd.f32, ()), qd.Matrix.field(2, 3, qd.f32, shape=(4,))
    z = qd.ndarray(qd.math.vec3, (2,))

    @qd.kernel
    def sizes(z: qd.types.NDArray[qd.math.vec3, 1]) -> qd.i32:
        return x.n + 10 * y.n + 100 * y.m + 1000 * x.m + 10000 * z.n

    assert sizes(z) == 31324
    numbers = qd.field(qd.f32, (4,))

    @qd.kernel
    def rows_of_numbers() -> qd.i32:
        return numbers.n

    with pytest.raises(sv.SamovarSyntaxError, match="an array has no attribute `n`"):
        rows_of_numbers()


@pytest.mark.parametrize("given", ["variable", "option", "neither"])
def test_the_variable_that_dumps_ir(given, tmp_path):
    folder = tmp_path / "dumped"
    program = f"""
import samovar.compat.quadrants as qd
qd.init(arch=qd.cpu{f", debug_dump_path={str(folder)!r}" if given == "option" else ""})

@qd.kernel
def two_tasks(x: qd.types.NDArray[qd.f32, 1]):
    for i in x:
        x[i] += 1
    for i in x:
        x[i] *= 2

two_tasks(qd.ndarray(qd.f32, (4,)))
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    environment = {**os.environ, "QD_DUMP_IR": "0" if given == "neither" else "1", "HOME": str(tmp_path)}
    if given == "variable":
        environment["QD_DEBUG_DUMP_PATH"] = str(folder)
    for _ in range(2):  # also where the kernel could come from the cache
        done = subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        names = sorted(os.listdir(folder)) if folder.exists() else []
        assert len([name for name in names if name.endswith(".task.ir")]) == (0 if given == "neither" else 2)
        for name in names:
            os.remove(folder / name)


def test_round_goes_away_from_zero_as_in_the_peers():
    out = qd.field(qd.f32, 9)

    @qd.kernel
    def rounded() -> qd.f32:
        for i in out:
            out[i] = qd.round((i - 4) * 0.5)
        return qd.round(out[8] + 0.5, qd.i32) * 100 + qd.round(qd.Vector([out[5], 1.4])).sum()

    qd.init()
    assert rounded() == 302
    assert out.to_numpy().tolist() == [-2, -2, -1, -1, 0, 1, 1, 2, 2]
    sv.init(rounded_halves="even")
    assert rounded() == 201
    assert out.to_numpy().tolist() == [-2, -2, -1, 0, 0, 0, 1, 2, 2]
    sv.reset()
