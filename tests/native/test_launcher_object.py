"""The kernel as an object: a function in all but type."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import weakref

import pytest
from image_from_c import EMPTY, image_from_c

from samovar._native import Image, Kernel, Specialization, f32, i32

IMAGE = Image.from_flat(EMPTY)


def plain(a: int, b: float = 2.0) -> None:
    """What it does."""


plain.mark = "kept"


def resolve(kernel, arguments):
    return Specialization(IMAGE, [], 0, 0)


step = Kernel(plain, ("a", "b"), {"b": 2.0}, resolve)
step.__qualname__ = step.__name__ = "step"


class Solver:
    @staticmethod
    def make():
        return Solver()


def record(kernel, arguments):
    """Remembers what it was called with."""
    seen.append(arguments)
    return Specialization(IMAGE, [("parameter", 0, 0), ("is", 0, arguments[0])], 1, 0)


seen: list[tuple] = []
Solver.advance = Kernel(plain, ("self", "a"), {}, record)


def test_the_attributes_are_those_of_the_function():
    kernel = Kernel(plain, ("a", "b"), {"b": 2.0}, resolve)
    assert kernel.__name__ == "plain"
    assert kernel.__qualname__ == "plain"
    assert kernel.__module__ == __name__
    assert kernel.__doc__ == "What it does."
    assert kernel.__wrapped__ is plain
    assert kernel.__annotations__ == plain.__annotations__
    assert kernel.mark == "kept"
    assert kernel.parameters == ("a", "b")
    assert repr(kernel) == f"<samovar kernel {__name__}.plain>"


def test_attributes_can_be_set_without_touching_the_function():
    kernel = Kernel(plain, ("a", "b"), {}, resolve)
    kernel.extra = 5
    kernel.__doc__ = "other"
    assert vars(kernel)["extra"] == 5
    assert kernel.__doc__ == "other"
    assert plain.__doc__ == "What it does."
    assert not hasattr(plain, "extra")


def test_the_signature_is_that_of_the_function():
    kernel = Kernel(plain, ("a", "b"), {}, resolve)
    assert inspect.signature(kernel) == inspect.signature(plain)
    assert kernel.__signature__ == inspect.signature(plain)
    kernel.__signature__ = inspect.Signature()
    assert inspect.signature(kernel) == inspect.Signature()
    del kernel.__signature__
    assert inspect.signature(kernel) == inspect.signature(plain)


def test_inspect_and_callable_recognize_it():
    assert callable(step)
    assert inspect.unwrap(step) is plain
    assert inspect.getsource(step).startswith("def plain")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_it_is_pickled_by_name(protocol):
    assert pickle.loads(pickle.dumps(step, protocol)) is step


def test_copies_are_itself():
    assert copy.copy(step) is step
    assert copy.deepcopy(step) is step


def test_a_kernel_in_a_class_is_a_method():
    solver = Solver()
    seen.clear()
    solver.advance(1)
    Solver.advance(solver, a=2)
    bound = solver.advance
    assert bound.__self__ is solver
    assert bound.__func__ is Solver.advance
    bound(3)
    assert seen == [(solver, 1)]  # one specialization serves all three calls


def test_calling_a_method_allocates_no_bound_method():
    """Without the flag, each call of the loop would leave a new object for a moment."""
    assert type(Solver.advance).__flags__ & (1 << 17)
    assert not hasattr(Kernel, "__set__")


def test_it_can_be_weakly_referenced():
    kernel = Kernel(plain, ("a", "b"), {}, resolve)
    gone = weakref.ref(kernel)
    assert gone() is kernel
    del kernel
    gc.collect()
    assert gone() is None


def test_cycles_through_every_member_are_collected():
    class Holder:
        pass

    for place in ("function", "default", "resolve", "dict", "keep"):
        holder = Holder()

        def function():
            pass

        function.holder = holder if place == "function" else None
        kernel = Kernel(
            function,
            ("a",),
            {"a": holder} if place == "default" else {},
            (lambda *_, holder=holder: holder) if place == "resolve" else resolve,
        )
        holder.kernel = kernel
        if place == "dict":
            kernel.holder = holder
        if place == "keep":
            kernel.insert(Specialization(IMAGE, [], 0, 0, keep=holder))
        gone = weakref.ref(holder)
        del holder, kernel, function
        gc.collect()
        assert gone() is None, place


def test_a_python_subclass_is_as_fast_and_still_a_method():
    class Faster(Kernel):
        def twice(self, *arguments):
            self(*arguments)
            return self(*arguments)

    kernel = Faster(plain, ("self", "a"), {}, record)
    assert Faster.__flags__ & (1 << 17)  # method descriptor
    assert Faster.__flags__ & (1 << 11)  # vectorcall
    assert kernel.twice(1, 2) is None
    assert vars(kernel)["__wrapped__"] is plain

    class Owner:
        step = kernel

    seen.clear()
    owner = Owner()
    owner.step(5)
    assert seen == [(owner, 5)]


def test_a_subclass_with_its_own_call_keeps_it():
    class Noisy(Kernel):
        def __call__(self, *arguments):
            return ("called", super().__call__(*arguments))

    assert not Noisy.__flags__ & (1 << 11)
    assert Noisy(plain, ("a",), {}, resolve)(1) == ("called", None)


def test_arguments_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match="resolve must be callable"):
        Kernel(plain, (), {}, None)
    with pytest.raises(TypeError, match="parameters must be names"):
        Kernel(plain, (1,), {}, resolve)
    with pytest.raises(TypeError, match="expected a Specialization, not int"):
        step.insert(5)
    with pytest.raises(ValueError, match="does not have this specialization"):
        step.remove(5)
    with pytest.raises(TypeError, match=r"resolve\(\) must return a Specialization, not int"):
        Kernel(plain, (), {}, lambda kernel, arguments: 5)()


def test_resolve_may_insert_the_specialization_itself():
    def insert(kernel, arguments):
        made = Specialization(IMAGE, [], 0, 0)
        kernel.insert(made)
        return made

    kernel = Kernel(plain, (), {}, insert)
    kernel()
    assert len(kernel.specializations) == 1


def test_references_are_balanced():
    """Launches of every outcome leave the counts of their arguments as they were."""
    import sys

    source = """
    int32_t samovar_entry(void *context, int64_t *block)
    {
        uint64_t nothing = 0;
        if (block[0] == 13) { sv_fail(context, 0, &nothing); return 1; }
        block[1] = block[0];
        return 0;
    }
    """
    holder = type("Holder", (), {})()
    program = [("parameter", 0, 0), ("attribute", 1, 0, "x"), ("type", 1, int), ("scalar", 1, i32, 0, "x")]
    specialization = Specialization(
        image_from_c(source), program, 2, 16, results=("scalar", i32, 8), sites=(1,), fail=lambda *_: ArithmeticError()
    )

    def refuse(kernel, arguments):
        raise LookupError

    kernel = Kernel(plain, ("holder",), {}, refuse)
    kernel.insert(specialization)
    values = [70_000, 13, 2**40, "text"]
    counts = [[sys.getrefcount(value) for value in values] + [sys.getrefcount(specialization), sys.getrefcount(holder)]]
    for value in values * 50:
        holder.x = value
        try:
            assert kernel(holder) == value
        except (ArithmeticError, LookupError):
            assert value != 70_000
    del holder.x, value
    counts.append([sys.getrefcount(value) for value in values] + [sys.getrefcount(specialization), sys.getrefcount(holder)])
    assert counts[0] == counts[1]


@pytest.mark.parametrize("part", ["tasks", "sites"])
def test_a_list_that_changes_while_a_specialization_is_made(part):
    class Number:
        def __index__(self):
            given.clear()
            return 0

        def __float__(self):
            given.clear()
            return 1.0

    item = {"tasks": ("".join(["na", "me"]), Number(), 0), "sites": Number()}[part]
    given = [item] * 50
    del item
    made = Specialization(IMAGE, [], 0, 8, **{part: given})
    assert given == []
    assert part != "tasks" or made.tasks == (("name", 1.0, 0),) * 50


@pytest.mark.parametrize(
    "item", [["name", 1.0, 0], "nam"]
)
def test_parts_of_a_specialization_are_tuples(item):
    with pytest.raises(TypeError, match="tasks must be a sequence of"):
        Specialization(IMAGE, [], 0, 8, tasks=[item])


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ((), TypeError),
        ([], TypeError),
        ("scalar", TypeError),
        (("scalar", f32), TypeError),
        (("scalar", 1, 0), TypeError),
        (("scalar", f32, "0"), TypeError),
        (("scalar", "f33", 0), ValueError),
        (("scalar", f32, -8), ValueError),
        (("scalar", f32, 8), ValueError),
        (("scalar", f32, 1 << 80), OverflowError),
        (("tuple", [None]), TypeError),
        (("tuple", (None, ("list", ()))), TypeError),
        (("struct", 3, ()), TypeError),
        (("struct", list, [None]), TypeError),
        (("struct", list, (("scalar", f32, 16),)), ValueError),
        (("tuple", (("tuple", (("scalar", f32, 16),)),)), ValueError),
    ],
)
def test_what_is_no_result_is_refused(result, error):
    with pytest.raises(error):
        Specialization(IMAGE, [], 0, 8, results=result)


def test_results_that_are_nested_too_deeply_are_refused():
    result = None
    for _ in range(100):
        result = ("tuple", (result,))
    with pytest.raises(TypeError, match="a result is"):
        Specialization(IMAGE, [], 0, 8, results=result)
