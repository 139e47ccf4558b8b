"""Functions that are values: lambdas, functions of `operator`, and `sv.func(f)` inside a kernel."""

import operator

import pytest

import samovar as sv


@pytest.fixture(params=[{}, {"debug": True}, {"arch": "python"}], ids=["cpu", "debug", "python"], autouse=True)
def options(request):
    sv.init(**request.param)
    yield
    sv.reset()


def make(offset):
    return sv.func(lambda x: x + offset)


double, choose = sv.func(lambda x: x * 2), sv.func(lambda x, y=7: x if x > y else y)
one, two = make(1), make(2)


@sv.kernel
def calls_lambdas(x: sv.i32) -> sv.i32:
    return double(x) * 1000 + choose(x) * 100 + one(x) * 10 + two(x)


def test_lambdas_are_funcs():
    assert calls_lambdas(3) == 6000 + 700 + 40 + 5
    assert calls_lambdas(9) == 18000 + 900 + 100 + 11


@sv.kernel
def applies(f: sv.Template, x: sv.f64) -> sv.f64:
    return f(x)


@pytest.mark.filterwarnings("ignore:.*compiled like a func")
def test_a_kernel_is_given_lambdas():
    third = 3.0
    assert applies(lambda x: x / third, 6.0) == 2
    assert applies(lambda x: -x, 6.0) == -6


plus, invert = operator.add, operator.not_


@sv.kernel
def operates(x: sv.i32, y: sv.i32) -> sv.i32:
    v = operator.mul(sv.Vector([x, y]), 10)
    flags = int(operator.lt(x, y)) + 2 * int(invert(x)) + 4 * int(operator.truth(y))
    return plus(x, y) * 1000 + operator.neg(v)[1] + operator.floordiv(x, 2) + 100 * flags + operator.abs(x)


def test_operators_are_functions():
    assert operates(-5, 3) == -2000 - 30 - 3 + 100 * 5 + 5
    assert operates(0, 0) == 200


@sv.kernel
def operates_on_matrices() -> sv.f32:
    m = sv.Matrix([[1.0, 2.0], [3.0, 4.0]])
    return operator.matmul(m, sv.Vector([1.0, 10.0]))[1]


def test_a_product_is_a_function():
    assert operates_on_matrices() == 43


class Path:
    """Has operators of its own."""

    def __init__(self, parts):
        self.parts = parts

    def __truediv__(self, other):
        return Path(self.parts + other.parts)

    def __getitem__(self, index):
        return self.parts[index] * 10


ROOT = Path((3, 4))


@sv.kernel
def reads_objects() -> sv.i32:
    return sv.static(operator.truediv(ROOT, ROOT).parts[2]) + sv.static(ROOT[1])


@pytest.mark.filterwarnings("ignore:.*FASTCACHE")
def test_objects_have_operators_of_their_own_at_compile_time():
    assert reads_objects() == 43


def halved(x: sv.f64):
    return x / 2


@sv.kernel
def declares(x: sv.i32) -> sv.f64:
    return sv.func(halved)(x) + sv.real_func(halved)(2 * x) * 100


def test_a_function_is_declared_a_func_where_it_is_called():
    assert declares(7) == 703.5
