"""Compounds across processes: what shares an artifact, what distinguishes, and that a warm process computes the same.

Each test is a program that is run several times, in processes of their own, with one cache directory. A run gets arguments,
prints its result and whether the kernel came from the cache.
"""

import json
import os
import subprocess
import sys
from textwrap import dedent

import pytest

EPILOGUE = """
import json, sys, warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    result = run(**json.loads(sys.argv[1]))
seen = KERNEL.cache_observations
loaded = sorted({"dataclasses", "inspect", "ast", "llvmlite", "samovar.frontend", "samovar.compiler"} & set(sys.modules))
print(json.dumps({
    "result": result, "loaded": seen.cache_loaded, "stored": seen.cache_stored, "compiled": sv.compile_count(),
    "said": [str(each.message) for each in said], "modules": loaded,
}))
"""


@pytest.fixture
def launch(tmp_path):
    """Write a program; what is returned runs it in a new process."""

    def write(text):
        program = tmp_path / "program.py"
        program.write_text(dedent(text) + EPILOGUE)

        def run(**arguments):
            environment = {
                **os.environ,
                "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache"),
            }
            done = subprocess.run(
                [sys.executable, str(program), json.dumps(arguments)],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout.splitlines()[-1])

        return run

    return write


def test_instances_that_differ_only_in_unread_members_share_one_artifact(launch):
    run = launch("""
        import uuid
        import samovar as sv

        @sv.data_oriented
        class State:
            def __init__(self, **more):
                self.x = sv.ndarray(sv.f32, 4)
                self.uid = uuid.uuid4()
                self.__dict__.update(more)

            @sv.kernel
            def step(self):
                for i in self.x:
                    self.x[i] += self.n

        KERNEL = State.step

        def run(**more):
            state = State(n=2, **more)
            state.step()
            return state.x[3]
        """)
    assert run(unused=1) == {"result": 2, "loaded": False, "stored": True, "compiled": 1, "said": [], "modules": ANY}
    for more in ({"unused": 2}, {"other": "text", "unused": [1, 2]}, {}):
        again = run(**more)
        assert (again["result"], again["loaded"], again["compiled"]) == (2, True, 0)


class Anything:
    def __eq__(self, other):
        return True


ANY = Anything()


def test_a_warm_process_loads_neither_the_compiler_nor_dataclasses(launch):
    run = launch("""
        import samovar as sv

        @sv.data_oriented
        class State:
            def __init__(self):
                self.x = sv.ndarray(sv.f32, 4)
                self.n = 3

            @sv.func
            def value(self, i):
                return self.n * i

            @sv.kernel
            def step(self):
                for i in self.x:
                    self.x[i] += self.value(i)

        KERNEL = State.step

        def run():
            state = State()
            state.step()
            return state.x[3]
        """)
    assert run()["compiled"] == 1
    warm = run()
    assert (warm["result"], warm["loaded"], warm["modules"]) == (9, True, [])


def test_a_primitive_that_is_read_distinguishes(launch):
    run = launch("""
        import samovar as sv

        @sv.data_oriented
        class State:
            pass

        @sv.kernel
        def step(s: sv.Template) -> sv.i32:
            return s.n * 10

        KERNEL = step

        def run(n, unread=0):
            state = State()
            state.n, state.unread = n, unread
            return step(state)
        """)
    assert [(run(n=n)["result"], run(n=n)["loaded"]) for n in (2, 3)] == [(20, True), (30, True)]
    assert run(n=4)["compiled"] == 1
    assert run(n=2, unread=9)["loaded"]


def test_a_dataclass_primitive_does_not_distinguish_unless_it_is_baked(launch):
    run = launch("""
        import dataclasses
        import samovar as sv

        @dataclasses.dataclass
        class Config:
            free: int
            baked: int = dataclasses.field(metadata={sv.FIELD_METADATA_CACHE_VALUE: True})

        @sv.kernel
        def step(c: Config) -> sv.i32:
            total = 0
            for i in range(c.free):
                for k in sv.static(range(c.baked)):
                    total += k + 1
            return total

        KERNEL = step

        def run(free, baked):
            return step(Config(free, baked))
        """)
    assert (run(free=2, baked=3)["result"], run(free=5, baked=3)["result"]) == (12, 30)
    assert run(free=7, baked=3) == {"result": 42, "loaded": True, "stored": False, "compiled": 0, "said": [], "modules": ANY}
    other = run(free=2, baked=4)
    assert (other["result"], other["compiled"]) == (20, 1)


def test_metadata_that_changes_is_seen(launch, tmp_path):
    text = """
        import dataclasses
        import samovar as sv

        @dataclasses.dataclass
        class Config:
            n: int = dataclasses.field(default=3, metadata=METADATA)

        @sv.kernel
        def get(c: Config) -> sv.i32:
            return c.n * 2

        KERNEL = get

        def run(n):
            return get(Config(n))
        """
    run = launch(text.replace("METADATA", "{}"))
    assert (run(n=3)["compiled"], run(n=4)["compiled"]) == (1, 0)
    run = launch(text.replace("METADATA", "{sv.FIELD_METADATA_CACHE_VALUE: True}"))
    assert [(run(n=n)["result"], run(n=n)["compiled"]) for n in (3, 4)] == [(6, 0), (8, 0)]
    run = launch(text.replace("METADATA", "{}"))
    assert (run(n=5)["result"], run(n=6)["compiled"]) == (10, 0)


def test_an_opaque_member_that_is_read_runs_uncached_and_says_so(launch):
    run = launch("""
        import uuid
        import samovar as sv

        @sv.data_oriented
        class State:
            def __init__(self):
                self.uid = uuid.uuid4()

        def length(uid):
            return len(uid.hex)

        @sv.kernel
        def step(s: sv.Template) -> sv.i32:
            return sv.static(length(s.uid))

        KERNEL = step

        def run():
            return step(State())
        """)
    for _ in range(2):
        seen = run()
        assert (seen["result"], seen["loaded"], seen["stored"], seen["compiled"]) == (32, False, False, 1)
        assert any("s.uid" in each and "uuid.UUID" in each for each in seen["said"])


def test_a_dtype_two_funcs_deep_distinguishes(launch):
    run = launch("""
        import dataclasses
        import samovar as sv

        @dataclasses.dataclass
        class Dofs:
            x: object

        @sv.data_oriented
        class Solver:
            pass

        @sv.func
        def inner(dofs):
            return dofs.x[0] / 2

        @sv.func
        def outer(solver):
            return inner(solver.dofs)

        @sv.kernel
        def step(s: sv.Template) -> sv.f64:
            return outer(s)

        KERNEL = step

        def run(dtype):
            solver = Solver()
            solver.dofs = Dofs(sv.ndarray(getattr(sv, dtype), 2))
            solver.dofs.x[0] = 5
            return step(solver)
        """)
    assert [run(dtype=dtype)["result"] for dtype in ("f32", "i32", "f64")] == [2.5] * 3
    assert [run(dtype=dtype)["loaded"] for dtype in ("f32", "i32", "f64")] == [True] * 3
    assert run(dtype="i16")["compiled"] == 1


def test_with_three_arrays_of_which_one_is_written_a_warm_process_writes_the_right_one(launch):
    run = launch("""
        import samovar as sv

        @sv.data_oriented
        class State:
            def __init__(self, order):
                for name in order:
                    setattr(self, name, sv.ndarray(sv.f32, 2))

        @sv.kernel
        def step(s: sv.Template):
            for i in s.b:
                s.b[i] = 7.0

        KERNEL = step

        def run(order):
            state = State(order)
            step(state)
            return [getattr(state, name)[1] for name in "abc"]
        """)
    assert run(order="abc")["result"] == [0, 7, 0]
    for order in ("abc", "cba", "bca"):
        warm = run(order=order)
        assert (warm["result"], warm["loaded"]) == ([0, 7, 0], True)


def test_an_artifact_without_gradients_is_not_used_for_an_array_with_one(launch):
    run = launch("""
        import samovar as sv

        @sv.data_oriented
        class State:
            pass

        @sv.kernel
        def step(s: sv.Template):
            for i in s.x:
                s.x[i] += 1.0

        KERNEL = step

        def run(needs_grad):
            state = State()
            state.x = sv.ndarray(sv.f32, 2, needs_grad=needs_grad)
            step(state)
            return state.x[0]
        """)
    assert run(needs_grad=False)["compiled"] == 1
    assert run(needs_grad=True) == {"result": 1, "loaded": False, "stored": True, "compiled": 1, "said": [], "modules": ANY}
    assert run(needs_grad=True)["loaded"]
    assert run(needs_grad=False)["loaded"]


@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_a_class_whose_members_vary_between_instances_works_in_both_orders(launch, order):
    run = launch("""
        import samovar as sv

        @sv.data_oriented
        class Manager:
            def __init__(self, with_cache):
                self.with_cache = with_cache
                self.x = sv.ndarray(sv.f32, 2)
                if with_cache:
                    self.cache = sv.ndarray(sv.f32, 2)
                    self.cache.fill(5)

        @sv.kernel
        def step(m: sv.Template):
            m.x[0] += 1.0
            if sv.static(m.with_cache):
                m.x[0] += m.cache[0]

        KERNEL = step

        def run(with_cache):
            manager = Manager(with_cache)
            step(manager)
            return manager.x[0]
        """)
    expected = {True: 6, False: 1}
    for with_cache in order:
        assert run(with_cache=with_cache)["result"] == expected[with_cache]
    for with_cache in order:
        warm = run(with_cache=with_cache)
        assert (warm["result"], warm["loaded"]) == (expected[with_cache], True)


def test_a_member_in_a_dead_static_branch_is_not_needed_in_a_warm_process(launch):
    run = launch("""
        import samovar as sv

        @sv.data_oriented
        class State:
            pass

        @sv.kernel
        def step(s: sv.Template) -> sv.i32:
            if sv.static(s.on):
                return s.heavy[0] + s.more.n
            return -1

        KERNEL = step

        def run(on, complete):
            state = State()
            state.on = on
            if complete:
                state.heavy = sv.ndarray(sv.i32, 1)
                state.more = State()
                state.more.n = 4
            return step(state)
        """)
    assert run(on=False, complete=True)["result"] == -1
    warm = run(on=False, complete=False)
    assert (warm["result"], warm["loaded"]) == (-1, True)
    assert run(on=True, complete=True)["result"] == 4


def test_an_object_of_another_class_is_refused_in_a_warm_process(launch):
    run = launch("""
        import dataclasses
        import samovar as sv

        @dataclasses.dataclass
        class State:
            n: int = 3

        @dataclasses.dataclass
        class Other:
            n: int = 3

        @sv.kernel
        def get(s: State) -> sv.i32:
            return s.n

        KERNEL = get

        def run(other):
            try:
                return get(Other() if other else State())
            except sv.SamovarTypeError as error:
                return str(error)
        """)
    assert run(other=False)["result"] == 3
    assert "expected a __main__.State, got a __main__.Other" in run(other=True)["result"]


def test_methods_super_and_class_options_in_a_warm_process(launch):
    run = launch("""
        import samovar as sv

        @sv.data_oriented(template_primitives=False)
        class Base:
            def __init__(self, c):
                self.x, self.c = sv.ndarray(sv.f32, 2), c

            @sv.func
            def rate(self, i):
                return self.c + i

            @sv.kernel
            def step(self):
                for i in self.x:
                    self.x[i] += self.rate(i)

        class Derived(Base):
            @sv.func
            def rate(self, i):
                return super().rate(i) * FACTOR

        FACTOR = 10.0
        KERNEL = Base.step

        def run(name, c, factor=10.0):
            global FACTOR
            FACTOR = factor
            thing = {"Base": Base, "Derived": Derived}[name](c)
            thing.step()
            return [thing.x[0], thing.x[1]]
        """)
    assert run(name="Derived", c=1.0)["result"] == [10, 20]
    assert run(name="Base", c=1.0)["result"] == [1, 2]
    warm = run(name="Derived", c=2.0)
    assert (warm["result"], warm["loaded"]) == ([20, 30], True)
    warm = run(name="Base", c=3.0)
    assert (warm["result"], warm["loaded"]) == ([3, 4], True)
    assert run(name="Derived", c=1.0, factor=100.0)["result"] == [100, 200]


def test_a_class_with_getattr_in_a_warm_process(launch):
    run = launch("""
        import samovar as sv

        @sv.data_oriented
        class Net:
            def __init__(self, k):
                self.k = k

            def __getattr__(self, name):
                raise AttributeError(name)

            @sv.func
            def f(self, x):
                return x + self.k

            @sv.func
            def g(self, x):
                return x * 100

            @sv.kernel
            def step(self) -> sv.i32:
                return self.f(1)

        KERNEL = Net.step

        def run(k, other=False):
            if other:
                Net.f = Net.g
            return [Net(k).step(), Net(k).step()]
        """)
    assert run(k=3)["result"] == [4, 4]
    warm = run(k=3)
    assert (warm["result"], warm["loaded"]) == ([4, 4], True)
    assert run(k=3, other=True)["result"] == [100, 100]
    assert run(k=5)["result"] == [6, 6]


def test_stable_members_mean_nothing_to_the_cache(launch):
    text = """
        import samovar as sv

        @sv.data_oriented(stable_members=STABLE)
        class State:
            def __init__(self):
                self.x, self.n = sv.ndarray(sv.f32, 2), 2

            @sv.kernel
            def step(self):
                self.x[0] += self.n

        KERNEL = State.step

        def run():
            state = State()
            state.step()
            state.step()
            return state.x[0]
        """
    assert launch(text.replace("STABLE", "False"))()["compiled"] == 1
    warm = launch(text.replace("STABLE", "True"))()
    assert (warm["result"], warm["loaded"]) == (4, True)


def test_what_a_program_puts_under_a_name_of_ours_is_seen(launch):
    """Intrinsics are recognized without being loaded, as long as nobody has put something else in their place."""
    run = launch("""
        import samovar as sv

        @sv.kernel
        def KERNEL(a: sv.types.NDArray[sv.f64, 1]):
            for i in a:
                a[i] = sv.sin(a[i]) + sv.math.mix(a[i], 2.0, 0.5)

        def run(root=None, mathematics=None):
            if root:
                sv.sin = getattr(sv, root)
            if mathematics:
                sv.math.mix = getattr(sv.math, mathematics)
            a = sv.ndarray(sv.f64, 1)
            KERNEL(a)
            return a[0]
    """)
    for arguments, result in [({"root": "cos"}, 2.0), ({}, 1.0), ({"mathematics": "clamp"}, 0.5)]:
        first, second = run(**arguments), run(**arguments)
        assert first["result"] == second["result"] == result
        assert (first["compiled"], second["compiled"]) == (1, 0)
    assert run()["result"] == 1.0


def test_a_kernel_from_the_cache_refuses_numbers_that_do_not_fit(launch):
    run = launch("""
        import samovar as sv

        @sv.kernel
        def KERNEL(a: sv.types.NDArray[sv.f32, 1], n: sv.i32, x: sv.f32):
            for i in a:
                a[i] = n + x

        def run(n, x):
            a = sv.ndarray(sv.f32, 1)
            try:
                KERNEL(a, n, x)
            except sv.SamovarRuntimeTypeError as error:
                return str(error)
            return a[0]
    """)
    assert (run(n=3, x=1.5)["result"], run(n=3, x=2)["result"], run(n=True, x=True)["result"]) == (4.5, 5.0, 2.0)
    refused = run(n=2.5, x=1.0)
    assert "argument `n`: expected an integer (i32), got 2.5; convert it with int()" in refused["result"]
    assert "argument `x`: expected a number (f32)" in run(n=1, x="1")["result"]
    assert run(n=4, x=0.5)["compiled"] == 0


def test_complex_arguments_and_constants_are_distinguished_and_warm(launch):
    run = launch("""
        import numpy as np
        import samovar as sv

        FACTOR = 2j

        @sv.kernel
        def turned(a: sv.types.NDArray, z: sv.c128) -> sv.c128:
            for i in a:
                a[i] = a[i] * FACTOR
            return z * FACTOR

        KERNEL = turned

        def run(dtype, imag, number=0):
            global FACTOR
            FACTOR = complex(0, imag)
            a = np.array([1, 2], dtype)
            result = turned(a, number)
            return [repr(a.tolist()), repr(result)]
        """)
    first = run(dtype="complex64", imag=2, number=3)
    assert (first["result"], first["compiled"]) == (["[2j, 4j]", "6j"], 1)
    again = run(dtype="complex64", imag=2, number=-1)
    assert (again["result"], again["compiled"], again["loaded"]) == (["[2j, 4j]", "(-0-2j)"], 0, True)
    assert "samovar.frontend" not in again["modules"]
    for changed in ({"dtype": "complex128"}, {"imag": 3}):
        other = run(**{"dtype": "complex64", "imag": 2, **changed})
        assert other["compiled"] == 1
    assert run(dtype="complex64", imag=3)["result"][0] == "[3j, 6j]"


def test_bf16_is_distinguished_from_other_types_of_its_size_and_warm(launch):
    run = launch("""
        import samovar as sv

        @sv.kernel
        def doubled(a: sv.types.NDArray):
            for i in a:
                a[i] = a[i] * 2 + 1

        KERNEL = doubled

        def run(dtypes):
            found = []
            for dtype in dtypes:
                a = sv.ndarray(getattr(sv, dtype), 2)
                a.fill(300)
                doubled(a)
                found.append(a.tolist())
            return found
        """)
    wanted = {"bf16": [600.0, 600.0], "f16": [601.0, 601.0], "u16": [601, 601]}
    first = run(dtypes=["bf16"])
    assert (first["result"], first["compiled"]) == ([wanted["bf16"]], 1)
    again = run(dtypes=["bf16"])
    assert (again["result"], again["compiled"], again["loaded"]) == ([wanted["bf16"]], 0, True)
    assert "samovar.frontend" not in again["modules"]
    both = run(dtypes=["bf16", "f16", "u16", "bf16"])
    assert (both["result"], both["compiled"]) == ([wanted[each] for each in ("bf16", "f16", "u16", "bf16")], 2)
