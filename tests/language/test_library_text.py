"""The texts that plain Python runs and kernels compile keep to the rules that make them mean the same in both."""

import ast
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import samovar as sv
from samovar.values import geometry, linear_algebra

MODULES = [
    geometry,
    *(
        importlib.import_module(f"{linear_algebra.__name__}.{module.name}")
        for module in pkgutil.iter_modules(linear_algebra.__path__)
    ),
]
#: Plain functions of dtypes and sizes, which texts call inside `static`.
AT_COMPILE_TIME = {"greatest_entry", "least_determinant", "least_normal", "rounds", "unit", "wider"}
FUNCTIONS = [
    (module.__name__.rpartition(".")[2], node)
    for module in MODULES
    for node in ast.parse(Path(module.__file__).read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name not in AT_COMPILE_TIME
]
REFUSED = (
    ast.Try, ast.Raise, ast.With, ast.While, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp,
    ast.Yield, ast.Import, ast.ImportFrom, ast.Assert, ast.Is, ast.In, ast.Break, ast.Continue,
)  # fmt: skip


def without_static(node):
    """The nodes of a function but for what is known at compile time."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("static", "static_assert"):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from without_static(child)


@pytest.mark.parametrize(("home", "node"), FUNCTIONS, ids=lambda value: getattr(value, "name", value))
def test_a_text_has_only_what_kernels_know(home, node):
    body = [each for statement in node.body for each in without_static(statement)]
    assert not [each for each in body if isinstance(each, REFUSED)]
    # A float literal has the default type, whatever it meets: with f64 for that, it makes f64 of f32.
    floats = [each.value for each in body if isinstance(each, ast.Constant) and isinstance(each.value, float)]
    assert floats in ([], [1.0]), "translate and scale give the default type to integers on purpose"
    assert floats == [] or (home, node.name) in (("geometry", "translate"), ("geometry", "scale"))


def test_compile_time_functions_are_there():
    names = {name for module in MODULES for name in vars(module)}
    assert names >= AT_COMPILE_TIME


@sv.kernel
def types_of_results(a: sv.types.NDArray[sv.f32, 1]):
    for i in range(1):
        m = sv.Matrix([[a[i], a[1]], [a[2], a[3]]])
        one = sv.Matrix.identity(sv.f32, 3) * a[i]
        v = one[0, :]
        results = (
            *sv.svd(m), *sv.svd(one), *sv.sym_eig(m), *sv.sym_eig(one), *sv.eig(m), *sv.eig(one), *sv.qr(m),
            *sv.polar_decompose(one), sv.cholesky(one), m.inverse(), one.inverse(), sv.solve(one, v),
            sv.math.normalize(v), sv.math.reflect(v, v),
            sv.math.quat_from_axis_angle(v, a[i]), sv.math.rot_by_axis(v, a[i]), sv.math.rotation2d(a[i]), v.normalized(),
        )  # fmt: skip
        for k in sv.static(range(len(results))):
            sv.static_assert(results[k].dtype == sv.f32)


def test_the_default_type_does_not_get_into_results():
    sv.init(default_fp=sv.f64, default_ip=sv.i64)
    try:
        types_of_results(np.array([1, 2, 3, 4], np.float32))
    finally:
        sv.reset()


def test_the_example_of_the_page(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "linear-algebra.md"
    path = tmp_path / "page.py"
    path.write_text(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)[0])
    space = runpy.run_path(str(path))
    assert space["x"].to_list() == pytest.approx([0.8, 1.4])
    assert space["rotations"](np.array([1, 2, 3, 4], np.float32)) < 1e-5
