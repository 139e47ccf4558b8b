"""`getattr` and `hasattr` in `static`: what is there under a name is asked again at each launch, whoever has it."""

import pytest
from changes import Change, check_between_processes, check_in_one_process, loaded

import samovar as sv

GET = "@sv.kernel\ndef k() -> sv.i32:\n    return static(getattr({}, 'N', 1))\n"
HAS = "@sv.kernel\ndef k() -> sv.i32:\n    return 5 if static(hasattr({}, 'N')) else 1\n"
MODULE = "import types\nm = types.ModuleType('m')\n"
LAZY = """
import types
N = 0
def find(name):
    if name == 'N' and N:
        return N
    raise AttributeError(name)
m = types.ModuleType('m')
m.__getattr__ = find
"""
META = """
class Meta(type):
    n = 0
    def __getattr__(cls, name):
        if name == 'N' and Meta.n:
            return Meta.n
        raise AttributeError(name)
class C(metaclass=Meta): pass
"""
ENUM = "class E(enum.Enum):\n    A = 1\n"

CHANGES = {
    "a name that a module gets": Change(MODULE + GET.format("m"), "m.N = 5", 1, 5),
    "a name that a module has": Change(MODULE + "m.N = 2\n" + GET.format("m"), "m.N = 5", 2, 5),
    "a name that a module loses": Change(MODULE + "m.N = 2\n" + GET.format("m"), "del m.N", 2, 1),
    "whether a module has it": Change(MODULE + HAS.format("m"), "m.N = None", 1, 5),
    "another module": Change(MODULE + GET.format("m"), "m = types.ModuleType('m')\nm.N = 5", 1, 5),
    "a module that learns to find names": Change(MODULE + GET.format("m"), "m.__getattr__ = lambda name: 5", 1, 5),
    "a module that finds names": Change(LAZY + GET.format("m"), "N = 5", 1, 5),
    "whether a module finds it": Change(LAZY + HAS.format("m"), "N = 5", 1, 5),
    "a module that changes its class": Change(
        MODULE + "class Own(types.ModuleType):\n    N = 5\n" + GET.format("m"), "m.__class__ = Own", 1, 5
    ),
    "a name that a class gets": Change("class C: pass\n" + GET.format("C"), "C.N = 5", 1, 5),
    "a name that a class has": Change("class C:\n    N = 2\n" + GET.format("C"), "C.N = 5", 2, 5),
    "whether a class has it": Change("class C: pass\n" + HAS.format("C"), "C.N = 5", 1, 5),
    "a name of a base": Change("class B: pass\nclass C(B): pass\n" + GET.format("C"), "B.N = 5", 1, 5),
    "a name of the metaclass": Change(
        "class M(type): pass\nclass C(metaclass=M): pass\n" + GET.format("C"), "M.N = 5", 1, 5
    ),
    "a metaclass that finds names": Change(META + GET.format("C"), "Meta.n = 5", 1, 5),
    "whether a metaclass finds it": Change(META + HAS.format("C"), "Meta.n = 5", 1, 5),
    "a name of an object": Change("class C: pass\nc = C()\n" + GET.format("c"), "c.N = 5", 1, 5),
    "a name of the class of an object": Change("class C: pass\nc = C()\n" + GET.format("c"), "C.N = 5", 1, 5),
    "a property": Change(
        "class C:\n    n = 2\n    N = property(lambda s: s.n)\nc = C()\n" + GET.format("c"), "c.n = 5", 2, 5
    ),
    "a member of an enum": Change(ENUM + HAS.format("E"), "class E(enum.Enum):\n    N = 1", 1, 5),
    "a name that is put together": Change(
        MODULE + "x = 'N'\n@sv.kernel\ndef k() -> sv.i32:\n    return static(getattr(m, x, 1))\nm.N = 2\nm.M = 5\n",
        "x = 'M'",
        2,
        5,
    ),
    "a plain function": Change("def f(): pass\n" + GET.format("f"), "f.N = 5", 1, 5),
    "an element of a list": Change(MODULE + "L = [m]\n" + GET.format("L[0]"), "m.N = 5", 1, 5),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_between_two_launches_is_seen(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_a_change_between_two_processes_is_seen_and_nothing_is_compiled_twice(tmp_path):
    check_between_processes(tmp_path, CHANGES)


def test_builtins_without_a_meaning_in_kernels_are_plain_functions_in_static(tmp_path):
    text = """
L = [1, 2, 0]
@sv.func
def f(x): return x
@sv.kernel
def k() -> tuple[sv.i32, sv.i32, sv.i32, sv.i32, sv.i32, sv.i32, sv.i32]:
    return (
        static(sum(L)), static(sum(L, start=10)), static(any(L) + all(L)), static(isinstance(L, (list, tuple))),
        static(len(str(L))), static(sum(*(L, 1))), static(callable(f) + callable(math.sin) + callable(L)),
    )
"""
    module = loaded(tmp_path, text)
    assert module.k() == (3, 13, 1, 1, 9, 4, 2)
    module.L.append(4)
    assert module.k() == (7, 17, 1, 1, 12, 8, 2)
    lookups = module.k.cache_observations.lookups
    module.k()
    assert module.k.cache_observations.lookups == lookups


def test_what_plain_functions_cannot_take_is_named(tmp_path):
    module = loaded(tmp_path, "def f(x): return 1\n@sv.kernel\ndef k(n: sv.i32) -> sv.i32:\n    return static(f(n))\n")
    with pytest.raises(sv.SamovarSyntaxError, match="cannot be passed a run-time value"):
        module.k(1)
