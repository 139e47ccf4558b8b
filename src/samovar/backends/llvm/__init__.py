"""The LLVM backend: IR → text (`render`) → object (`compile`) → image (`link`), or `load` if that is impossible.

Imports are deferred: worker processes need only `compile`, and should start quickly.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from samovar._native import Image
    from samovar.backends.llvm.target import Target
    from samovar.backends.protocol import Backend, Listing, Rendered, RenderOptions, Unit
    from samovar.ir import Kernel


class LLVM:
    """LLVM through llvmlite; see `samovar.backends.protocol` for the methods."""

    name = "llvm"
    compiler = "LLVM"
    suffix = "ll"
    files = (
        ("backends", "__init__.py"),
        ("backends", "llvm", "__init__.py"),
        ("backends", "llvm", "effort.py"),
        ("backends", "llvm", "generate.py"),
        ("backends", "llvm", "llvmlite_import.py"),
    )

    @property
    def efforts(self) -> tuple[str, ...]:
        from samovar.backends.llvm.effort import EFFORTS

        return tuple(EFFORTS)

    def salt(self) -> tuple[str, ...]:
        return ("llvmlite",)

    def target(self) -> Target:
        from samovar.backends.llvm.target import chosen_target

        return chosen_target()

    def render(self, kernel: Kernel, options: RenderOptions, whole: bool = False) -> Rendered:
        from samovar.backends.llvm.kernel import render

        return render(kernel, options, whole)

    def listings(
        self, kernel: Kernel, options: RenderOptions, assemble: Callable[[str], str]
    ) -> dict[str, Listing]:
        from samovar.backends.llvm.kernel import render
        from samovar.backends.llvm.source_lines import listings

        rendered = render(kernel, options, marks_lines=True)
        return listings(self.name, rendered.text, [unit.text for unit in rendered.units] or [rendered.text], assemble)

    def canonical(self, text: str) -> str:
        """Locals and labels are numbered in the order of their appearance in a function. Equal names stay equal and
        different names stay different, so texts with one canonical form are equivalent. It is a key and not a program: names
        are not distinguished from types, since no type has a name."""
        from samovar._native import numbered_names

        return numbered_names(text)

    def request(self, text: str, target: Target, effort: str, product: str) -> tuple[Any, ...]:
        return text, target.machine(), effort, product

    def prepare(self) -> tuple[bytes, ...]:
        from samovar.backends.llvm.llvmlite_import import import_llvmlite, version_of_llvmlite

        import_llvmlite()
        import samovar.backends.llvm.generate

        return (version_of_llvmlite(),)

    def compile(self, text: str, machine: tuple[str, str, str], effort: str, product: str) -> bytes:
        from samovar.backends.llvm.generate import generate

        return generate(text, machine, effort, product)

    def telling(self, words: list[str]) -> list[str]:
        return [line for line in words if "Assertion" in line or "LLVM ERROR" in line]

    def link(self, code: bytes) -> bytes:
        from samovar.backends.images.linker import link

        return link(code).flat()

    def link_units(self, codes: Sequence[bytes], units: Sequence[Unit]) -> bytes:
        from samovar.backends.images.linker import link_units

        return link_units(codes, units).flat()

    def load(self, code: bytes) -> Image:
        from samovar.backends.llvm.object_loader import load_object

        return load_object(code)


BACKEND: Backend = LLVM()
