"""What the linker makes is what the loader takes, and what LLVM calls is known."""

from __future__ import annotations

import pytest
from test_operations import FLOATS, Machine, kernel_of
from test_partials import scattering

from backends.optimize import optimize
from samovar._native import Image, f32, symbol_address
from samovar.backends.images.elf import UNDEFINED, read_object
from samovar.backends.llvm.target import Target
from samovar.language.options import Options


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("fast_math", [True, False])
def test_every_math_function_can_be_loaded(name: str, fast_math: bool) -> None:
    parts = Machine(kernel_of(name), Options(fast_math=fast_math)).parts
    Image.from_flat(parts.flat())
    assert fast_math or not any(symbol.startswith(("_ZGV", "sv_avx")) for _, symbol in parts.slots)


def test_runtime_entry_points_can_be_loaded() -> None:
    parts = Machine(scattering(f32, "add", reduce=True)).parts
    assert {"sv_run", "sv_scratch"} <= {symbol for _, symbol in parts.slots}
    Image.from_flat(parts.flat())


ONE = """sqrt sin cos tan asin acos atan sinh cosh tanh exp exp2 exp10 log log2 log10 floor ceil trunc rint nearbyint round
roundeven fabs canonicalize""".split()
TWO = "pow copysign minnum maxnum minimum maximum minimumnum maximumnum atan2".split()
INTEGERS = ("i8", "i16", "i32", "i64")


def needs(kind: str, suffix: str) -> str:
    """LLVM text with a function for everything that a machine may lack an instruction for."""
    lines: list[str] = []

    def function(result: str, parameters: list[str], body: str) -> None:
        names = ", ".join(f"{each} %{name}" for each, name in zip(parameters, "abc", strict=False))
        lines.append(f"define {result} @f{len(lines)}({names}) {{\n  %r = {body}\n  ret {result} %r\n}}")

    def intrinsic(name: str, result: str, parameters: list[str]) -> None:
        operands = ", ".join(f"{each} %{name}" for each, name in zip(parameters, "abc", strict=False))
        lines.append(f"declare {result} @llvm.{name}({', '.join(parameters)})")
        function(result, parameters, f"call {result} @llvm.{name}({operands})")

    for name in ONE:
        intrinsic(f"{name}.{suffix}", kind, [kind])
    for name in TWO:
        intrinsic(f"{name}.{suffix}", kind, [kind, kind])
    intrinsic(f"fma.{suffix}", kind, [kind] * 3)
    intrinsic(f"powi.{suffix}.i32", kind, [kind, "i32"])
    intrinsic(f"ldexp.{suffix}.i32", kind, [kind, "i32"])
    function(kind, [kind, kind], f"frem {kind} %a, %b")
    for name in ("lround", "llround", "lrint", "llrint"):
        intrinsic(f"{name}.i64.{suffix}", "i64", [kind])
    if kind != "half":
        intrinsic(f"frexp.{suffix}.i32", f"{{{kind}, i32}}", [kind])
        intrinsic(f"sincos.{suffix}", f"{{{kind}, {kind}}}", [kind])
        intrinsic(f"modf.{suffix}", f"{{{kind}, {kind}}}", [kind])
        for wide in ("i65", "i128"):
            for operation in ("sitofp", "uitofp"):
                function(kind, [wide], f"{operation} {wide} %a to {kind}")
            for operation in ("fptosi", "fptoui"):
                function(wide, [kind], f"{operation} {kind} %a to {wide}")
    for integer in INTEGERS:
        for operation in ("sitofp", "uitofp"):
            function(kind, [integer], f"{operation} {integer} %a to {kind}")
        for operation in ("fptosi", "fptoui"):
            function(integer, [kind], f"{operation} {kind} %a to {integer}")
            intrinsic(f"{operation}.sat.{integer}.{suffix}", integer, [kind])
    for wide in ("i64", "i65", "i128"):
        for operation in ("mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr"):
            function(wide, [wide, wide], f"{operation} {wide} %a, %b")
    for other, width in (("half", 16), ("float", 32), ("double", 64)):
        if width != int(suffix[1:]):
            operation = "fpext" if width > int(suffix[1:]) else "fptrunc"
            function(other, [kind], f"{operation} {kind} %a to {other}")
    for operation in ("fadd", "fsub", "fmin", "fmax", "xchg"):
        function(kind, ["ptr", kind], f"atomicrmw {operation} ptr %a, {kind} %b seq_cst")
    return "\n".join(lines)


@pytest.mark.parametrize(("kind", "suffix"), [("half", "f16"), ("float", "f32"), ("double", "f64")])
@pytest.mark.parametrize("features", ["", "+avx2,+fma,+f16c"])
def test_what_llvm_calls_for_want_of_an_instruction_is_known(kind: str, suffix: str, features: str) -> None:
    data = optimize(needs(kind, suffix), Target("x86_64-unknown-linux-gnu", "x86-64", features, 0))
    names = {symbol.name for symbol in read_object(data).symbols if symbol.section == UNDEFINED and symbol.name}
    assert len(names) > 20
    assert {name for name in names if symbol_address(name) is None} == set()
