"""Architectures as Quadrants and Taichi have them. Supported are the CPU and plain Python."""

from __future__ import annotations

import enum

import samovar
from samovar.errors import SamovarRuntimeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: The architectures of Quadrants, by number.
_NUMBERED = ("x64", "arm64", "js", "python", "cuda", "metal", "opencl", "amdgpu", "vulkan")


class Arch(str):
    """An architecture: a string with the name that Quadrants and Taichi use, and a number, as in Quadrants."""

    __slots__ = ()

    def __new__(cls, name: str | int) -> Arch:
        if isinstance(name, int):
            name = _NUMBERED[name]
        return super().__new__(cls, samovar.cpu if name == "x64" else name)

    def __int__(self) -> int:
        return _NUMBERED.index(self.name)

    __index__ = __int__

    @property
    def name(self) -> str:
        """The name in Quadrants and Taichi."""
        return "x64" if self == samovar.cpu else str(self)


cpu, python = Arch(samovar.cpu), Arch(samovar.python)
#: Unsupported architectures.
gpu = [Arch(each) for each in (samovar.cuda, samovar.metal, samovar.vulkan, samovar.amdgpu)]


def arch_name(arch: str) -> str:
    """Return the name of an architecture."""
    return Arch(arch).name


def arch_from_name(name: str) -> Arch:
    """Return the architecture with a name."""
    return cpu if name in ("cpu", "x64", "x86_64", "arm64") else Arch(name)


def is_arch_supported(arch: Any) -> bool:
    """Whether an architecture is supported."""
    return arch in (cpu, python)


def adaptive_arch_select(arch: Any, enable_fallback: bool) -> Arch:
    """Return the first supported architecture, or else the CPU, if fallback is enabled."""
    several = [cpu] if arch is None else list(arch) if isinstance(arch, (list, tuple)) else [arch]
    for each in several:
        if is_arch_supported(each):
            return Arch(each)
    if not enable_fallback:
        raise SamovarRuntimeError(f"only the CPU is supported, not {', '.join(map(str, several))}")
    return cpu


class AutodiffMode(enum.IntEnum):
    """Autodiff modes."""

    NONE = 0
    VALIDATION = 1
    FORWARD = 2
    REVERSE = 3


class BoundaryMode(enum.IntEnum):
    """What an out-of-range index means."""

    UNSAFE = 0
    CLAMP = 1


class SNodeGradType(enum.IntEnum):
    """The roles of fields that belong together."""

    PRIMAL = 0
    ADJOINT = 1
    DUAL = 2
    ADJOINT_CHECKBIT = 3


#: In `lang` and its modules.
NAMES: dict[str, Any] = {
    "adaptive_arch_select": adaptive_arch_select,
    "get_host_arch_list": lambda: [cpu],
    "is_arch_supported": is_arch_supported,
}
#: Also in the package itself.
VALUES: dict[str, Any] = {"cpu": cpu, "gpu": gpu, "python": python, "x64": cpu, "x86_64": cpu, "arm64": cpu}
VALUES |= {str(each): each for each in gpu}
#: In `_lib.core`.
CORE: dict[str, Any] = {
    **VALUES,
    "Arch": Arch,
    "Extension": samovar.extension,
    "arch_from_name": arch_from_name,
    "arch_name": arch_name,
    "host_arch": lambda: cpu,
    "is_extension_supported": samovar.extension.is_supported,
}
#: In `types.enums`.
ENUMERATIONS: dict[str, Any] = {each.__name__: each for each in (AutodiffMode, BoundaryMode, SNodeGradType)}
