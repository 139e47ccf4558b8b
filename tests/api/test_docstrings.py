"""Each public name has a docstring with an example, and the example runs."""

import doctest
import sys
from pathlib import Path

import pytest

import samovar as sv
from samovar.language import GPU_FUNCTIONS, derivative_rules
from samovar.language.functions import REGISTRY
from samovar.values import METHODS, python_mathematics

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "documentation"))

from public_names import all_names, handles

# Dtypes, constants and modules are described without an example, and what needs a GPU has none that runs.
REFUSED = {id(function) for functions in GPU_FUNCTIONS.values() for function in functions.values()}
NAMED = {id(name.value): name for name in reversed([*all_names(), *handles()]) if id(name.value) not in REFUSED}
DOCUMENTED = {name.path: name.value for name in NAMED.values() if name.kind in ("class", "error", "function")}
DOCUMENTED["sv"] = sv


@sv.kernel
def nothing():
    pass


DOCUMENTED["kernel.inspect"] = type(nothing).inspect


@pytest.fixture(autouse=True)
def options(monkeypatch):
    # Examples that count what is compiled must not find what another one has left.
    monkeypatch.setenv("SAMOVAR_OFFLINE_CACHE", "0")
    sv.reset()
    yield
    monkeypatch.undo()
    sv.reset()


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_example_runs(name):
    value = DOCUMENTED[name]
    examples = doctest.DocTestParser().get_doctest(value.__doc__ or "", {}, name, None, None)
    assert examples.examples, f"{name} has no example"
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_every_intrinsic_is_public():
    public = {id(getattr(module, name)) for module in (sv, sv.math) for name in module.__all__}
    public |= {id(method) for method in METHODS.values()}  # of vectors and matrices
    of_a_gpu = (sv.simt, sv.simt.block, sv.simt.grid, sv.simt.subgroup, sv.simt.warp)
    public |= {id(getattr(module, name)) for module in of_a_gpu for name in module.__all__}
    of_python = vars(python_mathematics).values()  # which programs call as `math.gcd`, `np.gcd`
    public |= {id(function) for function in of_python if getattr(function, "__module__", "") == python_mathematics.__name__}
    public |= {id(getattr(derivative_rules, name)) for name in ("detach", "surrogate", "uses_surrogates")}  # of the library
    assert [name for name, function in REGISTRY.items() if id(function) not in public] == []
