"""Runs hand-made IR without the launcher: renders, optimizes, links, maps the image, and plays the runtime in Python."""

from __future__ import annotations

import ctypes
import math
import mmap
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from backends.optimize import optimize
from samovar._native import DType, symbol_address
from samovar.backends import Rendered, RenderOptions
from samovar.backends.images.image import ImageParts
from samovar.backends.images.linker import link, link_units
from samovar.backends.llvm.effort import FULL
from samovar.backends.llvm.kernel import render
from samovar.backends.llvm.target import host_target
from samovar.ir.layout import layout_of
from samovar.ir.structure import Kernel
from samovar.ir.values import Array
from samovar.ir.verifier import verify
from samovar.language.options import Options
from samovar.passes import outline
from samovar.passes.legalize import legalize
from samovar.passes.loops import place_safepoints, plan_loops
from samovar.passes.reassociate import reassociate

_LIBRARIES = [ctypes.CDLL(name) for name in ("libm.so.6", "libmvec.so.1", "libc.so.6", "libgcc_s.so.1")]

_RUN = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
)
_TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_SPEAK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
_SCRATCH = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_RANDOM = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)
_THREADS = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_POLL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_WATCH = ctypes.CFUNCTYPE(ctypes.c_int32)
_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


def finish(kernel: Kernel, fast_math: bool) -> None:
    """What the passes do to a kernel from outlining on, for this processor."""
    outline(kernel, fast_math)
    reassociate(kernel, fast_math)
    plan_loops(kernel, host_target().plans_for(), fast_math)
    place_safepoints(kernel)
    legalize(kernel, fast_math)


def rendered(kernel: Kernel, options: RenderOptions) -> Rendered:
    """The text of a kernel that no pass has seen."""
    finish(kernel, options.fast_math)
    verify(kernel)
    return render(kernel, options)


def linked(rendered: Rendered, form: str = FULL) -> ImageParts:
    """The image of a rendered kernel: of one text, or of its units, each compiled by itself."""
    if not rendered.units:
        return link(optimize(rendered.text, host_target(), form))
    return link_units([optimize(unit.text, host_target(), form) for unit in rendered.units], rendered.units)


class LaunchFailed(Exception):
    """A check failed: the site and its values."""


class Machine:
    """A loaded kernel. `pieces` is the number of ranges into which a task is cut, `form` how much LLVM does; all passes have
    run on one that is `finished`."""

    def __init__(
        self,
        kernel: Kernel,
        options: Options | None = None,
        pieces: int = 3,
        form: str = FULL,
        finished: bool = False,
    ) -> None:
        verify(kernel)
        self.kernel = kernel
        self.pieces = pieces
        self.rendered = (render if finished else rendered)(kernel, options or Options())
        self.parts = linked(self.rendered, form)
        self.runs: list[tuple[int, int, int]] = []
        self.printed: list[tuple[int, tuple[Any, ...]]] = []
        self.failure: tuple[Any, tuple[Any, ...]] | None = None
        self.scratch: list[Any] = []
        self.random: Callable[[], int] = lambda: 0
        self._callbacks = {
            "sv_run": _RUN(self._run),
            "sv_fail": _SPEAK(self._fail),
            "sv_print": _SPEAK(self._print),
            "sv_scratch": _SCRATCH(self._allocate),
            "sv_poll": _POLL(lambda context, state: 1 << 20),
            "sv_random": _RANDOM(lambda context: self.random()),
            "sv_threads": _THREADS(lambda context: 2),
            # Nothing is watched here: the tests of races launch whole kernels.
            **{f"sv_races_{name}": _WATCH(lambda *_: 0) for name in ("begin", "iteration", "touch", "end")},
        }
        self._map = mmap.mmap(-1, len(self.parts.code), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code = bytearray(self.parts.code)
        for offset, name in self.parts.slots:
            code[offset : offset + 8] = struct.pack("<Q", self._symbol(name))
        base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        for offset in self.parts.relatives:
            struct.pack_into("<Q", code, offset, base + struct.unpack_from("<Q", code, offset)[0])
        self._map.write(bytes(code))
        entry = next(offset for name, offset, _ in self.parts.functions if name == "samovar_entry")
        self._entry = _ENTRY(base + entry)

    def _symbol(self, name: str) -> int:
        # Vector functions know nothing of the runtime.
        if name.startswith("sv_avx"):
            found = symbol_address(name)
            assert found is not None
            return found
        callback: Any = self._callbacks.get(name)
        if callback is None:
            callback = next((getattr(library, name) for library in _LIBRARIES if hasattr(library, name)), None)
        assert callback is not None, f"the runtime has no {name}"
        address = ctypes.cast(callback, ctypes.c_void_p).value
        assert address is not None
        return address

    def _run(self, context: int, task: int, function: int, frame: int, units: int, items: int) -> int:
        self.runs.append((task, units, items))
        call = _TASK(function)
        edges = sorted({units * piece // self.pieces for piece in range(self.pieces + 1)})
        for begin, end in reversed(list(pairwise(edges))):
            if self.failure is None:
                call(frame, begin, end)
        return int(self.failure is not None)

    def _values(self, site: int, address: int) -> tuple[Any, ...]:
        types = self.rendered.sites[site].types
        return tuple(_decode(ctypes.string_at(address + 8 * index, 8), dtype) for index, dtype in enumerate(types))

    def _fail(self, context: int, site: int, values: int) -> None:
        if self.failure is None:
            self.failure = self.rendered.sites[site], self._values(site, values)

    def _print(self, context: int, site: int, values: int) -> None:
        self.printed.append((site, self._values(site, values)))

    def _allocate(self, context: int, size: int) -> int:
        memory = np.full(max(size, 1) + 64, 0xAB, np.uint8)
        self.scratch.append(memory)
        return -(-memory.ctypes.data // 64) * 64

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        """Launch: NumPy arrays and numbers in, results out."""
        layout = layout_of(self.kernel)
        block = bytearray(layout.size)
        for (parameter, offset), argument in zip(layout.parameters.items(), arguments, strict=True):
            if isinstance(parameter, Array):
                numbers = [argument.ctypes.data, *argument.shape]
                if not parameter.contiguous:
                    numbers += [stride // argument.itemsize for stride in argument.strides]
                struct.pack_into(f"<Q{len(numbers) - 1}q", block, offset, *numbers)
            else:
                assert parameter.type is not None
                struct.pack_into("<" + parameter.type.format, block, offset, argument)
        buffer = (ctypes.c_char * max(1, layout.size)).from_buffer_copy(bytes(block) or b"\0")
        self.failure = None
        status = self._entry(None, ctypes.addressof(buffer))
        if status:
            raise LaunchFailed(self.failure)
        return tuple(
            _decode(buffer.raw[offset : offset + 8], dtype)
            for offset, dtype in zip(layout.results, self.kernel.returns, strict=True)
        )


def _decode(raw: bytes, dtype: DType) -> Any:
    return struct.unpack_from("<" + dtype.format, raw)[0]


def run(kernel: Kernel, *arguments: Any, options: Options | None = None, pieces: int = 3) -> tuple[Any, ...]:
    """Compile and launch once."""
    return Machine(kernel, options, pieces)(*arguments)


def same(a: float, b: float) -> bool:
    """Equal, NaN included."""
    return a == b or (math.isnan(a) and math.isnan(b))
