"""Images: what is loaded, what is refused, and what the tools get to see."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from image_from_c import image_from_c

from samovar._native import Image, Kernel, Specialisation, f32, f64, u16

HERE = Path(__file__).parent
RETURN_0 = b"\x31\xc0\xc3"  # xor eax, eax; ret
ENTRY = [("samovar_entry", 0, 3)]


def mapping_of(address: int) -> str | None:
    """The permissions of the mapping at an address."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, permissions, *_ = line.split()
        begin, end = (int(part, 16) for part in span.split("-"))
        if begin <= address < end:
            return permissions
    return None


def test_code_is_readable_and_executable_but_not_writable():
    image = Image(RETURN_0, [], ENTRY)
    assert mapping_of(image.address) == "r-xp"


def test_the_mapping_goes_with_the_last_specialisation():
    image = Image(RETURN_0, [], ENTRY)
    address = image.address
    specialisation = Specialisation(image, [], 0, 0)
    del image
    assert mapping_of(address) == "r-xp"
    del specialisation
    gc.collect()
    assert mapping_of(address) != "r-xp"


def test_a_launch_keeps_the_code_it_runs():
    """The property clears the kernel while its guards run: nothing else holds the image then."""
    kernel = Kernel(lambda: None, ("x",), {}, lambda kernel, arguments: None)

    class Clears:
        @property
        def x(self):
            kernel.clear()
            gc.collect()
            return 1

    program = [("parameter", 0, 0), ("attribute", 1, 0, "x"), ("value", 1, 1)]
    kernel.insert(Specialisation(Image(RETURN_0, [], ENTRY), program, 2, 0))
    assert kernel(Clears()) is None
    assert kernel.specialisations == []


@pytest.mark.parametrize("symbol", ["system", "malloc", "dlsym", "sv_now", "Py_IncRef", "nothing_like_this", "_ZGVnone"])
def test_a_symbol_that_kernels_may_not_use_is_refused_by_name(symbol):
    with pytest.raises(ImportError, match=f"the symbol {symbol}, which kernels cannot use"):
        Image(bytes(64), [(0, symbol)], ENTRY)


@pytest.mark.parametrize(
    "symbol",
    "sv_run sv_fail sv_failed sv_print sv_scratch sv_threads sv_random memcpy memset memmove sinf pow fmod fmodf tgamma "
    "_ZGVbN4v_sinf _ZGVbN2v_exp __truncdfhf2 __truncsfhf2 __extendhfsf2".split(),
)
def test_symbols_of_the_runtime_and_of_the_math_libraries_resolve(symbol):
    assert Image(bytes(64), [(8, symbol)], ENTRY).size == 64


@pytest.mark.parametrize("offset", [-1, 57, 64, 1 << 40])
def test_a_slot_outside_the_image_is_refused(offset):
    with pytest.raises(ValueError, match="the slot of sinf lies outside the image"):
        Image(bytes(64), [(offset, "sinf")], ENTRY)


@pytest.mark.parametrize("function", [("f", 64, 0), ("f", -1, 1), ("f", 60, 5), ("f", 0, 65), ("f", 0, -1)])
def test_a_function_outside_the_image_is_refused(function):
    with pytest.raises(ValueError, match="the function f lies outside the image"):
        Image(bytes(64), [], [*ENTRY, function])


def test_an_image_needs_an_entry():
    with pytest.raises(ValueError, match="must define samovar_entry"):
        Image(RETURN_0, [], [("other", 0, 3)])


def test_an_empty_image_is_refused():
    with pytest.raises(ValueError, match="lies outside the image"):
        Image(b"", [], [("samovar_entry", 0, 0)])


HALVES = """
CELL(float, __truncdfhf2, double)
CELL(float, __truncsfhf2, float)
CELL(float, __extendhfsf2, float)
int32_t samovar_entry(void *context, int64_t *block)
{
    double *doubles = (double *)block[0]; uint16_t *halves = (uint16_t *)block[2]; float *floats = (float *)block[4];
    for (int64_t i = 0; i < block[1]; i++) {
        union { float f; uint32_t u; } from_double, from_float, half;
        from_double.f = cell___truncdfhf2(doubles[i]);
        from_float.f = cell___truncsfhf2((float)doubles[i]);
        halves[2 * i] = from_double.u; halves[2 * i + 1] = from_float.u;
        half.u = 0xabcd0000u | (uint16_t)from_double.u;  /* the upper bits mean nothing */
        floats[i] = cell___extendhfsf2(half.f);
    }
    return 0;
}
"""


def test_conversions_of_halves_round_as_numpy_does():
    special = [0.0, -0.0, 65504.0, 65519.9, 65520.0, 1e30, 5.9e-8, 2.9e-8, 3e-8, 1e-300, np.inf, -np.inf, np.nan, 2049.0]
    scales = 10.0 ** np.arange(-8, 8)
    doubles = np.concatenate([special, (np.random.default_rng(1).normal(size=(300, 1)) * scales).ravel()])
    halves, floats = np.zeros(2 * len(doubles), np.uint16), np.zeros(len(doubles), np.float32)
    program = []
    for register, (dtype, offset) in enumerate([(f64, 0), (u16, 16), (f32, 32)]):
        program += [("parameter", register, register), ("tensor", register, dtype, 1, True, False, False, register > 0)]
        program += [("array", register, offset, False)]
    specialisation = Specialisation(image_from_c(HALVES), program, 3, 48)
    kernel = Kernel(lambda: None, ("doubles", "halves", "floats"), {}, lambda kernel, arguments: specialisation)
    kernel(doubles, halves, floats)
    with np.errstate(over="ignore"):
        expected = doubles.astype(np.float16)
        through_float = doubles.astype(np.float32).astype(np.float16)
    np.testing.assert_array_equal(halves[0::2].view(np.float16), expected)
    np.testing.assert_array_equal(halves[1::2].view(np.float16), through_float)
    np.testing.assert_array_equal(floats, expected.astype(np.float32))


SCRIPT = f"""
import sys; sys.path.insert(0, {str(HERE)!r})
from image_from_c import image_from_c
image = image_from_c("int32_t samovar_entry(void *context, void *block) {{ return 0; }}")
"""


def run_script(script: str, **environment: str) -> str:
    command = [sys.executable, "-c", SCRIPT + script]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True).stdout


def test_perf_gets_a_map_on_request():
    script = """
import os
path = f"/tmp/perf-{os.getpid()}.map"
print(open(path).read(), hex(image.address))
os.remove(path)
"""
    begin, size, name, address = run_script(script, SAMOVAR_PERF_MAP="1").split()
    assert int(begin, 16) == int(address, 16)
    assert int(size, 16) > 0
    assert name == "samovar_entry"


def test_no_map_is_written_unasked():
    assert run_script("import os; print(os.path.exists(f'/tmp/perf-{os.getpid()}.map'))") == "False\n"


def test_gdb_gets_a_symbol_file_on_request():
    """Read as gdb reads it: follow the descriptor to the first entry, parse the ELF file there."""
    script = """
import ctypes, io, samovar._native as native
from elftools.elf.elffile import ELFFile
class Entry(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("next", "previous", "file")] + [("size", ctypes.c_uint64)]
class Descriptor(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("action", ctypes.c_uint32), ("relevant", ctypes.c_void_p)]
    _fields_ += [("first", ctypes.POINTER(Entry))]
descriptor = Descriptor.in_dll(ctypes.CDLL(native.__file__), "__jit_debug_descriptor")
entry = descriptor.first.contents
elf = ELFFile(io.BytesIO(ctypes.string_at(entry.file, entry.size)))
[symbol] = [s for s in elf.get_section_by_name(".symtab").iter_symbols() if s.name]
print(descriptor.version, symbol.name, symbol["st_value"] == image.address)
del image
import gc; gc.collect()
print(bool(descriptor.first))
"""
    assert run_script(script, SAMOVAR_GDB="1") == "1 samovar_entry True\nFalse\n"
