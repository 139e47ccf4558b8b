"""Images made from C, so that the launcher is tested without the compiler.

A source defines `samovar_entry` and tasks; it reaches the runtime through cells, as compiled kernels do. The names of the
runtime are declared below.
"""

from __future__ import annotations

import functools
import io
import subprocess
import tempfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

from samovar._native import Image
from samovar.backends.images.image import ImageParts

PRELUDE = """
#include <stdint.h>
#define CELL(result, name, ...) \\
    __attribute__((section(".cells,\\"aw\\",@progbits#"), used)) result (*cell_##name)(__VA_ARGS__) = 0;
typedef void (*task)(void *frame, int64_t begin, int64_t end);
CELL(int32_t, sv_run, void *, int32_t, task, void *, int64_t, int64_t)
CELL(void, sv_fail, void *, int32_t, const uint64_t *)
CELL(int32_t, sv_failed, void *)
CELL(void, sv_print, void *, int32_t, const uint64_t *)
CELL(void *, sv_scratch, void *, int64_t)
CELL(int64_t, sv_threads, void *)
CELL(uint64_t, sv_random, void *)
#define sv_run cell_sv_run
#define sv_fail cell_sv_fail
#define sv_failed cell_sv_failed
#define sv_print cell_sv_print
#define sv_scratch cell_sv_scratch
#define sv_threads cell_sv_threads
#define sv_random cell_sv_random
"""

LINKER_SCRIPT = """
SECTIONS {
  . = 0;
  .image : { *(.text .text.*) . = ALIGN(64); *(.rodata .rodata.*) . = ALIGN(64); *(.cells) *(.data .data.*) *(.bss .bss.*) }
  /DISCARD/ : { *(.comment) *(.note*) *(.eh_frame*) }
}
"""

COMMAND = """
gcc -std=c11 -O2 -fPIC -fvisibility=hidden -ffreestanding -fno-stack-protector -fcf-protection=none
-fno-asynchronous-unwind-tables -static -nostdlib -Wl,-T,image.ld,-e,samovar_entry,--build-id=none image.c -o image.elf
"""

#: The flat form of an image whose entry does nothing: xor eax, eax; ret.
EMPTY = ImageParts(b"\x31\xc0\xc3", (), (("samovar_entry", 0, 3),)).flat()


@functools.cache
def flat_from_c(source: str) -> bytes:
    """The flat form of an image of the C source."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "image.c").write_text(PRELUDE + source)
        (folder / "image.ld").write_text(LINKER_SCRIPT)
        subprocess.run(COMMAND.split(), cwd=folder, check=True, capture_output=True)
        elf = ELFFile(io.BytesIO((folder / "image.elf").read_bytes()))
        code = elf.get_section_by_name(".image").data()
        slots: list[tuple[int, str]] = []
        functions: list[tuple[str, int, int]] = []
        for symbol in elf.get_section_by_name(".symtab").iter_symbols():
            if symbol["st_info"]["type"] == "STT_FUNC":
                functions.append((symbol.name, symbol["st_value"], symbol["st_size"]))
            elif symbol.name.startswith("cell_"):
                slots.append((symbol["st_value"], symbol.name.removeprefix("cell_")))
        return ImageParts(code, tuple(slots), tuple(functions)).flat()


def image_from_c(source: str) -> Image:
    """A loaded image of the C source."""
    return Image.from_flat(flat_from_c(source))
