"""The rule that makes cache keys sound, as a running program shows it: objects that report whoever touches them.

Every operation on a `Sentinel` notes the module it came from. While a kernel is compiled, that may only be the lens (and,
for guards and arguments, the runtime); everything between, from the frontend to the backend, must never get hold of one.
"""

import sys
import types

import pytest

import samovar as sv
from samovar.runtime import configuration

ALLOWED = ("samovar.lens", "samovar.runtime")

touched: list[str] = []


def note() -> None:
    frame = sys._getframe(2)
    module = frame.f_globals.get("__name__", "?")
    if module != __name__:
        touched.append(module)


def reporting(name):
    original = getattr(object, name, None)

    def method(self, *arguments, **keywords):
        note()
        if original is None:
            raise TypeError(f"a sentinel does not do {name}")
        return original(self, *arguments, **keywords)

    return method


OPERATIONS = (
    "__getattribute__ __setattr__ __delattr__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __repr__ __str__ __format__"
    " __dir__ __reduce__ __reduce_ex__ __sizeof__"
    " __bool__ __len__ __iter__ __contains__ __getitem__ __setitem__ __call__ __int__ __float__ __index__ __add__ __radd__"
    " __mul__ __rmul__ __sub__ __rsub__ __neg__ __enter__ __exit__"
).split()


Sentinel = type("Sentinel", (), {name: reporting(name) for name in OPERATIONS})


class Root(Sentinel):
    """An object with members that kernels read."""

    def __init__(self, **members):
        for name, value in members.items():
            object.__setattr__(self, name, value)

    def __len__(self):
        note()
        return 3

    def tenfold(self, n):
        return n * 10


settings = Root(n=4, scale=0.5, inner=Root(table=(1, 2, 3)), unread=Root(), data=sv.ndarray(sv.f32, 8))


@sv.func
def scaled(x: sv.f32, world: sv.template()) -> sv.f32:
    return x * sv.static(world.scale)


@sv.kernel
def reads_through(a: sv.types.NDArray[sv.f32, 1], world: sv.Template):
    for i in range(sv.static(settings.n)):
        for k in sv.static(range(len(settings.inner.table))):
            a[i] += settings.inner.table[k] * scaled(a[i], world) + world.data[i]


@sv.kernel
def calls(world: sv.Template) -> sv.i32:
    return sv.static(world.tenfold(settings.n)) + sv.static(1 if world is None else 2)


@sv.kernel
def ignores(a: sv.types.NDArray[sv.f32, 1], world: sv.Template):
    for i in a:
        a[i] = 1.0


@pytest.fixture(autouse=True)
def nothing_compiled():
    sv.reset()
    configuration.current_options()
    touched.clear()
    yield
    sv.reset()


def strangers():
    return sorted({module for module in touched if not module.startswith(ALLOWED)})


@pytest.mark.parametrize("debug", [False, True])
def test_only_the_lens_reads_objects(debug):
    sv.init(debug=debug)
    a = sv.ndarray(sv.f32, 8)
    reads_through(a, settings)
    assert touched, "the kernel reads through the sentinel"
    assert strangers() == []
    assert a[0] == 0.0


def test_only_the_lens_calls_objects():
    assert calls(settings) == 42
    assert touched
    assert strangers() == []


def test_an_object_that_a_kernel_does_not_use_is_not_touched_at_all():
    ignores(sv.ndarray(sv.f32, 4), settings)
    assert touched == []


def test_messages_about_objects_are_made_without_them():
    @sv.kernel
    def wrong(world: sv.Template) -> sv.i32:
        return world + 1

    with pytest.raises(sv.SamovarError):
        wrong(settings)
    assert strangers() == []


def test_a_sentinel_reports_who_touches_it():
    probe = types.ModuleType("elsewhere")
    exec("def touch(x):\n    return x.n\n", probe.__dict__)
    probe.touch(settings)
    assert strangers() == ["elsewhere"]
