"""From object to image: what is placed, what is patched, what is refused."""

from __future__ import annotations

import contextlib
import io
import math
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from build import Builder, kernel
from elftools.elf.elffile import ELFFile
from machine import Machine, run

from backends.optimize import optimize
from samovar._native import Image, Specialization, f64, i32, i64
from samovar._native import Kernel as NativeKernel
from samovar.backends.images.elf import ObjectError, read_object
from samovar.backends.images.image import ImageParts
from samovar.backends.images.linker import link
from samovar.backends.llvm.target import host_target
from samovar.ir.values import Array, Constant, Parameter


def compiled(tmp_path: Path, source: str, *flags: str) -> bytes:
    """An object of a C compiler."""
    (tmp_path / "a.c").write_text(source)
    subprocess.run(["cc", "-c", "-O2", *flags, "-o", tmp_path / "a.o", tmp_path / "a.c"], check=True)
    return (tmp_path / "a.o").read_bytes()


def relocations(data: bytes) -> set[tuple[str, int]]:
    """Of an object: the section that is patched, and the type."""
    read = read_object(data)
    return {(read.sections[number].name, each.type) for number, of in read.relocations.items() for each in of}


def launched(parts: ImageParts, number: int) -> float:
    """Load, and launch with a number in the block; the entry leaves a double behind it."""
    program = [("parameter", 0, 0), ("scalar", 0, i64, 0, "number")]
    specialization = Specialization(Image.from_flat(parts.flat()), program, 1, 16, results=("scalar", f64, 8))
    result: Any = NativeKernel(lambda number: None, ("number",), {}, lambda kernel, arguments: specialization)(number)
    return float(result)


PIC = ("-fpic", "-fvisibility=hidden", "-fno-asynchronous-unwind-tables")
#: What a launch of C hands over and takes back.
ENTRY = """
typedef struct { long number; double result; } block;
#define ENTRY int samovar_entry(void *context, block *b)
"""


def test_code_constants_stubs_and_cells_are_one_blob(tmp_path: Path) -> None:
    source = """
    double exp(double);
    extern __attribute__((visibility("default"))) double cos(double);
    static const double table[64] = {1, 2, 3, [63] = 4};
    ENTRY {
        double (*volatile f)(double) = cos;
        b->result = table[b->number & 63] * exp(b->number) + f(b->number);
        return 0;
    }
    """
    data = compiled(tmp_path, ENTRY + source, *PIC)
    assert {(".text", 4), (".text", 2), (".text", 42)} <= relocations(data)
    parts = link(data)
    assert [name for name, _, _ in parts.functions] == ["samovar_entry"]
    assert sorted({symbol for _, symbol in parts.slots}) == ["cos", "exp"]
    assert all(offset % 8 == 0 for offset, _ in parts.slots)
    assert struct.pack("<d", 4.0) in parts.code
    assert launched(parts, 2) == 3 * math.exp(2) + math.cos(2)


def test_a_table_of_addresses_inside_and_outside(tmp_path: Path) -> None:
    source = """
    double cbrt(double), fabs(double);
    static double half(double x) { return x / 2; }
    static double twice(double x) { return x * 2; }
    static double (*const table[])(double) = {half, cbrt, twice};
    ENTRY { b->result = table[b->number & 3](b->number); return 0; }
    """
    data = compiled(tmp_path, ENTRY + source, *PIC)
    assert any(name.startswith(".data.rel.ro") and kind == 1 for name, kind in relocations(data))
    parts = link(data)
    assert len(parts.relatives) == 2
    assert [symbol for _, symbol in parts.slots] == ["cbrt"]
    assert [launched(parts, number) for number in (8, 9, 10)] == [4.0, 9 ** (1 / 3), 20.0]


@pytest.mark.parametrize("flags", [(), ("-Wa,-mrelax-relocations=no",)], ids=["relaxed", "plain"])
def test_the_address_of_something_in_the_image_through_a_cell(tmp_path: Path, flags: tuple[str, ...]) -> None:
    source = """
    const double table[4] = {0.5, 1.5, 2.5, 3.5};
    double third(double x) { return x / 3; }
    ENTRY { double (*volatile f)(double) = third; b->result = f(b->number) + table[b->number & 3]; return 0; }
    """
    data = compiled(tmp_path, ENTRY + source, "-fpic", "-fno-asynchronous-unwind-tables", *flags)
    assert {kind for _, kind in relocations(data)} & {9, 41, 42}
    parts = link(data)
    assert parts.slots == ()
    assert len(parts.relatives) == 2
    assert launched(parts, 3) == 4.5


ASSEMBLY = """
.text
.globl samovar_entry
.type samovar_entry, @function
samovar_entry:
    leaq far(%rip), %rax
    addq (%rax), %rax
    movsd (%rax), %xmm0
    movsd %xmm0, 8(%rsi)
    xorl %eax, %eax
    ret
.size samovar_entry, . - samovar_entry
.section .rodata.far, "a"
far: .quad number - .
.section .rodata.number, "a"
number: .double 5.0
"""


def test_a_distance_of_eight_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text(ASSEMBLY)
    subprocess.run(["cc", "-c", "-o", tmp_path / "a.o", tmp_path / "a.s"], check=True)
    data = (tmp_path / "a.o").read_bytes()
    assert (".rodata.far", 24) in relocations(data)
    assert launched(link(data), 0) == 5.0


LLVM = """
declare double @sin(double)
declare double @cos(double)
declare double @llvm.powi.f64.i32(double, i32)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@functions = internal unnamed_addr constant [3 x ptr] [ptr @thrice, ptr @sin, ptr @both]

define internal double @thrice(double %x) noinline {
  %y = fmul double %x, 3.0
  ret double %y
}

define internal double @both(double %x) noinline {
  %s = call double @sin(double %x) memory(none)
  %c = call double @cos(double %x) memory(none)
  %y = fmul double %s, %c
  ret double %y
}

define i32 @samovar_entry(ptr %context, ptr %block) {
  %number = load i64, ptr %block
  %x = sitofp i64 %number to double
  %which = urem i64 %number, 3
  %at = getelementptr [3 x ptr], ptr @functions, i64 0, i64 %which
  %function = load ptr, ptr %at
  %y = call double %function(double %x)
  %short = trunc i64 %number to i32
  %power = call double @llvm.powi.f64.i32(double 1.5, i32 %short)
  %result = fadd double %y, %power
  %out = getelementptr i8, ptr %block, i64 8
  store double %result, ptr %out
  ret i32 0
}
"""


def test_tables_and_calls_that_llvm_makes() -> None:
    data = optimize(LLVM, host_target())
    assert (".data.rel.ro", 1) in relocations(data)
    parts = link(data)
    assert {"__powidf2", "sin"} <= {symbol for _, symbol in parts.slots}
    assert launched(parts, 6) == 18.0 + 1.5**6
    assert launched(parts, 7) == math.sin(7) + 1.5**7
    assert launched(parts, 8) == pytest.approx(math.sin(8) * math.cos(8) + 1.5**8, rel=1e-15)


def test_alignment_is_kept(tmp_path: Path) -> None:
    source = """
    static const double a __attribute__((aligned(64))) = 7, b_ __attribute__((aligned(32))) = 8;
    ENTRY {
        const double *volatile p = &a, *volatile q = &b_;
        b->result = ((long)p % 64) + ((long)q % 32) + *p * b->number;
        return 0;
    }
    """
    assert launched(link(compiled(tmp_path, ENTRY + source, *PIC)), 3) == 21.0


def test_jump_tables_work() -> None:
    x = Parameter("x", i32)

    def build(b: Builder) -> None:
        for number in range(12):
            b.when(
                b.op("eq", x, number), lambda number=number: discard(b.give(Constant(number * number % 7 + 0.5, f64)))
            )
        b.give(Constant(-1.0, f64))

    machine = Machine(kernel([x], build, [f64]))
    assert [machine(value)[0] for value in range(13)] == [number * number % 7 + 0.5 for number in range(12)] + [-1.0]


def discard(_: object) -> None:
    """Nothing."""


def test_constant_pools_of_every_width() -> None:
    y = Array("y", f64, 1, alone=True)
    import numpy as np

    def build(b: Builder) -> None:
        b.parallel((0, b.shape(y)), body=lambda i: discard(b.store(y, [i], b.op("mul", b.cast(i, f64), 0.1))))

    values = np.zeros(37)
    run(kernel([y], build), values)
    np.testing.assert_array_equal(values, np.arange(37) * 0.1)


@pytest.mark.parametrize(
    ("source", "flags", "message"),
    [
        ("static int counter; int samovar_entry(void) { return counter++; }", PIC, r"section \.bss is writable"),
        ("static int data[3] = {1}; int samovar_entry(int i) { return data[i]++; }", PIC, r"section \.data is writable"),
        ("static __thread int x; int samovar_entry(void) { return x++; }", PIC, r"section \.tbss is thread-local"),
        ("static __thread int x = 3; int samovar_entry(void) { return x++; }", PIC, r"section \.tdata is thread-local"),
        ("extern __thread int x; int samovar_entry(void) { return x; }", PIC, "unsupported relocation .* for 'x' at .text"),
        ("double sin(double); void *samovar_entry(void) { return sin; }", ("-fno-pic", "-mcmodel=large"), "inside code"),
        ("int samovar_entry(int i) { static const int t[2] = {1, 2}; return t[i]; }", ("-fno-pic",), "relocation 1[01]"),
        ("int nobody(int); int samovar_entry(int i) { return nobody(i) + 1; }", PIC, "'nobody', which kernels cannot use"),
        ("static const char t[256] __attribute__((aligned(128))) = {1}; int samovar_entry(int i) { return t[i]; }", PIC,
         "needs an alignment of 128 bytes, but images are aligned to 64"),
        ("__attribute__((constructor)) void start(void) { __asm__(\"\"); } int samovar_entry(void) { return 0; }", PIC,
         r"section \.init_array is writable"),
        ("void *pick(void) { return 0; } __attribute__((ifunc(\"pick\"))) int f(); int samovar_entry() { return f(1); }",
         PIC, "'f' is an indirect function"),
        ("int other(void) { return 0; }", PIC, "does not define samovar_entry"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_in_an_image_is_refused(
    tmp_path: Path, source: str, flags: tuple[str, ...], message: str
) -> None:
    data = compiled(tmp_path, source, "-fno-asynchronous-unwind-tables", *flags)
    with pytest.raises(ObjectError, match=message):
        link(data)


def test_tables_for_unwinding_are_dropped(tmp_path: Path) -> None:
    source = "int samovar_entry(int i) { return i + 1; }"
    with_tables = compiled(tmp_path, source, "-fpic", "-fasynchronous-unwind-tables")
    assert ".eh_frame" in {section.name for section in read_object(with_tables).sections}
    assert link(with_tables) == link(compiled(tmp_path, source, *PIC))


def test_another_machine_is_refused_by_number(tmp_path: Path) -> None:
    data = bytearray(compiled(tmp_path, "int samovar_entry(void) { return 1; }", *PIC))
    struct.pack_into("<H", data, 18, 183)
    with pytest.raises(ObjectError, match="images are not supported for machine 183"):
        link(bytes(data))


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF" + bytes(100), b"MZ" + bytes(200)])
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(ObjectError):
        link(data)


def test_a_cut_object_is_refused(tmp_path: Path) -> None:
    data = compiled(tmp_path, "int samovar_entry(void) { return 1; }", *PIC)
    for length in range(0, len(data) - 1, 37):
        with pytest.raises(ObjectError):
            link(data[:length])


def test_a_damaged_object_is_refused_or_still_links_into_an_image(tmp_path: Path) -> None:
    source = """
    double cbrt(double);
    static double half(double x) { return x / 2; }
    static double (*const table[])(double) = {half, cbrt};
    ENTRY { b->result = table[b->number & 1](b->number); return 0; }
    """
    data = compiled(tmp_path, ENTRY + source, *PIC)
    loaded = 0
    for place in range(len(data)):
        for mask in (1, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[place] ^= mask
            try:
                parts = link(bytes(damaged))
            except ObjectError:
                continue
            with contextlib.suppress(ValueError):
                Image.from_flat(parts.flat())
                loaded += 1
    assert 0 < loaded < 3 * len(data)


def objects(tmp_path: Path) -> list[bytes]:
    """Of a C compiler and of LLVM."""
    source = "double exp(double); static int data[9] = {1}; int bss[5]; double f(int i) { return exp(data[i]++) + bss[i]; }"
    return [compiled(tmp_path, source, "-fpic", "-g"), compiled(tmp_path, source, *PIC), optimize(LLVM, host_target())]


def test_objects_are_read_as_pyelftools_reads_them(tmp_path: Path) -> None:
    for data in objects(tmp_path):
        ours, theirs = read_object(data), ELFFile(io.BytesIO(data))
        sections = list(theirs.iter_sections())
        assert [
            (section.name, section.flags, section.size, section.alignment, section.link, section.info)
            for section in ours.sections
        ] == [
            (section.name, *(section[f"sh_{field}"] for field in ("flags", "size", "addralign", "link", "info")))
            for section in sections
        ]
        kinds = [section["sh_type"] for section in sections]
        assert all(
            section.data == (b"" if kind in ("SHT_NULL", "SHT_NOBITS") else other.data())
            for section, other, kind in zip(ours.sections, sections, kinds, strict=True)
        )
        places = {"SHN_UNDEF": 0, "SHN_ABS": 0xFFF1, "SHN_COMMON": 0xFFF2}
        assert [(symbol.name, symbol.section, symbol.value, symbol.size) for symbol in ours.symbols] == [
            (symbol.name or "", places.get(symbol["st_shndx"], symbol["st_shndx"]), symbol["st_value"], symbol["st_size"])
            for symbol in theirs.get_section_by_name(".symtab").iter_symbols()
        ]
        assert {
            number: [(each.offset, each.symbol, each.type, each.addend) for each in of]
            for number, of in ours.relocations.items()
        } == {
            section["sh_info"]: [
                tuple(each[f"r_{field}"] for field in ("offset", "info_sym", "info_type", "addend"))
                for each in section.iter_relocations()
            ]
            for section in sections
            if section["sh_type"] == "SHT_RELA"
        }
