"""Each public name has a docstring with an example, and the example runs."""

import doctest

import pytest

import samovar as sv
from samovar.language import METHODS
from samovar.language.functions import REGISTRY

# Dtypes and names of architectures are values, and modules say what they hold.
VALUES = {"cpu", "cuda", "gpu", "x64", "math", "types", "FIELD_METADATA_CACHE_VALUE"}
VALUES |= {name for name in sv.__all__ if isinstance(getattr(sv, name), type(sv.f32))}
FUNCTIONS = [name for name in sv.math.__all__ if callable(getattr(sv.math, name))]
DOCUMENTED = {f"sv.{name}": getattr(sv, name) for name in sv.__all__ if name not in VALUES}
DOCUMENTED.update({f"sv.math.{name}": getattr(sv.math, name) for name in FUNCTIONS})
DOCUMENTED.update({f"sv.types.{name}": getattr(sv.types, name) for name in ("NDArray", "ndarray")})
DOCUMENTED.update({f"sv.graph.{name}": getattr(sv.graph, name) for name in sv.graph.__all__})
DOCUMENTED["sv"] = sv
DOCUMENTED["kernel.inspect"] = type(sv.kernel(lambda: None)).inspect


@pytest.fixture(autouse=True)
def options():
    yield
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
    assert [name for name, function in REGISTRY.items() if id(function) not in public] == []
