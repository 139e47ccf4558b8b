"""Classes that read attributes in a way of their own (`torch.nn.Module`, pydantic's models): their funcs are called as
methods, and what reading them gives is seen at each launch."""

import numpy as np
import pydantic
import pytest

import samovar as sv
from samovar.runtime.func import Func
from samovar.runtime.kernel import Kernel


class Hook:
    """What is not found the ordinary way is looked for in another place."""

    def __getattr__(self, name):
        try:
            return self.__dict__["hidden"][name]
        except KeyError:
            raise AttributeError(name) from None


class Override:
    """Every attribute goes through Python."""

    def __getattribute__(self, name):
        if name == "f" and "other" in object.__getattribute__(self, "__dict__"):
            return object.__getattribute__(self, "other")
        return object.__getattribute__(self, name)


class Both(Hook, Override):
    pass


BASES = [Hook, Override, Both]


def make(base):
    @sv.data_oriented
    class Net(base):
        def __init__(self, k=3):
            self.hidden = {}
            self.k = k

        @sv.func
        def f(self, x):
            return x + self.k

        @sv.func
        def g(self, x):
            return x * 100

        @sv.kernel
        def run(self) -> sv.i32:
            return self.f(1)

    return Net


@pytest.mark.parametrize("base", BASES)
def test_a_func_is_called_as_a_method(base):
    net = make(base)()
    assert [net.run(), net.run()] == [4, 4]
    assert type(net)(5).run() == 6
    assert len(type(net).run.specializations) == 2


@pytest.mark.parametrize("base", BASES)
def test_an_instance_that_hides_the_func(base):
    net = make(base)()
    assert net.run() == 4

    @sv.func
    def other(x):
        return x * 7

    net.f = other
    assert [net.run(), net.run()] == [7, 7]
    del net.f
    assert net.run() == 4


@pytest.mark.parametrize("base", BASES)
def test_a_class_that_gets_another_func(base):
    net = make(base)()
    assert net.run() == 4
    type(net).f = type(net).__dict__["g"]
    assert net.run() == 100


@pytest.mark.parametrize("base", [Override, Both])
def test_a_way_of_reading_that_gives_another_func_from_now_on(base):
    net = make(base)()
    assert net.run() == 4
    net.other = net.g
    assert [net.run(), net.run()] == [100, 100]
    del net.other
    assert net.run() == 4


def test_a_func_that_only_getattr_finds():
    net, other = make(Hook)(), make(Hook)(10)
    func = type(net).__dict__["f"]
    del type(net).f
    net.hidden["f"] = func.__get__(net)
    assert [net.run(), net.run()] == [4, 4]
    net.hidden["f"] = type(net).__dict__["g"].__get__(net)
    assert net.run() == 100
    net.hidden["f"] = type(other).__dict__["f"].__get__(other)
    assert net.run() == 11


def test_the_way_of_reading_changes():
    net = make(Hook)()
    assert net.run() == 4
    Net = type(net)
    Net.__getattribute__ = lambda self, name: object.__getattribute__(self, "g" if name == "f" else name)
    assert net.run() == 100
    del Net.__getattribute__
    assert net.run() == 4


def test_a_model_of_pydantic():
    @sv.data_oriented
    class Model(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(ignored_types=(Func, Kernel), arbitrary_types_allowed=True)
        k: int = 3
        x: np.ndarray

        @sv.func
        def f(self, value):
            return value + self.k

        @sv.kernel
        def run(self):
            for i in self.x:
                self.x[i] = self.f(i)

    model = Model(x=np.zeros(3, np.int32))
    for _ in range(2):
        model.run()
        assert model.x.tolist() == [3, 4, 5]
    model.k = 10
    model.run()
    assert model.x.tolist() == [10, 11, 12]
