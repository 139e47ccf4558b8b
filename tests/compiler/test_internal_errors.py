"""No mistake in a step that is there for speed alone stops a program: the kernel is compiled without such steps, and the
user is told. Faults are planted in real steps, at run time."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import samovar as sv
from samovar.backends.llvm.effort import effort_for
from samovar.compiler import reports_here, workers
from samovar.compiler.counts import counts
from samovar.compiler.fallback import SIMPLER
from samovar.ir import Machine
from samovar.language import SWITCHES, Options
from samovar.passes import order


def passes(without: str = "") -> dict[str, None]:
    """The passes of a pipeline, by where `order` finds them."""
    named = {id(each): name for name, each in vars(order).items()}
    steps = order.pipeline(Options(without=without), machine=Machine(256))
    return dict.fromkeys(f"samovar.passes.order.{named[id(getattr(each, 'func', each))]}" for each in steps)


NEEDED = [
    *passes(" ".join(SWITCHES)),
    "samovar.compiler.driver.ask_about_arrays",
    "samovar.backends.llvm.kernel.region",
    "samovar.backends.llvm.kernel.launch",
]
OPTIONAL = [
    *(each for each in passes() if each not in NEEDED),
    "samovar.passes.loops.index_sets.peel",
    *(f"samovar.passes.loops.plan.{each}" for each in ("independence", "Divergence", "Price", "vectorized")),
    *(f"samovar.passes.outline.{each}" for each in ("_changes_in_place", "owned_arrays", "bytes_per_iteration")),
]


@sv.func
def noted(a, i, x):
    if x > 2:
        return
    a[i] += 1


@sv.kernel
def work(x: sv.types.NDArray[sv.f32, 2], h: sv.types.NDArray[sv.i32, 1], o: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    total = 0.0
    for i in range(x.shape[0]):
        product = 1.0
        for j in range(x.shape[1]):
            total += x[i, j]
            h[sv.i32(x[i, j]) % 4] += 1
            h[(sv.i32(x[i, j]) + 1) % 4] += 1
            product = product * x[i, j] * x[i, 0] * 0.5 * x[i, 1]
        noted(h, i % 4, product)
    for i in range(o.shape[0]):
        o[i] = o[i] * 2.0 + max(i - 1, 0)
    return total


def given(rows: int = 5) -> tuple[np.ndarray, ...]:
    x = np.random.default_rng(0).integers(0, 4, (rows, 37)).astype(np.float32)
    return x, np.zeros(4, np.int32), np.ones(20, np.float32)


def expected() -> tuple[Any, ...]:
    x, h, o = given()
    h += np.bincount(x.astype(int).ravel() % 4, minlength=4) + np.bincount((x.astype(int).ravel() + 1) % 4, minlength=4)
    for i, row in enumerate(x):
        product = np.float32(1)
        for each in row:
            product = product * each * row[0] * np.float32(0.5) * row[1]
        h[i % 4] += not product > 2
    return float(x.sum()), h, o * 2 + np.maximum(np.arange(20) - 1, 0)


def check(launch: Any) -> None:
    arguments = given()
    found = launch(*arguments)
    total, h, o = expected()
    assert found == total
    np.testing.assert_array_equal(arguments[1], h)
    np.testing.assert_array_equal(arguments[2], o)


@pytest.fixture(autouse=True)
def _as_users_have_it(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("SAMOVAR_NO_FALLBACK")  # which is there in all other tests
    sv.init(offline_cache=False)
    yield
    sv.reset()


def plant(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def fail(*arguments: object, **named: object) -> None:
        raise KeyError("a planted fault")

    path, _, name = where.rpartition(".")
    module = importlib.import_module(path)
    assert callable(getattr(module, name))
    monkeypatch.setattr(module, name, fail)


@pytest.mark.parametrize("where", OPTIONAL)
def test_a_step_that_is_optional_may_fail(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, where)
    before = counts.failures
    with pytest.warns(sv.SamovarWarning, match=r"work: Samovar failed \(KeyError: 'a planted fault'\)") as told:
        check(work)
    assert counts.failures == before + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(work)
    assert len([each for each in told if "planted" in str(each.message)]) == 1


@pytest.mark.parametrize("where", NEEDED)
def test_a_step_that_is_needed_is_an_error_with_a_report(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, where)
    with pytest.raises(sv.SamovarCompilationError, match="also without optional rewrites") as caught:
        work(*given())
    assert isinstance(caught.value.__cause__, KeyError)
    assert "kernel work(" in report_in(str(caught.value))


def report_in(message: str) -> str:
    found = re.search(r"report it with (/\S+)", message)
    assert found is not None
    return Path(found[1]).read_text()


def test_the_report_has_the_kernel_and_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "samovar.passes.order.split")
    with pytest.warns(sv.SamovarWarning, match="please report") as told:
        work(*given())
    message = next(str(each.message) for each in told if "report" in str(each.message))
    report = report_in(message)
    assert "kernel work(x: f32[:, :]" in report
    assert "passes/order.py" in report
    assert "KeyError: 'a planted fault'" in report
    assert [name for name, _ in reports_here()] == ["work"]


def test_our_own_tests_see_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMOVAR_NO_FALLBACK", "1")
    plant(monkeypatch, "samovar.passes.order.eliminate_dead_code")
    with pytest.raises(sv.SamovarCompilationError, match="planted"):
        work(*given())


def test_mistakes_of_the_program_stay_what_they_are() -> None:
    @sv.kernel
    def wrong(x: sv.f32) -> sv.f32:
        return x + undefined_name  # noqa: F821

    @sv.kernel
    def writes(x: sv.types.NDArray[sv.f32, 1]):
        for i in x:
            x[i] = 0

    before = counts.failures
    with pytest.raises(sv.SamovarNameError, match="undefined_name"):
        wrong(1.0)
    fixed = np.zeros(3, np.float32)
    fixed.flags.writeable = False
    with pytest.raises(sv.SamovarArrayError, match="read-only"):
        writes(fixed)
    assert counts.failures == before


def test_what_a_function_of_the_program_raises_while_a_kernel_compiles_is_raised() -> None:
    def failing() -> int:
        raise KeyError("of the program")

    @sv.kernel
    def asks() -> sv.i32:
        return sv.static(failing())

    before = counts.failures
    with pytest.raises(Exception, match="of the program"):
        asks()
    assert counts.failures == before


def test_kernels_that_are_compiled_together_are_compiled_without_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = importlib.import_module("samovar.passes.order").narrow_integers

    def fail(kernel: Any) -> None:
        if kernel.name == "work":
            raise KeyError("a planted fault")
        narrow(kernel)

    monkeypatch.setattr("samovar.passes.order.narrow_integers", fail)

    @sv.kernel
    def other(a: sv.types.NDArray[sv.f32, 1]):
        for i in a:
            a[i] += 1

    a = np.zeros(3, np.float32)
    with pytest.warns(sv.SamovarWarning, match="planted"):
        sv.precompile([(other, a), (work, *given())])
    check(work)
    other(a)
    assert a.tolist() == [1, 1, 1]


REFUSED = "\ndefine void @not.what.it.says() {\n  %a = fadd <8 x double> %b, 1.0\n  ret void\n}\n"


@pytest.fixture(params=["workers", "no workers"])
def refusing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """LLVM refuses what is made with all rewrites."""
    kernel = importlib.import_module("samovar.backends.llvm.kernel")
    text_of = kernel.Module.text

    def spoiled(module: Any) -> str:
        text: str = text_of(module)
        return text if module.program.without else text + REFUSED

    monkeypatch.setattr(kernel.Module, "text", spoiled)
    if request.param == "no workers":
        workers.stop()
        monkeypatch.setattr(workers.state, "no_workers", "a test says so")
    yield
    workers.stop()


@pytest.mark.usefixtures("refusing")
def test_a_text_that_llvm_refuses_is_made_in_another_way() -> None:
    with pytest.warns(sv.SamovarWarning, match="work: LLVM rejects the code generated for it") as told:
        check(work)
    message = next(str(each.message) for each in told if "rejects" in str(each.message))
    assert "@not.what.it.says" in report_in(message)


@pytest.mark.usefixtures("refusing")
def test_many_texts_that_llvm_refuses() -> None:
    with pytest.warns(sv.SamovarWarning, match="work: LLVM rejects the code generated for it"):
        sv.precompile([(work, *given())])
    check(work)


def test_an_error_in_a_worker_is_one_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has begun before knows nothing of a fault, so its work is done here."""
    workers.stop()
    monkeypatch.setattr(workers.state, "no_workers", "a test says so")

    calls = []

    def fail(text: str, form: str) -> Any:
        calls.append(text)
        if len(calls) == 1:
            raise IndexError("a planted fault")
        return effort_for(text, form)

    monkeypatch.setattr("samovar.backends.llvm.generate.effort_for", fail)
    with pytest.warns(sv.SamovarWarning, match="IndexError: a planted fault"):
        check(work)


def test_an_image_that_cannot_be_made_is_made_in_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    linker = importlib.import_module("samovar.backends.images.linker")
    link, calls = linker.link, []

    def fail(code: bytes) -> Any:
        calls.append(code)
        if len(calls) == 1:
            raise IndexError("a planted fault")
        return link(code)

    monkeypatch.setattr(linker, "link", fail)
    with pytest.warns(sv.SamovarWarning, match="IndexError: a planted fault"):
        check(work)


PROGRAM = """
import sys, warnings
import numpy as np
import samovar as sv
from samovar.passes import order

if "fault" in sys.argv:
    def fail(kernel, **named):
        raise KeyError("a planted fault")
    order.narrow_integers = fail

@sv.kernel
def total(x: sv.types.NDArray[sv.f32, 1], n: sv.i32) -> sv.f32:
    y = 0.0
    for i in range(n):
        y += x[i]
    return y

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    assert total(np.ones(10, np.float32), 7) == 7
    assert total(np.ones(10, np.float32), 8) == 8
told = [each for each in told if "planted" in str(each.message)]
observed = total.src_ll_cache_observations
print(len(told), observed.cache_stored, observed.cache_loaded)
"""


def run(tmp_path: Path, *arguments: str) -> list[str]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "store"), "TMPDIR": str(tmp_path)}
    environment.pop("SAMOVAR_NO_FALLBACK", None)
    done = subprocess.run(
        [sys.executable, program, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_what_was_made_after_an_error_is_not_kept(tmp_path: Path) -> None:
    assert run(tmp_path, "fault") == ["1", "False", "False"]
    assert run(tmp_path, "fault") == ["1", "False", "False"]  # another process is told as well
    assert run(tmp_path) == ["0", "True", "False"]  # the next version, without the mistake
    assert run(tmp_path) == ["0", "False", "True"]
    assert run(tmp_path, "fault") == ["0", "False", "True"]  # what was made in full is good for all


def test_a_user_may_still_leave_rewrites_out(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "samovar.passes.order.narrow_integers")
    sv.init(offline_cache=False, without="narrow")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(work)


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_kernel_is_the_same_without_one_of_the_rewrites(switch: str) -> None:
    sv.init(offline_cache=False, without=switch)
    check(work)


@sv.kernel
def in_units(a: sv.types.NDArray[sv.f32, 1], n: sv.i32):
    for i in range(n):
        x = a[i]
        for s in sv.static(range(300)):
            x = x * 0.5 + a[(i + s) % n] + s
        a[n + i] = x


def check_units() -> None:
    a = np.ones(20, np.float32)
    in_units(a, 10)
    expected = np.ones(10, np.float32)
    for s in range(300):
        expected = expected * np.float32(0.5) + 1 + s
    np.testing.assert_allclose(a[10:], expected, rtol=1e-5)


def test_units_that_cannot_be_put_together_are_made_in_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    linker = importlib.import_module("samovar.backends.images.linker")
    link, calls = linker.link_units, []

    def fail(codes: Any, units: Any) -> Any:
        calls.append(len(units))
        if len(calls) == 1:
            raise IndexError("a planted fault")
        return link(codes, units)

    monkeypatch.setattr(linker, "link_units", fail)
    with pytest.warns(sv.SamovarWarning, match="in_units: .*a planted fault"):
        check_units()
    assert len(calls) == 2
    assert calls[0] > 1


@pytest.mark.usefixtures("refusing")
def test_a_unit_that_llvm_refuses() -> None:
    with pytest.warns(sv.SamovarWarning) as told:
        sv.precompile([(in_units, np.ones(20, np.float32), 10), (work, *given())])
    refused = [str(each.message).split(":")[0] for each in told if "LLVM rejects" in str(each.message)]
    assert refused == ["in_units", "work"]
    check_units()
    check(work)


def test_what_is_shown_is_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "samovar.passes.order.narrow_integers")
    shown = work.inspect("llvm", *given())
    sv.init(offline_cache=False, without=SIMPLER[0])
    assert work.inspect("llvm", *given()) == shown
    sv.init(offline_cache=False)
    monkeypatch.setenv("SAMOVAR_NO_FALLBACK", "1")
    with pytest.raises(sv.SamovarCompilationError, match="planted"):
        work.inspect("llvm", *given())
    monkeypatch.undo()
    assert work.inspect("llvm", *given()) != shown


def test_the_doctor_lists_reports(tmp_path: Path) -> None:
    assert run(tmp_path, "fault")[0] == "1"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "samovar", "doctor"], env=environment, capture_output=True, text=True)
    assert re.search(rf"internal errors in 1 kernel, please report: total \({tmp_path}/samovar-total", done.stdout)


def test_staging_again_asks_the_same_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known at compile time is found out twice, and a launch is compared with it as ever."""

    class Settings:
        factor = 2

    @sv.kernel
    def scaled(x: sv.types.NDArray[sv.f32, 1], form: sv.template()):
        for i in x:
            x[i] = x[i] * sv.static(settings.factor + form)

    settings = Settings()
    plant(monkeypatch, "samovar.passes.order.narrow_integers")
    x = np.ones(3, np.float32)
    with pytest.warns(sv.SamovarWarning, match="planted"):
        scaled(x, 1)
    assert x.tolist() == [3, 3, 3]
    before = counts.kernels
    scaled(x, 1)
    assert counts.kernels == before
    settings.factor = 9
    with pytest.warns(sv.SamovarWarning, match="planted"):
        scaled(x, 1)
    assert x.tolist() == [90, 90, 90]
    assert counts.kernels == before + 1


def reversed_program() -> tuple[Any, Any, Any]:
    x, loss = sv.field(sv.f64, (4, 5), needs_grad=True), sv.field(sv.f64, (), needs_grad=True)
    x.from_numpy(np.arange(20.0).reshape(4, 5))

    @sv.kernel
    def taken():
        for i, j in x:
            if j > 0:
                loss[None] += x[i, j] * x[i, j - 1] + x[i, j] * x[i, j - 1]

    return taken, x, loss


def check_gradient() -> None:
    taken, x, loss = reversed_program()
    loss.grad[None] = 1.0
    taken.grad()
    values, wanted = x.to_numpy(), np.zeros((4, 5))
    wanted[:, 1:] += 2 * values[:, :-1]
    wanted[:, :-1] += 2 * values[:, 1:]
    np.testing.assert_allclose(x.grad.to_numpy(), wanted)


def check_sparse() -> None:
    x = sv.field(sv.f32)
    sv.root.pointer(sv.ij, 4).dense(sv.ij, 4).place(x)

    @sv.kernel
    def fill() -> sv.f32:
        for i in range(8):
            x[2 * i, i] = i
        total = 0.0
        for i, j in x:
            total += x[i, j]
        return total

    assert fill() == 28
    assert fill() == 28


def check_complex() -> None:
    z = (np.arange(9) + 1j).astype(np.complex64)

    @sv.kernel
    def squares(z: sv.types.NDArray[sv.c64, 1]) -> sv.c64:
        total = sv.c64(0)
        for i in range(z.shape[0]):
            z[i] = z[i] * z[i]
            total += z[i] / (2 + 1j)
        return total

    given = z.copy()
    assert squares(given) == pytest.approx(((z * z) / (2 + 1j)).sum(), rel=1e-5)
    np.testing.assert_allclose(given, z * z, rtol=1e-5)


KINDS = {"a gradient": check_gradient, "a sparse field": check_sparse, "complex numbers": check_complex}
FOR_SPEED = {
    "a gradient": ["derivatives.preparing.join_common", "derivatives.reverse.gather_updates",
                   "derivatives.reverse.merge_updates", "order.split_index_sets", "loops.plan.Divergence"],
    "a sparse field": ["order.forward", "order.inline_calls", "order.forward_elements", "order.narrow_integers"],
    "complex numbers": ["order.forward", "order.promote", "order.carry_elements", "loops.plan.independence"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "where"), [(kind, each) for kind in FOR_SPEED for each in FOR_SPEED[kind]])
def test_kernels_of_any_kind_do_without_what_is_optional(kind: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, f"samovar.passes.{where}")
    with pytest.warns(sv.SamovarWarning, match="Samovar failed") as told:
        KINDS[kind]()
    planted = [str(each.message) for each in told if "a planted fault" in str(each.message)]
    assert len(planted) == 1
    assert "without optional rewrites; it may run slower" in planted[0]


@pytest.mark.parametrize(
    ("kind", "where"),
    [("a gradient", "compiler.gradients.reverse"), ("a sparse field", "passes.order.activate_cells"),
     ("complex numbers", "passes.order.legalize")],
)  # fmt: skip
def test_kernels_of_any_kind_need_some_steps(kind: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, f"samovar.{where}")
    with pytest.raises(sv.SamovarCompilationError, match="also without optional rewrites") as caught:
        KINDS[kind]()
    assert "a planted fault" in report_in(str(caught.value))
