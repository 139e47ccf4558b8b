"""Images: what is loaded, what is refused, and what the tools get to see."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import struct
import subprocess
import sys
import weakref
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from image_from_c import EMPTY, flat_from_c, image_from_c

from samovar._native import Image, Kernel, Specialization, f32, f64, i64, symbol_address, symbol_names, u16
from samovar.backends.images.image import ImageParts

HERE = Path(__file__).parent
ENTRY = ("samovar_entry", 0, 3)
HEADER = struct.Struct("<8s7I")
FIELDS = ("format", "machine", "code", "functions", "names", "slots", "relatives")


def flat(code=bytes(64), slots=(), functions=(ENTRY,), relatives=()):
    return ImageParts(code, tuple(slots), tuple(functions), tuple(relatives)).flat()


def with_header(data: bytes, **fields: int) -> bytes:
    """An image with other numbers in its header."""
    magic, *numbers = HEADER.unpack_from(data)
    return HEADER.pack(magic, *(fields.get(name, number) for name, number in zip(FIELDS, numbers, strict=True))) + data[36:]


def mapping_of(address: int) -> str | None:
    """The permissions of the mapping at an address."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, permissions, *_ = line.split()
        begin, end = (int(part, 16) for part in span.split("-"))
        if begin <= address < end:
            return permissions
    return None


def test_code_is_readable_and_executable_but_not_writable():
    image = Image.from_flat(EMPTY)
    assert mapping_of(image.address) == "r-xp"


def test_the_mapping_goes_with_the_last_specialization():
    image = Image.from_flat(EMPTY)
    address = image.address
    specialization = Specialization(image, [], 0, 0)
    del image
    assert mapping_of(address) == "r-xp"
    del specialization
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
    kernel.insert(Specialization(Image.from_flat(EMPTY), program, 2, 0))
    assert kernel(Clears()) is None
    assert kernel.specializations == []


def executable_pages() -> int:
    """How many bytes of memory that belongs to no file can be executed."""
    total = 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, permissions, _, _, inode, *name = line.split()
        begin, end = (int(part, 16) for part in span.split("-"))
        if "x" in permissions and inode == "0" and not name:
            total += end - begin
    return total


def test_memory_is_given_back():
    gc.collect()
    before = executable_pages()
    images = [Image.from_flat(EMPTY) for _ in range(100)]
    assert executable_pages() == before + 100 * os.sysconf("SC_PAGESIZE")
    del images
    assert executable_pages() == before


def test_images_of_every_size_lie_apart_and_are_given_back():
    """Small images share a block of pages, large ones have their own; sizes around the limits of both."""
    gc.collect()
    before = executable_pages()
    page = os.sysconf("SC_PAGESIZE")
    pages = [1, 15, 16, 17, 16, 16, 15, 2, 64, 1, 65, 16, 1] * 3
    images = [Image.from_flat(flat(code=b"\xc3" * (count * page - 1))) for count in pages]
    spans = sorted((image.address, image.address + image.size) for image in images)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    assert executable_pages() == before + sum(pages) * page
    for image in images[1::2]:
        assert Specialization(image, [], 0, 0) is not None
    del images[::2], image
    assert executable_pages() == before + sum(pages[1::2]) * page
    del images
    assert executable_pages() == before


def test_memory_is_given_back_when_loading_fails():
    gc.collect()
    before = executable_pages()
    mappings = len(Path("/proc/self/maps").read_text().splitlines())
    for _ in range(100):
        with pytest.raises(ImportError):
            Image.from_flat(flat(slots=[(8, "nothing_like_this")]))
    assert executable_pages() == before
    assert len(Path("/proc/self/maps").read_text().splitlines()) < mappings + 50


def test_an_image_is_made_by_its_loaders_only():
    with pytest.raises(TypeError, match="cannot create"):
        Image()


# --- symbols


def test_known_symbols_are_in_the_order_in_which_they_are_searched():
    names = symbol_names()
    assert list(names) == sorted(set(names))
    assert all(symbol_address(name) for name in names)


@pytest.mark.parametrize("symbol", ["system", "malloc", "dlsym", "sv_now", "Py_IncRef", "nothing_like_this", "_ZGVnone"])
def test_a_symbol_that_kernels_may_not_use_is_refused_by_name(symbol):
    assert symbol_address(symbol) is None
    with pytest.raises(ImportError, match=f"the symbol {symbol}, which kernels cannot use"):
        Image.from_flat(flat(slots=[(8, symbol)]))


@pytest.mark.parametrize("symbol", [*symbol_names(), "_ZGVbN4v_sinf", "_ZGVbN2v_exp"])
def test_a_cell_takes_the_address_of_its_symbol(symbol):
    image = Image.from_flat(flat(slots=[(8, symbol)]))
    assert ctypes.c_uint64.from_address(image.address + 8).value == symbol_address(symbol)


UNARY = """acos asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp10 exp2 expm1 fabs floor lgamma log log10 log1p log2
logb nearbyint rint round roundeven sin sinh sqrt tan tanh tgamma trunc""".split()
BINARY = "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder".split()


@pytest.mark.parametrize("name", UNARY + BINARY)
@pytest.mark.parametrize(("suffix", "number"), [("", ctypes.c_double), ("f", ctypes.c_float)])
def test_names_of_libm_are_those_functions(name, suffix, number):
    arguments = (0.375,) if name in UNARY else (0.375, 0.25)
    prototype = ctypes.CFUNCTYPE(number, *[number] * len(arguments))
    expected = prototype((name + suffix, ctypes.CDLL("libm.so.6")))
    assert prototype(symbol_address(name + suffix))(*arguments) == expected(*arguments)


def test_symbols_of_the_support_library_compute():
    powi = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int)(symbol_address("__powidf2"))
    assert powi(1.5, -3) == 1.5**-3
    divide = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * 4)(symbol_address("__udivti3"))
    dividend = 3**70
    assert divide(dividend % 2**64, dividend >> 64, 3**40 % 2**64, 0) == 3**30


def test_the_vector_library_is_opened_when_it_is_needed():
    script = """
import sys
import weakref
from pathlib import Path
from samovar._native import symbol_address
names = lambda: "libmvec" in Path("/proc/self/maps").read_text()
symbol_address("sinf"), symbol_address("nothing")
before = names()
symbol_address("_ZGVbN4v_sinf")
print(before, names())
"""
    assert python(script) == "False True\n"


# --- verification


@pytest.mark.parametrize("offset", [64, 1 << 31, (1 << 32) - 8])
def test_a_cell_outside_the_image_is_refused(offset):
    with pytest.raises(ValueError, match=f"the cell at {offset} lies outside the image"):
        Image.from_flat(flat(slots=[(offset, "sinf")]))
    with pytest.raises(ValueError, match=f"the cell at {offset} lies outside the image"):
        Image.from_flat(flat(relatives=[offset]))


@pytest.mark.parametrize(
    ("slots", "relatives"),
    [
        ([(8, "sinf"), (8, "cosf")], []),
        ([], [8, 8]),
        ([(8, "sinf")], [8]),
        ([(0, "sinf")], []),
        ([], [0]),
    ],
)
def test_cells_overlap_neither_each_other_nor_functions(slots, relatives):
    with pytest.raises(ValueError, match=r"the cell at \d of an image overlaps"):
        Image.from_flat(flat(slots=slots, relatives=relatives))


def test_a_cell_in_a_long_function_behind_a_short_one_is_refused():
    functions = [ENTRY, ("long", 16, 40), ("short", 24, 4)]
    assert Image.from_flat(flat(slots=[(8, "sinf"), (56, "sinf")], functions=functions)).size == 64
    with pytest.raises(ValueError, match="the cell at 32 of an image overlaps"):
        Image.from_flat(flat(slots=[(32, "sinf")], functions=functions))


def test_cells_that_are_out_of_order_are_refused():
    data = bytearray(flat(slots=[(8, "sinf"), (16, "cosf")]))
    at = data.index(struct.pack("<I", 8), 36 + 12 + len("samovar_entry\0"))
    struct.pack_into("<I", data, at, 24)
    with pytest.raises(ValueError, match=r"the cell at \d+ of an image overlaps"):
        Image.from_flat(data)


def test_a_cell_is_aligned():
    with pytest.raises(ValueError, match="the cell at 12 of an image is not aligned"):
        Image.from_flat(flat(slots=[(12, "sinf")]))


def test_a_cell_refers_to_a_place_in_the_image():
    code = bytearray(64)
    for target in (0, 5, 64):
        struct.pack_into("<Q", code, 8, target)
        image = Image.from_flat(flat(bytes(code), relatives=[8]))
        assert ctypes.c_uint64.from_address(image.address + 8).value == image.address + target
    for target in (65, 1 << 63, (1 << 64) - 1):
        struct.pack_into("<Q", code, 8, target)
        with pytest.raises(ValueError, match="the cell at 8 refers to an address outside the image"):
            Image.from_flat(flat(bytes(code), relatives=[8]))


@pytest.mark.parametrize("function", [("f", 64, 0), ("f", 60, 5), ("f", 0, 65), ("f", 1 << 31, 1 << 31)])
def test_a_function_outside_the_image_is_refused(function):
    with pytest.raises(ValueError, match="the function f lies outside the image"):
        Image.from_flat(flat(functions=[ENTRY, function]))


def test_functions_are_those_of_the_image_by_offset():
    image = Image.from_flat(flat(functions=[("b", 32, 4), ENTRY, ("größe", 16, 16)]))
    assert image.functions == (ENTRY, ("größe", 16, 16), ("b", 32, 4))


def test_an_image_needs_one_entry():
    with pytest.raises(ValueError, match="must define samovar_entry"):
        Image.from_flat(flat(functions=[("other", 0, 3)]))
    with pytest.raises(ValueError, match="must define samovar_entry"):
        Image.from_flat(flat(functions=[]))
    with pytest.raises(ValueError, match="defines samovar_entry twice"):
        Image.from_flat(flat(functions=[ENTRY, ("samovar_entry", 16, 3)]))


def test_an_image_without_code_is_refused():
    with pytest.raises(ValueError, match="lies outside the image"):
        Image.from_flat(flat(b"", functions=[("samovar_entry", 0, 0)]))


def test_names_end_and_can_be_printed():
    data = flat()
    names = data.index(b"samovar_entry")
    with pytest.raises(ValueError, match="its last name is not terminated"):
        Image.from_flat(data[: names + 13] + b"x" + data[names + 14 :])
    with pytest.raises(ValueError, match="a control character in a name"):
        Image.from_flat(data[:names] + b"\n" + data[names + 1 :])
    with pytest.raises(ValueError, match="a name is missing"):
        Image.from_flat(data[:names] + b"\0" + data[names + 1 :])


def test_what_is_no_image_is_refused():
    for data in (b"", b"samovar\0", bytes(100), b"\x7fELF" + bytes(100)):
        with pytest.raises(ValueError, match="not an image"):
            Image.from_flat(data)
    with pytest.raises(TypeError):
        Image.from_flat("text")


def test_another_format_or_machine_is_refused_by_number():
    with pytest.raises(ImportError, match="image format 2 is not supported: this samovar reads format 1"):
        Image.from_flat(with_header(EMPTY, format=2))
    with pytest.raises(ImportError, match="the image is for machine 183"):
        Image.from_flat(with_header(EMPTY, machine=183))


@pytest.mark.parametrize("field", FIELDS[2:])
@pytest.mark.parametrize("number", [0, 2, 4, 1 << 16, (1 << 32) - 1])
def test_counts_that_do_not_fit_are_refused(field, number):
    data = flat(slots=[(16, "sinf")], relatives=[8])
    with pytest.raises(ValueError):
        Image.from_flat(with_header(data, **{field: number}))


def small_image() -> bytes:
    """With everything that an image can have."""
    functions = [ENTRY, ("task_0", 16, 8)]
    return flat(bytes(64), [(24, "sinf"), (40, "sv_run")], functions, [8, 32])


def test_every_truncation_is_refused():
    data = small_image()
    for length in range(len(data)):
        with pytest.raises(ValueError):
            Image.from_flat(data[:length])
    with pytest.raises(ValueError):
        Image.from_flat(data + b"\0")


def test_a_changed_byte_is_refused_or_harmless():
    """Whatever is loaded lies in the image: names and addresses are read, the code is not run."""
    data = small_image()
    loaded = 0
    for place in range(len(data)):
        for byte in {data[place] ^ (1 << bit) for bit in range(8)} | {0, 255, data[place] ^ 255} - {data[place]}:
            damaged = bytearray(data)
            damaged[place] = byte
            try:
                image = Image.from_flat(damaged)
            except (ValueError, ImportError):
                continue
            loaded += 1
            assert image.size == 64
            assert all(0 <= offset <= offset + size <= 64 for _, offset, size in image.functions)
            assert mapping_of(image.address) == "r-xp"
    assert loaded > 64


@given(st.binary(max_size=400))
def test_arbitrary_tables_are_refused_or_harmless(tables):
    body = tables + bytes(-(36 + len(tables)) % 64) + bytes(64)
    functions, slots = len(tables) % 4, len(tables) % 3
    for names in (0, len(tables) - 12 * functions - 8 * slots):
        data = HEADER.pack(b"samovar\0", 1, 62, 64, functions, max(names, 0), slots, 0) + body
        with contextlib.suppress(ValueError, ImportError):
            assert Image.from_flat(data).size == 64


def test_an_image_at_an_odd_address_is_read():
    data = b"x" + flat_from_c("int32_t samovar_entry(void *context, void *block) { return 0; }")
    specialization = Specialization(Image.from_flat(memoryview(data)[1:]), [], 0, 0)
    assert Kernel(lambda: None, (), {}, lambda kernel, arguments: specialization)() is None


# --- code of another loader


def test_code_that_another_loader_holds_is_launched_and_kept():
    entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))

    class Loaded:
        def __init__(self):
            self.function = entry(self.run)

        def run(self, context, block):
            block[0] = 42
            return 0

    loaded = Loaded()
    alive = weakref.ref(loaded)
    image = Image.from_address(ctypes.cast(loaded.function, ctypes.c_void_p).value, keep=loaded)
    del loaded
    assert (image.size, image.address, image.functions) == (0, 0, ())
    kernel = Kernel(lambda: None, (), {}, lambda kernel, arguments: None)
    kernel.insert(Specialization(image, [], 0, 8, results=("scalar", i64, 0)))
    del image
    assert kernel() == 42
    kernel.clear()
    gc.collect()
    assert alive() is None


def test_there_is_no_code_at_address_0():
    with pytest.raises(ValueError, match="address 0"):
        Image.from_address(0, None)


# --- the system


DENY = """
import ctypes, errno, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
# mprotect (10) with PROT_EXEC (4): refused with the error; everything else is allowed.
filters = [(0x20, 0, 0, 0), (0x15, 0, 3, 10), (0x20, 0, 0, 32), (0x45, 0, 1, 4)]
filters += [(0x06, 0, 0, 0x50000 | ERROR), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *each) for each in filters))
program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(filters), ctypes.addressof(code)))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    print("no filters")
    sys.exit()
from samovar._native import Image
try:
    Image.from_flat(bytes.fromhex("IMAGE"))
except OSError as error:
    print(type(error).__name__, error.errno, error.strerror)
print(sum("x" in line.split()[1] and line.split()[4] == "0" and len(line.split()) == 5 for line in open("/proc/self/maps")))
"""


@pytest.mark.parametrize(("error", "name"), [(13, "PermissionError"), (1, "PermissionError"), (12, "OSError")])
def test_a_system_that_denies_executable_memory_is_named(error, name):
    output = python(DENY.replace("ERROR", str(error)).replace("IMAGE", EMPTY.hex()))
    if output == "no filters\n":
        pytest.skip("this system has no filters of system calls")
    answer, left = output.splitlines()
    assert answer.startswith(f"{name} {error} the system denies executable memory ({os.strerror(error)})")
    assert ("SELinux" in answer) == (error != 12)
    assert left == "0"


def test_too_little_memory_is_said():
    script = """
import resource
from samovar._native import Image
from samovar.backends.images.image import ImageParts
data = ImageParts(bytes(1 << 28), (), (("samovar_entry", 0, 3),)).flat()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 26), resource.RLIM_INFINITY))
try:
    Image.from_flat(data)
except MemoryError:
    print("too little")
"""
    assert python(script) == "too little\n"


def test_nothing_is_writable_and_executable():
    script = """
from pathlib import Path
permissions = lambda: {line.split()[1][:3] for line in Path("/proc/self/maps").read_text().splitlines()}
other = image_from_c("int32_t samovar_entry(void *context, void *block) { return sv_threads(context) == 0; }")
print("rwx" in permissions(), "r-x" in permissions())
"""
    assert run_script(script) == "False True\n"


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
        facts = (dtype, 1, True, *[False] * 8)
        program += [("parameter", register, register), ("tensor", register, *facts, register > 0)]
        program += [("array", register, offset, False)]
    specialization = Specialization(image_from_c(HALVES), program, 3, 48)
    kernel = Kernel(lambda: None, ("doubles", "halves", "floats"), {}, lambda kernel, arguments: specialization)
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
    return python(SCRIPT + script, **environment)


def python(script: str, **environment: str) -> str:
    """What a process of its own prints."""
    command = [sys.executable, "-c", script]
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
