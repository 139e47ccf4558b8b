"""From object to image: what is placed, what is patched, what is refused."""

from __future__ import annotations

import ctypes
import struct
import subprocess
from pathlib import Path

import pytest
from build import Builder, kernel
from machine import Machine, run

from samovar._native import f64, i32
from samovar.backends.llvm import ObjectError, link
from samovar.ir.values import Array, Constant, Parameter


def compiled(tmp_path: Path, source: str, *flags: str) -> bytes:
    """An object of a C compiler."""
    (tmp_path / "a.c").write_text(source)
    subprocess.run(["cc", "-c", "-O2", *flags, "-o", tmp_path / "a.o", tmp_path / "a.c"], check=True)
    return (tmp_path / "a.o").read_bytes()


PIC = ("-fpic", "-fvisibility=hidden", "-fno-asynchronous-unwind-tables")


def test_code_constants_stubs_and_cells_are_one_blob(tmp_path: Path) -> None:
    source = """
    double exp(double);
    extern __attribute__((visibility("default"))) double cos(double);
    static const double table[64] = {1, 2, 3, [63] = 4};
    double samovar_entry(int i) { double (*f)(double) = cos; return table[i & 63] * exp(i) + f(i); }
    """
    parts = link(compiled(tmp_path, source, *PIC))
    assert [name for name, _, _ in parts.functions] == ["samovar_entry"]
    assert sorted({symbol for _, symbol in parts.slots}) == ["cos", "exp"]
    assert all(offset % 8 == 0 for offset, _ in parts.slots)
    assert struct.pack("<d", 4.0) in parts.code


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
        ("int counter; int samovar_entry(void) { return counter++; }", PIC, "writable|counter"),
        ("int data[3] = {1}; int samovar_entry(int i) { return data[i]++; }", PIC, "writable"),
        ("int f(int); int (*samovar_entry(void))(int) { return f; }", ("-fno-pic", "-mcmodel=large"), None),
        ("int samovar_entry(int i) { static const int t[2] = {1, 2}; return t[i]; }", ("-fno-pic",), "relocation 1[01]"),
        ("int samovar_entry(void) { extern __thread int x; return x; }", PIC, "relocation"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_in_an_image_is_refused(
    tmp_path: Path, source: str, flags: tuple[str, ...], message: str | None
) -> None:
    data = compiled(tmp_path, source, "-fno-asynchronous-unwind-tables", *flags)
    if message is None:
        # An absolute address of an external symbol is a cell like any other.
        assert [symbol for _, symbol in link(data).slots] == ["f"]
        return
    with pytest.raises(ObjectError, match=message):
        link(data)


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF" + bytes(100), b"MZ" + bytes(200)])
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(ObjectError):
        link(data)


def test_a_cut_object_is_refused(tmp_path: Path) -> None:
    data = compiled(tmp_path, "int samovar_entry(void) { return 1; }", *PIC)
    for length in range(0, len(data) - 1, 37):
        with pytest.raises(ObjectError):
            link(data[:length])


def test_the_loader_needs_nothing_but_copying_and_filling_cells(tmp_path: Path) -> None:
    import mmap

    parts = link(
        compiled(tmp_path, "double cbrt(double); double samovar_entry(double x) { return cbrt(x) + 0.25; }", *PIC)
    )
    memory = mmap.mmap(-1, len(parts.code), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code = bytearray(parts.code)
    cbrt = ctypes.cast(ctypes.CDLL("libm.so.6").cbrt, ctypes.c_void_p).value
    for offset, symbol in parts.slots:
        assert symbol == "cbrt"
        struct.pack_into("<Q", code, offset, cbrt)
    memory.write(bytes(code))
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    entry = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(base + parts.functions[0][1])
    assert entry(8.0) == 2.25
