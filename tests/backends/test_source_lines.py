"""Lines of LLVM text and assembly lead to lines of the program, and debug locations do not change the code."""

import pytest

import samovar as sv
from samovar.runtime import kernel_report


@sv.func
def damped(x):
    return x - 7.5


@sv.kernel
def tasks(a: sv.types.NDArray[sv.f32, 1], n: sv.i32):
    for i in range(n):
        if a[i] > 3:
            a[i] = damped(sv.sin(a[i]))
    for i in range(n):
        for j in range(3):
            assert a[i] < 1e9, "large"
            a[i] += j


@sv.kernel(serial=True)
def serial(a: sv.types.NDArray[sv.f32, 1], n: sv.i32) -> sv.f32:
    total = 0.0
    while total < n:
        total += damped(a[sv.cast(total, sv.i32)]) + 20
    print(total)
    return total


def stages_of(kernel):
    kernel(sv.ones(100), 100)
    report = kernel_report(kernel)
    return report["stages"], {line.strip(): report["line"] + at for at, line in enumerate(report["source"].splitlines())}


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("kernel", [tasks, serial])
def test_the_assembly_is_that_of_the_cached_code(kernel, flush):
    sv.init(flush_denormals=flush)
    try:
        stages, _ = stages_of(kernel)
        assert stages["asm"] == kernel.inspect("asm")
        assert stages["llvm"] == kernel.inspect("llvm")
        for stage in ("llvm", "asm"):
            assert len(stages[f"{stage} lines"]) == len(stages[stage].splitlines())
    finally:
        sv.reset()


def test_lines_lead_to_the_program_also_from_inlined_code():
    stages, source = stages_of(tasks)
    rows = list(zip(stages["llvm"].splitlines(), stages["llvm lines"], strict=True))
    calls = {line for text, line in rows if "_sinf" in text and " call " in text}
    assert calls == {source["a[i] = damped(sv.sin(a[i]))"]}
    rows = list(zip(stages["asm"].splitlines(), stages["asm lines"], strict=True))
    assert {line for text, line in rows if text.startswith("\tcall") and "_sinf" in text} == calls
    assert source["a[i] += j"] in stages["asm lines"]
    code = [line for text, line in rows if text.startswith("\t") and not text.startswith("\t.")]
    assert sum(map(bool, code)) > 0.7 * len(code)


def test_code_is_compiled_without_marks():
    stages, _ = stages_of(tasks)
    assert ";@" not in stages["llvm"] + tasks.inspect("llvm")
    assert "!dbg" not in stages["llvm"]
