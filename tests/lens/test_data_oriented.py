"""`data_oriented` classes: kernels and funcs as methods, what is baked, inheritance, several instances, several threads."""

import dataclasses
import enum
import pickle
import threading

import numpy as np
import pytest

import samovar as sv


@sv.data_oriented
class Solver:
    def __init__(self, n=4, gain=2.0):
        self.x = sv.ndarray(sv.f32, n)
        self.gain = gain
        self.rounds = 2

    @sv.func
    def force(self, i):
        return self.gain * i

    @sv.kernel
    def step(self, scale: sv.f32 = 1.0):
        for i in self.x:
            for _ in sv.static(range(self.rounds)):
                self.x[i] += self.force(i) * scale


def values(array):
    return array.to_numpy().tolist() if isinstance(array, sv.Ndarray) else array.tolist()


def test_a_kernel_and_a_func_as_methods():
    solver = Solver()
    solver.step()
    assert values(solver.x) == [0, 4, 8, 12]
    solver.step(scale=0.5)
    assert values(solver.x) == [0, 6, 12, 18]
    Solver.step(solver, 0.5)
    assert values(solver.x) == [0, 8, 16, 24]


def test_numbers_are_baked_and_guarded_on_the_same_and_on_another_instance():
    one, two = Solver(gain=1.0), Solver(gain=3.0)
    for solver in (one, two, one, two):
        solver.step()
    assert (one.x[1], two.x[1]) == (4, 12)
    one.gain = 3.0
    before = len(Solver.step.specializations)
    one.step()
    assert one.x[1] == 10
    assert len(Solver.step.specializations) == before
    one.rounds = 3
    one.step()
    assert one.x[1] == 19


def test_equal_numbers_of_different_types_are_different():
    @sv.data_oriented
    class Half:
        def __init__(self, n):
            self.n = n

        @sv.kernel
        def half(self) -> sv.f32:
            return self.n // 2

    assert [Half(5).half(), Half(5.0).half(), Half(True).half(), Half(-0.0).half()] == [2, 2, 0, 0]
    assert len(Half.half.specializations) == 4


def test_an_object_as_a_template_argument():
    @sv.kernel
    def shift(solver: sv.Template, by: sv.f32):
        for i in solver.x:
            solver.x[i] += by * solver.rounds

    solver = Solver()
    shift(solver, 1.5)
    solver.rounds = 4
    shift(solver, 1.0)
    assert values(solver.x) == [7] * 4


def test_objects_in_objects_with_dataclasses_lists_and_tuples():
    class Kind(enum.Enum):
        A = 1
        B = 2

    @dataclasses.dataclass
    class Data:
        a: object
        weight: float

    @sv.data_oriented
    class Part:
        def __init__(self, data):
            self.data = data
            self.order = 2

    @sv.func
    def plus(x):
        return x + 1.0

    @sv.func
    def times(x):
        return x * 3.0

    @sv.data_oriented
    class Whole:
        def __init__(self):
            self.part = Part(Data(np.ones(3, np.float32), 0.5))
            self.arrays = [np.zeros(3, np.float32), np.zeros(3, np.float32)]
            self.funcs = (plus, times)
            self.by_name = {"left": np.full(3, 2, np.float32), Kind.B: 5}
            self.parts = [Part(Data(np.full(3, k, np.float32), 1.0)) for k in range(2)]
            self.kind = Kind.A

        @sv.kernel
        def run(self):
            for i in self.part.data.a:
                x = self.part.data.a[i] * self.part.data.weight * self.part.order
                for f in sv.static(self.funcs):
                    x = f(x)
                for k in sv.static(range(len(self.arrays))):
                    self.arrays[k][i] += x + k
                for part in sv.static(self.parts):
                    self.arrays[0][i] += part.data.a[i] * part.order
                self.arrays[1][i] += self.by_name["left"][i] * self.by_name[Kind.B]
                if sv.static(self.kind is Kind.B):
                    self.arrays[0][i] = -1.0

    whole = Whole()
    whole.run()
    assert values(whole.arrays[0]) == [8] * 3
    assert values(whole.arrays[1]) == [17] * 3
    whole.part.data.weight = 1.0  # of a dataclass: read at each launch
    before = len(Whole.run.specializations)
    whole.run()
    assert values(whole.arrays[0]) == [8 + 11] * 3
    assert len(Whole.run.specializations) == before
    whole.funcs = (times, plus)
    whole.kind = Kind.B
    whole.run()
    assert values(whole.arrays[0]) == [-1] * 3
    assert values(whole.arrays[1]) == [17 + 20 + 18] * 3


def test_run_time_numbers_where_the_class_wants_them():
    @sv.data_oriented(template_primitives=False)
    class Free:
        def __init__(self):
            self.x = np.zeros(4, np.float32)
            self.n, self.gain, self.on = 2, 1.5, True

        @sv.kernel
        def step(self):
            for i in range(self.n):
                if self.on:
                    self.x[i] += self.gain

        @sv.kernel
        def bad(self):
            for i in sv.static(range(self.n)):
                self.x[i] = 1.0

    free = Free()
    free.step()
    free.n, free.gain = 4, 2.0
    free.step()
    free.on = False
    free.step()
    assert values(free.x) == [3.5, 3.5, 2, 2]
    assert len(Free.step.specializations) == 1
    with pytest.raises(sv.SamovarSyntaxError, match=r"`self\.n` is read at each launch.*template_primitives=False"):
        free.bad()


def test_options_of_the_decorator_are_inherited_and_can_be_overridden():
    @sv.data_oriented(template_primitives=False)
    class Base:
        def __init__(self):
            self.n = 3

        @sv.kernel
        def get(self) -> sv.i32:
            return self.n

    class Plain(Base):
        pass

    @sv.data_oriented
    class Decorated(Base):
        pass

    @sv.data_oriented(template_primitives=True)
    class Baked(Base):
        pass

    for cls in (Base, Plain, Decorated, Baked):
        thing = cls()
        before = len(Base.get.specializations)
        assert thing.get() == 3
        thing.n = 4
        assert thing.get() == 4
        assert len(Base.get.specializations) == before + (2 if cls is Baked else 1)


def test_inheritance_overriding_and_super():
    @sv.data_oriented
    class Base:
        def __init__(self):
            self.x = np.zeros(2, np.float32)
            self.c = 1.0

        @sv.func
        def rate(self, i):
            return self.c + i

        @sv.kernel
        def step(self):
            for i in self.x:
                self.x[i] += self.rate(i)

    class Middle(Base):
        @sv.func
        def rate(self, i):
            return super().rate(i) * 10.0

    class Leaf(Middle):
        @sv.func
        def rate(self, i):
            return super().rate(i) + self.extra

        def __init__(self):
            super().__init__()
            self.extra = 0.5

        @sv.kernel
        def step(self):
            for i in self.x:
                self.x[i] = self.rate(i)

        def both(self):
            super().step()
            self.step()

    base, middle, leaf = Base(), Middle(), Leaf()
    base.step(), middle.step(), leaf.step()
    assert [values(each.x) for each in (base, middle, leaf)] == [[1, 2], [10, 20], [10.5, 20.5]]
    leaf.extra = 1.5
    leaf.both()
    assert values(leaf.x) == [11.5, 21.5]
    Middle.rate = Base.__dict__["rate"]  # a class may change as well
    leaf.step()
    assert values(leaf.x) == [2.5, 3.5]


def test_cooperative_inheritance_follows_the_order_of_the_object():
    @sv.data_oriented
    class Root:
        @sv.func
        def value(self):
            return 1.0

        @sv.kernel
        def get(self) -> sv.f32:
            return self.value()

    class Left(Root):
        @sv.func
        def value(self):
            return super().value() + 10.0

    class Right(Root):
        @sv.func
        def value(self):
            return super().value() * 3.0

    class Both(Left, Right):
        pass

    assert [Root().get(), Left().get(), Right().get(), Both().get()] == [1, 11, 3, 13]


def test_properties_static_methods_and_class_methods():
    @sv.data_oriented
    class Many:
        constant = 7.0

        def __init__(self):
            self.raw = np.zeros(2, np.float32)
            self.asked = 0

        @property
        def view(self):
            self.asked += 1
            return self.raw[::-1]

        @property
        def unread(self):
            raise AssertionError("nobody reads this")

        @staticmethod
        @sv.func
        def square(x):
            return x * x

        @classmethod
        @sv.func
        def shared(cls, x):
            return x + cls.constant

        def plain(self):
            return 2

        @sv.kernel
        def run(self):
            for i in self.view:
                self.view[i] += self.square(2.0) + self.shared(i) + sv.static(self.plain())

    many = Many()
    many.run()
    assert values(many.raw) == [14, 13]
    asked = many.asked
    many.run()
    assert many.asked == asked + 1  # once per launch, however often the kernel mentions it
    Many.constant = 1.0
    many.run()
    assert values(many.raw) == [28 + 8, 26 + 7]


def test_slots():
    @sv.data_oriented
    class Slotted:
        __slots__ = ("n", "x")

        def __init__(self):
            self.x, self.n = np.zeros(2, np.float32), 3

        @sv.kernel
        def step(self):
            for i in self.x:
                self.x[i] += self.n

    one = Slotted()
    one.step()
    one.n = 4
    one.step()
    one.x = np.full(3, 5, np.float32)
    one.step()
    assert values(one.x) == [9] * 3
    del one.x
    with pytest.raises(sv.SamovarCompilationError, match=r"`self`.* has no attribute `x`"):
        one.step()


def test_bound_funcs_of_other_objects():
    @sv.data_oriented
    class Law:
        def __init__(self, k):
            self.k = k

        @sv.func
        def apply(self, x):
            return x * self.k

    @sv.data_oriented
    class World:
        def __init__(self, *laws):
            self.laws = laws
            self.chosen = laws[0].apply  # bound already, to another object
            self.x = np.ones(2, np.float32)

        @sv.kernel
        def run(self):
            for i in self.x:
                for law in sv.static(self.laws):
                    self.x[i] = law.apply(self.x[i])
                self.x[i] = self.chosen(self.x[i])

    world = World(Law(2.0), Law(3.0))
    world.run()
    assert values(world.x) == [12] * 2
    world.laws[1].k = 5.0
    world.run()
    assert values(world.x) == [12 * 20] * 2
    world.chosen = world.laws[1].apply
    world.run()
    assert values(world.x) == [12 * 20 * 50] * 2


def test_a_method_that_an_instance_replaces():
    solver = Solver()
    solver.step()

    @sv.func
    def other(i):
        return 100.0

    solver.force = other
    solver.step()
    assert values(solver.x) == [200, 204, 208, 212]
    del solver.force
    solver.step()
    assert values(solver.x) == [200, 208, 216, 224]


def test_a_kernel_is_not_called_from_a_kernel():
    @sv.data_oriented
    class Twice:
        def __init__(self):
            self.x = np.zeros(2, np.float32)

        @sv.kernel
        def one(self):
            self.x[0] = 1.0

        @sv.kernel
        def two(self):
            self.one()

    with pytest.raises(sv.SamovarTypeError, match=r"`self\.one`"):
        Twice().two()


def test_nothing_is_written_into_objects_and_their_pickle_stays():
    solver = PICKLED
    before, pickled = dict(vars(solver)), pickle.dumps(solver)
    solver.step()
    assert vars(solver) == before
    assert list(vars(solver)) == list(before)
    solver.x.fill(0)
    assert pickle.dumps(solver) == pickled


PICKLED = Solver()


def test_many_threads_launch_on_many_instances():
    solvers = [Solver(n=8, gain=float(number % 3)) for number in range(6)]
    problems = []

    def work(solver):
        try:
            for _ in range(200):
                solver.step()
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(solver,)) for solver in solvers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    for number, solver in enumerate(solvers):
        assert values(solver.x) == [400 * (number % 3) * i for i in range(8)]


def test_only_classes_can_be_decorated():
    with pytest.raises(sv.SamovarTypeError, match="decorates a class, not a function"):
        sv.data_oriented(lambda: None)


def test_an_undecorated_class_works_as_a_decorated_one_does():
    class Plain:
        def __init__(self):
            self.x, self.n = np.zeros(2, np.float32), 2

        @sv.kernel
        def step(self):
            for i in self.x:
                self.x[i] += self.n

    one = Plain()
    one.step()
    one.n = 3
    one.step()
    assert values(one.x) == [5, 5]


def test_a_kernel_that_is_declared_pure_may_read_its_object():
    @sv.func
    def helper(solver, i):
        return solver.gain * i

    @sv.data_oriented
    class Pure:
        def __init__(self):
            self.x, self.gain = np.zeros(3, np.float32), 2.0

        @sv.func
        def rate(self, i):
            return helper(self, i)

        @sv.kernel(fastcache=True)
        def step(self):
            for i in self.x:
                self.x[i] += self.rate(i)

    class Derived(Pure):
        @sv.func
        def rate(self, i):
            return super().rate(i) + 1.0

    for cls, expected in ((Pure, [0, 2, 4]), (Derived, [1, 3, 5])):
        thing = cls()
        thing.step()
        assert values(thing.x) == expected
